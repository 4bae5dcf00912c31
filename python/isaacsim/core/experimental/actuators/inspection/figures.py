"""What an actuator comes to at its joint."""

from __future__ import annotations

import math

from ..specs.stages import is_geared
from .described import InspectedActuator


def gains(actuator: InspectedActuator) -> tuple[float, float] | None:
    """Stiffness and damping at the joint; None where the law has none, and before a transmission."""
    found = None if actuator.controller is None or is_geared(actuator) else actuator.controller.gains_at_joint()
    return None if found is None else found[:2]


def largest_effort(actuator: InspectedActuator) -> float:
    """The most that its stages let through along the motion; infinite where none of them bounds it at the joint.

    Before a transmission bounds are the motor's, of which only 0 is one at the joint.
    """
    bounds = (float(most) for stage in actuator.stages for most in stage.bounds("effort").values())
    least = min(bounds, default=math.inf)
    return math.inf if least and is_geared(actuator) else least
