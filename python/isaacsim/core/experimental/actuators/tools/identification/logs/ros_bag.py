"""Logs in ROS 2 bags: measured joint states, and the commands that held at their times."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ....base.callers import level_outside
from ...recording.bags import Bag, Topic, opened
from ..log import REQUIRED, MotorLog
from .asked import Asked


def read_bag(path: Path, asked: Asked) -> list[MotorLog]:
    """Read the log in a ROS 2 bag, a row for each message of measured positions that has all joints.

    Each command holds until the next one of its joint. Times are those of the headers where all messages of both topics
    have one, else those of the recording for both: two clocks would shift commands against positions.
    """
    with opened(path) as bag:
        chosen = choose(path, bag.topics, asked.topics)
        commanded, measured = (_samples(path, bag, chosen[role], asked.joints) for role in ("command", "position"))
    most = max((one.joints for one in measured), key=len)
    whole = [one for one in measured if one.joints == most]
    commands = _commands(path, chosen["command"].name, commanded, most)
    # that of the headers if all have one, else that of the recording
    clock: _Clock = operator.attrgetter("stamp" if all(one.stamp for one in (*whole, *commanded)) else "time")
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
    names = [name for name in rows[0].signals if all(name in one.signals for one in rows)]
    signals = {name: np.stack([one.signals[name] for one in rows]) for name in names}
    return {name: one for name, one in signals.items() if name == "position" or np.isfinite(one).all()}


def _held(times: np.ndarray, commands: Sequence[Sample], joint: str, clock: _Clock) -> np.ndarray:
    """Return the command of a joint that holds at each time, the last one not after it."""
    ordered = sorted(commands, key=clock)
    values = np.array([one.signals["position"][one.joints.index(joint)] for one in ordered])
    return values[np.searchsorted([clock(one) for one in ordered], times, side="right") - 1]


# rOS 2 messages with positions of joints, measured or commanded, as `Sample`

STATES = "sensor_msgs/msg/JointState"
"""Messages of measured positions, and of commands."""

NAMELESS = "std_msgs/msg/Float64MultiArray"
"""Messages of commands that have no names of joints."""


@dataclass(frozen=True)
class Sample:
    """Content of one message, recorded at a time [ns] and stamped in its header [ns], 0 for none.

    Signals are `position` [rad or m], `velocity` and `effort` by joint, without those that the message leaves empty.
    """

    time: int
    stamp: int
    joints: tuple[str, ...]
    signals: Mapping[str, np.ndarray]

    def only(self, joints: Sequence[str]) -> Sample:
        """Return those of some joints that are there, in the order given."""
        there = tuple(joint for joint in joints if joint in self.joints)
        if there == self.joints:
            return self
        at = [self.joints.index(joint) for joint in there]
        return Sample(self.time, self.stamp, there, {name: one[at] for name, one in self.signals.items()})


def samples_of(kind: str, messages: Sequence[tuple[int, object]], joints: Sequence[str]) -> list[Sample]:
    """Return the samples of messages of one type; `joints` are those of messages that have none."""
    samples = []
    for number, (time, message) in enumerate(messages):
        names, signals = COMMANDS[kind](message)
        names = tuple(joints) if names is None else tuple(names)
        present = {name: np.asarray(values, np.float64) for name, values in signals.items() if len(values)}
        for name, values in present.items():
            if len(values) != len(names):
                raise ValueError(
                    f"message {number} has {len(values)} of {name}: must be {len(names)}, one per joint of "
                    f"{', '.join(names)}. Correct the joints after the topic, or record again"
                )
        header = getattr(message, "header", None)
        stamp = 0 if header is None else header.stamp.sec * 10**9 + header.stamp.nanosec
        samples.append(Sample(time, stamp, names, present))
    return samples


_Clock = Callable[[Sample], int]
"""Returns the time of a sample [ns]."""
_Content = tuple[Sequence[str] | None, Mapping[str, Any]]
"""Names of joints, None for none, and numbers by signal."""


def _state(message: Any) -> _Content:
    return message.name, {name: getattr(message, name) for name in ("position", "velocity", "effort")}


def _trajectory(message: Any) -> _Content:
    points = message.points
    start = points[0].time_from_start if len(points) == 1 else None
    if start is None or start.sec or start.nanosec:
        raise ValueError(
            f"a trajectory has {len(points)} points over time: must have one that acts at once, for the controller "
            "makes the commands between points. Record the state of the controller"
        )
    return message.joint_names, {"position": points[0].positions}


def _controller(message: Any) -> _Content:
    # older releases call it desired, and some have both
    points = [getattr(message, name) for name in ("reference", "desired") if hasattr(message, name)]
    return message.joint_names, {"position": next((one.positions for one in points if len(one.positions)), ())}


def _numbers(message: Any) -> _Content:
    return None, {"position": message.data}


COMMANDS: dict[str, Callable[[Any], _Content]] = {
    STATES: _state,
    "trajectory_msgs/msg/JointTrajectory": _trajectory,
    "control_msgs/msg/JointTrajectoryControllerState": _controller,
    NAMELESS: _numbers,
}
"""How messages of each type that commands may have are read."""


# choice of the topics of a ROS 2 bag: that of measured positions, and that of commands

_KINDS = {"command": tuple(COMMANDS), "position": (STATES,)}
# by convention of ROS, of several
_USUAL = "joint_states"
_REMEDY = "Give --topics command=/NAME position=/NAME"


@dataclass(frozen=True)
class Chosen:
    """The topic of a role."""

    name: str
    kind: str
    joints: tuple[str, ...] = ()


def choose(path: Path, topics: Mapping[str, Topic], given: Mapping[str, str]) -> dict[str, Chosen]:
    """Return the topics of commands and of measured positions.

    Without choice of the caller the positions are those of the only topic of joint states, or of the only one called
    `joint_states`, and the commands those of the only other topic that may have some. Joint states with `state` in
    their name are no commands.
    """
    if unknown := ", ".join(role for role in given if role not in _KINDS):
        raise ValueError(f"topics = {unknown}: must be of {' and '.join(REQUIRED)}. {_REMEDY}.")
    chosen = {role: _given(path, topics, role, words) for role, words in given.items()}
    # joint states may be commands, too
    for role in ("position", "command"):
        if role not in chosen:
            taken = [one.name for one in chosen.values()]
            chosen[role] = _only(path, topics, taken, role)
    command = chosen["command"]
    if command.kind == NAMELESS and not command.joints:
        raise ValueError(
            f"{path}: {command.name} has {command.kind}, which names no joints: must be told them, in the order of the "
            f"parameter joints of its controller. Give --topics command={command.name}:JOINT,JOINT."
        )
    return chosen


def _given(path: Path, topics: Mapping[str, Topic], role: str, words: str) -> Chosen:
    name, _, joints = words.partition(":")
    if name not in topics or topics[name].kind not in _KINDS[role] or not topics[name].count:
        rule = f"must be a topic with messages of {' or '.join(_KINDS[role])}"
        raise ValueError(f"{path}: topics {role} = {name}: {rule}. The bag has {_listed(topics)}. {_REMEDY}.")
    return Chosen(name, topics[name].kind, tuple(joints.split(",")) if joints else ())


def _only(path: Path, topics: Mapping[str, Topic], taken: Sequence[str], role: str) -> Chosen:
    """Return the only topic that may have a role, without those that have another."""
    found = [name for name, one in topics.items() if one.kind in _KINDS[role] and one.count and name not in taken]
    found = _usual(found) if role == "position" else [name for name in found if not _is_measured(name, topics[name])]
    if len(found) != 1:
        told = f"{', '.join(found) or 'no topic'} may have the {role}s"
        rule = f"must be one topic with messages of {' or '.join(_KINDS[role])}"
        raise ValueError(f"{path}: {told}: {rule}. The bag has {_listed(topics)}. {_REMEDY}.")
    return Chosen(found[0], topics[found[0]].kind)


def _usual(names: Sequence[str]) -> Sequence[str]:
    """Return those of several topics of joint states that are called so, all if none is."""
    return [name for name in names if name.rpartition("/")[2] == _USUAL] or names


def _is_measured(name: str, topic: Topic) -> bool:
    """Return True for joint states that are states by their name, such as those of a gripper."""
    return topic.kind == STATES and "state" in name.rpartition("/")[2]


def _listed(topics: Mapping[str, Topic]) -> str:
    told = [f"{name} ({one.count} {one.kind})" for name, one in sorted(topics.items())]
    return ", ".join(told) or "no topics"
