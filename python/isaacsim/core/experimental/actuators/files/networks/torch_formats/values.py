"""Values that the code of a TorchScript archive or an exported graph computes with, and the network built from them.

A `Tensor` holds numbers that differ from row to row; everything else is a plain Python value or an array. Operations
on tensors become operations of a network, all others are computed immediately.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks.network import (
    MOST_OPERATIONS,
    Binary,
    Constant,
    GRUCell,
    Linear,
    LSTMCell,
    Network,
    Operation,
    Unary,
    is_one_plus_abs,
    needed_for,
    sources_of,
)

REMEDY = "Convert the checkpoint to ONNX, torch.onnx.export(...), or use a network of other operations."

# counts steps of training, and no forward pass reads it
IDLE = "num_batches_tracked"

MAX_WIDTH = 1 << 16
MAX_NUMBERS = 1 << 24
MAX_WORK = 1 << 26


class Rows:
    """The number of rows, which is not known."""

    def __repr__(self) -> str:
        return "rows"


ROWS = Rows()


@dataclass(eq=False)
class Unknown:
    """A size of the hidden state before the recurrent layer is met; becomes the first number it is compared with."""

    value: int | None = None


# lengths of axes: whole numbers, `ROWS` and unknown ones
Shape = tuple[Any, ...]


@dataclass(eq=False)
class Tensor:
    """Numbers that differ from row to row: the value of a node of the network.

    One axis of the shape is `ROWS`; of the others at most one is not 1. If `shared`, another tensor may view the same
    numbers.
    """

    node: int
    shape: Shape
    shared: bool = False

    @property
    def width(self) -> int:
        """Numbers per row."""
        return math.prod(n for n in self.shape if n is not ROWS)


@dataclass(eq=False)
class State:
    """A hidden or cell state of all layers: before the step, or after it where `nodes` names the layers' values."""

    name: str
    layers: int | Unknown
    size: int | Unknown
    nodes: tuple[int, ...] | None = None

    @property
    def shape(self) -> Shape:
        """Layers, rows, hidden size."""
        return (self.layers, ROWS, self.size)


Plain = bool | int | float | np.ndarray
Operand = Tensor | Plain
Shaped = Tensor | State | np.ndarray


@dataclass(frozen=True)
class Recurrent:
    """A kind of recurrent layer: its operation, number of gates, and names of its states."""

    cell: Callable[..., Operation]
    gates: int
    states: str


LSTM, GRU = Recurrent(LSTMCell, 4, "hc"), Recurrent(GRUCell, 3, "h")


def refuse(what: str) -> NetworkError:
    """Return the error for something outside the closed list."""
    return NetworkError(f"{what}: cannot be read as data. {REMEDY}")


def same(first: object, second: object) -> bool:
    """True if two plain values are equal; an unknown size becomes the value that it is compared with.

    A `NetworkError` says that the result depends on the number of rows or on their numbers.
    """
    if not isinstance(first, list | tuple) or not isinstance(second, list | tuple):
        return _same(first, second)
    if len(first) > 16 or any(isinstance(one, list | tuple) for one in first):
        raise refuse("a comparison of long or nested lists")
    return len(first) == len(second) and all(map(_same, first, second))


def _same(first: object, second: object) -> bool:
    for one, other in ((second, first), (first, second)):
        if isinstance(one, Unknown):
            return _resolve(one, other)
    if first is ROWS and second is ROWS:
        return True
    if not all(isinstance(one, bool | int | float | str | None) for one in (first, second)):
        raise refuse("a comparison with what differs from row to row")
    return first == second


def _resolve(unknown: Unknown, other: object) -> bool:
    if unknown is other:
        return True
    if type(other) is not int:
        raise refuse("a comparison of the size of the hidden state")
    if unknown.value is None:
        unknown.value = other
    return unknown.value == other


def axis_of(dim: object, ndim: int) -> int:
    """Return an axis counted from the front."""
    if type(dim) is not int or not -ndim <= dim < ndim:
        raise NetworkError(f"axis {dim} of {ndim}: is not there. Save the network anew.")
    return dim % ndim


def joint_shape(first: Shape, second: Shape) -> Shape:
    """The shape of two values broadcast together; a `NetworkError` if they do not fit, or rows meet other than rows."""
    ndim = max(len(first), len(second))
    shape = []
    for a, b in zip((1,) * (ndim - len(first)) + (*first,), (1,) * (ndim - len(second)) + (*second,), strict=True):
        if a is not b and a != b and 1 not in (a, b):
            raise NetworkError(f"values of shapes {tuple(first)} and {tuple(second)} do not fit together.")
        shape.append(b if a == 1 else a)
    if shape.count(ROWS) > 1 or sum(n is not ROWS and n != 1 for n in shape) > 1:
        raise refuse(f"a value of shape {tuple(shape)} (one width per row is known)")
    return tuple(shape)


class Builder:
    """Collects the operations of a network with an input of this width."""

    def __init__(self, inputs: int) -> None:
        self.operations: list[Operation] = []
        self.inputs = inputs
        self.used: set[tuple[object, ...]] = set()
        self.work = 0
        self.recurrent = False

    def add(self, operation: Operation) -> int:
        """Add an operation and return the index of its value."""
        if len(self.operations) >= MOST_OPERATIONS:
            raise NetworkError(f"network has more than {MOST_OPERATIONS} operations: must be fewer.")
        self.operations.append(operation)
        return len(self.operations)

    def use(self, array: Plain) -> np.ndarray:
        """Return an array as float32 and mark it as used."""
        array = np.asarray(array)
        self.use_of(array)
        if array.size > MAX_NUMBERS:
            raise NetworkError(f"array of shape {array.shape}: must have at most {MAX_NUMBERS} numbers.")
        return array.astype(np.float32)

    def use_of(self, array: np.ndarray) -> None:
        """Mark an array as used."""
        self.used.add(identity(array))
        self.count(array)

    def count(self, array: np.ndarray) -> None:
        """Bound the numbers that are computed immediately."""
        self.work += array.nbytes // 4
        if self.work > MAX_WORK:
            raise NetworkError(f"code computes more than {MAX_WORK} numbers: must be fewer. Use a smaller network.")

    def constant(self, array: Plain) -> int:
        """Return the index of a constant value."""
        return self.add(Constant(self.use(array).reshape(-1)))

    def unary(self, function: str, x: Tensor, *numbers: float) -> Tensor:
        """Return an elementwise function of one value."""
        return Tensor(self.add(Unary(function, x.node, tuple(map(float, numbers)))), x.shape)

    def binary(self, function: str, first: Operand, second: Operand) -> Tensor:
        """Return an elementwise function of two values, at least one of which is a tensor."""
        pair = (first, second)
        shape = joint_shape(*(one.shape if isinstance(one, Tensor) else np.shape(one) for one in pair))
        if any(isinstance(one, Tensor) and one.shape.count(ROWS) != 1 for one in pair):
            raise refuse("a value without rows")
        nodes = [one.node if isinstance(one, Tensor) else self.constant(one) for one in pair]
        if function == "div" and is_one_plus_abs(self.operations, *nodes):
            return Tensor(self.add(Unary("softsign", nodes[0])), shape)
        return Tensor(self.add(Binary(function, *nodes)), shape)

    def linear(self, x: Tensor, weight: np.ndarray, bias: Plain | None = None) -> Tensor:
        """Return `x @ weight.T + bias` along the last axis."""
        if weight.ndim != 2 or not x.shape or x.shape[-1] is ROWS or x.shape[-1] != weight.shape[1]:
            raise NetworkError(f"a linear layer of weight {weight.shape} does not fit a value of shape {x.shape}.")
        array = self.use(weight)
        out = len(array)
        numbers = np.zeros(out, np.float32) if bias is None else np.broadcast_to(self.use(bias).reshape(-1), (out,))
        return Tensor(self.add(Linear(x.node, array, np.ascontiguousarray(numbers))), (*x.shape[:-1], out))

    def recur(
        self, kind: Recurrent, x: Tensor, states: Sequence[State], arguments: Sequence[Any]
    ) -> tuple[Tensor | State, ...]:
        """The output and the new states of one step of recurrent layers.

        `x` has shape `(rows, 1, in)`, or `(1, rows, in)` where batches do not come first. `arguments` are weights,
        whether biases, number of layers, dropout, whether training, whether both directions, whether batches come
        first.
        """
        weights, biases, layers, dropout, train, both, batch_first = arguments
        if both is not False or (train and dropout):
            raise refuse("a recurrent layer of two directions, or with dropout while training (save after eval())")
        _check_step(kind, x, states, (ROWS, 1) if batch_first else (1, ROWS))
        nodes, size = self._layers(kind, x.node, weights, layers, 4 if biases else 2)
        for state in states:
            if not same([state.layers, state.size], [layers, size]):
                raise NetworkError(f"hidden state is not of {layers} layers of {size}, as the recurrent layer is.")
        new = [State(name, layers, size, tuple(nodes)) for name in kind.states]
        return (Tensor([x.node, *nodes][-1], (*x.shape[:2], size)), *new)

    def _layers(self, kind: Recurrent, node: int, weights: Any, layers: object, each: int) -> tuple[list[int], int]:
        """Add layers of `each` weights; return their values and their hidden size."""
        if self.recurrent:
            raise refuse("more than one recurrent network")
        self.recurrent = True
        if type(layers) is not int or not isinstance(weights, list | tuple) or len(weights) != each * layers:
            raise refuse(f"{len(weights)} weights of a recurrent layer (projections are not known)")
        nodes, size = [], 0
        for layer in range(layers):
            arrays = self._weights_of(kind, layer, weights[layer * each : (layer + 1) * each], size)
            size = arrays[1].shape[-1]
            node = self.add(kind.cell(node, layer, *arrays))
            nodes.append(node)
        return nodes, size

    def _weights_of(self, kind: Recurrent, layer: int, weights: Sequence[Plain], size: int) -> list[np.ndarray]:
        """Arrays of the operation of one layer; hidden size 0 is not known yet."""
        arrays = [self.use(weight) for weight in weights]
        size = size or arrays[1].shape[-1]
        rows = kind.gates * size
        if any(len(array) != rows for array in arrays) or arrays[1].shape != (rows, size):
            raise NetworkError(f"layer {layer} has weights of shapes {[array.shape for array in arrays]}.")
        if len(arrays) == 2:
            arrays += [np.zeros(rows, np.float32)] * 2
        if kind is LSTM:
            arrays[2:] = [(arrays[2].astype(np.float64) + arrays[3]).astype(np.float32)]
        return arrays

    def network(self, output: Tensor, held: Mapping[str, np.ndarray]) -> Network:
        """The network, without operations that the output does not need.

        All tensors that the checkpoint held, by name, must have been used: a `NetworkError` names one without part in
        the output.
        """
        operations = needed_for(output.node, self.operations)
        if self.recurrent and not any(isinstance(one, LSTMCell | GRUCell) for one in operations):
            raise NetworkError("output does not depend on the recurrent layer: must. Save a network that uses it.")
        network = Network(self.inputs, tuple(operations))
        if not any(0 in sources_of(operation) for operation in operations):
            raise NetworkError("output does not depend on the input: must. Save a network that uses it.")
        if idle := [name for name, one in held.items() if identity(one) not in self.used and not name.endswith(IDLE)]:
            raise refuse(f"a network that does not use its tensor {idle[0]:.100} (unused: {idle!s:.200})")
        return network


def _check_step(kind: Recurrent, x: object, states: Sequence[object], axes: Shape) -> None:
    """Check that a recurrent layer takes its states and one step of time."""
    got = [state.name if isinstance(state, State) and state.nodes is None else "?" for state in states]
    if got != list(kind.states):
        raise refuse("a recurrent layer whose state is not what forward was given")
    if not isinstance(x, Tensor) or len(x.shape) != 3 or x.shape[:2] != axes:
        shape = x.shape if isinstance(x, Tensor) else "none"
        raise refuse(f"a recurrent layer with an input of shape {shape} (with batch_first: rows, 1, in)")


def new_states(values: Sequence[object]) -> list[str]:
    """Return names of states after the step, "?" for anything else."""
    return [one.name if isinstance(one, State) and one.nodes is not None else "?" for one in values]


def identity(array: np.ndarray) -> tuple[object, ...]:
    """Return what distinguishes the arrays of a checkpoint: address, shape and strides."""
    return (array.__array_interface__["data"][0], array.shape, array.strides)
