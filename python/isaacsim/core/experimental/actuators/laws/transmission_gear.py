"""A rigid gear between motor and joint.

    motor position = N·q + θ₀,  motor velocity = N·q̇        N   ratio, negative where the motor turns the other way
    effort = N·τ                                             θ₀  offset,  τ  effort of the motor
    inertias of the joint/N² and load/N are what the motor feels
    targets and feedforward of the joint: N·q* + θ₀, N·q̇*, ff/N; those of the motor are taken as they are

The power of the motor is that at the joint: τ·N·q̇ = effort·q̇. Edges: a ratio of 0, which a config refuses, separates
the motor, whose targets must then be its own.
Source: d'Alembert's principle of virtual work; targets of the motor as in newton-actuators 0.1.0.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.transmission import TransmissionConfig
from .contract.base import Transmission


@wp.func
def motor_signals(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    ratio: float,
    offset: float,
    of_motor: float,
):
    """Return position, velocity, targets [rad, rad/s] and feedforward [N·m] of the motor."""
    is_own = of_motor > 0.5
    return (
        ratio * position + offset,
        ratio * velocity,
        position_target if is_own else ratio * position_target + offset,
        velocity_target if is_own else ratio * velocity_target,
        feedforward if is_own else feedforward / ratio,
    )


@wp.func
def gear_effort(effort: float, position: float, velocity: float, ratio: float, offset: float, of_motor: float):
    """Return the effort at the joint [N·m or N]."""
    return ratio * effort


@wp.func
def felt_by_motor(
    inertia: float,
    load: float,
    load_is_whole: float,
    coupled_inertia: float,
    ratio: float,
    offset: float,
    of_motor: float,
):
    """Return inertia [kg·m²], load [N·m], whether that is whole, and coupled inertia as the motor feels them."""
    squared = ratio * ratio
    return inertia / squared, load / ratio, load_is_whole, coupled_inertia / squared


class TransmissionGear(Transmission):
    """Rigid gears of `N` motors.

    Args:
        ratio: Radians of the motor per radian or metre of the joint, shape `(N,)`.
        offset: Angle of the motor where the joint is at 0 [rad], shape `(N,)`.
        targets: 0 where targets and feedforward are those of the joint, 1 for those of the motor, shape `(N,)`.
    """

    CONFIG = TransmissionConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("ratio", "offset", "targets")
    NEUTRAL: ClassVar[tuple[float, ...]] = (1.0, 0.0, 0.0)
    MOTOR = motor_signals
    LAW = gear_effort
    FELT = felt_by_motor
