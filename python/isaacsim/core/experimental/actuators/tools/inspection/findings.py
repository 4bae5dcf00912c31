"""Findings of the linter, and what a rule gets."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ...files.usd.edits import Edit
from ..stability.table import Stability
from .described import InspectedActuator, InspectedJoint, InspectedRobot

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


class Remark(NamedTuple):
    """A finding of a rule, without the name of the rule."""

    where: str
    problem: str
    remedy: str
    edits: tuple[Edit, ...] = ()
    severity: Severity = "warning"


def split_message(message: str) -> tuple[str, str, str]:
    """Return path, problem and remedy of a message of the parser, which begins with the path."""
    message_parts = re.match(r"<([^>]*)>[:.]?\s*(.*)", message, re.DOTALL)
    where, text = (message_parts[1], message_parts[2]) if message_parts else ("", message)
    # the last sentence, which begins with a capital letter
    parts = re.split(r"(?<=[.?!]) (?=[A-Z])", text)
    first = next((at for at in range(1, len(parts))), len(parts))
    return where, " ".join(parts[:first]), " ".join(parts[first:])


@dataclass(frozen=True)
class Checked:
    """A robot to check, with the intended physics step [s] and its stability at that step, if they are known."""

    robot: InspectedRobot
    dt: float | None = None
    stability: Stability | None = None

    @property
    def actuated(self) -> Iterator[tuple[InspectedJoint, InspectedActuator]]:
        """The joints with usable actuators, and these actuators."""
        usable = {actuator.path: actuator for actuator in self.robot.actuators if actuator.usable}
        for joint in self.robot.joints:
            if joint.driver in usable:
                yield joint, usable[joint.driver]

    @property
    def usable(self) -> list[tuple[InspectedActuator, list[InspectedJoint]]]:
        """The usable actuators, each with its joints."""
        return [
            (actuator, [joint for joint in self.robot.joints if joint.driver == actuator.path])
            for actuator in self.robot.actuators
            if actuator.usable
        ]

    def is_doubtful(self, actuator: InspectedActuator) -> bool:
        """Return True if a part of the prim is unusable or has no effect: its values may not be the intended ones."""
        return actuator.path in self._doubtful

    def edits(self, actuator: InspectedActuator, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """Return corrections that follow from the values of an actuator; none while these are doubtful."""
        return () if self.is_doubtful(actuator) else tuple(edits)

    @functools.cached_property
    def _doubtful(self) -> frozenset[str]:
        return frozenset(split_message(line)[0] for line in (*self.robot.problems, *self.robot.remarks))


Rule = Callable[[Checked], Iterator[Remark]]
