"""Names of joint axes; needs no USD."""

from __future__ import annotations


def is_angular(axis: str) -> bool:
    """Whether an axis turns."""
    return axis == "angular" or axis.startswith("rot")
