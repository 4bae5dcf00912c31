"""Gradients through an encoder, before those of the rest of the actuator.

The law and its derivatives are those of `laws/feedback_encoder.py`, its latency that of `late_gradients.py`. The
gradient of a quantized number is that of the number itself, a *straight-through* estimate: the true one, zero between
steps and infinite at them, has no use. Gradients by resolutions are zero. An encoder at the motor, before a gear,
measures what the gear makes of the joint; the rest gets what it measures as a position of the joint, which its gear
makes that of the motor again. In NumPy, on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ...laws.contract.ranges import LARGEST
from ...laws.feedback_encoder import MOST_COUNTS, FeedbackEncoder
from ..random.law_numbers import gaussian
from .gradient_recorder import GradientRecorder, OuterLaws, StepGradients, StepInputs, flat, gathered, give, taken
from .late_gradients import LateStep

_MEASURED = 2
_Step = TypeVar("_Step", StepInputs, StepGradients)


@dataclass(frozen=True, eq=False)
class _Record:
    """A step: the record of the rest, and what the encoder did."""

    inner: object
    late: LateStep
    # signals and parameters by name
    given: dict[str, np.ndarray]
    # position and filtered velocity before the step, the velocity before the filter, and the noise for a deviation of 1
    last_position: np.ndarray
    last_velocity: np.ndarray
    raw: np.ndarray
    noise: np.ndarray
    # position and velocity of the joint; what the rest gets; ratio and offset of the gear, 1 and 0 without one
    joint: list[np.ndarray]
    seen: list[np.ndarray]
    ratio: np.ndarray
    offset: np.ndarray
    # where all inputs were finite
    heard: np.ndarray


class Measured:
    """Records steps with an encoder; a `GradientRecorder` around that of the rest.

    The sensor of the rest is `GivenMeasurement`. Of the rest's signals and parameters, `first` come before those of its
    sensor, and `gear` is the place of the ratio if the encoder is before a gear, its offset next. Signals at `checked`
    are asked for by laws and must be finite.
    """

    def __init__(
        self, inner: GradientRecorder, count: int, first: int, gear: int | None = None, checked: Sequence[int] = ()
    ) -> None:
        self.inner = inner
        """The recorder of the rest."""
        self._outer, self._count, self._first, self._checked = OuterLaws(FeedbackEncoder), count, first, checked
        # ratio and offset among the parameters of the rest
        self._gear = None if gear is None else slice(gear, gear + 2)

    def note(self, inputs: StepInputs) -> _Record:
        """Copy the inputs of a step before it runs, and return the record."""
        rest, given, arrays = self._outer.split(inputs)
        num_states = len(FeedbackEncoder.STATE)
        last_position, last_velocity, samples = map(flat, arrays[:num_states])
        joint = [gathered(rest.signals[k], rest.indices[k]) for k in range(_MEASURED)]
        h, ratio, offset = np.float32(rest.dt), np.ones(self._count, np.float32), np.zeros(self._count, np.float32)
        if self._gear is not None:
            ratio, offset = map(flat, rest.parameters[self._gear])
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            q, qd = ratio * joint[0] + offset, ratio * joint[1]
            # nothing is drawn for a deviation of 0
            noise = np.zeros_like(given["noise"])
            if given["noise"].any():
                drawn = gaussian(given["seed"], given["joint_number"], samples)
                noise = np.where(given["noise"] > 0.0, drawn, np.float32(0.0))
            now = _quantized(q + given["bias"] + given["noise"] * noise, given["resolution"])
            stored = _quantized(qd, given["velocity_resolution"])
            difference = (now - last_position) * (np.float32(1.0) / h)
            is_stored, is_near = given["velocity"] > 0.5, np.abs(difference) <= LARGEST
            chosen = np.where(is_stored, stored, np.where(is_near, difference, qd))
            raw = np.where(np.isnan(last_position), qd, chosen)
            # a position that is too far away is as good as none
            last_position = np.where(is_stored | is_near, last_position, np.float32(np.nan))
            period = given["velocity_filter"] + h
            kept, share = given["velocity_filter"] / period, h / period
            before = np.where(np.isnan(last_velocity), raw, last_velocity)
            filtered = np.where(kept > 0.0, kept * before + share * raw, raw)
            measured = [np.where(np.isfinite(q) & np.isfinite(qd), one, np.nan) for one in (now, filtered)]
            acting, late = LateStep.of(FeedbackEncoder, measured, arrays[num_states:], given, rest.dt)
            seen = [(acting[0] - offset) / ratio, acting[1] / ratio]
        inner = self.inner.note(self._with(rest, seen))
        signals = [gathered(one, at) for one, at in zip(rest.signals, rest.indices, strict=False) if one is not None]
        checked = [flat(inputs.parameters[k]) for k in self._checked if k < len(inputs.parameters)]
        heard = np.logical_and.reduce([np.isfinite(one) for one in (*signals, *checked)])
        kept_of_step = last_position, last_velocity, raw, noise, joint, seen, ratio, offset, heard
        return _Record(inner, late, given, *kept_of_step)

    def efforts(self, noted: _Record) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts and efforts before the limits of a recorded step; see `GradientRecorder`."""
        return self.inner.efforts(noted.inner)

    def back(self, noted: _Record, by: StepGradients) -> None:
        """Run the backward pass of a recorded step; see `GradientRecorder`."""
        rest, own = self._outer.split_gradients(by)
        by_seen = [np.zeros(self._count, np.float32) for _ in range(_MEASURED)]
        self.inner.back(noted.inner, self._with(rest, by_seen))
        by_now, by_filtered = noted.late.back([one / noted.ratio for one in by_seen], own)
        # an input that is not finite keeps the state, and an effort alone does not
        good = noted.late.good & noted.heard
        by_states = [taken(one, self._count) for one in own.after[:2]]
        totals = [
            np.where(good, one + by_state, 0.0) for one, by_state in zip((by_now, by_filtered), by_states, strict=True)
        ]
        found = _back(noted, *totals)
        for name, by_state, to in zip(FeedbackEncoder.STATE, by_states, own.before, strict=False):
            give(to, np.where(good, found[name], by_state))
        for k, name in enumerate(("position", "velocity")):
            give(by.signals[k], noted.ratio * found[name], by.indices[k])
        if self._gear is not None:
            for to, by_value in zip(rest.parameters[self._gear], _by_gear(noted, by_seen, found), strict=True):
                give(to, by_value)
        for name in ("bias", "noise", "velocity_filter"):
            give(own.values[name], found[name])

    def _with(self, step: _Step, measured: Sequence[np.ndarray]) -> _Step:
        """Return a step of the rest, or its gradients, with a measurement among its parameters."""
        parameters = step.parameters
        return step._replace(parameters=[*parameters[: self._first], *measured, *parameters[self._first :]])


def _back(noted: _Record, by_now: np.ndarray, by_filtered: np.ndarray) -> dict[str, np.ndarray]:
    """Return gradients by signals, states and parameters, given those of measured position and velocity."""
    given, dt = noted.given, noted.late.dt
    period = given["velocity_filter"].astype(np.float64) + dt
    kept, fresh = given["velocity_filter"] / period, np.isnan(noted.last_velocity)
    by_raw = by_filtered * np.where(fresh, 1.0, dt / period)
    first, stored = np.isnan(noted.last_position), given["velocity"] > 0.5
    by_difference = np.where(first | stored, 0.0, by_raw / dt)
    by_position = by_now + by_difference
    slope = np.where(fresh, 0.0, noted.last_velocity - noted.raw) * dt / period**2
    return {
        "position": by_position,
        "velocity": np.where(first | stored, by_raw, 0.0),
        "last_position": -by_difference,
        "last_velocity": np.where(fresh, 0.0, kept * by_filtered),
        "bias": by_position,
        "noise": by_position * noted.noise,
        "velocity_filter": np.where(by_filtered != 0.0, slope * by_filtered, 0.0),
    }


def _by_gear(
    noted: _Record, by_seen: Sequence[np.ndarray], found: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients by ratio and offset: of what the encoder measures, and of what the rest makes of it."""
    good = np.isfinite(noted.seen[0])
    (q, qd), (seen, seen_velocity) = ([np.where(good, one, 0.0) for one in some] for some in (noted.joint, noted.seen))
    by_ratio = found["position"] * q + found["velocity"] * qd
    by_ratio -= (by_seen[0] * seen + by_seen[1] * seen_velocity) / noted.ratio
    return by_ratio, found["position"] - by_seen[0] / noted.ratio


def _quantized(value: np.ndarray, resolution: np.ndarray) -> np.ndarray:
    per_resolution = np.float32(1.0) / np.where(resolution > 0.0, resolution, np.float32(1.0))
    counts = value * per_resolution
    return np.where((resolution > 0.0) & (np.abs(counts) < float(MOST_COUNTS)), np.rint(counts) * resolution, value)
