"""Data-sheet figures of a motor at its joint.

A permanent-magnet DC motor at a constant voltage V, with torque constant Kt and winding resistance R, loses torque in
proportion to speed, and turns a gear of ratio N, rotor turns per turn of the joint, with efficiency η:

    τ(ω) = τ_stall·(1 − ω/ω_0)      τ_stall = Kt·V/R      ω_0 = V/Kt                the torque-speed line
    at the joint:                   τ·N·η                 ω/N                       behind the gear
    armature                        J·N²                                            reflected inertia of the rotor

For a joint that slides, N is rotor radians per metre, 2π/lead of a screw; efforts are then N and the armature is kg.
Units: rad/s = 2π/60 · rpm; N·m = 1e-3 · mN·m; kg·m² = 1e-4 · kg·cm² = 1e-7 · g·cm²; Kt in N·m/A equals the back-EMF
constant in V·s/rad, and is 60/(2π·Kv) of a speed constant Kv in rpm/V. A brushless motor is such a motor with the
constants of its drive, amplitude per phase or DC side, as the data sheet says.
Source: J. F. Gieras, Permanent Magnet Motor Technology, 3rd ed. 2010, ch. 4, DC commutator motors; K. M. Lynch and
F. C. Park, Modern Robotics, 2017, section 8.9, Actuation, Gearing, and Friction.
"""

from __future__ import annotations

import math


def from_rpm(speed: float) -> float:
    """Return a speed [rad/s] from revolutions per minute."""
    return speed * math.tau / 60


def stall_torque(torque_constant: float, voltage: float, resistance: float) -> float:
    """Return the torque [N·m] of the held rotor from Kt [N·m/A], V [V] and R [Ω]."""
    return torque_constant * voltage / resistance


def no_load_speed(torque_constant: float, voltage: float) -> float:
    """Return the speed [rad/s] of the free rotor from Kt [N·m/A] and V [V], without friction."""
    return voltage / torque_constant
