"""Frequency response of one joint: the loop of `loop.py` for a sine, exactly as it is stepped.

    v⁺ = v + dt·τ/I      q⁺ = q + dt·((1 − w)·v + w·v⁺)      hence, with z = exp(j·2π·f·dt),
    V/T = (dt/I)/(z − 1)      Q/T = dt·(1 − w + w·z)/(z − 1)·V/T
    open loop     L = M·(kp·Q/T + kd·F·V/T + ki·dt·z/(z − 1)·Q/T)
    closed loop   z⁻ᵈ·(kp + ki·dt·z/(z − 1))·(Q/T) / (1 + L)

The hold of the effort between steps is included, without approximation. A delay of d steps applies to targets and not
to feedback, so it turns the phase of the closed loop and does not change the margins. The latency M of the measurement
weights the last steps, see `timing.py`; F is the filter of the velocity. With a rate of the controller or a delay of
the effort, V/T and Q/T are those of all physics steps between two computations. An effort at the end of the step, see
`implicit.py`, has for C = kp + ki·dt·z/(z − 1), D = kd + dt·C, g = dt/I with the inertia I with which it is stepped,
and S = s/(1 − (1 − s)·z⁻¹) with the share s of its load,
    open loop     L = (C·Q/T + D·(1 + S·(1 − z⁻¹))·V/T) / (1 + g·D·(1 − S·z⁻¹))
    closed loop   z⁻ᵈ·C·(Q/T) / (1 + g·D·(1 − S·z⁻¹)) / (1 + L)
Its gains do not multiply L, so there is no crossover at which a factor makes L = −1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..plots.bode import FrequencyResponse
from .implicit import Implicit
from .loop import Loop, edge
from .timing import Timing

_POINTS = 4000
# lowest frequency, relative to the natural one
_BELOW = 0.01
# tolerance of a crossing, which lies between points
_NEAR = 0.01
_NOTHING = 1e-12
# condition of eigenvectors from which on they tell nothing
_DEFECTIVE = 1e8

CIRCLE = np.geomspace(1e-4, math.pi, 300)
"""Angles of z at which loops are looked at."""


def frequency_response(
    joint: str,
    gains: tuple[float, float, float],
    inertia: float,
    dt: float,
    delay_steps: float = 0.0,
    velocity_weight: float = 1.0,
    timing: Timing | None = None,
    implicit: Implicit | None = None,
) -> FrequencyResponse:
    """Return the frequency response of a joint's loop with gains kp, kd and ki and its inertia at the motor, all in SI.

    Commands are late by `delay_steps`, physics steps or those of a rate; without timing it is prompt.
    """
    kp, kd, ki = gains
    if not all(value > 0 for value in (inertia, dt, max(kp, kd, ki))):
        raise ValueError(
            f"{joint}: kp = {kp:g}, kd = {kd:g}, ki = {ki:g}, inertia {inertia:g}, dt = {dt:g}: must have a gain, and "
            "inertia and step > 0. A loop that is open has no margins."
        )
    timing = Timing.prompt(1) if timing is None else timing
    implicit = Implicit.none(1) if implicit is None else implicit
    plant = _Plant(inertia, dt, velocity_weight, timing, implicit)
    half = 0.5 / plant.dt
    slowest = max(math.sqrt(kp / inertia), kd / inertia, (ki / inertia) ** (1 / 3)) / (2 * math.pi)
    frequencies = np.geomspace(min(_BELOW * slowest, 0.1 * half), half, _POINTS)
    loop, followed = plant.responses(frequencies, gains)
    crossover, margin = (None if math.isnan(one) else float(one) for one in _phase_margin(frequencies, loop))
    matrices = np.array([[1.0 / inertia]]), np.array([[kp], [kd], [ki]])
    factor = Loop(*matrices, velocity_weight, timing, implicit).margin(dt)
    turn = None if implicit.mask[0] else _phase_crossover(frequencies, loop, factor)
    level = np.abs(followed)
    falls = np.flatnonzero((level[:-1] >= math.sqrt(0.5)) & (level[1:] < math.sqrt(0.5)))
    delayed = followed * np.exp(-2j * math.pi * frequencies * plant.dt * delay_steps)
    bandwidth = float(frequencies[falls[-1]]) if len(falls) and factor >= 1 else None
    return FrequencyResponse(joint, frequencies, loop, delayed, factor, turn, margin, crossover, bandwidth)


def joint_loops(
    gains: np.ndarray, dt: float, weight: float, timing: Timing, implicit: Implicit
) -> tuple[np.ndarray, np.ndarray]:
    """Return open and closed loop of a joint of inertia 1 with each of some gains `(3, K)`, `(K, points of CIRCLE)`."""
    plant = _Plant(1.0, dt, weight, timing, implicit)
    kp, kd, ki = gains[:, :, None]
    return plant.responses(CIRCLE / (2 * math.pi * plant.dt), (kp, kd, ki))


def closed_margins(loop: Loop, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Return gain margin and phase margin [deg] of the loop of each joint, all others closed, each `(J,)`.

    0 if the robot is unstable, infinite for a joint without gains. The margin of an implicit joint is that of its
    effort, not of its gains.
    """
    after, added, returned, used = loop.opened(dt)
    gain, phase = np.full((2, len(loop.inertias)), np.inf)
    poles, vectors = np.linalg.eig(after)
    if not len(used):
        return gain, phase
    if np.abs(poles).max() > 1.0 + 1e-9:
        gain[used] = phase[used] = 0.0
        return gain, phase
    if loop.has_rates(dt):
        for joint in used:
            gain[joint], phase[joint] = _searched(loop, dt, joint)
        return gain, phase
    z = np.exp(1j * CIRCLE)
    if np.linalg.cond(vectors) < _DEFECTIVE:
        modes = (returned @ vectors).T * np.linalg.solve(vectors, added)
        closed = -(1.0 / (z[:, None] - poles)) @ modes
    else:
        resolvent = np.linalg.solve(z[:, None, None] * np.eye(len(after)) - after, added.astype(complex))
        closed = -np.einsum("js,zsj->zj", returned, resolvent)
    gain[used], phase[used] = margins((closed / (1.0 - closed)).T)
    return gain, phase


def _searched(loop: Loop, dt: float, joint: int) -> tuple[float, float]:
    """Return the margins of the loop of a joint that repeats within the period of the robot, by its eigenvalues."""

    def is_stable(factor: complex) -> bool:
        gains = loop.gains.astype(complex)
        gains[:, joint] *= factor
        return loop.changed(gains).is_stable(dt)

    factor = edge(is_stable, 1.0)
    return factor, edge(lambda angle: angle <= 180.0 and is_stable(np.exp(-1j * math.radians(angle))), 1.0)


def margins(loop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return gain margins and phase margins [deg] of stable open loops `(…, points of CIRCLE)`; infinite for none."""
    real, imaginary = np.real(loop), np.imag(loop)
    crosses = (imaginary[..., :-1] * imaginary[..., 1:] < 0) & (real[..., :-1] < 0)
    moved = imaginary[..., :-1] - imaginary[..., 1:]
    share = np.divide(imaginary[..., :-1], moved, out=np.zeros_like(moved), where=crosses)
    levels = np.where(crosses, real[..., :-1] + share * (real[..., 1:] - real[..., :-1]), 0.0)
    # at the highest frequency it is real
    levels = np.concatenate([levels, real[..., -1:]], axis=-1)
    ends = (levels > -1.0) & (levels < 0.0)
    factors = np.divide(-1.0, levels, out=np.full_like(levels, np.inf), where=ends)
    return factors.min(axis=-1), np.nan_to_num(np.abs(_phase_margin(CIRCLE, loop)[1]), nan=np.inf)


class _Plant:
    """A joint between two computations of its controller, and how it is measured.

    Between two computations there are n physics steps of h. In the i-th of them, the effort that acts is the one that
    the controller returned `floor((i − e)/n)` of its steps before, with a delay of e physics steps.
    """

    def __init__(self, inertia: float, dt: float, weight: float, timing: Timing, implicit: Implicit) -> None:
        self.dt = float(timing.periods(dt)[0]) * dt
        self.steps = round(self.dt / dt)
        self.inertia, self.weight, self.timing, self.implicit = inertia, weight, timing, implicit
        self.shares = timing.filter_shares(dt)
        self.measured, self.acting = (weights[0] for weights in timing.weights(dt))

    def responses(self, frequencies: np.ndarray, gains: Sequence[float | np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return the open loop, and the closed loop without a delay of commands."""
        kp, kd, ki = gains
        z = np.exp(2j * math.pi * frequencies * self.dt)
        # the highest frequency reverses at each step, exactly
        z[-1] = -1.0
        summed = self.dt * z / (z - 1)
        velocity, position = self._moved(z)
        if self.implicit.mask[0]:
            return self._at_end(z, (kp + ki * summed, kd), velocity, position)
        seen = position * (1 - 1 / z) / self.dt if self.timing.differences[0] else velocity
        seen = seen * self.shares[0] / (1 - (1 - self.shares[0]) / z)
        loop = np.polyval(self.measured[::-1], 1 / z) * (kp * position + kd * seen + ki * summed * position)
        followed = (kp + ki * summed) * position / (1 + loop)
        # half a step of latency leaves nothing of the highest frequency, and a level needs a number
        return np.where(loop == 0.0, _NOTHING, loop), np.where(followed == 0.0, _NOTHING, followed)

    def _at_end(
        self, z: np.ndarray, law: tuple[np.ndarray, float | np.ndarray], velocity: np.ndarray, position: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the open and the closed loop of an effort at the end of the step, with stiffness and damping."""
        stiffness, kd = law
        share = self.implicit.load_shares[0]
        found = share / (1 - (1 - share) / z)
        felt = kd + self.dt * stiffness
        yielding = 1 + self.dt / self.implicit.inertias[0] * felt * (1 - found / z)
        loop = (stiffness * position + felt * (1 + found * (1 - 1 / z)) * velocity) / yielding
        followed = stiffness * position / yielding / (1 + loop)
        return loop, np.where(followed == 0.0, _NOTHING, followed)

    def _moved(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return velocity and position over the effort of the controller."""
        late, within = np.arange(len(self.acting))[:, None], np.arange(self.steps)
        ages = -((within - late) // self.steps)
        pushed, moved = np.zeros((2, ages.max() + 1))
        np.add.at(pushed, ages, self.acting[:, None])
        np.add.at(moved, ages, self.acting[:, None] * (self.steps - 1 - within + self.weight))
        step = self.dt / self.steps
        velocity = step / self.inertia * np.polyval(pushed[::-1], 1 / z) / (z - 1)
        gained = step**2 / self.inertia * np.polyval(moved[::-1], 1 / z)
        return velocity, (self.dt * velocity + gained) / (z - 1)


def _phase_margin(frequencies: np.ndarray, loop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the frequencies at which open loops `(…, points)` fall below 1 for the last time, and the phase margins
    there [deg]; NaN for a loop that does not.
    """
    level = np.log(np.abs(loop))
    falls = (level[..., :-1] >= 0) & (level[..., 1:] < 0)
    at = falls.shape[-1] - 1 - np.argmax(falls[..., ::-1], axis=-1)[..., None]
    before, after = (np.take_along_axis(level, one, axis=-1)[..., 0] for one in (at, at + 1))
    share = np.where(falls.any(axis=-1), before, np.nan) / (before - after)
    first, second = (np.take_along_axis(loop, one, axis=-1)[..., 0] for one in (at, at + 1))
    turned = np.degrees(np.angle(first) + share * np.angle(second / first))
    ends = np.log(frequencies)
    return np.exp(ends[at[..., 0]] + share * (ends[at[..., 0] + 1] - ends[at[..., 0]])), turned % 360.0 - 180.0


def _phase_crossover(frequencies: np.ndarray, loop: np.ndarray, factor: float) -> float | None:
    """Return the frequency at which the open loop times `factor` is -1."""
    real, imaginary = np.real(loop), np.imag(loop)
    turns = np.flatnonzero((imaginary[:-1] * imaginary[1:] < 0) & (real[:-1] < 0))
    # at the highest frequency it is real
    nearest = min([*turns.tolist(), len(loop) - 1], key=lambda place: abs(factor * real[place] + 1.0))
    return float(frequencies[nearest]) if abs(factor * real[nearest] + 1.0) < _NEAR else None
