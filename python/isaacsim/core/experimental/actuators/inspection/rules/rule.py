"""What a rule is given, and what it returns."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ...stability.table import Stability
from ...usd.edits import Edit
from ..described import InspectedActuator, InspectedJoint, InspectedRobot
from ..findings import Finding, told_apart


@dataclass(frozen=True)
class Checked:
    """A robot that is looked at.

    Args:
        robot: What its file says.
        dt: Physics step [s] that is meant; None where none is.
        stability: At that step, where it could be computed.
    """

    robot: InspectedRobot
    dt: float | None = None
    stability: Stability | None = None

    @property
    def actuated(self) -> Iterator[tuple[InspectedJoint, InspectedActuator]]:
        """The joints with actuators that can be used, and these."""
        usable = {actuator.path: actuator for actuator in self.robot.actuators if actuator.usable}
        for joint in self.robot.joints:
            if joint.driver in usable:
                yield joint, usable[joint.driver]

    @property
    def usable(self) -> list[tuple[InspectedActuator, list[InspectedJoint]]]:
        """The actuators that can be used, each with its joints."""
        return [
            (actuator, [joint for joint in self.robot.joints if joint.driver == actuator.path])
            for actuator in self.robot.actuators
            if actuator.usable
        ]

    def is_doubtful(self, actuator: InspectedActuator) -> bool:
        """Whether something on the prim cannot be used or has no effect: its values may not be those that are meant."""
        return actuator.path in self._doubtful

    def edits(self, actuator: InspectedActuator, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """Corrections that follow from the values of an actuator; none while these are doubtful."""
        return () if self.is_doubtful(actuator) else tuple(edits)

    @functools.cached_property
    def _doubtful(self) -> frozenset[str]:
        return frozenset(told_apart(line)[0] for line in (*self.robot.problems, *self.robot.remarks))


Rule = Callable[[Checked], Iterator[Finding]]
