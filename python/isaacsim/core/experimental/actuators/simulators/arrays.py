"""A host of arrays only: no physics, no USD needed. For tests, and for stepping actuators on recorded data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..base.errors import NotCopied
from .articulation import ArrayArticulation, DofArrays, Robot
from .bus import EventBus

if TYPE_CHECKING:
    from ..files.usd.handles import Stage


class ArraysHost(NotCopied):
    """`num_robots` equal robots, environments of their own, whose joint state is whatever the caller writes.

    `path` is the articulation root, with several robots `<path>_i`; `stage` has actuator prims and the robot at `path`.
    Joint paths on it are `<path>/joints/<name>` by default.
    """

    _INSTEAD = "Make another one of the same joints."

    def __init__(
        self,
        dof_names: Sequence[str],
        num_robots: int = 1,
        *,
        path: str = "/Robot",
        stage: Stage | None = None,
        dof_paths: Sequence[str] | None = None,
    ) -> None:
        self.bus = EventBus()
        self.stage = stage
        self.generation = 0
        names = tuple(dof_names)
        joints = tuple(dof_paths) if dof_paths is not None else tuple(f"{path}/joints/{name}" for name in names)
        self._robots = []
        for i in range(num_robots):
            root = path if num_robots == 1 else f"{path}_{i}"
            own = tuple(root + joint[len(path) :] if joint.startswith(path + "/") else joint for joint in joints)
            self._robots.append(Robot(root, own, names, (path, joints), env=i, offset=i * len(names)))
        self._arrays: DofArrays | None = None

    def articulation(self, paths: str | Sequence[str]) -> ArrayArticulation:
        """The robots at `paths`."""
        return ArrayArticulation(self, paths)

    def play(self) -> None:
        """Allocate the arrays, all zero, and announce that physics is ready."""
        self._arrays = DofArrays.zeros(sum(len(robot.dof_names) for robot in self._robots))
        self.generation += 1
        self.bus.start(self.stop)

    def step(self, dt: float) -> None:
        """Run the pre-step callbacks; efforts stay in the arrays for the caller to look at."""
        self.bus.emit_pre_step(dt, None)

    def stop(self) -> None:
        """Drop the arrays and announce the stop."""
        self._arrays = None
        self.bus.emit_stop()

    def robots(self) -> list[Robot]:
        """All robots."""
        return self._robots

    def arrays(self) -> DofArrays | None:
        """The arrays, or None before play."""
        return self._arrays

    def write_state(self, name: str, at: np.ndarray) -> None:
        """Nothing to pass on: the arrays are the state."""

    def write_gains(self) -> None:
        """Nothing to pass on: the arrays are the state."""
