"""Position loop in the firmware of a hobby servo, whose result is a voltage.

    e    = q_r − q, 0 for |e| <= deadband                        position error [rad or m]
    i⁺   = clip(i + error_gain·ki·e·h, ±max_duty)                duty of the integral, 0 for ki = 0
    u    = error_gain·(kp·e + kd·(v* + v_r − v)) + i⁺            wanted duty
    u    = sign(u)·max(|u|, min_duty) for u ≠ 0, then clip(u, ±max_duty)
    d⁺   = clip(u, d ± max_duty_rate·h)                          duty, within its largest change in a step h
    V    = d⁺·battery + ff                                       voltage at the winding [V]

The feedforward is a voltage [V]: it is no part of the firmware, so its limits do not act on it, and those of the supply
in the winding do. q_r is the target q*; with a profile it moves towards q*, e = q* − q_r, at the velocity v_r:

    v_b  = 2·|e|/(h/2 + √(h²/4 + 2·|e|/a))                       from which it stops at q*, by a·h in a step
    v_r⁺ = clip(sign(e)·min(v_b, |e|/h, profile_velocity), v_r ± a·h)
    q_r⁺ = q_r + h·v_r⁺                                          a = profile_acceleration, inf for none

v_b is √(2·a·|e|), which it becomes for h → 0, exact for steps: the setpoint does not overshoot. After a reset q_r is
the position, v_r, d and i are 0. Edges: both limits of the profile inf, no profile: q_r is q*, v_r is 0; parameters out
of range give NaN, which the plan's guard turns into zero and a fault.
Source: Rhoban/bam 1b5a1ce, duty and its limit; manuals of DYNAMIXEL X, profile velocity and acceleration; manuals of
DYNAMIXEL AX and Feetech STS, punch or startup force and deadband.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import ClassVar

import warp as wp

from ..specs.configs import ServoControlConfig
from .contract.base import Controller
from .contract.functions import sqrt
from .contract.law import UNSET, started, within
from .contract.ranges import LARGEST, positive, usable


@wp.func
def servo_prepare(
    kp: float,
    error_gain: float,
    battery: float,
    max_duty: float,
    min_duty: float,
    deadband: float,
    kd: float,
    max_duty_rate: float,
    profile_velocity: float,
    profile_acceleration: float,
    ki: float,
):
    """Return the gains as duty per error, NaN where a parameter is out of range, and the others."""
    # bounds that are NaN would bound nothing
    shares = max_duty >= 0.0 and max_duty <= 1.0 and min_duty >= 0.0 and min_duty <= 1.0
    limits = deadband >= 0.0 and deadband <= LARGEST and max_duty_rate >= 0.0
    profile = profile_velocity > 0.0 and profile_acceleration > 0.0
    gain = usable(error_gain) if shares and limits and profile else wp.nan
    return (
        gain * usable(kp),
        gain * usable(kd),
        positive(battery),
        max_duty,
        min_duty,
        deadband,
        max_duty_rate,
        profile_velocity,
        profile_acceleration,
        gain * usable(ki),
    )


@wp.func
def profiled(target: float, setpoint: float, setpoint_velocity: float, dt: float, most: float, acceleration: float):
    """Return the setpoint of a profile after the step, and its velocity."""
    error = target - setpoint
    left = wp.abs(error)
    braking = 2.0 * left / (0.5 * dt + sqrt(0.25 * dt * dt + 2.0 * left / acceleration))
    slowed = left / dt if left / dt < braking else braking
    absent = most > LARGEST and acceleration > LARGEST
    # compilers do not vectorize a choice of a constant as the result
    speed = 0.0 if absent else (most if most < slowed else slowed)
    change = acceleration * dt
    moved = within(-speed if error < 0.0 else speed, setpoint_velocity - change, setpoint_velocity + change)
    return target if absent else setpoint + dt * moved, moved


@wp.func
def wanted_duty(
    error: float, speed_error: float, integral: float, p_gain: float, d_gain: float, max_duty: float, min_duty: float
):
    """Return the duty within its limits; NaN where it is not finite without them."""
    wanted = p_gain * error + d_gain * speed_error + integral
    known = wanted if wp.abs(wanted) <= LARGEST else wp.nan
    least = -min_duty if known < 0.0 else (min_duty if known > 0.0 else 0.0)
    pushed = least if wp.abs(known) < wp.abs(least) else known
    return within(pushed, -max_duty, max_duty)


@wp.func
def servo_voltage(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    supply_voltage: float,
    duty: float,
    setpoint: float,
    setpoint_velocity: float,
    integral_duty: float,
    p_gain: float,
    d_gain: float,
    battery: float,
    max_duty: float,
    min_duty: float,
    deadband: float,
    max_duty_rate: float,
    profile_velocity: float,
    profile_acceleration: float,
    i_gain: float,
):
    """Return the voltage [V] of one joint; duty, setpoint [rad or m], its velocity and the integral's duty after it."""
    reference, moved = profiled(
        position_target, started(setpoint, position), setpoint_velocity, dt, profile_velocity, profile_acceleration
    )
    error = reference - position
    seen = 0.0 if wp.abs(error) <= deadband else error
    summed = integral_duty + i_gain * seen * dt
    grown = within(summed, -max_duty, max_duty) if i_gain > 0.0 else 0.0 * i_gain
    wanted = wanted_duty(seen, velocity_target + moved - velocity, grown, p_gain, d_gain, max_duty, min_duty)
    change = max_duty_rate * dt
    after = within(wanted, duty - change, duty + change)
    available = supply_voltage if supply_voltage <= LARGEST else battery
    return after * available + feedforward, after, reference, moved, grown


class ControllerServo(Controller):
    """Position loop of `N` hobby servos.

    Args:
        kp: Proportional gain as in the register, shape `(N,)`.
        error_gain: Duty per position error at a gain of 1 [1/rad or 1/m], shape `(N,)`.
        voltage: Voltage of the battery [V], shape `(N,)`.
        max_duty: Largest duty, from 0 to 1, shape `(N,)`.
        min_duty: Smallest duty that is not 0, from 0 to 1, shape `(N,)`.
        deadband: Position error that counts as 0 [rad or m], shape `(N,)`.
        kd: Derivative gain [s], shape `(N,)`.
        max_duty_rate: Largest change of the duty [1/s], shape `(N,)`; inf for no limit.
        profile_velocity: Largest velocity of the setpoint [rad/s or m/s], shape `(N,)`; inf for no limit.
        profile_acceleration: Largest acceleration of the setpoint [rad/s² or m/s²], shape `(N,)`; inf for no limit.
        ki: Integral gain [1/s], shape `(N,)`.
    """

    CONFIG = ServoControlConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "kp",
        "error_gain",
        "voltage",
        "max_duty",
        "min_duty",
        "deadband",
        "kd",
        "max_duty_rate",
        "profile_velocity",
        "profile_acceleration",
        "ki",
    )
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, *[math.inf] * 3, 0.0)
    STATE: ClassVar[tuple[str, ...]] = ("duty", "setpoint", "setpoint_velocity", "integral_duty")
    ADDED: ClassVar[Collection[str]] = ("integral_duty",)
    START: ClassVar[Mapping[str, float]] = {"setpoint": UNSET}
    ASKS: ClassVar[tuple[str, ...]] = ("supply_voltage",)
    PREPARE = servo_prepare
    LAW = servo_voltage
