"""The protobuf messages of an ONNX file: parsed within bounds, and their tensors and attributes as plain data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ....base.errors import NetworkError
from ....base.extras import needs

if TYPE_CHECKING:
    from types import ModuleType

    from onnx import AttributeProto, ModelProto, TensorProto

# an empty message takes two bytes in a file and a hundred in memory
MOST_FIELDS = 100_000
DTYPES = {1: "<f4", 10: "<f2", 11: "<f8", 6: "<i4", 7: "<i8"}
FLOATS = (1, 10, 11)
# the type of each attribute, whatever the operator, as numbers of AttributeProto
ATTRIBUTES = {
    **dict.fromkeys(("alpha", "beta", "gamma", "min", "max", "value_float", "epsilon"), 1),
    **dict.fromkeys(("axis", "to", "saturate", "num_outputs", "start", "end", "allowzero", "transA", "transB"), 2),
    **dict.fromkeys(("hidden_size", "layout", "input_forget", "linear_before_reset", "value_int", "stash_type"), 2),
    **dict.fromkeys(("approximate", "direction"), 3),
    "value": 4,
    "value_floats": 6,
    **dict.fromkeys(("axes", "starts", "ends", "steps", "split", "perm", "value_ints"), 7),
    "activations": 8,
}
TYPES = {1: "a number", 2: "a whole number", 3: "a text", 4: "a tensor", 6: "numbers", 7: "whole numbers", 8: "texts"}
REMEDY = "Export the network without it, or convert it to safetensors where it was made."

ReadFile = Callable[[str], bytes]
Attribute = float | int | str | np.ndarray | list[float] | list[int] | list[str]


def library() -> ModuleType:
    """The package onnx; a `NetworkError` if it is not installed."""
    with needs("An ONNX file", "nets", NetworkError):
        import onnx
    return onnx


def parse(data: bytes) -> ModelProto:
    """The message in the bytes of a file; a `NetworkError` if it is damaged, or has too many or unknown fields."""
    onnx = library()
    _check_fields(data, onnx.ModelProto.DESCRIPTOR)
    try:
        return onnx.ModelProto.FromString(data)
    # the parser's error is of another package
    except Exception as error:
        raise NetworkError(f"{error!s:.200}: must be a whole ONNX file. Copy the file again.") from None


# numbers of the types int32, int64, uint64 and enum of protobuf's fields
_WHOLE = (5, 3, 4, 14)


# types of descriptors differ between implementations of protobuf
def _check_fields(data: bytes, kind: Any) -> None:
    """Bound the objects that the parser makes of a file, and refuse fields that it would skip."""
    left = MOST_FIELDS
    waiting = [(0, len(data), kind)]
    while waiting:
        first, end, kind = waiting.pop()
        for field, sized, at, after in _fields(data, first, end, kind):
            # a whole number takes at least one byte
            left -= 1 + (after - at) * (sized and field.type in _WHOLE)
            if sized and field.message_type is not None and after <= end:
                waiting.append((at, after, field.message_type))
            elif sized and field.type == field.TYPE_STRING:
                _check_text(data[at:after], f"{kind.name}.{field.name}")
            if left < 0:
                raise NetworkError(f"more than {MOST_FIELDS} fields: must be fewer. Use a smaller network.")


def _fields(data: bytes, at: int, end: int, kind: Any) -> Iterator[tuple[Any, bool, int, int]]:
    """The fields of a message: descriptor, whether a length comes first, start and end."""
    known = kind.fields_by_number
    while at < end:
        key, at = _varint(data, at)
        if (field := known.get(key >> 3)) is None:
            raise NetworkError(
                f"{kind.name} has field {key >> 3}, which is unknown: must be ONNX and nothing besides. Export the "
                "network again, or install a newer onnx."
            )
        match key & 7:
            case 0:
                _, after = _varint(data, at)
            case 1:
                after = at + 8
            case 2:
                size, at = _varint(data, at)
                after = at + size
            case 5:
                after = at + 4
            case _:
                after = end + 1
        yield field, key & 7 == 2, at, after
        at = after
    if at > end:
        raise NetworkError("fields end beyond the file: must be a whole ONNX file. Copy the file again.")


def _check_text(data: bytes, what: str) -> None:
    """Raise for a text that is not UTF-8, which the parser would return as bytes."""
    try:
        data.decode()
    except UnicodeDecodeError:
        raise NetworkError(f"{what} = {data!r:.100}: must be UTF-8. Copy the file again.") from None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(10):
        byte = data[at + place] if at + place < len(data) else 0
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, at + place + 1
    raise NetworkError("number of more than 10 bytes: must be a whole ONNX file. Copy the file again.")


def with_data(tensor: TensorProto, beside: ReadFile | None) -> TensorProto:
    """Return a tensor that holds its numbers, read from another file if they are in one."""
    if not tensor.data_location and not len(tensor.external_data):
        return tensor
    said = {one.key: one.value for one in tensor.external_data}
    what = f"tensor {tensor.name!r:.100} lies in another file, {said.get('location', '')!r:.200}"
    remedy = "Save with save_as_external_data=False."
    if beside is None:
        raise NetworkError(f"{what}: must be inside, for this file is in no folder. {remedy}")
    try:
        data = beside(said.get("location", ""))
        first, count = (int(said.get(key, default)) for key, default in (("offset", "0"), ("length", "-1")))
    except (ValueError, OSError) as error:
        raise NetworkError(f"{what}: {error!s:.300}. {remedy}") from None
    end = len(data) if count < 0 else first + count
    if not 0 <= first <= end <= len(data):
        raise NetworkError(f"{what}: bytes {first} … {end} of {len(data)}: must be in the file. Copy the file again.")
    return type(tensor)(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims, raw_data=data[first:end])


def array_of(tensor: TensorProto) -> np.ndarray:
    """Return the numbers of a tensor, float32 or int64."""
    what = f"tensor {tensor.name!r:.100}"
    if tensor.data_location or len(tensor.external_data):
        raise NetworkError(f"{what} lies in another file: must be inside. Save with save_as_external_data=False.")
    dtype = DTYPES.get(tensor.data_type)
    if dtype is None:
        raise NetworkError(f"{what} has data type {tensor.data_type}: must be float32, int32 or int64. {REMEDY}")
    shape, size = list(tensor.dims), math.prod(tensor.dims)
    listed = {1: tensor.float_data, 11: tensor.double_data, 6: tensor.int32_data, 7: tensor.int64_data}
    if tensor.raw_data:
        has = len(tensor.raw_data) / np.dtype(dtype).itemsize
        values = np.frombuffer(tensor.raw_data, dtype) if has == size else np.empty(0)
    else:
        values = np.array(listed.get(tensor.data_type, ()), dtype)
        has = len(values)
    if min(shape, default=0) < 0 or len(shape) > 8 or has != size:
        raise NetworkError(f"{what} has {has:g} numbers: its shape {shape[:9]} needs {size}. Copy the file again.")
    with np.errstate(over="ignore"):
        return values.astype(np.float32 if tensor.data_type in FLOATS else np.int64).reshape(shape)


def _listed(one: AttributeProto) -> list[float]:
    if len(one.floats) > MOST_FIELDS:
        raise NetworkError(f"attribute {one.name!r:.100} has more than {MOST_FIELDS} numbers.")
    return list(one.floats)


_VALUES: dict[int, Callable[[Any], Attribute]] = {
    1: lambda one: one.f,
    2: lambda one: one.i,
    3: lambda one: one.s.decode("utf-8", "replace"),
    4: lambda one: array_of(one.t),
    6: _listed,
    7: lambda one: list(one.ints),
    8: lambda one: [text.decode("utf-8", "replace") for text in one.strings],
}


def attribute_of(one: AttributeProto) -> Attribute:
    """The value of an attribute; a `NetworkError` if it refers to another, or its type is not that of its name."""
    kind = ATTRIBUTES.get(one.name)
    if kind is not None and kind != one.type:
        raise NetworkError(f"attribute {one.name} is of type {one.type}: must be {TYPES[kind]}.")
    if one.type not in _VALUES:
        raise NetworkError(f"attribute {one.name!r:.100} is a graph or something else that is unknown.")
    return _VALUES[one.type](one)
