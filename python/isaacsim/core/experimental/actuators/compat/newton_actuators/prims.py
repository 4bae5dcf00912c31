"""Actuator prims of newton-actuators: of type `Actuator`, with attributes `newton:actuator:*`.

The names of its attributes decide which schemas a prim has. A prim is read through its own methods; USD is not
imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...base.errors import shown
from .arguments import Resolved
from .base import Actuator
from .classes import ActuatorDCMotor, ActuatorDelayedPD, ActuatorPD, ActuatorPID
from .planned import PlannedActuator

_TYPE, _TARGETS, _PREFIX = "Actuator", "newton:actuator:target", "newton:actuator:"
_PD = {"kp": "kp", "kd": "kd", "maxForce": "max_force", "constForce": "constant_force"}
_PID = _PD | {"ki": "ki", "integralMax": "integral_max"}
_DELAY = {"delay": "delay"}
_DC = {"saturationEffort": "saturation_effort", "velocityLimit": "velocity_limit"}
_GEAR = {"gear": "gear"}
_TRANSMISSION = "transmission"


@dataclass
class ParsedActuator:
    """The content of a prim.

    Args:
        actuator_class: The class of its actuators.
        target_paths: Paths of the joints.
        kwargs: What was authored, by argument of the constructor; `resolve_arguments` takes those it knows.
        transmission: Factors of the transmission, or None; nothing here uses them.
    """

    actuator_class: type[Actuator]
    target_paths: list[str]
    kwargs: dict[str, Any] = field(default_factory=dict)
    transmission: list[float] | None = None


def parse_actuator_prim(prim: object, *, gear: bool = False) -> ParsedActuator | None:
    """Return the content of a prim, or None if it is no actuator or has no target.

    As in newton-actuators, a motor curve goes before a delay, and PID knows neither. A warning names what the class
    does not take.

    Args:
        prim: A `Usd.Prim`, or an object with its methods.
        gear: Whether `newton:actuator:gear` is read, as in 0.1.0; 0.1.1 does not.

    Raises:
        TypeError: It is no prim.
        ValueError: A motor curve with a no-load speed that is not positive.
    """
    targets = _targets_of(prim)
    if not targets:
        return None
    names, values = _attributes_of(prim)
    actuator, read = _schemas(names, gear)
    speed = values.get("velocityLimit")
    if "velocityLimit" in read and speed is not None and speed <= 0:
        raise ValueError(f"{_PREFIX}velocityLimit = {speed}: must be > 0 for a motor curve. Correct it.")
    if lost := _lost(actuator, values, read):
        warnings.warn(
            f"{', '.join(lost)} of an actuator of {', '.join(targets)}: without effect, for it becomes "
            f"{actuator.__name__}. Remove it, or author a NewtonActuator, which may have all of it.",
            stacklevel=2,
        )
    transmission = values.get(_TRANSMISSION)
    return ParsedActuator(
        actuator,
        targets,
        {read[name]: value for name, value in values.items() if name in read and value is not None},
        None if transmission is None else [*transmission],
    )


def _targets_of(prim: Any) -> list[str]:
    """Return the paths of the joints; none for a prim of another type."""
    if not hasattr(prim, "GetTypeName"):
        raise TypeError(f"prim = {shown(prim)}: must be a prim of a stage, not {type(prim).__name__}. Give one.")
    relationship = prim.GetRelationship(_TARGETS) if prim.GetTypeName() == _TYPE else None
    return [str(path) for path in relationship.GetTargets()] if relationship else []


def _lost(actuator: type[PlannedActuator], values: Mapping[str, object], read: Mapping[str, str]) -> list[str]:
    taken = {name for name, one in actuator.ARGUMENTS.items() if one.resolved is not Resolved.DROPPED}
    names = (name for name in values if name != _TRANSMISSION and read.get(name) not in taken)
    return [f"{name} = {values[name]}" for name in names]


def _attributes_of(prim: Any) -> tuple[set[str], dict[str, Any]]:
    attributes = [one for one in prim.GetAttributes() if one.GetName().startswith(_PREFIX)]
    values = {one.GetName().removeprefix(_PREFIX): one.Get() for one in attributes if one.HasAuthoredValue()}
    return {one.GetName().removeprefix(_PREFIX) for one in attributes}, values


def _schemas(names: set[str], gear: bool) -> tuple[type[PlannedActuator], dict[str, str]]:
    is_pid, is_pd = "ki" in names, bool(names & {"kp", "kd"})
    is_dc, is_delayed = names >= set(_DC), "delay" in names
    schemas = [(_PID, is_pid), (_PD, is_pd), (_DC, is_dc), (_DELAY, is_delayed), (_GEAR, gear)]
    read = {name: argument for schema, is_there in schemas if is_there for name, argument in schema.items()}
    choices = [(ActuatorPID, is_pid), (ActuatorDCMotor, is_dc and is_pd), (ActuatorDelayedPD, is_delayed and is_pd)]
    return next((actuator for actuator, is_there in choices if is_there), ActuatorPD), read
