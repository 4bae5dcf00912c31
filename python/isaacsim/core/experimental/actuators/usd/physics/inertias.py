"""Inertias that no body can have, repaired by the smallest change."""

from __future__ import annotations

import numpy as np

# principal moments are at least that part of the largest one
_LEAST = 1e-6
# by which the others are larger together, so that rounding does not undo it
_MARGIN = 1e-9
# relative changes below that are rounding
ROUNDING = 1e-5


def repaired(inertia: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the inertia that is closest to a matrix, and how far it is from it.

    Its principal moments are positive, and none is larger than the sum of the others.

    Args:
        inertia: 3 × 3.

    Returns:
        The inertia, and the largest change of a principal moment as part of the largest moment.
    """
    even = (inertia + inertia.T) / 2
    moments, axes = np.linalg.eigh(even)
    largest = float(np.abs(moments).max())
    if largest == 0.0:
        return even, 0.0
    fixed = np.maximum(moments, _LEAST * largest)
    if (lack := fixed[2] * (1 + _MARGIN) - fixed[0] - fixed[1]) > 0.0:
        # the nearest triple whose largest is the sum of the others
        fixed += lack / 3 * np.array([1.0, 1.0, -1.0])
    change = float(np.abs(fixed - moments).max()) / largest
    return (even, 0.0) if change == 0.0 else (axes @ np.diag(fixed) @ axes.T, change)
