"""Stand-ins: the nearest laws of newton, for readers of USD that do not know a law of ours.

newton and Isaac Sim know the schemas of newton-usd-schemas. They refuse a file whose controller is a law of ours, and
ignore a limit of ours. `files/usd/author.py` applies the nearest schemas of newton beside it and lists them in the
attribute `actuator:standIns`; `files/usd/discover.py` skips listed schemas if it knows the law itself.

`STAND_INS` has a line for each law of ours whose kind newton knows, and for a winding, whose limits newton knows.
newton ignores stages of other kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import configs
from .fields import parameters_of, violations
from .stages import AnyStage
from .transmission import at_joint, transmission_among

LISTED = "actuator:standIns"
"""Attribute of an actuator prim that lists the schemas which stand in for others."""


@dataclass(frozen=True)
class StandIn:
    """The config of newton in place of one among others, how readers of it differ, and its kind if it is another."""

    config: Callable[[AnyStage, Sequence[configs.Config]], configs.Config | None]
    otherwise: str
    kind: str = ""


def _pd_at_joint(motor: configs.GearedPDControlConfig, _beside: object) -> configs.PDControlConfig:
    """Return the law of a geared motor at the joint: `gear·kp·(target − gear·q) = gear²·kp·(target/gear − q)`."""
    kp, kd, _ = motor.gains_at_joint()
    return configs.PDControlConfig(kp, kd, motor.const_effort * motor.gear)


def _pid_at_joint(motor: configs.GearedPIDControlConfig, _beside: object) -> configs.PIDControlConfig:
    """Return the law of a geared motor at the joint; the integral of the motor is `gear` times that of the joint."""
    squared = motor.gear**2
    most = motor.integral_max / abs(motor.gear) if motor.gear else math.inf
    return configs.PIDControlConfig(
        motor.kp * squared, motor.ki * squared, motor.kd * squared, most, motor.const_effort * motor.gear
    )


def _dc_motor(motor: configs.DCMotorCutoffClampingConfig, _beside: object) -> configs.ClampingConfig:
    """Return newton's curve of a DC motor, or the peak alone: newton refuses a curve whose stall effort is infinite."""
    if math.isinf(motor.saturation_effort):
        return configs.MaxEffortClampingConfig(motor.max_motor_effort)
    return configs.DCMotorClampingConfig(motor.saturation_effort, motor.velocity_limit, motor.max_motor_effort)


def _line_of_winding(motor: configs.ElectricalConfig, _beside: object) -> configs.ClampingConfig | None:
    """Return newton's curve of the motor at its supply, or the effort of its largest current; None without limits."""
    peak = motor.torque_constant * motor.max_current
    if math.isinf(motor.voltage):
        return None if math.isinf(peak) else configs.MaxEffortClampingConfig(peak)
    stall = motor.torque_constant * motor.voltage / motor.resistance
    return configs.DCMotorClampingConfig(stall, motor.voltage / motor.torque_constant, min(stall, peak))


def _pd_of_servo(servo: configs.ServoControlConfig, beside: Sequence[configs.Config]) -> configs.PDControlConfig | None:
    """Return the slopes of a servo and of the back-EMF of its winding; None without a winding."""
    winding = next((one for one in beside if isinstance(one, configs.ElectricalConfig)), None)
    return None if winding is None else configs.PDControlConfig(*servo.gains_with(winding)[:2])


def _highest(envelope: configs.EnvelopeClampingConfig, _beside: object) -> configs.ClampingConfig:
    """Return the line of an envelope with its largest effort where it drives, or that effort alone."""
    efforts = [one for name, one in envelope.bounds("effort").items() if name != "stall_effort"]
    peak = min(efforts)
    if math.isinf(envelope.stall_effort):
        return configs.MaxEffortClampingConfig(peak)
    return configs.DCMotorClampingConfig(envelope.stall_effort, envelope.no_load_velocity, peak)


def _mean_steps(delay: configs.TimedDelayConfig, _beside: object) -> configs.DelayConfig | None:
    """Return the whole number of steps nearest to the mean delay; None for a delay in seconds, or without one."""
    steps = round(delay.steps + delay.random_steps / 2)
    return configs.DelayConfig(steps) if steps and not delay.seconds else None


_AT_JOINT = "take targets and feedforward at the joint, where ours takes those of the motor"
STAND_INS: dict[type[configs.Config], StandIn] = {
    configs.GearedPDControlConfig: StandIn(_pd_at_joint, _AT_JOINT),
    configs.GearedPIDControlConfig: StandIn(_pid_at_joint, _AT_JOINT),
    configs.SlewedPIDControlConfig: StandIn(
        lambda pid, _: configs.PIDControlConfig(pid.kp, pid.ki, pid.kd, pid.integral_max, pid.const_effort),
        "follow the target at once, where ours limits the velocity of its setpoint",
    ),
    configs.StartupPDControlConfig: StandIn(
        lambda pd, _: configs.PDControlConfig(pd.kp, pd.kd, pd.const_effort),
        "lack the startup force, so that a joint sticks farther from its target",
    ),
    configs.StepperControlConfig: StandIn(
        lambda stepper, _: configs.PDControlConfig(*stepper.gains_at_joint()[:2]),
        "never lose a step, and have no largest effort",
    ),
    configs.ServoControlConfig: StandIn(
        _pd_of_servo, "do not limit the duty, and take a feedforward in N·m, not in volts"
    ),
    configs.DCMotorCutoffClampingConfig: StandIn(
        _dc_motor, "brake beyond no-load speed, or limit no speed, where ours gives 0"
    ),
    configs.TimedDelayConfig: StandIn(
        _mean_steps, "delay by a constant whole number of physics steps, and know no delay in seconds"
    ),
    configs.ElectricalConfig: StandIn(
        _line_of_winding, "know neither inductance nor heat, and limit by the velocity before the step", "clamping"
    ),
    configs.EnvelopeClampingConfig: StandIn(
        _highest, "take the line of a DC motor with one peak, or its peak alone, where ours has a table for each side"
    ),
}


def stand_in_for(config: configs.Config) -> StandIn | None:
    """Return the line of a config that newton does not know; None for others and for foreign schemas."""
    return next((STAND_INS[base] for base in type(config).__mro__ if base in STAND_INS), None)


def stand_ins(stages: Sequence[configs.Config]) -> dict[int, configs.Config]:
    """Return the stand-ins of configs that newton does not know, by their place in the list.

    Stand-ins are at the joint, where configs before a transmission are at the motor.

    A schema is applied once: a config of the list takes precedence. A config whose numbers are out of range for newton
    has no stand-in.
    """
    applied = {config.SCHEMA for config in stages}
    gear = transmission_among(stages)
    ratio = None if gear is None else gear.ratio
    there = stages if ratio is None else [at_joint(one, ratio) for one in stages]
    found: dict[int, configs.Config] = {}
    for at, config in enumerate(stages):
        nearest = _nearest(config, there[at], there)
        if nearest is not None and nearest.SCHEMA not in applied:
            found[at] = nearest
            applied.add(nearest.SCHEMA)
    return found


def _nearest(config: configs.Config, there: configs.Config, beside: Sequence[configs.Config]) -> configs.Config | None:
    """Return the stand-in of a config, which is `there` at the joint; None if there is none that newton accepts."""
    line = stand_in_for(config)
    # a value without fallback may be missing in a file
    if line is None or None in (getattr(config, name) for name in parameters_of(config)):
        return None
    nearest = line.config(there, beside)
    return None if nearest is None or violations(nearest, "") else nearest
