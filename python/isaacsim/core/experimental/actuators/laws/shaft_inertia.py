"""Rotor that turns with a shaft of several joints, which no armature of single joints is: G·q reflects it as GᵀJG.

    τ_e = I·(v − v′)/h − f′                             what else turns the shaft, as the step before shows
    w⁺  = (J·w + I·v + h·(τ + τ_e))/(J + I)             velocity after the step, of rotor and shaft
    f   = I·(w⁺ − v)/h − τ_e                            effort at the joints: J·w⁺ = J·w + h·(τ − f)

v is the velocity of the shaft, w that of its rotor of inertia J, τ the effort of the motor, I the coupled inertia
(`coupling.py`) of shafts with such laws, whose inverse mass matrix is G·M⁻¹·Gᵀ, h the physics step; v′ and f′ are those
of the step before. What changes from step to step is known a step late and made good in the next one, so the momentum
of rotor and joints is exact and energy does not grow, however heavy the rotor is, with an I of at most the true one.
After a reset w and v′ are v, and f′ is τ. Edges: without inertia the effort is unchanged; an I that is not known gives
NaN, which the plan's guard turns into zero and a fault.
Source: an inelastic impact of two masses in each step (Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical
Systems, 2008), with the load of the step before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.shaft import ShaftInertiaConfig
from .contract.base import Shaft
from .contract.friction_step import known_inertia
from .contract.law import UNSET, started
from .contract.ranges import usable


@wp.func
def shaft_inertia_prepare(inertia: float, assumed_inertia: float):
    """Return the parameters, NaN for an inertia out of range."""
    return usable(inertia), assumed_inertia


@wp.func
def shaft_inertia_effort(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    shaft_inertia: float,
    rotor_velocity: float,
    previous_velocity: float,
    previous_effort: float,
    inertia: float,
    assumed_inertia: float,
):
    """Return the effort of the shaft [N·m or N], the velocities of rotor and shaft, and that effort."""
    known = known_inertia(shaft_inertia, assumed_inertia)
    rotor = started(rotor_velocity, velocity)
    before = started(previous_effort, effort)
    # as it would be without the rotor
    wanted = velocity + (velocity - started(previous_velocity, velocity))
    inverse = 1.0 / (inertia + known)
    heavy = inertia * inverse
    light = known * inverse if inertia > 0.0 else 1.0
    found = light * effort + heavy * before + heavy * known * ((rotor - wanted) * (1.0 / dt))
    return found, heavy * rotor + light * wanted + dt * inverse * (effort - before), velocity, found


class ShaftInertia(Shaft):
    """Rotors of `N` shafts.

    Args:
        inertia: Inertia of the rotor at the shaft [kg·m² or kg], shape `(N,)`.
        assumed_inertia: Inertia of the shaft without it [kg·m² or kg] where the simulator does not provide it, shape
            `(N,)`.
    """

    CONFIG = ShaftInertiaConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("inertia", "assumed_inertia")
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 1.0)
    STATE: ClassVar[tuple[str, ...]] = ("rotor_velocity", "previous_velocity", "previous_effort")
    START: ClassVar[Mapping[str, float]] = dict.fromkeys(STATE, UNSET)
    ASKS: ClassVar[tuple[str, ...]] = ("shaft_inertia",)
    PREPARE = shaft_inertia_prepare
    LAW = shaft_inertia_effort
