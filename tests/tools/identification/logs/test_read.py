"""Logs in files: tables of other programs, recordings of this package, and files that are neither."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig, Recording, ServoCalibration
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.logs.read import read_logs
from motor_logs import following
from pipe_files import needs_pipes, require_refused
from refusals import cases, refused

TABLE = """\
# Go2, left front leg
# kp = 400
#kd=2.5
time [s],knee/command,hip/command [rad],knee/position,hip/position,hip/velocity,knee/velocity [rad/s]
0.00,1.0,0.1,0.9,0.0,5.0,-5.0
0.01,1.1,0.2,1.0,0.1,6.0,-6.0
0.03,1.2,0.3,1.1,0.2,7.0,-7.0
"""
ROBOT = ("thigh", "hip", "knee")
RECORDED = ("knee", "hip", "ankle")


def written(folder: Path, text: str, name: str = "log.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def columns_of(log: MotorLog) -> dict[str, np.ndarray]:
    joints = [*enumerate(log.joints)]
    named = {f"{joint}/{name}": one[:, at] for name, one in log.signals.items() for at, joint in joints}
    return {"time": log.time, **named}


def read_log(path: Path, joints: Sequence[str], robot: int | None = None) -> MotorLog:
    (log,) = read_logs([path], joints, robot)
    return log


def require_same(back: MotorLog, log: MotorLog) -> None:
    assert (back.joints, back.signals.keys()) == (log.joints, log.signals.keys())
    np.testing.assert_array_equal(back.time, log.time)
    for name, one in log.signals.items():
        np.testing.assert_array_equal(back.signals[name], one, err_msg=name)


def recorded(robots: int = 1, **options) -> Recording:
    """Eleven steps of robots with joints in no alphabetical order, all numbers different."""
    leg = ActuatedArrays(list(RECORDED), {".*": [PDControlConfig(9.0, 0.5)]}, robots)
    numbers = np.random.default_rng(0)
    with leg.record(**options) as log:
        for _ in range(11):
            q, qd, target = numbers.normal(size=(3, robots, 3)).astype(np.float32)
            leg.step(q, qd, target, 0.01)
    return log


def test_table(tmp_path) -> None:
    path = written(tmp_path, TABLE)
    log = read_log(path, ROBOT)
    assert (log.joints, log.source, log.settings) == (("hip", "knee"), str(path), {"kp": 400.0, "kd": 2.5})
    np.testing.assert_array_equal(log.time, [0.0, 0.01, 0.03])
    np.testing.assert_array_equal(log.command, [[0.1, 1.0], [0.2, 1.1], [0.3, 1.2]])
    np.testing.assert_array_equal(log.position, [[0.0, 0.9], [0.1, 1.0], [0.2, 1.1]])
    np.testing.assert_array_equal(log.signals["velocity"], [[5.0, -5.0], [6.0, -6.0], [7.0, -7.0]])


def test_names_of_joints_may_be_paths(tmp_path) -> None:
    path = written(tmp_path, TABLE.replace("hip/", "leg/hip/"))
    assert read_log(path, ["knee", "leg/hip"]).joints == ("knee", "leg/hip")


def test_spreadsheets(tmp_path) -> None:
    text = "\ufefftime, command, position, enabled\r\n0.0, 1, 2, TRUE\r\n\r\n0.1, 3, 4, False\r\n"
    log = read_log(written(tmp_path, text, "LOG.CSV"), ["hip"])
    np.testing.assert_array_equal(log.command, [[1.0], [3.0]])
    np.testing.assert_array_equal(log.signals["enabled"], [[1.0], [0.0]])


def test_plain_names_are_those_of_the_only_joint(tmp_path) -> None:
    path = written(tmp_path, "time,command,position [rad]\n0,1,2\n1,3,4\n")
    assert read_log(path, ["hip"]).joints == ("hip",)
    with pytest.raises(
        ValueError, match=r"log\.csv has columns time, command, position \[rad\]: must have .* hip, knee"
    ):
        read_log(path, ["hip", "knee"])


@cases(
    "old, new, said",
    ("hip/velocity", "hip/speed", r"log\.csv: hip/speed, knee/velocity \[rad/s\]: not read: must be names"),
    ("hip/velocity", "hip/velocity [rpm]", r"hip/velocity \[rpm\], knee/velocity \[rad/s\]: not read"),
    ("# kp = 400", "# kp = high", r"log\.csv: # kp = high: not read"),
    ("# kp = 400", "# kp = nan", r"log\.csv: # kp = nan: not read"),
)
def test_what_is_not_read_is_told(tmp_path, old, new, said) -> None:
    with pytest.warns(UserWarning, match=said) as warned:
        log = read_log(written(tmp_path, TABLE.replace(old, new)), ROBOT)
    assert warned[0].filename == __file__
    assert ("velocity" in log.signals, "kp" in log.settings) == ("hip" not in old, "kp" not in old)


@cases(
    "old, new, said",
    ("0.01,1.1,", "0.01,,", r"log\.csv, line 6, column knee/command = : must be a finite number\. Cut the log there"),
    ("0.01,", "nan,", r"line 6, column time \[s\] = nan: must be a finite number"),
    ("1.2,0.3", "1.2,0.3x", r"line 7, column hip/command \[rad\] = 0\.3x: must be a finite number"),
    ("0.2,7.0,-7.0", "0.2", r"log\.csv, line 7 has 5 cells: must have 7, one per column from time"),
    ("0.01,1.1", "0.01,1,1", "line 6 has 8 cells: must have 7"),
    ("time [s]", "seconds", r"log\.csv has columns seconds, .*: must have time\. Add it, or give columns"),
    ("knee/position", "hip/position", r"log\.csv has hip/position in several columns"),
    ("knee/position", "knee/effort", r"log\.csv has no knee/position: must have each of hip, knee"),
    ("0.01,", "0.00,", r"log\.csv: time\[1\] = 0\.0: must rise"),
    (TABLE, "", r"log\.csv has columns none: must have time"),
    (TABLE, TABLE[: TABLE.index("0.00")], r"log\.csv: time has shape \(0,\)"),
)
def test_table_refused(tmp_path, old, new, said) -> None:
    refused(ValueError, lambda: read_log(written(tmp_path, TABLE.replace(old, new)), ROBOT), said)


def test_joints_of_another_robot(tmp_path) -> None:
    said = (
        r"log\.csv has columns time \[s\], knee/command.*: must have joint/command and joint/position of some of wheel"
    )
    refused(ValueError, lambda: read_log(written(tmp_path, TABLE), ["wheel"]), said)
    recorded().save(tmp_path / "log.npz")
    with pytest.raises(ValueError, match=r"log\.npz has joints knee, hip, ankle: must have some of wheel"):
        read_log(tmp_path / "log.npz", ["wheel"])


@cases("name", "log.bag", "log")
def test_unknown_format(tmp_path, name) -> None:
    said = (
        rf"{name}: must end with \.csv, \.npz, \.parquet, \.mcap, \.db3, or be a folder with metadata\.yaml or "
        r"meta/info\.json\. Convert the log to one of them"
    )
    refused(ValueError, lambda: read_log(tmp_path / name, ROBOT), said)
    (tmp_path / name).mkdir()
    refused(ValueError, lambda: read_log(tmp_path / name, ROBOT), said)


@cases(
    "options, said",
    ({"topics": ["command=/x"]}, r"topics: must be given with a ROS 2 bag, and no log is one\. Leave it out"),
    ({"units": ["degrees"]}, r"units: must be given with a dataset of LeRobot, and no log is one"),
    ({"calibration": {"hip": ServoCalibration(1, 0, 0, 0, 4095)}}, r"calibration: must be given with a dataset"),
)
def test_options_of_other_formats(tmp_path, options, said) -> None:
    """They would have no effect."""
    refused(ValueError, lambda: read_logs([written(tmp_path, TABLE)], ROBOT, **options), said)


@cases("name", "log.csv", "log.npz")
def test_another_content(tmp_path, name) -> None:
    (tmp_path / name).write_bytes(b"\xff\xfe\x00junk")
    refused(ValueError, lambda: read_log(tmp_path / name, ROBOT), rf"{name}: .*: must be a table of numbers by column")
    refused(FileNotFoundError, lambda: read_log(tmp_path / f"no {name}", ROBOT))


@needs_pipes
@cases("extension", "csv", "npz", "parquet")
def test_pipe_is_refused(tmp_path, extension) -> None:
    require_refused(lambda path: read_log(path, ROBOT), tmp_path / f"log.{extension}")


def test_npz_by_column(tmp_path) -> None:
    log = following()
    np.savez(tmp_path / "log.npz", **{"kp": 40, **columns_of(log)})
    back = read_log(tmp_path / "log.npz", log.joints)
    require_same(back, log)
    assert back.settings == {"kp": 40.0}


def test_npz_by_matrix(tmp_path) -> None:
    log = following()
    path, arrays = tmp_path / "log.npz", cast(Any, dict(log.signals))
    np.savez(path, time=log.time, joints=np.array(log.joints), **arrays)
    require_same(read_log(path, log.joints), log)
    with pytest.warns(UserWarning, match=r"log\.npz: hip/command, hip/position: not read"):
        require_same(read_log(path, ["ankle", "knee"]), log.columns(["ankle", "knee"]))


@cases(
    "given, said",
    ({"position": np.zeros((3, 2))}, r"log\.npz: position has shape \(3, 2\): must be \(samples, 1\)"),
    ({"position": np.zeros((2, 1))}, r"log\.npz: hip/position has 2 rows: must have 3, as time has"),
    ({"time": np.zeros((3, 1))}, r"log\.npz: time has shape \(3, 1\): must be \(samples,\)"),
    ({"position": np.array([[1], [np.nan], [1]])}, r"log\.npz, row 1, column hip/position = nan: must be a finite"),
    ({"position": np.array([[1], [None], [1]])}, r"log\.npz: .*pickle.*: must be a table of numbers"),
)
def test_npz_refused(tmp_path, given, said) -> None:
    arrays = {"time": np.arange(3.0), "joints": ["hip"], "command": np.ones((3, 1)), "position": np.ones((3, 1))}
    np.savez(tmp_path / "log.npz", **{**arrays, **given})
    refused(ValueError, lambda: read_log(tmp_path / "log.npz", ["hip"]), said)


def test_parquet(tmp_path) -> None:
    arrow = pytest.importorskip("pyarrow", exc_type=ImportError)
    parquet = pytest.importorskip("pyarrow.parquet", exc_type=ImportError)
    log, path = following(), tmp_path / "log.parquet"
    parquet.write_table(arrow.table(columns_of(log)), path)
    require_same(read_log(path, log.joints), log)
    parquet.write_table(arrow.table({"time": [0.0, 1.0], "command": [1.0, 2.0], "position": [1, None]}), path)
    with pytest.raises(ValueError, match=r"log\.parquet, row 1, column position = nan: must be a finite number"):
        read_log(path, ["hip"])
    path.write_text("junk")
    refused(ValueError, lambda: read_log(path, ["hip"]), r"log\.parquet: .*: must be a table of numbers by column")


@cases("extension", "npz", "csv", "parquet", "mcap")
def test_recording_comes_back(tmp_path, extension) -> None:
    if library := {"parquet": "pyarrow", "mcap": "rosbags.rosbag2"}.get(extension):
        pytest.importorskip(library, exc_type=ImportError)
    recording = recorded()
    recording.save(tmp_path / f"log.{extension}")
    log = read_log(tmp_path / f"log.{extension}", ["hip", "knee"])
    assert (log.joints, set(log.signals)) == (("hip", "knee"), {"command", "position", "velocity", "effort"})
    # MCAP has whole nanoseconds
    np.testing.assert_allclose(log.time, recording.time, rtol=0, atol=1e-9 * (extension == "mcap"))
    for name, array in {
        "command": recording.position_targets,
        "position": recording.positions,
        "velocity": recording.velocities,
        "effort": recording.motor_efforts,
    }.items():
        np.testing.assert_array_equal(log.signals[name], array[:, 0, [1, 0]], err_msg=name)


def test_recording_has_its_own_names_and_units(tmp_path) -> None:
    for extension in ("npz", "csv"):
        recorded().save(path := tmp_path / f"log.{extension}")
        with pytest.raises(ValueError, match=rf"log\.{extension}: columns: must not be given for a recording"):
            read_logs([path], RECORDED, columns=["time=:ms"])


def test_recording_with_settings(tmp_path) -> None:
    recorded().save(tmp_path / "log.csv")
    path = written(tmp_path, "# kp = 9\n" + (tmp_path / "log.csv").read_text("utf-8"))
    assert read_log(path, RECORDED).settings == {"kp": 9.0}


def test_recording_of_several_robots(tmp_path) -> None:
    recording = recorded(2)
    path = tmp_path / "log.npz"
    recording.save(path)
    np.testing.assert_array_equal(read_log(path, RECORDED, robot=1).position, recording.positions[:, 1])
    for robot in (None, 2, -1):
        said = rf"log\.npz: robot = {robot}: must be the number of one of 0 \(robot 0\), 1 \(robot 1\)\. Give robot=0"
        with pytest.raises(ValueError, match=said):
            read_log(path, RECORDED, robot=robot)


def test_recording_without_targets(tmp_path) -> None:
    recorded(signals=["positions"]).save(tmp_path / "log.npz")
    with pytest.raises(ValueError, match=r"log\.npz has no position_targets: must have it\. Ask for it by record"):
        read_log(tmp_path / "log.npz", RECORDED)


def test_several_logs(tmp_path) -> None:
    paths = [written(tmp_path, TABLE.replace("400", kp), f"{kp}.csv") for kp in ("30", "20")]
    assert [log.settings["kp"] for log in read_logs(paths, ROBOT)] == [30.0, 20.0]
    assert [log.settings["kp"] for log in read_logs(cast(Any, paths[1]), ROBOT)] == [20.0]
    refused(ValueError, lambda: read_logs([], ROBOT), r"paths = \[\]: must have one at least")
