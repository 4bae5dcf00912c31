"""Networks that `torch.export.save` wrote (`.pt2`): a graph in JSON and weights as raw numbers, read as data.

The archive also holds a pickle with sample inputs, which nothing here opens, and flags that would make PyTorch
unpickle weights, which are refused. Layout: measured on files of PyTorch 2.13.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import NetworkError
from .metadata import read_json
from .network import Network
from .torch_archive import Archive, entry_names, metadata_of
from .torchscript_operations import perform
from .torchscript_values import MAX_NUMBERS, ROWS, Builder, State, Tensor, refuse

# numbers of types in the graph; they are one higher than those that operations take
DTYPES = {4: "<i4", 5: "<i8", 6: "<f2", 7: "<f4", 8: "<f8"}
STRIDED = 7
SAME = {"sym_size": "size", "_to_copy": "to", "lift_fresh_copy": "clone"}


def matches(data: bytes) -> bool:
    """Whether a file is such an archive, by its entries."""
    names = entry_names(data)
    return "archive_format" in names or any(name.startswith("models/") for name in names)


def read(data: bytes) -> tuple[Network, dict[str, Any]]:
    """The network and its metadata, `extra/metadata.json`.

    Its `forward` takes `x`, `(rows, inputs)`, with a recurrent layer `(rows, 1, inputs)` and the states, each
    `(layers, rows, hidden_size)`, and returns the output and the states in the same order.

    Raises:
        NetworkError: The file is damaged or too large, asks to be unpickled, or computes something that is unknown.
    """
    try:
        return _read(data)
    except NetworkError:
        raise
    # whatever a hostile file makes fail is one error
    except Exception as error:
        raise NetworkError(
            f"file is no torch.export archive that can be read ({error!r:.200}). Save it anew."
        ) from error


def _read(data: bytes) -> tuple[Network, dict[str, Any]]:
    archive = Archive(data)
    names = [name for name in archive.names() if name.startswith("models/")]
    if len(names) != 1 or archive.read("archive_format") != b"pt2":
        raise NetworkError(f"archive holds {len(names)} graphs: must be pt2 with one. Save it with torch.export.save.")
    metadata = metadata_of(archive)
    model = names[0].removeprefix("models/").removesuffix(".json")
    held: dict[str, np.ndarray] = {}
    # a few bytes may be said to be many numbers, by strides of 0
    left = MAX_NUMBERS
    for kind in ("weights", "constants"):
        folder = f"data/{kind}/"
        listed = read_json(archive.read(f"{folder}{model}_{kind}_config.json"), kind)["config"]
        for name, said in listed.items():
            if name in held:
                raise NetworkError(f"tensor {name!r:.100} comes twice. Save the network anew.")
            held[name] = _tensor(archive, folder, name, said, left)
            left -= held[name].size
    module = read_json(archive.read(names[0]), names[0])["graph_module"]
    given = [spec["user_input"]["arg"] for spec in module["signature"]["input_specs"] if "user_input" in spec]
    if not given or any(set(one) != {"as_tensor"} for one in given):
        raise refuse("a forward pass that takes something else than tensors")
    meta = module["graph"]["tensor_values"][given[0]["as_tensor"]["name"]]
    sizes = [_size(one) for one in meta["sizes"]]
    if meta["dtype"] not in DTYPES or len(sizes) not in (2, 3) or type(sizes[-1]) is not int:
        raise NetworkError(f"input of shape {sizes}: must be rows x inputs, or rows x 1 x inputs. Export it so.")
    open_axes = [place for place, size in enumerate(sizes[:-1]) if size is None]
    problem: NetworkError | None = None
    # which of two axes is that of rows, and which one step of time, is said by what is done with them
    for rows in open_axes or range(len(sizes) - 1):
        try:
            return _network(module, held, sizes, rows), metadata
        except NetworkError as error:
            problem = problem or error
    assert problem is not None
    fixed = "" if open_axes else " It was exported for a fixed number of rows: dynamic_shapes leaves it open."
    raise NetworkError(f"{problem}{fixed}")


def _tensor(archive: Archive, folder: str, name: str, said: Mapping[str, Any], most: int) -> np.ndarray:
    """One tensor, of raw numbers, `most` of them at most."""
    what = f"tensor {name!r:.100}"
    if said["use_pickle"] is not False:
        raise NetworkError(f"{what} asks to be unpickled, which runs code: must be raw numbers. Save the network anew.")
    meta = said["tensor_meta"]
    dtype = DTYPES.get(meta["dtype"])
    if dtype is None or meta["layout"] != STRIDED or not isinstance(said["path_name"], str):
        raise NetworkError(f"{what} has type {meta['dtype']!r:.50}: must be dense float32. Save the network so.")
    sizes, strides = ([one["as_int"] for one in meta[key]] for key in ("sizes", "strides"))
    offset = meta["storage_offset"]["as_int"]
    if any(type(one) is not int or one < 0 for one in (*sizes, *strides, offset)) or len(sizes) != len(strides):
        raise NetworkError(f"{what}: sizes and strides must be whole numbers. Save the network anew.")
    content = archive.read(f"{folder}{said['path_name']}")
    size = np.dtype(dtype).itemsize
    last = offset + sum((count - 1) * stride for count, stride in zip(sizes, strides, strict=True))
    if (
        len(content) % size
        or math.prod(sizes) > most
        or len(sizes) > 8
        or (0 not in sizes and last >= len(content) // size)
    ):
        raise NetworkError(
            f"{what} of shape {sizes[:9]} has {len(content)} bytes: must be what its shape needs. Copy it again."
        )
    if 0 in sizes:
        return np.zeros(sizes, dtype)
    numbers = np.frombuffer(content, dtype)[offset:]
    steps = [stride * size for stride in strides]
    return np.lib.stride_tricks.as_strided(numbers, sizes, steps, writeable=False).copy()


def _size(said: Mapping[str, Any]) -> int | None:
    """A length of an axis, None for an open one."""
    return said["as_int"] if "as_int" in said else None


def _network(module: Mapping[str, Any], held: Mapping[str, np.ndarray], sizes: list[int | None], rows: int) -> Network:
    """The network, where axis `rows` of the input are the rows."""
    graph, signature = module["graph"], module["signature"]
    width = sizes[-1]
    assert width is not None
    if any(size not in (1, None) for place, size in enumerate(sizes[:-1]) if place != rows):
        raise NetworkError(
            f"input of shape {sizes}: must be one step of time. Export the network with (rows, 1, inputs)."
        )
    builder = Builder(width)
    values: dict[str, Any] = {}
    taken: list[State] = []
    first = True
    for spec in signature["input_specs"]:
        ((kind, said),) = spec.items()
        if kind == "user_input":
            name = said["arg"]["as_tensor"]["name"]
            if first:
                shape = [ROWS if place == rows else 1 for place in range(len(sizes) - 1)]
                value: Any = Tensor(0, (*shape, width))
                first = False
            else:
                lengths = [_size(one) for one in graph["tensor_values"][name]["sizes"]]
                if len(lengths) != 3 or lengths[0] is None or lengths[2] is None or len(taken) == 2:
                    raise NetworkError(f"state {name!r:.100} of shape {lengths}: must be layers x rows x hidden size.")
                value = State("hc"[len(taken)], lengths[0], lengths[2])
                taken.append(value)
        elif kind in ("parameter", "buffer", "tensor_constant"):
            name = said["arg"]["name"]
            value = held[said[f"{kind}_name"]]
        else:
            raise refuse(f"an input of kind {str(kind)[:50]}")
        _keep(values, name, value)
    for number, node in enumerate(graph["nodes"]):
        target = str(node["target"])
        try:
            _node(builder, target, node, values)
        except NetworkError as error:
            raise NetworkError(f"node {number}, {target[:100]}: {error}") from None
    outputs = []
    for spec in signature["output_specs"]:
        if set(spec) != {"user_output"} or set(spec["user_output"]["arg"]) != {"as_tensor"}:
            raise refuse("a forward pass that returns or changes something else than its output and states")
        outputs.append(_argument(spec["user_output"]["arg"], values))
    states = [one.name if isinstance(one, State) and one.nodes is not None else "?" for one in outputs[1:]]
    if not outputs or not isinstance(outputs[0], Tensor) or states != [one.name for one in taken]:
        raise refuse(
            f"a forward pass that takes {len(taken)} states and does not return its output and these, in order"
        )
    if taken and not builder.recurrent:
        raise NetworkError("states are taken by no recurrent layer: must. Save a network that uses them.")
    return builder.network(outputs[0], held)


def _node(builder: Builder, target: str, node: Mapping[str, Any], values: dict[str, Any]) -> None:
    """One operation of the graph; what it makes is added to the values."""
    parts = target.split(".")
    if target == "_operator.getitem" or len(parts) != 5 or parts[:3] != ["torch", "ops", "aten"]:
        raise refuse(f"operation {target[:100]}")
    arguments: list[Any] = []
    named: dict[str, Any] = {}
    for one in node["inputs"]:
        value = _argument(one["arg"], values)
        if one["kind"] == 1:
            arguments.append(value)
        else:
            named[str(one["name"])] = value
    result = perform(builder, SAME.get(parts[3], parts[3]), arguments, named)
    outputs = node["outputs"]
    if len(outputs) == 1 and "as_tensors" in outputs[0]:
        outputs = [{"as_tensor": one} for one in outputs[0]["as_tensors"]]
    results = list(result) if isinstance(result, list | tuple) else [result]
    if len(results) != len(outputs):
        raise refuse(f"{len(outputs)} results of {target[:100]}")
    for said, one in zip(outputs, results, strict=True):
        ((kind, value),) = said.items()
        if kind not in ("as_tensor", "as_sym_int"):
            raise refuse(f"a result {str(kind)[:50]}")
        _keep(values, value["name"] if kind == "as_tensor" else value["as_name"], one)


def _keep(values: dict[str, Any], name: Any, value: Any) -> None:
    if not isinstance(name, str) or name in values:
        raise NetworkError(f"value {name!r:.100} comes twice. Save the network anew.")
    values[name] = value


def _argument(said: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    """An argument of an operation: a value of the graph, or what stands there."""

    def value(name: Any) -> Any:
        if name not in values:
            raise NetworkError(f"value {name!r:.100} is not there yet. Save the network anew.")
        return values[name]

    ((kind, held),) = said.items()
    match kind:
        case "as_tensor":
            return value(held["name"])
        case "as_tensors":
            return [value(one["name"]) for one in held]
        case "as_none":
            return None
        case "as_int" | "as_float" | "as_bool" | "as_string" | "as_ints" | "as_floats" | "as_bools":
            return held
        case "as_sym_int" | "as_sym_ints":
            found = [
                value(one["as_name"]) if "as_name" in one else one["as_int"]
                for one in (held if kind == "as_sym_ints" else [held])
            ]
            return found if kind == "as_sym_ints" else found[0]
        case "as_scalar_type":
            return held - 1
    raise refuse(f"an argument {str(kind)[:50]}")
