"""Rules on actuator prims that are unusable, here or elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....files.usd.edits import SchemaEdit
from ....files.usd.similar_names import unescaped
from ..findings import Checked, Remark, split_message

_MEANT = re.compile(r"applies ([!-~]+), which has no effect.* Did you mean (\w+)\?")


def unusable_actuator(checked: Checked) -> Iterator[Remark]:
    """The parser rejects the prim; no actuator of its robot is built."""
    for line in checked.robot.problems:
        where, problem, remedy = split_message(line)
        yield Remark(where or checked.robot.path, problem, remedy, severity="error")


def without_effect(checked: Checked) -> Iterator[Remark]:
    """An authored opinion is read by nothing: a misspelled name, a schema of another version, a prim without a robot.

    A schema with a name close to a known one is replaced by it.
    """
    for line in checked.robot.remarks:
        where, problem, remedy = split_message(line)
        meant = _MEANT.search(line)
        edits = (SchemaEdit(where, unescaped(meant[1]), meant[2]),) if meant and where else ()
        yield Remark(where or checked.robot.path, problem, remedy, edits)


def two_values(checked: Checked) -> Iterator[Remark]:
    """Two attributes, prims or elements describe the same of a joint or link and differ: programs take one of them."""
    for line in checked.robot.two_values:
        where, problem, remedy = split_message(line)
        yield Remark(where, problem, remedy)


def earlier_name(checked: Checked) -> Iterator[Remark]:
    """A schema has its name of version 0.9 and before, which is read here and unknown to USD."""
    for actuator in checked.robot.actuators:
        for schema, today in actuator.earlier:
            yield Remark(
                actuator.path,
                f"applies {schema}, as {today} was called until version 0.9: usdview and Kit do not know it.",
                f"Rename it to {today}.",
                (SchemaEdit(actuator.path, schema, today),),
                severity="note",
            )
