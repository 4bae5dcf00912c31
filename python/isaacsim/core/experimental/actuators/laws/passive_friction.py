"""Dry friction on which joints rest, with the Stribeck effect and terms that grow with the load; viscous friction.

    F  = coulomb + |K_e·τ_e − K_m·τ_m| + s·(static − coulomb + |K_es·τ_e − K_ms·τ_m| + Q)    level of the dry friction
    s  = exp(−(|v|/v_s)^α)
    Q  = K_eq·τ_e² where |τ_e| <= |τ_m|, else K_mq·τ_m²;  0 where τ_e·τ_m >= 0, if asked for
    J  = I + h·viscous                                  inertia, with what is implicit in the velocity
    v_f = (I·(2v − v′) + h·(τ_m − u′)) / J              velocity after the step, dry friction as it was
    f⁺ = clip(f − ½·J·v_f/h, −F, F)                     dry friction of this step
    v⁺ = v_f + h·(f⁺ − f)/J                             velocity after the step
    u  = τ_m − viscous·v⁺,   effort = u + f⁺

τ_m is the effort of the motor, τ_e what else acts on the joint, h the physics step; f, v′ and u′ are f⁺, v and u of the
step before. I is the coupled inertia of the joint where the simulator gives it (`coupling.py`), else the effective
inertia I_e. The load shows in the velocity: τ_e = I_e·(v − v′)/h − u′ − f. A joint at rest stays there, without
creeping, wherever the effort and the load are below F, also in a chain of joints with friction; the half makes it so.
An inertia that is too small lets it come to rest later, one that is twice too large makes it chatter, as that of each
leg alone is where a robot stands on them.

Where the simulator gives the whole load, contacts and coupling included, τ_e is its negative, I is I_e, and the step is
exact: v_f = (I·v + h·(τ_m + τ_e)) / J and f⁺ = clip(−J·v_f/h, −F, F), with v⁺ = v_f + h·f⁺/J. A load without these
leaves out what pushes the joint, so it is not used. With an effort at the end of the step, I is that of its mode.

After a reset f is 0, and v′ and u′ are v and τ_m of the step. F is that of v, τ_m and τ_e before the step. A negative
motor_load or external_load is that of a gear near self-locking, see `specs/gear_losses.py`. Edges:
with all levels zero viscous friction is left alone; parameters out of range, and an inertia that is not known, give
NaN, which the plan's guard turns into zero and a fault.
Source: the scheme of Moreau, as a proximal step (Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical
Systems, 2008), with its impulse carried over from step to step; F is model M6 of Duclusaud et al., ICRA 2025
(arXiv 2410.08650). Without `quadratic_when_opposed`, Q is that of its documentation, with it, that of its code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.configs import FrictionConfig
from .contract.base import Passive
from .contract.friction_step import (
    friction_before,
    friction_step,
    inertia_of_step,
    known_inertia,
    lifted,
    rate_of_momentum,
    step_before,
)
from .contract.functions import stribeck
from .contract.law import UNSET, started
from .contract.ranges import usable


@wp.func
def usable_or_zero(value: float) -> float:
    """Return a parameter that is finite and not negative; 0 for others."""
    return value if wp.isfinite(value) and (value >= 0.0) else 0.0


@wp.func
def finite_or_zero(value: float) -> float:
    """Return a parameter that is finite; 0 for others."""
    return value if wp.isfinite(value) else 0.0


@wp.func
def inverse_speed(stribeck_velocity: float) -> float:
    """Return the inverse of a speed above zero; NaN for others."""
    good = wp.isfinite(stribeck_velocity) and (stribeck_velocity > 0.0)
    # of the smallest floats it is infinite
    raised = stribeck_velocity if stribeck_velocity > 1.0e-37 else 1.0e-37
    return 1.0 / raised if good else wp.nan


@wp.func
def friction_prepare(
    coulomb: float,
    viscous: float,
    breakaway: float,
    stribeck_velocity: float,
    stribeck_exponent: float,
    assumed_inertia: float,
    motor_load: float,
    external_load: float,
    stribeck_motor_load: float,
    stribeck_external_load: float,
    quadratic_motor_load: float,
    quadratic_external_load: float,
    quadratic_when_opposed: float,
):
    """Return the parameters, the breakaway level as its excess over `coulomb`; that is NaN if one is out of range.

    Others are zero then: a product that the law does not choose has a derivative, too.
    """
    above = breakaway - coulomb
    excess = above if above > 0.0 else 0.0
    has_curve = wp.isfinite(stribeck_exponent) and (stribeck_exponent > 0.0) and wp.isfinite(breakaway)
    shares = wp.abs(motor_load) + wp.abs(external_load) + stribeck_motor_load + stribeck_external_load
    shares = shares + quadratic_motor_load + quadratic_external_load
    checked = usable(viscous) + usable(wp.abs(motor_load)) + usable(wp.abs(external_load)) + usable(stribeck_motor_load)
    checked = checked + usable(stribeck_external_load) + usable(quadratic_motor_load) + usable(quadratic_external_load)
    return (
        wp.nan if wp.isnan(checked) else usable(coulomb),
        usable_or_zero(viscous),
        excess if has_curve else wp.nan,
        inverse_speed(stribeck_velocity),
        stribeck_exponent,
        assumed_inertia,
        finite_or_zero(motor_load),
        finite_or_zero(external_load),
        usable_or_zero(stribeck_motor_load),
        usable_or_zero(stribeck_external_load),
        usable_or_zero(quadratic_motor_load),
        usable_or_zero(quadratic_external_load),
        quadratic_when_opposed,
        0.0 if shares == 0.0 else 1.0,
    )


@wp.func
def load_of_motor(effort: float, external: float, motor_load: float, external_load: float) -> float:
    """Return the dry friction of a gear under load: the difference of its efforts, each times its share."""
    return wp.abs(external_load * external - motor_load * effort)


@wp.func
def quadratic_load(
    effort: float, external: float, motor_load: float, external_load: float, when_opposed: float
) -> float:
    """Return the quadratic term of model M6."""
    # products in this order: a share of zero leaves nothing, however large the effort
    driving = external_load * external * external
    driven = motor_load * effort * effort
    term = driving if wp.abs(external) <= wp.abs(effort) else driven
    acts = (when_opposed < 0.5) or (external * effort < 0.0)
    return term if acts else 0.0


@wp.func
def friction_of_load(
    effort: float,
    external: float,
    motor_load: float,
    external_load: float,
    stribeck_motor_load: float,
    stribeck_external_load: float,
    quadratic_motor_load: float,
    quadratic_external_load: float,
    when_opposed: float,
    has_load: float,
):
    """Return the dry friction that grows with the load: at any speed, and at rest in addition."""
    moving = load_of_motor(effort, external, motor_load, external_load)
    still = load_of_motor(effort, external, stribeck_motor_load, stribeck_external_load)
    quadratic = quadratic_load(effort, external, quadratic_motor_load, quadratic_external_load, when_opposed)
    # zeros by selection: a vector of joints without these terms may skip them
    return moving if has_load > 0.0 else 0.0, still + quadratic if has_load > 0.0 else 0.0


@wp.func
def friction_level(
    effort: float,
    external: float,
    velocity: float,
    coulomb: float,
    excess: float,
    speed_factor: float,
    stribeck_exponent: float,
    motor_load: float,
    external_load: float,
    stribeck_motor_load: float,
    stribeck_external_load: float,
    quadratic_motor_load: float,
    quadratic_external_load: float,
    when_opposed: float,
    has_load: float,
) -> float:
    """Return the largest dry friction at a velocity, an effort of the motor and an external effort."""
    moving, still = friction_of_load(
        effort,
        external,
        motor_load,
        external_load,
        stribeck_motor_load,
        stribeck_external_load,
        quadratic_motor_load,
        quadratic_external_load,
        when_opposed,
        has_load,
    )
    return coulomb + moving + (excess + still) * stribeck(velocity * speed_factor, stribeck_exponent)


@wp.func
def friction(
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
    dry_effort: float,
    previous_velocity: float,
    previous_effort: float,
    coulomb: float,
    viscous: float,
    excess: float,
    speed_factor: float,
    stribeck_exponent: float,
    assumed_inertia: float,
    motor_load: float,
    external_load: float,
    stribeck_motor_load: float,
    stribeck_external_load: float,
    quadratic_motor_load: float,
    quadratic_external_load: float,
    when_opposed: float,
    has_load: float,
):
    """Return `effort` [N·m or N] with the friction added, the dry part of it, the velocity and the rest."""
    known = known_inertia(inertia, assumed_inertia)
    share, carried = friction_before(load_is_whole, dry_effort)
    gained = velocity - started(previous_velocity, velocity)
    before, gained = step_before(load_is_whole, load - carried, started(previous_effort, effort), gained)
    stepped = inertia_of_step(load_is_whole, coupled_inertia, known)
    external = rate_of_momentum(known, dt) * gained - (before + carried)
    level = friction_level(
        effort,
        external,
        velocity,
        coulomb,
        excess,
        speed_factor,
        stribeck_exponent,
        motor_load,
        external_load,
        stribeck_motor_load,
        stribeck_external_load,
        quadratic_motor_load,
        quadratic_external_load,
        when_opposed,
        has_load,
    )
    lift, damping = lifted(effort, viscous, motor_damping, motor_lift)
    total, dry, rest = friction_step(level, lift, velocity, dt, damping, stepped, share, carried, before, gained)
    return total, dry, velocity, rest


class PassiveFriction(Passive):
    """Friction of `N` joints.

    Args:
        coulomb: Dry friction of a joint that slides fast [N·m or N], shape `(N,)`.
        viscous: Viscous friction [N·m·s/rad or N·s/m], shape `(N,)`.
        static: Dry friction that a joint at rest has to break [N·m or N], shape `(N,)`; less than `coulomb` means that.
        stribeck_velocity: Speed at which dry friction is on its way to `coulomb` [rad/s or m/s], shape `(N,)`.
        stribeck_exponent: How steep it gets there, shape `(N,)`.
        assumed_inertia: Effective inertia [kg·m² or kg] where the simulator does not provide it, shape `(N,)`.
        motor_load: Dry friction per effort of the motor, at any speed, shape `(N,)`.
        external_load: Dry friction per external effort, at any speed, shape `(N,)`.
        stribeck_motor_load: Dry friction per effort of the motor at rest, shape `(N,)`.
        stribeck_external_load: Dry friction per external effort at rest, shape `(N,)`.
        quadratic_motor_load: Dry friction per square of the effort of a motor that is driven [1/(N·m) or 1/N], shape
            `(N,)`.
        quadratic_external_load: Dry friction per square of the external effort on a motor that drives
            [1/(N·m) or 1/N], shape `(N,)`.
        quadratic_when_opposed: 1 where the quadratic terms act only on efforts of opposite signs, else 0, shape
            `(N,)`.
    """

    CONFIG = FrictionConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "coulomb",
        "viscous",
        "static",
        "stribeck_velocity",
        "stribeck_exponent",
        "assumed_inertia",
        "motor_load",
        "external_load",
        "stribeck_motor_load",
        "stribeck_external_load",
        "quadratic_motor_load",
        "quadratic_external_load",
        "quadratic_when_opposed",
    )
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 1.0, 2.0, 1.0, *[0.0] * 7)
    STATE: ClassVar[tuple[str, ...]] = ("dry_effort", "previous_velocity", "previous_effort")
    START: ClassVar[Mapping[str, float]] = {"previous_velocity": UNSET, "previous_effort": UNSET}
    ASKS: ClassVar[tuple[str, ...]] = (
        *("inertia", "load", "load_is_whole", "coupled_inertia"),
        *("motor_damping", "motor_lift"),
    )
    USUAL: ClassVar[Mapping[str, float]] = {
        "load_is_whole": 0.0,
        "motor_damping": 0.0,
        "motor_lift": 0.0,
        "stribeck_exponent": 2.0,
        "has_load": 0.0,
    }
    COSTLY: ClassVar[tuple[str, ...]] = ("stribeck_exponent",)
    PREPARE = friction_prepare
    LAW = friction
