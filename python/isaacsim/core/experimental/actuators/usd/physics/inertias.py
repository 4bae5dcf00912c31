"""Inertias that no body can have, repaired by the smallest change."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import UnsupportedSceneError

# mass [kg] and inertia [kg·m²] of a link that moves and has none
SCREW = 1e-3, 1e-6
# principal moments are at least that part of the largest one, and that [kg·m²]
_LEAST, _LEAST_OF_ALL = 1e-6, 1e-9
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
    a, b, c = moments.tolist()
    # rounding does not make a moment of 0 another, and MuJoCo takes what is smaller than 1e-15 for 0
    least = max(_LEAST * largest, _LEAST_OF_ALL) if a <= max(1e-12 * largest, 1e-14) else a
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


def tell_of_inertias(where: str, changed: Mapping[str, float], strict: bool, *, stacklevel: int) -> None:
    """Warn of inertias that were repaired, by body with the relative change, or refuse them.

    Raises:
        UnsupportedSceneError: `strict` is set, and there are some.
    """
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


def warn_of_lost_inertias(where: str, links: Sequence[str], remedy: str, *, stacklevel: int) -> None:
    """Warn of links that state an inertia and no mass, which simulators have only with a mass.

    Args:
        where: The file, or nothing where the links are paths.
        links: Their names.
        remedy: How to state a mass.
        stacklevel: Of the warning, from here.
    """
    if links:
        warnings.warn(
            f"{where}links without mass lose the inertia that they state: {', '.join(links)}. {remedy}",
            stacklevel=stacklevel + 1,
        )
