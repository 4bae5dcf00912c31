"""Actuator prims that cannot be used as they are, or not everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...usd.edits import SchemaEdit
from ...usd.similar_names import unescaped
from ..findings import Finding, told_apart
from .rule import Checked

_MEANT = re.compile(r"applies ([!-~]+), which has no effect.* Did you mean (\w+)\?")


def unusable_actuator(checked: Checked) -> Iterator[Finding]:
    """The parser refuses the prim: with it on the stage, no actuator of the robot is made."""
    for line in checked.robot.problems:
        where, problem, remedy = told_apart(line)
        yield Finding("unusable-actuator", "error", where or checked.robot.path, problem, remedy)


def without_effect(checked: Checked) -> Iterator[Finding]:
    """Something is authored that nobody reads: a misspelt name, a schema of another version, a prim without a robot.

    A schema that is close to a known one is replaced by it.
    """
    for line in checked.robot.remarks:
        where, problem, remedy = told_apart(line)
        meant = _MEANT.search(line)
        edits = (SchemaEdit(where, unescaped(meant[1]), meant[2]),) if meant and where else ()
        yield Finding("without-effect", "warning", where or checked.robot.path, problem, remedy, edits)


def earlier_name(checked: Checked) -> Iterator[Finding]:
    """A schema by its name of version 0.9 and before: it is read as ever, and USD does not know it."""
    for actuator in checked.robot.actuators:
        for schema, today in actuator.earlier:
            yield Finding(
                "earlier-name",
                "note",
                actuator.path,
                f"applies {schema}, as {today} was called until version 0.9: usdview and Kit do not know it.",
                f"Rename it to {today}.",
                (SchemaEdit(actuator.path, schema, today),),
            )
