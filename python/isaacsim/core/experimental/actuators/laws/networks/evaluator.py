"""Evaluation of a network on arrays: in C++ on the CPU if the core is built, else in Warp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from typing import Any, Protocol

from ...base import native
from ...base.memory import numpy_view
from .calls import Array, Calls, Device
from .network import Network
from .program import Program
from .torch_network import TorchNetwork
from .warp_evaluator import WarpEvaluator


class Evaluator(Protocol):
    """Evaluates a network.

    A row whose input, output or new state is not finite gets NaN and keeps its state. Results of a row depend neither
    on other rows nor on their number.
    """

    @property
    def name(self) -> str:
        """Engine: "native" with its instruction set, "warp" or "torch"."""
        ...

    def evaluate(self, x: Array, y: Array, state_in: Sequence[Array] = (), state_out: Sequence[Array] = ()) -> None:
        """Compute the outputs, float32 `(rows,)`, of inputs, float32 `(rows, inputs)`, contiguous within a row.

        Recurrent states are float32 `(num_layers, rows, hidden_size)` each: hidden and cell state of an LSTM, hidden
        state of a GRU. The same arrays for in and out are updated in place.
        """


def make_evaluator(network: Network | TorchNetwork, rows: int, device: Device = "cpu") -> Evaluator:
    """Return an evaluator of a network."""
    if isinstance(network, TorchNetwork):
        return network.evaluator(rows, device)
    program = Program(network)
    if native.core is not None and str(device) == "cpu":
        return NativeEvaluator(program, rows)
    return WarpEvaluator(program, rows, device)


class NativeEvaluator:
    """Evaluates in C++; `ACTUATORS_ISA` forces an instruction set: avx512, avx2 or baseline."""

    def __init__(self, program: Program, rows: int) -> None:
        self._calls = Calls(program, rows, "cpu", self._bind)
        self.core = core_of(program)
        """The compiled network."""

    @property
    def name(self) -> str:
        """Engine and its instruction set."""
        return f"native {self.core.variant}"

    def evaluate(self, x: Array, y: Array, state_in: Sequence[Array] = (), state_out: Sequence[Array] = ()) -> None:
        """Compute the outputs of all rows, see `Evaluator`."""
        self._calls.find(x, y, state_in, state_out)()

    def _bind(self, x: Array, y: Array, state_in: list[Array], state_out: list[Array]) -> Callable[[], None]:
        now, after = ([numpy_view(array) for array in states] for states in (state_in, state_out))
        return self.core.bind(numpy_view(x), numpy_view(y), now, after).run


def core_of(program: Program) -> Any:
    """Return a network of the core."""
    return native.core.Network(
        program.inputs,
        program.columns,
        program.output,
        program.num_layers,
        program.hidden_size,
        program.num_states,
        [astuple(instruction) for instruction in program.instructions],
        program.numbers,
    )
