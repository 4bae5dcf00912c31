"""ROS 2 messages with positions of joints, measured or commanded, as `Sample`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

STATES = "sensor_msgs/msg/JointState"
"""Messages of measured positions, and of commands."""

NAMELESS = "std_msgs/msg/Float64MultiArray"
"""Messages of commands that have no names of joints."""


@dataclass(frozen=True)
class Sample:
    """Content of one message.

    Args:
        time: Time at which it was recorded [ns].
        stamp: Time in its header [ns]; 0 for none.
        joints: Names of its joints.
        signals: Numbers by name, `position` [rad or m], `velocity` and `effort`, one per joint each; without those that
            the message leaves empty.
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
    """Return the samples of messages of one type.

    Args:
        kind: The type, one of `COMMANDS`.
        messages: Time of the recording [ns] and content of each.
        joints: Names of the joints of messages that have none.
    """
    samples = []
    for number, (time, message) in enumerate(messages):
        names, signals = COMMANDS[kind](message)
        names = tuple(joints) if names is None else tuple(names)
        present = {name: np.asarray(values, np.float64) for name, values in signals.items() if len(values)}
        _require_lengths(number, names, present)
        samples.append(Sample(time, _stamp(message), names, present))
    return samples


def _require_lengths(number: int, names: Sequence[str], present: Mapping[str, np.ndarray]) -> None:
    for name, values in present.items():
        if len(values) != len(names):
            raise ValueError(
                f"message {number} has {len(values)} of {name}: must be {len(names)}, one per joint of "
                f"{', '.join(names)}. Correct the joints after the topic, or record again"
            )


def _stamp(message: object) -> int:
    header = getattr(message, "header", None)
    return 0 if header is None else header.stamp.sec * 10**9 + header.stamp.nanosec


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
