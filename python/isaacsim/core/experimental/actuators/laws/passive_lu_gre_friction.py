"""Friction of LuGre: bristles that bend before they slide, so that a joint at rest is a stiff spring with hysteresis.

    g(v) = coulomb + |K_e·τ_e − K_m·τ_m| + (static − coulomb)·exp(−(v/v_s)²)      level of the dry friction
    ż    = v − σ₀·|v|·z/g(v)                                deflection of the bristles [rad or m]
    friction = σ₀·z + σ₁·ż + σ₂·v

K_m is `motor_load`, K_e `external_load`: what a gear loses of what it transmits, see `specs/gear_losses.py`. Its
direction is that of the bristles, so it passes through 0 where the velocity changes its sign; as σ₀ does not change
with the load, the bristles give back no more than they took. σ₀ is `bristle_stiffness`, σ₁ `bristle_damping`, σ₂
`viscous`. In a step h at constant v the deflection is exact, and what damps is of the velocity v⁺ after the step:

    z⁺   = z + h·ρ,   ρ = (v + a·z)·(e^(a·h) − 1)/(a·h),   a = −σ₀·|v|/g(v)          ρ the mean rate of z
    b    = σ₁·e^(a·h)·(1 − σ₀·z·sign(v)/g(v))              ∂(σ₁·ρ)/∂v: bristles that slide do not damp
    v⁺   = (I·v + h·(τ_m + τ_e − σ₀·z⁺ − σ₁·ρ + b·v)) / (I + h·(b + σ₂))
    effort = τ_m − σ₀·z⁺ − σ₁·ρ − b·(v⁺ − v) − σ₂·v⁺

τ_m is the effort of the motor, I that inertia of `passive_friction.py`. τ_e, what else acts on it, is the negative
of the load where the simulator gives it whole; otherwise it shows in the velocity, τ_e = I·(v − v′)/h − effort′, of the
step before. After a reset z is 0, and v′ and effort′ are v and τ_m of the step.

With `mujoco_discretization` the friction is −σ₀·z − σ₁·(v + a·z) − σ₂·v, as in MuJoCo: the same numbers step by step,
and unstable for h·σ₁ > 2·I. A joint holds a load below static that rises slowly; a load that is stepped on weakly
damped bristles breaks away: choose σ₁ >= 2·√(σ₀·I). The friction takes energy for σ₂ >= σ₁·(static − coulomb)/coulomb.
Edges: parameters out of range, and without `mujoco_discretization` an inertia that is not known, give NaN, which the
plan's guard turns into zero and a fault.
Source: Canudas de Wit, Olsson, Åström, Lischinsky, IEEE Transactions on Automatic Control 40 (1995); Barabanov and
Ortega, ibid. 45 (2000); the actuator `dcmotor` of MuJoCo 3.9, attribute `lugre`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.configs import LuGreFrictionConfig
from .contract.base import Passive
from .contract.friction_step import inertia_of_step, known_inertia, lifted, rate_of_momentum, step_before
from .contract.functions import exp, mean_of_decay, stribeck
from .contract.law import UNSET, started, within
from .contract.ranges import usable
from .passive_friction import inverse_speed, load_of_motor


@wp.func
def lu_gre_prepare(
    bristle_stiffness: float,
    bristle_damping: float,
    viscous: float,
    coulomb: float,
    breakaway: float,
    stribeck_velocity: float,
    assumed_inertia: float,
    mujoco_discretization: float,
    motor_load: float,
    external_load: float,
):
    """Return the parameters, the breakaway level as its excess over `coulomb`, NaN where they are out of range."""
    above = breakaway - coulomb
    excess = above if above > 0.0 else 0.0
    return (
        usable(bristle_stiffness),
        usable(bristle_damping),
        usable(viscous),
        usable(coulomb) + 0.0 * (motor_load + external_load),
        excess if wp.isfinite(breakaway) else wp.nan,
        inverse_speed(stribeck_velocity),
        assumed_inertia,
        mujoco_discretization,
        motor_load,
        external_load,
        0.0 if wp.abs(motor_load) + wp.abs(external_load) == 0.0 else 1.0,
    )


@wp.func
def bristles(deflection: float, velocity: float, rate_now: float, fading: float, dt: float):
    """Return the deflection after a step at constant velocity, its mean rate, and the decay e^(−fading·dt)."""
    x = fading * dt
    left = exp(-x)
    mean = mean_of_decay(x, left)
    grown = deflection + dt * (mean * rate_now)
    return grown if x < 0.5 else left * deflection + dt * mean * velocity, mean * rate_now, left


@wp.func
def lu_gre(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    inertia: float,
    load: float,
    load_is_whole: float,
    coupled_inertia: float,
    motor_damping: float,
    motor_lift: float,
    deflection: float,
    previous_velocity: float,
    previous_effort: float,
    bristle_stiffness: float,
    bristle_damping: float,
    viscous: float,
    coulomb: float,
    excess: float,
    speed_factor: float,
    assumed_inertia: float,
    mujoco_discretization: float,
    motor_load: float,
    external_load: float,
    has_load: float,
):
    """Return `effort` [N·m or N] with the friction added, the new deflection, the velocity and that effort."""
    told = known_inertia(inertia, assumed_inertia)
    before, gained = step_before(
        load_is_whole, load, started(previous_effort, effort), velocity - started(previous_velocity, velocity)
    )
    # a load that is told needs no inertia, and a product that is not chosen has a derivative, too
    mass = told if has_load > 0.0 and gained != 0.0 else 1.0
    external = rate_of_momentum(mass, dt) * gained - before
    lost = load_of_motor(effort, external, motor_load, external_load)
    level = coulomb + (lost if has_load > 0.0 else 0.0) + excess * stribeck(velocity * speed_factor, 2.0)
    # without dry friction there is nothing that bends bristles
    floor = 1.0e-30 if level < 1.0e-30 else level
    steepness = bristle_stiffness / floor
    fading = within(steepness * wp.abs(velocity), 0.0, 1.0e30)
    rate_now = velocity - fading * deflection
    bent, rate, left = bristles(deflection, velocity, rate_now, fading, dt)
    # what acts at the velocity after the step
    stepped = inertia_of_step(load_is_whole, coupled_inertia, told)
    known = 1.0 if mujoco_discretization > 0.5 else stepped
    share = within(steepness * deflection, -1.0, 1.0)
    sliding = share if velocity > 0.0 else (-share if velocity < 0.0 else 0.0)
    bristle_drag = bristle_damping * left * (1.0 - sliding)
    lift, damping = lifted(effort, viscous, motor_damping, motor_lift)
    drag = dt * (bristle_drag + damping)
    inverse = 1.0 / (known + drag)
    light = known * inverse if drag > 0.0 else 1.0
    next_velocity = velocity + gained
    lasting = lift - bristle_stiffness * bent - bristle_damping * rate - bristle_drag * gained
    lasting = lasting - damping * next_velocity
    total = light * lasting + drag * inverse * before
    # as MuJoCo has it
    as_mujoco = effort - bristle_stiffness * deflection - bristle_damping * rate_now - viscous * velocity
    total = as_mujoco if mujoco_discretization > 0.5 else total
    return total, bent, velocity, total


class PassiveLuGreFriction(Passive):
    """Friction of `N` joints.

    Args:
        bristle_stiffness: Stiffness σ₀ of the bristles [N·m/rad or N/m], shape `(N,)`.
        bristle_damping: Damping σ₁ of the bristles [N·m·s/rad or N·s/m], shape `(N,)`.
        viscous: Viscous friction σ₂ [N·m·s/rad or N·s/m], shape `(N,)`.
        coulomb: Dry friction of a joint that slides fast [N·m or N], shape `(N,)`.
        static: Dry friction of a joint that begins to slide [N·m or N], shape `(N,)`; less than `coulomb` means that.
        stribeck_velocity: Speed at which dry friction is on its way to `coulomb` [rad/s or m/s], shape `(N,)`.
        assumed_inertia: Effective inertia [kg·m² or kg] where the simulator does not provide it, shape `(N,)`.
        mujoco_discretization: 1 for the step of MuJoCo, else 0, shape `(N,)`.
        motor_load: Dry friction per effort of the motor, shape `(N,)`.
        external_load: Dry friction per external effort, shape `(N,)`.
    """

    CONFIG = LuGreFrictionConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "bristle_stiffness",
        "bristle_damping",
        "viscous",
        "coulomb",
        "static",
        "stribeck_velocity",
        "assumed_inertia",
        "mujoco_discretization",
        "motor_load",
        "external_load",
    )
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    STATE: ClassVar[tuple[str, ...]] = ("deflection", "previous_velocity", "previous_effort")
    START: ClassVar[Mapping[str, float]] = {"previous_velocity": UNSET, "previous_effort": UNSET}
    ASKS: ClassVar[tuple[str, ...]] = (
        *("inertia", "load", "load_is_whole", "coupled_inertia"),
        *("motor_damping", "motor_lift"),
    )
    USUAL: ClassVar[Mapping[str, float]] = {"has_load": 0.0}
    PREPARE = lu_gre_prepare
    LAW = lu_gre
