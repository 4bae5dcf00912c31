"""A network laid out for evaluation: instructions over columns of numbers, one per actuator, that values share.

Columns begin with the input and the recurrent state: hidden (and cell) state of all layers, and the same again for
what it becomes. Behind them every value has its place from its making to its last reading, or for good.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .network import (
    BINARY,
    UNARY,
    Binary,
    Concatenate,
    Constant,
    GRUCell,
    Linear,
    LSTMCell,
    Network,
    Operation,
    Slice,
    Unary,
    sources_of,
)

CODES = ("constant", "copy", "linear", "lstm", "gru", *BINARY, *UNARY)
"""Names of all instructions."""


@dataclass(frozen=True)
class Instruction:
    """One instruction; its numbers stand in `Program.numbers` from `numbers` on.

    Args:
        code: One of `CODES`.
        out: First column that it writes.
        width: How many.
        first: First column of its first source; a recurrent layer has its layer's state besides.
        first_width: How many.
        second: First column of its second source, or of the columns that it works in.
        second_width: How many.
        numbers: Where its numbers begin, each array row-major: of a constant its values; of a linear map weight and
            bias; of a recurrent layer weights and biases in the order of their names in `LSTMCell` and `GRUCell`.
        layer: Number of the recurrent layer.
    """

    code: str
    out: int
    width: int
    first: int = 0
    first_width: int = 0
    second: int = 0
    second_width: int = 0
    numbers: int = 0
    layer: int = 0


class Program:
    """A network laid out.

    Args:
        network: What to compute.
        keep: Whether nothing takes the place of what was computed before, so that all can be read afterwards.
    """

    def __init__(self, network: Network, *, keep: bool = False) -> None:
        self.inputs, self.num_layers, self.hidden_size = network.inputs, network.num_layers, network.hidden_size
        self.num_states = {"mlp": 0, "gru": 1, "lstm": 2}[network.kind]
        """Number of state arrays: hidden state, then cell state."""
        self.instructions: list[Instruction] = []
        self._numbers: list[np.ndarray] = []
        self._count = 0
        state = self.num_layers * self.hidden_size
        self.columns = self.inputs + 2 * self.num_states * state
        """How many columns it works in."""
        # what is behind the state is free from here on, but for these pieces
        self._taken: dict[int, int] = {}
        self._base = self.columns
        self._new_hidden = self.inputs + self.num_states * state
        self._lay_out(network, keep)
        self.numbers = np.concatenate([np.zeros(0, np.float32), *self._numbers])
        """All numbers of all instructions, float32."""

    def _lay_out(self, network: Network, keep: bool) -> None:
        end = len(network.operations) + 1
        last = [end] * len(network.widths) if keep else _last_readings(network)
        places = [0]
        # values that are parts of others keep those in place: the piece that each value lies in
        pieces = [-1]
        until: dict[int, int] = {}

        def place(number: int, start: int, piece: int) -> None:
            places.append(start)
            pieces.append(piece)
            if piece >= 0:
                until[piece] = max(until.get(piece, 0), last[number])

        for number, operation in enumerate(network.operations, 1):
            width = network.widths[number]
            if isinstance(operation, Slice):
                place(number, places[operation.source] + operation.start, pieces[operation.source])
            elif isinstance(operation, LSTMCell | GRUCell):
                gates = self._take(4 * width)
                out = self._new_hidden + operation.layer * width
                self._emit(operation, network, places, out, width, gates)
                until[gates] = end if keep else number
                place(number, out, -1)
            else:
                out = -1
                sources = sources_of(operation) if isinstance(operation, Unary | Binary) else ()
                for piece in (pieces[source] for source in sources):
                    # what ends here and is as wide is replaced, unless a part of it is read besides
                    whole = all(network.widths[source] == width for source in sources if pieces[source] == piece)
                    if piece >= 0 and until[piece] == number and self._taken[piece] == width and whole:
                        out = piece
                if out < 0:
                    out = self._take(width)
                self._emit(operation, network, places, out, width, 0)
                place(number, out, out)
            for piece in [piece for piece in self._taken if until[piece] <= number]:
                del self._taken[piece]
        self.output = places[-1]
        """Column of the output."""

    def _take(self, width: int) -> int:
        """First place that is free over this many columns."""
        start = self._base
        for piece in sorted(self._taken):
            if piece - start >= width:
                break
            start = piece + self._taken[piece]
        self._taken[start] = width
        self.columns = max(self.columns, start + width)
        return start

    def _add(self, *arrays: np.ndarray) -> int:
        start = self._count
        for array in arrays:
            self._numbers.append(np.ravel(array))
            self._count += array.size
        return start

    def _emit(self, operation: Operation, network: Network, places: list[int], out: int, width: int, work: int) -> None:
        widths = network.widths
        match operation:
            case Constant(values):
                self.instructions.append(Instruction("constant", out, width, numbers=self._add(values)))
            case Linear(source, weight, bias):
                numbers = self._add(weight, bias)
                self.instructions.append(
                    Instruction("linear", out, width, places[source], widths[source], numbers=numbers)
                )
            case Unary(function, source, numbers):
                start = self._add(np.array(numbers, np.float32))
                self.instructions.append(Instruction(function, out, width, places[source], width, numbers=start))
            case Binary(function, first, second):
                self.instructions.append(
                    Instruction(function, out, width, places[first], widths[first], places[second], widths[second])
                )
            case Concatenate(sources):
                for source in sources:
                    self.instructions.append(Instruction("copy", out, widths[source], places[source], widths[source]))
                    out += widths[source]
            case LSTMCell() | GRUCell():
                lstm = isinstance(operation, LSTMCell)
                biases = [operation.bias] if lstm else [operation.bias_ih, operation.bias_hh]
                numbers = self._add(operation.weight_ih, operation.weight_hh, *biases)
                sizes = places[operation.source], widths[operation.source], work, 4 * width
                code = "lstm" if lstm else "gru"
                self.instructions.append(Instruction(code, out, width, *sizes, numbers, operation.layer))
            case Slice():
                raise AssertionError("a part of a value needs no instruction")


def _last_readings(network: Network) -> list[int]:
    """Number of the operation that reads each value last, and one more than all for the output."""
    last = list(range(len(network.widths)))
    for number, operation in enumerate(network.operations, 1):
        for source in sources_of(operation):
            last[source] = number
    last[-1] = len(network.operations) + 1
    return last
