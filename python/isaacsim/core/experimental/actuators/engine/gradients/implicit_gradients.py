"""Gradients of efforts at the end of the step, around those of controller and limits.

An effort τ = F(q⁺, v⁺) with v⁺ = v₀ + g·τ and q⁺ = q + h·v⁺ depends on what F depends on by the theorem of implicit
functions: with F′ = ∂F/∂v⁺ + h·∂F/∂q⁺,

    λ = (∂L/∂τ + g·a) / (1 − g·F′)          a: the gradient by v⁺ of the states of F, which are those of the end
    ∂L/∂v⁺ = F′·λ + a,   ∂L/∂v₀ = ∂L/∂v⁺

so the backward pass of F runs at (q⁺, v⁺), with λ in the place of ∂L/∂τ. `laws/implicit_effort.py` has v₀ and g.
In NumPy, on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.memory import Array
from ...laws.implicit_effort import ImplicitEffort
from .gradient_recorder import GradientRecorder, flat, gathered, give, taken

NUM_STATES = len(ImplicitEffort.STATE)
"""Number of its state arrays."""
NUM_GIVEN = len(ImplicitEffort.ASKS) + len(ImplicitEffort.PARAMETERS)
"""Number of its signals and parameters."""
_GIVEN = (*ImplicitEffort.ASKS, *ImplicitEffort.PARAMETERS)


@dataclass(eq=False)
class _Record:
    """A step: its inputs, and after it the record of controller and limits at the end of the step."""

    # arguments of the inner recorder but position and velocity
    rest: tuple[Any, ...]
    dt: float
    q: np.ndarray
    v: np.ndarray
    # signals and parameters of the mode by name, and its states
    given: dict[str, np.ndarray]
    previous_v: np.ndarray
    previous_effort: np.ndarray
    unmodelled: np.ndarray
    # zero, for no simulator that takes it over has gradients
    engine_damping: np.ndarray
    inner: object = None
    effort: np.ndarray | None = None


class EndOfStep:
    """Records steps and runs their backward passes; a `GradientRecorder` around that of controller and limits.

    States of the mode follow those of the rest, signals and parameters likewise. `finish` completes a record after its
    step.
    """

    def __init__(self, inner: GradientRecorder, count: int) -> None:
        self._inner, self._count = inner, count
        self._places = np.arange(count, dtype=np.uint32)

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

        `state` is that of the rest, and the arrays of the mode.
        """
        inner_state, arrays = state
        q, v = (gathered(signals[k], indices[k]) for k in range(2))
        values = [flat(one) for one in parameters[-NUM_GIVEN:]]
        rest = (list(signals[2:]), list(indices[2:]), list(parameters[:-NUM_GIVEN]), inner_state, lag)
        previous = [flat(one) for one in arrays]
        return _Record(rest, dt, q, v, dict(zip(_GIVEN, values, strict=True)), *previous)

    def finish(self, noted: _Record, efforts: np.ndarray) -> None:
        """Complete a record with the efforts of its step, `(count,)`."""
        noted.effort = efforts.astype(np.float32)
        mode = _Mode(noted)
        after = np.where(mode.good, mode.free + mode.gain * noted.effort, np.nan)
        end = [noted.q + noted.dt * after, after]
        signals, indices, parameters, state, lag = noted.rest
        noted.inner = self._inner.note(
            [one.astype(np.float32) for one in end] + signals,
            [self._places, self._places, *indices],
            parameters,
            state,
            lag,
            noted.dt,
        )

    def efforts(self, noted: _Record) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts of the law at the end of the step, and those before the limits; see `GradientRecorder`."""
        return self._inner.efforts(noted.inner)

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
        mode, split = _Mode(noted), len(after) - NUM_STATES
        by_velocity, by_effort, by_unmodelled, _ = (taken(one, self._count) for one in after[split:])
        direct, computed = (gathered(one, effort_index).astype(np.float64) for one in efforts)
        rest = parameters[:-NUM_GIVEN], after[:split], before[:split], numbers
        # slope of the law, by a pass of ones that reaches nothing else
        nothing = [None] * len(rest[0]), [None] * split, [None] * split, None
        by_one = self._inner_back(noted, np.ones(self._count), np.zeros(self._count), [None] * 5, indices, nothing)
        slope = np.minimum(mode.total(by_one), 0.0)
        # states of the law, and what else does not depend on the effort
        by_state = self._inner_back(noted, np.zeros(self._count), computed, signals, indices, rest)
        wanted = direct + by_effort + mode.gain * mode.total(by_state)
        by_law = np.where(mode.good, wanted / (1.0 - mode.gain * slope), 0.0)
        # the gradients by states after the step are used; where states are kept in place, those before stand there
        rest = rest[0], [None] * split, *rest[2:]
        by_end = self._inner_back(noted, by_law, np.zeros(self._count), signals, indices, rest)
        by_q = by_state[0] + by_end[0]
        by_after = mode.total(by_state) + mode.total(by_end)
        found = mode.back(by_after, by_unmodelled)
        found["v"] = found["v"] + by_velocity
        for k, by in enumerate((by_q, found["v"])):
            give(signals[k], indices[k], np.where(mode.good, by, 0.0))
        for to, name in zip(parameters[-NUM_GIVEN:], _GIVEN, strict=True):
            give(to, self._places, np.where(mode.good, found.get(name, 0.0), 0.0))
        for to, name in zip(before[split:], ImplicitEffort.STATE, strict=True):
            give(to, self._places, np.where(mode.good, found[name], 0.0))

    def _inner_back(
        self,
        noted: _Record,
        by_effort: np.ndarray,
        by_computed: np.ndarray,
        signals: Sequence[Array | None],
        indices: Sequence[Array],
        rest: tuple[Any, ...],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Run the backward pass of the law; return the gradients by position and velocity at the end of the step."""
        found = [np.zeros(self._count, np.float32) for _ in range(2)]
        self._inner.back(
            noted.inner,
            [by_effort.astype(np.float32), by_computed.astype(np.float32)],
            self._places,
            [*found, *signals[2:]],
            [self._places, self._places, *indices[2:]],
            *rest,
        )
        by_q, by_v = (one.astype(np.float64) for one in found)
        return by_q, by_v


class _Mode:
    """What a joint did in a step without its motor, in float64, and its derivatives."""

    def __init__(self, noted: _Record) -> None:
        given = {name: values.astype(np.float64) for name, values in noted.given.items()}
        self._given, self._dt = given, noted.dt
        coupled, inertia, assumed = given["coupled_inertia"], given["inertia"], given["assumed_inertia"]
        self._source = np.where(coupled > 0, 0, np.where(inertia > 0, 1, 2))
        self.inertia = np.choose(self._source, [coupled, 0.5 * inertia, assumed])
        with np.errstate(divide="ignore", invalid="ignore"):
            self.gain = noted.dt / np.where(self.inertia > 0, self.inertia, np.nan)
            self._is_coupled = inertia > self.inertia
            self._coupling = np.where(self._is_coupled, self.inertia / np.where(inertia > 0, inertia, 1.0), 1.0)
        v = noted.v.astype(np.float64)
        self._first = np.isnan(noted.previous_v)
        self._gained = np.where(self._first, 0.0, v - noted.previous_v)
        previous = np.where(np.isnan(noted.previous_effort), 0.0, noted.previous_effort)
        seen = self.inertia * self._gained / noted.dt - previous + given["load"]
        self._off = np.where(self._first, 0.0, seen - noted.unmodelled)
        self._follows = given["has_friction"] > 0.5
        shares = np.where(self._follows, 1.0, given["load_share"] * self._coupling**2)
        self._share = np.where(self._first, 0.0, shares)
        rest = np.where(self._first, 0.0, noted.unmodelled + self._share * self._off)
        # of a load that is whole, the rest is known and not used
        self._uses = np.where(given["load_is_whole"] > 0.5, 0.0, 1.0)
        self._pushed = self._uses * rest - given["load"]
        self.free = v + self.gain * self._pushed
        self._effort = np.zeros(1) if noted.effort is None else noted.effort.astype(np.float64)
        self.good = np.isfinite(self.free) & np.isfinite(noted.q) & np.isfinite(self._effort)

    def total(self, by_end: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Gradient by the final velocity, which moves the position, too."""
        return by_end[1] + self._dt * by_end[0]

    def back(self, by_after: np.ndarray, by_unmodelled: np.ndarray) -> dict[str, np.ndarray]:
        """Return gradients by velocity, states, signals and parameters."""
        known = np.where(self._first, 0.0, 1.0)
        by_rest = known * (by_unmodelled + self._uses * self.gain * by_after)
        by_seen = by_rest * self._share
        per_step = self.inertia / self._dt
        by_inertia = -self.gain / self.inertia * by_after * (self._effort + self._pushed)
        by_inertia = by_inertia + by_seen * self._gained / self._dt
        # the share falls with the square of the coupling
        by_share = np.where(self._follows, 0.0, by_rest)
        by_coupling = by_share * self._given["load_share"] * 2.0 * self._coupling * self._off
        inertia = np.where(self._is_coupled, self._given["inertia"], 1.0)
        by_inertia = by_inertia + np.where(self._is_coupled, by_coupling / inertia, 0.0)
        by_whole = np.where(self._is_coupled, -by_coupling * self._coupling / inertia, 0.0)
        return {
            "v": by_after + by_seen * per_step,
            "previous_velocity": -by_seen * per_step,
            "previous_effort": -by_seen,
            "unmodelled_load": by_rest - by_seen,
            "engine_damping": np.zeros_like(by_seen),
            "load": by_seen - self.gain * by_after,
            "coupled_inertia": np.where(self._source == 0, by_inertia, 0.0),
            "inertia": by_whole + np.where(self._source == 1, 0.5 * by_inertia, 0.0),
            "assumed_inertia": np.where(self._source == 2, by_inertia, 0.0),
            "load_share": by_share * self._coupling**2 * self._off,
        }
