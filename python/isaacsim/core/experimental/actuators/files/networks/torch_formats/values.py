"""What the code of a TorchScript archive or an exported graph computes with besides the tracer's tensors.

Operations on tensors become operations of a network, all others, on plain Python values and arrays, are computed
immediately.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks.network import GRUCell, LSTMCell, Network, sources_of
from ..tracer import ROWS, Cell, Tracer, Value

REMEDY = "Convert the checkpoint to ONNX, torch.onnx.export(...), or use a network of other operations."

# counts steps of training, and no forward pass reads it
IDLE = "num_batches_tracked"
# names of the states of each kind of recurrent layer, and its number of gates
STATES: dict[Cell, str] = {LSTMCell: "hc", GRUCell: "h"}
GATES: dict[Cell, int] = {LSTMCell: 4, GRUCell: 3}


@dataclass(eq=False)
class Unknown:
    """A size of the hidden state before the recurrent layer is met; becomes the first number it is compared with."""

    value: int | None = None


@dataclass(eq=False)
class State:
    """A hidden or cell state of all layers: before the step, or after it where `sources` names the layers' values."""

    name: str
    layers: int | Unknown
    size: int | Unknown
    sources: tuple[int, ...] | None = None

    @property
    def shape(self) -> tuple[Any, ...]:
        """Layers, rows, hidden size."""
        return (self.layers, ROWS, self.size)


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


class Builder(Tracer):
    """A tracer that knows which tensors of a checkpoint were used."""

    def __init__(self, inputs: int) -> None:
        super().__init__(inputs, joins_biases=False)
        self._used: set[tuple[object, ...]] = set()

    def use(self, operands: Iterable[object]) -> None:
        """Mark arrays as used, also those in lists."""
        for value in operands:
            values = value if isinstance(value, list | tuple) else [value]
            arrays = [one for one in values if isinstance(one, np.ndarray)]
            self._used.update(map(_identity, arrays))
            self.count(arrays)

    def recur(
        self, kind: Cell, x: Value, states: Sequence[object], arguments: Sequence[Any]
    ) -> tuple[Value | State, ...]:
        """The output and the new states of one step of recurrent layers.

        `x` has shape `(rows, 1, in)`, or `(1, rows, in)` where batches do not come first. `arguments` are weights,
        whether biases, number of layers, dropout, whether training, whether both directions, whether batches come
        first.
        """
        weights, biases, layers, dropout, train, both, batch_first = arguments
        if both is not False or (train and dropout):
            raise refuse("a recurrent layer of two directions, or with dropout while training (save after eval())")
        before = _states_before(states, STATES[kind])
        if len(x.shape) != 3 or x.shape[bool(batch_first)] != 1:
            raise refuse(f"a recurrent layer with an input of shape {x.shape} (with batch_first: rows, 1, in)")
        x, size = self._layers(kind, x, weights, layers, 4 if biases else 2)
        if not all(same([state.layers, state.size], [layers, size]) for state in before):
            raise refuse(f"a hidden state that is not of {layers} layers of {size}, as the recurrent layer is,")
        return (x, *(State(name, layers, size, tuple(self.cells)) for name in STATES[kind]))

    def _layers(self, kind: Cell, x: Value, weights: Any, layers: object, each: int) -> tuple[Value, int]:
        """Add layers of `each` weights; return the value of the last one and the hidden size."""
        if self.cells:
            raise refuse("more than one recurrent network")
        if type(layers) is not int or layers < 1 or len(weights) != each * layers:
            raise refuse(f"{len(weights)} weights of a recurrent layer (projections are not known)")
        size = weights[1].shape[-1]
        for layer in range(layers):
            arrays = weights[layer * each : (layer + 1) * each]
            if {len(one) for one in arrays} != {GATES[kind] * size} or arrays[1].shape[1:] != (size,):
                raise refuse(f"layer {layer} with weights of shapes {[one.shape for one in arrays]}")
            x = self.cell(kind, x, layer, *arrays, *[np.zeros(len(arrays[0]), np.float32)] * (4 - each))
        return x, size

    def network_of(self, output: Value, held: Mapping[str, np.ndarray]) -> Network:
        """The network of a value.

        All tensors that the checkpoint held, by name, must have been used: a `NetworkError` names one without part in
        the output.
        """
        network = self.network(output)
        if not any(0 in sources_of(operation) for operation in network.operations):
            raise NetworkError("output does not depend on the input: must. Save a network that uses it.")
        if idle := [name for name, one in held.items() if _identity(one) not in self._used and not name.endswith(IDLE)]:
            raise refuse(f"a network that does not use its tensor {idle[0]:.100} (unused: {idle!s:.200})")
        return network


def _states_before(states: Sequence[object], names: str) -> list[State]:
    before = [one for one in states if isinstance(one, State) and one.sources is None]
    if [one.name for one in before] != [*names] or len(before) != len(states):
        raise refuse("a recurrent layer whose state is not what forward was given")
    return before


def new_states(values: Sequence[object]) -> list[str]:
    """Return names of states after the step, "?" for anything else."""
    return [one.name if isinstance(one, State) and one.sources is not None else "?" for one in values]


def _identity(array: np.ndarray) -> tuple[object, ...]:
    """What distinguishes the arrays of a checkpoint: address, shape and strides."""
    return (array.__array_interface__["data"][0], array.shape, array.strides)
