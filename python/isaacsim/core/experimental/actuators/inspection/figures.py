"""What an actuator comes to at its joint."""

from __future__ import annotations

import math

from .described import InspectedActuator


def gains(actuator: InspectedActuator) -> tuple[float, float] | None:
    """Stiffness and damping at the joint; None where the law has none."""
    found = None if actuator.controller is None else actuator.controller.gains_at_joint()
    return None if found is None else found[:2]


def largest_effort(actuator: InspectedActuator) -> float:
    """The most that its stages let through along the motion; infinite where none of them bounds it."""
    return min((float(most) for stage in actuator.stages for most in stage.bounds("effort").values()), default=math.inf)
