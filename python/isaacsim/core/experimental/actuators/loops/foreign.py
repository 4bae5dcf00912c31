"""Arrays of other libraries as NumPy or Warp arrays over the same memory, and back, through DLPack.

None of these libraries is imported: a program with such an array has imported it.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import warp as wp

from ..base import native
from ..base.memory import Array, Tensor, lie_of, warp_view
from ..base.untraced import refuse_traced

_CPU = 1
# the core reads tensors by it; old versions of Torch lack it
_TABLE = "__dlpack_c_exchange_api__"


class AnyArray(Protocol):
    """An array of NumPy, Warp, Torch, JAX or another library with DLPack."""

    @property
    def shape(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def ndim(self) -> int: ...  # noqa: D102
    @property
    def __dlpack__(self) -> Callable[..., object]: ...


def library(array: object) -> str:
    """Return the top package of an array's class: `numpy`, `warp`, `torch`, `jaxlib`, …"""
    return _library_of(type(array))


@functools.cache
def _library_of(kind: type) -> str:
    # a subclass is still an array of the library
    owner = next((one for one in kind.__mro__ if "__dlpack__" in vars(one)), kind)
    return owner.__module__.partition(".")[0]


def is_immutable(array: object) -> bool:
    """Return True if an array cannot be written to, as those of JAX."""
    return library(array) in ("jax", "jaxlib")


def taken(array: Tensor, name: str) -> Tensor:
    """A NumPy array, or a Warp array on a GPU, over the memory of an array of any library.

    Torch tensors that require gradients are taken detached. A `ValueError`, which calls it `name`, says that it is no
    array, that its memory cannot be shared, or that JAX traces it.
    """
    if isinstance(array, np.ndarray | wp.array):
        return array
    if not hasattr(array, "__dlpack_device__"):
        refuse_traced(array, name)
        raise ValueError(
            f"{name} is a {type(array).__name__}: must be an array of NumPy, Warp, or a library with DLPack as Torch "
            "and JAX are. Convert it once, outside the loop."
        )
    try:
        if getattr(array, "requires_grad", False):
            array = array.detach()
        if int(array.__dlpack_device__()[0]) != _CPU:
            return wp.from_dlpack(array)
        # its own method returns a writable array with any version of DLPack
        return array.numpy() if library(array) == "torch" else np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"{name}: must be an array whose memory can be shared, of float32. {error}") from error


def viewed(array: object, shape: tuple[int, int]) -> np.ndarray:
    """Return a NumPy array over the memory of one of any library on the CPU, or of a memory view."""
    return (np.asarray(array) if isinstance(array, memoryview) else taken(array, "array")).reshape(shape)


def recognizer(given: Sequence[object]) -> Callable[..., bool]:
    """Return a function that returns True if called with these arrays, with their present memory layout."""
    if native.core is not None and all(library(one) != "torch" or hasattr(one, _TABLE) for one in given):
        return native.core.recognizer(tuple(given))
    layouts = [lie_of(one) for one in given]

    def recognize(*arrays: object) -> bool:
        return all(map(operator.is_, arrays, given)) and [lie_of(one) for one in arrays] == layouts

    return recognize


def copied_back(array: Array, like: Tensor) -> Tensor:
    """Return a copy of a NumPy or Warp array as one of the library that `like` is of, which has the array API."""
    if isinstance(array, wp.array):
        return given_back(wp.clone(array), like)
    # faster than DLPack, but on the default device, and faster than with a device
    made = like.__array_namespace__().asarray(array, copy=True)
    return made if made.device == like.device else given_back(array.copy(), like)


def given_back(array: object, like: object) -> Tensor:
    """Return a NumPy or Warp array as one of the library that `like` is of, over the same memory."""
    if isinstance(like, np.ndarray):
        return array
    if isinstance(like, wp.array):
        return warp_view(array)
    standard = getattr(like, "__array_namespace__", None)
    return (standard() if standard else sys.modules[library(like)]).from_dlpack(array)
