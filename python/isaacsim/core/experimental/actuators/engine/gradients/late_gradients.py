"""Gradients through results that act late: of commands before the rest of the actuator, measurements and efforts.

A result that acts is `(1 − f)·result n steps ago + f·result n + 1 steps ago`, n + f the delay in steps: its gradient
goes to both results, and times their difference to the delay; a part that is drawn has none. It is the NumPy form of
the rings of `laws/contract/late.py`, on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ...base.memory import Array, numpy_view
from ...laws.contract.late import SPARE_ROWS, LateComponent
from ...laws.delay_timed import MOST_DRAWS, DelayTimed
from ..random.law_numbers import uniform
from .gradient_recorder import (
    GradientRecorder,
    OuterGradients,
    OuterLaws,
    StepGradients,
    StepInputs,
    flat,
    gathered,
    give,
)

_COMMANDS = range(2, 5)
_Step = TypeVar("_Step", StepInputs, StepGradients)


@dataclass(frozen=True, eq=False)
class LateStep:
    """Rows that the rings of a law read and wrote in a step; an element per joint."""

    # the law, and the step
    law: type[LateComponent]
    dt: float
    # rows with the two results, and the row that was written; share of the older one
    first: np.ndarray
    second: np.ndarray
    row: np.ndarray
    share: np.ndarray
    # true where the ring was filled, where results were finite, and where the delay was within the ring
    fresh: np.ndarray
    good: np.ndarray
    inside: np.ndarray
    # number of rows
    depth: int
    # per result, the older one less the later one
    differences: list[np.ndarray]

    @classmethod
    def of(
        cls,
        law: type[LateComponent],
        now: Sequence[np.ndarray],
        arrays: Sequence[Array],
        values: dict[str, np.ndarray],
        dt: float,
        more: np.ndarray | float = 0.0,
    ) -> tuple[list[np.ndarray], LateStep]:
        """Return the results that act, NaN on a fault, and the record of the step.

        Results `now` are float32 `(count,)`. Arrays are the row written last, NaN after a reset, and the rings before
        the step, `(depth, count)` each. `more` are steps of delay besides those in the values.
        """
        newest, *rings = map(numpy_view, arrays)
        wanted = values[law.STEPS] + values[law.SECONDS] / np.float32(dt) + more
        depth, fresh, every = len(rings[0]), np.isnan(newest), np.arange(len(newest))
        good = np.logical_and.reduce([np.isfinite(one) for one in (*now, wanted)])
        row = np.where(fresh | (newest >= depth - 1), 0, np.nan_to_num(newest) + 1).astype(int)
        bounded = np.clip(np.where(good, wanted, 0.0), 0.0, depth - SPARE_ROWS).astype(np.float32)
        whole = bounded.astype(int)
        first, second, share = (row - whole) % depth, (row - whole - 1) % depth, bounded - whole.astype(np.float32)
        acting, differences = [], []
        for result, ring in zip(now, rings, strict=True):
            later = np.where(fresh | (whole == 0), result, ring[first, every])
            older = np.where(fresh, result, ring[second, every])
            differences.append(older - later)
            # nothing is kept for a delay that stays 0
            late = later + share * np.where(share > 0.0, older - later, 0.0)
            acting.append(np.where(good, late, np.nan).astype(np.float32))
        inside = wanted < depth - SPARE_ROWS
        return acting, cls(law, dt, first, second, row, share, fresh, good, inside, depth, differences)

    def back(self, by_acting: Sequence[np.ndarray], own: OuterGradients) -> list[np.ndarray]:
        """Return gradients by the results of the step, given those by what acts and by the rings after the step.

        Those by the rings before the step and by the delay are added to `own`.
        """
        # that of a huge number in the ring has no end
        with np.errstate(invalid="ignore", over="ignore"):
            products = (by * difference for by, difference in zip(by_acting, self.differences, strict=True))
            by_lag = np.where(self.good & self.inside, sum(products), 0.0)
        give(own.values[self.law.SECONDS], by_lag / self.dt)
        give(own.values[self.law.STEPS], by_lag)
        rings = slice(-len(by_acting), None)
        return [self._back(*ring) for ring in zip(by_acting, own.after[rings], own.before[rings], strict=True)]

    def _back(self, by_acting: np.ndarray, by_after: Array | None, by_before: Array | None) -> np.ndarray:
        every, good = np.arange(len(self.row)), self.good
        rows = np.zeros((self.depth, len(every)), np.float32)
        if by_after is not None:
            after = numpy_view(by_after)
            rows += after
            after[...] = 0.0
        by = np.where(good, by_acting, 0.0)
        rows[self.first, every] += (1.0 - self.share) * by
        rows[self.second, every] += self.share * by
        # the present result fills the ring in the first step, and else is one row of it
        by_now = np.where(self.fresh, rows.sum(axis=0), rows[self.row, every])
        by_now[~good] = 0.0
        rows[self.row[good], every[good]] = 0.0
        rows[:, self.fresh & good] = 0.0
        if by_before is not None:
            numpy_view(by_before)[...] += rows
        return by_now


@dataclass(frozen=True, eq=False)
class _Record:
    """A step: the record of the rest, and what the delay did."""

    inner: object
    late: LateStep


class LateCommands:
    """Records steps with a delay in seconds or between steps; a `GradientRecorder` around that of the rest."""

    def __init__(self, inner: GradientRecorder, count: int) -> None:
        self.inner = inner
        """The recorder of the rest."""
        self._outer = OuterLaws(DelayTimed)
        self._count, self._places = count, np.arange(count, dtype=np.uint32)

    def note(self, inputs: StepInputs) -> _Record:
        """Copy the inputs of a step before it runs, and return the record."""
        rest, values, arrays = self._outer.split(inputs)
        num_states = len(DelayTimed.STATE)
        now = [gathered(rest.signals[c], rest.indices[c]) for c in _COMMANDS]
        more = drawn(values, *map(flat, arrays[:num_states]))
        acting, late = LateStep.of(DelayTimed, now, arrays[num_states:], values, rest.dt, more)
        return _Record(self.inner.note(self._with(rest, acting)), late)

    def efforts(self, noted: _Record) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts and efforts before the limits of a recorded step; see `GradientRecorder`."""
        return self.inner.efforts(noted.inner)

    def back(self, noted: _Record, by: StepGradients) -> None:
        """Run the backward pass of a recorded step; see `GradientRecorder`."""
        rest, own = self._outer.split_gradients(by)
        acting = [np.zeros(self._count, np.float32) for _ in _COMMANDS]
        self.inner.back(noted.inner, self._with(rest, acting))
        for c, by_now in zip(_COMMANDS, noted.late.back(acting, own), strict=True):
            give(by.signals[c], by_now, by.indices[c])

    def _with(self, step: _Step, commands: Sequence[np.ndarray]) -> _Step:
        """Return a step of the rest, or its gradients, with commands of its own."""
        signals, indices = [*step.signals[:2], *commands], [*step.indices[:2], *[self._places] * len(_COMMANDS)]
        return step._replace(signals=signals, indices=indices)


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
