"""Logs in ROS 2 bags: measured joint states, and the commands that held at their times."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ....base.callers import level_outside
from ...recording.bags import Bag, opened
from ..log import MotorLog
from .asked import Asked
from .joint_messages import Sample, samples_of
from .topics import Chosen, choose

_Clock = Callable[[Sample], int]
"""Returns the time of a sample [ns]."""


def read_bag(path: Path, asked: Asked) -> list[MotorLog]:
    """Read the log in a ROS 2 bag.

    A row is a message of measured positions that has all joints of the robot that any of them has. Each command holds
    until the next one of its joint. Times are those of the headers where all messages of both topics have one, else
    those of the recording for both: two clocks would shift commands against positions.
    """
    with opened(path) as bag:
        chosen = choose(path, bag.topics, asked.topics)
        commanded, measured = (_samples(path, bag, chosen[role], asked.joints) for role in ("command", "position"))
    most = max((one.joints for one in measured), key=len)
    whole = [one for one in measured if one.joints == most]
    commands = _commands(path, chosen["command"].name, commanded, most)
    clock = _clock([*whole, *commanded])
    times, rows = _during(path, whole, commands, clock)
    held = [_held(times, mine, joint, clock) for joint, mine in commands.items()]
    signals = {"command": np.stack(held, axis=1), **_measured(rows, list(commands))}
    return [MotorLog((times - times[0]) / 1e9, list(commands), signals, str(path))]


def _samples(path: Path, bag: Bag, topic: Chosen, joints: Sequence[str]) -> list[Sample]:
    """Return the samples of a topic that have positions, with their joints in the order of the robot."""
    messages = bag.messages(topic.name)
    try:
        samples = samples_of(topic.kind, messages, topic.joints)
    except ValueError as error:
        raise ValueError(f"{path}: {topic.name}: {error}.") from None
    found = [one.only(joints) for one in samples if "position" in one.signals]
    if kept := [one for one in found if one.joints]:
        return kept
    names = ", ".join(dict.fromkeys(name for one in samples for name in one.joints))
    told = f"has joints {names or 'none'}, with positions in {len(found)} of {len(samples)} messages"
    rule = f"must have positions of some of {', '.join(joints)}. Rename joints, or choose the robot of this log"
    raise ValueError(f"{path}: {topic.name} {told}: {rule}.")


def _commands(path: Path, topic: str, commanded: Sequence[Sample], joints: Sequence[str]) -> dict[str, list[Sample]]:
    """Return the samples that command each joint, those without any left out."""
    commands = {joint: mine for joint in joints if (mine := [one for one in commanded if joint in one.joints])}
    if not commands:
        named = ", ".join(commanded[0].joints)
        rule = f"must have some of {', '.join(joints)}, as positions have. Choose other topics by --topics"
        raise ValueError(f"{path}: {topic} commands {named}: {rule}.")
    if idle := ", ".join(joint for joint in joints if joint not in commands):
        rule = f"must have commands in {topic} to be read"
        warnings.warn(f"{path}: {idle}: not read: {rule}.", stacklevel=level_outside())
    return commands


def _clock(samples: Sequence[Sample]) -> _Clock:
    """Return the clock that all samples have: that of the headers, or else that of the recording."""
    return operator.attrgetter("stamp" if all(one.stamp for one in samples) else "time")


def _during(
    path: Path, rows: Sequence[Sample], commands: Mapping[str, Sequence[Sample]], clock: _Clock
) -> tuple[np.ndarray, list[Sample]]:
    """Return times [ns], rising, and rows from the first command of each joint on; of equal times the first row."""
    times, first = np.unique([clock(one) for one in rows], return_index=True)
    start = max(min(map(clock, mine)) for mine in commands.values())
    kept = times >= start
    if kept.sum() < 2:
        raise ValueError(
            f"{path}: all joints have commands from {(start - times[0]) / 1e9:.6g} s after the first of {len(times)} "
            f"positions, which last {(times[-1] - times[0]) / 1e9:.6g} s: commands must hold during two of them at "
            "least. Record both at once, with one clock."
        )
    return times[kept], [rows[place] for place in first[kept]]


def _measured(rows: Sequence[Sample], joints: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the signals that all rows have, `(rows, joints)`; those that drivers leave open, as NaN, left out."""
    rows = [one.only(joints) for one in rows]
    signals = {
        name: np.stack([one.signals[name] for one in rows])
        for name in rows[0].signals
        if all(name in one.signals for one in rows)
    }
    return {name: one for name, one in signals.items() if name == "position" or np.isfinite(one).all()}


def _held(times: np.ndarray, commands: Sequence[Sample], joint: str, clock: _Clock) -> np.ndarray:
    """Return the command of a joint that holds at each time, the last one not after it."""
    ordered = sorted(commands, key=clock)
    values = np.array([one.signals["position"][one.joints.index(joint)] for one in ordered])
    return values[np.searchsorted([clock(one) for one in ordered], times, side="right") - 1]
