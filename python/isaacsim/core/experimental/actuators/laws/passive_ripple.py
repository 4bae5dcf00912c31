"""Ripple of the torque of a motor, which repeats with the position and grows with the current.

    effort⁺ = effort·(1 + amplitude·cos(periods·q + phase))

At a constant effort its work over a whole period is zero. A motor with p pole pairs before a gear of ratio N has ripple
of 6·p·N periods: of the six steps of block commutation, or of harmonics of its back-EMF. Edges: angles from 2²⁴ rad on,
where floats are 2 rad apart, have no place in a period: they count as a quarter of one, without ripple.
Source: D. C. Hanselman, Brushless Permanent Magnet Motor Design, 2003, ch. 9.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.configs import RippleConfig
from .contract.base import Passive
from .contract.functions import angle_or, cos


@wp.func
def ripple(effort: float, position: float, velocity: float, amplitude: float, periods: float, phase: float) -> float:
    """Return `effort` [N·m or N] with its ripple."""
    angle = periods * position + phase
    return effort + effort * (amplitude * cos(angle_or(angle, 1.5707963267948966)))


class PassiveRipple(Passive):
    """Ripple of the torque at `N` joints.

    Args:
        amplitude: Largest change of the effort, as a share of it, shape `(N,)`.
        periods: Periods per turn of the joint, which are radians per radian or per metre, shape `(N,)`.
        phase: Phase at position zero [rad], shape `(N,)`.
    """

    CONFIG = RippleConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("amplitude", "periods", "phase")
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0)
    LAW = ripple
