"""Poses and velocities of root links in arrays that follow the simulations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...native import core
from ..articulation import RootArrays
from ..rotations import seen_from, unit
from .dynamics import Layout


class RootMirrors:
    """What `RootArrays` has of the robots of all environments; it is for robots whose roots float or are fixed.

    Args:
        host: Whose robots; it computes what does not float.
        layouts: Of the robots of an environment.
        columns: Where each floating robot's free joint begins, among positions and velocities.
    """

    def __init__(self, host: Any, layouts: Sequence[Layout], columns: Sequence[tuple[int, int]]) -> None:
        self._host, self._layouts, self._columns = host, layouts, columns
        self.arrays = RootArrays.zeros(host.num_envs * len(layouts))
        self.follow: Callable[[], None] | None = None
        """To be called after each physics step; None where nothing floats."""

    def bind(self, qpos: np.ndarray, qvel: np.ndarray, centres: np.ndarray) -> None:
        """Follow these arrays from now on, and take over how things stand.

        Args:
            qpos: Positions, an environment a row.
            qvel: Velocities, likewise.
            centres: Centres of mass of all bodies in their frames, `(environments, bodies, 3)`.
        """
        self._take(np.arange(len(self.arrays.poses)))
        floating = [number for number, layout in enumerate(self._layouts) if layout.floating]
        if not floating:
            return
        if core is None:
            rows = np.arange(self._host.num_envs)[:, None] * len(self._layouts) + floating
            self.follow = lambda: self._take(rows.ravel())
            return
        items = [
            (number, *columns, centres[:, self._layouts[number].bodies[0]])
            for number, columns in zip(floating, self._columns, strict=True)
        ]
        arrays, down = self.arrays, unit(self._host.gravity)
        written = arrays.poses, arrays.velocities, arrays.gravity
        follow = core.Roots(qpos, qvel, items, down.tolist(), len(self._layouts), *written).run
        follow()
        self.follow = follow

    def _take(self, robots: np.ndarray) -> None:
        """Compute those of some robots."""
        arrays, host = self.arrays, self._host
        poses = host.root_poses(robots)
        arrays.poses[robots], arrays.velocities[robots] = poses, host.root_velocities(robots)
        arrays.gravity[robots] = seen_from(poses[:, 3:], unit(host.gravity))
