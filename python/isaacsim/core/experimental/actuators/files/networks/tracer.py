"""Follows tensors through a graph of a file, and builds the `Network` that the graph computes for one row.

A tensor of the graph has one axis of rows (actuators) and the numbers of a row along at most one other axis; all
further axes have length 1. Operations that would mix rows, or use more than one step of time, are refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base.errors import NetworkError
from ...laws.networks import network as net
from ...laws.networks.network import GRUCell, LSTMCell, Network


class Rows:
    """The number of rows, which is not known."""

    def __repr__(self) -> str:
        return "rows"


# the axis of rows, in a shape
ROWS = Rows()
Shape = tuple[Any, ...]
# alpha and scale
SELU = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
# largest constant that is computed
MOST_NUMBERS = 2**24
# of all constants that are used and computed together
MOST_WORK = 2**26


@dataclass(eq=False)
class Value:
    """Value `source` of the network as a tensor; if `shared`, another one may view the same numbers."""

    source: int
    shape: Shape
    shared: bool = False

    @property
    def width(self) -> int:
        """Numbers per row."""
        return math.prod(size for size in self.shape if size is not ROWS)

    def view(self, shape: Shape) -> Value:
        """Return the same numbers with other axes."""
        self.shared = True
        return Value(self.source, shape, shared=True)


@dataclass(frozen=True)
class State:
    """Hidden ("h") or cell ("c") state of recurrent layers, before or after the step; its first axis is the layers.

    `layers` are positions in input `name` before the step, and layers of the network after it.
    """

    which: str
    name: str
    layers: tuple[int, ...]
    width: int
    flat: bool = False
    """True if the axis of layers, of length 1, is left out."""

    @property
    def shape(self) -> Shape:
        """Lengths of the axes."""
        return (ROWS, self.width) if self.flat else (len(self.layers), ROWS, self.width)


Tensor = Value | State | np.ndarray
Number = bool | int | float
Operand = Tensor | Number
Cell = type[LSTMCell] | type[GRUCell]
FOLDS: dict[str, Callable[..., Any]] = {
    **{"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv},
    **{"minimum": np.minimum, "maximum": np.maximum},
    "pow": lambda a, b: np.power(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else float(a) ** b,
}
"""Functions of two constants."""


def read_by_rows(axes: Iterable[int], read: Callable[[int], Network]) -> Network:
    """Return what is read with the first of some axes as that of rows, with which it can be.

    How a graph uses two axes decides which one is that of rows, and which one step of time.
    """
    problems: list[NetworkError] = []
    for place in axes:
        try:
            return read(place)
        except NetworkError as error:
            problems.append(error)
    raise problems[0]


class Tracer:
    """The operations so far, and the states that recurrent layers take, for an input of this width.

    `rows` is the number that the graph was made for, None if it takes any. A constant added to a product with a weight
    becomes the bias of that operation where `joins_biases`.
    """

    def __init__(self, inputs: int, rows: int | None = None, joins_biases: bool = True) -> None:
        self.inputs, self.rows, self.joins_biases = inputs, rows, joins_biases
        self.operations: list[net.Operation] = []
        self.taken: list[dict[str, tuple[str, int]]] = []
        """Input and position of the states of each layer."""
        self.cells: list[int] = []
        """Value of each layer that is its hidden state after the step."""
        self._work = 0
        self._bare: set[int] = set()
        """Products with a weight that have no bias yet."""

    def add(self, operation: net.Operation, shape: Shape) -> Value:
        """Add an operation whose value is a tensor of this shape."""
        if len(self.operations) >= net.MOST_OPERATIONS:
            raise NetworkError(f"makes more than {net.MOST_OPERATIONS} operations: must be fewer.")
        self.operations.append(operation)
        return Value(len(self.operations), shape)

    def count(self, tensors: Iterable[object]) -> None:
        """Bound the constants that are used and computed."""
        self._work += sum(one.size for one in tensors if isinstance(one, np.ndarray))
        if self._work > MOST_WORK:
            raise NetworkError(f"computes more than {MOST_WORK} constant numbers: must be fewer.")

    # one tensor

    def unary(self, function: str, x: Tensor, *numbers: float) -> Value:
        """Return an elementwise function, see `network.UNARY`."""
        x = self.value(x)
        return self.add(net.Unary(function, x.source, tuple(map(float, numbers))), x.shape)

    def value(self, x: Tensor) -> Value:
        """Return a tensor that depends on the input, as the hidden state after the step does."""
        if isinstance(x, Value):
            return x
        if isinstance(x, State) and (x.which, x.name) == ("h", "") and len(x.layers) == 1:
            return Value(self.cells[x.layers[0]], x.shape)
        raise NetworkError("takes a state or a constant where it should take what depends on the input.")

    def gelu(self, x: Tensor, approximate: str) -> Tensor:
        """Return the Gaussian error linear unit, exact ("none") or with "tanh". Source: `torch.nn.GELU`."""
        if approximate == "tanh":
            cube = self.binary("mul", self.binary("mul", x, x), x)
            inner = self.binary("add", x, self.binary("mul", cube, 0.044715))
            gate = self.unary("tanh", self.binary("mul", inner, math.sqrt(2 / math.pi)))
        elif approximate == "none":
            gate = self.unary("erf", self.binary("mul", x, math.sqrt(0.5)))
        else:
            raise NetworkError(f"approximate {approximate!r:.50} is neither none nor tanh.")
        return self.binary("mul", self.binary("mul", x, 0.5), self.binary("add", gate, 1.0))

    def selu(self, x: Tensor, alpha: float = SELU[0], scale: float = SELU[1]) -> Any:
        """Return the scaled exponential linear unit. Source: `torch.nn.SELU`."""
        return self.binary("mul", self.unary("elu", x, alpha), scale)

    def gated(self, x: Tensor, function: str, gate: Tensor) -> Tensor:
        """Return x times a function of a gate."""
        return self.binary("mul", x, self.unary(function, gate))

    def layer_norm(self, x: Tensor, scale: Operand | None, bias: Operand | None, eps: float) -> Value:
        """Return a tensor normalised along its last axis; products are summed in float32."""
        if (width := x.shape[-1]) is ROWS:
            raise NetworkError("normalises along the rows: every actuator must be computed by itself.")
        average = np.full((1, width), 1.0 / width)
        away = self.binary("sub", x, self.linear(x, average))
        variance = self.linear(self.binary("mul", away, away), average)
        y = self.binary("div", away, self.unary("sqrt", self.binary("add", variance, eps)))
        y = y if scale is None else self.binary("mul", y, scale)
        return y if bias is None else self.binary("add", y, bias)

    def reshape(self, x: Tensor, target: Sequence[object]) -> Tensor:
        """Return a tensor with other axes of length 1; -1 is one open length, `ROWS` the number of rows."""
        if isinstance(x, np.ndarray):
            return _reshaped_constant(x, target)
        if isinstance(x, State):
            return self._reshaped_state(x, target)
        if list(target).count(ROWS) > 1:
            raise NetworkError(f"makes {_text(target)} of {_text(x.shape)}: rows are one axis.")
        wanted = (ROWS,) if ROWS in target else (-1, self.rows)
        # the axis of rows keeps its place if that is possible
        for place in sorted(range(len(target)), key=lambda place: place != x.shape.index(ROWS)):
            if target[place] not in wanted:
                continue
            shape = _with_rows(x.width, target, place) or ()
            if _order(shape) == _order(x.shape):
                return x.view(one_axis(shape))
        raise NetworkError(f"makes {list(target)} of {_text(x.shape)}: axes may only be added, dropped or moved.")

    def _reshaped_state(self, x: State, target: Sequence[object]) -> State:
        one = len(x.layers) == 1 and len(target) in (2, 3) and target[-1] == x.width
        if not one or any(size not in (1, -1, ROWS, self.rows) for size in target[:-1]):
            raise NetworkError(f"gives a state of {len(x.layers)} layers the shape {_text(target)}.")
        return replace(x, flat=len(target) == 2)

    def squeeze(self, x: Tensor, axes: Sequence[int] | None) -> Tensor:
        """Return a tensor without axes of length 1."""
        if isinstance(x, State):
            return _squeezed_state(x, list(axes or ()))
        if axes is None:
            axes = [place for place, size in enumerate(x.shape) if size == 1]
        shape, gone = list(x.shape), sorted({axis_of(place, len(x.shape)) for place in axes})
        if [shape.pop(place) for place in reversed(gone)] != [1] * len(gone):
            raise NetworkError(f"drops axes {gone} of {_text(x.shape)}: they must have length 1.")
        return _with_shape(x, tuple(shape))

    def unsqueeze(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Return a tensor with further axes of length 1."""
        if isinstance(x, State):
            if list(axes) not in ([0], [-3]) or not x.flat:
                raise NetworkError("adds axes to a state other than that of one layer.")
            return replace(x, flat=False)
        shape = list(x.shape)
        for place in sorted(axis_of(place, len(shape) + len(axes)) for place in axes):
            shape.insert(place, 1)
        return _with_shape(x, tuple(shape))

    def transpose(self, x: Tensor, order: Sequence[int]) -> Tensor:
        """Return a tensor with its axes in another order."""
        order = [axis_of(place, len(order)) for place in order]
        size = len(x.shape)
        if sorted(order) != list(range(size)):
            raise NetworkError(f"puts axes in the order {order}: must be those of {size}.")
        if isinstance(x, np.ndarray):
            return x.transpose(order)
        if isinstance(x, State):
            if order != sorted(order):
                raise NetworkError("puts the axes of a state in another order.")
            return x
        return x.view(tuple(x.shape[place] for place in order))

    def slice(self, x: Tensor, axis: int, start: int, stop: int, step: int = 1) -> Tensor:
        """Return numbers `start … stop - 1` along an axis."""
        if step != 1:
            raise NetworkError(f"takes every {step} number: must take numbers side by side.")
        axis, size = self.along(x, axis)
        start, stop, _ = slice(start, stop).indices(size)
        if start >= stop:
            raise NetworkError(f"takes {start} … {stop} of {size} numbers: must take one at least.")
        if isinstance(x, np.ndarray):
            return x.take(range(start, stop), axis)
        if isinstance(x, State):
            return replace(x, layers=x.layers[start:stop])
        if (start, stop) == (0, size):
            return x.view(x.shape)
        part = self.add(net.Slice(x.source, start, stop), (*x.shape[:axis], stop - start, *x.shape[axis + 1 :]))
        part.shared = x.shared = True
        return part

    def select(self, x: Tensor, axis: int, index: int) -> Tensor:
        """Return one number along an axis, which is dropped."""
        axis, size = self.along(x, axis)
        start = axis_of(index, size)
        return self.squeeze(self.slice(x, axis, start, start + 1), [axis])

    def take(self, x: Tensor, axis: int, indices: Sequence[int]) -> Tensor:
        """Return numbers along an axis, in any order."""
        axis, size = self.along(x, axis)
        starts = [axis_of(index, size) for index in indices]
        if isinstance(x, np.ndarray):
            return x.take(starts, axis)
        if isinstance(x, State) and len(set(starts)) < len(starts):
            raise NetworkError("takes a layer of a state twice.")
        if starts and starts == list(range(starts[0], starts[0] + len(starts))):
            return self.slice(x, axis, starts[0], starts[0] + len(starts))
        return self.concatenate([self.slice(x, axis, start, start + 1) for start in starts], axis)

    def split(self, x: Tensor, axis: int, sizes: Sequence[int]) -> list[Tensor]:
        """Return parts of these sizes along an axis."""
        axis, size = self.along(x, axis)
        if sum(sizes) != size or min(sizes, default=0) < 1:
            raise NetworkError(f"splits {size} numbers into {list(sizes)[:20]}: the parts must be the whole.")
        ends = np.cumsum(sizes).tolist()
        return [self.slice(x, axis, end - part, end) for part, end in zip(sizes, ends, strict=True)]

    def along(self, x: Tensor, axis: int) -> tuple[int, int]:
        """Return an axis other than that of rows, counted from the front, and its length."""
        if isinstance(x, State):
            if x.flat or axis not in (0, -3):
                raise NetworkError("takes part of a state other than whole layers.")
            return 0, len(x.layers)
        axis = axis_of(axis, len(x.shape))
        size = x.shape[axis]
        if size is ROWS:
            raise NetworkError("goes along the rows: every actuator must be computed by itself.")
        return axis, size

    # several tensors

    def concatenate(self, parts: Sequence[Tensor], axis: int) -> Tensor:
        """Return tensors one after the other along an axis."""
        if not parts:
            raise NetworkError("puts nothing side by side.")
        constants = [part for part in parts if isinstance(part, np.ndarray)]
        if len(constants) == len(parts):
            if sum(part.size for part in constants) > MOST_NUMBERS:
                raise NetworkError("makes a constant of too many numbers.")
            return folded(np.concatenate, constants, axis)
        if len(parts) == 1:
            return parts[0]
        if state := self._joined_states(parts, axis):
            return state
        return self._concatenated([self.value(part) for part in parts], axis)

    def _concatenated(self, values: Sequence[Value], axis: int) -> Value:
        first = values[0].shape
        axis = axis_of(axis, len(first))
        # shapes without that axis, and their number of axes
        others = {(len(one.shape), one.shape[:axis] + one.shape[axis + 1 :]) for one in values}
        if first[axis] is ROWS or len(others) > 1:
            raise NetworkError(f"puts {', '.join(_text(one.shape) for one in values)} side by side along axis {axis}.")
        shape = one_axis((*first[:axis], sum(one.shape[axis] for one in values), *first[axis + 1 :]))
        return self.add(net.Concatenate(tuple(one.source for one in values)), shape)

    def _joined_states(self, parts: Sequence[Tensor], axis: int) -> State | None:
        states = [state for part in parts if (state := self.state_after(part))]
        if axis not in (0, -3) or len(states) < len(parts):
            return None
        if {(one.which, one.flat) for one in states} != {(states[0].which, False)}:
            return None
        return replace(states[0], layers=tuple(layer for one in states for layer in one.layers))

    def binary(self, function: str, first: Operand, second: Operand) -> Any:
        """Return an elementwise function of two tensors or numbers, see `network.BINARY`."""
        first, second = self._operand(first), self._operand(second)
        if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
            return folded(FOLDS[function], first, second)
        result = _joint_shape(first, second)
        if function == "add":
            for product, bias in ((first, second), (second, first)):
                if value := self._with_bias(product, bias, result):
                    return value
        sources = [one.source if isinstance(one, Value) else self._constant(one) for one in (first, second)]
        if function == "div" and net.is_one_plus_abs(self.operations, *sources):
            return self.add(net.Unary("softsign", sources[0]), result)
        return self.add(net.Binary(function, *sources), result)

    def _operand(self, x: Operand) -> Value | np.ndarray:
        if isinstance(x, Number):
            return np.array(x, np.float32)
        return x if isinstance(x, np.ndarray) else self.value(x)

    def _with_bias(self, product: Value | np.ndarray, bias: Value | np.ndarray, shape: Shape) -> Value | None:
        """The sum of a product with a weight and a constant, as one operation; None if they are something else."""
        if not isinstance(product, Value) or product.source not in self._bare or product.shape != shape:
            return None
        linear = self.operations[product.source - 1]
        if not isinstance(bias, np.ndarray) or not isinstance(linear, net.Linear):
            return None
        values = np.broadcast_to(bias.reshape(-1), linear.bias.shape).astype(np.float32)
        return self.add(replace(linear, bias=values), product.shape)

    def _constant(self, values: np.ndarray) -> int:
        if values.size > MOST_NUMBERS:
            raise NetworkError(f"has {values.size} numbers.")
        return self.add(net.Constant(np.ascontiguousarray(values.reshape(-1), np.float32)), values.shape).source

    def matmul(self, x: Tensor, weight: Tensor) -> Value:
        """Return `x @ weight`, where weight `(in, out)` is a constant."""
        return self.linear(x, weight.T if isinstance(weight, np.ndarray) else weight)

    def linear(self, x: Tensor, weight: Tensor, bias: np.ndarray | Number | None = None) -> Value:
        """Return `x @ weight.T + bias` along the last axis, where weight `(out, in)` and bias are constants."""
        if not isinstance(weight, np.ndarray) or weight.ndim != 2:
            raise NetworkError("multiplies two tensors of which the second is no constant matrix.")
        if isinstance(x, np.ndarray):
            raise NetworkError("multiplies two constants. Multiply them before the network is saved.")
        x, (outputs, inputs) = self.value(x), weight.shape
        if x.shape[-1] != inputs:
            raise NetworkError(
                f"multiplies {_text(x.shape)} by {(inputs, outputs)}: as many numbers as the matrix has rows are "
                "needed."
            )
        numbers = np.broadcast_to(np.float32(0.0) if bias is None else np.reshape(bias, -1), outputs)
        result = self.add(net.Linear(x.source, _float32(weight), _float32(numbers)), one_axis((*x.shape[:-1], outputs)))
        if self.joins_biases and bias is None:
            self._bare.add(result.source)
        return result

    # recurrent layers

    def cell(self, kind: Cell, x: Value, layer: int, *arrays: np.ndarray) -> Value:
        """Return the output of a layer: gates i, f, g, o of an LSTM or r, z, n of a GRU; two weights, two biases."""
        w, r, bias_ih, bias_hh = map(_float32, arrays)
        if len(x.shape) != 3 or x.shape[2] is ROWS:
            raise NetworkError(f"a recurrent layer takes {_text(x.shape)}: must be one step of time, rows and numbers.")
        biases = (bias_ih + bias_hh,) if kind is LSTMCell else (bias_ih, bias_hh)
        value = self.add(kind(x.source, layer, w, r, *biases), (*x.shape[:2], r.shape[-1]))
        self.cells.append(value.source)
        return value

    def recurrent(
        self, kind: Cell, x: Value, states: dict[str, Tensor | None], arrays: Sequence[np.ndarray]
    ) -> list[Tensor]:
        """Return the output of a layer that takes these states, and its states after the step."""
        taken: dict[str, tuple[str, int]] = {}
        for which, state in states.items():
            if not isinstance(state, State) or len(state.layers) != 1 or not state.name:
                raise NetworkError(
                    "a recurrent layer begins with something else than its state: hidden and cell state must be inputs "
                    "of the network and outputs of it. Export a network that is called as net(x, (h, c)) or net(x, h)."
                )
            taken[which] = state.name, state.layers[0]
        self.taken.append(taken)
        layer, size = len(self.taken) - 1, arrays[1].shape[-1]
        return [self.cell(kind, x, layer, *arrays), *(State(which, "", (layer,), size) for which in states)]

    def state_after(self, x: Tensor) -> State | None:
        """Return a tensor as state after the step, None if it is none; an output of a layer is its hidden state."""
        if isinstance(x, State):
            return x if not x.name else None
        operation = self.operations[x.source - 1] if isinstance(x, Value) and x.source else None
        if isinstance(operation, LSTMCell | GRUCell) and len(x.shape) == 3 and x.shape[0] == 1:
            return State("h", "", (operation.layer,), operation.weight_hh.shape[1])
        return None

    # the end

    def finish(self, output: Tensor, states: Sequence[tuple[str, int, Tensor]]) -> Network:
        """The network with this effort as output.

        A state is its input, the number of layers in it, and the tensor that it is after the step. A `NetworkError`
        says that a state is not the new state of its layer, or that a layer has no influence.
        """
        places = {at: (which, layer) for layer, one in enumerate(self.taken) for which, at in one.items()}
        for name, count, after in states:
            state = self.state_after(after)
            wanted = [places.get((name, place)) for place in range(count)]
            if state is None or wanted != [(state.which, layer) for layer in state.layers]:
                raise NetworkError(
                    f"state {name!r:.100}: must be taken by a recurrent layer each, and be returned as that layer left "
                    "it. Export a network that returns effort and states in the order in which it takes them."
                )
        if sum(map(len, self.taken)) != sum(map(operator.itemgetter(1), states)):
            raise NetworkError("every state must belong to one recurrent layer, and be returned.")
        if not isinstance(output, Value):
            raise NetworkError("effort does not depend on the input.")
        return self.network(output)

    def network(self, output: Value) -> Network:
        """Return the network of a value, without operations that it does not need."""
        operations = net.needed_for(output.source, self.operations)
        if sum(isinstance(one, LSTMCell | GRUCell) for one in operations) < len(self.cells):
            raise NetworkError("a recurrent layer has no influence on the effort: must. Save a network that uses it.")
        # the effort may be the input itself
        return Network(self.inputs, tuple(operations) if output.source else (net.Slice(0, 0, self.inputs),))


def _reshaped_constant(x: np.ndarray, target: Sequence[Any]) -> np.ndarray:
    if ROWS in target:
        raise NetworkError("gives a constant the shape of the input.")
    try:
        return x.reshape(tuple(int(size) for size in target))
    except (ValueError, OverflowError) as error:
        raise NetworkError(str(error)) from None


def _squeezed_state(x: State, axes: list[int]) -> State:
    if axes not in ([0], [-3]) or len(x.layers) != 1 or x.flat:
        raise NetworkError("drops axes of a state other than that of one layer.")
    return replace(x, flat=True)


def _with_rows(width: int, target: Sequence[Any], place: int) -> Shape | None:
    """A shape whose axis `place` is that of rows, with a length in place of -1; None if the width is another."""
    others = [int(size) for number, size in enumerate(target) if number != place]
    if others.count(-1) == 1:
        known = math.prod(size for size in others if size != -1)
        if known < 1 or width % known:
            return None
        others[others.index(-1)] = width // known
    if min(others, default=1) < 1 or math.prod(others) != width:
        return None
    return (*others[:place], ROWS, *others[place:])


def _joint_shape(first: Value | np.ndarray, second: Value | np.ndarray) -> Shape:
    size = max(len(first.shape), len(second.shape))
    shapes = [(1,) * (size - len(one.shape)) + tuple(one.shape) for one in (first, second)]
    # two values have their rows at the same place; a constant is the same for all rows
    both = isinstance(first, Value) and isinstance(second, Value)
    shape: list[Any] = []
    for one, other in zip(*shapes, strict=True):
        if one != other and (1 not in (one, other) or (ROWS in (one, other) and both)):
            raise NetworkError(f"computes with {_text(first.shape)} and {_text(second.shape)}: they must fit.")
        shape.append(other if one == 1 else one)
    return one_axis(tuple(shape))


def axis_of(place: object, size: int) -> int:
    """Return an axis or index counted from the front."""
    if not isinstance(place, int | np.integer) or not -size <= place < size:
        raise NetworkError(f"goes to {place!r:.50} of {size}.")
    return int(place) % size


def _order(shape: Shape) -> list[Any]:
    return [size for size in shape if size != 1]


def one_axis(shape: Shape) -> Shape:
    """Return a shape, after a check that at most one axis besides that of rows has another length than 1."""
    if shape.count(ROWS) != 1 or len(_order(shape)) > 2 or len(shape) > 8:
        raise NetworkError(f"makes {_text(shape)}: must have rows, and the numbers of a row along one axis.")
    return shape


def _with_shape(x: Value | np.ndarray, shape: Shape) -> Value | np.ndarray:
    if isinstance(x, np.ndarray):
        return x.reshape([size for size in shape if size is not ROWS])
    return x.view(shape)


def _text(shape: Sequence[object]) -> str:
    return f"({', '.join(map(str, shape))})"


def _float32(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.float32)


def folded(function: Callable[..., np.ndarray], *arguments: object) -> np.ndarray:
    """Return a function of constants, unless its result is too large."""
    try:
        arrays = [one for one in arguments if isinstance(one, np.ndarray)]
        if arrays and math.prod(np.broadcast_shapes(*(one.shape for one in arrays))) > MOST_NUMBERS:
            raise NetworkError("makes a constant of too many numbers.")
        with np.errstate(all="ignore"):
            return np.asarray(function(*arguments))
    except (ValueError, TypeError) as error:
        raise NetworkError(f"{error}") from None
