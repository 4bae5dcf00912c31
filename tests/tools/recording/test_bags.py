"""Bags as rosbags writes them, and files that are none."""

import sys
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig, Recording
from isaacsim.core.experimental.actuators.tools.recording.bags import Topic, opened
from ros_bags import STATE, BagWriter


def written(folder: Path, storage: str) -> Path:
    with BagWriter(folder / "bag", storage) as bag:
        for number in range(3):
            bag.state("/states", number, ["hip"], [0.1 * number])
        bag.topic("/empty", STATE)
    (file,) = (one for one in (folder / "bag").iterdir() if one.suffix in (".mcap", ".db3"))
    return file


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_messages_of_a_topic(tmp_path, storage) -> None:
    file = written(tmp_path, storage)
    for path in (file, file.parent):
        with opened(path) as bag:
            assert bag.topics == {"/states": Topic(STATE, 3), "/empty": Topic(STATE, 0)}
            messages = bag.messages("/states")
            assert bag.messages("/empty") == []
        assert [(time, one.position.tolist()) for time, one in messages] == [(k * 10**9, [0.1 * k]) for k in range(3)]


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_broken_file_is_one_error(tmp_path, storage, share) -> None:
    file = written(tmp_path, storage)
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=rf"{file.name}: .*: must be a whole ROS 2 bag\. Record"), opened(file) as bag:
        bag.messages("/states")


def test_other_content(tmp_path) -> None:
    pytest.importorskip("rosbags", exc_type=ImportError)
    (tmp_path / "metadata.yaml").write_text("a: [1, 2")
    (tmp_path / "log.mcap").write_text("junk that is long enough for a header and a footer")
    for path in (tmp_path, tmp_path / "log.mcap"):
        with pytest.raises(ValueError, match=r": must be a whole ROS 2 bag\. Record it again"), opened(path):
            pass
    with pytest.raises(FileNotFoundError), opened(tmp_path / "none.mcap"):
        pass


def recorded(robots: int = 1, steps: int = 5, **options) -> Recording:
    leg = ActuatedArrays(["hip", "knee"], {".*": [PDControlConfig(9.0, 0.5)]}, robots)
    numbers = np.random.default_rng(0)
    with leg.record(**options) as log:
        for _ in range(steps):
            q, qd, target = numbers.normal(size=(3, robots, 2)).astype(np.float32)
            leg.step(q, qd, target, 0.01)
    return log


def test_recording_is_what_foxglove_reads(tmp_path) -> None:
    reader = pytest.importorskip("mcap_ros2.reader", exc_type=ImportError)
    pytest.importorskip("rosbags.rosbag2", exc_type=ImportError)
    log = recorded()
    log.save(tmp_path / "log.mcap")
    found: dict[str, list] = {"/joint_states": [], "/joint_commands": []}
    for one in reader.read_ros2_messages(tmp_path / "log.mcap"):
        assert (one.schema.name, one.channel.message_encoding) == (STATE, "cdr")
        found[one.channel.topic].append(one.ros_msg)
        stamp = one.ros_msg.header.stamp
        assert stamp.sec * 10**9 + stamp.nanosec == one.log_time_ns
    for messages in found.values():
        stamps = [one.header.stamp.sec + 1e-9 * one.header.stamp.nanosec for one in messages]
        np.testing.assert_allclose(stamps, log.time, atol=1e-9)
        assert all(one.name == ["hip", "knee"] for one in messages)
    states, commands = found.values()
    for messages, field, array in (
        (states, "position", log.positions),
        (states, "velocity", log.velocities),
        (states, "effort", log.motor_efforts),
        (commands, "position", log.position_targets),
        (commands, "velocity", log.velocity_targets),
    ):
        np.testing.assert_array_equal([getattr(one, field) for one in messages], array[:, 0], err_msg=field)
    assert all(len(one.effort) == 0 for one in commands)


def test_recording_of_several_robots(tmp_path) -> None:
    pytest.importorskip("rosbags.rosbag2", exc_type=ImportError)
    log = recorded(2, signals=["positions"])
    log.save(tmp_path / "log.mcap")
    with opened(tmp_path / "log.mcap") as bag:
        assert bag.topics == {f"/robot_{row}/joint_states": Topic(STATE, 5) for row in range(2)}
        for row in range(2):
            messages = [one for _, one in bag.messages(f"/robot_{row}/joint_states")]
            assert {one.header.frame_id for one in messages} == {log.robots[row]}
            np.testing.assert_array_equal([one.position for one in messages], log.positions[:, row])


def test_recording_without_steps(tmp_path) -> None:
    pytest.importorskip("rosbags.rosbag2", exc_type=ImportError)
    recorded(steps=0).save(tmp_path / "log.mcap")
    with opened(tmp_path / "log.mcap") as bag:
        assert bag.topics == {name: Topic(STATE, 0) for name in ("/joint_states", "/joint_commands")}


def test_recording_without_any_of_the_signals(tmp_path) -> None:
    pytest.importorskip("rosbags.rosbag2", exc_type=ImportError)
    with pytest.raises(
        ValueError, match=r"log\.mcap: signals = time, currents: must have one of positions, measured_pos"
    ):
        recorded(signals=["currents"]).save(tmp_path / "log.mcap")
    assert list(tmp_path.iterdir()) == []


def test_without_rosbags_the_extra_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "rosbags.rosbag2", None)
    with pytest.raises(ModuleNotFoundError, match=r"An MCAP file needs rosbags.*pip install .*\[bags\]"):
        recorded().save(tmp_path / "log.mcap")
    assert list(tmp_path.iterdir()) == []
