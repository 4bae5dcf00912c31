"""Actuator prims as newton-actuators had them: of type `Actuator`, with attributes `newton:actuator:*`.

Their schemas are told by the names of their attributes. A prim is read through its own methods; USD is not imported.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from ...specs.fields import shown
from .base import Actuator
from .delayed import ActuatorDelayedPD
from .direct import ActuatorDCMotor, ActuatorPD, ActuatorPID

_TYPE, _TARGETS, _PREFIX = "Actuator", "newton:actuator:target", "newton:actuator:"
_PD = {"kp": "kp", "kd": "kd", "maxForce": "max_force", "constForce": "constant_force"}
_PID = _PD | {"ki": "ki", "integralMax": "integral_max"}
_DELAY = {"delay": "delay"}
_DC = {"saturationEffort": "saturation_effort", "velocityLimit": "velocity_limit"}
_GEAR = {"gear": "gear"}
_TRANSMISSION = "transmission"


@dataclass
class ParsedActuator:
    """What a prim says.

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


def parse_actuator_prim(prim: Any, *, gear: bool = False) -> ParsedActuator | None:
    """Return what a prim says, or None where it is no actuator or has no target.

    As in newton-actuators, a motor curve goes before a delay, and PID knows neither. What the class does not take is
    named by a warning.

    Args:
        prim: A `Usd.Prim`, or what has its methods.
        gear: Whether `newton:actuator:gear` is read, as in 0.1.0; 0.1.1 does not.

    Raises:
        TypeError: It is no prim.
        ValueError: A motor curve with a no-load speed that is not positive.
    """
    if not hasattr(prim, "GetTypeName"):
        raise TypeError(f"prim = {shown(prim)}: must be a prim of a stage, not {type(prim).__name__}. Give one.")
    if prim.GetTypeName() != _TYPE:
        return None
    relationship = prim.GetRelationship(_TARGETS)
    targets = [str(path) for path in relationship.GetTargets()] if relationship else []
    if not targets:
        return None
    attributes = {
        attribute.GetName().removeprefix(_PREFIX): attribute
        for attribute in prim.GetAttributes()
        if attribute.GetName().startswith(_PREFIX)
    }
    values = {name: one.Get() for name, one in attributes.items() if one.HasAuthoredValue()}
    # the mere presence of an attribute says which schema it is, authored or not
    is_pid, is_pd = "ki" in attributes, bool({"kp", "kd"} & set(attributes))
    is_dc, is_delayed = set(_DC) <= set(attributes), "delay" in attributes
    chosen = ActuatorPD
    if is_pid:
        chosen = ActuatorPID
    elif is_dc and is_pd:
        chosen = ActuatorDCMotor
    elif is_delayed and is_pd:
        chosen = ActuatorDelayedPD
    speed = values.get("velocityLimit")
    if is_dc and speed is not None and speed <= 0:
        raise ValueError(f"{_PREFIX}velocityLimit = {speed}: must be > 0 for a motor curve. Correct it.")
    read = {
        **(_PID if is_pid else _PD if is_pd else {}),
        **(_DELAY if is_delayed else {}),
        **(_DC if is_dc else {}),
        **(_GEAR if gear else {}),
    }
    taken = {*chosen.REQUIRED, *chosen.DEFAULTS, *chosen.OPTIONAL}
    lost = [name for name in values if name != _TRANSMISSION and read.get(name) not in taken]
    if lost:
        told = ", ".join(f"{name} = {values[name]}" for name in lost)
        warnings.warn(
            f"{told} of an actuator of {', '.join(targets)}: without effect, for it becomes {chosen.__name__}. Remove "
            "it, or author a NewtonActuator, which may have all of it.",
            stacklevel=2,
        )
    transmission = values.get(_TRANSMISSION)
    return ParsedActuator(
        chosen,
        targets,
        {read[name]: value for name, value in values.items() if name in read and value is not None},
        None if transmission is None else [*transmission],
    )
