"""Recordings: files, saturation, picture."""

import csv
import errno
import os
import sys

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.recording.recording import FORMATS
from pipe_files import needs_pipes, require_refused

DT = 0.01


def recorded(signals: tuple[str, ...] | None = None, steps: int = 8) -> aa.Recording:
    """Two robots with two joints; the knee of the second one is limited in steps 2, 3, 4 and 6."""
    limits = [aa.PDControlConfig(10.0, 0.0), aa.MaxEffortClampingConfig(5.0)]
    leg = aa.ActuatedArrays(["hip", "knee"], {"hip": [aa.PDControlConfig(10.0, 0.0)], "knee": limits}, 2)
    q, qd, target = np.zeros((3, 2, 2), np.float32)
    qd[:] = 0.1, 0.2
    with leg.record() if signals is None else leg.record(signals) as log:
        for step in range(steps):
            target[:] = 0.1 * step
            target[1, 1] = 0.9 if step in (2, 3, 4, 6) else 0.3
            leg.step(q, qd, target, DT)
    return log


def test_saturation_of_a_known_case() -> None:
    """Share of time and longest interval, the largest share first, without clamps that never limited."""
    table = recorded().saturation()
    expected = [(robot, "knee", "ClampingMaxEffort") for robot in ("robot 1", "robot 0")]
    assert [(one.robot, one.joint, one.clamp) for one in table] == expected
    assert [one.share for one in table] == pytest.approx([4 / 8, 2 / 8])
    assert [one.longest for one in table] == pytest.approx([3 * DT, 2 * DT])
    lines = str(table).splitlines()
    assert lines[0].split() == ["robot", "joint", "clamp", "share", "longest", "[s]"]
    assert lines[1].split() == ["robot", "1", "knee", "ClampingMaxEffort", "50.0%", "0.03"]
    assert len({len(line) for line in lines}) == 1


def test_saturation_of_all_robots_is_a_row_for_each_joint() -> None:
    (one,) = recorded().saturation(of_all_robots=True)
    assert (one.robot, one.joint, one.clamp) == ("2 robots", "knee", "ClampingMaxEffort")
    assert (one.share, one.longest) == pytest.approx((6 / 16, 3 * DT))


def test_steps_of_other_lengths_weigh_as_long_as_they_last() -> None:
    leg = aa.ActuatedArrays(["hip"], {"hip": [aa.PDControlConfig(10.0, 0.0), aa.MaxEffortClampingConfig(5.0)]})
    q = np.zeros(1, np.float32)
    with leg.record() as log:
        for dt, target in ((0.01, 1.0), (0.02, 1.0), (0.07, 0.0)):
            leg.step(q, q, q + np.float32(target), dt)
    share, longest = pytest.approx(0.3), pytest.approx(0.03)
    assert log.saturation() == [aa.Saturation("robot 0", "hip", "ClampingMaxEffort", share, longest)]
    assert log.time.tolist() == pytest.approx([0.0, 0.01, 0.03]) and log.dt == 0.07


def test_without_limits_and_without_steps() -> None:
    assert str(recorded(steps=0).saturation()) == str(aa.SaturationTable()) == "no effort was limited"
    assert np.isnan(recorded(steps=0).dt)


@pytest.mark.parametrize("extension", ["npz", "csv", "parquet"])
@pytest.mark.parametrize("signals", [None, ("positions", "limited_by", "faults"), ("power",)])
def test_files_give_the_same_back(tmp_path, extension, signals) -> None:
    if extension == "parquet":
        pytest.importorskip("pyarrow", exc_type=ImportError)
    log = recorded(signals)
    path = tmp_path / f"log.{extension}"
    log.save(path)
    back = aa.Recording.load(path)
    assert (back.signals, back.robots, back.joints, back.dt) == (log.signals, log.robots, log.joints, log.dt)
    np.testing.assert_array_equal(back.max_efforts, log.max_efforts)
    for name, array in log.arrays().items():
        np.testing.assert_array_equal(back.arrays()[name], array)
        assert back.arrays()[name].dtype.kind == array.dtype.kind
    if signals is None:
        assert back.saturation() == log.saturation()


def test_a_table_has_a_line_per_step_robot_and_joint(tmp_path) -> None:
    log = recorded()
    log.save(tmp_path / "log.csv")
    with (tmp_path / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8 * 2 * 2
    row = rows[2 * 4 + 3]
    shown = [row[name] for name in ("time", "robot", "joint", "limited_by")]
    assert shown == ["0.02", "robot 1", "knee", "ClampingMaxEffort"]
    assert float(row["applied_efforts"]) == log.applied_efforts[2, 1, 1] == 5.0


def test_a_parquet_file_is_the_same_table(tmp_path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", exc_type=ImportError)
    log = recorded()
    log.save(tmp_path / "log.parquet")
    table = parquet.read_table(tmp_path / "log.parquet").to_pydict()
    np.testing.assert_array_equal(table["positions"], log.positions.ravel())
    assert table["joint"][:4] == ["hip", "knee"] * 2


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"A Parquet file needs pyarrow.*pip install .*\[parquet\]"):
        recorded().save(tmp_path / "log.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
@pytest.mark.parametrize("extension", ["npz", "csv", "parquet", "rrd", "mcap", "png", "svg", "pdf"])
@pytest.mark.slow
def test_full_disk_is_an_error_that_names_the_file(tmp_path, extension) -> None:
    libraries = {"parquet": "pyarrow", "rrd": "rerun", "mcap": "rosbags.rosbag2"}
    pytest.importorskip(libraries.get(extension, "matplotlib"), exc_type=ImportError)
    file = tmp_path / f"log.{extension}"
    file.symlink_to("/dev/full")
    log = recorded()
    with pytest.raises(OSError, match=rf"log\.{extension}: cannot be written: No space left on device") as caught:
        log.save(file) if f".{extension}" in FORMATS else log.plot(path=file)
    assert caught.value.errno == errno.ENOSPC


def test_files_that_are_something_else_are_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"log.txt: must end with .npz or .csv or .parquet or .rrd or .mcap"):
        recorded().save(tmp_path / "log.txt")
    np.savez(tmp_path / "other.npz", dt=np.zeros(2))
    with pytest.raises(ValueError, match=r"other.npz has no robots, joints, clamps, max_efforts: must be what"):
        aa.Recording.load(tmp_path / "other.npz")
    (tmp_path / "broken.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"broken.npz: .*: must be what Recording.save wrote"):
        aa.Recording.load(tmp_path / "broken.npz")
    (tmp_path / "other.csv").write_text("time,robot\n0,1\n")
    with pytest.raises(ValueError, match=r"other.csv has no joint, dt, max_effort: must be what"):
        aa.Recording.load(tmp_path / "other.csv")
    recorded(("positions",)).save(tmp_path / "cut.csv")
    (tmp_path / "cut.csv").write_text("\n".join((tmp_path / "cut.csv").read_text().splitlines()[:-1]))
    with pytest.raises(
        ValueError, match=r"cut.csv has no line of time = 0.07, robot = 'robot 1', joint = 'knee', 1 of 32"
    ):
        aa.Recording.load(tmp_path / "cut.csv")


@pytest.mark.parametrize("extension", [".npz", ".csv", ".parquet"])
@needs_pipes
def test_pipe_is_refused(extension, tmp_path) -> None:
    require_refused(aa.Recording.load, tmp_path / f"file{extension}")
