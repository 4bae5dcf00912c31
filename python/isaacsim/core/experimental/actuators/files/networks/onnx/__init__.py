"""Networks in ONNX files, read as data with the `onnx` package and written with it.

Operators and their meaning: `docs/Operators.md` of the repository `onnx/onnx`. Every node, attribute and initializer of
a file is honored, or the file is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks.metadata import read_properties
from ....laws.networks.network import Network
from ..tracer import ROWS, State, Tensor, Tracer, Value, read_by_rows
from .messages import FLOATS, REMEDY, Attribute, ReadFile, array_of, attribute_of, parse, with_data
from .operators import Above, Node, apply
from .writer import write as write

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto


# broadcasting is that of NumPy since this version; unknown attributes are refused in every version
OLDEST = 9
NAMES = ("input_name", "output_name", "hidden_in_name", "hidden_out_name", "cell_in_name", "cell_out_name")


def matches(data: bytes) -> bool:
    """Return True if a file begins with the version of this format, a small number."""
    return data[:1] == b"\x08" and 0 < (data[1] if len(data) > 1 else 0) < 100


def read(data: bytes, beside: ReadFile | None = None) -> tuple[Network, dict[str, object]]:
    """The network and its metadata.

    `beside` reads a file with weights, by its path from the folder of this one. A `NetworkError` says that the file is
    damaged, refers to other files, or computes something that a `Network` cannot.
    """
    model = parse(data)
    properties = {one.key: one.value for one in model.metadata_props}
    if len(properties) != len(model.metadata_props):
        raise NetworkError("metadata: a property comes twice. Write the file again.")
    metadata = read_properties(properties)
    _check_model(model)
    names = {key: said for key in NAMES if isinstance(said := metadata.get(key), str)}
    others = {key: said for key, said in metadata.items() if key not in names}
    constants: dict[str, np.ndarray] = {}
    for tensor in model.graph.initializer:
        if not tensor.name or tensor.name in constants:
            raise NetworkError(f"initializer {tensor.name!r:.100} comes twice: names must differ. Export it again.")
        constants[tensor.name] = array_of(with_data(tensor, beside))
    return _network(model.graph, constants, names), others


def _network(graph: GraphProto, constants: Mapping[str, np.ndarray], names: Mapping[str, str]) -> Network:
    inputs = [one for one in graph.input if one.name not in constants]
    if not inputs or len({one.name for one in graph.input}) != len(graph.input):
        raise NetworkError("graph: must have inputs of different names. Export the network again.")
    inputs.sort(key=lambda one: one.name != names.get("input_name"))
    shape = _shape(inputs[0])
    if len(shape) not in (2, 3):
        name = inputs[0].name
        raise NetworkError(f"input {name!r:.100} of shape {list(shape)[:9]}: must be rows x numbers. {REMEDY}")
    axes = [place for place, size in enumerate(shape[:-1]) if size is None] or range(len(shape) - 1)
    return read_by_rows(axes, lambda place: _Reader(graph, constants).read(inputs, shape, place, names))


def _check_model(model: ModelProto) -> None:
    """Raise for a model that consists of anything but ONNX's operators and dense numbers."""
    opset = {one.domain: one.version for one in model.opset_import}.get("", 0)
    if opset < OLDEST:
        raise NetworkError(f"opset {opset}: must be {OLDEST} or newer. Export the network with opset 17.")
    if len(model.functions) or len(model.training_info):
        raise NetworkError(f"functions of its own: must be made of operators of ONNX. {REMEDY}")
    if len(model.graph.sparse_initializer) or len(model.graph.quantization_annotation):
        raise NetworkError(f"sparse or quantised numbers: must be dense float32. {REMEDY}")


def _shape(one: ValueInfoProto) -> tuple[int | None, ...]:
    tensor = one.type.tensor_type
    if tensor.elem_type not in FLOATS:
        raise NetworkError(f"input {one.name!r:.100} has type {tensor.elem_type}: must be float32. Export it so.")
    return tuple(axis.dim_value if axis.HasField("dim_value") else None for axis in tensor.shape.dim)


class _Reader:
    def __init__(self, graph: GraphProto, constants: Mapping[str, np.ndarray]) -> None:
        self.graph = graph
        self.tensors: dict[str, Tensor | Above] = dict(constants)
        self.unused = set(constants)

    def read(
        self, inputs: Sequence[ValueInfoProto], shape: Sequence[int | None], place: int, names: Mapping[str, str]
    ) -> Network:
        """Return the network; `shape` is that of its first input, whose axis `place` is that of rows."""
        *axes, width = shape
        # a step of time may have an open length, and has length 1
        if width is None or width < 1 or {*axes[:place], *axes[place + 1 :]} - {1, None}:
            raise NetworkError(f"input {inputs[0].name!r:.100} of shape {list(shape)}: must be rows x 1 x numbers.")
        self.to = Tracer(width, shape[place])
        x = (ROWS if number == place else size or 1 for number, size in enumerate(axes))
        self.tensors[inputs[0].name] = Value(0, (*x, width))
        counts = {one.name: self._take_state(one) for one in inputs[1:]}
        for number, node in enumerate(self.graph.node):
            self._follow(number, node)
        if self.unused:
            left = ", ".join(sorted(self.unused))
            raise NetworkError(f"initializers {left[:200]}: must be used by a node. {REMEDY}")
        return self._outputs(counts, names)

    def _take_state(self, one: ValueInfoProto) -> int:
        sizes = _shape(one)
        flat = len(sizes) == 2
        count = 1 if flat else sizes[0] if len(sizes) == 3 else None
        if not count or count > 64 or not (width := sizes[-1]):
            raise NetworkError(f"input {one.name!r:.100} of shape {list(sizes)}: must be layers x rows x numbers.")
        self.tensors[one.name] = State("", one.name, tuple(range(count)), width, flat)
        return count

    def _follow(self, number: int, node: NodeProto) -> None:
        what = f"node {number} {node.name[:60]!r}, operator {node.op_type[:60]}"
        try:
            results = self._results(node)
        except NetworkError as error:
            raise NetworkError(f"{what}: {error}{'' if REMEDY in str(error) else f' {REMEDY}'}") from None
        for name, tensor in zip(node.output, results, strict=False):
            if name in self.tensors:
                raise NetworkError(f"{what}: value {name!r:.100} comes twice. Export the network again.")
            if name:
                self.tensors[name] = tensor
        if any(node.output[len(results) :]):
            raise NetworkError(f"{what}: has more outputs than are known. {REMEDY}")

    def _results(self, node: NodeProto) -> list[Tensor]:
        attributes = _attributes(node)
        self._check_weights(node)
        given = [self._get(name) if name else None for name in node.input]
        if any(isinstance(one, Above) for one in given[node.op_type == "Where" :]):
            raise NetworkError("computes with a comparison.")
        self.to.count(given)
        results = apply(node.op_type, Node(self.to, given, attributes, len(node.output)))
        results = [_without_objects(one) for one in results]
        self.to.count(results)
        if attributes:
            raise NetworkError(f"attributes {', '.join(attributes)[:200]} are unknown.")
        return results

    def _check_weights(self, node: NodeProto) -> None:
        """Raise for a recurrent layer whose weights are computed."""
        if node.op_type not in ("LSTM", "GRU"):
            return
        for name, what in zip(node.input[1:4], ("weights", "weights", "biases"), strict=False):
            if name and not isinstance(self.tensors.get(name), np.ndarray):
                raise NetworkError(f"must embed {node.op_type} {what}: {name!r:.100} is no constant in the file.")

    def _get(self, name: str) -> Any:
        if name not in self.tensors:
            raise NetworkError(f"value {name!r:.100} is not there yet: nodes must come in the order of computation.")
        self.unused.discard(name)
        return self.tensors[name]

    def _outputs(self, counts: Mapping[str, int], names: Mapping[str, str]) -> Network:
        """Effort and states, by the names in the metadata, else in the order of the inputs."""
        outputs = [one.name for one in self.graph.output]
        if len(set(outputs)) != len(outputs) or len(outputs) != 1 + len(counts):
            raise NetworkError(f"graph has {len(outputs)} outputs: must be effort and {len(counts)} states. {REMEDY}")
        effort = names.get("output_name", outputs[0])
        if effort not in outputs:
            raise NetworkError(f"metadata output_name {effort!r:.100}: must be an output of the graph. Correct it.")
        outputs.remove(effort)
        after = dict(zip(counts, outputs, strict=True))
        pairs = {names.get(f"{one}_in_name", ""): names.get(f"{one}_out_name", "") for one in ("hidden", "cell")}
        if {*pairs} - {""} == {*counts} and {*pairs.values()} - {""} == {*outputs}:
            after = {name: pairs[name] for name in counts}
        return self.to.finish(self._get(effort), [(name, counts[name], self._get(after[name])) for name in counts])


def _attributes(node: NodeProto) -> dict[str, Attribute]:
    if node.domain not in ("", "ai.onnx"):
        raise NetworkError(f"domain {node.domain!r:.100} is unknown.")
    attributes: dict[str, Attribute] = {}
    for one in node.attribute:
        if one.name in attributes or one.ref_attr_name:
            raise NetworkError(f"attribute {one.name!r:.100} comes twice.")
        attributes[one.name] = attribute_of(one)
    return attributes


def _without_objects(tensor: Tensor) -> Tensor:
    """The tensor; part of a shape without the number of rows as whole numbers."""
    if isinstance(tensor, np.ndarray) and tensor.dtype == object and ROWS not in tensor.reshape(-1).tolist():
        return tensor.astype(np.int64)
    return tensor
