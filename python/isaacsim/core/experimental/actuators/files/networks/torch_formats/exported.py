"""Archives of `torch.export.save` (`.pt2`) read as data: a graph in JSON and weights as raw numbers.

The archive also holds a pickle with sample inputs, which is never opened, and flags that would make PyTorch unpickle
weights, which are refused. Layout: measured on files of PyTorch 2.13.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks.metadata import read_json
from ....laws.networks.network import Network
from ..tracer import MOST_NUMBERS, ROWS, Value, read_by_rows
from .archive import Archive, are_whole, entry_names, metadata_of, only_our_errors, view_of
from .operations import perform
from .values import Builder, State, new_states, refuse

# numbers of types in the graph; they are one higher than those that operations take
DTYPES = {4: "<i4", 5: "<i8", 6: "<f2", 7: "<f4", 8: "<f8"}
STRIDED = 7
SAME = {"sym_size": "size", "_to_copy": "to", "lift_fresh_copy": "clone"}

# an object of the file
Json = Mapping[str, Any]


def matches(data: bytes) -> bool:
    """Return True for an archive of torch.export, by its entries."""
    names = entry_names(data)
    return "archive_format" in names or any(name.startswith("models/") for name in names)


@only_our_errors("torch.export archive")
def read(data: bytes) -> tuple[Network, dict[str, object]]:
    """The network and its metadata, `extra/metadata.json`.

    Its `forward` takes `x`, `(rows, inputs)`, with a recurrent layer `(rows, 1, inputs)` and the states, each `(layers,
    rows, hidden_size)`, and returns the output and the states in the same order. A `NetworkError` says that the file is
    damaged or too large, asks to be unpickled, or computes something that is unknown.
    """
    archive = Archive(data)
    names = [name for name in archive.names() if name.startswith("models/")]
    if len(names) != 1 or archive.read("archive_format") != b"pt2":
        raise NetworkError(f"archive holds {len(names)} graphs: must be pt2 with one. Save it with torch.export.save.")
    metadata = metadata_of(archive)
    held = _tensors(archive, names[0].removeprefix("models/").removesuffix(".json"))
    module = read_json(archive.read(names[0]), names[0])["graph_module"]
    sizes = _sizes_of_input(module)
    open_axes = [place for place, size in enumerate(sizes[:-1]) if size is None]
    axes = open_axes or range(len(sizes) - 1)
    try:
        return read_by_rows(axes, lambda rows: _Graph(module, held, sizes, rows).network()), metadata
    except NetworkError as error:
        fixed = "" if open_axes else " It was exported for a fixed number of rows: dynamic_shapes leaves it open."
        raise NetworkError(f"{error}{fixed}") from None


def _sizes_of_input(module: Json) -> list[int | None]:
    """Lengths of the axes of the first input, None for an open one."""
    given = [spec["user_input"]["arg"] for spec in module["signature"]["input_specs"] if "user_input" in spec]
    if not given or any(set(one) != {"as_tensor"} for one in given):
        raise refuse("a forward pass that takes something else than tensors")
    meta = module["graph"]["tensor_values"][given[0]["as_tensor"]["name"]]
    sizes = [_size(one) for one in meta["sizes"]]
    if meta["dtype"] not in DTYPES or len(sizes) not in (2, 3) or type(sizes[-1]) is not int:
        raise NetworkError(f"input of shape {sizes}: must be rows x inputs, or rows x 1 x inputs. Export it so.")
    return sizes


def _tensors(archive: Archive, model: str) -> dict[str, np.ndarray]:
    held: dict[str, np.ndarray] = {}
    # strides of 0 make many numbers of a few bytes
    left = MOST_NUMBERS
    for kind in ("weights", "constants"):
        folder = f"data/{kind}/"
        listed = read_json(archive.read(f"{folder}{model}_{kind}_config.json"), kind)["config"]
        for name, said in listed.items():
            if name in held:
                raise NetworkError(f"tensor {name!r:.100} comes twice. Save the network anew.")
            held[name] = _tensor(archive, folder, name, said, left)
            left -= held[name].size
    return held


def _tensor(archive: Archive, folder: str, name: str, said: Json, most: int) -> np.ndarray:
    what = f"tensor {name!r:.100}"
    dtype, meta = _dtype(what, said), said["tensor_meta"]
    sizes, strides = ([one["as_int"] for one in meta[key]] for key in ("sizes", "strides"))
    offset = meta["storage_offset"]["as_int"]
    if not are_whole((*sizes, *strides, offset)) or len(sizes) != len(strides):
        raise NetworkError(f"{what}: sizes and strides must be whole numbers. Save the network anew.")
    numbers = archive.read(f"{folder}{said['path_name']}")
    whole = len(numbers) % dtype.itemsize == 0 and len(sizes) <= 8 and math.prod(sizes) <= most
    if (view := view_of(np.frombuffer(numbers, dtype), offset, sizes, strides) if whole else None) is None:
        raise NetworkError(
            f"{what} of shape {sizes[:9]} has {len(numbers)} bytes: must be what its shape needs. Copy it again."
        )
    return view.copy()


def _dtype(what: str, said: Json) -> np.dtype:
    if said["use_pickle"] is not False:
        raise NetworkError(f"{what} asks to be unpickled, which runs code: must be raw numbers. Save the network anew.")
    meta = said["tensor_meta"]
    dtype = DTYPES.get(meta["dtype"])
    if dtype is None or meta["layout"] != STRIDED or not isinstance(said["path_name"], str):
        raise NetworkError(f"{what} has type {meta['dtype']!r:.50}: must be dense float32. Save the network so.")
    return np.dtype(dtype)


def _size(said: Json) -> int | None:
    return said["as_int"] if "as_int" in said else None


class _Graph:
    def __init__(self, module: Json, held: Mapping[str, np.ndarray], sizes: Sequence[int | None], rows: int) -> None:
        width = sizes[-1]
        assert width is not None
        if any(size not in (1, None) for place, size in enumerate(sizes[:-1]) if place != rows):
            raise NetworkError(
                f"input of shape {list(sizes)}: must be one step of time. Export the network with (rows, 1, inputs)."
            )
        self._graph, self._signature, self._held = module["graph"], module["signature"], held
        self._input = Value(0, (*(ROWS if place == rows else 1 for place in range(len(sizes) - 1)), width))
        self._builder = Builder(width)
        self._values: dict[str, object] = {}
        self._taken: list[State] = []

    def network(self) -> Network:
        """Return what the graph computes."""
        first = True
        for spec in self._signature["input_specs"]:
            ((kind, said),) = spec.items()
            if kind == "user_input":
                name = said["arg"]["as_tensor"]["name"]
                self._keep(name, self._input if first else self._state(name))
                first = False
            elif kind in ("parameter", "buffer", "tensor_constant"):
                self._keep(said["arg"]["name"], self._held[said[f"{kind}_name"]])
            else:
                raise refuse(f"an input of kind {str(kind)[:50]}")
        for number, node in enumerate(self._graph["nodes"]):
            target = str(node["target"])
            try:
                self._compute(target, node)
            except NetworkError as error:
                raise NetworkError(f"node {number}, {target[:100]}: {error}") from None
        output = self._output()
        if self._taken and not self._builder.cells:
            raise NetworkError("states are taken by no recurrent layer: must. Save a network that uses them.")
        return self._builder.network_of(output, self._held)

    def _state(self, name: str) -> State:
        lengths = [_size(one) for one in self._graph["tensor_values"][name]["sizes"]]
        if len(lengths) != 3 or lengths[0] is None or lengths[2] is None or len(self._taken) == 2:
            raise NetworkError(f"state {name!r:.100} of shape {lengths}: must be layers x rows x hidden size.")
        self._taken.append(State("hc"[len(self._taken)], lengths[0], lengths[2]))
        return self._taken[-1]

    def _output(self) -> Value:
        outputs = []
        for spec in self._signature["output_specs"]:
            if set(spec) != {"user_output"} or set(spec["user_output"]["arg"]) != {"as_tensor"}:
                raise refuse("a forward pass that returns or changes something else than its output and states")
            outputs.append(self._argument(spec["user_output"]["arg"]))
        taken = [one.name for one in self._taken]
        if not outputs or not isinstance(outputs[0], Value) or new_states(outputs[1:]) != taken:
            raise refuse(
                f"a forward pass that takes {len(self._taken)} states and does not return its output and these, "
                "in order"
            )
        return outputs[0]

    def _compute(self, target: str, node: Json) -> None:
        parts = target.split(".")
        if target == "_operator.getitem" or len(parts) != 5 or parts[:3] != ["torch", "ops", "aten"]:
            raise refuse(f"operation {target[:100]}")
        given = [(one["kind"], one.get("name"), self._argument(one["arg"])) for one in node["inputs"]]
        arguments = [value for kind, _, value in given if kind == 1]
        named = {str(name): value for kind, name, value in given if kind != 1}
        self._keep_all(node, perform(self._builder, SAME.get(parts[3], parts[3]), arguments, named), target)

    def _keep_all(self, node: Json, result: object, target: str) -> None:
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
            self._keep(value["name"] if kind == "as_tensor" else value["as_name"], one)

    def _keep(self, name: object, value: object) -> None:
        if not isinstance(name, str) or name in self._values:
            raise NetworkError(f"value {name!r:.100} comes twice. Save the network anew.")
        self._values[name] = value

    def _value(self, name: str) -> Any:
        if name not in self._values:
            raise NetworkError(f"value {name!r:.100} is not there yet. Save the network anew.")
        return self._values[name]

    def _argument(self, said: Json) -> Any:
        ((kind, held),) = said.items()
        match kind:
            case "as_tensor":
                return self._value(held["name"])
            case "as_tensors":
                return [self._value(one["name"]) for one in held]
            case "as_none":
                return None
            case "as_int" | "as_float" | "as_bool" | "as_string" | "as_ints" | "as_floats" | "as_bools":
                return held
            case "as_sym_int":
                return self._whole_number(held)
            case "as_sym_ints":
                return [self._whole_number(one) for one in held]
            case "as_scalar_type":
                return held - 1
        raise refuse(f"an argument {str(kind)[:50]}")

    def _whole_number(self, said: Json) -> Any:
        return self._value(said["as_name"]) if "as_name" in said else said["as_int"]
