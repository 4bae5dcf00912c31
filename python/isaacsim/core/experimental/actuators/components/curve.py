"""Curves over the joint position: straight lines between rows, the end rows hold outside.

    value(q) = value_k + (q − point_k)·slope_k     k  the last row passed, q > point_k; before the first row slope 0

A row is (point [rad or m], value, slope). Whoever walks through the rows, of whatever machine, begins with the first
row's point and value and a slope of 0, calls `curve_row` for each row and `curve_value` at the end. Where two rows
share a point, the first of them holds at that very position. A position that is not finite gives NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp


@wp.func
def curve_row(
    position: float,
    point: float,
    value: float,
    slope: float,
    row_point: float,
    row_value: float,
    row_slope: float,
):
    """Return point, value and slope of a row that the position has passed; of the row before otherwise."""
    passed = position > row_point
    return row_point if passed else point, row_value if passed else value, row_slope if passed else slope


@wp.func
def curve_value(position: float, point: float, value: float, slope: float) -> float:
    """Return the value at a position, on the line that begins at `point`."""
    return value + (position - point) * slope


def prepare_curve(points: Sequence[float], values: Sequence[float]) -> np.ndarray:
    """Return the rows (point, value, slope) of a curve, float32 `(count, 3)`; the last row is flat."""
    rows = np.zeros((len(points), 3), np.float32)
    rows[:, 0], rows[:, 1] = points, values
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        widths, heights = np.diff(rows[:, :2].astype(np.float64), axis=0).T
        slopes = (heights / widths).astype(np.float32)
    # a step, and what is as good as one
    rows[:-1, 2] = np.where((widths > 0) & np.isfinite(slopes), slopes, 0)
    return rows
