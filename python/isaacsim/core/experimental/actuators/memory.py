"""The memory of an array: on the CPU as NumPy's and as Warp's, and how an array lies in it."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp

_NUMBERS = itertools.count()

Array = np.ndarray | wp.array
"""An array of NumPy or Warp."""


def numpy_view(array: Any) -> np.ndarray:
    """Return a NumPy array over the same memory: itself where it is one."""
    return array.numpy() if isinstance(array, wp.array) else array


def apart(shape: int | tuple[int, ...], value: float, dtype: Any = np.float32) -> np.ndarray:
    """Return an array filled with `value`, which begins at another place of its memory page than the one before.

    A loop over many arrays that begin at the same place of their pages has them in the same few cache lines.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    # a multiple of the cache line, and of no large power of two
    place = next(_NUMBERS) * 7 * 64 % 4096
    memory = np.empty(size + 2 * 4096, np.uint8)
    start = (place - memory.ctypes.data) % 4096
    array = memory[start : start + size].view(dtype).reshape(shape)
    array[...] = value
    return array


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


def overlap(one: Any, other: Any) -> bool:
    """Return True if two arrays of NumPy or Warp overlap in memory without being the same array."""
    first, second = _placed(one), _placed(other)
    return np.shares_memory(first, second) and lie_of(first) != lie_of(second)


def _placed(array: Any) -> np.ndarray:
    """An array that lies where another does, on whatever device; not to be read."""
    if isinstance(array, wp.array) and array.device != wp.get_device("cpu"):
        return np.asarray(SimpleNamespace(__array_interface__=array.__cuda_array_interface__))
    return numpy_view(array)


def on_host(array: Array) -> np.ndarray:
    """Return the numbers of an array, copied from a GPU."""
    return array.numpy() if isinstance(array, wp.array) else array
