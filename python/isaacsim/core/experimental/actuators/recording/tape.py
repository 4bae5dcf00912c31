"""Memory for something that is noted once a step: all of it, or the last steps only."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

# steps that there is room for at first, where all are kept
_ROOM = 256


class Tape:
    """Arrays with a row per step.

    Args:
        rows: Shape and type of a row, by name.
        capacity: How many rows are kept, the last ones; None means all.
    """

    def __init__(self, rows: Mapping[str, tuple[tuple[int, ...], np.dtype]], capacity: int | None = None) -> None:
        self._capacity, self._count = capacity, 0
        self._room = _ROOM if capacity is None else capacity
        self.arrays = {name: np.zeros((self._room, *shape), dtype) for name, (shape, dtype) in rows.items()}
        """Memory by name; `next_row` says which row is to be written."""

    def __len__(self) -> int:
        return self._count if self._capacity is None else min(self._count, self._capacity)

    @property
    def count(self) -> int:
        """Number of steps noted, those no longer kept among them."""
        return self._count

    def next_row(self) -> int:
        """Return the row for a step, which counts when `advance` is called."""
        if self._capacity is not None:
            return self._count % self._capacity
        if self._count == self._room:
            self._room *= 2
            for name, array in self.arrays.items():
                grown = np.zeros((self._room, *array.shape[1:]), array.dtype)
                grown[: self._count] = array
                self.arrays[name] = grown
        return self._count

    def advance(self) -> None:
        """The row is written."""
        self._count += 1

    def read(self, name: str) -> np.ndarray:
        """Return a copy of the rows that are kept, the oldest first."""
        array, kept = self.arrays[name], len(self)
        if self._count <= self._room:
            return array[:kept].copy()
        return np.roll(array, -(self._count % self._room), axis=0)
