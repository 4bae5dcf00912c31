"""Looks: what the error that is left of a joint looks like, such as a resonance or a drift, measured in its replays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .identified import Replay
from .log import STILL
from .motion import motion_of

# shares of the squared error from which it has a look: those of most, of few rows, and of rests
_SEEN, _IN_FEW, _AT_REST = 0.35, 0.55, 0.45
# of the noise of an encoder, what has no look, and changes that are none
_NOTHING, _STILL = 2.0, 4.0
# lowest frequency of a resonance [Hz], half width of its band, and by how much it exceeds that of the command
_LOWEST, _BAND, _EXCEEDS = 0.7, 0.2, 2.0
# of how many times the load that a load may be
_LEAST_LOAD, _MOST_LOAD = 0.2, 5.0
# length of spectra and of windows of a lag, time after the last command until a joint rests, and in which it stands
# still [s], and share of few rows
_SPECTRUM, _WINDOW, _SETTLED, _STANDS, _FEW = 4.0, 4.0, 0.5, 0.2, 0.05


@dataclass(frozen=True, eq=False)
class _Trace:
    """A joint in a log: how it moved, how it was simulated, and what is left."""

    source: str
    dt: float
    command: np.ndarray
    position: np.ndarray
    simulated: np.ndarray
    velocity: np.ndarray

    @property
    def left(self) -> np.ndarray:
        """Measured less simulated positions [rad or m]."""
        return self.position - self.simulated


def look_of(replays: Sequence[Replay], joint: int, noise: float) -> str:
    """Return words on what the error that is left of a joint looks like, and what does that; empty if like nothing."""
    traces = []
    for replay in replays:
        if (log := replay.log).moves(joint):
            command, position, simulated = (one[:, joint] for one in (log.command, log.position, replay.positions))
            velocity = motion_of(log.position[:, [joint]], log.dt)[0][:, 0]
            traces.append(_Trace(Path(log.source).stem, log.dt, command, position, simulated, velocity))
    left = np.concatenate([trace.left for trace in traces]) if traces else np.zeros(1)
    if left @ left <= len(left) * (_NOTHING * noise) ** 2:
        return ""
    # of how many times the share from which it is seen; the first of equal ones is the most special
    seen, words = max(_looks(traces, float(left @ left), noise), key=lambda look: look[0])
    return words if seen >= 1.0 else ""


def _looks(traces: Sequence[_Trace], total: float, noise: float) -> Iterator[tuple[float, str]]:
    """Yield how clearly each look is seen, 1 for just so, and words for it."""

    def look(share: float, least: float, words: str, why: str) -> tuple[float, str]:
        return share / least, f"{words} ({min(share, 1.0):.0%} of its squared error): {why}"

    share, frequency = _resonance(traces, total)
    yield look(share, _SEEN, f"rings at {frequency:.2g} Hz", "a spring in the drive, or a loose mount")
    share, lags = _lags(traces, total)
    words = f"has a lag that varies from {1e3 * lags[0]:.0f} to {1e3 * lags[1]:.0f} ms"
    yield look(share, _SEEN, words, "rows come late, or times are wrong")
    share, drift = _drift(traces, total)
    yield look(share, _SEEN, f"drifts by {1e3 * drift:.2g} mrad or mm in a log", "heat, or a mount that gives way")
    share = _moves_at_rest(traces, total)
    yield look(share, _SEEN, "moves while its command rests", "it slips, or touches something")
    squares = np.sort(np.concatenate([trace.left**2 for trace in traces]))
    worst = max(traces, key=lambda trace: float(np.abs(trace.left).max()))
    at = worst.dt * int(np.argmax(np.abs(worst.left)))
    share = float(np.sum(squares[round((1.0 - _FEW) * len(squares)) :])) / total
    words = f"is off in {_FEW:.0%} of rows, most at {at:.3g} s of {worst.source}"
    yield look(share, _IN_FEW, words, "it touches something or slips")
    # slow distances of the simulation from its command, which a load makes
    slow = []
    for trace in traces:
        count = max(1, round(_SETTLED / trace.dt))
        mean = np.ones(count) / count
        distance = np.pad(trace.simulated - trace.command, (count // 2, count - 1 - count // 2), "edge")
        slow.append(np.convolve(distance, mean, "valid"))
    load, left = np.concatenate(slow), np.concatenate([trace.left for trace in traces])
    product, size = float(load @ left), max(float(load @ load), 1e-30)
    share, times = product**2 / size / total, 1.0 + product / size
    share *= _LEAST_LOAD < times < _MOST_LOAD
    words = f"is off as if its load were {times:.2g} times that of the file"
    yield look(share, _SEEN, words, "a mass or a gain is wrong, or it carries something")
    squares = 0.0
    for trace in traces:
        half = max(1, round(0.5 * _STANDS / trace.dt))
        padded = np.pad(trace.position, half, "edge")
        still = np.ptp(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1), axis=1) <= _STILL * noise
        squares += float(np.sum(trace.left[still] ** 2))
    share = squares / total
    yield look(share, _AT_REST, "is off where it stands still", "it sticks elsewhere each time")


def _resonance(traces: Sequence[_Trace], total: float) -> tuple[float, float]:
    """Return the share of a narrow band that commands hardly have, and its frequency [Hz]."""
    from scipy.signal import welch

    best = 0.0, 0.0
    for trace in traces:
        count = min(len(trace.left), round(_SPECTRUM / trace.dt))
        frequencies = np.fft.rfftfreq(count, trace.dt)
        powers = [np.asarray(welch(signal, nperseg=count)[1]) for signal in (trace.left, trace.command)]
        if not (frequencies >= _LOWEST).any() or not powers[0].sum():
            continue
        peak = frequencies[np.argmax(np.where(frequencies >= _LOWEST, powers[0], 0.0))]
        band = np.abs(frequencies - peak) <= max(_BAND * peak, 1.5 * frequencies[1])
        share, commanded = (power[band].sum() / max(power.sum(), 1e-30) for power in powers)
        share *= float(np.sum((trace.left - trace.left.mean()) ** 2)) / total
        if share > _EXCEEDS * commanded:
            best = max(best, (float(share), float(peak)))
    return best


def _drift(traces: Sequence[_Trace], total: float) -> tuple[float, float]:
    """Return the share of one slope over time in all logs, three quarters a mean, and its largest reach [rad or m]."""
    times = np.concatenate([trace.dt * (np.arange(len(trace.left)) - 0.5 * len(trace.left)) for trace in traces])
    left = np.concatenate([trace.left - trace.left.mean() for trace in traces])
    slope = float(times @ left / (times @ times))
    gained = slope * float(times @ left)
    longest = max(len(trace.left) * trace.dt for trace in traces)
    return min(gained / max(float(left @ left), 1e-30), 4.0 * gained / total), slope * longest


def _lags(traces: Sequence[_Trace], total: float) -> tuple[float, tuple[float, float]]:
    """Return the share of lags that vary, one in each window, and the smallest and largest [s]."""
    lags, gained = [], 0.0
    for trace in traces:
        count = round(_WINDOW / trace.dt)
        for start in range(0, len(trace.left), count):
            left, velocity = trace.left[start : start + count], trace.velocity[start : start + count]
            # a rest of a window does not tell a lag
            product, size = float(left @ velocity), float(velocity @ velocity)
            if np.abs(velocity).max() > 0.1 * np.abs(trace.velocity).max():
                lags.append(-product / size)
                gained += product**2 / size
    return gained / total, (min(lags, default=0.0), max(lags, default=0.0))


def _moves_at_rest(traces: Sequence[_Trace], total: float) -> float:
    """Return the share of changes while commands rest, after joints have come to rest."""
    changed = 0.0
    for trace in traces:
        ends = np.flatnonzero(np.abs(np.diff(trace.command)) > STILL) + 1
        for part in np.split(np.arange(len(trace.left)), ends):
            rest = trace.left[part[round(_SETTLED / trace.dt) :]]
            changed += float(np.sum((rest - rest.mean()) ** 2)) if len(rest) else 0.0
    return changed / total
