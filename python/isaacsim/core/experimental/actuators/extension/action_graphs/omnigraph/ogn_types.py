"""Attribute types of OmniGraph: which values each takes, and its default."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_FLOATS = {"half": np.float16, "float": np.float32, "double": np.float64, "timecode": np.float64}
_INTEGERS = {"uchar": np.uint8, "int": np.int32, "uint": np.uint32, "int64": np.int64, "uint64": np.uint64}
_ROLES = {
    f"{role}{letter}": dtype
    for role in ("color", "normal", "point", "quat", "texcoord", "vector")
    for letter, dtype in (("h", np.float16), ("f", np.float32), ("d", np.float64))
}
_MATRICES = dict.fromkeys(("matrixd", "frame", "transform"), np.float64)
_NUMBERS = {"bool": np.bool_, "objectId": np.uint64, **_INTEGERS, **_FLOATS, **_ROLES, **_MATRICES}
_TEXTS = ("token", "string", "path")
# what these hold is decided by what is connected to them
_OPEN = ("any", "bundle", "union")


class ExecutionAttributeState(enum.IntEnum):
    """Value of an execution attribute, as in `omni.graph.core`."""

    DISABLED = 0
    ENABLED = 1
    ENABLED_AND_PUSH = 2
    LATENT_PUSH = 3
    LATENT_FINISH = 4


@dataclass(frozen=True)
class OgnType:
    """A parsed attribute type: its text, `double[3][]` for instance, and `base`, or `union` for a list of types.

    `shape` is that of one element: empty for scalars, `(3,)` for `double[3]`, `(4, 4)` for `matrixd[4]`.
    """

    text: str
    base: str
    shape: tuple[int, ...]
    is_array: bool

    def default(self) -> Any:
        """Return the value of an attribute that was not set."""
        if self.is_array:
            return self.zeros(0)
        if self.base in _OPEN:
            return None
        if self.base in _NUMBERS:
            return self.convert(np.zeros(self.shape, _NUMBERS[self.base]))
        return {"execution": ExecutionAttributeState.DISABLED, "target": ()}.get(self.base, "")

    def zeros(self, size: int) -> np.ndarray:
        """Return `size` elements, to be filled."""
        if self.base in _NUMBERS:
            return np.zeros((size, *self.shape), _NUMBERS[self.base])
        return np.full(size, "", object)

    def convert(self, value: object) -> Any:
        """Return a value as nodes see it: a Python scalar or string, a tuple of paths, or an array of its own."""
        if self.base in _OPEN:
            return value.copy() if isinstance(value, np.ndarray) else value
        if self.base == "execution":
            return ExecutionAttributeState(self._numbers(value, np.uint32, "biu").item())
        if self.base == "target":
            return self._paths(value)
        if self.base in _TEXTS:
            return self._texts(value)
        dtype = _NUMBERS[self.base]
        kinds = "b" if dtype is np.bool_ else "iu" if np.issubdtype(dtype, np.integer) else "fiu"
        array = self._numbers(value, dtype, kinds)
        return array if array.ndim else array.item()

    def takes(self, other: OgnType) -> bool:
        """True if every value of another type is valid for this one; open types are decided by the value."""
        if self.base in _OPEN or other.base in _OPEN:
            return True
        if (self.shape, self.is_array) != (other.shape, other.is_array):
            return False
        if self.base in _NUMBERS and other.base in _NUMBERS:
            dtype, given = np.dtype(_NUMBERS[self.base]), np.dtype(_NUMBERS[other.base])
            return np.can_cast(given, dtype, "safe") and (dtype.kind == "b") == (given.kind == "b")
        return self.base == other.base or (self.base in _TEXTS and other.base in _TEXTS)

    def _paths(self, value: object) -> tuple[str, ...]:
        paths = [value] if isinstance(value, str) else value
        if not isinstance(paths, Iterable):
            raise self._wrong(value, "paths")
        return tuple(str(path) for path in paths)

    def _texts(self, value: Any) -> Any:
        is_list = self.is_array and isinstance(value, Iterable)
        given = [value] if isinstance(value, str) else list(value) if is_list else [None]
        if isinstance(value, str) is self.is_array or not all(isinstance(text, str) for text in given):
            raise self._wrong(value, "strings")
        return np.array(given, object) if self.is_array else value

    def _numbers(self, value: object, dtype: npt.DTypeLike, kinds: str) -> np.ndarray:
        """Numbers of a dtype, converted from one of the given kinds."""
        array = self._shaped(value)
        if array.size == 0 and self.is_array:
            return self.zeros(0)
        if array.dtype.kind not in kinds:
            raise self._wrong(value, {"b": "booleans", "iu": "integers"}.get(kinds, "numbers"))
        if dtype is not np.bool_:
            limits = np.iinfo(dtype) if np.issubdtype(dtype, np.integer) else np.finfo(dtype)
            finite = array[np.isfinite(array)]
            if finite.size and not limits.min <= finite.min() <= finite.max() <= limits.max:
                raise self._wrong(value, f"numbers in {limits.min} … {limits.max}")
        return array.astype(dtype)

    def _shaped(self, value: object) -> np.ndarray:
        """A value as an array of the type's shape, or an empty one."""
        try:
            array = np.asarray(value)
        except ValueError:
            # rows of different lengths
            raise self._wrong(value, "rows of one length") from None
        if array.size == 0 and self.is_array:
            return array
        dims = array.shape[:1] if self.is_array else ()
        if array.ndim != self.is_array + len(self.shape) or array.shape != (*dims, *self.shape):
            raise self._wrong(value, f"shape {('n', *self.shape) if self.is_array else self.shape}")
        return array

    def _wrong(self, value: object, wanted: str) -> ValueError:
        return ValueError(f"{value!r}: must be {self.text}. Give {wanted}.")


def parse_type(declared: str | list[str]) -> OgnType:
    """Return the type that an `.ogn` file declares; a list is a union of types; ValueError if there is no such type."""
    if isinstance(declared, list):
        return OgnType(f"one of {declared}", "union", (), False)
    found = re.fullmatch(r"(?P<base>\w+?)(\[(?P<count>[234])\])?(?P<array>\[\])?", declared)
    base = found["base"] if found else declared
    if found is None or base not in {*_NUMBERS, *_TEXTS, *_OPEN, "execution", "target"} - {"union"}:
        raise ValueError(f"type {declared!r}: must be a type of OmniGraph. See its list of attribute types.")
    count = int(found["count"] or 0)
    shape = () if not count else (count, count) if base in _MATRICES else (count,)
    return OgnType(declared, base, shape, found["array"] is not None)
