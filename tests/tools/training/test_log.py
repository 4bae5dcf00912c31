"""Logs: invalid ones, and files."""

import pickle

import numpy as np
import pytest
from actuator_logs import DT, pd_log
from isaacsim.core.experimental.actuators.laws.networks.metadata import Metadata
from isaacsim.core.experimental.actuators.tools.training.log import SIGNALS, ActuatorLog, features_of
from pipe_files import needs_pipes, require_refused
from refusals import cases, refused

TABLE = """\
joint,time,position,velocity,position_target,effort,note
hip,0.000,1,2,3,4,a
knee,0.000,10,20,30,40,b
hip,0.005,5,6,7,8,c
knee,0.005,50,60,70,80,d
"""


def made(**given) -> ActuatorLog:
    """A log of three steps of two joints, with some changes."""
    return ActuatorLog(**{"dt": DT, **{name: np.zeros((3, 2)) for name in SIGNALS}, **given})


def assert_same(first: ActuatorLog, second: ActuatorLog) -> None:
    assert first.dt == second.dt
    for name in SIGNALS:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), strict=True)


def test_one_joint_is_a_column() -> None:
    given = np.arange(4.0)
    log = ActuatorLog(DT, given, given, 3 * given, given)
    given[:] = 7.0
    assert (log.steps, log.joints, log.seconds) == (4, 1, 4 * DT)
    np.testing.assert_array_equal(log.position_error, np.float32([[0], [2], [4], [6]]), strict=True)
    with pytest.raises(ValueError, match="read-only"):
        log.effort[0] = 1.0


@cases(
    "given, said",
    ({"dt": 0.0}, r"dt = 0\.0: must be a finite number of seconds > 0"),
    ({"dt": float("nan")}, "dt = nan"),
    ({"turns": "yes"}, "turns = 'yes': must be True, False or None"),
    ({"position": np.zeros((3, 2, 1))}, r"position has shape \(3, 2, 1\)"),
    ({name: np.zeros((1, 2)) for name in SIGNALS}, r"shape \(1, 2\): must be \(steps, joints\), at least \(2, 1\)"),
    ({name: np.zeros((3, 0)) for name in SIGNALS}, r"shape \(3, 0\)"),
    ({"effort": np.zeros((3, 1))}, r"effort has shape \(3, 1\): must be \(3, 2\)"),
    ({"velocity": [[0, 0], [0, np.inf], [0, 0]]}, r"velocity\[1, 1\] = inf: must be finite"),
)
def test_refused(given, said) -> None:
    refused(ValueError, lambda: made(**given), said)


@cases("extension", ".npz", ".csv", ".CSV")
@cases("joints", 1, 3)
def test_file_gives_the_same_log_back(extension, joints, tmp_path) -> None:
    log = pd_log(0, 50, joints)
    log.save(tmp_path / f"log{extension}")
    assert_same(ActuatorLog.load(tmp_path / f"log{extension}"), log)


@cases("turns", True, False, None)
def test_arrays_keep_whether_joints_turn(turns, tmp_path) -> None:
    log = made(turns=turns)
    for ending, kept in ((".npz", turns), (".csv", None)):
        log.save(tmp_path / f"log{ending}")
        assert ActuatorLog.load(tmp_path / f"log{ending}").turns is kept
    assert log.cut(0, 2).turns is turns


def test_table_of_others(tmp_path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(TABLE, "utf-8")
    log = ActuatorLog.load(path)
    assert log.dt == DT
    np.testing.assert_array_equal(log.position, np.float32([[1, 10], [5, 50]]))
    np.testing.assert_array_equal(log.effort, np.float32([[4, 40], [8, 80]]))
    lines = TABLE.splitlines()
    path.write_text("\n".join([lines[0], *sorted(lines[1:])]), "utf-8")
    assert_same(ActuatorLog.load(path), log)


def test_step_may_be_given(tmp_path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(TABLE.replace("0.005", "0.004"), "utf-8")
    assert ActuatorLog.load(path).dt == 0.004 and ActuatorLog.load(path, DT).dt == DT
    path.write_text(TABLE.replace("time", "when"), "utf-8")
    assert ActuatorLog.load(path, DT).dt == DT


@cases(
    "text, said",
    (TABLE.replace("velocity", "speed"), "must have velocity too"),
    (TABLE.replace("time", "when"), "must have time too"),
    (TABLE.replace("60", "sixty"), r"log\.csv, line 5: .*'sixty'.*: must be numbers"),
    (TABLE.replace("knee,0.005,50,60,70,80,d\n", ""), r"\{'hip': 2, 'knee': 1\} lines by joint"),
    (TABLE.splitlines()[0], r"\{\} lines by joint"),
    (TABLE + "hip,0.02,1,1,1,1,\nknee,0.02,1,1,1,1,\n", r"0\.005 to 0\.015 s apart: must be evenly .*, dt or --dt"),
    (TABLE.replace("0.005", "0"), "times are 0 to 0 s apart"),
    ("", "has nothing"),
)
def test_table_refused(text, said, tmp_path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text, "utf-8")
    refused(ValueError, lambda: ActuatorLog.load(path), said)


def test_archive_refused(tmp_path) -> None:
    path = tmp_path / "log.npz"
    arrays = {name: np.zeros(3) for name in SIGNALS}
    np.savez(path, allow_pickle=False, **arrays)
    refused(ValueError, lambda: ActuatorLog.load(path), "must have dt too")
    assert ActuatorLog.load(path, DT).steps == 3
    np.savez(path, allow_pickle=True, **(arrays | {"effort": np.array([{}, {}, {}])}))
    refused(ValueError, lambda: ActuatorLog.load(path, DT), r"log\.npz: .*allow_pickle")
    for data in (b"PK\3\4 cut off", b"", pickle.dumps([1])):
        path.write_bytes(data)
        refused(ValueError, lambda: ActuatorLog.load(path, DT), r"log\.npz: .*must hold arrays")


def test_other_extension_refused(tmp_path) -> None:
    for act in (made().save, ActuatorLog.load):
        with pytest.raises(ValueError, match=r"log\.txt: must end with \.npz or \.csv"):
            act(tmp_path / "log.txt")


def test_cut() -> None:
    log = pd_log(0, 50)
    np.testing.assert_array_equal(log.cut(10, 20).velocity, log.velocity[10:20])


@cases("extension", ".npz", ".csv")
@needs_pipes
def test_pipe_is_refused(extension, tmp_path) -> None:
    require_refused(ActuatorLog.load, tmp_path / f"file{extension}")


@cases("fill, before", ("zeros", [0.0, 0.0]), ("first", [3.0, 2.0]))
def test_rows_before_the_first_are_filled(fill, before: list[float]) -> None:
    q, qd, target = np.float32([[0, 1, 2], [1, 2, 3], [3, 3, 3]])
    said = Metadata("mlp", input_idx=(0, 2), vel_scale=2.0, history_fill=fill)
    found = features_of(ActuatorLog(0.01, q, qd, target, np.zeros(3, np.float32)), said)[:, 0]
    error, speed = before
    np.testing.assert_array_equal(found, [[3, error, 2, speed], [2, error, 4, speed], [1, 3, 6, 2]])
