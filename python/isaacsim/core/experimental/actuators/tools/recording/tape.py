"""Memory with a row per step: of all steps, or of the last ones only.

`NativeTape` is memory that the native step writes to, see `native/tape.h`: no Python runs in a step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...base import native
from ...engine.recorded_signals import KINDS, MEASURED, OF_STATES
from ...engine.step.native import NativeStep

# largest number of rows and bytes of a chunk, which has one row at least
_ROOM, _BYTES = 256, 1 << 20


class Tape:
    """Arrays with a row per step, in chunks, so that a step that needs another chunk is hardly slower.

    Rows are given by shape and type by name; the last `capacity` of them are kept, or all.
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


# numbers of signals in `native/tape.h`, which knows neither states of laws nor sensors
_UNKNOWN = {*OF_STATES, *MEASURED}
_NUMBERS = {name: number for number, name in enumerate((*(name for name in KINDS if name not in _UNKNOWN), "dt"))}


class NativeTape:
    """Recorder of some robots and slots of a native step, from construction until `stop`.

    It keeps the last `capacity` rows, or all; `clamps` has the number in the recording of each limit of the plan.
    """

    def __init__(
        self,
        step: NativeStep,
        robots: Sequence[int],
        slots: Sequence[int],
        recorded: Sequence[str],
        capacity: int | None,
        clamps: np.ndarray,
    ) -> None:
        # None once it has stopped
        self._core: Any = step.core
        self._recorded, self._clamps = [*recorded, "dt"], clamps
        size = step.plan.num_robots, step.plan.num_slots
        arrays = [_NUMBERS[name] for name in recorded]
        self._tape: Any = native.core.Tape(list(robots), list(slots), arrays, capacity or 0, *size)
        self._done: dict[str, np.ndarray] = {}
        self._count = 0
        self._core.record(self._tape)

    def stop(self) -> None:
        """Stop recording, and copy the rows to plain arrays."""
        self._core.stop_recording(self._tape)
        self._done, self._count = {name: self.read(name) for name in self._recorded}, self.count
        self._core = self._tape = None

    @property
    def count(self) -> int:
        """Number of recorded steps, including those no longer kept."""
        return self._count if self._core is None else len(self._tape)

    def read(self, name: str) -> np.ndarray:
        """Return a copy of the rows that are kept, the oldest first."""
        if self._core is None:
            return self._done[name].copy()
        array = self._core.read(self._tape, _NUMBERS[name])
        if name == "limited_by":
            return self._clamps[array]
        if name == "dt":
            # the core has float32; the shortest decimal of each is the given step
            values, which = np.unique(array.astype(np.float32), return_inverse=True)
            return np.array([float(str(value)) for value in values])[which]
        return array
