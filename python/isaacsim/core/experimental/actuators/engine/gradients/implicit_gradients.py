"""Gradients of efforts at the end of the step, around those of controller and limits.

An effort τ = F(q⁺, v⁺) with v⁺ = v₀ + g·τ and q⁺ = q + h·v⁺ depends on what F depends on by the theorem of implicit
functions: with F′ = ∂F/∂v⁺ + h·∂F/∂q⁺,

    λ = (∂L/∂τ + g·a) / (1 − g·F′)          a: the gradient by v⁺ of the states of F, which are those of the end
    ∂L/∂v⁺ = F′·λ + a,   ∂L/∂v₀ = ∂L/∂v⁺

so the backward pass of F runs at (q⁺, v⁺), with λ in the place of ∂L/∂τ. `laws/implicit_effort.py` has v₀ and g.
In NumPy, on the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...laws.implicit_effort import ImplicitEffort
from .gradient_recorder import GradientRecorder, OuterLaws, StepGradients, StepInputs, flat, gathered, give, taken


@dataclass(eq=False)
class _Record:
    """A step: its inputs, and after it the record of controller and limits at the end of the step."""

    # inputs of the inner recorder; position and velocity are those of the start
    rest: StepInputs
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
    """Records steps with an effort of their end; a `GradientRecorder` around that of controller and limits.

    `finish` completes a record after its step.
    """

    def __init__(self, inner: GradientRecorder, count: int) -> None:
        self._inner, self._count, self._outer = inner, count, OuterLaws(ImplicitEffort)
        self._places = np.arange(count, dtype=np.uint32)

    def note(self, inputs: StepInputs) -> _Record:
        """Copy the inputs of a step before it runs, and return the record."""
        rest, given, arrays = self._outer.split(inputs)
        q, v = (gathered(rest.signals[k], rest.indices[k]) for k in range(2))
        return _Record(rest, q, v, given, *map(flat, arrays))

    def finish(self, noted: _Record, efforts: np.ndarray) -> None:
        """Complete a record with the efforts of its step, `(count,)`."""
        noted.effort = efforts.astype(np.float32)
        mode, rest = _Mode(noted), noted.rest
        after = np.where(mode.good, mode.free + mode.gain * noted.effort, np.nan)
        signals = [one.astype(np.float32) for one in (noted.q + rest.dt * after, after)]
        indices = [self._places, self._places, *rest.indices[2:]]
        noted.inner = self._inner.note(rest._replace(signals=[*signals, *rest.signals[2:]], indices=indices))

    def efforts(self, noted: _Record) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts of the law at the end of the step, and those before the limits; see `GradientRecorder`."""
        return self._inner.efforts(noted.inner)

    def back(self, noted: _Record, by: StepGradients) -> None:
        """Run the backward pass of a recorded step; see `GradientRecorder`."""
        mode, (rest, own) = _Mode(noted), self._outer.split_gradients(by)
        by_velocity, by_effort, by_unmodelled, _ = (taken(one, self._count) for one in own.after)
        direct, computed = (gathered(one, by.effort_index).astype(np.float64) for one in by.efforts)
        no_states, zeros = [None] * len(rest.after), np.zeros(self._count)
        # slope of the law, by a pass of ones that reaches nothing else
        unasked = {"parameters": [None] * len(rest.parameters), "after": no_states, "before": no_states}
        nothing = rest._replace(signals=[None] * 5, numbers=None, **unasked)
        by_one = self._inner_back(noted, np.ones(self._count), zeros, nothing)
        slope = np.minimum(mode.total(by_one), 0.0)
        # states of the law, and what else does not depend on the effort
        by_state = self._inner_back(noted, zeros, computed, rest)
        wanted = direct + by_effort + mode.gain * mode.total(by_state)
        by_law = np.where(mode.good, wanted / (1.0 - mode.gain * slope), 0.0)
        # the gradients by states after the step are used; where states are kept in place, those before stand there
        by_end = self._inner_back(noted, by_law, zeros, rest._replace(after=no_states))
        by_q = by_state[0] + by_end[0]
        by_after = mode.total(by_state) + mode.total(by_end)
        found = mode.back(by_after, by_unmodelled)
        found["v"] = found["v"] + by_velocity
        for k, by_signal in enumerate((by_q, found["v"])):
            give(by.signals[k], np.where(mode.good, by_signal, 0.0), by.indices[k])
        for name, to in (*own.values.items(), *zip(ImplicitEffort.STATE, own.before, strict=True)):
            give(to, np.where(mode.good, found.get(name, 0.0), 0.0))

    def _inner_back(
        self, noted: _Record, by_effort: np.ndarray, by_computed: np.ndarray, by: StepGradients
    ) -> tuple[np.ndarray, np.ndarray]:
        """Run the backward pass of the law; return the gradients by position and velocity at the end of the step."""
        by_end = [np.zeros(self._count, np.float32) for _ in range(2)]
        by = by._replace(
            efforts=[by_effort.astype(np.float32), by_computed.astype(np.float32)],
            effort_index=self._places,
            signals=[*by_end, *by.signals[2:]],
            indices=[self._places, self._places, *by.indices[2:]],
        )
        self._inner.back(noted.inner, by)
        by_q, by_v = (one.astype(np.float64) for one in by_end)
        return by_q, by_v


class _Mode:
    """What a joint did in a step without its motor, in float64, and its derivatives."""

    def __init__(self, noted: _Record) -> None:
        given = {name: values.astype(np.float64) for name, values in noted.given.items()}
        self._given, self._dt = given, noted.rest.dt
        coupled, inertia, assumed = given["coupled_inertia"], given["inertia"], given["assumed_inertia"]
        self._source = np.where(coupled > 0, 0, np.where(inertia > 0, 1, 2))
        self.inertia = np.choose(self._source, [coupled, 0.5 * inertia, assumed])
        with np.errstate(divide="ignore", invalid="ignore"):
            self.gain = self._dt / np.where(self.inertia > 0, self.inertia, np.nan)
            self._is_coupled = inertia > self.inertia
            self._coupling = np.where(self._is_coupled, self.inertia / np.where(inertia > 0, inertia, 1.0), 1.0)
        v = noted.v.astype(np.float64)
        self._first = np.isnan(noted.previous_v)
        self._gained = np.where(self._first, 0.0, v - noted.previous_v)
        previous = np.where(np.isnan(noted.previous_effort), 0.0, noted.previous_effort)
        seen = self.inertia * self._gained / self._dt - previous + given["load"]
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
