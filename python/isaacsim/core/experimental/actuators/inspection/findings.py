"""What the linter finds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from ..usd.edits import Edit

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """Something of a robot file that is wrong or doubtful.

    Args:
        rule: Name of the rule.
        severity: `error` where the robot cannot be used like this, `warning` where it can and is doubtful, `note` where
            nothing is wrong, and others do otherwise.
        where: Path of the prim or joint.
        problem: What is wrong, with the value.
        remedy: What to do.
        edits: What an overlay would correct without guessing; empty where it cannot.
    """

    rule: str
    severity: Severity
    where: str
    problem: str
    remedy: str
    edits: tuple[Edit, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.severity}: <{self.where}>: {self.problem} {self.remedy} [{self.rule}]"


def told_apart(message: str) -> tuple[str, str, str]:
    """Where, problem and remedy of a message of the parser: it begins with a path and ends with what to do."""
    found = re.match(r"<([^>]*)>[:.]?\s*(.*)", message, re.DOTALL)
    where, text = (found[1], found[2]) if found else ("", message)
    # the last sentence, which begins with a capital letter
    parts = re.split(r"(?<=[.?!]) (?=[A-Z])", text)
    first = next((at for at in range(1, len(parts))), len(parts))
    return where, " ".join(parts[:first]), " ".join(parts[first:])
