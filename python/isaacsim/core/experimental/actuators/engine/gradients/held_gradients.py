"""Gradients through a rate and an effort delay, between a controller and the stages behind it.

The rest of the actuator is recorded twice: *front*, up to the controller, in the steps in which it runs and with its
period as their step; and the stages behind it, in every step, on the effort that acts. The gradient of an effort that
is held goes to the step that computed it, that of one that acts late as in `late_ring.py`. A joint whose controller
does not run keeps the state of what is before the stages. In NumPy, on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.memory import Array, numpy_view
from ...laws.effort_delay_timed import EffortDelayTimed
from ...laws.rate_hold import EARLY, LONGEST, SAME, RateHold
from .gradient_recorder import GradientRecorder, flat, gathered, give, taken
from .late_ring import LateStep

_SIGNALS = 5


@dataclass(frozen=True)
class Split:
    """Places of the signals, parameters and states of the stages among those of the rest of an actuator.

    Args:
        first_value: First signal or parameter.
        num_values: Number of them.
        first_state: First state array.
        num_states: Number of them.
        checked: Places of the signals that laws ask for and that must be finite.
        has_rate: True with a rate.
        has_delay: True with an effort delay.
    """

    first_value: int
    num_values: int
    first_state: int
    num_states: int
    checked: tuple[int, ...]
    has_rate: bool
    has_delay: bool

    @property
    def values(self) -> slice:
        """Signals and parameters of the stages."""
        return slice(self.first_value, self.first_value + self.num_values)

    @property
    def states(self) -> slice:
        """State arrays of the stages."""
        return slice(self.first_state, self.first_state + self.num_states)

    @property
    def own_values(self) -> int:
        """Number of parameters of rate and effort delay."""
        return len(RateHold.PARAMETERS) * self.has_rate + len(EffortDelayTimed.PARAMETERS) * self.has_delay

    @property
    def own_arrays(self) -> int:
        """Number of state arrays of rate and effort delay."""
        return len(RateHold.STATE) * self.has_rate + (1 + len(EffortDelayTimed.LATE)) * self.has_delay


@dataclass(frozen=True, eq=False)
class _Run:
    """Controllers that run in a step with the same period: which, and their record."""

    who: np.ndarray
    front: object


@dataclass(frozen=True, eq=False)
class _Record:
    """A step: runs of controllers, the record of the stages, and what the effort delay did."""

    runs: list[_Run]
    stages: object
    due: np.ndarray
    late: LateStep | None
    dt: float


class HeldEfforts:
    """Records steps and runs their backward passes; a `GradientRecorder` around that of the rest.

    States of rate and effort delay follow those of the rest, in this order, and so do their parameters.

    Args:
        front: The recorder of the rest, with its controller and all stages but these two.
        stages: A recorder of the stages behind a `GivenEffort`.
        count: Number of joints.
        split: Where those stages are in the rest.
    """

    def __init__(self, front: GradientRecorder, stages: GradientRecorder, count: int, split: Split) -> None:
        self._front, self._stages, self._count, self._split = front, stages, count, split
        self._places = np.arange(count, dtype=np.uint32)

    def note(
        self,
        signals: Sequence[Array | None],
        indices: Sequence[Array],
        parameters: Sequence[Array],
        state: tuple[object, object, Sequence[Array]],
        lag: Array | None,
        dt: float,
    ) -> _Record:
        """Copy the inputs of a step before it runs, and return the record.

        `state` is that of the rest, that of the stages, and the arrays of rate and effort delay.
        """
        front_state, stage_state, arrays = state
        split, seen = self._split, [gathered(signals[k], indices[k]) for k in range(_SIGNALS)]
        rest, own = parameters[: -split.own_values], [flat(one) for one in parameters[-split.own_values :]]
        periods, due, held = self._rate(own, arrays, dt)
        runs, effort = [], held
        for period in np.unique(periods[due]):
            who = due & (periods == period)
            masked = [np.where(who, one, np.nan).astype(np.float32) for one in seen]
            step = float(period * np.float32(dt))
            front = self._front.note(masked, [self._places] * _SIGNALS, rest, front_state, lag, step)
            effort = np.where(who, self._front.efforts(front)[1], effort)
            runs.append(_Run(who, front))
        # a signal that is not finite is a fault also of a joint whose controller does not run
        good = np.logical_and.reduce([np.isfinite(one) for one in (*seen, *(flat(rest[k]) for k in split.checked))])
        effort, late = np.where(good, effort, np.nan).astype(np.float32), None
        if split.has_delay:
            seconds, steps = own[-len(EffortDelayTimed.PARAMETERS) :]
            newest, *rings = (numpy_view(one) for one in arrays[-1 - len(EffortDelayTimed.LATE) :])
            (effort,), late = LateStep.of([effort], newest, rings, steps + seconds / np.float32(dt))
        stages = self._stages.note(
            [*seen[:2], None, None, None],
            [self._places] * _SIGNALS,
            [effort, *rest[split.values]],
            stage_state,
            None,
            dt,
        )
        return _Record(runs, stages, due, late, dt)

    def efforts(self, noted: _Record) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts, and those that act on the first stage, of a recorded step; NaN on a fault."""
        return self._stages.efforts(noted.stages)

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
        split, own = self._split, slice(len(after) - self._split.own_arrays, None)
        good = np.isfinite(self.efforts(noted)[0])
        by_acting = np.zeros(self._count, np.float32)
        self._stages.back(
            noted.stages,
            [efforts[0], None],
            effort_index,
            [*signals[:2], None, None, None],
            indices,
            [by_acting, *parameters[split.values]],
            after[split.states],
            before[split.states],
        )
        by_held = self._back_delay(noted, by_acting, parameters, after, before)
        by_held += np.where(good, gathered(efforts[1], effort_index), 0.0)
        by_held = self._back_rate(noted, good, by_held, after[own], before[own])
        arrays = list(after[: own.start]), list(before[: own.start])
        # of the stages, nothing is left to propagate
        arrays[0][split.states] = [None] * split.num_states
        for run in noted.runs:
            self._back_run(run, by_held, good, (signals, indices, parameters[: -split.own_values], numbers), arrays)
        carry(*arrays, np.logical_or.reduce([np.zeros(self._count, bool), *(one.who & good for one in noted.runs)]))

    def _rate(self, own: list[np.ndarray], arrays: Sequence[Array], dt: float) -> tuple[np.ndarray, ...]:
        """Return the physics steps in each period, whether controllers run, and the efforts that are held."""
        every = np.ones(self._count, np.float32)
        if not self._split.has_rate:
            return every, every > 0.0, np.zeros_like(every)
        decimation, frequency, _ = own[: len(RateHold.PARAMETERS)]
        clock, held = (flat(one) for one in arrays[: len(RateHold.STATE)])
        h = np.float32(dt)
        found = np.divide(1.0, frequency * h, out=decimation.copy(), where=frequency > 0.0)
        found = np.minimum(found, np.float32(float(LONGEST)))
        near = np.rint(found)
        found = np.where(np.abs(found - near) < np.float32(float(SAME)) * found, near, found)
        periods = np.maximum(found, np.float32(1.0))
        return periods, np.isnan(clock) | (clock + 1.0 >= periods - np.float32(float(EARLY))), held

    def _back_delay(
        self,
        noted: _Record,
        by_acting: np.ndarray,
        parameters: Sequence[Array | None],
        after: Sequence[Array | None],
        before: Sequence[Array | None],
    ) -> np.ndarray:
        """Propagate gradients of the effort that acts to the past and the delay; return those of the present effort."""
        if noted.late is None:
            return by_acting.copy()
        (by_now,) = noted.late.back([by_acting], after[-1:], before[-1:])
        by_lag = noted.late.by_lag([by_acting])
        for to, by in zip(parameters[-2:], (by_lag / noted.dt, by_lag), strict=True):
            give(to, self._places, by)
        return by_now

    def _back_rate(
        self,
        noted: _Record,
        good: np.ndarray,
        by_held: np.ndarray,
        after: Sequence[Array | None],
        before: Sequence[Array | None],
    ) -> np.ndarray:
        """Propagate gradients to the effort that was held; return those of efforts of controllers that ran."""
        if not self._split.has_rate:
            return by_held
        place = RateHold.STATE.index("held")
        by_after = taken(after[place], self._count)
        total = np.where(good, by_held + by_after, 0.0)
        # a step with a fault keeps the effort
        give(before[place], self._places, np.where(good, np.where(noted.due, 0.0, total), by_after))
        return np.where(noted.due, total, 0.0)

    def _back_run(
        self,
        run: _Run,
        by_effort: np.ndarray,
        good: np.ndarray,
        rest: tuple[Any, ...],
        arrays: tuple[list[Array | None], ...],
    ) -> None:
        """Run the backward pass of controllers, with gradients by the states of these joints alone."""
        signals, indices, parameters, numbers = rest
        who = run.who & good
        mine = [_taken_of(one, who) for one in arrays[0]]
        found = [None if one is None else np.zeros_like(numpy_view(one)) for one in arrays[1]]
        self._front.back(
            run.front,
            [None, np.where(who, by_effort, 0.0).astype(np.float32)],
            self._places,
            signals,
            indices,
            parameters,
            mine,
            found,
            numbers,
        )
        for to, by in zip(arrays[1], found, strict=True):
            if to is not None:
                numpy_view(to)[...] += by


def carry(after: Sequence[Array | None], before: Sequence[Array | None], but: np.ndarray) -> None:
    """Move gradients by states after a step to those before, of the joints that kept them: all but some."""
    for one, to in zip(after, before, strict=True):
        moved = _taken_of(one, ~but)
        if moved is not None and to is not None:
            numpy_view(to)[...] += moved


def _taken_of(array: Array | None, who: np.ndarray) -> np.ndarray | None:
    """Return the gradients of some joints and zeros for the others, and set them to zero; None of none.

    Axis 1 runs over the joints if there are several axes.
    """
    if array is None:
        return None
    view = numpy_view(array)
    mask = who.reshape((1,) * (view.ndim > 1) + (-1,) + (1,) * max(view.ndim - 2, 0))
    found = np.where(mask, view, np.float32(0.0))
    view[...] = np.where(mask, np.float32(0.0), view)
    return found
