"""Motions that show the parameters of motors: chirps, multisines, steps and holds, of amplitude 1.

Each begins and ends at 0, and differs from joint to joint, so that the motion of one joint is told from the reactions
to the others. The *pace* of a joint [Hz] says how fast its motion may be: sines keep their full amplitude up to this
frequency, from there on their speed, and from 1 Hz on their acceleration. Positions are `(samples, joints)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# lowest frequency of sines [Hz], and periods of it that fit a motion at least
_LOWEST, _PERIODS = 0.1, 1.0
# fastest paces [Hz] of sines and steps, and the slowest of sines
_SINES, _STEPS, _SLOWEST = 1.0, 10.0, 0.25
# longest rise and fall of the amplitude of sines [s]
_TAPER = 0.5
# time between two steps, and between two holds [s]
_STEP_EVERY, _HOLD_EVERY = 1.0, 1.6
# number of random draws of which the best is taken, and of points at which levels are compared
_TRIES, _POINTS = 32, 200
# share of the time between two steps that a rise may take, and of a hold in which the joint moves
_RISES, _MOVES = 0.6, 0.55
# levels of steps
_LEVELS = (1.0, -1.0, 0.5, -0.5)


@dataclass(frozen=True)
class Span:
    """What the motions of all joints have in common; `top` is the highest frequency [Hz], `seed` of all draws."""

    samples: int
    dt: float
    joints: int
    top: float
    seed: int

    @property
    def seconds(self) -> float:
        """Duration [s]."""
        return self.samples * self.dt

    @property
    def lowest(self) -> float:
        """Lowest frequency of sines [Hz]."""
        return max(_LOWEST, _PERIODS / self.seconds)

    @property
    def time(self) -> np.ndarray:
        """Time since the start [s], shape `(samples,)`."""
        return np.arange(self.samples) * self.dt

    def random(self, joint: int, kind: str) -> np.random.Generator:
        """Return random numbers of a joint and a kind, which depend on nothing else but the seed."""
        return np.random.default_rng([self.seed, joint, *kind.encode()])


def chirp(span: Span, pace: np.ndarray) -> np.ndarray:
    """Return sines that sweep up and down through all frequencies, each joint elsewhere at a time."""
    found = np.empty((span.samples, span.joints))
    for joint in range(span.joints):
        place = (span.time / span.seconds + joint / span.joints) % 1.0
        frequency = span.lowest * (span.top / span.lowest) ** (1.0 - np.abs(2.0 * place - 1.0))
        phase = 2.0 * np.pi * (np.cumsum(frequency) * span.dt + span.random(joint, "chirp").uniform())
        found[:, joint] = _size(frequency, pace[joint]) * np.sin(phase)
    return found * _taper(span)[:, None]


def multisine(span: Span, pace: np.ndarray) -> np.ndarray:
    """Return sums of sines; joints share no frequency if there are enough, and have random phases."""
    found = np.empty((span.samples, span.joints))
    first = round(span.lowest * span.seconds)
    harmonics = np.arange(first, max(first + 1, int(span.top * span.seconds)) + 1)
    # with three frequencies a joint at least, others share theirs
    apart = min(span.joints, max(1, len(harmonics) // 3))
    for joint in range(span.joints):
        frequency = harmonics[joint % apart :: apart] / span.seconds
        phases = 2.0 * np.pi * span.random(joint, "multisine").uniform(size=(_TRIES, len(frequency)))
        turns = np.exp(2j * np.pi * span.time[:, None] * frequency) * _size(frequency, pace[joint])
        tried = np.real(turns @ np.exp(1j * phases.T)) * _taper(span)[:, None]
        peaks = np.abs(tried).max(axis=0)
        # a joint whose lowest frequency is above its pace moves less, too
        found[:, joint] = tried[:, peaks.argmin()] * (_size(frequency[0], pace[joint]) / peaks.min())
    return found


def steps(span: Span, pace: np.ndarray) -> np.ndarray:
    """Return jumps between levels, which take half a period; each joint has its own times and order of levels."""
    every, count = _slots(span, _STEP_EVERY)

    def draw(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        rounds = [random.permutation(_LEVELS) for _ in range(count // len(_LEVELS) + 1)]
        # the last rise ends in time
        at = every * (np.arange(count) + random.uniform(0.0, 1.0 - _RISES, count))
        return at, np.r_[0.0, np.concatenate(rounds)[: count - 1], 0.0]

    found = np.empty((span.samples, span.joints))
    for joint, (at, levels) in enumerate(_least_alike(span, "steps", draw)):
        share = np.clip((span.time[:, None] - at) * 2.0 * pace[joint], 0.0, 1.0)
        found[:, joint] = (share**3 * (10.0 - 15.0 * share + 6.0 * share**2)) @ np.diff(levels)
    return found


def holds(span: Span, pace: np.ndarray) -> np.ndarray:
    """Return slow moves between levels with rests at each; every joint has its own order of levels."""
    every, count = _slots(span, _HOLD_EVERY)
    places = np.linspace(-1.0, 1.0, count - 1)

    def draw(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return every * np.arange(count), np.r_[0.0, random.permutation(places), 0.0]

    found = np.empty((span.samples, span.joints))
    for joint, (at, levels) in enumerate(_least_alike(span, "holds", draw)):
        # a move at constant speed, with a fifth of its time to gain speed and to lose it
        blend, share = 0.2, np.clip((span.time[:, None] - at) / (_MOVES * every), 0.0, 1.0)
        way = np.where(share < 0.5, share, 1.0 - share)
        half = np.where(way < blend, way**2 / (2.0 * blend), way - 0.5 * blend) / (1.0 - blend)
        found[:, joint] = np.where(share < 0.5, half, 1.0 - half) @ np.diff(levels)
    return found


WAVES: dict[str, Callable[[Span, np.ndarray], np.ndarray]] = {
    one.__name__: one for one in (chirp, multisine, steps, holds)
}
"""Functions of a span and the pace of each joint, by kind, in the order in which they are done."""


def paces(kind: str, span: Span) -> tuple[float, float]:
    """Return the slowest and the fastest pace of a kind [Hz]; equal where there is no choice."""
    if kind == "steps":
        return 0.5 / (_RISES * _slots(span, _STEP_EVERY)[0]), _STEPS
    return (_SINES, _SINES) if kind == "holds" else (_SLOWEST, _SINES)


def _slots(span: Span, about: float) -> tuple[float, int]:
    """Return the duration [s] and the number of equal parts of a span, each of about some seconds."""
    count = max(3, round(span.seconds / about))
    return span.seconds / count, count


def _least_alike(
    span: Span, kind: str, draw: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return times of changes [s], and the levels before and after each, of all joints.

    Of several draws for a joint, it takes the one least correlated with the joints before it.
    """
    chosen: list[tuple[np.ndarray, np.ndarray]] = []
    curves: list[np.ndarray] = []
    middles = (np.arange(_POINTS) + 0.5) / _POINTS * span.seconds
    for joint in range(span.joints):
        random = span.random(joint, kind)
        tried = [draw(random) for _ in range(_TRIES)]
        over_time = [levels[np.searchsorted(at, middles)] for at, levels in tried]
        over_time = [one / np.linalg.norm(one) for one in over_time]
        worst = [max((abs(float(one @ other)) for other in curves), default=0.0) for one in over_time]
        best = int(np.argmin(worst))
        chosen.append(tried[best])
        curves.append(over_time[best])
    return chosen


def _size(frequency: np.ndarray, pace: float) -> np.ndarray:
    # without a kink, which would be a jump of the speed
    return ((1.0 + (frequency / pace) ** 4) * (1.0 + (frequency / _SINES) ** 4)) ** -0.25


def _taper(span: Span) -> np.ndarray:
    """Return a factor that rises from 0, and falls to 0 at the end."""
    place = np.arange(span.samples) / max(1, span.samples - 1) * span.seconds
    end = min(_TAPER, span.seconds / 8.0)
    return np.sin(0.5 * np.pi * np.clip(np.minimum(place, span.seconds - place) / end, 0.0, 1.0)) ** 2
