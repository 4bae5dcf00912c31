"""Weights of a network by name, and as the core takes them: one array of all numbers, as in `Program.numbers`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from .network import Constant, Network, Operation, Unary


class Weights:
    """The trained weights of a network: weights and biases of its linear maps and recurrent layers.

    Names are those of the tensors in a file of `safetensors.write`: number of the operation and field, `1.weight`.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self.shapes: dict[str, tuple[int, ...]] = {}
        """Shape of each weight."""
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
        """All current numbers of the network, float32; another array after each change."""

    def of(self, name: str, numbers: np.ndarray) -> np.ndarray:
        """Return this weight's part of an array like `numbers`, in its shape."""
        start, shape = self._starts[name], self.shapes[name]
        return numbers[start : start + math.prod(shape)].reshape(shape)

    def change(self, values: Mapping[str, np.ndarray]) -> None:
        """Set these weights, given as arrays of their shapes."""
        numbers = self.numbers.copy()
        for name, array in values.items():
            self.of(name, numbers)[...] = array
        self.numbers = numbers

    def network(self) -> Network:
        """Return the network with the current numbers."""
        operations = []
        for number, operation in enumerate(self._network.operations, 1):
            mine = {name: f"{number}.{name}" for name in _arrays_of(operation)}
            changed = {name: self.of(full, self.numbers).copy() for name, full in mine.items() if full in self.shapes}
            operations.append(dataclasses.replace(operation, **changed) if changed else operation)
        return Network(self._network.inputs, tuple(operations))


def _arrays_of(operation: Operation) -> dict[str, np.ndarray]:
    if isinstance(operation, Unary):
        return {"numbers": np.array(operation.numbers, np.float32)}
    fields = {field.name: getattr(operation, field.name) for field in dataclasses.fields(operation)}
    return {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
