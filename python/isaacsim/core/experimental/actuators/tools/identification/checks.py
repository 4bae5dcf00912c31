"""Problems of logs that make a fit meaningless, and limits of the information in a log.

Which command a joint follows, and with which sign, follows from responses that motors of any stiffness, damping and
delay have: a soft joint past its resonance is in antiphase to its command, yet it then moves less far. Positions are
correlated with the responses to each command; responses of an amplitude that no motor has are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product

import numpy as np

from .log import STILL, UNITS, MotorLog

_FREQUENCIES = (2.0, 4.0, 8.0, 16.0, 32.0, 100.0)
"""Natural frequencies of motors on their gains [rad/s]."""
_DAMPINGS = (0.1, 0.3, 0.8, 2.0, 5.0)
"""Damping ratios of motors on their gains."""
_DELAYS = (0.0, 0.03)
"""Delays of commands [s]."""
_GAINS = (0.3, 1.6)
"""Gain of a motor at rest: less than 1 against gravity or friction, and about 1 without."""
_FOLLOWS = 0.5
"""Correlation from which a joint follows a command."""
_LATEST = 0.3
"""By how much a position may be later than its command [s]."""
_ALIKE = 0.99
"""Correlation from which commands are alike."""
_MARGIN = 0.2
"""Difference of correlations that counts."""
_CLOSER = 0.5
"""Share of the distance of two signals that tells which one follows the other."""
_SPIKE, _SPIKE_SHARE, _SPIKE_FACTOR = 40.0, 0.1, 10.0
"""Least size of a spike, of the noise of the encoder, of the range of the joint, and of the most that others curve."""
_WINDOW, _FEWEST = 10, 50
"""Samples in which a command rests, and the least number of them that tells the noise of an encoder."""
_FINE = 5e-5
"""Resolution of positions that no effect of a motor is hidden by [rad or m]."""
_SLOWEST = 0.1
"""Median step of a log from which its times count as other than seconds [s]."""
_OF_SPEED, _ABOVE = 5, 1.05
"""Samples over which a speed is taken, and the factor of its limit that counts."""
_LATEST_STAMP = 1e10
"""Seconds since 1970 that no clock tells before the year 2286."""


def check_log(log: MotorLog, limits: Mapping[str, tuple[float, float]] | None = None) -> list[str]:
    """Return the problems that make a fit to a log meaningless, each a sentence with its remedy.

    The problems are times in milliseconds and the like, after which nothing else is checked, angles in degrees,
    commands and positions of opposite sign or swapped, joints in the wrong order, spikes, lost samples, and jumps of
    the clock. Signs and orders follow from the correlation of positions with responses to commands. Some commands do
    not determine them: equal commands, such as one chirp for all joints, leave the order open, and a single fast sine
    leaves the sign open.

    Args:
        log: The log.
        limits: Lowest and highest position of joints [rad or m], by name; infinite for none. Positions beyond ±20 of a
            joint without an entry count as degrees.

    Example:
        >>> time = np.arange(500) * 0.01
        >>> command = np.sin(time)[:, None]
        >>> check_log(MotorLog(time, ["hip"], {"command": command, "position": -command}))
        ['log: hip: correlation of position and command is -1.00: must be positive. Change the sign of one of them.']
    """
    if problem := time_problem(log):
        return [problem]
    along, against = _correlations(log)
    rule = "must be positive. Change the sign of one of them."
    problems = [
        *_degrees(log, limits or {}),
        *(
            f"{joint}: correlation of position and command is -{against[column, column]:.2f}: {rule}"
            for column, joint in enumerate(log.joints)
            if against[column, column] > max(_FOLLOWS, along[column, column] + _MARGIN)
        ),
        *_orders(log, along),
        *_swapped(log),
        *_spikes(log),
        *_gaps(log),
    ]
    return [f"{log.source}: {problem}" for problem in problems]


def time_problem(log: MotorLog) -> str | None:
    """Return a sentence if the times of a log are no seconds, with the likely unit; None if they may be."""
    # rounded times
    step, latest = log.dt / 1.001, float(np.abs(log.time).max())
    fits = [unit for unit, one in UNITS["s"].items() if one * step <= _SLOWEST and one * latest < _LATEST_STAMP]
    if "s" in fits:
        return None
    return (
        f"{log.source}: time steps by {log.dt:.4g} and reaches {latest:.6g}: must be in s, with steps of at most "
        f"{_SLOWEST:g} s. Give its unit, such as --columns time=:{fits[0] if fits else 'ns'}, or cut long gaps."
    )


def too_fast(log: MotorLog, limits: Mapping[str, float]) -> list[str]:
    """Return a sentence for each joint faster than its limit [rad/s or m/s] over five samples of a log, by name."""
    apart = min(_OF_SPEED, len(log.time) - 1)
    times = (log.time[apart:] - log.time[:-apart])[:, None]
    speeds = np.abs((log.position[apart:] - log.position[:-apart]) / times).max(axis=0)
    return [
        f"{log.source}: {joint} moves at {speed:.3g} rad/s or m/s, and the robot file limits it to {limit:.3g}. "
        "Correct that limit, or the unit of the log."
        for joint, speed in zip(log.joints, speeds.tolist(), strict=True)
        if speed > _ABOVE * (limit := limits.get(joint, np.inf))
    ]


def notes_on(log: MotorLog) -> list[str]:
    """Return the limits of what a log can identify, each a sentence.

    They follow from its rate, its duration, the resolution of its positions, and commands for which `check_log` cannot
    detect a wrong sign or order.

    Args:
        log: The log.

    Example:
        >>> time = np.arange(100) * 0.02
        >>> command = np.sin(time)[:, None]
        >>> for note in notes_on(MotorLog(time, ["hip"], {"command": command, "position": command})):
        ...     print(note)
        log: 50 Hz: armature cannot be seen below 100 Hz and keeps the value of the file. Log faster to identify it.
        log: 1.98 s: estimates are uncertain below 5 s. Log for longer.
    """
    return notes_on_all([log])


def notes_on_all(logs: Sequence[MotorLog]) -> list[str]:
    """Return the notes on logs, one that several have once, with the first of them and their number."""
    sources: dict[str, list[str]] = {}
    for log in logs:
        notes = []
        # rounded times
        if (rate := 1.0 / log.dt) < 99.0:
            rule = "armature cannot be seen below 100 Hz and keeps the value of the file. Log faster to identify it."
            notes.append(f"{rate:.2g} Hz: {rule}")
        if is_short := log.duration < 5.0:
            notes.append(f"{log.duration:.3g} s: estimates are uncertain below 5 s. Log for longer.")
        steps = {joint: _resolution(log.position[:, column]) for column, joint in enumerate(log.joints)}
        if coarse := {joint: step for joint, step in steps.items() if step > _FINE}:
            listed = ", ".join(f"{joint} {step:.2g}" for joint, step in coarse.items())
            notes.append(f"resolution of position [rad or m]: {listed}: smaller motions cannot be seen.")
        # a part of a slow motion has no frequency
        for note in [*notes, *_resting(log), *_alike(log), *([] if is_short else _open_signs(log))]:
            sources.setdefault(note, []).append(log.source)
    return [
        f"{those[0]}{f' and {len(those) - 1} more' if len(those) > 1 else ''}: {note}"
        for note, those in sources.items()
    ]


def _alike(log: MotorLog) -> list[str]:
    """Return a note on joints with one command, whose columns could be swapped."""
    moved = [column for column in range(len(log.joints)) if np.ptp(log.command[:, column]) >= STILL]
    if len(moved) < 2:
        return []
    alike = np.triu(np.corrcoef(log.command[:, moved].T) > _ALIKE, 1)
    found = [log.joints[moved[column]] for column in np.flatnonzero(alike.any(axis=0) | alike.any(axis=1)).tolist()]
    if not found:
        return []
    return [f"{', '.join(found)}: commands are alike, so that swapped joints cannot be seen. Move them differently."]


def _open_signs(log: MotorLog) -> list[str]:
    """Return a note on joints that may follow their command with either sign, such as those of a single fast sine."""
    along, against = (np.diag(one) for one in _correlations(log))
    is_open = (against > along - _MARGIN) & (against <= np.maximum(_FOLLOWS, along + _MARGIN))
    moved = np.ptp(log.command, axis=0) >= STILL
    found = [log.joints[column] for column in np.flatnonzero(is_open & moved).tolist()]
    return [f"{', '.join(found)}: a wrong sign cannot be seen. Move them slowly, too."] if found else []


def _correlations(log: MotorLog) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest correlations of positions with responses and inverted ones, by commands; 0 for none."""
    every = max(1, int(0.005 / log.dt))
    signals = [signal[::every] for signal in (log.command, log.position)]
    # 0 for columns that rest
    moved = [np.where(np.ptp(one, axis=0) < STILL, 0.0, one - one.mean(axis=0)) for one in signals]
    command, position = np.fft.rfft(moved, axis=1)
    omega = 2.0 * np.pi * np.fft.rfftfreq(len(log.time[::every]), every * log.dt)[:, None]
    size = np.maximum(np.linalg.norm(position, axis=0)[:, None], 1e-12)
    found = np.zeros((2, len(log.joints), len(log.joints)))
    for frequency, damping, delay in product(_FREQUENCIES, _DAMPINGS, _DELAYS):
        scaled = 1j * omega / frequency
        response = command * np.exp(-1j * omega * delay) / (1.0 + 2.0 * damping * scaled + scaled**2)
        energy = np.maximum(np.linalg.norm(response, axis=0), 1e-12)
        products = (position.conj().T @ response).real
        gains, correlations = products / energy**2, products / energy / size
        for each, sign in zip(found, (1.0, -1.0), strict=True):
            fits = (sign * gains > _GAINS[0]) & (sign * gains < _GAINS[1])
            np.maximum(each, np.where(fits, sign * correlations, 0.0), out=each)
    return found[0], found[1]


def _resting(log: MotorLog) -> list[str]:
    """Return a note on joints that rest, of which the log tells nothing."""
    found = [joint for column, joint in enumerate(log.joints) if not log.moves(column)]
    return [f"{', '.join(found)}: at rest, so that the log is not used for it."] if found else []


def _degrees(log: MotorLog, limits: Mapping[str, tuple[float, float]]) -> list[str]:
    problems = []
    remedy = "Multiply degrees by pi/180."
    for column, joint in enumerate(log.joints):
        command, position = log.command[:, column], log.position[:, column]
        bound = max(map(abs, limits[joint])) if joint in limits else None
        reach = float(np.abs(position).max())
        if reach > (20.0 if bound is None else max(3.0 * np.pi, 3.0 * bound)):
            known = "" if bound is None else f", and its limits are ±{bound:.3g}"
            problems.append(f"{joint}: position reaches {reach:.4g}: must be in rad or m{known}. {remedy}")
            continue
        smaller, larger = sorted([float(command.std()), float(position.std())])
        # one of both in degrees
        alike = larger > 1.0 and 40.0 < larger / max(smaller, 1e-12) < 80.0
        if alike and _follows(command, position, log.dt):
            ratio = command.std() / position.std()
            problems.append(f"{joint}: command moves {ratio:.3g} times as far as position: must be in rad. {remedy}")
    return problems


def _follows(command: np.ndarray, position: np.ndarray, dt: float) -> bool:
    """Return True if a position is alike its command, at most so much later as a motor is."""
    lags = sorted({round(late / dt) for late in np.linspace(0.0, _LATEST, 31)})
    pairs = [(command[: len(command) - lag], position[lag:]) for lag in lags if lag < len(command) - 2]
    return any(np.corrcoef(*pair)[0, 1] > _FOLLOWS for pair in pairs)


def _orders(log: MotorLog, best: np.ndarray) -> list[str]:
    """Return circles of joints each of which follows the command of the next one."""
    own = np.diag(best)
    leads = best.argmax(axis=1)
    leads = np.where(best.max(axis=1) > np.maximum(_FOLLOWS, own + _MARGIN), leads, np.arange(len(own))).tolist()
    problems = []
    for first in range(len(own)):
        circle = [first]
        while (following := leads[circle[-1]]) not in circle:
            circle.append(following)
        if following == first == min(circle) and len(circle) > 1:
            told = [
                f"position of {log.joints[one]} follows command of {log.joints[other]}, correlation "
                f"{best[one, other]:.2f} instead of {own[one]:.2f} with its own"
                for one, other in pairwise([*circle, first])
            ]
            names = ", ".join(log.joints[one] for one in circle)
            problems.append(f"{names}: {'; '.join(told)}: columns must be in one order. Swap them.")
    return problems


def _swapped(log: MotorLog) -> list[str]:
    """Return a problem if commands follow positions."""
    found = []
    for column, joint in enumerate(log.joints):
        command, position = log.command[:, column], log.position[:, column]
        if not log.moves(column):
            continue
        along, against = _distance(command, position, log.dt), _distance(position, command, log.dt)
        if against < _CLOSER * along:
            found.append(joint)
    rule = "commands must come before positions. Swap the columns."
    return [f"{', '.join(found)}: the command follows the position: {rule}"] if found else []


def _distance(first: np.ndarray, second: np.ndarray, dt: float) -> float:
    """Return how far a signal is from another one before it, at least two samples and at most as late as a motor is."""
    count = min(max(3, round(_LATEST / dt)), len(first) // 2)
    apart = (second[lag:] - first[: len(first) - lag] for lag in range(2, count))
    return min((float(np.abs(error - np.median(error)).mean()) for error in apart), default=np.inf)


def _spikes(log: MotorLog) -> list[str]:
    """Return a problem for each joint with single positions that no motion has: there and back in one sample."""
    found = []
    for column, joint in enumerate(log.joints):
        position = log.position[:, column]
        around = 0.5 * (position[:-2] + position[2:])
        jump, moved = np.abs(position[1:-1] - around), np.abs(position[2:] - position[:-2])
        least = max(
            _SPIKE * noise_of(log, column),
            _SPIKE_SHARE * float(np.ptp(position)),
            _SPIKE_FACTOR * float(np.percentile(jump, 90)),
        )
        rows = np.flatnonzero((jump > least) & (moved < 0.2 * jump)) + 1
        if len(rows):
            worst = rows[np.argmax(jump[rows - 1])]
            found.append(
                f"{joint}: {len(rows)} positions jump there and back, the farthest by {jump[worst - 1]:.3g} at "
                f"{log.time[worst]:.6g} s: no motion does. Remove these rows."
            )
    return found


def _gaps(log: MotorLog) -> list[str]:
    steps = np.diff(log.time)
    ratios = steps / log.dt
    problems = []
    for low, high, rule in (
        (3.0, 20.0, "no sample must be lost. Log again, or cut the log there."),
        (20.0, np.inf, "the clock must not jump. Correct the times, or cut the log there."),
    ):
        # rounded times
        found = np.flatnonzero((ratios > low * 1.001) & (ratios <= high * 1.001))
        if len(found):
            longest = found[steps[found].argmax()]
            problems.append(
                f"time: {len(found)} steps of more than {low:g} times the median {log.dt:.3g} s, the longest "
                f"{steps[longest]:.3g} s at {log.time[longest]:.6g} s: {rule}"
            )
    return problems


def _resolution(position: np.ndarray) -> float:
    """Return the step between positions [rad or m] if all are multiples of one, else 0."""
    apart = np.diff(np.unique(position))
    if len(apart) < 4:
        return 0.0
    step = float(apart.min())
    # by chance a fifth is as close
    near = np.abs(apart / step - np.round(apart / step)) < 0.1
    return step if near.mean() > 0.99 else 0.0


def noises_of(logs: Iterable[MotorLog], joints: Sequence[str]) -> np.ndarray:
    """Return the largest noise of the encoder of each joint [rad or m], shape `(joints,)`."""
    return np.max([[noise_of(log.columns(joints), j) for j in range(len(joints))] for log in logs], axis=0)


def noise_of(log: MotorLog, joint: int) -> float:
    """Return the noise of the encoder of a joint, from its resolution and from rests [rad or m]."""
    position, command = log.position[:, joint], log.command[:, joint]
    found = _resolution(position) / np.sqrt(12.0)
    if len(position) > _WINDOW + 3:
        windows = np.lib.stride_tricks.sliding_window_view(command, _WINDOW)
        rests = np.ptp(windows, axis=1) < STILL
        # a smooth motion has no third difference; of noise it has a variance 20 times as large
        third = np.abs(np.diff(position, 3))[_WINDOW - 4 : _WINDOW - 4 + len(rests)][rests[: len(position) - 3]]
        if len(third) >= _FEWEST:
            found = max(found, float(np.median(third)) / (0.6745 * np.sqrt(20.0)))
    return max(float(found), _FINE)
