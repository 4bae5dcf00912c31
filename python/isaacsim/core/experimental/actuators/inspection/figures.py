"""Gains and limit of an actuator at its joint."""

from __future__ import annotations

import math

from .described import InspectedActuator


def gains(actuator: InspectedActuator) -> tuple[float, float] | None:
    """Return stiffness and damping at the joint; None if the law has none."""
    found = None if actuator.controller is None else actuator.controller.gains_at_joint()
    return None if found is None else found[:2]


def largest_effort(actuator: InspectedActuator) -> float:
    """Return the largest effort of an actuator; infinite if none of its stages bounds it."""
    return min((float(most) for stage in actuator.stages for most in stage.bounds("effort").values()), default=math.inf)
