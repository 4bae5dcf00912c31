"""Gradients through a command delay in seconds or between steps, before those of the rest of the actuator.

The gradient of the command that acts goes to the commands of earlier steps and to the delay, see `late_ring.py`; a part
that is drawn has none. In NumPy, on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...base.memory import Array, numpy_view
from ...laws.delay_timed import MOST_DRAWS, DelayTimed
from ..random.law_numbers import uniform
from .gradient_recorder import GradientRecorder, flat, gathered, give
from .late_ring import LateStep

_COMMANDS = range(2, 5)
NUM_ARRAYS = len(DelayTimed.STATE) + 1 + len(DelayTimed.LATE)
"""Number of its state arrays."""
_GIVEN = (*DelayTimed.ASKS, *DelayTimed.PARAMETERS)
NUM_VALUES = len(_GIVEN)
"""Number of its signals and parameters."""


@dataclass(frozen=True, eq=False)
class _Record:
    """A step: the record of the rest, and what the delay did."""

    inner: object
    late: LateStep
    dt: float


class LateCommands:
    """Records steps and runs their backward passes; a `GradientRecorder` around that of the rest.

    States of the delay follow those of the rest, signals and parameters likewise.
    """

    def __init__(self, inner: GradientRecorder, count: int) -> None:
        self.inner = inner
        """The recorder of the rest."""
        self._count, self._places = count, np.arange(count, dtype=np.uint32)

    def note(
        self,
        signals: Sequence[Array | None],
        indices: Sequence[Array],
        parameters: Sequence[Array],
        state: tuple[object, Sequence[Array]],
        lag: Array | None,
        dt: float,
    ) -> _Record:
        """Copy the inputs of a step before it runs, and return the record.

        `state` is that of the rest, and the arrays of the delay.
        """
        inner_state, arrays = state
        given = dict(zip(_GIVEN, map(flat, parameters[-NUM_VALUES:]), strict=True))
        states, (newest, *rings) = arrays[: len(DelayTimed.STATE)], map(numpy_view, arrays[len(DelayTimed.STATE) :])
        now = [gathered(signals[c], indices[c]) for c in _COMMANDS]
        wanted = given["steps"] + given["seconds"] / np.float32(dt) + drawn(given, *map(flat, states))
        acting, late = LateStep.of(now, newest, rings, wanted)
        inner = self.inner.note(
            [*signals[:2], *acting], [*indices[:2], *[self._places] * 3], parameters[:-NUM_VALUES], inner_state, lag, dt
        )
        return _Record(inner, late, dt)

    def efforts(self, noted: _Record) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts and efforts before the limits of a recorded step; see `GradientRecorder`."""
        return self.inner.efforts(noted.inner)

    def back(
        self,
        noted: _Record,
        efforts: Sequence[Array | None],
        effort_index: Array,
        signals: Sequence[Array | None],
        indices: Sequence[Array],
        parameters: Sequence[Array | None],
        after: Sequence[Array | None],
        before: Sequence[Array | None],
        numbers: Array | None = None,
    ) -> None:
        """Run the backward pass of a recorded step; see `GradientRecorder`."""
        acting = [np.zeros(self._count, np.float32) for _ in _COMMANDS]
        self.inner.back(
            noted.inner,
            efforts,
            effort_index,
            [*signals[:2], *acting],
            [*indices[:2], *[self._places] * 3],
            parameters[:-NUM_VALUES],
            after[:-NUM_ARRAYS],
            before[:-NUM_ARRAYS],
            numbers,
        )
        rings = slice(-len(acting), None)
        for c, by_now in zip(_COMMANDS, noted.late.back(acting, after[rings], before[rings]), strict=True):
            give(signals[c], indices[c], by_now)
        by_lag = noted.late.by_lag(acting)
        by = dict(zip(_GIVEN, parameters[-NUM_VALUES:], strict=True))
        give(by["seconds"], self._places, by_lag / noted.dt)
        give(by["steps"], self._places, by_lag)


def drawn(given: dict[str, np.ndarray], before: np.ndarray, left: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return the drawn part of the delay in a step, as `laws/delay_timed.py` draws it."""
    most = given["random_steps"]
    if not most.any():
        return np.zeros_like(before)
    first = np.isnan(before)
    due = first | (left < 0.5)
    count = np.where(due, np.where(draws < float(MOST_DRAWS), draws + 1.0, 0.0), draws)
    seed, robot = given["seed"], given["robot_number"]
    redrawn = first | (due & (uniform(seed, robot, 2.0 * count + 1.0) >= given["hold_probability"]))
    among = np.floor(uniform(seed, robot, 2.0 * count) * (most + np.float32(1.0)))
    return np.where(most > 0.0, np.where(redrawn, among, before), 0.0).astype(np.float32)
