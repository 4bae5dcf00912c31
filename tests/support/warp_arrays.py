"""Warp arrays of the CPU from numbers."""

import numpy as np
import warp as wp


def floats(values) -> wp.array:
    return wp.array(np.asarray(values, np.float32), dtype=wp.float32, device="cpu")


def indices(values) -> wp.array:
    return wp.array(np.asarray(values), dtype=wp.uint32, device="cpu")


def listed(*values: float) -> wp.array:
    return floats(values)
