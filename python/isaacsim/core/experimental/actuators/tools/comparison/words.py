"""Differences between two sides, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from .causes import Found

_DEGREES = 180 / math.pi
# relative
_SAME = 0.01
# joints and properties that are named
_SHOWN = 3
_NO_LIMIT = 1e5
_DIAGONAL = (0, 4, 8)


@dataclass(frozen=True)
class Row:
    """A property with the same values on both sides of some joints.

    Args:
        joints: Names of the joints or links.
        property: Name of the property.
        first: Its value on the first side, None if absent.
        second: Its value on the second side, None if absent.
    """

    joints: tuple[str, ...]
    property: str
    first: object
    second: object


def rows_of(found: Found) -> list[Row]:
    """Return what differs, joints with equal values together."""
    grouped: dict[tuple[str, str, str], Row] = {}
    for (joint, name), (first, second) in found.items():
        key = name, repr(first), repr(second)
        before = grouped[key].joints if key in grouped else ()
        grouped[key] = Row((*before, joint) if joint else before, name, first, second)
    return list(grouped.values())


def names(joints: Sequence[str]) -> str:
    """Return names of joints, the first ones of many."""
    shown = ", ".join(joints[:_SHOWN])
    return f"{shown} and {len(joints) - _SHOWN} more" if len(joints) > _SHOWN else shown


def summary(rows: Sequence[Row], *, second: bool) -> str:
    """Return the values of one side in a line, the first ones of many."""
    shown = "; ".join(f"{one.property} {text(one.second if second else one.first)}" for one in rows[:_SHOWN])
    return f"{shown}; …" if len(rows) > _SHOWN else shown


def text(value: object) -> str:
    """Return a value as text."""
    if value is None:
        return "none"
    if _is_number(value):
        return f"{value:.4g}".replace("inf", "∞")
    if isinstance(value, list | tuple):
        # of an inertia, the diagonal tells most
        return ", ".join(text(value[at]) for at in (_DIAGONAL if len(value) == 9 else range(len(value))))
    return str(value)


def hints(rows: Sequence[Row]) -> list[str]:
    """Return what values look like: degrees in place of radians, or a limit that is none."""
    found = []
    for one in rows:
        hint = _hint(one.property, one.first, one.second)
        if hint is not None:
            found.append(f"{one.property} of {names(one.joints)} is {text(one.first)} and {text(one.second)}: {hint}")
    return found


def _hint(name: str, first: object, second: object) -> str | None:
    if not (_is_number(first) and _is_number(second) and first and second):
        return None
    small, large = sorted((abs(first), abs(second)))
    if math.isclose(large / small, _DEGREES, rel_tol=_SAME):
        return "a factor of 57.3, 180/π: degrees in place of radians?"
    if ("effort" in name or "limit" in name) and large > _NO_LIMIT * max(small, 1.0):
        return "is the larger one no limit?"
    return None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, float | int) and not isinstance(value, bool)
