"""What the code of a TorchScript archive computes with: values known by name only, and the operations on them.

`Tensor` stands for numbers that differ from row to row; everything else is a plain Python value or an array.
Operations on tensors become operations of a network, all others are computed on the spot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import NetworkError
from .network import (
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
    """A size of the hidden state, not known before the recurrent layer is met; what the code compares it with is it."""

    value: int | None = None


@dataclass(eq=False)
class Tensor:
    """Numbers that differ from row to row.

    Args:
        node: Index of its value in the network.
        shape: One axis is `ROWS`; of the others at most one is not 1.
        shared: Some other tensor may view the same numbers.
    """

    node: int
    shape: tuple[Any, ...]
    shared: bool = False

    @property
    def width(self) -> int:
        """Numbers per row."""
        return math.prod(n for n in self.shape if n is not ROWS)


@dataclass(eq=False)
class State:
    """A hidden or cell state, of all layers: the old one, or of the layers in `nodes` the new one."""

    name: str
    layers: Any
    size: Any
    nodes: tuple[int, ...] | None = None

    @property
    def shape(self) -> tuple[Any, ...]:
        """Layers, rows, hidden size."""
        return (self.layers, ROWS, self.size)


def refuse(what: str) -> NetworkError:
    """What to say of something outside the closed list."""
    return NetworkError(f"{what}: cannot be read as data. {REMEDY}")


def same(first: Any, second: Any, deep: bool = False) -> bool:
    """Are two plain values equal? An unknown size becomes what it is compared with.

    Raises:
        NetworkError: It depends on the number of rows or on their numbers.
    """
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        if deep or len(first) > 16:
            raise refuse("a comparison of long or nested lists")
        return len(first) == len(second) and all(same(a, b, True) for a, b in zip(first, second, strict=True))
    if isinstance(second, Unknown):
        first, second = second, first
    if isinstance(first, Unknown):
        if first is second:
            return True
        if type(second) is not int:
            raise refuse("a comparison of the size of the hidden state")
        if first.value is None:
            first.value = second
        return first.value == second
    if first is ROWS and second is ROWS:
        return True
    if not all(isinstance(one, bool | int | float | str | None) for one in (first, second)):
        raise refuse("a comparison with what differs from row to row")
    return first == second


def axis_of(dim: Any, ndim: int) -> int:
    """An axis counted from the front."""
    if type(dim) is not int or not -ndim <= dim < ndim:
        raise NetworkError(f"axis {dim} of {ndim}: is not there. Save the network anew.")
    return dim % ndim


def joint_shape(first: Sequence[Any], second: Sequence[Any]) -> tuple[Any, ...]:
    """Shape of two values broadcast together.

    Raises:
        NetworkError: They do not fit, or rows meet something else than rows.
    """
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
    """Collects the operations of a network.

    Args:
        inputs: Width of the input.
    """

    def __init__(self, inputs: int) -> None:
        self.operations: list[Operation] = []
        self.inputs = inputs
        self.used: set[tuple[Any, ...]] = set()
        self.work = 0
        self.recurrent = False

    def add(self, operation: Operation) -> int:
        """Index of the value of a new operation."""
        if len(self.operations) >= MOST_OPERATIONS:
            raise NetworkError(f"network has more than {MOST_OPERATIONS} operations: must be fewer.")
        self.operations.append(operation)
        return len(self.operations)

    def use(self, array: Any) -> np.ndarray:
        """An array as float32, noted as consumed."""
        array = np.asarray(array)
        self.use_of(array)
        if array.size > MAX_NUMBERS:
            raise NetworkError(f"array of shape {array.shape}: must have at most {MAX_NUMBERS} numbers.")
        return array.astype(np.float32)

    def use_of(self, array: np.ndarray) -> None:
        """Note that an array was consumed."""
        self.used.add(identity(array))
        self.count(array)

    def count(self, array: np.ndarray) -> None:
        """Bound what is computed on the spot."""
        self.work += array.nbytes // 4
        if self.work > MAX_WORK:
            raise NetworkError(f"code computes more than {MAX_WORK} numbers: must be fewer. Use a smaller network.")

    def constant(self, array: Any) -> int:
        """Index of a constant value."""
        return self.add(Constant(self.use(array).reshape(-1)))

    def unary(self, function: str, x: Tensor, *numbers: float) -> Tensor:
        """An elementwise function."""
        return Tensor(self.add(Unary(function, x.node, tuple(map(float, numbers)))), x.shape)

    def binary(self, function: str, first: Any, second: Any) -> Tensor:
        """An elementwise function of two values, at least one of which is a tensor."""
        shapes = [one.shape if isinstance(one, Tensor) else np.shape(one) for one in (first, second)]
        shape = joint_shape(*shapes)
        for one in (first, second):
            if isinstance(one, Tensor) and one.shape.count(ROWS) != 1:
                raise refuse("a value without rows")
        nodes = [one.node if isinstance(one, Tensor) else self.constant(one) for one in (first, second)]
        if function == "div" and is_one_plus_abs(self.operations, *nodes):
            return Tensor(self.add(Unary("softsign", nodes[0])), shape)
        return Tensor(self.add(Binary(function, *nodes)), shape)

    def linear(self, x: Tensor, weight: np.ndarray, bias: Any = None) -> Tensor:
        """`x @ weight.T + bias` along the last axis."""
        if weight.ndim != 2 or not x.shape or x.shape[-1] is ROWS or x.shape[-1] != weight.shape[1]:
            raise NetworkError(f"a linear layer of weight {weight.shape} does not fit a value of shape {x.shape}.")
        array = self.use(weight)
        out = len(array)
        numbers = np.zeros(out, np.float32) if bias is None else np.broadcast_to(self.use(bias).reshape(-1), (out,))
        return Tensor(self.add(Linear(x.node, array, np.ascontiguousarray(numbers))), (*x.shape[:-1], out))

    def recur(
        self, cell: Callable[..., Operation], gates: int, x: Tensor, states: list[Any], names: str, arguments: Any
    ) -> tuple[Tensor, ...]:
        """Recurrent layers of one step: their output and new states.

        Args:
            cell: `LSTMCell` or `GRUCell`.
            gates: 4 or 3.
            x: Their input, shape `(rows, 1, in)`, or `(1, rows, in)` where batches do not come first.
            states: The old states.
            names: What they must be, "hc" or "h".
            arguments: Weights, whether biases, number of layers, dropout, whether training, whether both directions,
                whether batches come first.
        """
        weights, biases, layers, dropout, train, both, batch_first = arguments
        if self.recurrent:
            raise refuse("more than one recurrent network")
        self.recurrent = True
        if both is not False or (train and dropout):
            raise refuse("a recurrent layer of two directions, or with dropout while training (save after eval())")
        got = [state.name if isinstance(state, State) and state.nodes is None else "?" for state in states]
        if got != list(names):
            raise refuse("a recurrent layer whose state is not what forward was given")
        if not isinstance(x, Tensor) or len(x.shape) != 3 or x.shape[:2] != ((ROWS, 1) if batch_first else (1, ROWS)):
            shape = x.shape if isinstance(x, Tensor) else "none"
            raise refuse(f"a recurrent layer with an input of shape {shape} (with batch_first: rows, 1, in)")
        each = 4 if biases else 2
        if type(layers) is not int or not isinstance(weights, list | tuple) or len(weights) != each * layers:
            raise refuse(f"{len(weights)} weights of a recurrent layer (projections are not known)")
        shape, node, hidden, nodes = x.shape, x.node, 0, []
        for layer in range(layers):
            arrays = [self.use(weight) for weight in weights[layer * each : (layer + 1) * each]]
            size = hidden or arrays[1].shape[-1]
            if any(len(array) != gates * size for array in arrays) or arrays[1].shape != (gates * size, size):
                raise NetworkError(f"layer {layer} has weights of shapes {[array.shape for array in arrays]}.")
            hidden = size
            if not biases:
                arrays += [np.zeros(gates * size, np.float32)] * 2
            if cell is LSTMCell:
                both_biases = arrays[2].astype(np.float64) + arrays[3]
                arrays[2:] = [both_biases.astype(np.float32)]
            node = self.add(cell(node, layer, *arrays))
            nodes.append(node)
        for state in states:
            if not (same(state.layers, layers) and same(state.size, hidden)):
                raise NetworkError(f"hidden state is not of {layers} layers of {hidden}, as the recurrent layer is.")
        new = [State(name, layers, hidden, tuple(nodes)) for name in names]
        return (Tensor(node, (*shape[:2], hidden)), *new)  # type: ignore[return-value]

    def network(self, output: Tensor, held: Mapping[str, np.ndarray]) -> Network:
        """What was collected, without what the output does not need.

        Args:
            output: Of the network.
            held: Tensors of the checkpoint by name, all of which must have been consumed.

        Raises:
            NetworkError: Something of the checkpoint has no part in the output.
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


def identity(array: np.ndarray) -> tuple[Any, ...]:
    """What tells one array of a checkpoint from another."""
    return (array.__array_interface__["data"][0], array.shape, array.strides)
