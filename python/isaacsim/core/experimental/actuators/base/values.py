"""Arrays given by users: numbers, float32 rows, and checked indices; values by key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeAlias, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

from .errors import shown
from .untraced import refuse_traced

# largest number of entries of a range that is converted to an array
_LONGEST = 100_000_000
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class SupportsNumpy(Protocol):
    """An array with a method `numpy()`, of Warp or Torch for example."""

    def numpy(self) -> np.ndarray:
        """Return it as a NumPy array."""
        ...


ArrayLike: TypeAlias = npt.ArrayLike | SupportsNumpy
"""Scalars, lists and arrays of any library."""
Indices: TypeAlias = ArrayLike | None
"""Indices or a boolean mask; None means all."""


def as_numpy(values: ArrayLike) -> np.ndarray:
    """Return scalars, lists, NumPy or Warp arrays as a NumPy array."""
    if isinstance(values, range) and len(values) > _LONGEST:
        raise ValueError(f"{values!r}: has more than {_LONGEST} entries. Give an array of those that are meant.")
    # `is_masked` looks at every entry
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{shown(values)}: has masked entries, which have no value. Fill them, or leave them out.")
    if not isinstance(values, np.ndarray):
        refuse_traced(values)
    try:
        return np.asarray(getattr(values, "numpy", lambda: values)())
    except ValueError:
        raise ValueError(f"{shown(values)}: must be an array. Give rows of one length.") from None


def as_numbers(values: ArrayLike, what: str) -> np.ndarray:
    """Return scalars, lists, NumPy or Warp arrays as a NumPy array of numbers."""
    array = as_numpy(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} = {shown(values)}: must be numbers, not {array.dtype}. Correct the values.")
    return array


def is_number(value: object) -> TypeGuard[float]:
    """Return True for an integer or a float, and False for a flag."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def shortest(value: float) -> float:
    """Return the number of fewest digits that is the float32 next to a number; itself beyond single precision."""
    number = float(value)
    with np.errstate(over="ignore"):
        single = np.float32(number)
    return number if np.isinf(single) or not single else float(str(single))


def as_integers(values: ArrayLike, what: str) -> np.ndarray:
    """Return an integer, a list or an array of them as a NumPy array of one dimension."""
    array = np.atleast_1d(as_numpy(values))
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{what} indices = {shown(values)}: must be integers, a list of them, or a boolean mask.")
    if array.size > _LONGEST:
        raise ValueError(f"{what} indices: {array.size} of them: must be at most {_LONGEST}. Give those meant.")
    return array


def resolve_indices(indices: Indices, count: int, what: str) -> np.ndarray:
    """Return indices as int64; None means all, a boolean array of length `count` is a mask."""
    if indices is None:
        return np.arange(count)
    array = np.atleast_1d(as_numpy(indices))
    if array.dtype == bool:
        if array.shape != (count,):
            raise ValueError(f"{what} mask has shape {array.shape}: must be ({count},). Give one flag per entry.")
        return np.flatnonzero(array)
    array = as_integers(array, what)
    wrong = array[(array < 0) | (array >= count)]
    if wrong.size:
        raise ValueError(f"{what} index {wrong[0]}: must be in 0 … {count - 1}. There are {count}.")
    return array.astype(np.int64)


def broadcast(values: ArrayLike, shape: tuple[int, ...], what: str, *, infinite: bool = False) -> np.ndarray:
    """Return finite float32 values of the given shape, broadcast as NumPy does; `infinite` lets ±inf pass."""
    array = as_numbers(values, what)
    if array.shape == shape and array.dtype == np.float32 and np.isfinite(array).all():
        return array
    try:
        # before anything is copied, for an array that does not fit may be of any size
        np.broadcast_to(array, shape)
        # wide enough to see what float32 cannot hold
        array = np.broadcast_to(array if array.dtype == np.float32 else array.astype(np.float64), shape)
    except ValueError as error:
        raise ValueError(
            f"{what} has shape {array.shape}: must fit {shape}, that of the indices given ({error})."
        ) from None
    # not by np.errstate: unclosed wrappers come here in __del__, amid whatever the collector interrupted, and
    # to enter one errstate within the entering of another crashes CPython
    fits = np.abs(array) <= np.finfo(np.float32).max
    if infinite:
        fits |= np.isinf(array)
    if not fits.all():
        at = tuple(int(i) for i in np.argwhere(~fits)[0])
        where = f"{what}[{at[0]}, {at[1]}]"
        raise ValueError(f"{where} = {array[at]}: must be finite in single precision. Correct the value.")
    return array.astype(np.float32, copy=False)


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """The values of each key, in the order of the pairs."""
    groups: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
