"""Least squares of functions that are rough in the small, and whose Jacobian comes with their value.

Where a joint sticks and slips, its error is rough: near the best values it rises with steps that should make it fall,
which a trust region answers with shorter and shorter steps. So the descent ends where the best step of its linear
model promises less than a share of the sum of squares, and takes its step without another evaluation; and after a
step that failed where that promise is little.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.extras import needs

Evaluated = tuple[np.ndarray, np.ndarray]
"""Residuals `(points,)`, and their Jacobian `(points, parameters)`."""

# share of the sum of squares below which a broken promise is roughness
_ROUGH = 1e-3
# distance of a start from the ends of its range, of the range, and that up to which a value is at an end
_INSIDE, _AT_END = 1e-9, 1e-3
# change of all parameters, of their size, at which a descent ends, and its largest number of evaluations
_STILL, _MOST = 1e-7, 60


@dataclass(frozen=True, eq=False)
class Box:
    """Ranges of parameters, arrays of shape `(parameters,)`."""

    lower: np.ndarray
    upper: np.ndarray
    scale: np.ndarray


@dataclass(frozen=True, eq=False)
class Least:
    """Minimum of a sum of squares: parameters, residuals there, and their Jacobian at the last evaluation."""

    x: np.ndarray
    residuals: np.ndarray
    jacobian: np.ndarray


def least_squares(function: Callable[[np.ndarray], Evaluated], start: np.ndarray, box: Box, tolerance: float) -> Least:
    """Return where the sum of squares of a function in a box is smallest, up to a share of it, the tolerance."""
    with needs("identification", "identify"):
        from scipy.optimize import least_squares as trust_region
    inside = _INSIDE * np.minimum(1.0, box.upper - box.lower)
    descent = _Descent(function, box, tolerance)
    try:
        found: Any = trust_region(
            descent.residuals,
            np.clip(start, box.lower + inside, box.upper - inside),
            jac=descent.jacobian,  # type: ignore[arg-type]
            bounds=(box.lower, box.upper),
            x_scale=box.scale,
            ftol=tolerance,
            xtol=_STILL,
            max_nfev=_MOST,
        )
    except _EnoughError as enough:
        return enough.least
    return Least(found.x, found.fun, found.jac)


def gain(residuals: np.ndarray, jacobian: np.ndarray) -> float:
    """Return by how much the best step of a linear model makes the sum of squares smaller."""
    slopes = jacobian.T @ residuals
    return float(slopes @ np.linalg.pinv(jacobian.T @ jacobian, hermitian=True) @ slopes)


class _EnoughError(Exception):
    """Ends a descent from within."""

    def __init__(self, least: Least) -> None:
        super().__init__()
        self.least = least


class _Descent:
    """Functions of a trust region: residuals where it tries a step, and the Jacobian where it took one."""

    def __init__(self, function: Callable[[np.ndarray], Evaluated], box: Box, tolerance: float) -> None:
        self._function, self._box, self._tolerance = function, box, tolerance
        # last evaluation, and that of the last step that was taken
        self._last: tuple[np.ndarray, Evaluated] | None = None
        self._taken: tuple[np.ndarray, Evaluated] | None = None
        # share of the sum of squares that the linear model promises there, and whether a step from there failed
        self._promised, self._has_tried = math.inf, False

    def residuals(self, x: np.ndarray) -> np.ndarray:
        """Return the residuals after a step."""
        if self._taken is not None:
            before, (residuals, jacobian) = self._taken
            if self._has_tried and self._promised < _ROUGH:
                raise _EnoughError(Least(before, residuals, jacobian))
            if self._promised < self._tolerance:
                raise _EnoughError(Least(x.copy(), residuals + jacobian @ (x - before), jacobian))
            self._has_tried = True
        return self._evaluated(x)[0]

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return the Jacobian where a step was taken."""
        residuals, jacobian = self._evaluated(x)
        self._taken, self._has_tried = (x.copy(), (residuals, jacobian)), False
        # what the best step of the linear model gains, of the sum of squares: a short step may promise less
        slopes, width = jacobian.T @ residuals, _AT_END * (self._box.upper - self._box.lower)
        held = np.where(slopes > 0.0, x - self._box.lower, self._box.upper - x) < width
        gained, cost = gain(residuals, jacobian[:, ~held] * self._box.scale[~held]), residuals @ residuals
        self._promised = float(gained / cost) if cost > 0.0 else 0.0
        return jacobian

    def _evaluated(self, x: np.ndarray) -> Evaluated:
        if self._last is None or not np.array_equal(self._last[0], x):
            self._last = x.copy(), self._function(x)
        return self._last[1]
