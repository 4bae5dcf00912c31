"""Proportional-integral-derivative control of a setpoint that moves at a limited velocity.

    s⁺     = clip(q*, s ± max_rate·dt)                           setpoint, within its largest change in a step
    I⁺     = clip(I + (s⁺ − q)·dt, −I_max, I_max)                I, I_max  [rad·s or m·s], not an effort
    effort = const + ff + kp·(s⁺ − q) + ki·I⁺ + kd·(q̇* − q̇)

The new setpoint acts in the same step. After a reset s is the position of the step, that of its end with an
`ImplicitConfig`, and I is 0. Equal steps of a ramp would be rounded in the same direction: the state holds the rounding
error of s and adds it in the next step.
Edges: max_rate = inf is `ControllerPID`, to the bit; a max_rate below 0 and a target that is not finite give NaN, which
the plan's guard turns into zero and a fault.
Source: MuJoCo 4.0, `slewmax` of the actuators `pid` and `dcmotor`, whose setpoint starts at 0 and whose integral acts a
step later; W. Kahan, CACM 8 (1965) 40, for the rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.slewed import SlewedPIDControlConfig
from .contract.base import Controller
from .contract.functions import sum_and_rest
from .contract.law import UNSET, bounded, started
from .controller_pid import pid_effort


@wp.func
def followed(target: float, setpoint: float, rest: float, change: float):
    """Return the setpoint after a step towards the target, and its rounding error."""
    ahead = target - setpoint if wp.isfinite(target) else wp.nan
    step = bounded(ahead, -change, change)
    moved, error = sum_and_rest(setpoint, rest + step)
    return target if step == ahead else moved, 0.0 if step == ahead else error


@wp.func
def slewed_pid_effort(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    integral: float,
    setpoint: float,
    setpoint_rest: float,
    kp: float,
    ki: float,
    kd: float,
    max_rate: float,
    integral_max: float,
    const_effort: float,
):
    """Return the effort [N·m or N] of one joint, its integral [rad·s or m·s], its setpoint [rad or m] and the error."""
    reference, rest = followed(position_target, started(setpoint, position), setpoint_rest, max_rate * dt)
    effort, integral_now = pid_effort(
        position,
        velocity,
        reference,
        velocity_target,
        feedforward,
        dt,
        integral,
        kp,
        ki,
        kd,
        integral_max,
        const_effort,
    )
    return effort, integral_now, reference, rest


class ControllerSlewedPID(Controller):
    """PID law of a setpoint of limited velocity for `N` actuators.

    Args:
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        ki: Integral gain [N·m/(rad·s) or N/(m·s)], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        max_rate: Largest velocity of the setpoint [rad/s or m/s], shape `(N,)`; inf for no limit.
        integral_max: Largest integral in either direction [rad·s or m·s], shape `(N,)`.
        const_effort: Bias [N·m or N], shape `(N,)`.
    """

    CONFIG = SlewedPIDControlConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("kp", "ki", "kd", "max_rate", "integral_max", "const_effort")
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, math.inf, 0.0, 0.0)
    STATE: ClassVar[tuple[str, ...]] = ("integral", "setpoint", "setpoint_rest")
    START: ClassVar[Mapping[str, float]] = {"setpoint": UNSET}
    LAW = slewed_pid_effort
