"""ROS 2 bags written by rosbags, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

STATE = "sensor_msgs/msg/JointState"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
ARRAY = "std_msgs/msg/Float64MultiArray"
CONTROLLER = "control_msgs/msg/JointTrajectoryControllerState"
# the older name of the reference, without fields that do not matter
_CONTROLLER = """\
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint {field}
"""
_SECOND = 10**9


class BagWriter:
    """Writes one bag; each message is written at a time of the recording [s]."""

    def __init__(self, path: Path, storage: str = "mcap", *, reference: str = "reference") -> None:
        rosbag2 = pytest.importorskip("rosbags.rosbag2", exc_type=ImportError)
        typesys = pytest.importorskip("rosbags.typesys", exc_type=ImportError)
        self.store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
        self.store.register(typesys.get_types_from_msg(_CONTROLLER.format(field=reference), CONTROLLER))
        self.writer = rosbag2.Writer(path, version=9, storage_plugin=rosbag2.StoragePlugin[storage.upper()])
        self.reference, self.connections = reference, {}

    def __enter__(self) -> BagWriter:
        self.writer.open()
        return self

    def __exit__(self, *_error: object) -> None:
        self.writer.close()

    def topic(self, topic: str, kind: str):
        if topic not in self.connections:
            self.connections[topic] = self.writer.add_connection(topic, kind, typestore=self.store)
        return self.connections[topic]

    def make(self, kind: str, **fields):
        return self.store.types[kind](**fields)

    def header(self, stamp: float | None):
        nanoseconds = 0 if stamp is None else round(stamp * _SECOND)
        time = self.make("builtin_interfaces/msg/Time", sec=nanoseconds // _SECOND, nanosec=nanoseconds % _SECOND)
        return self.make("std_msgs/msg/Header", stamp=time, frame_id="")

    def write(self, topic: str, kind: str, time: float, message) -> None:
        self.writer.write(self.topic(topic, kind), round(time * _SECOND), self.store.serialize_cdr(message, kind))

    def state(
        self,
        topic: str,
        time: float,
        joints: Sequence[str],
        position: Iterable[float],
        *,
        stamp: float | None = None,
        velocity: Iterable[float] = (),
        effort: Iterable[float] = (),
    ) -> None:
        numbers = {"position": position, "velocity": velocity, "effort": effort}
        arrays = {name: np.array([*one], np.float64) for name, one in numbers.items()}
        self.write(topic, STATE, time, self.make(STATE, header=self.header(stamp), name=[*joints], **arrays))

    def point(self, position: Iterable[float], after: float = 0.0):
        empty, late = np.zeros(0), round(after * _SECOND)
        return self.make(
            "trajectory_msgs/msg/JointTrajectoryPoint",
            positions=np.array([*position], np.float64),
            velocities=empty,
            accelerations=empty,
            effort=empty,
            time_from_start=self.make("builtin_interfaces/msg/Duration", sec=late // _SECOND, nanosec=late % _SECOND),
        )

    def trajectory(self, topic: str, time: float, joints: Sequence[str], points: Sequence) -> None:
        message = self.make(TRAJECTORY, header=self.header(None), joint_names=[*joints], points=[*points])
        self.write(topic, TRAJECTORY, time, message)

    def controller(self, topic: str, time: float, joints: Sequence[str], position: Iterable[float]) -> None:
        fields = {self.reference: self.point(position)}
        message = self.make(CONTROLLER, header=self.header(None), joint_names=[*joints], **fields)
        self.write(topic, CONTROLLER, time, message)

    def array(self, topic: str, time: float, numbers: Iterable[float]) -> None:
        layout = self.make("std_msgs/msg/MultiArrayLayout", dim=[], data_offset=0)
        self.write(topic, ARRAY, time, self.make(ARRAY, layout=layout, data=np.array([*numbers], np.float64)))
