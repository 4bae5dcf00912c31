"""Arrays of Warp on the CPU."""

from __future__ import annotations

import numpy as np
import warp as wp


def floats(values: np.ndarray) -> wp.array:
    """Return float32 numbers as an array of Warp."""
    return wp.array(values, dtype=wp.float32, device="cpu")


def same(value: float, count: int) -> wp.array:
    """Return a number, repeated."""
    return wp.full(count, value, dtype=wp.float32, device="cpu")


def indices(count: int) -> wp.array:
    """Return the indices 0, 1, … of actuators."""
    return wp.array(np.arange(count), dtype=wp.uint32, device="cpu")
