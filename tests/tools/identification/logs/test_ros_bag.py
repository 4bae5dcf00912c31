"""Logs in ROS 2 bags, written by rosbags: messages of joints, times, and commands that hold."""

import sys
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.logs.read import read_logs
from refusals import cases, refused
from ros_bags import BagWriter

ROBOT = ("thigh", "hip", "knee")
STATES, COMMANDS = "/joint_states", "/commands"
# of positions and of commands [s]
TIMES, SENT = (10.0, 10.1, 10.2, 10.3), (10.05, 10.2)
# by command, in the order hip, knee
TARGETS = ((0.5, 1.5), (0.6, 1.6))
HELD = [[0.5, 1.5], [0.6, 1.6], [0.6, 1.6]]


def read(path: Path, *topics: str) -> MotorLog:
    (log,) = read_logs([path], ROBOT, topics=topics)
    return log


def states(bag: BagWriter, topic: str = STATES, *, stamp: float | None = None) -> None:
    """Positions of the knee, a wheel and the hip; stamps are times plus `stamp`."""
    for number, time in enumerate(TIMES):
        bag.state(
            topic,
            time,
            ["knee", "wheel", "hip"],
            (10 + number, 20 + number, 30 + number),
            stamp=None if stamp is None else time + stamp,
            velocity=(-1, -2, -3),
            effort=(np.nan, np.nan, np.nan),
        )


def by_states(bag: BagWriter) -> None:
    for time, target in zip(SENT, TARGETS, strict=True):
        bag.state(COMMANDS, time, ["hip", "knee"], target)


def by_trajectories(bag: BagWriter) -> None:
    for time, target in zip(SENT, TARGETS, strict=True):
        bag.trajectory(COMMANDS, time, ["knee", "hip"], [bag.point(target[::-1])])


def by_arrays(bag: BagWriter) -> None:
    for time, target in zip(SENT, TARGETS, strict=True):
        bag.array(COMMANDS, time, target)


def require_log(log: MotorLog) -> None:
    """Rows from the first command on, joints in the order of the robot, commands held."""
    assert (log.joints, set(log.signals)) == (("hip", "knee"), {"command", "position", "velocity"})
    np.testing.assert_allclose(log.time, [0.0, 0.1, 0.2], rtol=1e-9)
    np.testing.assert_array_equal(log.command, HELD)
    np.testing.assert_array_equal(log.position, [[31, 11], [32, 12], [33, 13]])
    np.testing.assert_array_equal(log.signals["velocity"], [[-3, -1]] * 3)


@cases("storage", "mcap", "sqlite3")
@cases("commands", by_states, by_trajectories, by_arrays)
def test_bag(tmp_path, storage, commands) -> None:
    with BagWriter(tmp_path / "bag", storage) as bag:
        states(bag)
        commands(bag)
    topics = [f"command={COMMANDS}:hip,knee"] if commands is by_arrays else []
    (file,) = (one for one in (tmp_path / "bag").iterdir() if one.suffix in (".mcap", ".db3"))
    for path in (tmp_path / "bag", file):
        log = read(path, *topics)
        require_log(log)
        assert log.source == str(path)


@cases("reference", "reference", "desired")
def test_state_of_a_controller(tmp_path, reference) -> None:
    with BagWriter(tmp_path / "bag", reference=reference) as bag:
        states(bag)
        for time, target in zip(SENT, TARGETS, strict=True):
            bag.controller(COMMANDS, time, ["hip", "knee"], target)
    require_log(read(tmp_path / "bag"))


def test_clock_of_the_headers(tmp_path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        for time, stamp, position in ((7.0, 1.2, 3.0), (7.1, 1.0, 1.0), (7.2, 1.1, 2.0), (7.3, 1.1, 9.0)):
            bag.state(STATES, time, ["hip"], [position], stamp=stamp)
        bag.state(COMMANDS, 9.0, ["hip"], [0.2], stamp=1.15)
        bag.state(COMMANDS, 9.1, ["hip"], [0.1], stamp=0.9)
    log = read(tmp_path / "bag")
    np.testing.assert_allclose(log.time, [0.0, 0.1, 0.2], rtol=1e-9)
    np.testing.assert_array_equal(log.position[:, 0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(log.command[:, 0], [0.1, 0.1, 0.2])


def test_one_clock_for_both(tmp_path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        states(bag, stamp=-9.0)
        by_states(bag)
    require_log(read(tmp_path / "bag"))


def test_joints_in_several_messages(tmp_path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        states(bag)
        bag.state(STATES, 10.25, ["thigh"], [7.0])
        bag.state(STATES, 10.26, ["hip"], [7.0])
        bag.trajectory(COMMANDS, 10.05, ["hip"], [bag.point([0.5])])
        bag.trajectory(COMMANDS, 10.02, ["knee"], [bag.point([1.5])])
        bag.trajectory(COMMANDS, 10.2, ["hip", "knee"], [bag.point([0.6, 1.6])])
    require_log(read(tmp_path / "bag"))


def test_joints_without_commands_are_left_out(tmp_path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        states(bag)
        bag.state(COMMANDS, 10.0, ["knee"], [1.0])
    with pytest.warns(UserWarning, match=r"bag: hip: not read: must have commands in /commands"):
        assert read(tmp_path / "bag").joints == ("knee",)


def test_several_topics(tmp_path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        states(bag)
        by_states(bag)
        bag.array("/efforts", 10.0, [1.0])
        bag.topic("/empty", "sensor_msgs/msg/JointState")
    said = (
        r"bag: /commands, /efforts may have the commands: must be one topic with messages of .*\. The bag has /commands"
        r" \(2 sensor_msgs/msg/JointState\), .*\. Give --topics command=/NAME position=/NAME"
    )
    refused(ValueError, lambda: read(tmp_path / "bag"), said)
    require_log(read(tmp_path / "bag", f"command={COMMANDS}"))
    require_log(read(tmp_path / "bag", f"position={STATES}", f"command={COMMANDS}"))


def test_positions_that_are_not_clear(tmp_path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        states(bag, "/left/states")
        states(bag, "/right/states")
    with pytest.raises(ValueError, match=r"/left/states, /right/states may have the positions: must be one topic"):
        read(tmp_path / "bag")
    # other states are no commands, unless one says so
    refused(ValueError, lambda: read(tmp_path / "bag", "position=/left/states"), r"no topic may have the commands")
    log = read(tmp_path / "bag", "position=/left/states", "command=/right/states")
    np.testing.assert_array_equal(log.command, log.position)


def nothing(bag: BagWriter) -> None:
    bag.topic("/tf", "std_msgs/msg/String")


def positions_alone(bag: BagWriter) -> None:
    states(bag)


def arrays(bag: BagWriter) -> None:
    states(bag)
    by_arrays(bag)


def two_points(bag: BagWriter) -> None:
    states(bag)
    bag.trajectory(COMMANDS, 10.0, ["hip"], [bag.point([0.1]), bag.point([0.2], 1.0)])


def later_point(bag: BagWriter) -> None:
    states(bag)
    bag.trajectory(COMMANDS, 10.0, ["hip"], [bag.point([0.1], 0.02)])


def late_commands(bag: BagWriter) -> None:
    states(bag)
    bag.state(COMMANDS, 10.3, ["hip"], [0.1])
    bag.state(COMMANDS, 10.3, ["knee"], [0.1])


def other_commands(bag: BagWriter) -> None:
    states(bag)
    bag.state(COMMANDS, 10.0, ["thigh"], [0.1])


def other_joints(bag: BagWriter) -> None:
    bag.state(STATES, 10.0, ["wheel"], [0.1])
    by_states(bag)


def no_positions(bag: BagWriter) -> None:
    bag.state(STATES, 10.0, ["hip"], [], velocity=[1.0])
    by_states(bag)


def few_numbers(bag: BagWriter) -> None:
    bag.state(STATES, 10.0, ["hip", "knee"], [0.1])
    by_states(bag)


@cases(
    "write, topics, said",
    (nothing, (), r"no topic may have the positions: must be one .*JointState\. The bag has /tf \(0 std_msgs"),
    (positions_alone, (), r"no topic may have the commands: must be one topic with messages of sensor_msgs"),
    (arrays, (), r"/commands has .*Array, which names no joints: .* Give --topics command=/commands:JOINT,JOINT"),
    (
        arrays,
        ("command=/commands:hip,knee,ankle",),
        r"/commands: message 0 has 2 of position: must be 3, one per joint of hip, knee, ankle\. Correct",
    ),
    (two_points, (), r"/commands: a trajectory has 2 points over time: must have one that acts at once"),
    (later_point, (), r"/commands: a trajectory has 1 points over time: must have one that acts at once"),
    (late_commands, (), r"commands from 0\.3 s after the first of 4 positions, which last 0\.3 s: commands must"),
    (other_commands, (), r"/commands commands thigh: must have some of hip, knee, as positions have\. Choose"),
    (other_joints, (), r"/joint_states has joints wheel, with positions in 1 of 1 messages: must have positions of"),
    (no_positions, (), r"/joint_states has joints hip, with positions in 0 of 1 messages: must have positions of"),
    (few_numbers, (), r"/joint_states: message 0 has 1 of position: must be 2, one per joint of hip, knee"),
    (arrays, ("command=/other",), r"topics command = /other: must be a topic with messages of .* The bag has"),
    (arrays, ("position=/commands",), r"topics position = /commands: must be a topic with messages of sensor_msgs"),
    (arrays, ("effort=/commands",), r"topics = effort: must be of command and position\. Give --topics"),
    (arrays, ("command=",), r"topics = command=: must have a value for each name, once"),
    (arrays, ("command=/a", "command=/b"), r"topics = command=/a command=/b: must have a value for each name"),
)
def test_refused(tmp_path, write, topics, said) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        write(bag)
    refused(ValueError, lambda: read(tmp_path / "bag", *topics), said)


def test_library_is_missing(tmp_path, monkeypatch) -> None:
    (tmp_path / "log.mcap").touch()
    monkeypatch.setitem(sys.modules, "rosbags.rosbag2", None)
    refused(ModuleNotFoundError, lambda: read(tmp_path / "log.mcap"), r"A ROS 2 bag needs rosbags.*\[bags\]")
