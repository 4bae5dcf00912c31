"""Ranges of the parameters of laws: NaN, which the plan's guard turns into a fault, for what is out of range."""

from __future__ import annotations

import warp as wp

LARGEST = wp.constant(3.4028234663852886e38)
"""The largest finite float32."""


@wp.func
def usable(value: float) -> float:
    """Return a parameter that is finite and not negative; NaN for others."""
    return value if wp.isfinite(value) and (value >= 0.0) else wp.nan


@wp.func
def positive(value: float) -> float:
    """Return a parameter that is finite and greater than zero; NaN for others."""
    return value if value > 0.0 and value <= LARGEST else wp.nan


@wp.func
def positive_or_infinite(value: float) -> float:
    """Return a parameter that is greater than zero; NaN for others."""
    return value if value > 0.0 else wp.nan


@wp.func
def limit_of(value: float) -> float:
    """Return a limit that is not negative, which may be infinite; NaN for others."""
    return value if value >= 0.0 else wp.nan


@wp.func
def finite_inverse(value: float) -> float:
    """Return the inverse of a number, which is at most the largest float32."""
    inverse = 1.0 / value
    return LARGEST if inverse > LARGEST else inverse
