"""Units of joints in plots and tables: those of joints that turn, of joints that slide, or both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Units:
    """Units of quantities of some joints, without brackets; `milli` is that of thousandths of positions."""

    position: str
    milli: str
    velocity: str
    effort: str
    stiffness: str
    damping: str
    integral: str
    inertia: str


TURNING = Units("rad", "mrad", "rad/s", "N·m", "N·m/rad", "N·m·s/rad", "N·m/(rad·s)", "kg·m²")
"""Units of joints that turn."""
SLIDING = Units("m", "mm", "m/s", "N", "N/m", "N·s/m", "N/(m·s)", "kg")
"""Units of joints that slide."""
BOTH = Units(*(f"{getattr(TURNING, one.name)} or {getattr(SLIDING, one.name)}" for one in fields(Units)))
"""Units of joints of both kinds, and of joints of an unknown kind."""


def with_unit(value: str, unit: str) -> str:
    """Return a number with its unit, without one if the kind of the joint is unknown."""
    return value if " or " in unit else f"{value} {unit}"


def unit_of(unit: str, turns: bool | None) -> str:
    """Return the unit of a joint out of one such as "N·m or N"; both if the kind of the joint is unknown."""
    turning, _, sliding = unit.partition(" or ")
    return unit if turns is None or not sliding else turning if turns else sliding


def units_of(turns: Iterable[bool | None] | None) -> Units:
    """Return the units of joints that share a plot."""
    kinds = set(turns if turns is not None else [None])
    if kinds == {True}:
        return TURNING
    return SLIDING if kinds == {False} else BOTH


def are_mixed(turns: Iterable[bool | None] | None) -> bool:
    """Return True if some joints turn and others slide: their numbers have units, and their heading has none."""
    return {True, False} <= set(turns if turns is not None else [None])


def heading(words: str, quantity: str, turns: Iterable[bool | None] | None) -> str:
    """Return a heading with the unit of a quantity, a field of `Units`; without one for joints of both kinds."""
    kinds = [None] if turns is None else list(turns)
    return words if are_mixed(kinds) else f"{words} [{getattr(units_of(kinds), quantity)}]"


def numbers_of(numbers: Sequence[str | None], quantity: str, turns: Iterable[bool | None] | None) -> list[str]:
    """Return the numbers below a heading, in words, each with the unit of its joint if the heading has none.

    None, a missing one, becomes a hyphen; the quantity is a field of `Units`, and `turns` is as for `units_of`.
    """
    kinds, shown = None if turns is None else list(turns), ["-" if one is None else one for one in numbers]
    if kinds is None or not are_mixed(kinds):
        return shown
    width = max(map(len, shown))
    pairs = zip(numbers, kinds, strict=True)
    units = ["" if number is None else f" {getattr(units_of([kind]), quantity)}" for number, kind in pairs]
    return [f"{number:>{width}}{unit}" for number, unit in zip(shown, units, strict=True)]
