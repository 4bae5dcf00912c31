"""Notes on a comparison: where motions part, likely mistakes, the remaining difference, and what was not compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import listed
from ...base.values import is_number
from ...specs.arguments import MODEL_FILES
from ..export.losses import said_together
from ..export.robot import ExportedRobot, joint_of
from ..export.targets import TARGETS
from ..plots.units import units_of
from .causes import Found
from .compare import FINER, Comparison
from .plan import Plan
from .side import Side

# relative difference of what follows from masses and geometry
_SAME_DYNAMICS = 0.01
_AS_MOTORS = "as implicit motors with the gains of the drives"
SHOWN = 3
"""Joints and properties that notes name."""


def notes_on(comparison: Comparison, plan: Plan, sides: tuple[Side, Side], changed: Sequence[str]) -> list[str]:
    """Return all notes on a comparison, a sentence or more each.

    Args:
        found: The comparison.
        plan: Its commands.
        sides: Both sides, before `both_driven_alike`.
        changed: Joints whose drives became motors, from `both_driven_alike`.
    """
    return [
        *_not_held(comparison, sides),
        _parting(comparison, plan),
        *_went_wrong(comparison),
        *_on_blames(comparison),
        *_left(comparison),
        *_not_compared(comparison, sides),
        *_order(sides),
        *([f"Drives of {listed(changed, SHOWN)} are compared with motors, {_AS_MOTORS}."] if changed else []),
        *dict.fromkeys(remark for side in sides for remark in side.remarks),
    ]


def _not_held(comparison: Comparison, sides: tuple[Side, Side]) -> Iterator[str]:
    """Yield what the file of one side cannot hold of the motors of the other one."""
    turns = dict(zip(comparison.first.motion.joints, comparison.first.motion.turns or [], strict=False))
    for one, other in (sides, reversed(sides)):
        ending = Path(other.file).suffix.lower()
        if ending not in MODEL_FILES or Path(one.file) == Path(other.file):
            continue
        joints = tuple(
            joint_of(name, turns.get(name) is False, motor, {}, one.dt, is_given=True)
            for name, motor in one.motors.items()
        )
        robot = ExportedRobot(Path(one.file).stem, "/", joints, dt=one.dt)
        lost = TARGETS["urdf" if ending == ".urdf" else "mjcf"].losses(robot)
        yield from said_together(lost, f"{Path(other.file).name} cannot hold")
        if lost and other.motors:
            yield f"{Path(other.file).name} has given motors here; those that it has itself are not compared."


def most_of(by_joint: Mapping[str, float]) -> list[str]:
    """Return the joints with most of a difference, the largest first."""
    return sorted(by_joint, key=lambda name: -by_joint[name])[:SHOWN]


def _parting(comparison: Comparison, plan: Plan) -> str:
    whole, unit = comparison.difference, units_of(comparison.first.motion.turns).milli
    if comparison.parting is None:
        return f"The motions agree: {plan.seconds:g} s, largest difference {1e3 * whole.largest:.3g} {unit}."
    return (
        f"The motions part at {comparison.parting.time:.4g} s, {comparison.parting.joint} first: by more than "
        f"{1e3 * comparison.tolerance:g} {unit}. Mean difference {1e3 * whole.mean:.3g}, largest "
        f"{1e3 * whole.largest:.3g}, most of {listed(most_of(whole.by_joint), SHOWN)}."
    )


def _went_wrong(comparison: Comparison) -> Iterator[str]:
    for words, run in (("first", comparison.first), ("second", comparison.second)):
        if run.motion.diverged is not None:
            yield f"The {words} simulation diverged at {run.motion.diverged:.4g} s."
        if run.faults:
            yield f"The {words} simulation had faults at {len(run.faults)} joints, the first: {run.faults[0]}"


def _on_blames(comparison: Comparison) -> Iterator[str]:
    for blame in comparison.blames:
        yield from (f"{blame.cause}: {hint}" for hint in hints(rows_of(blame.found)))
    if any(blame.share < 0 for blame in comparison.blames):
        yield "A negative share: this cause made up for another one."
    if off := [blame.cause for blame in comparison.blames if blame.is_switched_off]:
        yield f"Switched off on both sides, for simulators compute it in ways of their own: {', '.join(off)}."
    if comparison.blames and not comparison.unexplained:
        yield "With these causes equal the motions agree."


def _left(comparison: Comparison) -> Iterator[str]:
    """Yield notes on what is left with all causes equal."""
    if comparison.idle:
        yield f"Also different, without effect on this motion or explained by the above: {', '.join(comparison.idle)}."
    yield from (f"{name} differs and could not be put equal: {why}" for name, why in comparison.failed.items())
    if comparison.unexplained and comparison.finer is not None:
        unit = units_of(comparison.first.motion.turns).milli
        yield (
            f"Of the {1e3 * comparison.remaining.mean:.3g} {unit} that remain, {1e3 * comparison.finer:.3g} remain "
            f"with 1/{FINER} of the physics step on both sides; the integrators make the rest."
        )
        # joints whose load or inertia differs in the same pose
        first, second = (run.values for run in comparison.last)
        for words, one, other in (
            ("effort against gravity", first.gravity, second.gravity),
            ("inertia", first.inertias, second.inertias),
        ):
            scale = max(map(abs, one.values()))
            if wrong := [name for name in one if abs(one[name] - other[name]) > _SAME_DYNAMICS * scale]:
                name = wrong[0]
                yield (
                    f"In the same pose, the {words} of {listed(wrong, SHOWN)} is {text(one[name])} and "
                    f"{text(other[name])} at {name}: geometry, masses or gravity of the files differ."
                )


def _not_compared(comparison: Comparison, sides: tuple[Side, Side]) -> Iterator[str]:
    """Yield notes on joints and links that only one side has."""
    first, second = sides
    for words, own, other in (("first", first, second), ("second", second, first)):
        if lone := [name for name in own.joints if name not in other.joints]:
            yield f"Only the {words} has {listed(lone, SHOWN)}: not compared."
    if lone := sorted(set(comparison.first.values.links) ^ set(comparison.second.values.links)):
        yield f"Links that only one side has, whose inertias are not compared: {listed(lone, SHOWN)}."


def _order(sides: tuple[Side, Side]) -> Iterator[str]:
    """Yield a note on joints that two simulators have in another order."""
    first, second = ([name for name in one.joints if name in other.joints] for one, other in (sides, reversed(sides)))
    if first != second:
        yield (
            f"The joints have another order: {', '.join(first)}, and {', '.join(second)}. A program that goes by "
            "number moves other joints."
        )


_DEGREES = 180 / math.pi
# of factors between units
_SAME = 0.01
_NO_LIMIT = 1e5
_DIAGONAL = (0, 4, 8)


@dataclass(frozen=True)
class Row:
    """A property with the same values on both sides of some joints or links; None if a side lacks it."""

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


def summary(rows: Sequence[Row], *, second: bool) -> str:
    """Return the values of one side in a line, the first ones of many."""
    shown = "; ".join(f"{row.property} {text(row.second if second else row.first)}" for row in rows[:SHOWN])
    return f"{shown}; …" if len(rows) > SHOWN else shown


def text(value: object) -> str:
    """Return a value as text."""
    if value is None:
        return "none"
    if is_number(value):
        return f"{value:.4g}".replace("inf", "∞")
    if isinstance(value, list | tuple):
        # of an inertia, the diagonal tells most
        return ", ".join(text(value[at]) for at in (_DIAGONAL if len(value) == 9 else range(len(value))))
    return str(value)


def hints(rows: Sequence[Row]) -> list[str]:
    """Return what values look like: degrees in place of radians, or a limit that is none."""
    found = []
    for row in rows:
        hint = _hint(row.property, row.first, row.second)
        if hint is not None:
            joints = listed(row.joints, SHOWN)
            found.append(f"{row.property} of {joints} is {text(row.first)} and {text(row.second)}: {hint}")
    return found


def _hint(name: str, first: object, second: object) -> str | None:
    if not (is_number(first) and is_number(second) and first and second):
        return None
    small, large = sorted((abs(first), abs(second)))
    if math.isclose(large / small, _DEGREES, rel_tol=_SAME):
        return "a factor of 57.3, 180/π: degrees in place of radians?"
    if ("effort" in name or "limit" in name) and large > _NO_LIMIT * max(small, 1.0):
        return "is the larger one no limit?"
    return None
