"""Proportional-integral-derivative control of a motor before a gear.

    e      = q* − G·q                                           G         gear, motor turns per turn of the joint
    I⁺     = clip(I + e·dt, −I_max, I_max)                      I, I_max  [rad·s or m·s], not an effort
    effort = G·(const + ff + kp·e + ki·I⁺ + kd·(q̇* − G·q̇))

Targets, gains, integral, bias and feedforward are those of the motor; positions, velocities and efforts are those of
the joint. Edges: G = 1 is PID; G = 0 gives no effort.
Source: newton-actuators 0.1.0 ActuatorPID.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.configs import GearedPIDControlConfig
from .contract.base import Controller, require_given
from .contract.law import bounded


@wp.func
def geared_pid_effort(
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
    gear: float,
    const_effort: float,
):
    """Return the PID effort [N·m or N] of one joint with a gear and its integral [rad·s or m·s] after the step."""
    error = position_target - gear * position
    integral_now = bounded(integral + error * dt, -integral_max, integral_max)
    proportional = const_effort + feedforward + kp * error
    return gear * (proportional + ki * integral_now + kd * (velocity_target - gear * velocity)), integral_now


class ControllerGearedPID(Controller):
    """PID law of motors before a gear, for `N` actuators.

    Args:
        kp: Proportional gain at the motor [N·m/rad or N/m], shape `(N,)`.
        ki: Integral gain at the motor [N·m/(rad·s) or N/(m·s)], shape `(N,)`.
        kd: Derivative gain at the motor [N·m·s/rad or N·s/m], shape `(N,)`.
        integral_max: Largest integral in either direction [rad·s or m·s], shape `(N,)`.
        gear: Turns of the motor per turn of the joint, shape `(N,)`.
        const_effort: Bias at the motor [N·m or N], shape `(N,)`; None means zero.

    Raises:
        ValueError: An array is missing, or they differ in shape.
    """

    CONFIG = GearedPIDControlConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("kp", "ki", "kd", "integral_max", "gear", "const_effort")
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    STATE: ClassVar[tuple[str, ...]] = ("integral",)
    LAW = geared_pid_effort

    def __init__(
        self,
        kp: wp.array,
        ki: wp.array,
        kd: wp.array,
        integral_max: wp.array,
        gear: wp.array,
        const_effort: wp.array | None = None,
    ) -> None:
        super().__init__(kp, ki, kd, integral_max, gear, const_effort)
        require_given(self, "kp", "ki", "kd", "integral_max", "gear")
