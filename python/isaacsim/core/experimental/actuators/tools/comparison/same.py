"""Equality of values of two sides, within the precision of files."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ...specs.fields import parameters_of
from ...specs.motors import MotorConfig
from ..inspection.words import law_of

# relative: files hold single precision and degrees, simulators convert
_SAME = 1e-4
# factor between numbers of the same motor in two models
_ALIKE = 1.4
# values below this are zero
_NOTHING = 1e-9


def same(first: object, second: object) -> bool:
    """Return True if two values are equal, numbers within the precision of files."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=_SAME, abs_tol=_NOTHING)
    if _is_list(first) and _is_list(second):
        one, other = cast(Sequence[object], first), cast(Sequence[object], second)
        return len(one) == len(other) and all(map(same, one, other))
    return first == second


def different(
    first: Mapping[tuple[str, str], object], second: Mapping[tuple[str, str], object]
) -> dict[tuple[str, str], tuple[object, object]]:
    """Return what differs, by joint or link and property; None for what a side lacks."""
    return {
        key: (first.get(key), second.get(key))
        for key in dict.fromkeys([*first, *second])
        if not same(first.get(key), second.get(key))
    }


def stage_values(motor: MotorConfig, kinds: Sequence[str], other: MotorConfig | None = None) -> dict[str, object]:
    """Return the parameters of the stages of some kinds of a motor, by law and name, `PD.kp`.

    Args:
        motor: The motor.
        kinds: Kinds of stages.
        other: A motor that it is compared with. Of a law that this one lacks, parameters at their default are left out.
    """
    known = None if other is None else {law_of(config) for config in other.stages}
    found: dict[str, object] = {}
    for config in (config for kind, config in motor.by_kind if kind in kinds):
        law = law_of(config)
        is_shared = known is None or law in known
        values = _parameters(config) if is_shared else _own(config)
        found |= {f"{law}.{name}": value for name, value in values.items()} or {law: "yes"}
    return found


def _parameters(config: object) -> dict[str, object]:
    return {name: getattr(config, name, None) for name in parameters_of(config)}


def _own(config: Any) -> dict[str, object]:
    """Return the parameters of a law that are not at their default."""
    usual = {one.name: one.default for one in dataclasses.fields(config)}
    return {name: value for name, value in _parameters(config).items() if value != usual[name]}


def alike_motors(first: MotorConfig, second: MotorConfig) -> bool:
    """Return True if two motors have the same laws with numbers of about the same size: one motor, in two models."""
    kinds = [kind for kind, _ in (*first.by_kind, *second.by_kind)]
    one, other = stage_values(first, kinds), stage_values(second, kinds)
    for name in ("armature", "friction", "viscous_friction"):
        mine, theirs = getattr(first, name), getattr(second, name)
        # None: the value of the joint is that of the robot
        if mine is not None and theirs is not None:
            one[name], other[name] = mine, theirs
    return one.keys() == other.keys() and all(_are_alike(value, other[key]) for key, value in one.items())


def _are_alike(first: object, second: object) -> bool:
    if isinstance(first, int | float) and isinstance(second, int | float) and first * second > 0:
        return max(first / second, second / first) < _ALIKE
    return same(first, second)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
