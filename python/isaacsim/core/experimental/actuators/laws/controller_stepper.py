"""Stepper motor without feedback: its field pulls the rotor to the target, and loses it beyond two full steps.

    effort = ff − holding_effort·sin(p·(q − q*)) + kd·(q̇* − q̇)        p = steps/4  electrical per mechanical angle

The rotor follows as long as it lags by less than one full step, π/(2p), where the effort is largest; beyond two full
steps, π/p, it is pulled to the next pole, four full steps away. Its detents, the effort without current, are a
`CoggingConfig.of_detents`. Edges: angles from 2²⁴ rad on have no place in a period: they count as 0.
Source: A. Leenhouts, Step Motor System Design Handbook (1991), static torque curve.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.stepper import StepperControlConfig
from .contract.base import Controller
from .contract.functions import angle_or, sin


@wp.func
def stepper_effort(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    holding_effort: float,
    steps: float,
    kd: float,
) -> float:
    """Return the effort [N·m or N] of one stepper motor."""
    angle = 0.25 * steps * (position_target - position)
    return feedforward + holding_effort * sin(angle_or(angle, 0.0)) + kd * (velocity_target - velocity)


class ControllerStepper(Controller):
    """Stepper motors of `N` actuators.

    Args:
        holding_effort: Largest effort of the field [N·m or N], shape `(N,)`.
        steps: Full steps per turn of 2π rad, or 2π m, of the joint, shape `(N,)`.
        kd: Damping [N·m·s/rad or N·s/m], shape `(N,)`.
    """

    CONFIG = StepperControlConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("holding_effort", "steps", "kd")
    LAW = stepper_effort
