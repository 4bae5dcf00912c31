"""The memory of an array on the CPU, as NumPy's and as Warp's."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp


def numpy_view(array: Any) -> np.ndarray:
    """Return a NumPy array over the same memory: itself where it is one."""
    return array.numpy() if isinstance(array, wp.array) else array


def warp_view(array: Any) -> wp.array:
    """Return a Warp array over the same memory: itself where it is one, on whatever device."""
    if isinstance(array, wp.array):
        return array
    return wp.array(array, dtype=wp.dtype_from_numpy(array.dtype), device="cpu", copy=False)
