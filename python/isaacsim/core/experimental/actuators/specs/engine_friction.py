"""The friction that a simulator can represent: a dynamic, a static and a viscous part of each joint.

`FrictionConfig(in_engine=True)` gives these to the simulator. Other parts of the law, such as the shape of the Stribeck
curve, only exist in the stage of the actuator.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from ..base.errors import shown
from .fields import entries_of, parameters_of

# the estimate of the inertia is for the stage; a simulator knows its own
_IN_ENGINE = ("coulomb", "static", "viscous", "in_engine", "assumed_inertia")


# files hold single precision
_SINGLE_PRECISION = 1e-6


def is_friction(config: object) -> bool:
    """Return True for the config of a law, or its class, that is the whole friction of a joint."""
    return getattr(config, "IS_FRICTION", False)


def portable_levels(config: object) -> tuple[float, float, float]:
    """Return coulomb, static and viscous friction of a friction config, as far as other programs have these.

    A measured curve has its last effort as coulomb and its first as static friction. What a law does not have is 0.
    """
    if (efforts := getattr(config, "lookup_efforts", None)) is not None:
        return float(efforts[-1]), float(efforts[0]), 0.0
    coulomb, static, viscous = (float(getattr(config, name, 0.0)) for name in ("coulomb", "static", "viscous"))
    return coulomb, static, viscous


def is_in_engine(config: object) -> bool:
    """Return True for the config of a friction that the simulator computes."""
    return is_friction(config) and getattr(config, "in_engine", False) == 1


def unattached_problems(configs: Iterable[object], subject: str = "") -> list[str]:
    """Return one message per config whose friction the simulator is to compute, where none is attached."""
    prefix = f"{subject}: " if subject else ""
    return [
        f"{prefix}{type(config).__name__}.in_engine = True: must be False here, for no simulator is attached that "
        "could compute the friction. Set it to False, or give the motor to ArticulationActuators.from_configs."
        for config in configs
        if is_in_engine(config)
    ]


def engine_problems(config: Any) -> list[str]:
    """Return what a simulator cannot represent of friction with `in_engine=True`; nothing of other friction."""
    if not isinstance(config.in_engine, numbers.Real):
        return [
            f"in_engine = {shown(config.in_engine)}: must be one for all joints of a motor. Give the others a motor "
            "of their own."
        ]
    if not is_in_engine(config):
        return []
    usual = {field.name: field.default for field in fields(config)}
    return [
        f"{name} = {shown(value)}: must keep its default {usual[name]!r} with in_engine = True, for friction of "
        f"simulators is coulomb, static and viscous only. Remove {name}, or in_engine."
        for name, value in beyond_levels(config).items()
    ]


def beyond_levels(config: Any) -> dict[str, Any]:
    """Return what simulators cannot represent of a friction config: values that are not their defaults, by name."""
    usual = {field.name: field.default for field in fields(config)}
    return {
        name: value
        for name in parameters_of(config)
        if name not in _IN_ENGINE and not _is(value := getattr(config, name), usual[name])
    }


def _is(value: object, default: object) -> bool:
    """Return True if a value, or each one of a dictionary, list or array, is the default in single precision."""
    if not isinstance(default, numbers.Real):
        return all(entry == default for entry in entries_of(value))
    return all(abs(entry - float(default)) <= _SINGLE_PRECISION * abs(float(default)) for entry in entries_of(value))
