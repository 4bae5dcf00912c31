"""Stand-ins: the nearest laws of newton, for readers of USD that do not know a law of ours.

newton and Isaac Sim know the schemas of newton-usd-schemas. They refuse a file whose controller is a law of ours, and
ignore a limit of ours. `usd/author.py` therefore applies the nearest schemas of newton beside it and lists them in the
attribute `actuator:standIns`; `usd/discover.py` skips listed schemas if it knows the law itself.

`STAND_INS` has a line for each law of ours whose kind newton knows. newton ignores stages of other kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .configs import (
    ClampingConfig,
    Config,
    DCMotorClampingConfig,
    DCMotorCutoffClampingConfig,
    EnvelopeClampingConfig,
    GearedPDControlConfig,
    GearedPIDControlConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
)
from .fields import violations

LISTED = "actuator:standIns"
"""Attribute of an actuator prim that lists the schemas which stand in for others."""


@dataclass(frozen=True)
class StandIn:
    """A line of the table.

    Args:
        config: Returns the nearest config of newton.
        otherwise: How a reader that uses it differs.
    """

    config: Callable[[Any], Config]
    otherwise: str


def _pd_at_joint(motor: GearedPDControlConfig) -> PDControlConfig:
    """Return the law of a geared motor at the joint: `gear·kp·(target − gear·q) = gear²·kp·(target/gear − q)`."""
    kp, kd, _ = motor.gains_at_joint()
    return PDControlConfig(kp, kd, motor.const_effort * motor.gear)


def _pid_at_joint(motor: GearedPIDControlConfig) -> PIDControlConfig:
    """Return the law of a geared motor at the joint; the integral of the motor is `gear` times that of the joint."""
    squared = motor.gear**2
    most = motor.integral_max / abs(motor.gear) if motor.gear else math.inf
    return PIDControlConfig(
        motor.kp * squared, motor.ki * squared, motor.kd * squared, most, motor.const_effort * motor.gear
    )


def _dc_motor(motor: DCMotorCutoffClampingConfig) -> ClampingConfig:
    """Return newton's curve of a DC motor, or the peak alone: newton refuses a curve whose stall effort is infinite."""
    if math.isinf(motor.saturation_effort):
        return MaxEffortClampingConfig(motor.max_motor_effort)
    return DCMotorClampingConfig(motor.saturation_effort, motor.velocity_limit, motor.max_motor_effort)


def _highest(envelope: EnvelopeClampingConfig) -> ClampingConfig:
    """Return the line of an envelope with its largest effort where it drives, or that effort alone."""
    efforts = [one for name, one in envelope.bounds("effort").items() if name != "stall_effort"]
    peak = min(efforts)
    if math.isinf(envelope.stall_effort):
        return MaxEffortClampingConfig(peak)
    return DCMotorClampingConfig(envelope.stall_effort, envelope.no_load_velocity, peak)


_AT_JOINT = "take targets and feedforward at the joint, where ours takes those of the motor"
STAND_INS: dict[type[Config], StandIn] = {
    GearedPDControlConfig: StandIn(_pd_at_joint, _AT_JOINT),
    GearedPIDControlConfig: StandIn(_pid_at_joint, _AT_JOINT),
    DCMotorCutoffClampingConfig: StandIn(
        _dc_motor, "brake beyond no-load speed, or limit no speed, where ours gives 0"
    ),
    EnvelopeClampingConfig: StandIn(
        _highest, "take the line of a DC motor with one peak, or its peak alone, where ours has a table for each side"
    ),
}


def stand_in_for(config: Config) -> StandIn | None:
    """Return the line of a config that newton does not know; None for others and for foreign schemas."""
    return next((STAND_INS[base] for base in type(config).__mro__ if base in STAND_INS), None)


def stand_ins(configs: Sequence[Config]) -> dict[int, Config]:
    """Return the stand-ins of configs that newton does not know, by their place in the list.

    A schema is applied once: a config of the list takes precedence. A config whose numbers are out of range for newton
    has no stand-in.
    """
    applied = {config.SCHEMA for config in configs}
    found: dict[int, Config] = {}
    for at, config in enumerate(configs):
        line = stand_in_for(config)
        if line is None:
            continue
        nearest = line.config(config)
        if nearest.SCHEMA not in applied and not violations(nearest, ""):
            found[at] = nearest
            applied.add(nearest.SCHEMA)
    return found
