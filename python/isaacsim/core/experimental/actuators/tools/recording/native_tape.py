"""Memory that the native step writes to, see `native/tape.h`: no Python runs in a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import native
from ...engine.recorded_signals import KINDS, MEASURED, OF_STATES
from ...engine.step.native import NativeStep

# numbers of signals in `native/tape.h`, which knows neither states of laws nor sensors
_UNKNOWN = {*OF_STATES, *MEASURED}
_NUMBERS = {name: number for number, name in enumerate((*(name for name in KINDS if name not in _UNKNOWN), "dt"))}


class NativeTape:
    """Recorder of a native step, from construction until `stop`.

    Args:
        step: The step.
        robots: Rows to record.
        slots: Slots to record.
        recorded: Names of the arrays.
        capacity: Number of rows to keep, the last ones; None means all.
        clamps: Number in the recording of each limit of the plan.
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
