"""How a step reaches signals and efforts: columns of row-major arrays, or flat arrays through index arrays.

Every engine takes these two, and relies on `check`, which is the only place that looks at arrays from outside.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import warp as wp

from ...memory import numpy_view

SIGNALS = ("positions", "velocities", "position_targets", "velocity_targets", "feedforward")
"""The five inputs in their order, as errors call them."""

COLUMN_NAMES = (*SIGNALS, "efforts")
"""What errors call inputs and efforts unless they are told otherwise."""

_FLOAT, _INDEX = np.dtype(np.float32), np.dtype(np.uint32)
# largest index in arrays on CUDA that were looked through once, by identity
_looked_through: dict[int, tuple[Any, int]] = {}


@dataclass(eq=False)
class Columns:
    """Signals in columns of row-major arrays; efforts are set, in the columns of the plan only.

    Args:
        columns: Column of each slot.
        inputs: Positions, velocities, position targets, velocity targets and feedforward, float32 `(robots, DOFs)`,
            NumPy or Warp.
        efforts: Where efforts go, float32 `(robots, DOFs)`.
        names: What errors call inputs and efforts.
        custom: Arrays of the caller's by name, `(robots, ·)`; whoever puts one there checks it.
        custom_first: Their column that stands for the first one of the other arrays.

    Attributes:
        is_numpy: Whether all arrays are NumPy's.
    """

    columns: Sequence[int]
    inputs: Sequence[Any]
    efforts: Any
    names: Sequence[str] = COLUMN_NAMES
    custom: Mapping[str, Any] = field(default_factory=dict)
    custom_first: int = 0
    is_numpy: bool = field(init=False, repr=False)
    _fits: Any = field(default=None, init=False, repr=False)
    _views: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.is_numpy = all(isinstance(one, np.ndarray) for one in (*self.inputs, self.efforts))

    def numpy_views(self) -> tuple[list[Any], Any, list[int]]:
        """Inputs and efforts as NumPy arrays, and the columns."""
        if self._views is None:
            self._views = [numpy_view(one) for one in self.inputs], numpy_view(self.efforts), list(self.columns)
        return self._views

    def check(self, num_robots: int, num_slots: int, device: Any) -> None:
        """Refuse arrays that a step cannot read or write in place; what fitted once is not looked at again.

        Raises:
            ValueError: By name: type, shape, layout or device of an array, or a column, does not fit.
        """
        if self._fits == (num_robots, num_slots, device):
            return
        if len(self.inputs) != len(SIGNALS):
            _refuse("inputs", f"five arrays ({', '.join(SIGNALS)})")
        if len(self.columns) != num_slots:
            _refuse(f"{len(self.columns)} columns", f"{num_slots}, one per slot")
        for name, array in zip(self.names, (*self.inputs, self.efforts), strict=True):
            output = array is self.efforts
            shape, strides = _checked(name, array, _FLOAT, device, output=output)
            if len(shape) != 2 or shape[0] != num_robots:
                _refuse(f"{name} has shape {shape}", f"(robots, DOFs) with {num_robots} robots")
            if shape[1] > 1 and strides[1] != _FLOAT.itemsize:
                _refuse(name, "contiguous within a row")
            if strides[0] % _FLOAT.itemsize or strides[0] < 0:
                _refuse(name, "made of rows a multiple of 4 bytes apart")
            if output and num_robots > 1 and strides[0] < shape[1] * _FLOAT.itemsize:
                _refuse(name, "made of rows that do not overlap")
            for column in self.columns:
                if not 0 <= column < shape[1]:
                    _refuse(f"column = {column}", f"one of the {shape[1]} columns of {name}")
        if len(set(self.columns)) != len(self.columns):
            _refuse(f"columns = {list(self.columns)}", "all different")
        self._fits = num_robots, num_slots, device


@dataclass(eq=False)
class Indices:
    """Signals in flat arrays, read through index arrays; efforts are added to what stands there.

    Args:
        inputs: Positions, velocities, position targets, velocity targets and feedforward, float32 `(·,)`, NumPy or
            Warp; feedforward may be None.
        indices: Where each stands, uint32 `(robots · slots,)`, robot-major.
        efforts: What efforts are added to, float32 `(·,)`.
        effort_indices: Where, uint32 `(robots · slots,)`.
        computed: What efforts before the limits are added to, at the same places, or None.
        label: Whose they are, for errors.
        names: What errors call inputs, efforts and computed efforts.
        index_names: What errors call the index arrays of inputs and efforts.
        custom: Arrays of the caller's by name, laid out as velocities are; None for one that is not there.
    """

    inputs: Sequence[Any]
    indices: Sequence[Any]
    efforts: Any
    effort_indices: Any
    computed: Any = None
    label: str = ""
    names: Sequence[str] = (*SIGNALS, "efforts", "computed_efforts")
    index_names: Sequence[str] = (*(f"indices of {name}" for name in SIGNALS), "effort_indices")
    custom: Mapping[str, Any] = field(default_factory=dict)
    # index array as NumPy or CUDA array, name and length of the shortest array it reads
    _reads: list[tuple[Any, str, int]] = field(default_factory=list, init=False, repr=False)

    def check(self, num_robots: int, num_slots: int, device: Any) -> None:
        """Refuse arrays that a step cannot read or write in place, and indices beyond them.

        Raises:
            ValueError: By name: type, shape, layout or device of an array, or an index, does not fit.
        """
        if len(self.inputs) != len(SIGNALS) or len(self.indices) != len(SIGNALS):
            _refuse("inputs and indices", f"five arrays each ({', '.join(SIGNALS)})")
        prefix, count = f"{self.label}: " if self.label else "", num_robots * num_slots
        shortest: dict[int, tuple[Any, str, int]] = {}
        all_indices = (*self.indices, self.effort_indices, self.effort_indices)
        index_names = (*self.index_names, self.index_names[-1])
        arrays = (*self.inputs, self.efforts, self.computed)
        for k, (name, array, index_name, index) in enumerate(
            zip(self.names, arrays, index_names, all_indices, strict=True)
        ):
            if array is None and k in (4, 6):
                continue
            shape, strides = _checked(prefix + name, array, _FLOAT, device, output=k > 4)
            if len(shape) != 1:
                _refuse(f"{prefix}{name} has shape {shape}", "one-dimensional")
            if strides[0] % _FLOAT.itemsize or strides[0] < (_FLOAT.itemsize if k > 4 and shape[0] > 1 else 0):
                _refuse(prefix + name, "of whole numbers in a row")
            has, _ = _checked(prefix + index_name, index, _INDEX, device)
            if has != (count,):
                _refuse(f"{prefix}{index_name} has shape {has}", f"({count},), one index per joint of each robot")
            if id(index) not in shortest or shape[0] < shortest[id(index)][2]:
                shortest[id(index)] = index, name, shape[0]
        for name, array in self.custom.items():
            if array is not None:
                check_custom(prefix + name, array, tuple(self.inputs[1].shape), f"as {self.names[1]} has", device)
        self._reads = [
            (numpy_view(index) if _on_cpu(index) else index, name, length) for index, name, length in shortest.values()
        ]
        self.check_indices()

    def numpy_views(self) -> tuple[list[Any], list[Any]]:
        """Inputs, efforts and computed efforts, and the index array of each, as NumPy arrays; None for none."""
        arrays = *self.inputs, self.efforts, self.computed
        indices = *self.indices, self.effort_indices, self.effort_indices
        inputs, places = ([None if one is None else numpy_view(one) for one in some] for some in (arrays, indices))
        return inputs, places

    def check_indices(self) -> None:
        """Refuse indices beyond the arrays that `check` has seen; those on CUDA are read once.

        Raises:
            ValueError: Which index, and into what.
        """
        for index, name, length in self._reads:
            if (largest := _largest(index)) >= length:
                _refuse(f"{self.label or 'indices'}: index {largest} into {name}", f"below {length}, its length")


def check_custom(name: str, array: Any, expected: tuple[int, ...], what: str, device: Any) -> None:
    """Refuse an array of the caller's that cannot be read in place, or is of another shape than expected.

    Args:
        name: What errors call it.
        array: What was given.
        expected: The shape.
        what: What errors call the shape.
        device: Warp device.

    Raises:
        ValueError: By name: type, shape, layout or device does not fit.
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


def places_of(slots: Sequence[int] | np.ndarray, num_robots: int, num_slots: int, device: Any) -> wp.array:
    """Where some slots stand in a flattened array `(robots, slots)`, uint32, robot-major."""
    rows = np.arange(num_robots)[:, None] * num_slots
    return wp.array((rows + np.asarray(slots)).ravel().astype(np.uint32), dtype=wp.uint32, device=device)


def _largest(index: Any) -> int:
    """The largest index; an array on CUDA is read when it is first seen."""
    if isinstance(index, np.ndarray):
        return int(index.max(initial=0))
    known = _looked_through.get(id(index))
    if known is None or known[0]() is not index:
        key = id(index)
        gone = weakref.ref(index, lambda _: _looked_through.pop(key, None))
        known = _looked_through[key] = gone, int(index.numpy().max(initial=0))
    return known[1]


def _on_cpu(array: Any) -> bool:
    return isinstance(array, np.ndarray) or array.device.is_cpu


def _checked(name: str, array: Any, dtype: np.dtype, device: Any, *, output: bool = False) -> tuple[Any, Any]:
    """Shape and strides of an array of the right type that stands on `device` and can be used where it is."""
    if isinstance(array, wp.array):
        if array.dtype is not wp.dtype_from_numpy(dtype):
            _refuse(f"{name} has dtype {array.dtype.__name__}", str(dtype))
    elif isinstance(array, np.ndarray):
        # of another byte order is another type
        if array.dtype != dtype:
            _refuse(f"{name} has dtype {array.dtype}", str(dtype))
        if not array.flags.aligned:
            _refuse(name, "aligned in memory")
        if output and not array.flags.writeable:
            _refuse(name, "writeable")
    else:
        _refuse(f"{name} is a {type(array).__name__}", f"a NumPy or Warp array of {dtype}")
    expected = wp.get_device(device)
    if not (_on_cpu(array) if expected.is_cpu else isinstance(array, wp.array) and array.device == expected):
        where = array.device if isinstance(array, wp.array) else "the CPU"
        _refuse(f"{name} is on {where}", f"on {expected}, as the actuators are")
    return tuple(array.shape), tuple(array.strides)


def _refuse(subject: str, rule: str) -> NoReturn:
    raise ValueError(f"{subject}: must be {rule}.")
