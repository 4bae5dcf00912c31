"""Findings of the linter."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from ...files.usd.edits import Edit

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """A wrong or doubtful part of a robot file.

    Args:
        rule: Name of the rule.
        severity: `error` if the robot cannot be used, `warning` if it can and is doubtful, `note` if it is correct and
            other simulators differ.
        where: Path of the prim or joint.
        problem: The problem, with the value.
        remedy: How to correct it.
        edits: Corrections by an overlay that need no guess; empty if there are none.
    """

    rule: str
    severity: Severity
    where: str
    problem: str
    remedy: str
    edits: tuple[Edit, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.severity}: <{self.where}>: {self.problem} {self.remedy} [{self.rule}]"


def split_message(message: str) -> tuple[str, str, str]:
    """Return path, problem and remedy of a message of the parser, which begins with the path."""
    found = re.match(r"<([^>]*)>[:.]?\s*(.*)", message, re.DOTALL)
    where, text = (found[1], found[2]) if found else ("", message)
    # the last sentence, which begins with a capital letter
    parts = re.split(r"(?<=[.?!]) (?=[A-Z])", text)
    first = next((at for at in range(1, len(parts))), len(parts))
    return where, " ".join(parts[:first]), " ".join(parts[first:])
