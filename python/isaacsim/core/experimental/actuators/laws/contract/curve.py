"""Curves over the position, velocity or speed of a joint: straight lines between rows, the end rows hold outside.

    value(x) = value_k + (x − point_k)·slope_k     k  the last row passed, x > point_k; before the first row slope 0

A row is (point, value, slope), the point in the unit of the input of the curve, see `OVER`. An evaluation starts with
the point and value of the first row and a slope of 0, calls `curve_row` for each row, and `curve_value` at the end.
Where two rows share a point, the first of them holds at that point. An input that is not finite gives NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import numpy as np
import warp as wp

OVER: Final = ("position", "velocity", "speed")
"""Inputs of curves: position [rad or m], velocity [rad/s or m/s], and speed, the magnitude of velocity."""


@wp.func
def curve_row(x: float, point: float, value: float, slope: float, row_point: float, row_value: float, row_slope: float):
    """Return point, value and slope of the row if `x` is beyond its point, otherwise those of the previous row."""
    passed = x > row_point
    return row_point if passed else point, row_value if passed else value, row_slope if passed else slope


@wp.func
def curve_value(x: float, point: float, value: float, slope: float) -> float:
    """Return the value at `x`, on the line that begins at `point`."""
    return value + (x - point) * slope


@wp.func
def curve_at(x: float, rows: wp.array2d[float], first: int, count: int) -> float:
    """Return the value at `x` of a curve of `count` prepared rows from row `first` on."""
    point = rows[first, 0]  # pyright: ignore
    value = rows[first, 1]  # pyright: ignore
    slope = wp.float32(0.0)
    for row in range(first, first + count):
        point, value, slope = curve_row(x, point, value, slope, rows[row, 0], rows[row, 1], rows[row, 2])  # pyright: ignore
    return curve_value(x, point, value, slope)  # pyright: ignore


class Curved(Protocol):
    """A component with curves."""

    def curve(self, name: str) -> tuple[Sequence[float], Sequence[float]]:
        """Return points and values of a curve."""
        ...


def curves_over(owner: str, curves: object) -> Mapping[str, str]:
    """Return the input of each curve of a class, by name of the curve; names without an input run over the position."""
    if isinstance(curves, tuple):
        curves = dict.fromkeys(curves, "position")
    if not isinstance(curves, Mapping) or not set(curves.values()) <= set(OVER):
        raise TypeError(
            f"{owner}.CURVES = {curves!r}: must name what each curve runs over, one of {list(OVER)}. Write "
            "{'limit': 'position'}."
        )
    return curves


def prepare_curve(points: Sequence[float], values: Sequence[float]) -> np.ndarray:
    """Return the rows (point, value, slope) of a curve, float32 `(count, 3)`; the last row is flat."""
    rows = np.zeros((len(points), 3), np.float32)
    rows[:, 0], rows[:, 1] = points, values
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        widths, heights = np.diff(rows[:, :2].astype(np.float64), axis=0).T
        slopes = (heights / widths).astype(np.float32)
    # a step, and a slope that overflows, count as flat
    rows[:-1, 2] = np.where((widths > 0) & np.isfinite(slopes), slopes, 0)
    return rows


def rows_of(component: Curved, name: str) -> np.ndarray:
    """Return the prepared rows of a curve of a component."""
    points, values = (np.asarray(column, np.float64) for column in component.curve(name))
    with np.errstate(over="ignore"):
        marks = points.astype(np.float32)
    subject = f"{type(component).__name__}.curve({name!r})"
    if points.ndim != 1 or points.shape != values.shape or not len(points):
        raise ValueError(
            f"{subject} has shapes {points.shape} and {values.shape}: must be as many values as points, one at least. "
            "Return two lists."
        )
    if not np.isfinite(marks).all() or (np.diff(marks) < 0).any():
        raise ValueError(f"{subject} has points {points}: must be finite and not decrease. Sort them.")
    if np.isnan(values).any():
        raise ValueError(f"{subject} has values {values}: must be numbers. Correct or leave out those rows.")
    return prepare_curve(points.tolist(), values.tolist())
