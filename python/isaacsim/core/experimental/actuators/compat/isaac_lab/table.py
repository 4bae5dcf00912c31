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
    """One property, the field of the cfg, of one joint, in SI units, radians and metres."""

    group: str
    property: str
    name: str
    # column of the joint
    id: int
    # of the first robot
    usd_value: float
    # None if unspecified
    cfg_value: float | None
    applied: float
    # those of Isaac Lab that gave `applied`
    rules: str = "documentation"


@dataclass(frozen=True)
class ResolutionTable:
    """Rows of what the cfg leaves out or has otherwise than the robot, by group, property and joint."""

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
