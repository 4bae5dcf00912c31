"""Two values of a file that mean the same: whether they agree, and how it is said that they do not."""

from __future__ import annotations

import math

# relative tolerance of equal numbers: files have single precision, and degrees
_SAME = 1e-4
# relative: numbers that were converted once too often, by hand too
_DEGREES, _NEARLY = math.degrees(1.0), 0.01


def are_same(first: float, second: float) -> bool:
    """Return True if two numbers are equal within single precision."""
    return first == second or math.isclose(first, second, rel_tol=_SAME)


def contradiction(subject: str, used: str, other: str, first: float, second: float) -> str:
    """Return a message on two values that differ."""
    ratio = abs(first / second) if first and second else 1.0
    by_degrees = any(abs(factor / _DEGREES - 1.0) < _NEARLY for factor in (ratio, 1.0 / ratio if ratio else 1.0))
    words = ", by a factor of 57.3 = 180/π: one was meant per degree, the other per radian" if by_degrees else ""
    return (
        f"<{subject}>{used} and {other} (SI) mean the same and differ{words}. The former is read: correct one of them."
    )
