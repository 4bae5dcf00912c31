"""Wrappers of motors that are configs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatorConfig,
    ArticulationActuators,
    ClampingDCMotor,
    ClampingMaxEffort,
    ControllerPD,
    DCMotorClampingConfig,
    MotorConfig,
)


def driven(paths: str, motors: Mapping[str, MotorConfig], count: int = 1) -> ArticulationActuators:
    """A wrapper of PD motors, with limits, of `count` robots."""

    def each(value: Any) -> wp.array:
        return wp.full(count, float(value), dtype=wp.float32, device="cpu")

    built = []
    for name, motor in motors.items():
        law: Any = motor.controller
        limits: Any = motor.clamping
        clamps = [
            ClampingDCMotor(each(one.saturation_effort), each(one.velocity_limit), each(one.max_motor_effort))
            if isinstance(one, DCMotorClampingConfig)
            else ClampingMaxEffort(each(one.max_effort))
            for one in limits
        ]
        controller = ControllerPD(each(law.kp), each(law.kd), each(law.const_effort))
        built.append((ActuatorConfig(controller, clamping=clamps), name))
    return ArticulationActuators.from_actuators(paths, built)
