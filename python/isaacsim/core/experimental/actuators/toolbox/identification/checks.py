"""Problems of logs that make a fit meaningless, and limits of what a log tells."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from .log import MotorLog

_STILL = 1e-4
"""Range below which a joint rests [rad or m]."""
_LATE = 0.1
"""Longest delay between a command and its motion that correlations allow for [s]."""
_FOLLOWS = 0.5
"""Correlation of a position with a command from which it follows the command."""
_MARGIN = 0.2
"""Difference of correlations that counts."""
_FINE = 5e-5
"""Resolution of positions that no effect of a motor is hidden by [rad or m]."""


def check_log(log: MotorLog, limits: Mapping[str, tuple[float, float]] | None = None) -> list[str]:
    """Return the problems that make a fit to a log meaningless, each a sentence with its remedy.

    Found are: angles in degrees, commands and positions of opposite sign, joints in the wrong order, joints that never
    moved, lost samples, and jumps of the clock. Signs and orders are those of correlations between positions and
    commands up to 0.1 s earlier.

    Args:
        log: The log.
        limits: Lowest and highest position of joints [rad or m], by name; infinite for none. Positions of joints
            without an entry are taken for degrees beyond ±20.

    Example:
        >>> time = np.arange(500) * 0.01
        >>> command = np.sin(time)[:, None]
        >>> check_log(MotorLog(time, ["hip"], {"command": command, "position": -command}))
        ['log: hip: correlation of position and command is -1.00: must be positive. Change the sign of one of them.']
    """
    best, worst = _correlations(log)
    problems = [
        *_unmoved(log),
        *_degrees(log, limits or {}, best),
        *_signs(log, best, worst),
        *_orders(log, best),
        *_gaps(log),
    ]
    return [f"{log.source}: {problem}" for problem in problems]


def notes_on(log: MotorLog) -> list[str]:
    """Return what a log cannot tell, each a sentence: for its rate, its duration, or the resolution of its positions.

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
    notes = []
    # rounded times
    if (rate := 1.0 / log.dt) < 99.0:
        rule = "armature cannot be seen below 100 Hz and keeps the value of the file. Log faster to identify it."
        notes.append(f"{rate:.3g} Hz: {rule}")
    if log.duration < 5.0:
        notes.append(f"{log.duration:.3g} s: estimates are uncertain below 5 s. Log for longer.")
    steps = {joint: _resolution(log.position[:, column]) for column, joint in enumerate(log.joints)}
    if coarse := {joint: step for joint, step in steps.items() if step > _FINE}:
        listed = ", ".join(f"{joint} {step:.2g}" for joint, step in coarse.items())
        notes.append(f"resolution of position [rad or m]: {listed}: smaller motions cannot be seen.")
    return [f"{log.source}: {note}" for note in notes]


def _correlations(log: MotorLog) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest and the smallest correlation over delays, positions by commands, `(joints, joints)`.

    Those of a signal that rests are 0.
    """
    command, position = (
        np.where(np.ptp(one, axis=0) < _STILL, 0.0, one - one.mean(axis=0)) / np.maximum(one.std(axis=0), 1e-12)
        for one in (log.command, log.position)
    )
    samples = len(log.time)
    delays = {min(round(late / log.dt), samples // 2) for late in np.linspace(0.0, _LATE, 11)}
    each = [position[rows:].T @ command[: samples - rows] / (samples - rows) for rows in delays]
    return np.max(each, axis=0), np.min(each, axis=0)


def _unmoved(log: MotorLog) -> list[str]:
    problems = []
    for column, joint in enumerate(log.joints):
        spans = {name: float(np.ptp(log.signals[name][:, column])) for name in ("command", "position")}
        if still := [f"{name} moves by {span:.2g}" for name, span in spans.items() if span < _STILL]:
            rule = f"must move by {_STILL:g} rad or m at least. Log a motion of it, or leave the joint out."
            problems.append(f"{joint}: {' and '.join(still)}: {rule}")
    return problems


def _degrees(log: MotorLog, limits: Mapping[str, tuple[float, float]], best: np.ndarray) -> list[str]:
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
        # of a joint that follows, one of both in degrees
        if larger > 1.0 and 40.0 < larger / max(smaller, 1e-12) < 80.0 and best[column, column] > _FOLLOWS:
            ratio = command.std() / position.std()
            problems.append(f"{joint}: command moves {ratio:.3g} times as far as position: must be in rad. {remedy}")
    return problems


def _signs(log: MotorLog, best: np.ndarray, worst: np.ndarray) -> list[str]:
    return [
        f"{joint}: correlation of position and command is {worst[column, column]:.2f}: must be positive. Change the "
        "sign of one of them."
        for column, joint in enumerate(log.joints)
        if worst[column, column] < -max(_FOLLOWS, best[column, column] + _MARGIN)
    ]


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
