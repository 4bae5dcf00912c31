"""ROS 2 bags: folders with `metadata.yaml` and files `.mcap` and `.db3` are read, recordings written to `.mcap`."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...base.extras import needs
from .files import Subject

METADATA = "metadata.yaml"
"""File that the folder of a bag has."""

_STATE = "sensor_msgs/msg/JointState"
_FIELDS = ("position", "velocity", "effort")
_SECOND = 10**9
# signals for the fields of each topic, the best one first; drivers report efforts without friction
_TOPICS: dict[str, dict[str, tuple[str, ...]]] = {
    "joint_states": {
        "position": ("positions", "measured_positions"),
        "velocity": ("velocities", "measured_velocities"),
        "effort": ("motor_efforts", "applied_efforts"),
    },
    "joint_commands": {"position": ("position_targets",), "velocity": ("velocity_targets",)},
}


@dataclass(frozen=True)
class Topic:
    """A topic of a bag: the type of its messages, such as `sensor_msgs/msg/JointState`, and their number."""

    kind: str
    count: int


class Bag:
    """A ROS 2 bag that is open, see `opened`: reader and types of messages are those of rosbags."""

    def __init__(self, path: Path, reader: Any, store: Any) -> None:
        self._path, self._reader, self._store = path, reader, store
        with _parsing(path):
            found = {one.topic: Topic(one.msgtype, 0) for one in reader.connections}
            for one in reader.connections:
                found[one.topic] = Topic(one.msgtype, found[one.topic].count + one.msgcount)
        self._topics = found

    @property
    def topics(self) -> dict[str, Topic]:
        """Topics by name, also those without messages."""
        return dict(self._topics)

    def messages(self, topic: str) -> list[tuple[int, Any]]:
        """Return the messages of a topic, each with the time at which it was recorded [ns]."""
        from rosbags.interfaces import MessageDefinitionFormat  # pyright: ignore[reportMissingImports]
        from rosbags.typesys import get_types_from_msg  # pyright: ignore[reportMissingImports]

        with _parsing(self._path):
            wanted = [one for one in self._reader.connections if one.topic == topic]
            # types that only the bag describes
            for one in wanted:
                if one.msgtype not in self._store.fielddefs:
                    if one.msgdef.format != MessageDefinitionFormat.MSG:
                        raise ValueError(f"{one.topic} has {one.msgtype}, which the bag does not describe")
                    described = get_types_from_msg(one.msgdef.data, one.msgtype)
                    known = self._store.fielddefs
                    self._store.register({name: one for name, one in described.items() if name not in known})
            messages = self._reader.messages(connections=wanted)
            return [(time, self._store.deserialize_cdr(data, one.msgtype)) for one, time, data in messages]


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Bag]:
    """Open a bag for a `with` block."""
    with needs("A ROS 2 bag", "bags"):
        from rosbags.rosbag2 import Reader  # pyright: ignore[reportMissingImports]
        from rosbags.typesys import Stores, get_typestore  # pyright: ignore[reportMissingImports]
    with _parsing(path):
        reader = Reader(path)
        reader.open()
    try:
        # the types read here are alike in all releases of ROS 2
        yield Bag(path, reader, get_typestore(Stores.LATEST))
    finally:
        reader.close()


def save_mcap(path: Path, steps: np.ndarray, subject: Subject, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file of joint states that ROS 2, Foxglove and `actuators identify` read.

    Topics are `/joint_states`, with positions, velocities and motor efforts, and `/joint_commands`, with targets; of
    several robots those below `/robot_0` and so on, with the name as `frame_id`. Other signals are left out.
    """
    with needs("An MCAP file", "bags"):
        from rosbags.rosbag2 import StoragePlugin, Writer  # pyright: ignore[reportMissingImports]
        from rosbags.typesys import Stores, get_typestore  # pyright: ignore[reportMissingImports]
    topics = {topic: found for topic, choices in _TOPICS.items() if (found := _chosen(choices, arrays))}
    if not topics:
        rule = f"must have one of {', '.join(_TOPICS['joint_states']['position'])}. Record it, or choose another format"
        raise ValueError(f"{path}: signals = {', '.join(arrays)}: {rule}.")
    store = get_typestore(Stores.LATEST)
    with tempfile.TemporaryDirectory() as folder:
        with Writer(Path(folder) / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            for (row, robot), (topic, signals) in itertools.product(enumerate(subject.robots), topics.items()):
                place = f"/{topic}" if len(subject.robots) == 1 else f"/robot_{row}/{topic}"
                connection = writer.add_connection(place, _STATE, typestore=store)
                numbers = {name: one[:, row].astype(np.float64) for name, one in signals.items()}
                for time, data in _serialized(store, (robot, subject.joints), arrays["time"], numbers):
                    writer.write(connection, time, data)
        path.write_bytes((Path(folder) / "bag" / "bag.mcap").read_bytes())


def _chosen(choices: Mapping[str, Sequence[str]], arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the best array there is for each field of a message."""
    found = {field: next((arrays[one] for one in names if one in arrays), None) for field, names in choices.items()}
    return {field: one for field, one in found.items() if one is not None}


def _serialized(
    store: Any, names: tuple[str, Sequence[str]], times: np.ndarray, numbers: Mapping[str, np.ndarray]
) -> Iterator[tuple[int, Any]]:
    """Yield time [ns] and content of the message of each step; `names` are those of the robot and of its joints."""
    robot, joints = names
    types, empty = store.types, np.zeros(0)
    for step, time in enumerate(np.rint(times * _SECOND).astype(np.int64).tolist()):
        stamp = types["builtin_interfaces/msg/Time"](sec=time // _SECOND, nanosec=time % _SECOND)
        header = types["std_msgs/msg/Header"](stamp=stamp, frame_id=robot)
        fields = {field: numbers[field][step] if field in numbers else empty for field in _FIELDS}
        yield time, store.serialize_cdr(types[_STATE](header=header, name=[*joints], **fields), _STATE)


@contextlib.contextmanager
def _parsing(path: Path) -> Iterator[None]:
    """Turn what rosbags raises on broken files, errors of many kinds, into one that names the file."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        words = f"{error!s:.300}".rstrip(".") or type(error).__name__
        raise ValueError(f"{path}: {words}: must be a whole ROS 2 bag. Record it again, or repair it.") from error
