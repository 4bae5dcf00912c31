"""What a rule is given, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...stability.table import Stability
from ..described import InspectedActuator, InspectedJoint, InspectedRobot
from ..findings import Finding


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
        usable = {actuator.path: actuator for actuator in self.robot.actuators if actuator.controller is not None}
        for joint in self.robot.joints:
            if joint.driver in usable:
                yield joint, usable[joint.driver]

    @property
    def usable(self) -> list[tuple[InspectedActuator, list[InspectedJoint]]]:
        """The actuators that can be used, each with its joints."""
        return [
            (actuator, [joint for joint in self.robot.joints if joint.driver == actuator.path])
            for actuator in self.robot.actuators
            if actuator.controller is not None
        ]


Rule = Callable[[Checked], Iterator[Finding]]
