"""Gradients through an encoder, before those of the rest of the actuator.

The law and its derivatives are those of `laws/feedback_encoder.py`, its latency that of `late_ring.py`. The
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

from ...base.memory import Array, numpy_view
from ...laws.contract.ranges import LARGEST
from ...laws.feedback_encoder import MOST_COUNTS, FeedbackEncoder
from ..random.law_numbers import gaussian
from .gradient_recorder import GradientRecorder, flat, gathered, give, taken
from .late_ring import LateStep

_GIVEN = (*FeedbackEncoder.ASKS, *FeedbackEncoder.PARAMETERS)
_One = TypeVar("_One")

NUM_VALUES = len(_GIVEN)
"""Number of its signals and parameters."""
NUM_ARRAYS = len(FeedbackEncoder.STATE) + 1 + len(FeedbackEncoder.LATE)
"""Number of its state arrays."""
_MEASURED = 2


@dataclass(frozen=True, eq=False)
class _Record:
    """A step: the record of the rest, and what the encoder did."""

    inner: object
    late: LateStep
    dt: float
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
    """Records steps and runs their backward passes; a `GradientRecorder` around that of the rest.

    The rest has a `GivenMeasurement` as its sensor. States of the encoder follow those of the rest, signals and
    parameters likewise.

    Args:
        inner: The recorder of the rest.
        count: Number of joints.
        first: Number of signals and parameters of the rest before those of its sensor.
        gear: Number of the ratio among them, of a gear that the encoder is before; its offset follows. None at the
            joint.
        checked: Numbers of the signals among them that laws ask for and that must be finite.
    """

    def __init__(
        self, inner: GradientRecorder, count: int, first: int, gear: int | None = None, checked: Sequence[int] = ()
    ) -> None:
        self.inner = inner
        """The recorder of the rest."""
        self._checked = checked
        self._gear = gear
        self._count, self._first, self._places = count, first, np.arange(count, dtype=np.uint32)

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

        `state` is that of the rest, and the arrays of the encoder.
        """
        inner_state, arrays = state
        given = dict(zip(_GIVEN, map(flat, parameters[-NUM_VALUES:]), strict=True))
        num_states = len(FeedbackEncoder.STATE)
        last_position, last_velocity, samples = map(flat, arrays[:num_states])
        newest, *rings = map(numpy_view, arrays[num_states:])
        joint = [gathered(signals[k], indices[k]) for k in range(_MEASURED)]
        h, ratio, offset = np.float32(dt), np.ones(self._count, np.float32), np.zeros(self._count, np.float32)
        if self._gear is not None:
            ratio, offset = (flat(one) for one in parameters[self._gear : self._gear + 2])
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            q, qd = ratio * joint[0] + offset, ratio * joint[1]
            noise = _drawn(given, samples)
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
            wanted = given["latency_steps"] + given["latency"] / h
            acting, late = LateStep.of(measured, newest, rings, wanted)
            seen = [(acting[0] - offset) / ratio, acting[1] / ratio]
        inner = self.inner.note(signals, indices, self._with(parameters, seen), inner_state, lag, dt)
        given_signals = [gathered(one, at) for one, at in zip(signals, indices, strict=False) if one is not None]
        inputs = [*given_signals, *(flat(parameters[k]) for k in self._checked if k < len(parameters))]
        heard = np.logical_and.reduce([np.isfinite(one) for one in inputs])
        kept_of_step = last_position, last_velocity, raw, noise, joint, seen, ratio, offset, heard
        return _Record(inner, late, dt, given, *kept_of_step)

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
        by_seen = [np.zeros(self._count, np.float32) for _ in range(_MEASURED)]
        rest = after[:-NUM_ARRAYS], before[:-NUM_ARRAYS], numbers
        self.inner.back(noted.inner, efforts, effort_index, signals, indices, self._with(parameters, by_seen), *rest)
        acting = [by / noted.ratio for by in by_seen]
        rings = slice(-len(acting), None)
        by_now, by_filtered = noted.late.back(acting, after[rings], before[rings])
        # an input that is not finite keeps the state, and an effort alone does not
        good = noted.late.good & noted.heard
        states = slice(-NUM_ARRAYS, -NUM_ARRAYS + 2)
        by_position, by_velocity = (taken(one, self._count) for one in after[states])
        found = _back(noted, np.where(good, by_now + by_position, 0.0), np.where(good, by_filtered + by_velocity, 0.0))
        for name, by, to in zip(FeedbackEncoder.STATE, (by_position, by_velocity), before[states], strict=False):
            give(to, self._places, np.where(good, found[name], by))
        for k, name in enumerate(("position", "velocity")):
            give(signals[k], indices[k], noted.ratio * found[name])
        if self._gear is not None:
            for to, by in zip(parameters[self._gear : self._gear + 2], _by_gear(noted, by_seen, found), strict=True):
                give(to, self._places, by)
        by_lag = noted.late.by_lag(acting)
        found |= {"latency": by_lag / noted.dt, "latency_steps": by_lag}
        for name, to in zip(_GIVEN, parameters[-NUM_VALUES:], strict=True):
            # of the switch of the velocity there is none
            if name != "velocity" and name in found:
                give(to, self._places, found[name])

    def _with(self, parameters: Sequence[_One], measured: Sequence[np.ndarray]) -> list[_One | np.ndarray]:
        """Return the parameters of the rest, with those of its sensor."""
        return [*parameters[: self._first], *measured, *parameters[self._first : -NUM_VALUES]]


def _back(noted: _Record, by_now: np.ndarray, by_filtered: np.ndarray) -> dict[str, np.ndarray]:
    """Return gradients by signals, states and parameters, given those of measured position and velocity."""
    given, dt = noted.given, noted.dt
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


def _drawn(given: dict[str, np.ndarray], samples: np.ndarray) -> np.ndarray:
    """Return the noise for a deviation of 1; nothing is drawn for one of 0."""
    noise = given["noise"]
    if not noise.any():
        return np.zeros_like(noise)
    return np.where(noise > 0.0, gaussian(given["seed"], given["joint_number"], samples), np.float32(0.0))


def _quantized(value: np.ndarray, resolution: np.ndarray) -> np.ndarray:
    """Return the nearest multiples of the resolution; the values themselves without one."""
    per_resolution = np.float32(1.0) / np.where(resolution > 0.0, resolution, np.float32(1.0))
    counts = value * per_resolution
    return np.where((resolution > 0.0) & (np.abs(counts) < float(MOST_COUNTS)), np.rint(counts) * resolution, value)
