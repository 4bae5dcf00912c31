"""Cogging: an effort that repeats with the position, as magnets make it that hold on to slots; ripple of the torque.

    effort⁺ = effort·(1 + ripple·cos(ripple_periods·q + ripple_phase)) + amplitude·sin(periods·q + phase)

Over a whole period its work is zero; that of the ripple at a constant current. A motor with p pole pairs before a gear
of ratio N has ripple of 6·p·N periods: of the six steps of block commutation, or of harmonics of its back-EMF. Edges:
angles from 2²⁴ rad on, where floats are 2 rad apart, have no place in a period: they count as 0. Source: the actuator
`dcmotor` of MuJoCo 3.9, attribute `cogging`, with the same sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.configs import CoggingConfig
from .contract.base import Passive, resolved_scalars
from .contract.functions import sin


@wp.func
def wave(periods: float, position: float, phase: float) -> float:
    """Return the sine of an angle, 0 where it is too far for a place in its period."""
    angle = periods * position + phase
    far = (wp.abs(angle) >= 16777216.0) and wp.isfinite(angle)
    return sin(0.0 if far else angle)


@wp.func
def cogging(
    effort: float,
    position: float,
    velocity: float,
    amplitude: float,
    periods: float,
    phase: float,
    ripple: float,
    ripple_periods: float,
    ripple_phase: float,
) -> float:
    """Return `effort` [N·m or N] with the cogging and its ripple added."""
    rippled = ripple * wave(ripple_periods, position, ripple_phase + 1.5707963267948966) if ripple != 0.0 else 0.0
    pushed = amplitude * wave(periods, position, phase)
    return effort + effort * rippled + pushed if ripple != 0.0 else effort + pushed


class PassiveCogging(Passive):
    """Cogging of `N` joints.

    Args:
        amplitude: Largest effort [N·m or N], shape `(N,)`.
        periods: Periods per turn of the joint, which are radians per radian or per metre, shape `(N,)`.
        phase: Phase at position zero [rad], shape `(N,)`.
        ripple: Largest change of the effort of the motor, as a share of it, shape `(N,)`.
        ripple_periods: Its periods per turn of the joint, shape `(N,)`.
        ripple_phase: Its phase at position zero [rad], shape `(N,)`.

    Raises:
        TypeError: An array is missing.
        ValueError: The arrays differ in shape.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("amplitude", "periods", "phase", "ripple", "ripple_periods", "ripple_phase"),
    )
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0,) * 6
    USUAL: ClassVar[Mapping[str, float]] = {"ripple": 0.0, "ripple_periods": 0.0, "ripple_phase": 0.0}
    LAW = cogging

    @classmethod
    def resolve_arguments(cls, args: dict[str, object]) -> dict[str, object]:
        """Fill each value with its default where absent and check it."""
        return resolved_scalars(CoggingConfig, args)
