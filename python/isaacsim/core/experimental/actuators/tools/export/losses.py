"""Properties of a robot that a target cannot store, by joint."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from ...base.values import grouped
from ...specs.configs import (
    CommandLagConfig,
    Config,
    DCMotorClampingConfig,
    DelayConfig,
    FrictionConfig,
    MaxEffortClampingConfig,
    SlewedPIDControlConfig,
    StartupPDControlConfig,
)
from ...specs.encoder import EncoderConfig
from ...specs.engine_friction import is_friction
from ...specs.fields import parameters_of
from ...specs.late import TimedDelayConfig
from ...specs.motors import MotorConfig
from ...specs.stages import without_idle
from ..plots.units import unit_of
from .robot import AT_MOTOR, FEATURES, ExportedJoint, ExportedRobot, name_of, unsaid

_UNITS = {
    name: one.unit
    for config in (
        *(FrictionConfig, SlewedPIDControlConfig, MaxEffortClampingConfig, DCMotorClampingConfig, DelayConfig),
        *(MotorConfig, TimedDelayConfig, EncoderConfig, CommandLagConfig),
    )
    for name, one in parameters_of(config).items()
} | {"static_friction": parameters_of(MotorConfig)["friction"].unit, "lower": "rad or m", "upper": "rad or m"}


@dataclass(frozen=True)
class Loss:
    """A property of a joint that is lost, with values and units by name; one without a name is the property's."""

    joint: ExportedJoint
    what: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)


def losses_of(
    robot: ExportedRobot, says: Set[str], with_gains: Set[str] = frozenset(), left: Set[str] = frozenset()
) -> list[Loss]:
    """Return what is lost of a robot."""
    return [
        loss
        for joint in robot.joints
        for loss in _lost(joint, left | (says if joint.has_gains or joint.motor is None else says - with_gains), left)
    ]


def left_of(robot: ExportedRobot, left: Set[str]) -> list[Loss]:
    """Return the features of a robot that a target leaves to it, and friction beyond them."""
    features = [of_feature(joint, name) for joint in robot.joints for name in joint.features if name in left]
    return features + [
        of_law(joint, stage) for joint in robot.joints for stage in _unsaid(joint) if _is_left(stage, left)
    ]


def on_one_side(robot: ExportedRobot) -> list[Loss]:
    """Return the position limits of joints that have only one, for a target that has both or none."""
    return [
        of_feature(joint, "position_limits", "position limit on one side")
        for joint in robot.joints
        if "position_limits" in joint.features and joint.position_limits is None
    ]


def of_feature(joint: ExportedJoint, name: str, what: str = "") -> Loss:
    """Return the loss of a feature of a joint, in words of its own or those of the feature."""
    value, parts = joint.features[name], _PARTS.get(name)
    sizes, units = {"": value} if parts is None else dict(zip(parts, value, strict=True)), _UNITS
    if name == "delay_steps" and joint.delay:
        sizes, units = {"": joint.delay}, {"": "s"}
    return Loss(joint, what or FEATURES[name], sizes, {"": _UNITS.get(name, "")} | units)


def lost_intervals(robot: ExportedRobot, says: Set[str]) -> list[Loss]:
    """Return the intervals of identified values that a target with those of some features does not say."""
    return [
        Loss(joint, f"interval of {name}", {"": pair}, {"": _UNITS.get(name, "")})
        for joint in robot.joints
        for name, pair in joint.intervals.items()
        if name not in says or name not in joint.features or not joint.has_gains
    ]


def of_law(joint: ExportedJoint, stage: Config) -> Loss:
    """Return the loss of what features cannot say of a stage."""
    what = f"law {name_of(stage)}"
    if is_friction(stage):
        what = f"Stribeck, load and curve parts of {what}"
    elif isinstance(stage, TimedDelayConfig):
        what = f"random part of {what}"
    elif isinstance(stage, StartupPDControlConfig):
        what = f"startup force of {what}"
    units = {name: one.unit for name, one in parameters_of(type(stage)).items()}
    return Loss(joint, what, unsaid(stage) or {}, units)


_PARTS = {
    "dc_motor": ("saturation_effort", "velocity_limit", "max_motor_effort"),
    "position_limits": ("lower", "upper"),
}


def _lost(joint: ExportedJoint, says: Set[str], left: Set[str]) -> Iterator[Loss]:
    yield from (of_law(joint, stage) for stage in _unsaid(joint) if not _is_left(stage, left))
    for name in joint.features:
        if name not in says or (joint.is_geared and name in AT_MOTOR):
            yield of_feature(joint, name)


def _unsaid(joint: ExportedJoint) -> list[Config]:
    """Return the stages of a joint that features do not say wholly."""
    return [] if joint.motor is None else [one for one in without_idle(joint.motor) if unsaid(one) is not None]


def _is_left(stage: Config, left: Set[str]) -> bool:
    return is_friction(stage) and "friction" in left


def said_together(losses: list[Loss], prefix: str = "Lost") -> list[str]:
    """Return a sentence for each property that is lost, with its sizes and all joints that lose it."""
    alike = grouped((loss.what, loss) for loss in losses)
    return [f"{prefix}: {what} of {_joints(some)}." for what, some in alike.items()]


def without_motor(robot: ExportedRobot) -> list[str]:
    """Return a sentence on the joints without a motor, if there are any, and one on those that others move."""
    bare = [joint.name for joint in robot.joints if joint.motor is None]
    found = {
        "No motor": [name for name in bare if name not in robot.led],
        "No motor, moved by others": [name for name in bare if name in robot.led],
    }
    return [f"{said}: {', '.join(names)}." for said, names in found.items() if names]


def without_actuator(robot: ExportedRobot) -> list[str]:
    """Return a sentence on joints whose motors get no actuator in a file that has gains at the joint alone."""
    names = [
        joint.name
        for joint in robot.joints
        if joint.motor is not None and joint.motor.controller is not None and not joint.has_gains
    ]
    return [f"No actuator in the file, for it cannot say their control laws: {', '.join(names)}."] if names else []


def rounded_delays(robot: ExportedRobot) -> list[str]:
    """Return a sentence for each delay that becomes steps of the physics."""
    joints: dict[tuple[float, int], list[str]] = {}
    for joint in robot.joints:
        if joint.delay and joint.has_gains:
            joints.setdefault((joint.delay, joint.features["delay_steps"]), []).append(joint.name)
    return [
        f"In steps, rounded up: a command delay of {seconds:.6g} s is {steps} · {robot.dt:.6g} s = "
        f"{steps * robot.dt:.6g} s, of {', '.join(names)}."
        for (seconds, steps), names in joints.items()
    ]


def _joints(losses: list[Loss]) -> str:
    names = dict.fromkeys(loss.joint.name for loss in losses)
    kinds = {not loss.joint.is_linear for loss in losses}
    turns = kinds.pop() if len(kinds) == 1 else None
    sizes: dict[str, tuple[str, list[Any]]] = {}
    for loss in losses:
        for name, size in loss.sizes.items():
            _, values = sizes.setdefault(name, (unit_of(loss.units.get(name, ""), turns), []))
            # the ends of an interval; a list is a value
            values += size if isinstance(size, tuple) else [_in_row(size) if isinstance(size, list) else size]
    within = ", ".join(_size(name, unit, values) for name, (unit, values) in sizes.items())
    within = f" ({within})" if sizes else ""
    return f"{len(names)} joint{'s' if len(names) > 1 else ''}{within}: {', '.join(names)}"


def _in_row(values: list[Any]) -> str:
    return ", ".join(f"{one:.6g}" if isinstance(one, float) else str(one) for one in values)


def _size(name: str, unit: str, values: list[Any]) -> str:
    """Return the smallest and the largest of some numbers as text, or what there is beside numbers."""
    if all(isinstance(one, int | float) and not math.isnan(one) for one in values):
        ends = [min(values), max(values)] if values else []
        # two that print alike are one
        text = " … ".join(dict.fromkeys(f"{one:.6g}" if isinstance(one, float) else str(one) for one in ends))
    else:
        text = ", ".join(dict.fromkeys(map(str, values)))
    is_single = unit.endswith(" steps") and set(values) == {1}
    return " ".join(filter(None, (name, text, unit.removesuffix("s") if is_single else unit)))
