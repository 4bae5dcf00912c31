"""Proportional-derivative control of a motor before a gear.

    effort = G·(const + ff + kp·(q* − G·q) + kd·(q̇* − G·q̇))     G  gear, turns of the motor per turn of the joint

Targets, gains, bias and feedforward are those of the motor; positions, velocities and efforts are those of the joint.
Edges: G = 1 is PD; G = 0 gives no effort; a negative G reverses the direction.
Source: newton-actuators 0.1.0 ActuatorPD.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.configs import GearedPDControlConfig
from .contract.base import Controller, require_given


@wp.func
def geared_pd_effort(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    kp: float,
    kd: float,
    gear: float,
    const_effort: float,
) -> float:
    """Return the PD effort [N·m or N] of one joint with a gear."""
    proportional = const_effort + feedforward + kp * (position_target - gear * position)
    return gear * (proportional + kd * (velocity_target - gear * velocity))


class ControllerGearedPD(Controller):
    """PD law of motors before a gear, for `N` actuators.

    Args:
        kp: Proportional gain at the motor [N·m/rad or N/m], shape `(N,)`.
        kd: Derivative gain at the motor [N·m·s/rad or N·s/m], shape `(N,)`.
        gear: Turns of the motor per turn of the joint, shape `(N,)`.
        const_effort: Bias at the motor [N·m or N], shape `(N,)`; None means zero.

    Raises:
        ValueError: An array is missing, or they differ in shape.
    """

    CONFIG = GearedPDControlConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("kp", "kd", "gear", "const_effort")
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 1.0, 0.0)
    LAW = geared_pd_effort

    def __init__(self, kp: wp.array, kd: wp.array, gear: wp.array, const_effort: wp.array | None = None) -> None:
        super().__init__(kp, kd, gear, const_effort)
        require_given(self, "kp", "kd", "gear")
