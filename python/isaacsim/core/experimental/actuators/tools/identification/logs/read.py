"""`read_logs`: logs of robots in files of all formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ....specs.arguments import names_of, path_of, require_file
from ....specs.lerobot import ServoCalibration, load_lerobot_calibration
from ...recording.bags import METADATA
from ...recording.files import Found, Subject
from ...recording.tables import parquet_columns, recording_of
from ..log import REQUIRED, MotorLog
from .asked import Asked, pairs_of
from .lerobot import INFO, read_dataset
from .ros_bag import read_bag
from .table import RULE, Table, read_csv, read_npz, wide, widened, with_columns

_Read = Callable[[Path, Asked], list[MotorLog]]
"""Reads a file or folder."""


def read_logs(
    paths: Sequence[str | os.PathLike[str]],
    joints: Sequence[str],
    robot: int | None = None,
    *,
    topics: Sequence[str] = (),
    units: Sequence[str] = (),
    calibration: str | os.PathLike[str] | Mapping[str, ServoCalibration] | None = None,
    columns: Sequence[str] = (),
) -> list[MotorLog]:
    """Read logs of a robot.

    A table has a row per sample and columns `time`, `<joint>/command`, `<joint>/position` and optionally other signals,
    such as `<joint>/velocity`; see `MotorLog` for names and units. Units may follow a name, as in `time [s]`. For a
    robot of one joint the name of the joint may be left out. Columns that are not read are listed in a warning. A table
    may also have a row per sample and joint, with columns `time`, `joint`, `command`, `position`.

    - `.csv`: a table with one line of names. Lines before it that start with `#`, such as `# kp = 400`, are settings.
    - `.npz`: columns by name, or `time`, `joints` (names) and matrices `(samples, joints)` by signal. Scalars are
      settings.
    - `.parquet`: a table.
    - A file that `Recording.save` wrote, in one of these formats: `position_targets` are the command, `motor_efforts`
      the effort, `supply_voltages` the volts and `winding_temperatures` the temperature. Electrical and thermal signals
      that are 0 throughout, as for motors without such a law, are left out.
    - A ROS 2 bag, the folder with `metadata.yaml` or a file `.mcap` or `.db3`: positions of a topic of joint states,
      and commands of another one, of a trajectory controller or of an array. Each command holds until the next one.
    - The folder of a dataset of LeRobot, with `meta/info.json`: a log per episode, with actions as commands.

    Args:
        paths: Files and folders, or one path.
        joints: Names of the joints of the robot. A log has those of them that are in its file, in this order.
        robot: Index of the robot in recordings of several; None means the only one.
        topics: Topics of ROS 2 bags, `command=/x` and `position=/y`. A topic with an array needs the joints of its
            numbers, `command=/x:hip,knee`. Empty if the bag has one topic for each.
        units: Unit of all positions of datasets of LeRobot, such as `degrees`, and of single joints, such as
            `gripper=percent`: `radians`, `degrees`, or with a calibration also `normalized`, `percent` and `ticks`.
        calibration: Calibration of the servos of a dataset: a file of LeRobot, or its content by joint.
        columns: Columns of tables with other names or units, `time=t_ms:ms`, `position=pos:deg` of a single joint,
            `hip/position=q1:deg`, or for each joint `position=pos_{joint}:deg`; an empty name is the usual one, as in
            `time=:ms`. In a table with a row per sample and joint also `joint=servo`. Units are s, ms, us, ns; rad,
            deg, mrad, rev, m, cm, mm; rad/s, deg/s, rpm, m/s, cm/s, mm/s; Nm, mNm, N; A, mA; V, mV; %.

    Returns:
        The logs, in the order of the paths.

    Raises:
        ValueError: There is no path; a format is unknown; a file has none of the joints, or lacks a required column; a
            cell is empty or not a number; a recording has several robots and `robot` is None; `columns` names
            what is not there; topics or units are ambiguous; no file uses a given option; or a log is invalid, see
            `MotorLog`.
        OSError: A file is missing or cannot be read.
        ModuleNotFoundError: The library of a format is missing.

    Example:
        >>> import tempfile
        >>> text = "# kp = 400\\ntime,hip/command,hip/position\\n0.00,0.1,0.0\\n0.01,0.1,0.02\\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "log.csv"
        ...     written = path.write_text(text)
        ...     (log,) = read_logs([path], ["hip", "knee"])
        >>> log.joints, log.position[:, 0], log.settings
        (('hip',), array([0.  , 0.02]), {'kp': 400.0})
    """
    files = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not files:
        raise ValueError("paths = []: must have one at least. Give the path of a log.")
    given = path_of("calibration", calibration) if isinstance(calibration, (str, os.PathLike)) else calibration or {}
    asked = Asked(
        names_of("joints", joints),
        robot,
        pairs_of("topics", names_of("topics", topics)),
        pairs_of("units", names_of("units", units)),
        load_lerobot_calibration(given) if isinstance(given, Path) else given,
        pairs_of("columns", names_of("columns", columns)),
    )
    wanted = [path_of("paths", path) for path in files]
    readers = [_reader(path) for path in wanted]
    _require_use(asked, readers)
    return [log for path, read in zip(wanted, readers, strict=True) for log in read(path, asked)]


def _reader(path: Path) -> _Read:
    """Return what reads a file or folder."""
    folder = path.is_dir()
    found = next((read for mark, read in _FOLDERS.items() if (path / mark).exists()), None) if folder else None
    found = found or (None if folder else _FILES.get(path.suffix.lower()))
    if found is None:
        marks = " or ".join(_FOLDERS)
        rule = f"must end with {', '.join(_FILES)}, or be a folder with {marks}"
        raise ValueError(f"{path}: {rule}. Convert the log to one of them.")
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file. Give the path of a log.")
    require_file(path)
    return found


def _require_use(asked: Asked, readers: Sequence[_Read]) -> None:
    """Raise for options that no file has a use for."""
    for name, read, what in (
        ("topics", read_bag, "ROS 2 bag"),
        ("units", read_dataset, "dataset of LeRobot"),
        ("calibration", read_dataset, "dataset of LeRobot"),
        ("columns", _read_table, "table, .csv, .npz or .parquet"),
    ):
        if getattr(asked, name) and read not in readers:
            raise ValueError(f"{name}: must be given with a {what}, and no log is one. Leave it out.")


def _read_table(path: Path, asked: Asked) -> list[MotorLog]:
    """Return the log in a table or a recording."""
    found = _TABLES[path.suffix.lower()](path)
    if asked.columns and (not isinstance(found, Table) or "robot" in found.columns):
        raise ValueError(f"{path}: columns: must not be given for a recording of this package. Leave them out.")
    if not isinstance(found, Table):
        return [recorded(path, found, {}, asked)]
    found = with_columns(found, asked)
    if "joint" not in found.columns:
        return [wide(found, asked.joints)]
    if "robot" in found.columns:
        return [recorded(path, recording_of(path, found.columns), found.settings, asked)]
    return [wide(widened(found, asked.joints), asked.joints)]


def _read_parquet(path: Path) -> Table:
    return Table(path, parquet_columns(path, RULE))


_TABLES: dict[str, Callable[[Path], Table | Found]] = {".csv": read_csv, ".npz": read_npz, ".parquet": _read_parquet}

_FILES: dict[str, _Read] = {**dict.fromkeys(_TABLES, _read_table), ".mcap": read_bag, ".db3": read_bag}
# by a file in them
_FOLDERS: dict[str, _Read] = {METADATA: read_bag, INFO: read_dataset}


# logs in recordings of this package

RECORDED = {
    "command": ("position_targets",),
    "position": ("positions", "measured_positions"),
    "velocity": ("velocities", "measured_velocities"),
    "effort": ("motor_efforts", "applied_efforts"),
    "current": ("currents",),
    "volts": ("supply_voltages",),
    "temperature": ("winding_temperatures",),
}
"""Signals of recordings for each signal of a log, the best one first; drivers report efforts without friction."""

_ELECTRICAL = ("current", "volts", "temperature")


def recorded(path: Path, found: Found, settings: Mapping[str, float], asked: Asked) -> MotorLog:
    """Return the log of a robot of a recording."""
    steps, subject, arrays = found
    robot = _robot(path, subject, asked.robot)
    there = [joint for joint in asked.joints if joint in subject.joints]
    if not there:
        rule = f"must have some of {', '.join(asked.joints)}. Rename them, or choose the robot of this log"
        raise ValueError(f"{path} has joints {', '.join(subject.joints)}: {rule}.")
    columns = [subject.joints.index(joint) for joint in there]
    signals = {}
    for name, choices in RECORDED.items():
        array = _array(path, arrays, name, choices)
        # joints without electrical and thermal laws have 0
        if array is not None and (name not in _ELECTRICAL or array.any()):
            signals[name] = array[:, robot, columns]
    return MotorLog(np.r_[0.0, np.cumsum(steps)][:-1], there, signals, str(path), settings)


def _robot(path: Path, subject: Subject, robot: int | None) -> int:
    numbers = range(len(subject.robots))
    if robot is None and len(numbers) == 1:
        return 0
    if robot is None or robot not in numbers:
        listed = ", ".join(f"{number} ({subject.robots[number]})" for number in numbers[:10])
        raise ValueError(
            f"{path}: robot = {robot}: must be the number of one of {listed}. Give robot=0 for the first; the command "
            "has --robot-index 0."
        )
    return robot


def _array(path: Path, arrays: Mapping[str, np.ndarray], name: str, choices: Sequence[str]) -> np.ndarray | None:
    """Return the array of a signal, None if it was not recorded."""
    found = next((arrays[one] for one in choices if one in arrays), None)
    if found is None and name in REQUIRED:
        raise ValueError(f"{path} has no {choices[0]}: must have it. Ask for it by record(signals=…).")
    return found
