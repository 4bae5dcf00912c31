"""Continuous joints: the position target by the shorter way round.

    e    = q* − q + n·period             n  whole turns that were added in the step before
    n⁺   = n for |e| <= period/2 + hysteresis, else n − nearest(e/period)
    q*⁺  = q* + n⁺·period

The controller's error then is in (−π, π] for a period of 2π, up to the hysteresis that keeps the side of a joint about
half a turn away. q is what the sensor measures, so turns of an encoder, or of the target, need not be counted. The
other commands pass. After a reset n is that of the shorter way. Edges: beyond 2²² turns, or with parameters out of
range, the result is NaN, which is a fault.
Source: `angles::shortest_angular_distance` of ROS, whose sign at ±π changes with the rounding.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.command import WrapConfig
from .contract.base import Command
from .contract.functions import nearest
from .contract.law import UNSET, started
from .contract.ranges import positive, usable

MOST_TURNS = wp.constant(4194304.0)
"""Largest number of turns that `nearest` tells apart."""


@wp.func
def wrap_prepare(period: float, hysteresis: float):
    """Return the period, its inverse, and the largest error with which the side is kept."""
    return positive(period), 1.0 / positive(period), 0.5 * period + usable(hysteresis)


@wp.func
def wrapped(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    turns: float,
    period: float,
    per_period: float,
    most: float,
):
    """Return position target [rad or m] by the shorter way, velocity target, feedforward, and the turns added."""
    apart = position_target - position
    kept = nearest(started(turns, 0.0))
    error = apart + kept * period
    away = -nearest(apart * per_period)
    keeps = wp.abs(error) <= most and not wp.isnan(turns)
    added = kept if keeps else away
    known = added if wp.abs(added) < MOST_TURNS else wp.nan
    return position_target + known * period, velocity_target, feedforward, known


class CommandWrap(Command):
    """Continuous joints of `N` actuators.

    Args:
        period: Distance after which positions repeat [rad or m], shape `(N,)`.
        hysteresis: Error beyond half a period up to which the side is kept [rad or m], shape `(N,)`.
    """

    CONFIG = WrapConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("period", "hysteresis")
    NEUTRAL: ClassVar[tuple[float, ...]] = (1.0e30, 0.0)
    STATE: ClassVar[tuple[str, ...]] = ("turns",)
    START: ClassVar[Mapping[str, float]] = {"turns": UNSET}
    PREPARE = wrap_prepare
    LAW = wrapped
