"""Tables of recordings whose lines another program sorted, filtered or duplicated."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, MaxEffortClampingConfig, PDControlConfig, Recording
from refusals import cases, refused

Row = dict[str, str]
NUMBERS = ("step", "robot_index", "joint_index")


def recorded() -> Recording:
    """Eleven steps of two robots with joints in no alphabetical order, all numbers different."""
    leg = ActuatedArrays(["knee", "hip", "ankle"], {".*": [PDControlConfig(9.0, 0.5), MaxEffortClampingConfig(5.0)]}, 2)
    numbers = np.random.default_rng(0)
    with leg.record() as log:
        for _ in range(11):
            q, qd, target = numbers.normal(size=(3, 2, 3)).astype(np.float32)
            leg.step(q, qd, target, 0.01)
    return log


def rewritten(path: Path, change: Callable[[list[Row]], list[Row]], without: tuple[str, ...] = ()) -> Path:
    """A table edited by another program; `.parquet` by its path."""
    recorded().save(path.with_suffix(".csv"))
    with path.with_suffix(".csv").open(newline="") as file:
        rows = change(list(csv.DictReader(file)))
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, [name for name in rows[0] if name not in without], extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        return path
    parquet = pytest.importorskip("pyarrow.parquet", exc_type=ImportError)
    recorded().save(path)
    table = parquet.read_table(path)
    keys = {tuple(row[name] for name in NUMBERS): place for place, row in enumerate(as_text(table.to_pylist()))}
    parquet.write_table(table.take([keys[tuple(row[name] for name in NUMBERS)] for row in rows]), path)
    return path


def as_text(rows: list[dict]) -> list[Row]:
    return [{name: str(value) for name, value in row.items()} for row in rows]


def require_same(back: Recording, log: Recording) -> None:
    assert (back.robots, back.joints, back.signals) == (log.robots, log.joints, log.signals)
    np.testing.assert_array_equal(back.max_efforts, log.max_efforts)
    for name, array in log.arrays().items():
        np.testing.assert_array_equal(back.arrays()[name], array, err_msg=name)


def shuffled(rows: list[Row]) -> list[Row]:
    return [rows[place] for place in np.random.default_rng(1).permutation(len(rows))]


ORDERS: dict[str, Callable[[list[Row]], list[Row]]] = {
    "by joint": lambda rows: sorted(rows, key=lambda row: row["joint"]),
    "by robot, from the last": lambda rows: sorted(rows, key=lambda row: row["robot"], reverse=True),
    "newest first": lambda rows: rows[::-1],
    # as text, 10 is before 2
    "by step": lambda rows: sorted(rows, key=lambda row: row["step"]),
    "by effort": lambda rows: sorted(rows, key=lambda row: float(row["applied_efforts"])),
    "shuffled": shuffled,
}


@cases("extension", "csv", "parquet")
@cases("order", *ORDERS)
def test_order_of_lines_does_not_matter(tmp_path, extension, order) -> None:
    require_same(Recording.load(rewritten(tmp_path / f"log.{extension}", ORDERS[order])), recorded())


@cases("order", *ORDERS)
def test_table_of_an_earlier_version_is_sorted_by_names(tmp_path, order) -> None:
    back, log = Recording.load(rewritten(tmp_path / "log.csv", ORDERS[order], without=NUMBERS)), recorded()
    assert sorted(back.robots) == log.robots and sorted(back.joints) == sorted(log.joints)
    rows, columns = [back.robots.index(name) for name in log.robots], [back.joints.index(name) for name in log.joints]
    np.testing.assert_array_equal(back.applied_efforts[:, rows][:, :, columns], log.applied_efforts)
    np.testing.assert_array_equal(back.max_efforts[np.ix_(rows, columns)], log.max_efforts)


def test_robots_of_one_name_stay_apart(tmp_path) -> None:
    log = Recording.load(rewritten(tmp_path / "log.csv", lambda rows: [{**row, "robot": "arm"} for row in rows[::-1]]))
    assert log.robots == ["arm", "arm"]
    np.testing.assert_array_equal(log.positions, recorded().positions)


def test_part_of_a_table_is_a_recording(tmp_path) -> None:
    def filtered(rows: list[Row]) -> list[Row]:
        rows = [row for row in rows if row["joint"] == "hip" and int(row["step"]) > 6]
        return [{**row, **{name: f"{row[name]}.0" for name in NUMBERS}} for row in rows]

    log = Recording.load(rewritten(tmp_path / "log.csv", filtered))
    assert (log.joints, log.robots) == (["hip"], recorded().robots)
    np.testing.assert_array_equal(log.positions, recorded().positions[7:, :, 1:2])
    np.testing.assert_array_equal(log.max_efforts, recorded().max_efforts[:, 1:2])


@cases("extension", "csv", "parquet")
def test_missing_line_is_told_by_name(tmp_path, extension) -> None:
    path = rewritten(tmp_path / f"log.{extension}", lambda rows: shuffled(rows[:9] + rows[11:]))
    said = r"has no line of time = 0.01, robot = 'robot 1', joint = 'knee', 2 of 66 are missing: each step, robot and"
    refused(ValueError, lambda: Recording.load(path), rf"log\.{extension} {said}")


@cases("extension", "csv", "parquet")
@cases("gap", False, True)
def test_line_that_comes_twice_is_told_by_name(tmp_path, extension, gap) -> None:
    path = rewritten(tmp_path / f"log.{extension}", lambda rows: shuffled([*rows[gap:], rows[10]]))
    said = r"has time = 0.01, robot = 'robot 1', joint = 'hip' in more than one line: each step, robot and joint must"
    refused(ValueError, lambda: Recording.load(path), rf"log\.{extension} {said}")


@cases(
    "change, message",
    (lambda rows: [{**row, "step": "nan"} for row in rows], "step is no number in some lines"),
    (lambda rows: [{**row, "time": "x"} for row in rows], "could not convert string to float"),
    (lambda rows: [{**row, "faults": "nan"} for row in rows], "faults are no whole numbers from 0 to 255"),
    (lambda rows: [{**row, "robot": row["robot"] + row["time"]} for row in rows], "has no line of"),
)
def test_columns_that_say_nothing_are_refused(tmp_path, change, message) -> None:
    refused(ValueError, lambda: Recording.load(rewritten(tmp_path / "log.csv", change)), rf"log\.csv.*{message}.*must")


@cases(
    "name, data, said",
    ("log.csv", b"\xff\xfe\x00", "can't decode"),
    ("log.csv", b'"' + b"x" * 200_000, "field larger than field limit"),
    ("log.csv", b"time,robot,joint,dt,max_effort\n0,a\n", "zip"),
    ("log.csv", b"", "has no time, robot, joint, dt, max_effort"),
    ("log.parquet", b"PAR1", "Parquet"),
)
def test_file_of_another_kind_is_refused(tmp_path, name, data, said) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", exc_type=ImportError)
    (tmp_path / name).write_bytes(data)
    refused(ValueError, lambda: Recording.load(tmp_path / name), rf"{name}.*{said}.*must be what Recording.save wrote")
