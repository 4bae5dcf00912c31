"""The parameters that identification can fit, and where they are in a motor."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...specs.configs import (
    Config,
    ElectricalConfig,
    FrictionConfig,
    PDControlConfig,
    ServoControlConfig,
    TimedDelayConfig,
)
from ...specs.encoder import EncoderConfig
from ...specs.motors import MotorConfig


@dataclass(frozen=True)
class Fitted:
    """A line of the table.

    Args:
        unit: Its unit, empty for none.
        bounds: Smallest and largest value.
        start: Value at which a fit starts if the motor has none.
        scale: Typical size of a change.
        laws: Configs whose fields it sets, of the first one that the motor has; a motor without gets one of the last.
            Empty for what is of the joint.
        fields: Names of these fields; the first one is read.
        spread: Standard deviation of what is known before a fit: that the value is about `start`. Infinite if
            nothing is.
    """

    unit: str
    bounds: tuple[float, float]
    start: float
    scale: float
    laws: tuple[type[Config], ...] = ()
    fields: tuple[str, ...] = ()
    spread: float = math.inf


_CONTROLLERS: tuple[type[Config], ...] = (PDControlConfig, ServoControlConfig)

PARAMETERS = {
    "armature": Fitted("kg·m² or kg", (1e-5, 2.0), 0.01, 0.01),
    "delay": Fitted("s", (0.0, 0.1), 0.005, 0.005, (TimedDelayConfig,), ("seconds",)),
    "encoder_bias": Fitted("rad or m", (-0.2, 0.2), 0.0, 0.02, (EncoderConfig,), ("bias",), 0.02),
    "kp": Fitted("N·m/rad or N/m", (0.0, 1e5), 20.0, 5.0, _CONTROLLERS, ("kp",)),
    "kd": Fitted("N·m·s/rad or N·s/m", (0.0, 1e4), 0.5, 0.2, _CONTROLLERS, ("kd",)),
    "torque_constant": Fitted("N·m/A or N/A", (1e-3, 100.0), 0.5, 0.1, (ElectricalConfig,), ("torque_constant",)),
    "resistance": Fitted("Ω", (1e-2, 100.0), 2.0, 0.5, (ElectricalConfig,), ("resistance",)),
    "viscous": Fitted("N·m·s/rad or N·s/m", (0.0, 100.0), 0.05, 0.1, (FrictionConfig,), ("viscous",)),
    "coulomb": Fitted("N·m or N", (0.0, 100.0), 0.05, 0.1, (FrictionConfig,), ("coulomb",)),
    "breakaway": Fitted("N·m or N", (0.0, 100.0), 0.02, 0.05, (FrictionConfig,), ("static",)),
    "stribeck_velocity": Fitted("rad/s or m/s", (0.005, 5.0), 0.1, 0.1, (FrictionConfig,), ("stribeck_velocity",)),
    "load_friction": Fitted("", (0.0, 1.0), 0.02, 0.05, (FrictionConfig,), ("motor_load", "external_load")),
}
"""The parameters by name. `breakaway` is by how much the static level exceeds the Coulomb level."""

OF_MOTOR = ("kp", "kd", "torque_constant", "resistance")
"""Parameters of stages that a motor has to have already."""

OF_LOG = ("armature", "delay", "encoder_bias")
"""Parameters that a rollout applies to inertias, commands and positions; the others are those of laws."""


def value_of(motor: MotorConfig, name: str) -> float:
    """Return a parameter of a motor of one joint; NaN if the motor does not have it."""
    rule = PARAMETERS[name]
    if name == "armature":
        return math.nan if motor.armature is None else _number(motor.armature, name)
    for stage in motor.stages:
        if isinstance(stage, rule.laws):
            found = _number(getattr(stage, rule.fields[0]), name)
            if isinstance(stage, FrictionConfig) and name == "breakaway":
                return max(found - _number(stage.coulomb, name), 0.0)
            return found
    return math.nan


def with_values(motor: MotorConfig, values: dict[str, float]) -> MotorConfig:
    """Return a motor with these parameters, and the stages that they need.

    Raises:
        ValueError: A gain or a value of the winding, where the motor has no such stage.
    """
    changed = dataclasses.replace(motor, clamping=list(motor.clamping), others=list(motor.others))
    if "armature" in values:
        changed.armature = values["armature"]
    for laws in dict.fromkeys(rule.laws for name, rule in PARAMETERS.items() if name in values and rule.laws):
        given = {
            field: value
            for name, value in values.items()
            if PARAMETERS[name].laws == laws
            for field in PARAMETERS[name].fields
        }
        _set(changed, laws, given)
    return changed


def _set(motor: MotorConfig, laws: tuple[type[Config], ...], given: dict[str, Any]) -> None:
    found = next((stage for stage in motor.stages if isinstance(stage, laws)), None)
    law = laws[-1] if found is None else type(found)
    if law is FrictionConfig:
        base = found if isinstance(found, FrictionConfig) else FrictionConfig()
        coulomb = given.get("coulomb", _number(base.coulomb, "coulomb"))
        if "static" in given:
            given["static"] += coulomb
        elif coulomb > _number(base.static, "static"):
            given["static"] = 0.0
    if found is None and set(given) <= set(OF_MOTOR):
        wanted = " or ".join(one.__name__ for one in laws)
        raise ValueError(
            f"{', '.join(given)}: the motor has no {wanted}: must have one for these to be fitted. Add it."
        )
    if found is None and law is EncoderConfig:
        # rollouts have the velocity of the joint
        given = given | {"velocity": "register"}
    made: Any = law(**given) if found is None else dataclasses.replace(found, **given)  # type: ignore[type-var]
    if law is TimedDelayConfig:
        motor.delay = made
    elif found is not None and motor.controller is found:
        motor.controller = made
    elif found is None:
        motor.others.append(made)
    else:
        motor.others[motor.others.index(found)] = made


def _number(value: object, name: str) -> float:
    if isinstance(value, int | float):
        return float(value)
    raise ValueError(f"{name} = {value!r}: must be one number. Give each joint a motor of its own.")


def fields_of(names: Sequence[str], values: Mapping[str, float]) -> dict[str, float]:
    """Return values of the fields of laws for some parameters; those of `OF_LOG` have none."""
    found = {field: values[name] for name in names if name not in OF_LOG for field in PARAMETERS[name].fields}
    if "static" in found:
        found["static"] += found["coulomb"]
    return found
