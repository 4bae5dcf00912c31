"""The operators of ONNX that networks are made of, each as a function from its node to tensors."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks.network import GRUCell, LSTMCell, Unary
from ..tracer import ROWS, SELU, Cell, Tensor, Tracer, Value, folded
from .messages import FLOATS, Attribute

MOST_AXES = 8
UNARY = {
    **{"Abs": "abs", "Elu": "elu", "Erf": "erf", "Exp": "exp", "LeakyRelu": "leaky_relu", "Log": "log", "Neg": "neg"},
    **{"Reciprocal": "reciprocal", "Relu": "relu", "Sigmoid": "sigmoid", "Sign": "sign", "Softplus": "softplus"},
    **{"Softsign": "softsign", "Sqrt": "sqrt", "Tanh": "tanh"},
}
BINARY = {
    **{"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Pow": "pow", "Min": "minimum", "Max": "maximum"},
}


@dataclass(frozen=True)
class Above:
    """True where value `source` exceeds a threshold; PyTorch's exporter writes it as part of a softplus."""

    source: int
    threshold: float


Given = Tensor | Above | None


class Node:
    """One node: its inputs, None for one that is left out, and attributes, removed as its operator takes them."""

    def __init__(self, to: Tracer, given: Sequence[Given], attributes: dict[str, Attribute], outputs: int) -> None:
        self.to, self.given, self.attributes, self.outputs = to, given, attributes, outputs

    def optional(self, place: int) -> Any:
        """Return an input, None if it is left out."""
        return self.given[place] if place < len(self.given) else None

    def tensor(self, place: int) -> Any:
        """Return an input."""
        if (tensor := self.optional(place)) is None:
            raise NetworkError(f"input {place} is missing.")
        return tensor

    def take(self, name: str, default: object) -> Any:
        """Take an attribute."""
        return self.attributes.pop(name, default)

    def number(self, place: int, name: str) -> float | None:
        """Take a number, an attribute in old versions and an input in new ones; None if there is none."""
        if name in self.attributes:
            return float(self.take(name, None))
        if (tensor := self.optional(place)) is None:
            return None
        if not isinstance(tensor, np.ndarray) or tensor.size != 1 or tensor.item() is ROWS:
            raise NetworkError(f"{name} is no constant number.")
        return float(tensor.reshape(-1)[0])

    def whole_numbers(self, place: int, name: str) -> list[Any] | None:
        """Take whole numbers, an attribute in old versions and an input in new ones; None if there are none."""
        most = self.outputs if name == "split" else MOST_AXES
        if name in self.attributes:
            value = self.take(name, None)
            value = value if isinstance(value, list) else [value]
        elif (tensor := self.optional(place)) is None:
            return None
        elif not is_index(tensor):
            raise NetworkError(f"{name} is no list of constant whole numbers.")
        else:
            value = tensor.reshape(-1)[: most + 1].tolist()
            # the number of rows is not known; only a shape may contain it
            if name != "shape" and ROWS in value:
                raise NetworkError(f"{name} depends on the number of rows.")
        if len(value) > most:
            raise NetworkError(f"{name} is longer than {most}.")
        return value


def is_index(tensor: object) -> bool:
    """Return True for constant whole numbers, of which one may be the number of rows."""
    return isinstance(tensor, np.ndarray) and tensor.dtype.kind in "iO"


Function = Callable[[Node], Tensor | list[Tensor]]
OPERATORS: dict[str, Function] = {}
# largest number of inputs of each, by default two
INPUTS: dict[str, int] = {}


def operator(name: str, inputs: int = 2) -> Callable[[Function], Function]:
    """Add a function to the operators."""

    def enter(function: Function) -> Function:
        OPERATORS[name], INPUTS[name] = function, inputs
        return function

    return enter


def apply(kind: str, node: Node) -> list[Tensor]:
    """The results of a node; a `NetworkError` if its operator is unknown, or cannot have its inputs or attributes."""
    if len(node.given) > INPUTS.get(kind, 2):
        raise NetworkError(f"has {len(node.given)} inputs.")
    if kind not in OPERATORS:
        raise NetworkError("is not one of those that a network here is made of.")
    results = OPERATORS[kind](node)
    return results if isinstance(results, list) else [results]


# elementwise functions


for _kind, _function in UNARY.items():
    operator(_kind, inputs=1)(lambda node, function=_function: node.to.unary(function, node.tensor(0)))
for _kind, _function in BINARY.items():
    operator(_kind)(lambda node, function=_function: node.to.binary(function, node.tensor(0), node.tensor(1)))

# with parameters
OPERATORS |= {
    "Elu": lambda node: node.to.unary("elu", node.tensor(0), node.take("alpha", 1.0)),
    "LeakyRelu": lambda node: node.to.unary("leaky_relu", node.tensor(0), node.take("alpha", 0.01)),
    "Softplus": lambda node: node.to.unary("softplus", node.tensor(0), 1.0),
    "Gelu": lambda node: node.to.gelu(node.tensor(0), node.take("approximate", "none")),
    "HardSigmoid": lambda node: _hard_gate(node, node.take("alpha", 0.2), node.take("beta", 0.5)),
    "HardSwish": lambda node: node.to.binary("mul", node.tensor(0), _hard_gate(node, 1 / 6, 0.5)),
    "Mish": lambda node: node.to.gated(node.tensor(0), "tanh", node.to.unary("softplus", node.tensor(0), 1.0)),
    "Swish": lambda node: node.to.gated(
        node.tensor(0), "sigmoid", node.to.binary("mul", node.tensor(0), node.take("alpha", 1.0))
    ),
    "Selu": lambda node: node.to.selu(node.tensor(0), node.take("alpha", SELU[0]), node.take("gamma", SELU[1])),
}


def _hard_gate(node: Node, slope: float, offset: float) -> Value:
    scaled = node.to.binary("mul", node.tensor(0), slope)
    return node.to.unary("clamp", node.to.binary("add", scaled, offset), 0.0, 1.0)


def _least_or_most(function: str) -> Function:
    return lambda node: functools.reduce(
        lambda x, y: node.to.binary(function, x, y), [node.tensor(place) for place in range(max(len(node.given), 1))]
    )


operator("Min", inputs=8)(_least_or_most("minimum"))
operator("Max", inputs=8)(_least_or_most("maximum"))


@operator("Div")
def _div(node: Node) -> Tensor:
    if all(isinstance(one, np.ndarray) and one.dtype.kind == "i" for one in node.given):
        return folded(_whole_quotients, node.tensor(0), node.tensor(1))
    return node.to.binary("div", node.tensor(0), node.tensor(1))


def _whole_quotients(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Quotients of whole numbers, rounded towards zero."""
    if not second.all():
        raise NetworkError("divides a whole number by zero.")
    quotients = np.abs(first) // np.abs(second)
    return np.where((first < 0) == (second < 0), quotients, -quotients)


@operator("Clip", inputs=3)
def _clip(node: Node) -> Tensor:
    lower, upper = node.number(1, "min"), node.number(2, "max")
    x = node.tensor(0)
    if lower is not None and upper is not None:
        return node.to.unary("clamp", x, lower, upper)
    if lower is not None:
        x = node.to.binary("maximum", x, lower)
    return x if upper is None else node.to.binary("minimum", x, upper)


@operator("Greater")
def _greater(node: Node) -> Any:
    return Above(node.to.value(node.tensor(0)).source, node.number(1, "threshold") or 0.0)


@operator("Where", inputs=3)
def _where(node: Node) -> Tensor:
    """PyTorch's softplus: above a threshold of 20 it is its argument, from which it differs by 2e-9 there."""
    condition, x, curve = node.tensor(0), node.to.value(node.tensor(1)), node.to.value(node.tensor(2))
    function = node.to.operations[curve.source - 1] if curve.source else None
    if not isinstance(condition, Above) or condition != Above(x.source, max(condition.threshold, 20.0)):
        raise NetworkError("chooses by something else than the threshold of a softplus.")
    if function != Unary("softplus", x.source, (1.0,)) or x.shape != curve.shape:
        raise NetworkError("chooses between something else than a softplus and its argument.")
    return curve


# layers


OPERATORS["MatMul"] = lambda node: node.to.matmul(node.tensor(0), node.tensor(1))


@operator("Gemm", inputs=3)
def _gemm(node: Node) -> Tensor:
    x, weight, bias = node.tensor(0), node.tensor(1), node.optional(2)
    alpha, beta = node.take("alpha", 1.0), node.take("beta", 1.0)
    if node.take("transA", 0) or not isinstance(weight, np.ndarray) or weight.ndim != 2:
        raise NetworkError("must be x @ weight + bias with a constant weight.")
    weight = weight.T if node.take("transB", 0) else weight
    result = node.to.matmul(x, weight if alpha == 1 else weight * np.float32(alpha))
    if bias is None:
        return result
    return node.to.binary("add", result, bias if beta == 1 else node.to.binary("mul", bias, beta))


@operator("LayerNormalization", inputs=3)
def _layer_norm(node: Node) -> Tensor:
    """Along the last axis; products are summed in float32 whatever `stash_type` is."""
    x, axis = node.tensor(0), node.take("axis", -1)
    node.take("stash_type", 1)
    if axis not in (-1, len(x.shape) - 1):
        raise NetworkError(f"normalises along axis {axis} of {len(x.shape)}: must be the last one.")
    return node.to.layer_norm(x, node.tensor(1), node.optional(2), node.take("epsilon", 1e-5))


@operator("Dropout")
def _dropout(node: Node) -> Tensor:
    if len(node.given) > 1 or node.outputs > 1 or node.attributes:
        raise NetworkError("is there for training.")
    return node.tensor(0)


# ONNX's index of each of PyTorch's gates, and the activations of a layer
GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2)}
ACTIVATIONS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh")}


def sorted_gates(values: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """Return rows of gates in another order."""
    return np.concatenate([np.split(values, len(order))[gate] for gate in order])


@operator("LSTM", inputs=7)
def _lstm(node: Node) -> list[Tensor]:
    return _recurrent(node, LSTMCell, {"h": node.optional(5), "c": node.optional(6)}, *_layer(node, "LSTM"))


@operator("GRU", inputs=6)
def _gru(node: Node) -> list[Tensor]:
    return _recurrent(node, GRUCell, {"h": node.optional(5)}, *_layer(node, "GRU", linear_before_reset=1))


def _recurrent(node: Node, kind: Cell, before: dict[str, Tensor | None], x: Value, *arrays: np.ndarray) -> list[Tensor]:
    y, *after = node.to.recurrent(kind, x, before, arrays)
    # an axis of directions, of which there is one
    return [node.to.unsqueeze(y, [1]), *after]


def _layer(node: Node, kind: str, **more: int) -> tuple[Value, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The input, weights and biases of one recurrent layer, gates in PyTorch's order."""
    size = node.take("hidden_size", 0)
    _require_as_pytorch(node, kind, more)
    x = None if (given := node.optional(0)) is None else node.to.value(given)
    if not isinstance(x, Value) or len(x.shape) != 3 or x.shape[0] != 1 or x.shape[1] is not ROWS:
        raise NetworkError(f"{kind}: must take one step of time, rows and numbers.")
    w, r, b = _weights(node, kind, x.width, size)
    w, r, bias_ih, bias_hh = (sorted_gates(one, GATES[kind]) for one in (w[0], r[0], *np.split(b[0], 2)))
    return x, w, r, bias_ih, bias_hh


def _require_as_pytorch(node: Node, kind: str, more: Mapping[str, int]) -> None:
    """Raise for a layer that PyTorch has not; `more` are attributes of the kind that must have a value."""
    activations, direction = ACTIVATIONS[kind], node.take("direction", "forward")
    if ",".join(node.take("activations", activations)).lower() != ",".join(activations).lower():
        raise NetworkError(f"{kind}: activations must be {', '.join(activations)}.")
    if direction != "forward" or node.take("layout", 0) != 0 or node.take("input_forget", 0) != 0:
        raise NetworkError(f"{kind}: direction must be forward, layout 0, input_forget 0.")
    for name, value in more.items():
        if node.take(name, 0) != value:
            raise NetworkError(f"{kind}: {name} must be {value}, as in PyTorch.")
    if node.optional(4) is not None or node.optional(7) is not None:
        raise NetworkError(f"{kind}: must have no lengths of sequences and no peepholes.")


def _weights(node: Node, kind: str, inputs: int, size: int) -> list[np.ndarray]:
    rows = len(GATES[kind]) * size
    arrays = [node.optional(place) for place in (1, 2, 3)]
    if arrays[2] is None and 0 < size <= 2**16:
        arrays[2] = np.zeros((1, 2 * rows), np.float32)
    if not all(isinstance(one, np.ndarray) for one in arrays):
        raise NetworkError(f"{kind}: W, R and B must be constants.")
    shapes = {"input weights W": (1, rows, inputs), "hidden weights R": (1, rows, size), "biases B": (1, 2 * rows)}
    for (name, shape), values in zip(shapes.items(), arrays, strict=True):
        if values.shape != shape or values.dtype != np.float32:
            raise NetworkError(f"{kind}: {name} must be constants of shape {shape}.")
    return arrays


# constants and shapes

CONSTANTS = {
    **{"value": None, "value_float": np.float32, "value_floats": np.float32},
    **{"value_int": np.int64, "value_ints": np.int64},
}


@operator("Constant", inputs=0)
def _constant(node: Node) -> Tensor:
    if len(node.attributes) != 1:
        raise NetworkError("must have one value.")
    name, value = node.attributes.popitem()
    if name not in CONSTANTS:
        raise NetworkError(f"attribute {name[:100]} is unknown.")
    return value if isinstance(value, np.ndarray) else np.array(value, CONSTANTS[name])


@operator("Cast")
def _cast(node: Node) -> Tensor:
    x, dtype = node.tensor(0), node.take("to", None)
    # a shape or index stays a whole number
    if dtype not in FLOATS and not (is_index(x) and dtype in (6, 7)):
        raise NetworkError(f"to type {dtype}: must be float32.")
    node.take("saturate", None)
    if dtype not in FLOATS or not isinstance(x, np.ndarray):
        return x
    if x.dtype == object:
        raise NetworkError("computes with the number of rows.")
    return x.astype(np.float32)


@operator("Concat", inputs=10000)
def _concat(node: Node) -> Tensor:
    if "axis" not in node.attributes:
        raise NetworkError("axis is missing.")
    return node.to.concatenate([node.tensor(place) for place in range(len(node.given))], node.take("axis", 0))


@operator("Slice", inputs=5)
def _slice(node: Node) -> Tensor:
    x = node.tensor(0)
    for start, end, axis, step in _ranges(node):
        # exporters write slices of all rows
        every = start == 0 and step == 1 and end >= 2**31 - 1
        if not (every and isinstance(x, Value) and x.shape[axis : axis + 1 or None] == (ROWS,)):
            x = node.to.slice(x, axis, start, end, step)
    return x


def _ranges(node: Node) -> list[tuple[int, int, int, int]]:
    """Start, end, axis and step of each range of a slice."""
    names = ("starts", "ends", "axes", "steps")
    starts, ends, axes, steps = (node.whole_numbers(place, name) for place, name in enumerate(names, 1))
    axes = list(range(len(starts or ()))) if axes is None else axes
    steps = [1] * len(axes) if steps is None else steps
    if not starts or not ends or not len(starts) == len(ends) == len(axes) == len(steps):
        raise NetworkError("starts, ends, axes and steps must be as many.")
    return list(zip(starts, ends, axes, steps, strict=True))


@operator("Split")
def _split(node: Node) -> list[Tensor]:
    axis, outputs = node.take("axis", 0), node.outputs
    if (parts := node.take("num_outputs", outputs)) != outputs:
        raise NetworkError(f"num_outputs is {parts}: must be {outputs}.")
    sizes = node.whole_numbers(1, "split")
    if sizes is None:
        along = node.to.along(node.tensor(0), axis)[1]
        # the last one is smaller where they cannot be equal
        size = -(-along // max(parts, 1))
        sizes = [size] * (parts - 1) + [along - size * (parts - 1)]
    return node.to.split(node.tensor(0), axis, sizes)


@operator("Gather")
def _gather(node: Node) -> Tensor:
    x, indices = node.tensor(0), node.tensor(1)
    if not is_index(indices) or indices.ndim > 1:
        raise NetworkError("indices are no list of constant whole numbers.")
    axis = node.take("axis", 0)
    return node.to.take(x, axis, indices.tolist()) if indices.ndim else node.to.select(x, axis, indices.item())


OPERATORS |= {
    "Identity": lambda node: node.tensor(0),
    "Shape": lambda node: np.array(node.tensor(0).shape[node.take("start", 0) : node.take("end", None)], object),
    "Squeeze": lambda node: node.to.squeeze(node.tensor(0), node.whole_numbers(1, "axes")),
}


@operator("Unsqueeze")
def _unsqueeze(node: Node) -> Tensor:
    if (axes := node.whole_numbers(1, "axes")) is None:
        raise NetworkError("axes are missing.")
    return node.to.unsqueeze(node.tensor(0), axes)


@operator("Reshape")
def _reshape(node: Node) -> Tensor:
    x, target = node.tensor(0), node.whole_numbers(1, "shape") or []
    if node.take("allowzero", 0) == 0 and 0 in target:
        shape = x.shape
        if 0 in target[len(shape) :]:
            raise NetworkError("copies a length that is not there.")
        target = [shape[place] if size == 0 else size for place, size in enumerate(target)]
    return node.to.reshape(x, target)


@operator("Flatten")
def _flatten(node: Node) -> Tensor:
    x, axis = node.to.value(node.tensor(0)), node.take("axis", 1)
    axis = axis + len(x.shape) if axis < 0 else axis
    if not 0 <= axis <= len(x.shape):
        raise NetworkError(f"axis {axis} of {len(x.shape)}.")
    halves = [x.shape[:axis], x.shape[axis:]]
    return node.to.reshape(x, [ROWS if ROWS in half else math.prod(half) for half in halves])


@operator("Transpose")
def _transpose(node: Node) -> Tensor:
    x = node.tensor(0)
    return node.to.transpose(x, node.take("perm", list(reversed(range(len(x.shape))))))
