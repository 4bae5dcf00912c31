"""A gear with a spring and backlash between its rotor and the joint; the rotor is a mass of its own.

    J·θ̈ = N·τ − b·θ̇ − f,   I·q̈ = f + τ_e       θ  angle of the rotor at the joint, q position of the joint
    f = k·(δ − clip(δ, ±β)) + c·δ̇,  δ = θ − q   J = N²·J_r,  b = N²·b_r,  β half of the backlash

τ is the effort of the motor, N the ratio, I the effective inertia of the joint, τ_e what else acts on it, and f the
effort at the joint. Teeth push and never pull: with backlash, f is 0 where |δ| <= β, and is not against the side that
touches. Without backlash the spring and its damper push and pull.

The step h is linearly implicit in both velocities. With M = J + h·b, a = ϑ·h·k + c, and the velocities without spring
w = (J·θ̇ + h·N·τ)/M of the rotor and u = v + h·τ_e/I of the joint:

    δ_f = δ + h·(w − u)                         without spring: decides which teeth touch
    e = δ − clip(δ_f, ±β)
    p = (k·e + a·(w − u)) / (1 + h·a·(1/M + 1/I))            spring and damper of teeth that touch
    t = (δ_f − clip(δ_f, ±β)) / (h²·(1/M + 1/I))             what stops them where they touch
    f = clip(p, 0, t), without backlash p;  θ̇⁺ = w − h·f/M,  θ⁺ = θ + h·θ̇⁺

The effort is that of the deflection a share ϑ of the step ahead, which damps the oscillation with about ζ = ϑ·h·ω/2:

    ϑ = 0.9·clip((16·(h·ω)² − 1)/3, 0, 1),   (h·ω)² = h²·k·(1/M + 1/I)      0 up to h·ω = 1/4, 0.9 from 1/2 on

The period is too long by (h·ω)²·(ϑ²/4 + ϑ/2 − 1/12)/2: by −0.3 % at h·ω = 1/4, by 6.7 % at 1/2. The damper, which is
implicit, gives what is asked of it up to 1/4: a ratio of 0.02 is 0.8 % low there. Teeth that come from the other side
of their edge, with e < 0 < δ_f − β or the reverse, have ϑ = 1: they touch within the step. A rebound takes about
2·(h·ω)² of the energy of the relative motion, 11 % at h·ω = 1/4, and never gives any.

Energy does not drift. With ϑ = 0 the effort of the start of a step acts on the velocity of its middle: with the
deflection of the middle, δ − h·δ̇/2, the energy of rotor, spring and joint stays below 1 + (h·ω)²/2 times that at the
start; at the ends of steps it swings by h·ω/2 to either side.

k and c are those of the config, up to I/(2h)² and I/(4h): then this bound also holds where the joint is half as heavy
as I, heavier or held. Where h·ω is above 1/2 the energy falls, the step damps the oscillation out, and rotor and joint
move as one mass: its momentum is kept, which a rotor without mass would lose.

The load of the joint shows in its velocity: τ_e = I·(v − v′)/h − f′, with v′ and f′ of the step before; where the
simulator gives the whole load, τ_e is the negative of that. After a reset θ, θ̇ and v′ are q, v and v of the step, and
f′ is 0.

Edges: inertias of rotor and joint below 1e-20 count as that; such a rotor, which a config refuses, hands its effort on
and moves with the joint.
Parameters out of range, and an inertia that is not known, give NaN, which the plan's guard turns into zero and a fault.
Source: the linearly implicit Euler method for two masses and a spring; contact that is decided at the end of the step
as in Moreau's scheme (Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008).
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.transmission import ElasticTransmissionConfig
from .contract.base import Transmission
from .contract.friction_step import known_inertia, step_before
from .contract.law import UNSET, started, within
from .contract.ranges import positive, usable

LIGHTEST = wp.constant(1.0e-20)
"""Smallest inertia of rotor and joint."""
AHEAD = wp.constant(0.9)
"""Largest ϑ; 1 is the implicit Euler method."""


@wp.func
def elastic_prepare(
    ratio: float,
    offset: float,
    of_motor: float,
    rotor_inertia: float,
    stiffness: float,
    damping: float,
    backlash: float,
    rotor_damping: float,
    assumed_inertia: float,
):
    """Return the parameters, those of the rotor at the joint; a ratio of NaN if one is out of range."""
    checked = usable(rotor_inertia) + positive(stiffness) + usable(damping) + usable(backlash) + usable(rotor_damping)
    squared = ratio * ratio
    inertia = squared * rotor_inertia
    return (
        wp.nan if wp.isnan(checked) else ratio,
        offset,
        of_motor,
        inertia if inertia > LIGHTEST else LIGHTEST,
        stiffness,
        damping,
        0.5 * backlash,
        squared * rotor_damping,
        assumed_inertia,
    )


@wp.func
def rotor_signals(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    inertia: float,
    load: float,
    load_is_whole: float,
    rotor_position: float,
    rotor_velocity: float,
    previous_velocity: float,
    spring_effort: float,
    ratio: float,
    offset: float,
    of_motor: float,
    rotor_inertia: float,
    stiffness: float,
    damping: float,
    half_backlash: float,
    drag: float,
    assumed_inertia: float,
):
    """Return position, velocity, targets [rad, rad/s] and feedforward [N·m] of the motor; the rotor is its own."""
    is_own = of_motor > 0.5
    return (
        ratio * started(rotor_position, position) + offset,
        ratio * started(rotor_velocity, velocity),
        position_target if is_own else ratio * position_target + offset,
        velocity_target if is_own else ratio * velocity_target,
        feedforward if is_own else feedforward / ratio,
    )


@wp.func
def felt_by_rotor(
    inertia: float,
    load: float,
    load_is_whole: float,
    coupled_inertia: float,
    rotor_position: float,
    rotor_velocity: float,
    previous_velocity: float,
    spring_effort: float,
    ratio: float,
    offset: float,
    of_motor: float,
    rotor_inertia: float,
    stiffness: float,
    damping: float,
    half_backlash: float,
    drag: float,
    assumed_inertia: float,
):
    """Return the signals of `FELT_SIGNALS` as the motor feels them: its rotor, and the spring of the step before."""
    alone = rotor_inertia / (ratio * ratio)
    # the drag of the rotor and what the spring does in this step are not in it
    return alone, spring_effort / ratio, 0.0 * load_is_whole, alone


@wp.func
def share_ahead(stiffness: float, reduced: float) -> float:
    """Return ϑ of a stiffness times the step squared, and of both masses as one, 1/(1/M + 1/I)."""
    # by what is left of (h·ω)² < 1/4, so that a mass of nothing counts as fast
    most = 0.75 * reduced
    return AHEAD * (1.0 - within(reduced - 4.0 * stiffness, 0.0, most) / (most if most > 0.0 else 1.0))


@wp.func
def spring_step(
    momentum: float,
    mass: float,
    joint_momentum: float,
    joint_mass: float,
    deflection: float,
    dt: float,
    stiffening: float,
    damping: float,
    half_backlash: float,
):
    """Return the effort of the spring, and the velocity of the rotor after the step.

    Momenta are those after the step without spring; `mass` is that of the rotor with its drag, `deflection` that of the
    spring with the gap, of which `half_backlash` is half. `stiffening` is the stiffness times the step; of it and of
    the damping as much counts as the step can take.
    """
    most = 0.25 * joint_mass / dt
    stiffening = stiffening if stiffening < most else most
    damping = damping if damping < most else most
    alone = momentum / mass
    free = deflection + dt * (alone - joint_momentum / joint_mass)
    edge = within(free, -half_backlash, half_backlash)
    past = free - edge
    stretched = deflection - edge
    # by shares of the two masses, either of which may be next to nothing
    both = mass + joint_mass
    share = mass / both
    reduced = joint_mass * share
    common = (momentum + joint_momentum) / both
    has_gap = half_backlash > 0.0
    # teeth that are apart before the step
    touches = has_gap and ((past > 0.0 and stretched < 0.0) or (past < 0.0 and stretched > 0.0))
    gain = (stiffening if touches else share_ahead(dt * stiffening, reduced) * stiffening) + damping
    divisor = reduced + dt * gain
    impulse = stiffening * stretched
    pushing = (reduced * (impulse / dt) + gain * (joint_mass * (momentum / both) - share * joint_momentum)) / divisor
    # with a gain of 0 the velocity of the rotor has no factor, whose rounding would make energy drift
    pushed = (reduced / divisor) * ((momentum - impulse) / mass) + (dt * gain / divisor) * common
    # a spring or damping that would end the step before the teeth touch
    end = reduced * past + dt * (gain - stiffening) * stretched
    is_early = has_gap and ((past > 0.0 and end < 0.0) or (past < 0.0 and end > 0.0))
    effort = past / dt * (reduced / dt) if is_early else pushing
    velocity = common - joint_mass / both * (stretched / dt) if is_early else pushed
    is_apart = has_gap and (past == 0.0 or (past > 0.0 and pushing <= 0.0) or (past < 0.0 and pushing >= 0.0))
    return 0.0 * effort if is_apart else effort, alone if is_apart else velocity


@wp.func
def elastic_effort(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    inertia: float,
    load: float,
    load_is_whole: float,
    rotor_position: float,
    rotor_velocity: float,
    previous_velocity: float,
    spring_effort: float,
    ratio: float,
    offset: float,
    of_motor: float,
    rotor_inertia: float,
    stiffness: float,
    damping: float,
    half_backlash: float,
    drag: float,
    assumed_inertia: float,
):
    """Return the effort at the joint [N·m or N], position and velocity of the rotor, and what the next step needs."""
    given = known_inertia(inertia, assumed_inertia)
    known = LIGHTEST if given < LIGHTEST else given
    before, gained = step_before(load_is_whole, load, spring_effort, velocity - started(previous_velocity, velocity))
    angle = started(rotor_position, position)
    is_light = rotor_inertia <= LIGHTEST
    found, speed = spring_step(
        rotor_inertia * started(rotor_velocity, velocity) + dt * (ratio * effort),
        # slopes of a quotient by next to nothing are not finite
        known if is_light else rotor_inertia + dt * drag,
        known * (velocity + gained) - dt * before,
        known,
        angle - position,
        dt,
        dt * stiffness,
        damping,
        half_backlash,
    )
    # without inertia it hands on the effort, to the bit
    total = ratio * effort if is_light else found
    return total, position if is_light else angle + dt * speed, velocity if is_light else speed, velocity, total


class TransmissionElastic(Transmission):
    """Elastic gears of `N` motors.

    Args:
        ratio: Radians of the motor per radian or metre of the joint, shape `(N,)`.
        offset: Angle of the motor where its rotor is at 0 at the joint [rad], shape `(N,)`.
        targets: 0 where targets and feedforward are those of the joint, 1 for those of the motor, shape `(N,)`.
        rotor_inertia: Inertia of rotor and gear at the motor [kg·m²], shape `(N,)`.
        stiffness: Stiffness of the spring at the joint [N·m/rad or N/m], shape `(N,)`.
        damping: Damping of the spring at the joint [N·m·s/rad or N·s/m], shape `(N,)`.
        backlash: Whole free play at the joint [rad or m], shape `(N,)`.
        rotor_damping: Viscous friction of the rotor at the motor [N·m·s/rad], shape `(N,)`.
        assumed_inertia: Effective inertia of the joint [kg·m² or kg] where the simulator does not provide it, shape
            `(N,)`.
    """

    CONFIG = ElasticTransmissionConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "ratio",
        "offset",
        "targets",
        "rotor_inertia",
        "stiffness",
        "damping",
        "backlash",
        "rotor_damping",
        "assumed_inertia",
    )
    NEUTRAL: ClassVar[tuple[float, ...]] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    STATE: ClassVar[tuple[str, ...]] = ("rotor_position", "rotor_velocity", "previous_velocity", "spring_effort")
    START: ClassVar[Mapping[str, float]] = {
        "rotor_position": UNSET,
        "rotor_velocity": UNSET,
        "previous_velocity": UNSET,
    }
    ASKS: ClassVar[tuple[str, ...]] = ("inertia", "load", "load_is_whole")
    RECORDED: ClassVar[Mapping[str, str]] = {"rotor_positions": "rotor_position", "rotor_velocities": "rotor_velocity"}
    PREPARE = elastic_prepare
    MOTOR = rotor_signals
    LAW = elastic_effort
    FELT = felt_by_rotor
