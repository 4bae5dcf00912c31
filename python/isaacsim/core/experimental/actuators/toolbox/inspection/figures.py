"""Gains and limit of an actuator at its joint."""

from __future__ import annotations

import math

from ...specs.configs import Config
from ...specs.servo import gains_at_joint
from ...specs.stages import follows_limits, is_geared
from .described import InspectedActuator


def gains(actuator: InspectedActuator) -> tuple[float, float] | None:
    """Return stiffness and damping at the joint; None if the law has none, and in front of a transmission."""
    found = None if is_geared(actuator) else gains_at_joint(actuator)
    return None if found is None else found[:2]


def passive_stages(actuator: InspectedActuator) -> list[Config]:
    """Return the stages that act after all limits and the transmission, friction for instance."""
    return [stage for kind, stage in actuator.by_kind if follows_limits(kind)]


def largest_effort(actuator: InspectedActuator) -> float:
    """Return the largest effort of an actuator; infinite if none of its stages bounds it at the joint.

    In front of a transmission, bounds are those of the motor, of which only 0 holds at the joint.
    """
    bounds = (float(most) for stage in actuator.stages for most in stage.bounds("effort").values())
    least = min(bounds, default=math.inf)
    return math.inf if least and is_geared(actuator) else least
