"""newton-actuators 0.1.1, the package that newton's actuators replaced: one object per law."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp

from ..problem import DT, INPUTS, Group, Problem
from . import Candidate
from .one_object import as_flat_warp

with warnings.catch_warnings():
    # it emits a deprecation warning on import
    warnings.simplefilter("ignore", DeprecationWarning)
    import newton_actuators as peer


class NewtonActuators(Candidate):
    """Actuators that accumulate their efforts in a zeroed array."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        q, qd, q_target, qd_target, feedforward = (as_flat_warp(problem.inputs[name]) for name in INPUTS)
        self.efforts = problem.zeros()
        self._efforts = as_flat_warp(self.efforts)
        self._state = SimpleNamespace(joint_q=q, joint_qd=qd)
        self._control = SimpleNamespace(
            joint_target_pos=q_target, joint_target_vel=qd_target, joint_act=feedforward, joint_f=self._efforts
        )
        with wp.ScopedDevice("cpu"):
            self._actuators = [_actuator(problem, group) for group in problem.groups]
            self._now = [actuator.state() for actuator in self._actuators]
            self._next = [actuator.state() for actuator in self._actuators]

    def step(self) -> None:
        """Zero the efforts, step all actuators, swap the states."""
        self._efforts.zero_()
        for actuator, now, following in zip(self._actuators, self._now, self._next, strict=True):
            actuator.step(self._state, self._control, now, following, dt=DT)
        self._now, self._next = self._next, self._now

    def comparable(self, step: int) -> np.ndarray:
        """Exclude effort 0 until a delay is full, no effort beyond the no-load speed, and a delayed table."""
        problem = self.problem
        mask = np.ones((problem.num_robots, problem.num_joints), bool)
        for group in problem.groups:
            if group.law.delayed:
                mask[:, group.joints] = step >= problem.delay
            elif group.law.clamp == "table":
                mask[:, group.joints] = problem.holds_command(step)
            elif group.law.clamp == "dc":
                speed = np.abs(problem.inputs["velocities"][:, group.columns])
                mask[:, group.joints] = speed <= problem.parameters["velocity_limit"][:, group.joints]
        return mask


def _actuator(problem: Problem, group: Group) -> Any:
    def value(name: str) -> wp.array:
        return wp.array(problem.spread(name, group.joints), dtype=wp.float32, device="cpu")

    law, kp, kd = group.law, value("kp"), value("kd")
    indices = wp.array(problem.flat_indices(group.joints), dtype=wp.uint32, device="cpu")
    at = indices, indices
    if law.integral:
        return peer.ActuatorPID(*at, kp, value("ki"), kd, value("max_effort"), value("integral_max"))
    if law.delayed:
        return peer.ActuatorDelayedPD(*at, kp, kd, problem.delay, value("max_effort"))
    if law.clamp == "dc":
        peak, stall, no_load_speed = map(value, ("max_motor_effort", "saturation_effort", "velocity_limit"))
        return peer.ActuatorDCMotor(*at, kp, kd, peak, stall, no_load_speed)
    if law.clamp == "table":
        return peer.ActuatorRemotizedPD(*at, kp, kd, 1, *problem.table)
    none = wp.full(len(indices), np.inf, dtype=wp.float32, device="cpu")
    return peer.ActuatorPD(*at, kp, kd, value("max_effort") if law.clamp == "max" else none)
