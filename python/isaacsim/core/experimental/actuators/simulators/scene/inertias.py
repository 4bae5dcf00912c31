"""Repair of inertias that no body can have, by the smallest change."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from ...base.errors import UnsupportedSceneError

# mass [kg] and inertia [kg·m²] of a link that moves and has no mass
SCREW = 1e-3, 1e-6
# minimum of principal moments, relative to the largest one and absolute [kg·m²]
_LEAST, _LEAST_OF_ALL = 1e-6, 1e-9
# margin of the triangle inequality against rounding
_MARGIN = 1e-9
# relative changes below are rounding
ROUNDING = 1e-5


def repaired(inertia: np.ndarray) -> tuple[np.ndarray, float]:
    """The possible inertia that is closest to a matrix, and the largest relative change of a principal moment.

    Principal moments of a possible inertia are positive, and none is larger than the sum of the others. Changes are
    relative to the largest moment.
    """
    even = (inertia + inertia.T) / 2
    moments, axes = np.linalg.eigh(even)
    largest = float(np.abs(moments).max())
    a, b, c = moments.tolist()
    # a moment of 0 may be off by rounding, and MuJoCo takes moments below 1e-15 for 0
    least = max(_LEAST * largest, _LEAST_OF_ALL) if a <= max(1e-12 * largest, 1e-15) else a
    # the nearest triple whose largest is the sum of the others
    lack = max(c * (1 + _MARGIN) - a - b, 0.0)
    fixed = moments + lack / 3 * np.array([1.0, 1.0, -1.0])
    if fixed[0] < least:
        if b < least or c * (1 + _MARGIN) > least + b:
            b = max((b + c - least) / 2, least)
            c = (least + b) * (1 - _MARGIN)
        fixed = np.array([least, b, c])
    change = float(np.abs(fixed - moments).max()) / max(largest, _LEAST_OF_ALL)
    return (even, 0.0) if change == 0.0 else (axes @ np.diag(fixed) @ axes.T, change)


def report_inertias(where: str, changed: Mapping[str, float], strict: bool, *, stacklevel: int) -> None:
    """Warn of repaired inertias, relative changes by body; refuse them by an `UnsupportedSceneError` if `strict`."""
    if not changed:
        return
    named = ", ".join(f"{body} ({change:.2g})" for body, change in changed.items())
    rule = "principal moments must be > 0, and none larger than the sum of the others"
    if strict:
        raise UnsupportedSceneError(
            f"{where}inertias that no body can have: {named}, in brackets by what part of the largest moment they are "
            f"off: {rule}. Correct them, or pass strict_inertia=False."
        )
    warnings.warn(
        f"{where}inertias that no body can have were changed to the nearest ones: {named}, in brackets by what part of "
        f"the largest moment: {rule}. Correct them, or pass strict_inertia=True to have them refused.",
        stacklevel=stacklevel,
    )
