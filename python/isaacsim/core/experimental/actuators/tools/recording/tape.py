"""Memory with a row per step: of all steps, or of the last ones only."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

# largest number of rows and bytes of a chunk, which has one row at least
_ROOM, _BYTES = 256, 1 << 20


class Tape:
    """Arrays with a row per step, in chunks, so that a step that needs another chunk is hardly slower.

    Args:
        rows: Shape and type of a row, by name.
        capacity: Number of rows to keep, the last ones; None means all.
    """

    def __init__(self, rows: Mapping[str, tuple[tuple[int, ...], np.dtype]], capacity: int | None = None) -> None:
        self._rows, self._capacity, self._count = rows, capacity, 0
        size = sum(math.prod(shape) * dtype.itemsize for shape, dtype in rows.values())
        # rows of a chunk; the last ones fill a single one
        self._room = min(_ROOM, max(1, _BYTES // size)) if capacity is None else capacity
        self._chunks = [self._chunk()]

    def __len__(self) -> int:
        return self._count if self._capacity is None else min(self._count, self._capacity)

    @property
    def count(self) -> int:
        """Number of recorded steps, including those no longer kept."""
        return self._count

    def next_row(self) -> dict[str, np.ndarray]:
        """Return the row of each array for a step, which counts when `advance` is called."""
        number, row = divmod(self._count, self._room)
        if self._capacity is not None:
            number = 0
        elif number == len(self._chunks):
            self._chunks.append(self._chunk())
        return {name: array[row, ...] for name, array in self._chunks[number].items()}

    def advance(self) -> None:
        """Count the row of `next_row`."""
        self._count += 1

    def read(self, name: str) -> np.ndarray:
        """Return a copy of the rows that are kept, the oldest first."""
        rows = np.concatenate([chunk[name] for chunk in self._chunks])
        if self._count > self._room and self._capacity is not None:
            return np.roll(rows, -(self._count % self._room), axis=0)
        return rows[: self._count]

    def _chunk(self) -> dict[str, np.ndarray]:
        return {name: np.zeros((self._room, *shape), dtype) for name, (shape, dtype) in self._rows.items()}
