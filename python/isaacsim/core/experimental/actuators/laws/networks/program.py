"""A network laid out for evaluation: instructions on columns of numbers, one number per actuator, shared by values.

Columns begin with the input and the recurrent state: hidden (and cell) state of all layers before the step, and the
same again after it. Every other value has a piece of columns from its computation to its last reading.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import network as net
from .network import GRUCell, LSTMCell, Network

_CELLS = {LSTMCell: "lstm", GRUCell: "gru"}
CODES = ("constant", "copy", "linear", "lstm", "gru", *net.UNARY, *net.BINARY)
"""Names of all instructions."""


@dataclass(frozen=True)
class Instruction:
    """One instruction; its numbers are in `Program.numbers` from `numbers` on, each array row-major.

    They are the values of a constant, weight and bias of a linear map, and of a recurrent layer weights and biases in
    the order of their names in `LSTMCell` and `GRUCell`.
    """

    code: str  # one of `CODES`
    out: int  # first column that it writes
    width: int  # number of columns that it writes
    first: int = 0  # first column of its first source; a recurrent layer also reads its layer's state
    first_width: int = 0
    second: int = 0  # first column of its second source, or of its working columns
    second_width: int = 0
    numbers: int = 0
    layer: int = 0  # index of the recurrent layer


class Program:
    """A network laid out; with `keep`, all values keep their columns, so that all can be read afterwards."""

    def __init__(self, network: Network, *, keep: bool = False) -> None:
        self.inputs, self.num_layers, self.hidden_size = network.inputs, network.num_layers, network.hidden_size
        self.num_states = net.NUM_STATES[network.kind]
        """Number of state arrays: hidden state, then cell state."""
        self.instructions: list[Instruction] = []
        self._numbers: list[np.ndarray] = []
        self._count = 0
        state = self.num_states * self.num_layers * self.hidden_size
        self.columns = self.inputs + 2 * state
        """Number of columns."""
        self._columns = _Columns(self.columns)
        self._new_hidden = self.inputs + state
        self._widths = network.widths
        self._end = len(network.operations) + 1
        # number of the operation that reads each value last, for the output one more than all
        self._last = [self._end] * self._end if keep else list(range(self._end))
        if not keep:
            for number, operation in enumerate(network.operations, 1):
                for source in net.sources_of(operation):
                    self._last[source] = number
            self._last[-1] = self._end
        # first column of each value, and the piece of columns that it lies in, -1 for none
        self._places, self._pieces = [0], [-1]
        for number, operation in enumerate(network.operations, 1):
            self._lay_out(operation, number, keep)
            self._columns.release(number)
        self.columns = self._columns.count
        self.output = self._places[-1]
        """Column of the output."""
        self.numbers = np.concatenate([np.zeros(0, np.float32), *self._numbers])
        """All numbers of all instructions, float32."""

    def _lay_out(self, operation: net.Operation, number: int, keep: bool) -> None:
        width = self._widths[number]
        if isinstance(operation, net.Slice):
            # part of another value
            start, piece = self._places[operation.source] + operation.start, self._pieces[operation.source]
        elif isinstance(operation, LSTMCell | GRUCell):
            gates = self._columns.take(4 * width)
            self._columns.hold(gates, self._end if keep else number)
            start, piece = self._new_hidden + operation.layer * width, -1
            self._emit(operation, start, width, gates)
        else:
            start = piece = self._piece_for(operation, number)
            self._emit(operation, start, width)
        self._places.append(start)
        self._pieces.append(piece)
        self._columns.hold(piece, self._last[number])

    def _piece_for(self, operation: net.Operation, number: int) -> int:
        """A piece for the value of an operation: of a source that ends here and is as wide, else a new one."""
        width = self._widths[number]
        sources = net.sources_of(operation) if isinstance(operation, net.Unary | net.Binary) else ()
        ending = [
            piece
            for piece in (self._pieces[source] for source in sources)
            if self._columns.ends(piece, number, width)
            # unless a part of it is read too
            and all(self._widths[source] == width for source in sources if self._pieces[source] == piece)
        ]
        return ending[-1] if ending else self._columns.take(width)

    def _emit(self, operation: net.Operation, out: int, width: int, work: int = 0) -> None:
        places, widths, add = self._places, self._widths, self.instructions.append
        match operation:
            case net.Constant(values):
                add(Instruction("constant", out, width, numbers=self._add(values)))
            case net.Linear(source, weight, bias):
                numbers = self._add(weight, bias)
                add(Instruction("linear", out, width, places[source], widths[source], numbers=numbers))
            case net.Unary(function, source, numbers):
                start = self._add(np.array(numbers, np.float32))
                add(Instruction(function, out, width, places[source], width, numbers=start))
            case net.Binary(function, first, second):
                add(Instruction(function, out, width, places[first], widths[first], places[second], widths[second]))
            case net.Concatenate(sources):
                for source in sources:
                    add(Instruction("copy", out, widths[source], places[source], widths[source]))
                    out += widths[source]
            case LSTMCell() | GRUCell() as cell:
                numbers = self._add(*(one for one in vars(cell).values() if isinstance(one, np.ndarray)))
                sizes = places[cell.source], widths[cell.source], work, 4 * width
                add(Instruction(_CELLS[type(cell)], out, width, *sizes, numbers, cell.layer))

    def _add(self, *arrays: np.ndarray) -> int:
        start = self._count
        for array in arrays:
            self._numbers.append(np.ravel(array))
            self._count += array.size
        return start


class _Columns:
    """Columns behind the state, taken and released in pieces."""

    def __init__(self, base: int) -> None:
        self._base = self.count = base
        # width of each piece in use by its first column, and the operation after which it is released
        self._taken: dict[int, int] = {}
        self._until: dict[int, int] = {}

    def take(self, width: int) -> int:
        """Return the first column of the first free piece of this width."""
        start = self._base
        for piece in sorted(self._taken):
            if piece - start >= width:
                break
            start = piece + self._taken[piece]
        self._taken[start] = width
        self.count = max(self.count, start + width)
        return start

    def hold(self, piece: int, number: int) -> None:
        """Keep a piece at least up to an operation; -1 is no piece."""
        if piece >= 0:
            self._until[piece] = max(self._until.get(piece, 0), number)

    def ends(self, piece: int, number: int, width: int) -> bool:
        """Return True if a piece of this width is released after an operation."""
        return piece >= 0 and self._until[piece] == number and self._taken[piece] == width

    def release(self, number: int) -> None:
        """Release pieces that are not needed after an operation."""
        self._taken = {piece: width for piece, width in self._taken.items() if self._until[piece] > number}
