"""Dry friction on which joints rest, Stribeck's curve, and viscous friction.

    F  = coulomb + (static − coulomb)·exp(−(|v|/v_s)^α)             level of the dry friction, static ≥ coulomb
    J  = I + h·viscous                                              inertia, with what is implicit in the velocity
    v_f = (I·(2v − v′) + h·(τ − u′)) / J                            velocity after the step, dry friction as it was
    f⁺ = clip(f − ½·J·v_f/h, −F, F)                                 dry friction of this step
    v⁺ = v_f + h·(f⁺ − f)/J                                         velocity after the step
    u  = τ − viscous·v⁺,   effort = u + f⁺

τ is the effort of the motor, h the physics step, I the effective inertia of the joint; f, v′ and u′ are f⁺, v and u of
the step before. What else acts on the joint, its load, shows in the velocity. A joint at rest stays there, without
creeping, wherever the effort and the load are below F, also in a chain of joints with friction; the half makes it so.
An inertia that is too small lets it come to rest later, one that is twice too large makes it chatter.
After a reset f is 0, and v′ and u′ are v and τ of the step. Edges: coulomb = static = 0 leaves viscous friction alone;
parameters out of range, and an inertia that is not known, give NaN, which the plan's guard turns into zero and a fault.
Source: the scheme of Moreau, as a proximal step (Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical
Systems, 2008), with its impulse carried over from step to step; Stribeck's curve as in Duclusaud et al., ICRA 2025.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import warp as wp

from ..specs.configs import FrictionConfig
from .base import Passive, resolved_scalars
from .functions import exp, pow
from .law import UNSET, bounded, started, within


@wp.func
def friction_prepare(
    coulomb: float,
    viscous: float,
    breakaway: float,
    stribeck_velocity: float,
    stribeck_exponent: float,
    assumed_inertia: float,
):
    """Return the parameters, with the breakaway level as its excess over `coulomb`."""
    above = breakaway - coulomb
    excess = above if above > 0.0 else 0.0
    is_finite = wp.isfinite(coulomb) and wp.isfinite(viscous) and wp.isfinite(breakaway)
    has_curve = wp.isfinite(stribeck_velocity) and wp.isfinite(stribeck_exponent)
    in_range = viscous >= 0.0 and stribeck_velocity > 0.0 and stribeck_exponent > 0.0
    good = is_finite and has_curve and in_range
    return coulomb, viscous, excess if good else wp.nan, stribeck_velocity, stribeck_exponent, assumed_inertia


@wp.func
def friction(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    inertia: float,
    dry_effort: float,
    previous_velocity: float,
    previous_effort: float,
    coulomb: float,
    viscous: float,
    excess: float,
    stribeck_velocity: float,
    stribeck_exponent: float,
    assumed_inertia: float,
):
    """Return `effort` [N·m or N] with the friction added, the dry part of it, the velocity and the rest."""
    level = coulomb + excess * exp(-pow(wp.abs(velocity) / stribeck_velocity, stribeck_exponent))
    known = inertia if inertia > 0.0 else assumed_inertia if assumed_inertia > 0.0 else wp.nan
    # as it would be if all that acts stayed
    next_velocity = velocity + (velocity - started(previous_velocity, velocity))
    before = started(previous_effort, effort)
    wanted = -0.5 * (known * next_velocity / dt + (effort - before))
    dry = bounded(dry_effort + wanted, -level, level)
    change = within(wanted, -level - dry_effort, level - dry_effort)
    # viscous·v⁺ as a mean of what the joint would do with and without it, not as a difference of large numbers
    drag = dt * viscous
    light = known / (known + drag)
    heavy = drag / (known + drag)
    left = effort - viscous * next_velocity
    rest = light * left + heavy * (before - change)
    return light * (left + dry) + heavy * (before + dry_effort), dry, velocity, rest


class PassiveFriction(Passive):
    """Friction of `N` joints.

    Args:
        coulomb: Dry friction of a joint that slides fast [N·m or N], shape `(N,)`.
        viscous: Viscous friction [N·m·s/rad or N·s/m], shape `(N,)`.
        static: Dry friction that a joint at rest has to break [N·m or N], shape `(N,)`; less than `coulomb` means that.
        stribeck_velocity: Speed at which dry friction is on its way to `coulomb` [rad/s or m/s], shape `(N,)`.
        stribeck_exponent: How steep it gets there, shape `(N,)`.
        assumed_inertia: Effective inertia [kg·m² or kg] where the simulator does not provide it, shape `(N,)`.

    Raises:
        TypeError: An array is missing.
        ValueError: The arrays differ in shape.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "coulomb",
        "viscous",
        "static",
        "stribeck_velocity",
        "stribeck_exponent",
        "assumed_inertia",
    )
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 1.0, 2.0, 1.0)
    STATE: ClassVar[tuple[str, ...]] = ("dry_effort", "previous_velocity", "previous_effort")
    START: ClassVar[Mapping[str, float]] = {"previous_velocity": UNSET, "previous_effort": UNSET}
    ASKS: ClassVar[tuple[str, ...]] = ("inertia",)
    PREPARE = friction_prepare
    LAW = friction

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Fill each value with its default where absent and check it."""
        return resolved_scalars(FrictionConfig, args)
