"""Poses and velocities of root links in arrays that follow the simulations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.native import core
from ..articulation import RootArrays
from ..rotations import seen_from, unit
from .dynamics import Layout


class RootMirrors:
    """`RootArrays` of the robots of all environments, whose roots float or are fixed.

    Args:
        host: Whose robots; it computes what does not float.
        layouts: Of the robots of an environment.
        columns: Where each floating robot's free joint begins, among positions and velocities.
    """

    def __init__(self, host: Any, layouts: Sequence[Layout], columns: Sequence[tuple[int, int]]) -> None:
        self._host, self._layouts, self._columns = host, layouts, columns
        self._floating = [number for number, layout in enumerate(layouts) if layout.floating]
        self._fixed = [number for number, layout in enumerate(layouts) if layout.fixed]
        self.arrays = RootArrays.zeros(host.num_envs * len(layouts))
        self.follow: Callable[[], None] | None = None
        """To be called after each physics step; None where nothing floats."""
        self._native: Any = None

    def bind(self, qpos: np.ndarray, qvel: np.ndarray, centers: np.ndarray) -> None:
        """Follow these arrays from now on, and take over their values.

        Args:
            qpos: Positions, an environment a row.
            qvel: Velocities, likewise.
            centers: Centres of mass of all bodies in their frames, `(environments, bodies, 3)`.
        """
        every = np.arange(self._host.num_envs)
        self.follow, self._native = None, None
        if self._floating and core is not None:
            items = [
                (number, *columns, centers[:, self._layouts[number].bodies[0]])
                for number, columns in zip(self._floating, self._columns, strict=True)
            ]
            arrays, down = self.arrays, unit(self._host.gravity).tolist()
            written = arrays.poses, arrays.velocities, arrays.gravity
            self._native = core.Roots(qpos, qvel, items, down, len(self._layouts), *written)
            self.follow = self._native.run
        elif self._floating:
            self.follow = lambda: self.update(every)
        self.update(every)
        self.update_fixed(every)

    def update(self, envs: np.ndarray) -> None:
        """Update the arrays of floating root links in some environments."""
        if self._native is not None:
            self._native.update(envs.tolist())
        else:
            self._take(self._floating, envs)

    def update_fixed(self, envs: np.ndarray) -> None:
        """Update the arrays of fixed root links in some environments."""
        self._take(self._fixed, envs)

    def _take(self, numbers: list[int], envs: np.ndarray) -> None:
        """Compute those of some robots of some environments."""
        robots = np.add.outer(envs * len(self._layouts), np.array(numbers, int)).ravel()
        if robots.size:
            arrays, host = self.arrays, self._host
            poses = host.root_poses(robots)
            arrays.poses[robots], arrays.velocities[robots] = poses, host.root_velocities(robots)
            arrays.gravity[robots] = seen_from(poses[:, 3:], unit(host.gravity))
