"""Gains and limits of an actuator at its joint."""

from __future__ import annotations

import math

from ...specs.configs import Config
from ...specs.joint_side import bounds_at_joint, gains_at_joint
from ...specs.stages import follows_limits
from .described import InspectedActuator


def gains(actuator: InspectedActuator) -> tuple[float, float] | None:
    """Return stiffness and damping at the joint; None if they are unknown, or the law has none."""
    found = gains_at_joint(actuator)
    return None if found is None else found[:2]


def passive_stages(actuator: InspectedActuator) -> list[Config]:
    """Return the stages that act after all limits and the transmission, friction for instance."""
    return [stage for kind, stage in actuator.by_kind if follows_limits(kind)]


def largest_effort(actuator: InspectedActuator) -> float:
    """Return the largest effort of an actuator at the joint; infinite if none of its stages bounds it there."""
    return min((float(most) for _, _, most in bounds_at_joint(actuator, "effort")), default=math.inf)
