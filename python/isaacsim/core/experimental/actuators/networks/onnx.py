"""Networks in ONNX files, read as data with the `onnx` package and written with it.

Operators and their meaning: `docs/Operators.md` of the repository `onnx/onnx`. Every node, attribute and initializer of
a file is honoured, or the file is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import NetworkError
from ..extras import needs
from .metadata import read_properties, write_json
from .network import Binary, Concatenate, Constant, GRUCell, Linear, LSTMCell, Network, Slice, Unary
from .tracer import ROWS, State, Tensor, Tracer, Value, folded

# since this one, shapes fit each other as in NumPy; attributes unknown here are refused, whatever the version
OLDEST = 9
# an empty message takes two bytes in a file and a hundred in memory
MOST_FIELDS = 100_000
MOST_AXES = 8
DTYPES = {1: "<f4", 10: "<f2", 11: "<f8", 6: "<i4", 7: "<i8"}
FLOATS = (1, 10, 11)
NAMES = ("input_name", "output_name", "hidden_in_name", "hidden_out_name", "cell_in_name", "cell_out_name")
UNARY = {
    **{"Abs": "abs", "Elu": "elu", "Erf": "erf", "Exp": "exp", "LeakyRelu": "leaky_relu", "Log": "log", "Neg": "neg"},
    **{"Reciprocal": "reciprocal", "Relu": "relu", "Sigmoid": "sigmoid", "Sign": "sign", "Softplus": "softplus"},
    **{"Softsign": "softsign", "Sqrt": "sqrt", "Tanh": "tanh"},
}
BINARY = {
    **{"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Pow": "pow", "Min": "minimum", "Max": "maximum"},
}
# the type that each attribute has, whatever the operator, as numbers of AttributeProto
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


@dataclass(frozen=True)
class Above:
    """Whether value `source` is above a threshold: the exporter of PyTorch asks this beside a softplus."""

    source: int
    threshold: float


def _library() -> Any:
    with needs("An ONNX file", "nets", NetworkError):
        import onnx
    return onnx


def matches(data: bytes) -> bool:
    """Whether a file begins as one of this format does: with the version of it, a small number."""
    return data[:1] == b"\x08" and 0 < (data[1] if len(data) > 1 else 0) < 100


def read(data: bytes, beside: Callable[[str], bytes] | None = None) -> tuple[Network, dict[str, Any]]:
    """The network and its metadata.

    Args:
        data: The file.
        beside: What reads a file with weights, by its path from the folder of this one; None where there is no folder.

    Raises:
        NetworkError: The file is damaged, refers to other files, or computes something that a `Network` cannot.
    """
    model = _parsed(data)
    properties = {one.key: one.value for one in model.metadata_props}
    if len(properties) != len(model.metadata_props):
        raise NetworkError("metadata: a property comes twice. Write the file again.")
    metadata = read_properties(properties)
    opset = _opset(model)
    graph = model.graph
    constants = _constants(graph, beside)
    names = {key: metadata.pop(key) for key in NAMES if isinstance(metadata.get(key), str)}
    inputs = _inputs(graph, constants, names.get("input_name"))
    shape = _shape(inputs[0])
    dynamic = [place for place, size in enumerate(shape[:-1]) if size is None]
    problem: NetworkError | None = None
    # which of two axes is that of rows, and which one step of time, is said by what is done with them
    for place in (dynamic or range(len(shape) - 1)) if len(shape) in (2, 3) else ():
        try:
            return _Reader(graph, constants, opset).read(inputs, shape, place, names), metadata
        except NetworkError as error:
            problem = problem or error
    if problem is None:
        name = inputs[0].name
        raise NetworkError(f"input {name!r:.100} of shape {list(shape)[:9]}: must be rows x numbers. {REMEDY}")
    raise problem


def _parsed(data: bytes) -> Any:
    """The message that a file is."""
    onnx = _library()
    _check_fields(data, onnx.ModelProto.DESCRIPTOR)
    try:
        return onnx.ModelProto.FromString(data)
    # the error of the parser belongs to another package
    except Exception as error:
        raise NetworkError(f"{error!s:.200}: must be a whole ONNX file. Copy the file again.") from None


def _opset(model: Any) -> int:
    """The version of ONNX's operators that a model uses; what is made of anything else is refused."""
    opset = {one.domain: one.version for one in model.opset_import}.get("", 0)
    if opset < OLDEST:
        raise NetworkError(f"opset {opset}: must be {OLDEST} or newer. Export the network with opset 17.")
    if len(model.functions) or len(model.training_info):
        raise NetworkError(f"functions of its own: must be made of operators of ONNX. {REMEDY}")
    if len(model.graph.sparse_initializer) or len(model.graph.quantization_annotation):
        raise NetworkError(f"sparse or quantised numbers: must be dense float32. {REMEDY}")
    return opset


def _constants(graph: Any, beside: Callable[[str], bytes] | None) -> dict[str, np.ndarray]:
    """The numbers of a graph by name."""
    constants: dict[str, np.ndarray] = {}
    for tensor in graph.initializer:
        if not tensor.name or tensor.name in constants:
            raise NetworkError(f"initializer {tensor.name!r:.100} comes twice: names must differ. Export it again.")
        constants[tensor.name] = _numbers(_whole(tensor, beside))
    return constants


def _inputs(graph: Any, constants: Mapping[str, np.ndarray], first: str | None) -> list[Any]:
    """The inputs of a graph; the one of this name comes first."""
    inputs = [one for one in graph.input if one.name not in constants]
    if not inputs or len({one.name for one in graph.input}) != len(graph.input):
        raise NetworkError("graph: must have inputs of different names. Export the network again.")
    return sorted(inputs, key=lambda one: one.name != first)


def _check_fields(data: bytes, kind: Any) -> None:
    """Bound what the parser makes of a file, and refuse fields that it would skip, for nobody knows what they say."""
    left = MOST_FIELDS
    waiting = [(0, len(data), kind)]
    while waiting:
        first, end, kind = waiting.pop()
        for field, sized, at, after in _fields(data, first, end, kind):
            left -= 1
            if sized and field.message_type is not None and after <= end:
                waiting.append((at, after, field.message_type))
            elif sized and field.type == field.TYPE_STRING:
                _check_text(data[at:after], f"{kind.name}.{field.name}")
            # of whole numbers a byte is one
            elif sized and field.type in (field.TYPE_INT32, field.TYPE_INT64, field.TYPE_UINT64, field.TYPE_ENUM):
                left -= after - at
            if left < 0:
                raise NetworkError(f"more than {MOST_FIELDS} fields: must be fewer. Use a smaller network.")


def _fields(data: bytes, at: int, end: int, kind: Any) -> Iterator[tuple[Any, bool, int, int]]:
    """The fields of a message: each with whether its size stands before it, where it begins, and where it ends."""
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
    """Refuse a text of which the parser would give the bytes."""
    try:
        data.decode()
    except UnicodeDecodeError:
        raise NetworkError(f"{what} = {data!r:.100}: must be UTF-8. Copy the file again.") from None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A whole number of protobuf, and where it ends."""
    value = 0
    for place in range(10):
        byte = data[at + place] if at + place < len(data) else 0
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, at + place + 1
    raise NetworkError("number of more than 10 bytes: must be a whole ONNX file. Copy the file again.")


def _shape(one: Any) -> tuple[int | None, ...]:
    """Shape of an input, None for what is open."""
    tensor = one.type.tensor_type
    if tensor.elem_type not in FLOATS:
        raise NetworkError(f"input {one.name!r:.100} has type {tensor.elem_type}: must be float32. Export it so.")
    return tuple(axis.dim_value if axis.HasField("dim_value") else None for axis in tensor.shape.dim)


def _whole(tensor: Any, beside: Callable[[str], bytes] | None) -> Any:
    """The tensor itself, or for one whose numbers lie in another file one that holds them."""
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


def _numbers(tensor: Any) -> np.ndarray:
    """Numbers of a tensor: float32, or int64."""
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


class _Reader:
    """Follows one graph, with the axis of rows known."""

    def __init__(self, graph: Any, constants: Mapping[str, np.ndarray], opset: int) -> None:
        self.graph = graph
        self.opset = opset
        self.tensors: dict[str, Any] = dict(constants)
        self.unused = set(constants)

    def read(self, inputs: list[Any], shape: tuple[int | None, ...], place: int, names: Mapping[str, str]) -> Network:
        """The network; `shape` is that of its first input, whose axis `place` are the rows."""
        width = shape[-1]
        # a step of time may be open too, and is one
        if (
            width is None
            or width < 1
            or any(size not in (1, None) for size in shape[:-1][:place] + shape[:-1][place + 1 :])
        ):
            raise NetworkError(f"input {inputs[0].name!r:.100} of shape {list(shape)}: must be rows x 1 x numbers.")
        self.to = Tracer(width, shape[place])
        x = tuple(ROWS if number == place else size or 1 for number, size in enumerate(shape[:-1]))
        self.tensors[inputs[0].name] = Value(0, (*x, width))
        counts = {one.name: self._take_state(one) for one in inputs[1:]}
        for number, node in enumerate(self.graph.node):
            self._follow(number, node)
        if self.unused:
            left = ", ".join(sorted(self.unused))
            raise NetworkError(f"initializers {left[:200]}: must be used by a node. {REMEDY}")
        return self._outputs(counts, names)

    def _take_state(self, one: Any) -> int:
        """Take an input besides the first as a state, and return its number of layers."""
        sizes = _shape(one)
        flat = len(sizes) == 2
        count = 1 if flat else sizes[0] if len(sizes) == 3 else None
        if not count or count > 64 or not sizes[-1]:
            raise NetworkError(f"input {one.name!r:.100} of shape {list(sizes)}: must be layers x rows x numbers.")
        self.tensors[one.name] = State("", one.name, tuple(range(count)), sizes[-1], flat)
        return count

    def _follow(self, number: int, node: Any) -> None:
        """Add the tensors that a node makes."""
        what = f"node {number} {node.name[:60]!r}, operator {node.op_type[:60]}"
        try:
            results = self._node(node)
        except NetworkError as error:
            raise NetworkError(f"{what}: {error}{'' if REMEDY in str(error) else f' {REMEDY}'}") from None
        for name, tensor in zip(node.output, results, strict=False):
            if name in self.tensors:
                raise NetworkError(f"{what}: value {name!r:.100} comes twice. Export the network again.")
            if name:
                self.tensors[name] = tensor
        if any(node.output[len(results) :]):
            raise NetworkError(f"{what}: has more outputs than are known. {REMEDY}")

    def _outputs(self, counts: Mapping[str, int], names: Mapping[str, str]) -> Network:
        """Effort and states, by the names that metadata give, else in the order of the inputs."""
        outputs = [one.name for one in self.graph.output]
        if not outputs or len(set(outputs)) != len(outputs) or len(outputs) != 1 + len(counts):
            raise NetworkError(f"graph has {len(outputs)} outputs: must be effort and {len(counts)} states. {REMEDY}")
        effort = names.get("output_name", outputs[0])
        if effort not in outputs:
            raise NetworkError(f"metadata output_name {effort!r:.100}: must be an output of the graph. Correct it.")
        outputs.remove(effort)
        pairs = {names.get(f"{one}_in_name", ""): names.get(f"{one}_out_name", "") for one in ("hidden", "cell")}
        after = dict(zip(counts, outputs, strict=True))
        if set(pairs) - {""} == set(counts) and set(pairs.values()) - {""} == set(outputs):
            after = {name: pairs[name] for name in counts}
        return self.to.finish(self._get(effort), [(name, counts[name], self._get(after[name])) for name in counts])

    def _get(self, name: str) -> Any:
        if name not in self.tensors:
            raise NetworkError(f"value {name!r:.100} is not there yet: nodes must come in the order of computation.")
        self.unused.discard(name)
        return self.tensors[name]

    def _node(self, node: Any) -> list[Any]:
        """The tensors that a node makes."""
        if node.domain not in ("", "ai.onnx"):
            raise NetworkError(f"domain {node.domain!r:.100} is unknown.")
        said: dict[str, Any] = {}
        for one in node.attribute:
            if one.name in said or one.ref_attr_name:
                raise NetworkError(f"attribute {one.name!r:.100} comes twice.")
            kind = ATTRIBUTES.get(one.name)
            if kind is not None and kind != one.type:
                raise NetworkError(f"attribute {one.name} is of type {one.type}: must be {TYPES[kind]}.")
            said[one.name] = _attribute(one)
        if node.op_type in ("LSTM", "GRU"):
            for name, what in zip(node.input[1:4], ("weights", "weights", "biases"), strict=False):
                if name and not isinstance(self.tensors.get(name), np.ndarray):
                    raise NetworkError(f"must embed {node.op_type} {what}: {name!r:.100} is no constant in the file.")
        given = [self._get(name) if name else None for name in node.input]
        if any(isinstance(one, Above) for one in given[node.op_type == "Where" :]):
            raise NetworkError("computes with a comparison.")
        self.to.count(given)
        results = [_settled(one) for one in self._results(node.op_type, given, said, len(node.output))]
        self.to.count(results)
        if said:
            raise NetworkError(f"attributes {', '.join(said)[:200]} are unknown.")
        return results

    def _results(self, kind: str, given: list[Any], said: dict[str, Any], outputs: int) -> list[Any]:
        to = self.to

        def at(place: int) -> Any:
            if place >= len(given) or (tensor := given[place]) is None:
                raise NetworkError(f"input {place} is missing.")
            return tensor

        def numbers(place: int, name: str) -> list[Any] | None:
            """Whole numbers: an attribute of old versions, an input of new ones."""
            most = outputs if name == "split" else MOST_AXES
            if name in said:
                value = said.pop(name)
                value = value if isinstance(value, list) else [value]
            elif place < 0 or place >= len(given) or (tensor := given[place]) is None:
                return None
            elif not isinstance(tensor, np.ndarray) or tensor.dtype.kind not in "iO":
                raise NetworkError(f"{name} is no list of constant whole numbers.")
            else:
                value = tensor.reshape(-1)[: most + 1].tolist()
                # the number of rows is nowhere known; a shape may have it
                if name != "shape" and ROWS in value:
                    raise NetworkError(f"{name} depends on the number of rows.")
            if len(value) > most:
                raise NetworkError(f"{name} is longer than {most}.")
            return value

        def scalar(place: int, name: str) -> float | None:
            if name in said:
                return float(said.pop(name))
            if place >= len(given) or (tensor := given[place]) is None:
                return None
            if not isinstance(tensor, np.ndarray) or tensor.size != 1 or tensor.item() is ROWS:
                raise NetworkError(f"{name} is no constant number.")
            return float(tensor.reshape(-1)[0])

        most = {"Concat": 10000, "Clip": 3, "LSTM": 7, "GRU": 6, "Gemm": 3, "Slice": 5, "Min": 8, "Max": 8, "Where": 3}
        most["LayerNormalization"] = 3
        if len(given) > most.get(kind, 0 if kind == "Constant" else 1 if kind in UNARY else 2):
            raise NetworkError(f"has {len(given)} inputs.")
        match kind:
            case "Constant":
                if len(said) != 1:
                    raise NetworkError("must have one value.")
                name, value = said.popitem()
                kinds = {"value": None, "value_float": np.float32, "value_floats": np.float32}
                kinds |= {"value_int": np.int64, "value_ints": np.int64}
                if name not in kinds:
                    raise NetworkError(f"attribute {name[:100]} is unknown.")
                return [value if isinstance(value, np.ndarray) else np.array(value, kinds[name])]
            case "Elu":
                return [to.unary("elu", at(0), said.pop("alpha", 1.0))]
            case "LeakyRelu":
                return [to.unary("leaky_relu", at(0), said.pop("alpha", 0.01))]
            case "Softplus":
                return [to.unary("softplus", at(0), 1.0)]
            case _ if kind in UNARY:
                return [to.unary(UNARY[kind], at(0))]
            case "Clip":
                lower, upper = scalar(1, "min"), scalar(2, "max")
                if lower is not None and upper is not None:
                    return [to.unary("clamp", at(0), lower, upper)]
                x = at(0)
                if lower is not None:
                    x = to.binary("maximum", x, np.array(lower, np.float32))
                if upper is not None:
                    x = to.binary("minimum", x, np.array(upper, np.float32))
                return [x]
            case "HardSigmoid":
                alpha, beta = (
                    np.array(said.pop(name, default), np.float32) for name, default in (("alpha", 0.2), ("beta", 0.5))
                )
                return [to.unary("clamp", to.binary("add", to.binary("mul", at(0), alpha), beta), 0.0, 1.0)]
            case "HardSwish":
                sixth, half = np.array(1 / 6, np.float32), np.array(0.5, np.float32)
                gate = to.unary("clamp", to.binary("add", to.binary("mul", at(0), sixth), half), 0.0, 1.0)
                return [to.binary("mul", at(0), gate)]
            case "Gelu":
                return [to.gelu(at(0), said.pop("approximate", "none"))]
            case "Mish":
                x = at(0)
                return [to.binary("mul", x, to.unary("tanh", to.unary("softplus", x, 1.0)))]
            case "Greater":
                return [Above(to.value(at(0)).source, scalar(1, "threshold") or 0.0)]
            case "Where":
                return [self._softplus(at(0), to.value(at(1)), to.value(at(2)))]
            case "Swish":
                x = at(0)
                scaled = to.binary("mul", x, np.array(said.pop("alpha", 1.0), np.float32))
                return [to.binary("mul", x, to.unary("sigmoid", scaled))]
            case "Selu":
                alpha, gamma = (
                    said.pop("alpha", 1.67326319217681884765625),
                    said.pop("gamma", 1.05070102214813232421875),
                )
                return [to.binary("mul", to.unary("elu", at(0), alpha), np.array(gamma, np.float32))]
            case "Min" | "Max":
                x = at(0)
                for place in range(1, len(given)):
                    x = to.binary(BINARY[kind], x, at(place))
                return [x]
            case "Div" if all(isinstance(one, np.ndarray) and one.dtype.kind == "i" for one in given):
                return [folded(_divided, at(0), at(1))]
            case _ if kind in BINARY:
                return [to.binary(BINARY[kind], at(0), at(1))]
            case "MatMul":
                return [to.matmul(at(0), at(1))]
            case "Gemm":
                return [self._gemm(at(0), at(1), given[2] if len(given) > 2 else None, said)]
            case "LayerNormalization":
                return [self._layer_norm(at(0), at(1), given[2] if len(given) > 2 else None, said)]
            case "Identity":
                return [at(0)]
            case "Dropout":
                if len(given) > 1 or outputs > 1 or said:
                    raise NetworkError("is there for training.")
                return [at(0)]
            case "Cast":
                if (dtype := said.pop("to", None)) not in FLOATS and not _is_whole(at(0), dtype):
                    raise NetworkError(f"to type {dtype}: must be float32.")
                said.pop("saturate", None)
                x = at(0)
                if dtype not in FLOATS or not isinstance(x, np.ndarray):
                    return [x]
                if x.dtype == object:
                    raise NetworkError("computes with the number of rows.")
                return [x.astype(np.float32)]
            case "Concat":
                if "axis" not in said:
                    raise NetworkError("axis is missing.")
                return [to.concatenate([at(place) for place in range(len(given))], said.pop("axis"))]
            case "Slice":
                return [
                    self._slice(
                        at(0),
                        *(numbers(place, name) for place, name in enumerate(("starts", "ends", "axes", "steps"), 1)),
                    )
                ]
            case "Split":
                axis = said.pop("axis", 0)
                if (parts := said.pop("num_outputs", outputs)) != outputs:
                    raise NetworkError(f"num_outputs is {parts}: must be {outputs}.")
                sizes = numbers(1, "split")
                if sizes is None:
                    along = self.to._along(at(0), axis)[1]
                    # the last one is smaller where they cannot be equal
                    size = -(-along // max(parts, 1))
                    sizes = [size] * (parts - 1) + [along - size * (parts - 1)]
                return to.split(at(0), axis, sizes)
            case "Gather":
                indices = at(1)
                if not isinstance(indices, np.ndarray) or indices.dtype.kind not in "iO" or indices.ndim > 1:
                    raise NetworkError("indices are no list of constant whole numbers.")
                axis = said.pop("axis", 0)
                if indices.ndim:
                    return [to.take(at(0), axis, indices.tolist())]
                return [to.select(at(0), axis, indices.item())]
            case "Shape":
                shape = to.shape(at(0))[said.pop("start", 0) : said.pop("end", None)]
                return [np.array(shape, dtype=object)]
            case "Squeeze":
                return [to.squeeze(at(0), numbers(1, "axes"))]
            case "Unsqueeze":
                if (axes := numbers(1, "axes")) is None:
                    raise NetworkError("axes are missing.")
                return [to.unsqueeze(at(0), axes)]
            case "Reshape":
                x, target = at(0), numbers(1, "shape") or []
                if said.pop("allowzero", 0) == 0 and 0 in target:
                    shape = to.shape(x)
                    if 0 in target[len(shape) :]:
                        raise NetworkError("copies a length that is not there.")
                    target = [shape[place] if size == 0 else size for place, size in enumerate(target)]
                return [to.reshape(x, target)]
            case "Flatten":
                x, axis = to.value(at(0)), said.pop("axis", 1)
                axis = axis + len(x.shape) if axis < 0 else axis
                if not 0 <= axis <= len(x.shape):
                    raise NetworkError(f"axis {axis} of {len(x.shape)}.")
                halves = [x.shape[:axis], x.shape[axis:]]
                return [
                    to.reshape(x, [ROWS if ROWS in half else math.prod(size or 1 for size in half) for half in halves])
                ]
            case "Transpose":
                x = at(0)
                return [to.transpose(x, said.pop("perm", list(reversed(range(len(to.shape(x)))))))]
            case "LSTM" | "GRU":
                return self._recurrent(kind, [*given, *[None] * (8 - len(given))], said)
        raise NetworkError("is not one of those that a network here is made of.")

    def _softplus(self, condition: Tensor | Above, x: Value, curve: Value) -> Tensor:
        """PyTorch's softplus: beyond a threshold of 20 it is its argument, from which it differs by 2e-9 there."""
        function = self.to.operations[curve.source - 1] if curve.source else None
        if not isinstance(condition, Above) or condition != Above(x.source, max(condition.threshold, 20.0)):
            raise NetworkError("chooses by something else than the threshold of a softplus.")
        if function != Unary("softplus", x.source, (1.0,)) or x.shape != curve.shape:
            raise NetworkError("chooses between something else than a softplus and its argument.")
        return curve

    def _gemm(self, x: Tensor, weight: Tensor, bias: Tensor | None, said: dict[str, Any]) -> Tensor:
        alpha, beta = said.pop("alpha", 1.0), said.pop("beta", 1.0)
        if said.pop("transA", 0) or not isinstance(weight, np.ndarray) or weight.ndim != 2:
            raise NetworkError("must be x @ weight + bias with a constant weight.")
        weight = weight.T if said.pop("transB", 0) else weight
        result = self.to.matmul(x, weight if alpha == 1 else weight * np.float32(alpha))
        if bias is None:
            return result
        if beta != 1:
            bias = self.to.binary("mul", bias, np.array(beta, np.float32))
        return self.to.binary("add", result, bias)

    def _layer_norm(self, x: Tensor, scale: Tensor, bias: Tensor | None, said: dict[str, Any]) -> Tensor:
        """Along the last axis; products are summed in float32 whatever `stash_type` says."""
        axis, eps = said.pop("axis", -1), np.array(said.pop("epsilon", 1e-5), np.float32)
        said.pop("stash_type", 1)
        shape = self.to.shape(x)
        width = shape[-1]
        if axis not in (-1, len(shape) - 1) or width is ROWS:
            raise NetworkError(f"normalises along axis {axis} of {len(shape)}: must be the last one.")
        average = np.full((width, 1), 1.0 / width, np.float32)
        away = self.to.binary("sub", x, self.to.matmul(x, average))
        variance = self.to.matmul(self.to.binary("mul", away, away), average)
        y = self.to.binary("div", away, self.to.unary("sqrt", self.to.binary("add", variance, eps)))
        y = self.to.binary("mul", y, scale)
        return y if bias is None else self.to.binary("add", y, bias)

    def _slice(self, x: Tensor, starts: Any, ends: Any, axes: Any, steps: Any) -> Tensor:
        axes = list(range(len(starts or ()))) if axes is None else axes
        steps = [1] * len(axes) if steps is None else steps
        if not starts or not ends or not len(starts) == len(ends) == len(axes) == len(steps):
            raise NetworkError("starts, ends, axes and steps must be as many.")
        for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
            # all of the rows is what other networks take
            rows = isinstance(x, Value) and -len(x.shape) <= axis < len(x.shape) and x.shape[axis] is ROWS
            if not (rows and start == 0 and step == 1 and end >= 2**31 - 1):
                x = self.to.slice(x, axis, start, end, step)
        return x

    def _recurrent(self, kind: str, given: list[Tensor | None], said: dict[str, Any]) -> list[Tensor]:
        """One layer; gates i, o, f, c of an LSTM and z, r, h of a GRU are put into PyTorch's order."""
        what, gates, order = {"LSTM": ("LSTM", 4, (0, 2, 3, 1)), "GRU": ("GRU", 3, (1, 0, 2))}[kind]
        x, w, r, b, lengths, hidden, cell, peepholes = given
        size = said.pop("hidden_size", 0)
        direction = said.pop("direction", "forward")
        usual = ["Sigmoid", "Tanh", "Tanh"] if kind == "LSTM" else ["Sigmoid", "Tanh"]
        if [one.lower() for one in said.pop("activations", usual)] != [one.lower() for one in usual]:
            raise NetworkError(f"{what}: activations must be {', '.join(usual)}.")
        if direction != "forward" or said.pop("layout", 0) != 0 or said.pop("input_forget", 0) != 0:
            raise NetworkError(f"{what}: direction must be forward, layout 0, input_forget 0.")
        if kind == "GRU" and said.pop("linear_before_reset", 0) != 1:
            raise NetworkError("GRU: linear_before_reset must be 1, as in PyTorch.")
        if lengths is not None or peepholes is not None:
            raise NetworkError(f"{what}: must have no lengths of sequences and no peepholes.")
        x = self.to.value(x) if x is not None else x
        if not isinstance(x, Value) or len(x.shape) != 3 or x.shape[0] != 1 or x.shape[1] is not ROWS:
            raise NetworkError(f"{what}: must take one step of time, rows and numbers.")
        shapes = {
            "input weights W": (w, (1, gates * size, x.width)),
            "hidden weights R": (r, (1, gates * size, size)),
            "biases B": (b, (1, 2 * gates * size)),
        }
        if b is None:
            b = np.zeros((1, 2 * gates * size), np.float32) if 0 < size <= 2**16 else b
            shapes.pop("biases B")
        if not isinstance(w, np.ndarray) or not isinstance(r, np.ndarray) or not isinstance(b, np.ndarray):
            raise NetworkError(f"{what}: W, R and B must be constants.")
        for name, (values, shape) in shapes.items():
            if not isinstance(values, np.ndarray) or values.shape != shape or values.dtype != np.float32:
                raise NetworkError(f"{what}: {name} must be constants of shape {shape}.")

        def sorted_gates(values: np.ndarray) -> np.ndarray:
            return np.concatenate([values[gate * size : (gate + 1) * size] for gate in order])

        w, r = sorted_gates(w[0]), sorted_gates(r[0])
        bias_ih, bias_hh = sorted_gates(b[0][: gates * size]), sorted_gates(b[0][gates * size :])
        if hidden is None or (kind == "LSTM" and cell is None):
            hidden, cell = np.zeros(1), np.zeros(1)
        if kind == "LSTM":
            results = self.to.lstm(x, hidden, cell if cell is not None else hidden, w, r, bias_ih + bias_hh)
        else:
            results = self.to.gru(x, hidden, w, r, bias_ih, bias_hh)
        # an axis of directions, of which there is one
        return [self.to.unsqueeze(results[0], [1]), *results[1:]]


def _settled(tensor: Tensor) -> Tensor:
    """The tensor, and of a part of a shape without the number of rows the numbers."""
    if isinstance(tensor, np.ndarray) and tensor.dtype == object and ROWS not in tensor.reshape(-1).tolist():
        return tensor.astype(np.int64)
    return tensor


def _divided(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Quotients of whole numbers, which are rounded towards zero."""
    if not second.all():
        raise NetworkError("divides a whole number by zero.")
    quotients = np.abs(first) // np.abs(second)
    return np.where((first < 0) == (second < 0), quotients, -quotients)


def _is_whole(tensor: Tensor, dtype: Any) -> bool:
    """Whether a shape or index stays a whole number."""
    return isinstance(tensor, np.ndarray) and tensor.dtype.kind in "iO" and dtype in (6, 7)


def _attribute(one: Any) -> Any:
    """What an attribute says: a number, a string, a list of these, or a tensor."""
    match one.type:
        case 1:
            return one.f
        case 2:
            return one.i
        case 3:
            return one.s.decode("utf-8", "replace")
        case 4:
            return _numbers(one.t)
        case 6:
            if len(one.floats) > MOST_FIELDS:
                raise NetworkError(f"attribute {one.name!r:.100} has more than {MOST_FIELDS} numbers.")
            return list(one.floats)
        case 7:
            return list(one.ints)
        case 8:
            return [text.decode("utf-8", "replace") for text in one.strings]
    raise NetworkError(f"attribute {one.name!r:.100} is a graph or something else that is unknown.")


def write(network: Network, metadata: Mapping[str, Any]) -> bytes:
    """An ONNX file, opset 17, that takes float32 rows and is read by any other program too.

    An MLP takes `(rows, inputs)`. A recurrent network takes `(1, rows, inputs)`, and of an LSTM hidden and cell state
    `(layers, rows, hidden_size)`, of a GRU the hidden state of each layer, `(1, rows, hidden_size)`; it returns effort
    `(rows, 1)` and these states. Property `metadata` holds the metadata as JSON, with the names of inputs and outputs.

    Raises:
        NetworkError: The package onnx is missing, or metadata cannot be written as JSON.
    """
    onnx = _library()
    nodes: list[Any] = []
    initializers: list[Any] = []

    def node(kind: str, sources: list[str], outputs: str | list[str], **attributes: Any) -> None:
        outputs = [outputs] if isinstance(outputs, str) else outputs
        nodes.append(onnx.helper.make_node(kind, sources, outputs, **attributes))

    def constant(name: str, values: np.ndarray) -> str:
        initializers.append(onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def tensor(name: str, *shape: int | str) -> Any:
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)

    cells, size = network.cells, network.hidden_size
    recurrent = bool(cells)
    values = ["input_row" if recurrent else "input"]
    states = {"lstm": ["hidden", "cell"], "gru": ["hidden"], "mlp": []}[network.kind]
    if network.kind == "gru" and len(cells) > 1:
        before = {"hidden": [f"hidden_in_{layer}" for layer in range(len(cells))]}
        after = {"hidden": [f"hidden_out_{layer}" for layer in range(len(cells))]}
        ports = [(f"hidden_in_{layer}", f"hidden_out_{layer}", 1) for layer in range(len(cells))]
    else:
        split = len(cells) > 1
        before = {one: [f"{one}_in_{layer}" if split else f"{one}_in" for layer in range(len(cells))] for one in states}
        after = {
            one: [f"{one}_out_{layer}" if split else f"{one}_out" for layer in range(len(cells))] for one in states
        }
        ports = [(f"{one}_in", f"{one}_out", len(cells)) for one in states]
        if split:
            parts = constant("layers", np.ones(len(cells), np.int64))
            for one in states:
                node("Split", [f"{one}_in", parts], before[one], axis=0)
    zero = pair = ""
    if recurrent:
        zero = constant("axis_0", np.array([0], np.int64))
        pair = constant("axes_0_1", np.array([0, 1], np.int64))
        node("Squeeze", ["input", zero], values[0])
    for number, operation in enumerate(network.operations, 1):
        name = f"value_{number}"
        match operation:
            case Constant(numbers):
                constant(name, numbers[None])
            case Linear(source, weight, bias):
                sources = [values[source], constant(f"{name}_weight", weight), constant(f"{name}_bias", bias)]
                node("Gemm", sources, name, transB=1)
            case Unary("clamp", source, numbers):
                bounds = [
                    constant(f"{name}_{at}", np.array(one, np.float32)) for at, one in zip("ab", numbers, strict=True)
                ]
                node("Clip", [values[source], *bounds], name)
            case Unary("softplus", source, (beta,)) if beta != 1:
                factor = constant(f"{name}_beta", np.array(beta, np.float32))
                node("Mul", [values[source], factor], f"{name}_scaled")
                node("Softplus", [f"{name}_scaled"], f"{name}_plus")
                node("Div", [f"{name}_plus", factor], name)
            case Unary(function, source, numbers):
                kind = next(kind for kind, known in UNARY.items() if known == function)
                node(
                    kind,
                    [values[source]],
                    name,
                    **({"alpha": numbers[0]} if numbers and function != "softplus" else {}),
                )
            case Binary(function, first, second):
                kind = next(kind for kind, known in BINARY.items() if known == function)
                node(kind, [values[first], values[second]], name)
            case Concatenate(sources):
                node("Concat", [values[source] for source in sources], name, axis=1)
            case Slice(source, start, stop):
                bounds = [
                    constant(f"{name}_{at}", np.array([one], np.int64))
                    for at, one in (("start", start), ("stop", stop), ("axis", 1))
                ]
                node("Slice", [values[source], *bounds], name)
            case LSTMCell() | GRUCell():
                lstm = isinstance(operation, LSTMCell)
                order = (0, 3, 1, 2) if lstm else (1, 0, 2)

                def gates(numbers: np.ndarray, order: tuple[int, ...] = order) -> np.ndarray:
                    return np.concatenate([numbers[gate * size : (gate + 1) * size] for gate in order])

                biases = (
                    (operation.bias, np.zeros_like(operation.bias)) if lstm else (operation.bias_ih, operation.bias_hh)
                )
                # the input is a step already, and newton knows no Unsqueeze
                step = "input" if operation.source == 0 else f"{name}_step"
                if operation.source != 0:
                    node("Unsqueeze", [values[operation.source], zero], step)
                sources = [
                    step,
                    constant(f"{name}_w", gates(operation.weight_ih)[None]),
                    constant(f"{name}_r", gates(operation.weight_hh)[None]),
                    constant(f"{name}_b", np.concatenate([gates(bias) for bias in biases])[None]),
                    "",
                    *(before[one][operation.layer] for one in states),
                ]
                results = [f"{name}_y", *(after[one][operation.layer] for one in states)]
                more = {} if lstm else {"linear_before_reset": 1}
                node("LSTM" if lstm else "GRU", sources, results, hidden_size=size, **more)
                node("Squeeze", [f"{name}_y", pair], name)
        values.append(name)
    if len(cells) > 1 and network.kind == "lstm":
        for one in states:
            node("Concat", after[one], f"{one}_out", axis=0)
    last = network.operations[-1]
    # numbers that stand in the file have one row
    if isinstance(last, Constant):
        raise NetworkError("effort does not depend on the input: cannot be written as ONNX. Use safetensors.")
    node("Identity", [values[-1]], "effort")
    shape = (1, "rows", network.inputs) if recurrent else ("rows", network.inputs)
    graph = onnx.helper.make_graph(
        nodes,
        "actuator",
        [tensor("input", *shape), *(tensor(name, count, "rows", size) for name, _, count in ports)],
        [tensor("effort", "rows", 1), *(tensor(name, count, "rows", size) for _, name, count in ports)],
        initializers,
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    names: dict[str, Any] = {"input_name": "input", "output_name": "effort"}
    if len(ports) == len(states):
        for one in states:
            names |= {f"{one}_in_name": f"{one}_in", f"{one}_out_name": f"{one}_out"}
    about = {"model_type": network.kind, "num_layers": len(cells), "hidden_size": size} if recurrent else {}
    onnx.helper.set_model_props(model, {"metadata": write_json({**about, **metadata, **names})})
    return model.SerializeToString()
