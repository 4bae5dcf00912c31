"""Friction of a tendon, cable or screw: dry friction that grows with the effort of the motor, and viscous friction.

    F  = coulomb + load·|τ|                             level of the dry friction
    J  = I + h·viscous                                  inertia, with what is implicit in the velocity
    v_f = (I·(2v − v′) + h·(τ − u′)) / J                velocity after the step, dry friction as it was
    f⁺ = clip(f − ½·J·v_f/h, −F, F)                     dry friction of this step
    v⁺ = v_f + h·(f⁺ − f)/J                             velocity after the step
    u  = τ − viscous·v⁺,   effort = u + f⁺

v is the velocity of the shaft, τ the effort of its motor behind gear and limits, h the physics step; f, v′ and u′ are
f⁺, v and u of the step before. It is the step of `passive_friction.py` with the shaft in the place of a joint: I is the
coupled inertia (`coupling.py`) of shafts with such laws, whose inverse mass matrix is G·M⁻¹·Gᵀ. The level is that of a
cable over a pulley: T_1/T_2 = e^(μφ).
Edges: with all parameters zero the effort is unchanged; parameters out of range, and an inertia that is not known, give
NaN, which the plan's guard turns into zero and a fault.
Source: L. Euler, Remarques sur l'effet du frottement dans l'équilibre, 1762; the step as in `passive_friction.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.shaft import ShaftFrictionConfig
from .contract.base import Shaft
from .contract.friction_step import friction_step, known_inertia
from .contract.law import UNSET, started
from .contract.ranges import usable


@wp.func
def shaft_friction_prepare(coulomb: float, viscous: float, load: float, assumed_inertia: float):
    """Return the parameters, NaN for those out of range."""
    return usable(coulomb), usable(viscous), usable(load), assumed_inertia


@wp.func
def shaft_friction(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    shaft_inertia: float,
    dry_effort: float,
    previous_velocity: float,
    previous_effort: float,
    coulomb: float,
    viscous: float,
    load: float,
    assumed_inertia: float,
):
    """Return `effort` [N·m or N] with the friction added, the dry part of it, the velocity and the rest."""
    known = known_inertia(shaft_inertia, assumed_inertia)
    gained = velocity - started(previous_velocity, velocity)
    before = started(previous_effort, effort)
    level = coulomb + load * wp.abs(effort)
    total, dry, rest = friction_step(level, effort, velocity, dt, viscous, known, 0.5, dry_effort, before, gained)
    return total, dry, velocity, rest


class ShaftFriction(Shaft):
    """Friction of `N` shafts.

    Args:
        coulomb: Dry friction [N·m or N], shape `(N,)`.
        viscous: Viscous friction [N·m·s/rad or N·s/m], shape `(N,)`.
        load: Dry friction per effort of the motor, shape `(N,)`.
        assumed_inertia: Inertia of the shaft [kg·m² or kg] where the simulator does not provide it, shape `(N,)`.
    """

    CONFIG = ShaftFrictionConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("coulomb", "viscous", "load", "assumed_inertia")
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 1.0)
    STATE: ClassVar[tuple[str, ...]] = ("dry_effort", "previous_velocity", "previous_effort")
    START: ClassVar[Mapping[str, float]] = {"previous_velocity": UNSET, "previous_effort": UNSET}
    ASKS: ClassVar[tuple[str, ...]] = ("shaft_inertia",)
    PREPARE = shaft_friction_prepare
    LAW = shaft_friction
