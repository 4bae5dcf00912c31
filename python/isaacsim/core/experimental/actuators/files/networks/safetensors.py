"""Networks in safetensors files: ours, whose metadata list the operations, and those of any state dict.

Layout: eight bytes with the length of the header, the header as JSON, the numbers. Source: the page of the format in
the repository `huggingface/safetensors`. That package is not used: Kit installs nothing with pip, so this reader would
be needed all the same.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any, TypeGuard, get_args

import numpy as np

from ...base.errors import NetworkError
from ...laws.networks.metadata import read_json, read_properties, write_json
from ...laws.networks.network import Network, Operation
from .named_tensors import network_of

FORMAT, VERSION = "actuator network", 1
OPERATIONS: dict[str, type] = {kind.__name__: kind for kind in get_args(Operation)}
DTYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
LONGEST_HEADER = 4 * 2**20


def matches(data: bytes) -> bool:
    """Return True if a file begins with the length of a header, and a JSON object."""
    return data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= LONGEST_HEADER


def read(data: bytes, metadata: Mapping[str, object] | None = None) -> tuple[Network, dict[str, object]]:
    """The network of a file and its metadata, before which those given go; a `NetworkError` if there is none.

    A file of `write` lists its operations. Any other file holds tensors by name, and is read as a state dict.
    """
    tensors, about = read_tensors(data)
    if about.get("format") != FORMAT:
        merged = {**read_properties(about), **(metadata or {})}
        return network_of(tensors, merged), merged
    if about.get("version") != str(VERSION):
        raise NetworkError(
            f"version {about.get('version')!r:.100}: must be {VERSION}. Use a newer release of this package."
        )
    listed = read_json(about.get("network", ""), "header")
    inputs = read_json(about.get("inputs", ""), "header")
    own = read_properties({"metadata": about.get("metadata", "{}")})
    if not isinstance(listed, list) or type(inputs) is not int or inputs < 1:
        raise NetworkError("header: must list operations, inputs and metadata. Convert the network again.")
    used: set[str] = set()
    operations = tuple(_operation(number, one, tensors, used) for number, one in enumerate(listed, 1))
    if left := sorted(set(tensors) - used):
        raise NetworkError(f"tensors {', '.join(left)[:200]}: must be used by an operation. Convert the network again.")
    return Network(inputs, operations), own


def _operation(number: int, said: object, tensors: Mapping[str, np.ndarray], used: set[str]) -> Operation:
    fields = dict(said) if isinstance(said, dict) else {}
    kind = OPERATIONS.get(str(fields.pop("operation", None)))
    types = {field.name: str(field.type) for field in dataclasses.fields(kind)} if kind else {}
    if not kind or {*fields} != {*types} or not all(_fits(fields[key], types[key], tensors) for key in types):
        raise NetworkError(f"header: operation {number} is {said!r:.100}. Convert the network again.")
    return kind(**{key: _value(fields[key], types[key], tensors, used) for key in types})


def _fits(value: object, form: str, tensors: Mapping[str, np.ndarray]) -> bool:
    """True if a value of JSON is one of a field of this type."""
    if form == "int":
        return type(value) is int
    if form in ("str", "np.ndarray"):
        return isinstance(value, str) and (form == "str" or value in tensors)
    of = (int,) if form.startswith("tuple[int") else (int, float)
    return isinstance(value, list) and all(type(one) in of for one in value)


def _value(value: Any, form: str, tensors: Mapping[str, np.ndarray], used: set[str]) -> object:
    if form == "np.ndarray":
        used.add(value)
        return tensors[value]
    return tuple(value) if isinstance(value, list) else value


def read_tensors(data: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Tensors by name, float32, and `__metadata__`.

    A `NetworkError` says that the file is damaged, or has numbers other than floating point ones.
    """
    header, about, body = _header(data)
    spans: list[tuple[int, int]] = []
    tensors = {name: _tensor(name, said, body, spans) for name, said in header.items()}
    ends = [0, *(stop for _, stop in sorted(spans))]
    if [*(start for start, _ in sorted(spans)), len(body)] != ends:
        raise NetworkError("tensors overlap or leave gaps: must fill the file one after another. Write the file again.")
    return tensors, about


def _header(data: bytes) -> tuple[dict[str, object], dict[str, str], memoryview]:
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(LONGEST_HEADER, len(data) - 8):
        raise NetworkError(f"header of {length} bytes in a file of {len(data)}: is cut off. Copy the file again.")
    header = read_json(data[8 : 8 + length], "header")
    about = header.pop("__metadata__", {}) if isinstance(header, dict) else None
    if not isinstance(about, dict) or {type(text) for text in about.values()} - {str}:
        raise NetworkError("header: must be an object of tensors, __metadata__ one of strings. Write the file again.")
    return header, about, memoryview(data)[8 + length :]


def _tensor(name: str, said: object, body: memoryview, spans: list[tuple[int, int]]) -> np.ndarray:
    what = f"tensor {name!r:.100}"
    fields = said if isinstance(said, dict) else {}
    dtype, shape, span = fields.get("dtype"), fields.get("shape"), fields.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise NetworkError(f"{what} has dtype {dtype!r:.100}: must be {', '.join(DTYPES)}. Save it as float32.")
    if not (_is_sizes(shape) and _is_sizes(span) and len(span) == 2 and len(shape) <= 8):
        raise NetworkError(f"{what}: must have a shape and two offsets, whole numbers. Write the file again.")
    start, stop = span
    size = math.prod(shape) * np.dtype(DTYPES[dtype]).itemsize
    if not start <= stop <= len(body) or stop - start != size:
        raise NetworkError(
            f"{what} of shape {shape} at {start} … {stop} of {len(body)} bytes: must lie in the file and be {size} "
            "bytes long. Copy the file again."
        )
    spans.append((start, stop))
    with np.errstate(over="ignore"):
        return np.frombuffer(body[start:stop], DTYPES[dtype]).astype(np.float32).reshape(shape)


def _is_sizes(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(one) is int and one >= 0 for one in value)


def write(network: Network, metadata: Mapping[str, object]) -> bytes:
    """A file that `read` reads back exactly, and other programs read as tensors by name.

    A `NetworkError` says that metadata cannot be written as JSON.
    """
    tensors: dict[str, np.ndarray] = {}
    listed: list[dict[str, object]] = []
    for number, operation in enumerate(network.operations, 1):
        said: dict[str, object] = {"operation": type(operation).__name__}
        for field in dataclasses.fields(operation):
            value = getattr(operation, field.name)
            if isinstance(value, np.ndarray):
                name = f"{number}.{field.name}"
                tensors[name] = value
                value = name
            said[field.name] = value
        listed.append(said)
    about = {
        "format": FORMAT,
        "version": str(VERSION),
        "inputs": str(network.inputs),
        "network": json.dumps(listed),
        "metadata": write_json(metadata),
    }
    header: dict[str, object] = {"__metadata__": about}
    at = 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(header).encode()
    # pad, so that numbers begin at a multiple of eight
    text += b" " * (-len(text) % 8)
    return (
        len(text).to_bytes(8, "little") + text + b"".join(values.astype("<f4").tobytes() for values in tensors.values())
    )
