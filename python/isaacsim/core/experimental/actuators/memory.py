"""The memory of an array: on the CPU as NumPy's and as Warp's, and how an array lies in it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp

Array = np.ndarray | wp.array
"""An array of NumPy or Warp."""


def numpy_view(array: Any) -> np.ndarray:
    """Return a NumPy array over the same memory: itself where it is one."""
    return array.numpy() if isinstance(array, wp.array) else array


def lie_of(array: Any) -> Any:
    """Return address, type, shape and strides of an array of NumPy or Torch, which may change in place; else None."""
    if isinstance(array, np.ndarray):
        return array.__array_interface__["data"][0], array.dtype, array.shape, array.strides
    if hasattr(array, "data_ptr"):
        return array.data_ptr(), array.dtype, array.shape, array.stride()
    return None


def warp_view(array: Any) -> wp.array:
    """Return a Warp array over the same memory: itself where it is one, on whatever device."""
    if isinstance(array, wp.array):
        return array
    return wp.array(array, dtype=wp.dtype_from_numpy(array.dtype), device="cpu", copy=False)


def overlap(one: object, other: object) -> bool:
    """Return True if two arrays of NumPy or Warp overlap in memory without being the same array."""
    first, second = _placed(one), _placed(other)
    return np.shares_memory(first, second) and lie_of(first) != lie_of(second)


def _placed(array: object) -> np.ndarray:
    """An array that lies where another does, on whatever device; not to be read."""
    if isinstance(array, wp.array) and array.device != wp.get_device("cpu"):
        return np.asarray(SimpleNamespace(__array_interface__=array.__cuda_array_interface__))
    return numpy_view(array)


def on_host(array: Array) -> np.ndarray:
    """Return the numbers of an array, copied from a GPU."""
    return array.numpy() if isinstance(array, wp.array) else array
