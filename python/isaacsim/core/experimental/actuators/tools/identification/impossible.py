"""Impossible values: what no motor of these does, said instead of written without a word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from ...specs.datasheet import stall_torque
from ...specs.electrical import ElectricalConfig
from ...specs.motors import MotorConfig
from ...specs.servo import ServoControlConfig
from ...specs.stages import is_geared
from .log import MotorLog
from .motion import motion_of
from .parameters import value_of
from .rollout import settings_of

# share of the samples whose speed is that of noise, and by how much a speed exceeds a limit
_PEAKS, _OVER = 0.002, 1.05


def impossible(motors: Mapping[str, MotorConfig], logs: Sequence[MotorLog], speeds: Mapping[str, float]) -> list[str]:
    """Return a sentence for each value that cannot be; speeds are the largest of the robot file [rad/s or m/s].

    They are a Coulomb friction that the motor cannot overcome, a speed in a log above what joint or motor reach, and a
    gain in the register of a servo that a log gives to a PD law, whose gain is in N·m/rad.
    """
    found = []
    for j, joint in enumerate(logs[0].joints):
        motor = motors[joint]
        friction, stall = value_of(motor, "coulomb"), min(_largest(motor, "effort"), default=math.inf)
        if friction >= stall:
            found.append(
                f"{joint}: Coulomb friction is {friction:.3g} and its motor gives {stall:.3g} N·m or N at most: it "
                "could not move. Gain and friction are known by their ratio alone: give the gain, and keep it."
            )
        limit = min([speeds.get(joint, math.inf), *_largest(motor, "speed")])
        fastest = max(
            float(np.quantile(np.abs(motion_of(log.position[:, [j]], log.dt)[0]), 1.0 - _PEAKS)) for log in logs
        )
        if fastest > _OVER * limit:
            found.append(
                f"{joint}: it moves at {fastest:.3g} rad/s or m/s in a log, faster than its limit of {limit:.3g}: the "
                "whole robot may not follow. Correct the limit."
            )
        gains = [settings["kp"] for settings in map(settings_of, logs) if "kp" in settings]
        if gains and not isinstance(motor.controller, ServoControlConfig):
            found.append(
                f"{joint}: kp = {gains[0]:g} of a log counts as N·m/rad or N/m, for its motor has no servo law: a gain "
                "in the register of a servo is a number. Give it a ServoControlConfig, or remove the line from the log."
            )
    return found


def _largest(motor: MotorConfig, of: Literal["effort", "speed"]) -> Iterator[float]:
    """Yield what bounds the effort or speed of a motor at its joint; nothing behind a gear, which changes both."""
    if is_geared(motor):
        return
    for stage in motor.stages:
        bounds: list[object] = [*stage.bounds(of).values()]
        if isinstance(stage, ElectricalConfig) and of == "effort":
            servo = motor.controller
            voltage = servo.voltage if isinstance(servo, ServoControlConfig) else stage.voltage
            numbers = stage.torque_constant, voltage, stage.resistance
            if all(isinstance(number, float | int) for number in numbers):
                bounds.append(stall_torque(*numbers))
        yield from (float(bound) for bound in bounds if isinstance(bound, float | int))
