"""Proportional-integral-derivative control.

    I⁺     = clip(I + (q* − q)·dt, −I_max, I_max)               I, I_max  [rad·s or m·s], not an effort
    effort = const + ff + kp·(q* − q) + ki·I⁺ + kd·(q̇* − q̇)     ki        [N·m/(rad·s) or N/(m·s)]

The updated integral acts in the same step. It also grows while a clamp limits the effort; only I_max limits windup.
Edges: I_max = 0 switches the integral off, I_max = inf is no limit; with a delay, q* is the delayed target.
Source: NewtonPIDControlAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ControllerPID.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.configs import PIDControlConfig
from .contract.base import Controller, require_given
from .contract.law import bounded


@wp.func
def pid_effort(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    integral: float,
    kp: float,
    ki: float,
    kd: float,
    integral_max: float,
    const_effort: float,
):
    """Return the PID effort [N·m or N] of one joint and its integral [rad·s or m·s] after the step."""
    error = position_target - position
    integral_now = bounded(integral + error * dt, -integral_max, integral_max)
    proportional = const_effort + feedforward + kp * error
    return proportional + ki * integral_now + kd * (velocity_target - velocity), integral_now


class ControllerPID(Controller):
    """PID law for `N` actuators.

    Args:
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        ki: Integral gain [N·m/(rad·s) or N/(m·s)], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        integral_max: Largest integral in either direction [rad·s or m·s], shape `(N,)`.
        const_effort: Bias [N·m or N], shape `(N,)`; None means zero.

    Raises:
        ValueError: An array is missing, or they differ in shape.
    """

    CONFIG = PIDControlConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("kp", "ki", "kd", "integral_max", "const_effort")
    STATE: ClassVar[tuple[str, ...]] = ("integral",)
    LAW = pid_effort

    def __init__(
        self, kp: wp.array, ki: wp.array, kd: wp.array, integral_max: wp.array, const_effort: wp.array | None = None
    ) -> None:
        super().__init__(kp, ki, kd, integral_max, const_effort)
        require_given(self, "kp", "ki", "kd", "integral_max")
