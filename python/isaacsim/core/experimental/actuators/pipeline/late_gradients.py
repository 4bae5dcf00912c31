"""Gradients through a command delay in seconds or between steps, before those of the rest of the actuator.

The command that acts is `(1 − f)·command n steps ago + f·command n + 1 steps ago`, n + f the delay in steps: its
gradient goes to both commands, and times their difference to the delay. In NumPy, on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..components.delay_timed import DelayTimed
from ..components.late import SPARE_ROWS
from ..memory import Array, numpy_view
from .gradient_recorder import GradientRecorder, gathered, refuse

_COMMANDS = range(2, 5)
NUM_ARRAYS = len(DelayTimed.STATE) + 1 + len(DelayTimed.LATE)
"""Number of its state arrays."""
NUM_VALUES = len(DelayTimed.ASKS) + len(DelayTimed.PARAMETERS)
"""Number of its signals and parameters."""


@dataclass(frozen=True, eq=False)
class _Record:
    """A step: the record of the rest, and of each joint what the delay did."""

    inner: Any
    # number of signals and parameters of the rest
    values: int
    dt: float
    # rows with the two commands, and the row that was written; share of the older one
    first: np.ndarray
    second: np.ndarray
    row: np.ndarray
    share: np.ndarray
    # true where the ring was filled, where commands were finite, and where the delay was within the ring
    fresh: np.ndarray
    good: np.ndarray
    inside: np.ndarray
    # per command, the older one less the later one
    differences: list[np.ndarray]


class LateCommands:
    """Records steps and runs their backward passes; a `gradients.GradientRecorder` around that of the rest.

    States of the delay follow those of the rest, signals and parameters likewise.

    Args:
        inner: The recorder of the rest.
        count: Number of joints.
        label: Label of the actuator in errors.
    """

    def __init__(self, inner: GradientRecorder, count: int, label: str) -> None:
        self._inner, self._label = inner, label
        self._every, self._places = np.arange(count), np.arange(count, dtype=np.uint32)

    def note(
        self,
        signals: Sequence[Array | None],
        indices: Sequence[Array],
        parameters: Sequence[Array],
        state: Any,
        lag: Array | None,
        dt: float,
    ) -> _Record:
        """Copy the inputs of a step before it runs, and return the record.

        `state` is that of the rest, and the arrays of the delay.

        Raises:
            NotImplementedError: The delay is redrawn.
        """
        inner_state, arrays = state
        given = [np.asarray(numpy_view(one)) for one in parameters[-len(DelayTimed.PARAMETERS) :]]
        seconds, steps, random_steps = (values.ravel() for values in given[:3])
        if random_steps.any():
            refuse(self._label, "a delay that is drawn anew (DelayTimed) has none. Set random_steps to 0")
        newest, *rings = (numpy_view(one) for one in arrays[len(DelayTimed.STATE) :])
        now = [gathered(signals[c], indices[c]) for c in _COMMANDS]
        depth, fresh = len(rings[0]), np.isnan(newest)
        row = np.where(fresh | (newest >= depth - 1), 0, np.nan_to_num(newest) + 1).astype(int)
        wanted = steps + seconds / np.float32(dt)
        bounded = np.clip(wanted, 0.0, depth - SPARE_ROWS).astype(np.float32)
        whole = bounded.astype(int)
        first, second, share = (row - whole) % depth, (row - whole - 1) % depth, bounded - whole.astype(np.float32)
        good = np.logical_and.reduce([np.isfinite(one) for one in now])
        acting, differences = [], []
        for command, ring in zip(now, rings, strict=True):
            one = np.where(fresh | (whole == 0), command, ring[first, self._every])
            other = np.where(fresh, command, ring[second, self._every])
            differences.append(other - one)
            acting.append(np.where(good, one + share * (other - one), np.nan).astype(np.float32))
        inner = self._inner.note(
            [*signals[:2], *acting],
            [*indices[:2], *[self._places] * 3],
            parameters[:-NUM_VALUES],
            inner_state,
            lag,
            dt,
        )
        inside = wanted < depth - SPARE_ROWS
        return _Record(
            inner, len(parameters) - NUM_VALUES, dt, first, second, row, share, fresh, good, inside, differences
        )

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
        """Run the backward pass of a recorded step; see `gradients.GradientRecorder`."""
        acting = [np.zeros(len(self._every), np.float32) for _ in _COMMANDS]
        self._inner.back(
            noted.inner,
            efforts,
            effort_index,
            [*signals[:2], *acting],
            [*indices[:2], *[self._places] * 3],
            parameters[: noted.values],
            after[:-NUM_ARRAYS],
            before[:-NUM_ARRAYS],
            numbers,
        )
        rings = zip(after[-len(acting) :], before[-len(acting) :], strict=True)
        for c, by_acting, (by_after, by_before) in zip(_COMMANDS, acting, rings, strict=True):
            by_acting[~noted.good] = 0.0
            by_now = self._back_ring(noted, by_acting, by_after, by_before)
            if (by_signal := signals[c]) is not None:
                np.add.at(numpy_view(by_signal), numpy_view(indices[c]), by_now)
        products = (by * one for by, one in zip(acting, noted.differences, strict=True))
        by_lag = np.where(noted.good & noted.inside, sum(products), 0.0)
        for name, by in (("seconds", by_lag / noted.dt), ("steps", by_lag)):
            to = parameters[DelayTimed.PARAMETERS.index(name) - len(DelayTimed.PARAMETERS)]
            if to is not None:
                numpy_view(to)[...] += by.astype(np.float32).reshape(numpy_view(to).shape)

    def _back_ring(
        self, noted: _Record, by_acting: np.ndarray, by_after: Array | None, by_before: Array | None
    ) -> np.ndarray:
        """Propagate gradients of a ring and of the command that acts; return those of the present command."""
        after = None if by_after is None else numpy_view(by_after)
        depth = (
            len(after) if after is not None else int(max(noted.first.max(), noted.second.max(), noted.row.max())) + 1
        )
        rows = np.zeros((depth, len(self._every)), np.float32) if after is None else after.copy()
        if after is not None:
            after[...] = 0.0
        rows[noted.first, self._every] += (1.0 - noted.share) * by_acting
        rows[noted.second, self._every] += noted.share * by_acting
        # the present command fills the ring in the first step, and else is one row of it
        by_now = np.where(noted.fresh, rows.sum(axis=0), rows[noted.row, self._every])
        by_now[~noted.good] = 0.0
        rows[noted.row[noted.good], self._every[noted.good]] = 0.0
        rows[:, noted.fresh & noted.good] = 0.0
        if by_before is not None:
            numpy_view(by_before)[...] += rows
        return by_now
