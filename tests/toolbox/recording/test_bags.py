"""Bags as rosbags writes them, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.toolbox.recording.bags import Topic, opened
from ros_bags import STATE, BagWriter


def written(folder: Path, storage: str) -> Path:
    """The file of a bag with three messages."""
    with BagWriter(folder / "bag", storage) as bag:
        for number in range(3):
            bag.state("/states", number, ["hip"], [0.1 * number])
        bag.topic("/empty", STATE)
    (file,) = (one for one in (folder / "bag").iterdir() if one.suffix in (".mcap", ".db3"))
    return file


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_messages_of_a_topic(tmp_path: Path, storage: str) -> None:
    file = written(tmp_path, storage)
    for path in (file, file.parent):
        with opened(path) as bag:
            assert bag.topics == {"/states": Topic(STATE, 3), "/empty": Topic(STATE, 0)}
            messages = bag.messages("/states")
            assert bag.messages("/empty") == []
        assert [(time, one.position.tolist()) for time, one in messages] == [(k * 10**9, [0.1 * k]) for k in range(3)]


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_broken_file_is_one_error(tmp_path: Path, storage: str, share: float) -> None:
    """A file that was cut off, or is empty."""
    file = written(tmp_path, storage)
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=rf"{file.name}: .*: must be a whole ROS 2 bag\. Record"), opened(file) as bag:
        bag.messages("/states")


def test_other_content(tmp_path: Path) -> None:
    pytest.importorskip("rosbags", exc_type=ImportError)
    (tmp_path / "metadata.yaml").write_text("a: [1, 2")
    (tmp_path / "log.mcap").write_text("junk that is long enough for a header and a footer")
    for path in (tmp_path, tmp_path / "log.mcap"):
        with pytest.raises(ValueError, match=r": must be a whole ROS 2 bag\. Record it again"), opened(path):
            pass
    with pytest.raises(FileNotFoundError), opened(tmp_path / "none.mcap"):
        pass
