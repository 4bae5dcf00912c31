"""Cogging: an effort that repeats with the position, as magnets make it that hold on to slots.

    effort⁺ = effort + amplitude·sin(periods·q + phase)

Over a whole period its work is zero. Edges: angles from 2²⁴ rad on, where floats are 2 rad apart, have no place in a
period: they count as 0. Source: the actuator `dcmotor` of MuJoCo 3.9, attribute `cogging`, with the same sign.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.configs import CoggingConfig
from .contract.base import Passive
from .contract.functions import angle_or, sin


@wp.func
def cogging(effort: float, position: float, velocity: float, amplitude: float, periods: float, phase: float) -> float:
    """Return `effort` [N·m or N] with the cogging added."""
    angle = periods * position + phase
    return effort + amplitude * sin(angle_or(angle, 0.0))


class PassiveCogging(Passive):
    """Cogging of `N` joints.

    Args:
        amplitude: Largest effort [N·m or N], shape `(N,)`.
        periods: Periods per turn of the joint, which are radians per radian or per metre, shape `(N,)`.
        phase: Phase at position zero [rad], shape `(N,)`.
    """

    CONFIG = CoggingConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("amplitude", "periods", "phase")
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0)
    LAW = cogging
