"""The memory of an array: on the CPU as NumPy's and as Warp's, and how an array lies in it."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import warp as wp

Array = np.ndarray | wp.array
"""An array of NumPy or Warp."""
Tensor: TypeAlias = Any
"""An array of any library, with the methods of its own: not all are installed where types are checked."""


_LINE, _PAGE = 64, 4096
# where in a page arrays start: five cache lines after the last one
_APART = itertools.cycle(5 * _LINE * number % _PAGE for number in range(_PAGE // _LINE))


def apart(shape: int | tuple[int, ...], value: float = 0, dtype: type = np.float32) -> np.ndarray:
    """Return an array full of a value, aligned to a cache line, that starts elsewhere in a page than the last ones.

    Large arrays of NumPy all start at the same place in a page. A loop over many of them would have the same elements
    of each compete for a few lines of the cache. Every library can use the alignment in place.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(size + _PAGE, np.uint8)
    first = (next(_APART) - raw.ctypes.data) % _PAGE
    array = raw[first : first + size].view(dtype).reshape(shape)
    array[...] = value
    return array


def numpy_view(array: Tensor) -> np.ndarray:
    """Return a NumPy array over the same memory: itself where it is one."""
    return array.numpy() if isinstance(array, wp.array) else array


def lie_of(array: Tensor) -> tuple[object, ...] | None:
    """Return address, type, shape and strides of an array of NumPy or Torch, which may change in place; else None."""
    if isinstance(array, np.ndarray):
        return array.__array_interface__["data"][0], array.dtype, array.shape, array.strides
    if hasattr(array, "data_ptr"):
        return array.data_ptr(), array.dtype, array.shape, array.stride()
    return None


def warp_view(array: Tensor) -> wp.array:
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
