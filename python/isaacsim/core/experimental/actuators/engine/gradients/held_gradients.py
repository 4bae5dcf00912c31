"""Gradients through a rate and an effort delay, between a controller and the stages behind it.

The rest of the actuator is recorded twice: *front*, up to the controller, in the steps in which it runs and with its
period as their step; and the stages behind it, in every step, on the effort that acts. The gradient of an effort that
is held goes to the step that computed it, that of one that acts late as in `late_gradients.py`. A joint whose
controller does not run keeps the state of what is before the stages. In NumPy, on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...base.memory import Array, numpy_view
from ...laws.contract.law import LawClass
from ...laws.effort_delay_timed import EffortDelayTimed
from ...laws.rate_hold import EARLY, LONGEST, SAME, RateHold
from .gradient_recorder import (
    GradientRecorder,
    OuterGradients,
    OuterLaws,
    States,
    StepGradients,
    StepInputs,
    gathered,
    give,
    taken,
)
from .late_gradients import LateStep

_SIGNALS = 5


@dataclass(frozen=True)
class Split:
    """Places of the signals, parameters and states of the stages among those of the rest of an actuator."""

    values: slice  # signals and parameters
    states: slice  # state arrays among those of laws
    rings: int  # number of those of a step delay, whose gradients precede those of laws
    checked: tuple[int, ...]  # places of the signals that laws ask for and that must be finite
    held: list[LawClass]  # rate and effort delay, as far as it has them


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


class HeldEfforts:
    """Records steps with a rate and an effort delay; a `GradientRecorder`.

    `front` records the rest with all stages but these two, and `stages` those behind a `GivenEffort`.
    """

    def __init__(self, front: GradientRecorder, stages: GradientRecorder, count: int, split: Split) -> None:
        self._front, self._stages, self._count, self._split = front, stages, count, split
        self._outer, self._places = OuterLaws(*split.held), np.arange(count, dtype=np.uint32)

    def note(self, inputs: StepInputs) -> _Record:
        """Copy the inputs of a step before it runs, and return the record."""
        rest, values, arrays = self._outer.split(inputs)
        split, dt, places = self._split, rest.dt, [self._places] * _SIGNALS
        seen = [gathered(rest.signals[k], rest.indices[k]) for k in range(_SIGNALS)]
        periods, due, effort = self._rate(values, arrays, dt)
        runs = []
        for period in np.unique(periods[due]):
            who = due & (periods == period)
            masked = [np.where(who, one, np.nan).astype(np.float32) for one in seen]
            step = float(period * np.float32(dt))
            front = self._front.note(rest._replace(signals=masked, indices=places, dt=step))
            effort = np.where(who, self._front.efforts(front)[1], effort)
            runs.append(_Run(who, front))
        # a signal that is not finite is a fault also of a joint whose controller does not run
        inputs_checked = *seen, *(numpy_view(rest.parameters[k]).ravel() for k in split.checked)
        good = np.logical_and.reduce([np.isfinite(one) for one in inputs_checked])
        effort, late = np.where(good, effort, np.nan).astype(np.float32), None
        if EffortDelayTimed in split.held:
            rings = arrays[-1 - len(EffortDelayTimed.LATE) :]
            (effort,), late = LateStep.of(EffortDelayTimed, [effort], rings, values, dt)
        none = np.zeros(0, np.int32)
        state = States([], none, rest.state.write_idx, rest.state.laws[split.states])
        signals, parameters = [*seen[:2], None, None, None], [effort, *rest.parameters[split.values]]
        return _Record(runs, self._stages.note(StepInputs(signals, places, parameters, state, None, dt)), due, late)

    def efforts(self, noted: _Record) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts, and those that act on the first stage, of a recorded step; NaN on a fault."""
        return self._stages.efforts(noted.stages)

    def back(self, noted: _Record, by: StepGradients) -> None:
        """Run the backward pass of a recorded step; see `GradientRecorder`."""
        rest, own = self._outer.split_gradients(by)
        good = np.isfinite(self.efforts(noted)[0])
        by_acting = np.zeros(self._count, np.float32)
        values, states, rings = self._split.values, self._split.states, self._split.rings
        states = slice(rings + states.start, rings + states.stop)
        stages = rest._replace(
            efforts=[by.efforts[0], None],
            signals=[*by.signals[:2], None, None, None],
            parameters=[by_acting, *rest.parameters[values]],
            after=rest.after[states],
            before=rest.before[states],
            numbers=None,
        )
        self._stages.back(noted.stages, stages)
        by_held = by_acting if noted.late is None else noted.late.back([by_acting], own)[0]
        by_held = by_held + np.where(good, gathered(by.efforts[1], by.effort_index), 0.0)
        by_held = self._back_rate(noted, good, by_held, own)
        # of the stages, nothing is left to propagate
        after = list(rest.after)
        after[states] = [None] * len(stages.after)
        moved = np.zeros(self._count, bool)
        for run in noted.runs:
            who = run.who & good
            moved |= who
            before = [None if one is None else np.zeros_like(numpy_view(one)) for one in rest.before]
            efforts = [None, np.where(who, by_held, 0.0).astype(np.float32)]
            mine = [_taken_of(one, who) for one in after]
            self._front.back(
                run.front, rest._replace(efforts=efforts, effort_index=self._places, after=mine, before=before)
            )
            for to, gradients in zip(rest.before, before, strict=True):
                if to is not None and gradients is not None:
                    numpy_view(to)[...] += gradients
        carry(after, rest.before, moved)

    def _rate(self, values: dict[str, np.ndarray], arrays: Sequence[Array], dt: float) -> tuple[np.ndarray, ...]:
        """Return the physics steps in each period, whether controllers run, and the efforts that are held."""
        every = np.ones(self._count, np.float32)
        if RateHold not in self._split.held:
            return every, every > 0.0, np.zeros_like(every)
        clock, held = (numpy_view(one).ravel() for one in arrays[: len(RateHold.STATE)])
        frequency, h = values["frequency"], np.float32(dt)
        steps = np.divide(1.0, frequency * h, out=values["decimation"].copy(), where=frequency > 0.0)
        steps = np.minimum(steps, np.float32(float(LONGEST)))
        near = np.rint(steps)
        steps = np.where(np.abs(steps - near) < np.float32(float(SAME)) * steps, near, steps)
        periods = np.maximum(steps, np.float32(1.0))
        return periods, np.isnan(clock) | (clock + 1.0 >= periods - np.float32(float(EARLY))), held

    def _back_rate(self, noted: _Record, good: np.ndarray, by_held: np.ndarray, own: OuterGradients) -> np.ndarray:
        """Propagate gradients to the effort that was held; return those of efforts of controllers that ran."""
        if RateHold not in self._split.held:
            return by_held
        place = RateHold.STATE.index("held")
        by_after = taken(own.after[place], self._count)
        total = np.where(good, by_held + by_after, 0.0)
        # a step with a fault keeps the effort
        give(own.before[place], np.where(good, np.where(noted.due, 0.0, total), by_after))
        return np.where(noted.due, total, 0.0)


def carry(after: Sequence[Array | None], before: Sequence[Array | None], but: np.ndarray) -> None:
    """Move gradients by states after a step to those before, of the joints that kept them: all but some."""
    for one, to in zip(after, before, strict=True):
        moved = _taken_of(one, ~but)
        if moved is not None and to is not None:
            numpy_view(to)[...] += moved


def _taken_of(array: Array | None, who: np.ndarray) -> np.ndarray | None:
    """Return gradients of some joints (axis 1 if there are several), zeros for others, and set them to zero."""
    if array is None:
        return None
    view = numpy_view(array)
    mask = who.reshape((1,) * (view.ndim > 1) + (-1,) + (1,) * max(view.ndim - 2, 0))
    found = np.where(mask, view, np.float32(0.0))
    view[...] = np.where(mask, np.float32(0.0), view)
    return found
