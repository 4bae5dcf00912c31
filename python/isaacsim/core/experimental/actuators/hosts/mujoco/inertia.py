"""Inertias that no body has, made the nearest ones that a body can have."""

from __future__ import annotations

import numpy as np

# the smallest principal moment of a repaired inertia, in parts of the largest, and in [kg m²]
_LEAST, _LEAST_OF_ALL = 1e-6, 1e-9
# of moments, in parts of the largest; and what MuJoCo takes for 0 [kg m²]
_ROUNDING, _ZERO = 1e-12, 1e-14


def repaired(inertia: np.ndarray) -> tuple[np.ndarray, float]:
    """Return an inertia with principal moments A, B, C > 0 and A + B ≥ C, and the largest change of a moment [kg m²].

    The principal axes stay. What is right already is returned as it is, with change 0.
    """
    moments, axes = np.linalg.eigh(inertia)
    # rounding is no fault, and does not make a moment of 0 another
    if moments[0] > max(_ROUNDING * moments[2], _ZERO) and moments[0] + moments[1] >= moments[2] * (1 - _ROUNDING):
        return inertia, 0.0
    new = np.maximum(moments, max(_LEAST * float(np.abs(moments).max()), _LEAST_OF_ALL))
    # the nearest point of the plane A + B = C, and a little inside
    lacks = max(new[2] * (1 + 1e-9) - new[0] - new[1], 0.0) / 3
    new = new + lacks * np.array([1.0, 1.0, -1.0])
    return axes * new @ axes.T, float(np.abs(new - moments).max())
