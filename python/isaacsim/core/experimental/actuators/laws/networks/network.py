"""A network as plain data: the result of every reader of a checkpoint, and the input of every evaluator.

A network is a list of operations on values. Each value is a row of float32 numbers per actuator; value 0 is the input,
operation `i` makes value `i + 1`. It holds data only, so reading a checkpoint never runs anything in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ...base.errors import NetworkError

Kind = Literal["mlp", "lstm", "gru"]
NUM_STATES = {"mlp": 0, "gru": 1, "lstm": 2}
"""Number of state arrays: none, hidden state, hidden and cell state."""

# elementwise functions of one value, and names of their parameters: piecewise linear ones, then smooth ones
UNARY: dict[str, tuple[str, ...]] = {
    **{"abs": (), "clamp": ("lower", "upper"), "leaky_relu": ("slope",), "neg": (), "relu": (), "sign": ()},
    **{"elu": ("alpha",), "erf": (), "exp": (), "log": (), "reciprocal": (), "sigmoid": (), "softplus": ("beta",)},
    **{"softsign": (), "sqrt": (), "tanh": ()},
}
# elementwise functions of two values of the same width; either may be one number wide
BINARY = ("add", "sub", "mul", "div", "minimum", "maximum", "pow")

# a few bytes of a file may ask for any number of values, of any width
MOST_OPERATIONS = 2000
MOST_COLUMNS = 2**20


@dataclass(frozen=True, eq=False)
class Constant:
    """Numbers of the checkpoint, shape `(width,)`."""

    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Linear:
    """`weight @ x + bias`; weight `(out, in)`, bias `(out,)`."""

    source: int
    weight: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True)
class Unary:
    """An elementwise function of one value, see `UNARY`."""

    function: str
    source: int
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True)
class Binary:
    """An elementwise function of two values, see `BINARY`."""

    function: str
    first: int
    second: int


@dataclass(frozen=True)
class Concatenate:
    """Values one after the other."""

    sources: tuple[int, ...]


@dataclass(frozen=True)
class Slice:
    """Numbers `start … stop - 1` of a value."""

    source: int
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class LSTMCell:
    """One step of one LSTM layer, gates in the order i, f, g, o as in PyTorch; its value is the new hidden state.

    With `[i, f, g, o] = weight_ih x + weight_hh h + bias`: `c' = σ(f) c + σ(i) tanh(g)`, `h' = σ(o) tanh(c')`.
    weight_ih `(4H, in)`, weight_hh `(4H, H)`, bias `(4H,)`. Source: PyTorch, `torch.nn.LSTM`.
    """

    source: int
    layer: int
    weight_ih: np.ndarray
    weight_hh: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True, eq=False)
class GRUCell:
    """One step of one GRU layer, gates in the order r, z, n as in PyTorch; its value is the new hidden state.

    `r = σ(W_ir x + b_ir + W_hr h + b_hr)`, z likewise, `n = tanh(W_in x + b_in + r (W_hn h + b_hn))`,
    `h' = (1 - z) n + z h`. weight_ih `(3H, in)`, weight_hh `(3H, H)`, biases `(3H,)`. Source: PyTorch, `torch.nn.GRU`.
    """

    source: int
    layer: int
    weight_ih: np.ndarray
    weight_hh: np.ndarray
    bias_ih: np.ndarray
    bias_hh: np.ndarray


Operation = Constant | Linear | Unary | Binary | Concatenate | Slice | LSTMCell | GRUCell


@dataclass(frozen=True, eq=False)
class Network:
    """A network of one output per actuator: its last operation, one number wide; `inputs` is the width of the input."""

    inputs: int
    operations: tuple[Operation, ...]
    widths: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        widths, columns = [self.inputs], self.inputs
        if len(self.operations) > MOST_OPERATIONS:
            raise NetworkError(f"{len(self.operations)} operations: must be {MOST_OPERATIONS} at most.")
        for number, operation in enumerate(self.operations, 1):
            widths.append(_Checked(operation, widths, number).width())
            columns += widths[-1]
            if columns > MOST_COLUMNS:
                raise NetworkError(f"values are wider than {MOST_COLUMNS} numbers together: must be narrower.")
        if widths[-1] != 1 or not self.operations:
            raise NetworkError(
                f"output has {widths[-1]} numbers per actuator: must be one scalar. Use a network of one output."
            )
        object.__setattr__(self, "widths", tuple(widths))
        cells = self.cells
        if [cell.layer for cell in cells] != list(range(len(cells))):
            raise NetworkError("recurrent layers must come in order, each once.")
        if len({(type(cell), cell.weight_hh.shape) for cell in cells}) > 1:
            raise NetworkError("recurrent layers must be of one kind and size.")

    @property
    def cells(self) -> list[LSTMCell | GRUCell]:
        """The recurrent layers."""
        return [operation for operation in self.operations if isinstance(operation, LSTMCell | GRUCell)]

    @property
    def kind(self) -> Kind:
        """Recurrent layers: none, LSTM or GRU."""
        cells = self.cells
        return "mlp" if not cells else "lstm" if isinstance(cells[0], LSTMCell) else "gru"

    @property
    def num_layers(self) -> int:
        """Number of recurrent layers."""
        return len(self.cells)

    @property
    def hidden_size(self) -> int:
        """Width of the hidden state of each recurrent layer, 0 without one."""
        return self.cells[0].weight_hh.shape[1] if self.cells else 0


def sources_of(operation: Operation) -> tuple[int, ...]:
    """Return the indices of the values that an operation takes."""
    match operation:
        case Constant():
            return ()
        case Binary(_, first, second):
            return first, second
        case Concatenate(sources):
            return sources
        case _:
            return (operation.source,)


def needed_for(output: int, operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations that value `output` needs, itself included, with new indices."""
    needed = {0, output}
    for number in range(output, 0, -1):
        if number in needed:
            needed.update(sources_of(operations[number - 1]))
    place = {number: new for new, number in enumerate(sorted(needed))}
    return [_moved(operations[number - 1], place) for number in place if number]


def is_one_plus_abs(operations: Sequence[Operation], x: int, value: int) -> bool:
    """Return True if a value is 1 + |x|, the divisor of x in softsign."""
    match operations[value - 1] if value else None:
        case Binary("add", first, second):
            pair = [operations[one - 1] for one in (first, second) if one]
            numbers = [one.values.tolist() for one in pair if isinstance(one, Constant)]
            return Unary("abs", x) in [one for one in pair if isinstance(one, Unary)] and numbers == [[1.0]]
    return False


def _moved(operation: Operation, place: Mapping[int, int]) -> Operation:
    match operation:
        case Constant():
            return operation
        case Binary(function, first, second):
            return Binary(function, place[first], place[second])
        case Concatenate(sources):
            return Concatenate(tuple(place[source] for source in sources))
        case _:
            return replace(operation, source=place[operation.source])


class _Checked:
    def __init__(self, operation: Operation, widths: list[int], number: int) -> None:
        self._operation, self._widths, self._number = operation, widths, number
        self._what = f"operation {number}, {type(operation).__name__}"

    def width(self) -> int:
        """Return the width, after everything about the operation is checked."""
        match self._operation:
            case Constant(values):
                self._check("values", values, *np.shape(values)[:1])
                return len(values)
            case Linear(source, weight, bias):
                self._check("weight", weight, len(bias), self._of(source))
                self._check("bias", bias, len(bias))
                return len(bias)
            case Unary(function, source, numbers):
                self._check_unary(function, numbers)
                return self._of(source)
            case Binary(function, first, second):
                return self._binary(function, {self._of(first), self._of(second)} - {1})
            case Concatenate(sources):
                return sum(map(self._of, sources))
            case Slice(source, start, stop):
                if not 0 <= start < stop <= self._of(source):
                    raise NetworkError(f"{self._what}: {start} … {stop} of a value {self._of(source)} wide.")
                return stop - start
            case LSTMCell() | GRUCell() as cell:
                return self._cell(cell)

    def _of(self, source: int) -> int:
        if not 0 <= source < self._number:
            raise NetworkError(f"{self._what}: value {source} is not there yet.")
        return self._widths[source]

    def _check(self, name: str, array: object, *shape: int) -> None:
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.shape != shape:
            has = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise NetworkError(f"{self._what}: {name} is {has}: must be float32 of shape {shape}.")
        if not np.isfinite(array).all():
            raise NetworkError(f"{self._what}: {name} has a number that is not finite. Train the network again.")

    def _check_unary(self, function: str, numbers: tuple[float, ...]) -> None:
        if function not in UNARY or len(numbers) != len(UNARY[function]) or not np.isfinite(numbers).all():
            raise NetworkError(f"{self._what}: {function}{numbers} is none of {', '.join(UNARY)}.")

    def _binary(self, function: str, widths: set[int]) -> int:
        if function not in BINARY:
            raise NetworkError(f"{self._what}: {function} is none of {', '.join(BINARY)}.")
        if len(widths) > 1:
            raise NetworkError(f"{self._what}: {function} of values {sorted(widths)} wide: must be equally wide.")
        return max(widths, default=1)

    def _cell(self, cell: LSTMCell | GRUCell) -> int:
        lstm, size = isinstance(cell, LSTMCell), cell.weight_hh.shape[-1]
        rows = (4 if lstm else 3) * size
        self._check("weight_ih", cell.weight_ih, rows, self._of(cell.source))
        self._check("weight_hh", cell.weight_hh, rows, size)
        for name in ("bias",) if lstm else ("bias_ih", "bias_hh"):
            self._check(name, getattr(cell, name), rows)
        return size
