"""Networks in safetensors files: ours, where metadata list the operations, and those of any state dict.

Layout: eight bytes with the length of the header, the header as JSON, the numbers. Source: the page of the format in
the repository `huggingface/safetensors`.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import NetworkError
from .metadata import read_json, read_properties, write_json
from .network import Binary, Concatenate, Constant, GRUCell, Linear, LSTMCell, Network, Operation, Slice, Unary
from .state_dict import network_of

FORMAT, VERSION = "actuator network", 1
OPERATIONS: dict[str, type] = {
    kind.__name__: kind for kind in (Constant, Linear, Unary, Binary, Concatenate, Slice, LSTMCell, GRUCell)
}
DTYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
LONGEST_HEADER = 4 * 2**20


def matches(data: bytes) -> bool:
    """Whether a file begins as one of this format does."""
    return data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= LONGEST_HEADER


def read(data: bytes, metadata: Mapping[str, Any] | None = None) -> tuple[Network, dict[str, Any]]:
    """The network of a file and its metadata.

    A file that `write` made lists its operations. Any other holds tensors by name, and is read as a state dict is.

    Args:
        data: Bytes of the file.
        metadata: What to add to the file's own.

    Raises:
        NetworkError: The file is damaged, or its tensors do not tell their network.
    """
    tensors, about = read_tensors(data)
    if about.get("format") != FORMAT:
        told = {**read_properties(about), **(metadata or {})}
        return network_of(tensors, told), told
    if about.get("version") != str(VERSION):
        raise NetworkError(
            f"version {about.get('version')!r:.100}: must be {VERSION}. Use a newer release of this package."
        )
    used: set[str] = set()
    listed = read_json(about.get("network", ""), "header")
    inputs = read_json(about.get("inputs", ""), "header")
    own = read_properties({"metadata": about.get("metadata", "{}")})
    if not isinstance(listed, list) or type(inputs) is not int or inputs < 1:
        raise NetworkError("header: must list operations, inputs and metadata. Convert the network again.")
    operations = tuple(_operation(number, one, tensors, used) for number, one in enumerate(listed, 1))
    if left := sorted(set(tensors) - used):
        raise NetworkError(f"tensors {', '.join(left)[:200]}: must be used by an operation. Convert the network again.")
    return Network(inputs, operations), own


def _operation(number: int, said: Any, tensors: Mapping[str, np.ndarray], used: set[str]) -> Operation:
    """One operation, of a JSON object with its name and fields; tensors are given by name."""
    kind = OPERATIONS.get(str(said.get("operation"))) if isinstance(said, dict) else None
    wrong = NetworkError(f"header: operation {number} is {said!r:.100}. Convert the network again.")
    if kind is None or set(said) != {"operation", *(field.name for field in dataclasses.fields(kind))}:
        raise wrong
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        value = said[field.name]
        match str(field.type):
            case "int":
                fits = type(value) is int
            case "str":
                fits = isinstance(value, str)
            case "np.ndarray":
                fits = isinstance(value, str) and value in tensors
                if fits:
                    used.add(value)
                    value = tensors[value]
            case listed:
                of = (int,) if listed.startswith("tuple[int") else (int, float)
                fits = isinstance(value, list) and all(type(one) in of for one in value)
                value = tuple(value) if fits else ()
        if not fits:
            raise wrong
        values[field.name] = value
    return kind(**values)


def read_tensors(data: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Tensors by name, float32, and `__metadata__`.

    Raises:
        NetworkError: The file is damaged, or has numbers other than floating point ones.
    """
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(LONGEST_HEADER, len(data) - 8):
        raise NetworkError(f"header of {length} bytes in a file of {len(data)}: is cut off. Copy the file again.")
    header, body = read_json(data[8 : 8 + length], "header"), memoryview(data)[8 + length :]
    about = header.pop("__metadata__", {}) if isinstance(header, dict) else None
    if not isinstance(about, dict) or not all(isinstance(text, str) for text in about.values()):
        raise NetworkError("header: must be an object of tensors, __metadata__ one of strings. Write the file again.")
    tensors: dict[str, np.ndarray] = {}
    spans: list[tuple[int, int]] = []
    for name, said in header.items():
        what = f"tensor {name!r:.100}"
        said = said if isinstance(said, dict) else {}
        dtype: Any
        shape: Any
        span: Any
        dtype, shape, span = said.get("dtype"), said.get("shape"), said.get("data_offsets")
        if not isinstance(dtype, str) or dtype not in DTYPES:
            raise NetworkError(f"{what} has dtype {dtype!r:.100}: must be {', '.join(DTYPES)}. Save it as float32.")
        if not (_sizes(shape) and _sizes(span) and len(span) == 2 and len(shape) <= 8):
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
            tensors[name] = np.frombuffer(body[start:stop], DTYPES[dtype]).astype(np.float32).reshape(shape)
    spans.sort()
    if [start for start, _ in spans] + [len(body)] != [0] + [stop for _, stop in spans]:
        raise NetworkError("tensors overlap or leave gaps: must fill the file one after another. Write the file again.")
    return tensors, about


def _sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(one) is int and one >= 0 for one in value)


def write(network: Network, metadata: Mapping[str, Any]) -> bytes:
    """A file that `read` reads back exactly, also readable by any other program as tensors by name.

    Raises:
        NetworkError: Metadata cannot be written as JSON.
    """
    tensors: dict[str, np.ndarray] = {}
    listed: list[dict[str, Any]] = []
    for number, operation in enumerate(network.operations, 1):
        said: dict[str, Any] = {"operation": type(operation).__name__}
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
    header: dict[str, Any] = {"__metadata__": about}
    at = 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(header).encode()
    # numbers begin at a multiple of eight
    text += b" " * (-len(text) % 8)
    return (
        len(text).to_bytes(8, "little") + text + b"".join(values.astype("<f4").tobytes() for values in tensors.values())
    )
