"""newton 1.8: `newton.actuators.Actuator`, stepped in four ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import newton.actuators as newton  # noqa: TID253
import numpy as np
import warp as wp

from ..problem import DT, Problem
from . import Candidate
from .one_object import OneObject, as_flat_warp, as_indices, signals


class Newton(Candidate):
    """Actuators that accumulate their efforts in a zeroed array."""

    def __init__(self, problem: Problem, joints: Sequence[slice]) -> None:
        super().__init__(problem)
        self.efforts = problem.zeros()
        self._efforts = as_flat_warp(self.efforts)
        self._state, self._control = signals(problem, self._efforts)
        self._actuators = [newton_actuator(problem, mine) for mine in joints]
        self._now = [actuator.state() for actuator in self._actuators]
        self._next = [actuator.state() for actuator in self._actuators]

    def step(self) -> None:
        """Zero the efforts, step all actuators, swap the states."""
        self._efforts.zero_()
        for actuator, now, following in zip(self._actuators, self._now, self._next, strict=True):
            actuator.step(self._state, self._control, now, following, dt=DT)
        self._now, self._next = self._next, self._now


class NewtonPerJoint(Newton):
    """One object per joint."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, list(each_joint(problem)))


class NewtonPerLaw(Newton):
    """One object per law."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, [group.joints for group in problem.groups])


class NewtonGraph(NewtonPerLaw):
    """One object per law, captured once for each of the two states."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        # kernels must be loaded before a capture
        self.step()
        self.step()
        self._graphs = []
        for _ in range(2):
            with wp.ScopedCapture(device="cpu") as capture:
                self.step()
            self._graphs.append(capture.graph)
        for state in (*self._now, *self._next):
            if state is not None:
                state.reset()
        self.step = self._replay

    def _replay(self) -> None:
        wp.capture_launch(self._graphs[0])
        self._graphs.reverse()


class NewtonObject(OneObject):
    """A call of one object for all joints."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, newton_actuator)


def each_joint(problem: Problem) -> Iterator[slice]:
    """Return each joint separately."""
    return (slice(joint, joint + 1) for joint in range(problem.num_joints))


def newton_actuator(
    problem: Problem, joints: slice, effort_indices: np.ndarray | None = None, device: str = "cpu"
) -> Any:
    """Return the newton actuator of some joints with the same law."""
    law = problem.laws[joints.start % len(problem.laws)]

    def value(name: str) -> wp.array:
        return wp.array(problem.spread(name, joints), dtype=wp.float32, device=device)

    indices = problem.flat_indices(joints)
    drive: Any = newton.DrivePD(value("kp"), value("kd"))
    delay = None
    clamping: list[Any] = []
    if law.integral:
        drive = newton.DrivePID(value("kp"), value("ki"), value("kd"), value("integral_max"))
    if law.delayed:
        steps = np.full(len(indices), problem.delay, np.int32)
        delay = newton.Delay(wp.array(steps, dtype=wp.int32, device=device), problem.delay)
    if law.clamp == "max":
        clamping = [newton.ClampingMaxEffort(value("max_effort"))]
    elif law.clamp == "dc":
        clamping = [newton.ClampingDCMotor(*map(value, ("saturation_effort", "velocity_limit", "max_motor_effort")))]
    elif law.clamp == "table":
        clamping = [newton.ClampingPositionBased(None, *problem.table)]
    return newton.Actuator(
        as_indices(indices, device),
        drive,
        delay=delay,
        clamping=clamping,
        effort_indices=None if effort_indices is None else as_indices(effort_indices, device),
    )
