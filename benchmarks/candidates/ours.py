"""This project's engine and its public actuator on plain arrays."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import (
    Actuator,
    ActuatorConfig,
    ClampingDCMotor,
    ClampingMaxEffort,
    ClampingPositionBased,
    ControllerPD,
    ControllerPID,
    Delay,
)
from isaacsim.core.experimental.actuators.engine.assembly import Assembly
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry

from ..problem import DT, INPUTS, Problem
from . import Candidate
from .one_object import OneObject, as_indices


class OurEngine(Candidate):
    """The engine with one actuator per joint, as in a robot file."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.efforts = problem.zeros()
        entries = []
        for joint in range(problem.num_joints):
            made = components(problem, slice(joint, joint + 1))
            parts = made.controller, made.clamping, made.delay
            entries.append(ActuatorEntry(f"/{joint}", (str(joint),), *parts, shared=not problem.per_robot))
        columns = list(problem.robot.columns)
        self.engine = Assembly(entries, problem.num_robots, "cpu", columns)
        self.engine.bind(columns, [problem.inputs[name] for name in INPUTS], self.efforts)
        self.step = partial(self.engine.step, DT)


class OurActuator(OneObject):
    """A call of the public `Actuator`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, _actuator)


def _actuator(problem: Problem, joints: slice) -> Actuator:
    made = components(problem, joints)
    return Actuator(as_indices(problem.flat_indices(joints)), made.controller, made.delay, made.clamping)


def components(problem: Problem, joints: slice, device: str = "cpu") -> Any:
    """Return the components of some joints with the same law, with a value for every joint of every robot."""
    law = problem.laws[joints.start % len(problem.laws)]

    def value(name: str) -> wp.array:
        return wp.array(problem.spread(name, joints), dtype=wp.float32, device=device)

    controller: Any = ControllerPD(value("kp"), value("kd"))
    if law.integral:
        controller = ControllerPID(value("kp"), value("ki"), value("kd"), value("integral_max"))
    clamps: dict[str, Any] = {
        "none": lambda: [],
        "max": lambda: [ClampingMaxEffort(value("max_effort"))],
        "dc": lambda: [ClampingDCMotor(*map(value, ("saturation_effort", "velocity_limit", "max_motor_effort")))],
        "table": lambda: [ClampingPositionBased(None, *problem.table)],
    }
    steps = np.full(len(problem.flat_indices(joints)), problem.delay, np.int32)
    delay = Delay(wp.array(steps, dtype=wp.int32, device=device), problem.delay) if law.delayed else None
    return ActuatorConfig(controller, clamps[law.clamp](), delay)
