"""Equality of values of two sides, within the precision of files."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ...specs.fields import parameters_of
from ...specs.motors import MotorConfig
from ..inspection.described import law_of
from .run import Run, Values
from .side import Side

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
    pairs = {key: (first.get(key), second.get(key)) for key in dict.fromkeys([*first, *second])}
    return {key: pair for key, pair in pairs.items() if not same(*pair)}


def stage_values(motor: MotorConfig, kinds: Sequence[str], other: MotorConfig | None = None) -> dict[str, object]:
    """Return parameters of stages of some kinds by law and name, `PD.kp`, but defaults of laws that `other` lacks."""
    known = None if other is None else {law_of(config) for config in other.stages}
    by_name: dict[str, object] = {}
    for config in (config for kind, config in motor.by_kind if kind in kinds):
        law = law_of(config)
        is_shared = known is None or law in known
        values = _parameters(config) if is_shared else _own(config)
        by_name |= {f"{law}.{name}": value for name, value in values.items()} or {law: "yes"}
    return by_name


def _parameters(config: object) -> dict[str, object]:
    return {name: getattr(config, name, None) for name in parameters_of(config)}


def _own(config: Any) -> dict[str, object]:
    """Return the parameters of a law that are not at their default."""
    usual = {field.name: field.default for field in dataclasses.fields(config)}
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


# largest difference of places of the same joint, of the size of the place
_SAME_PLACE = 0.02


def exchanged_joints(first: Run, second: Run) -> dict[str, str]:
    """Return joints that trade places between two runs, matched by name where names fit, else by motion."""
    own = {second.side.own(joint): joint for joint in second.values.places}
    named = {joint: own.get(first.side.own(joint)) for joint in first.values.places}
    moved = {joint: other for joint, other in named.items() if other is not None and other != joint}

    def fits(joint: str, other: str) -> bool:
        # names fit places as well as the comparison does: legs in front and behind have the same places
        by_name, now = (_apart(first.values, second.values, joint, one) for one in (other, joint))
        return by_name <= now + _SAME_PLACE

    if moved and moved.keys() == set(moved.values()) and all(itertools.starmap(fits, moved.items())):
        return moved
    return exchanged_places(first.values, second.values)


def exchanged_places(first: Values, second: Values) -> dict[str, str]:
    """Return the joint of the second robot that moves the part of each joint; empty unless all trade places."""
    return _exchange(list(first.places), lambda one, other: _apart(first, second, one, other) <= _SAME_PLACE)


def _apart(first: Values, second: Values, one: str, other: str) -> float:
    """Return the distance of the places of two joints, of the size of the first."""
    here, there = first.places[one], second.places[other]
    return float(np.abs(here - there).max() / np.abs(here).max())


def exchanged_motors(first: Values, second: Values) -> dict[str, str]:
    """Return the joint of the second robot with the motor of each joint; empty unless all trade motors."""
    both = [name for name in first.motors if name in second.motors]
    return _exchange(both, lambda one, other: alike_motors(first.motors[one], second.motors[other]))


def with_motors_of(side: Side, exchanged: Mapping[str, str]) -> Side:
    """Return a side in which joints have the motors of others."""
    motors: dict[str, MotorConfig] = {}
    for joint, other in exchanged.items():
        motor = side.motor(other)
        assert motor is not None
        motors[joint] = motor
    return side.with_motors(motors)


def with_order(side: Side, exchanged: Mapping[str, str]) -> Side:
    """Return a side in which other joints move in the places of joints of the comparison."""
    own = {joint: side.own(other) for joint, other in exchanged.items()}
    return dataclasses.replace(side, order={**side.order, **own})


def _exchange(names: Sequence[str], alike: Callable[[str, str], bool]) -> dict[str, str]:
    """Return the permutation of names that are not like themselves, if there is one; empty otherwise."""
    moved = [name for name in names if not alike(name, name)]
    left, exchanged = list(moved), dict[str, str]()
    for name in moved:
        match = next((other for other in left if alike(name, other)), None)
        if match is None:
            return {}
        exchanged[name] = match
        left.remove(match)
    return exchanged
