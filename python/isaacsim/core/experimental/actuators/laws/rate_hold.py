"""Rate of a controller: its effort is held between the steps in which it is due.

    n = decimation, or 1/(frequency·dt), at least 1         physics steps in a period of n·dt
    due in the first step after a reset, and when the clock has passed n steps; the clock goes on from the rest

What comes before the controller, and the controller, run in steps that are due, with n·dt as their step.

Edges: a period within 1e-6 of a whole number of steps is that number, so that dt in single precision does not shift it.
With a `phase` the clock starts with that part of a period; the first step is due in any case.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import warp as wp

from ..specs.rate import RateConfig
from .contract.base import Rate
from .contract.functions import nearest
from .contract.law import UNSET

SAME = wp.constant(1.0e-6)
"""Relative difference below which a period is a whole number of steps."""
EARLY = wp.constant(1.0e-3)
"""Part of a step by which a controller may run early; the clock keeps the rest."""
LONGEST = wp.constant(4194304.0)
"""Largest number of steps in a period."""


@wp.func
def rate_prepare(decimation: float, frequency: float, phase: float, dt: float):
    """Return the steps of a period, and those that the clock starts with."""
    found = 1.0 / (frequency * dt) if frequency > 0.0 else decimation
    bounded = found if found < LONGEST else LONGEST
    near = nearest(bounded)
    snapped = near if wp.abs(bounded - near) < SAME * bounded else bounded
    steps = snapped if snapped > 1.0 else 1.0
    return steps, phase * steps


@wp.func
def is_due(dt: float, clock: float, held: float, steps: float, start: float) -> float:
    """Return 1 if the controller is due, else 0."""
    due = wp.isnan(clock) or clock + 1.0 >= steps - EARLY
    return 1.0 if due else 0.0


@wp.func
def hold(
    effort: float, position: float, velocity: float, dt: float, clock: float, held: float, steps: float, start: float
):
    """Return the effort of a controller that is due, else the held one; the clock; and the effort to hold."""
    first = wp.isnan(clock)
    due = first or clock + 1.0 >= steps - EARLY
    after = start if first else (clock + 1.0 - steps if due else clock + 1.0)
    acting = effort if due else held
    return acting, after, acting


def steps_in_period(decimation: np.ndarray, frequency: np.ndarray, dt: float) -> np.ndarray:
    """Return the number of physics steps in a period, at least 1 and not always whole; shaped like the arguments."""
    asked = np.divide(1.0, frequency * dt, out=np.array(decimation, float), where=frequency > 0.0)
    return np.maximum(asked, 1.0)


class RateHold(Rate):
    """Rates of `N` controllers.

    Args:
        decimation: Number of physics steps from one computation to the next, shape `(N,)`.
        frequency: Computations per second [Hz], in place of it, shape `(N,)`; 0 for none.
        phase: Part of a period that has passed at a reset, from 0 to 1, shape `(N,)`.
    """

    CONFIG = RateConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("decimation", "frequency", "phase")
    NEUTRAL: ClassVar[tuple[float, ...]] = (1.0, 0.0, 0.0)
    STATE: ClassVar[tuple[str, ...]] = ("clock", "held")
    START: ClassVar[Mapping[str, float]] = {"clock": UNSET}
    PREPARE = rate_prepare
    LAW = hold
    TICK = is_due
