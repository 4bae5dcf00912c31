"""Where the robot's values and those of its actuator cfgs differ, as rows, text and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
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
        property: As the field of the cfg is called.
        name: Name of the joint.
        id: Column of the joint.
        usd_value: What the first robot had.
        cfg_value: What the cfg says; None where it does not.
        applied: What holds.
    """

    group: str
    property: str
    name: str
    id: int
    usd_value: float
    cfg_value: float | None
    applied: float


@dataclass(frozen=True)
class ResolutionTable:
    """The properties whose value the cfg does not say, or says otherwise than the robot.

    Args:
        rows: By group, property and joint.
    """

    rows: Sequence[Row]

    @property
    def text(self) -> str:
        """The table as text; a group and a property are named in their first rows only."""
        lines: list[tuple[str, ...]] = []
        for group, of_group in groupby(self.rows, lambda row: row.group):
            for name, of_property in groupby(of_group, lambda row: row.property):
                for row in of_property:
                    said = _NOT_SPECIFIED if row.cfg_value is None else f"{row.cfg_value:.2e}"
                    values = row.name, str(row.id), f"{row.usd_value:.2e}", said, f"{row.applied:.2e}"
                    lines.append((group, name, *values))
                    group = name = ""
        widths = [max(len(line[at]) for line in (_HEADER, *lines)) for at in range(len(_HEADER))]
        rule = "+".join(["", *("-" * (width + 2) for width in widths), ""])
        drawn = [
            "|".join(["", *(f" {cell:^{width}} " for cell, width in zip(line, widths, strict=True)), ""])
            for line in (_HEADER, *lines)
        ]
        return "\n".join([rule, drawn[0], rule, *drawn[1:], rule])

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
