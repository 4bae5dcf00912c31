"""Differences between values of the robot and of its actuator cfgs, as rows, text and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

TITLE = "ActuatorCfg-USD Value Discrepancy Resolution (matching values are skipped)"
_NOT_SPECIFIED = "Not Specified"
_HEADER = ("Group", "Property", "Name", "ID", "USD Value", "ActuatorCfg Value", "Applied")


@dataclass(frozen=True)
class Row:
    """One property of one joint, in SI units, radians and metres.

    Args:
        group: Name of the group.
        property: Name of the field of the cfg.
        name: Name of the joint.
        id: Column of the joint.
        usd_value: Value of the first robot.
        cfg_value: Value of the cfg; None if unspecified.
        applied: The value that is used.
        rules: The rules of Isaac Lab by which it is.
    """

    group: str
    property: str
    name: str
    id: int
    usd_value: float
    cfg_value: float | None
    applied: float
    rules: str = "documentation"


@dataclass(frozen=True)
class ResolutionTable:
    """The properties that the cfg does not specify, or specifies with another value than the robot's.

    Args:
        rows: Rows by group, property and joint.
    """

    rows: Sequence[Row]

    @property
    def text(self) -> str:
        """The table as text; the first row of a group and property has its name, and the end names the rules."""
        lines = list(self._lines())
        widths = [max(len(line[at]) for line in (_HEADER, *lines)) for at in range(len(_HEADER))]
        rule = "+".join(["", *("-" * (width + 2) for width in widths), ""])
        drawn = [
            "|".join(["", *(f" {cell:^{width}} " for cell, width in zip(line, widths, strict=True)), ""])
            for line in (_HEADER, *lines)
        ]
        of_rules = {row.group: row.rules for row in self.rows}
        spoken = [
            f"rules {rules}: {', '.join(group for group, one in of_rules.items() if one == rules)}"
            for rules in dict.fromkeys(of_rules.values())
        ]
        return "\n".join([rule, drawn[0], rule, *drawn[1:], rule, *spoken])

    def _lines(self) -> Iterator[tuple[str, ...]]:
        for group, of_group in groupby(self.rows, lambda row: row.group):
            for name, of_property in groupby(of_group, lambda row: row.property):
                for row in of_property:
                    given = _NOT_SPECIFIED if row.cfg_value is None else f"{row.cfg_value:.2e}"
                    values = row.name, str(row.id), f"{row.usd_value:.2e}", given, f"{row.applied:.2e}"
                    yield group, name, *values
                    group = name = ""

    @property
    def json(self) -> str:
        """The rows as a JSON array of objects; infinity is the text `inf`."""
        rows = [
            {key: str(value) if isinstance(value, float) and math.isinf(value) else value for key, value in row.items()}
            for row in map(asdict, self.rows)
        ]
        return json.dumps(rows)

    def __str__(self) -> str:
        return self.text
