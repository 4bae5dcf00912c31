"""Weights of a network by name, and as the core takes them: all its numbers side by side, as in `Program.numbers`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from .network import Constant, Network, Operation, Unary


class Weights:
    """What of a network is trained: weights and biases of its linear maps and recurrent layers.

    Names are those of the tensors in a file of `safetensors.write`: number of the operation and field, `1.weight`.

    Args:
        network: The network.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self.shapes: dict[str, tuple[int, ...]] = {}
        """Shape of each."""
        self._starts: dict[str, int] = {}
        pieces: list[np.ndarray] = []
        count = 0
        for number, operation in enumerate(network.operations, 1):
            for name, values in _arrays_of(operation).items():
                if not isinstance(operation, Constant | Unary):
                    self._starts[f"{number}.{name}"], self.shapes[f"{number}.{name}"] = count, values.shape
                pieces.append(values.ravel())
                count += values.size
        self.numbers = np.concatenate([np.zeros(0, np.float32), *pieces])
        """All numbers of the network as they are now, float32; another array after each change."""

    def of(self, name: str, numbers: np.ndarray) -> np.ndarray:
        """The piece of an array like `numbers` that is this weight's, in its shape."""
        start, shape = self._starts[name], self.shapes[name]
        return numbers[start : start + math.prod(shape)].reshape(shape)

    def change(self, values: Mapping[str, np.ndarray]) -> None:
        """Take these numbers over, in arrays of the right shape."""
        numbers = self.numbers.copy()
        for name, array in values.items():
            self.of(name, numbers)[...] = array
        self.numbers = numbers

    def network(self) -> Network:
        """The network with the numbers as they are now.

        Raises:
            NetworkError: One of them is not finite.
        """
        operations = []
        for number, operation in enumerate(self._network.operations, 1):
            mine = {name: f"{number}.{name}" for name in _arrays_of(operation)}
            changed = {name: self.of(full, self.numbers).copy() for name, full in mine.items() if full in self.shapes}
            operations.append(dataclasses.replace(operation, **changed) if changed else operation)
        return Network(self._network.inputs, tuple(operations))


def _arrays_of(operation: Operation) -> dict[str, np.ndarray]:
    """The numbers of an operation by field, in their order."""
    if isinstance(operation, Unary):
        return {"numbers": np.array(operation.numbers, np.float32)}
    fields = {field.name: getattr(operation, field.name) for field in dataclasses.fields(operation)}
    return {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
