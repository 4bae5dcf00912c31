"""Bindings of a step to signals and efforts: columns of row-major arrays, or flat arrays with index arrays.

Every engine takes both, and relies on `check`, the only place that validates arrays of the caller.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import warp as wp

from ...base.memory import Array, Tensor, numpy_view, warp_view

SIGNALS = ("positions", "velocities", "position_targets", "velocity_targets", "feedforward")
"""Names of the five inputs in errors, in their order."""

COLUMN_NAMES = (*SIGNALS, "efforts")
"""Default names of inputs and efforts in errors."""

_FLOAT, _INDEX = np.dtype(np.float32), np.dtype(np.uint32)
# largest index of each array on CUDA that was read, by identity
_largest_known: dict[int, tuple[weakref.ref[wp.array], int]] = {}


@dataclass(eq=False)
class Columns:
    """Signals in columns of row-major arrays; efforts are set, in the columns of the plan only.

    Inputs are positions, velocities, position targets, velocity targets and feedforward, NumPy or Warp, like the
    efforts float32 `(robots, DOFs)`.
    """

    columns: Sequence[int]  # of each slot
    inputs: Sequence[Tensor]
    efforts: Array
    names: Sequence[str] = COLUMN_NAMES  # of inputs and efforts in errors
    custom: Mapping[str, Array] = field(default_factory=dict)  # the caller's, `(robots, ·)`, already checked
    custom_first: int = 0  # their column that corresponds to the first of the other arrays
    is_numpy: bool = field(init=False, repr=False)  # all arrays are NumPy arrays
    _fits: tuple[int, int, wp.DeviceLike] | None = field(default=None, init=False, repr=False)
    _views: tuple[list[np.ndarray], np.ndarray, list[int]] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.is_numpy = all(isinstance(one, np.ndarray) for one in (*self.inputs, self.efforts))

    def numpy_views(self) -> tuple[list[np.ndarray], np.ndarray, list[int]]:
        """Inputs and efforts as NumPy arrays, and the columns."""
        if self._views is None:
            self._views = [numpy_view(one) for one in self.inputs], numpy_view(self.efforts), list(self.columns)
        return self._views

    def warp_views(self) -> tuple[list[wp.array], list[wp.array]]:
        """Inputs, and efforts, as arguments of a kernel."""
        return [warp_view(one) for one in self.inputs], [warp_view(self.efforts)]

    def check(self, num_robots: int, num_slots: int, device: wp.DeviceLike) -> None:
        """Raise for arrays that a step cannot read or write in place; arrays are checked once."""
        if self._fits == (num_robots, num_slots, device):
            return
        if len(self.inputs) != len(SIGNALS):
            _refuse("inputs", f"five arrays ({', '.join(SIGNALS)})")
        if len(self.columns) != num_slots:
            _refuse(f"{len(self.columns)} columns", f"{num_slots}, one per slot")
        for name, array in zip(self.names, (*self.inputs, self.efforts), strict=True):
            shape, strides = _checked(name, array, _FLOAT, device, output=array is self.efforts)
            if len(shape) != 2 or shape[0] != num_robots:
                _refuse(f"{name} has shape {shape}", f"(robots, DOFs) with {num_robots} robots")
            _check_rows(name, shape, strides, output=array is self.efforts)
            for column in self.columns:
                if not 0 <= column < shape[1]:
                    _refuse(f"column = {column}", f"one of the {shape[1]} columns of {name}")
        if len(set(self.columns)) != len(self.columns):
            _refuse(f"columns = {list(self.columns)}", "all different")
        self._fits = num_robots, num_slots, device


@dataclass(eq=False)
class Indices:
    """Signals in flat arrays, read with index arrays; efforts are added to the array.

    Inputs are positions, velocities, position targets, velocity targets and feedforward, which may be None, float32
    `(·,)`, NumPy or Warp. Index arrays are uint32 `(robots · slots,)`, robot-major. Custom arrays of the caller have
    the layout of velocities; None for a missing one.
    """

    inputs: Sequence[Tensor]
    indices: Sequence[Array]
    efforts: Array  # float32 `(·,)`
    effort_indices: Array
    computed: Array | None = None  # efforts before the limits are added, at the same indices
    label: str = ""  # of the owner in errors
    names: Sequence[str] = (*SIGNALS, "efforts", "computed_efforts")
    index_names: Sequence[str] = (*(f"indices of {name}" for name in SIGNALS), "effort_indices")
    custom: Mapping[str, Array | None] = field(default_factory=dict)
    # each index array, on the CPU as NumPy array; name and length of the shortest array that it indexes
    _reads: list[tuple[Array, str, float]] = field(default_factory=list, init=False, repr=False)

    def check(self, num_robots: int, num_slots: int, device: wp.DeviceLike) -> None:
        """Raise for arrays that a step cannot read or write in place, and indices beyond them."""
        if not len(self.inputs) == len(self.indices) == len(SIGNALS):
            _refuse("inputs and indices", f"five arrays each ({', '.join(SIGNALS)})")
        prefix, count = f"{self.label}: " if self.label else "", num_robots * num_slots
        shortest: dict[int, tuple[Array, str, float]] = {}
        for name, array, index_name, index, output in self._indexed():
            length = _checked_length(prefix + name, array, device, output=output)
            index_label = prefix + index_name
            index_shape, _ = _checked(index_label, index, _INDEX, device)
            if index_shape != (count,):
                _refuse(f"{index_label} has shape {index_shape}", f"({count},), one index per joint of each robot")
            if length < shortest.get(id(index), (index, name, math.inf))[2]:
                shortest[id(index)] = numpy_view(index) if _on_cpu(index) else index, name, length
        given = {name: array for name, array in self.custom.items() if array is not None}
        for name, array in given.items():
            check_custom(prefix + name, array, tuple(self.inputs[1].shape), f"as {self.names[1]} has", device)
        self._reads = list(shortest.values())
        self.check_indices()

    def _indexed(self) -> Iterator[tuple[str, Array | None, str, Array, bool]]:
        """Name and array of each input and output, name and array of its indices, and True for an output."""
        arrays = *self.inputs, self.efforts, self.computed
        indices = *self.indices, self.effort_indices, self.effort_indices
        named = zip(self.names, arrays, (*self.index_names, self.index_names[-1]), indices, strict=True)
        for number, one in enumerate(named):
            # feedforward and computed efforts are optional
            if one[1] is not None or number not in (4, 6):
                yield *one, number > 4

    def numpy_views(self) -> tuple[list[np.ndarray | None], list[np.ndarray | None]]:
        """Inputs, efforts and computed efforts, and the index array of each, as NumPy arrays; None for none."""
        arrays = *self.inputs, self.efforts, self.computed
        indices = *self.indices, self.effort_indices, self.effort_indices
        inputs, places = ([None if one is None else numpy_view(one) for one in some] for some in (arrays, indices))
        return inputs, places

    def warp_views(self) -> tuple[list[wp.array | None], list[wp.array | None]]:
        """Inputs with their index arrays, and efforts with theirs and computed efforts, as arguments of a kernel."""
        outputs = self.efforts, self.effort_indices, self.computed
        return all_warp([*self.inputs, *self.indices]), all_warp(outputs)

    def check_indices(self) -> None:
        """Raise for indices beyond the checked arrays; indices on CUDA are read once."""
        for index, name, length in self._reads:
            if (largest := _largest(index)) >= length:
                _refuse(f"{self.label or 'indices'}: index {largest} into {name}", f"below {length}, its length")


def check_custom(name: str, array: object, expected: tuple[int, ...], what: str, device: wp.DeviceLike) -> None:
    """Raise for a custom array of the caller that cannot be read in place, or has another shape than expected.

    Errors have its name, and with `what` the reason of the shape.
    """
    if not isinstance(array, wp.array | np.ndarray):
        _refuse(f"{name} is a {type(array).__name__}", f"a Warp array of {_FLOAT}, or on the CPU one of NumPy")
    shape, strides = _checked(name, array, _FLOAT, device)
    if shape != expected:
        has = f"length {shape[0]}" if len(shape) == 1 else f"shape {shape}"
        wants = expected[0] if len(shape) == len(expected) == 1 else expected
        raise ValueError(f"{name} has {has}; expected {wants}, {what}. Give one number per joint axis.")
    if any(stride % _FLOAT.itemsize or stride < 0 for stride in strides):
        _refuse(name, "made of whole numbers in a row")


def all_warp(arrays: Sequence[Array | None]) -> list[wp.array | None]:
    """Return arrays as Warp arrays over the same memory; None stays None."""
    return [None if array is None else warp_view(array) for array in arrays]


def places_of(slots: Sequence[int] | np.ndarray, num_robots: int, num_slots: int, device: wp.DeviceLike) -> wp.array:
    """Indices of some slots into a flattened array `(robots, slots)`, uint32, robot-major."""
    rows = np.arange(num_robots)[:, None] * num_slots
    return wp.array((rows + np.asarray(slots)).ravel().astype(np.uint32), dtype=wp.uint32, device=device)


def _largest(index: Array) -> int:
    """The largest index; an array on CUDA is read once."""
    if isinstance(index, np.ndarray):
        return int(index.max(initial=0))
    known = _largest_known.get(id(index))
    if known is None or known[0]() is not index:
        key = id(index)
        gone = weakref.ref(index, lambda _: _largest_known.pop(key, None))
        known = _largest_known[key] = gone, int(index.numpy().max(initial=0))
    return known[1]


def _on_cpu(array: Tensor) -> bool:
    return isinstance(array, np.ndarray) or array.device.is_cpu


def _check_rows(name: str, shape: Sequence[int], strides: Sequence[int], *, output: bool) -> None:
    """Raise for a two-dimensional array whose rows cannot be used in place."""
    if shape[1] > 1 and strides[1] != _FLOAT.itemsize:
        _refuse(name, "contiguous within a row")
    if strides[0] % _FLOAT.itemsize or strides[0] < 0:
        _refuse(name, "made of rows a multiple of 4 bytes apart")
    if output and shape[0] > 1 and strides[0] < shape[1] * _FLOAT.itemsize:
        _refuse(name, "made of rows that do not overlap")


def _checked_length(name: str, array: object, device: wp.DeviceLike, *, output: bool) -> int:
    """Length of a flat array that can be used in place."""
    shape, strides = _checked(name, array, _FLOAT, device, output=output)
    if len(shape) != 1:
        _refuse(f"{name} has shape {shape}", "one-dimensional")
    if strides[0] % _FLOAT.itemsize or strides[0] < (_FLOAT.itemsize if output and shape[0] > 1 else 0):
        _refuse(name, "of whole numbers in a row")
    return shape[0]


def _checked(
    name: str, given: object, dtype: np.dtype, device: wp.DeviceLike, *, output: bool = False
) -> tuple[tuple[int, ...], Any]:
    """Shape and strides of an array of the right type on `device` that can be used in place."""
    array = _of_type(name, given, dtype, output)
    expected = wp.get_device(device)
    if not (_on_cpu(array) if expected.is_cpu else isinstance(array, wp.array) and array.device == expected):
        where = array.device if isinstance(array, wp.array) else "the CPU"
        _refuse(f"{name} is on {where}", f"on {expected}, as the actuators are")
    return tuple(array.shape), tuple(array.strides)


def _of_type(name: str, array: object, dtype: np.dtype, output: bool) -> Array:
    """Return an array of a type that can be read, or written as an output, in place."""
    if isinstance(array, wp.array):
        if array.dtype is not wp.dtype_from_numpy(dtype):
            _refuse(f"{name} has dtype {array.dtype.__name__}", str(dtype))
    elif isinstance(array, np.ndarray):
        # another byte order is another type
        if array.dtype != dtype:
            _refuse(f"{name} has dtype {array.dtype}", str(dtype))
        if not array.flags.aligned:
            _refuse(name, "aligned in memory")
        if output and not array.flags.writeable:
            _refuse(name, "writeable")
    else:
        _refuse(f"{name} is a {type(array).__name__}", f"a NumPy or Warp array of {dtype}")
    return array


def _refuse(subject: str, rule: str) -> NoReturn:
    raise ValueError(f"{subject}: must be {rule}.")
