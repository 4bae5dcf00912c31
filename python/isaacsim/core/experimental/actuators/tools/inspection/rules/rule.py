"""Input and output of a rule."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ....files.usd.edits import Edit
from ...stability.table import Stability
from ..described import InspectedActuator, InspectedJoint, InspectedRobot
from ..findings import Finding, split_message


@dataclass(frozen=True)
class Checked:
    """A robot to check.

    Args:
        robot: Content of its file.
        dt: Intended physics step [s]; None if unknown.
        stability: Its stability at that step, if it could be computed.
    """

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


Rule = Callable[[Checked], Iterator[Finding]]
