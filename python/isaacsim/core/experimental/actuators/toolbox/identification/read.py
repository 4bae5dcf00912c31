"""Logs of robots in files: tables with a column per signal and joint, and recordings of this package."""

from __future__ import annotations

import csv
import math
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...callers import level_outside
from ...specs.arguments import names_of, path_of, require_file
from ..recording.files import Found, load_npz
from ..recording.tables import parquet_columns, recording_of
from .log import REQUIRED, SIGNALS, MotorLog

_RULE = "must be a table of numbers by column. Export the log again."
_TIMES = ("time", "time [s]")
_SETTING = re.compile(r"#\s*([^\W\d]\w*)\s*=\s*(\S+)\s*$")
_SWITCHES = {"true": 1.0, "false": 0.0}
# signals of recordings, the best one first; drivers report the effort of the motor, without friction
_RECORDED = {
    "command": ("position_targets",),
    "position": ("positions", "measured_positions"),
    "velocity": ("velocities", "measured_velocities"),
    "effort": ("motor_efforts", "applied_efforts"),
    "current": ("currents",),
    "volts": ("supply_voltages",),
    "temperature": ("winding_temperatures",),
}


@dataclass(frozen=True)
class _Table:
    """Columns of a file by name, as they stand there.

    Args:
        path: The file.
        columns: Texts or numbers by the name of the column.
        settings: Values of parameters during the log.
        places: Where each row stands in the file, such as `line 3`; empty for `row 0` and so on.
        skipped: What was not understood.
    """

    path: Path
    columns: Mapping[str, Sequence[Any] | np.ndarray]
    settings: Mapping[str, float] = field(default_factory=dict)
    places: Sequence[str] = ()
    skipped: Sequence[str] = ()

    def numbers(self, name: str) -> np.ndarray:
        """Return a column as numbers.

        Raises:
            ValueError: A cell is empty or no finite number; the error has its place.
        """
        cells = self.columns[name]
        try:
            numbers = np.array(cells, np.float64)
        except (ValueError, TypeError):
            numbers = np.array([_number(cell) for cell in cells])
        if numbers.ndim != 1:
            raise ValueError(f"{self.path}: {name} has shape {numbers.shape}: must be (samples,). Give a column.")
        if len(bad := np.flatnonzero(~np.isfinite(numbers))):
            row = int(bad[0])
            place = self.places[row] if self.places else f"row {row}"
            raise ValueError(
                f"{self.path}, {place}, column {name} = {cells[row]}: must be a finite number. Cut the log there, or "
                "repair it."
            )
        return numbers


def read_log(path: str | os.PathLike[str], joints: Sequence[str], robot: int | None = None) -> MotorLog:
    """Read the log of a robot.

    A table has a row per sample and columns `time`, `<joint>/command`, `<joint>/position` and optionally other signals,
    such as `<joint>/velocity`; see `SIGNALS` for names and units. Units may follow a name, as in `time [s]`. For a
    robot of one joint the name of the joint may be left out. Columns that are not read are listed in a warning.

    - `.csv`: a table with one line of names. Lines before it that start with `#`, such as `# kp = 400`, are settings.
    - `.npz`: columns by name, or `time`, `joints` (names) and matrices `(samples, joints)` by signal. Scalars are
      settings.
    - `.parquet`: a table.
    - A file that `Recording.save` wrote, in one of these formats: `position_targets` are the command, `motor_efforts`
      the effort, `supply_voltages` the volts and `winding_temperatures` the temperature. Electrical and thermal signals
      that are 0 throughout, as for motors without such a law, are left out.

    Args:
        path: The file.
        joints: Names of the joints of the robot. The log has those of them that are in the file, in this order.
        robot: Number of the robot in a recording of several.

    Returns:
        The log.

    Raises:
        ValueError: The format is unknown; the file has none of the joints, or lacks a required column; a cell is empty
            or no number; a recording has several robots and none was chosen; or the log is invalid, see `MotorLog`.
        OSError: There is no such file, or it cannot be read.
        ModuleNotFoundError: `.parquet`, and pyarrow is missing.

    Example:
        >>> import tempfile
        >>> text = "# kp = 400\\ntime,hip/command,hip/position\\n0.00,0.1,0.0\\n0.01,0.1,0.02\\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "log.csv"
        ...     written = path.write_text(text)
        ...     log = read_log(path, ["hip", "knee"])
        >>> log.joints, log.position[:, 0], log.settings
        (('hip',), array([0.  , 0.02]), {'kp': 400.0})
    """
    found = path_of("path", path)
    if (read := _READERS.get(found.suffix.lower())) is None:
        raise ValueError(
            f"{path}: must end with {', '.join(_READERS)}. Convert the log, such as a ROS 2 bag, to one of them."
        )
    require_file(found)
    wanted, table = names_of("joints", joints), read(found)
    if isinstance(table, _Table) and not {"robot", "joint"} <= table.columns.keys():
        return _wide(table, wanted)
    settings = table.settings if isinstance(table, _Table) else {}
    recording = recording_of(found, table.columns) if isinstance(table, _Table) else table
    return _recorded(found, recording, settings, wanted, robot)


def read_logs(
    paths: Sequence[str | os.PathLike[str]], joints: Sequence[str], robot: int | None = None
) -> list[MotorLog]:
    """Read several logs of a robot, each as `read_log` does.

    Args:
        paths: The files.
        joints: Names of the joints of the robot.
        robot: Number of the robot in recordings of several.

    Raises:
        ValueError: As for `read_log`; or there is no path.
        OSError: A file is missing or cannot be read.
        ModuleNotFoundError: `.parquet`, and pyarrow is missing.
    """
    files = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not files:
        raise ValueError("paths = []: must have one at least. Give the path of a log.")
    return [read_log(path, joints, robot) for path in files]


def _number(cell: object) -> float:
    """Return a cell as a number, NaN for none."""
    text = str(cell).strip().lower()
    try:
        return _SWITCHES[text] if text in _SWITCHES else float(text)
    except ValueError:
        return math.nan


def _read_csv(path: Path) -> _Table:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True)
            # spreadsheets leave empty lines
            lines = [(reader.line_num, line) for line in reader if line]
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: {error}: {_RULE}") from None
    start = next((row for row, (_, line) in enumerate(lines) if not line[0].startswith("#")), len(lines))
    pairs = [found.groups() for _, line in lines[:start] if (found := _SETTING.match(",".join(line).rstrip(",")))]
    settings = {name: _number(value) for name, value in pairs}
    names = [name.strip() for name in lines[start][1]] if start < len(lines) else []
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise ValueError(f"{path} has {', '.join(twice)} in several columns: must be in one. Drop the others.")
    body = lines[start + 1 :]
    for number, line in body:
        if len(line) != len(names):
            raise ValueError(
                f"{path}, line {number} has {len(line)} cells: must have {len(names)}, one per column from {names[0]} "
                f"to {names[-1]}, with commas between. Cut the log there, or repair it."
            )
    columns = zip(*(line for _, line in body), strict=True) if body else [()] * len(names)
    return _Table(
        path,
        dict(zip(names, columns, strict=True)),
        {name: value for name, value in settings.items() if math.isfinite(value)},
        [f"line {number}" for number, _ in body],
        [f"# {name} = {value}" for name, value in pairs if not math.isfinite(settings[str(name)])],
    )


def _read_npz(path: Path) -> _Table | Found:
    try:
        # arrays of objects are pickles, which run code
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays: dict[str, np.ndarray] = dict(file)
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: {error}: {_RULE}") from None
    if "clamps" in arrays:
        return load_npz(path)
    scalars = {name: arrays.pop(name) for name in list(arrays) if not arrays[name].ndim}
    settings = {name: _number(value) for name, value in scalars.items()}
    joints = [str(name) for name in arrays.pop("joints", np.zeros(0)).ravel()]
    for name in (name for name in SIGNALS if joints and name in arrays):
        matrix = arrays.pop(name)
        if matrix.ndim != 2 or matrix.shape[1] != len(joints):
            raise ValueError(
                f"{path}: {name} has shape {matrix.shape}: must be (samples, {len(joints)}), a column per joint of "
                f"{', '.join(joints)}. Transpose or cut it."
            )
        arrays.update({f"{joint}/{name}": matrix[:, column] for column, joint in enumerate(joints)})
    return _Table(
        path,
        arrays,
        {name: value for name, value in settings.items() if math.isfinite(value)},
        skipped=[name for name, value in settings.items() if not math.isfinite(value)],
    )


def _read_parquet(path: Path) -> _Table:
    return _Table(path, parquet_columns(path, _RULE))


_READERS: dict[str, Callable[[Path], _Table | Found]] = {
    ".csv": _read_csv,
    ".npz": _read_npz,
    ".parquet": _read_parquet,
}


def _wide(table: _Table, joints: Sequence[str]) -> MotorLog:
    """Return the log in a table with a row per sample."""
    path = table.path
    times = [name for name in _TIMES if name in table.columns]
    if not times:
        raise ValueError(f"{path} has columns {', '.join(table.columns) or 'none'}: must have time. Add or rename it.")
    places = _places(table.columns, joints)
    there = [joint for joint in joints if any(joint == one for one, _ in places)]
    if not there:
        rule = f"must have joint/command and joint/position of some of {', '.join(joints)}. Rename columns"
        raise ValueError(f"{path} has columns {', '.join(table.columns)}: {rule}.")
    if missing := [f"{joint}/{name}" for joint in there for name in REQUIRED if (joint, name) not in places]:
        raise ValueError(f"{path} has no {', '.join(missing)}: must have each of {', '.join(there)}. Add or rename it.")
    names = [name for name in SIGNALS if all((joint, name) in places for joint in there)]
    used = {times[0], *(places[joint, name] for joint in there for name in names)}
    if unread := [*table.skipped, *(name for name in table.columns if name not in used)]:
        rule = "must be names of joints of the robot and of signals, and a signal of all joints to be read"
        warnings.warn(f"{path}: {', '.join(unread)}: not read: {rule}.", stacklevel=level_outside())
    time = table.numbers(times[0])
    columns = {name: [table.numbers(places[joint, name]) for joint in there] for name in names}
    for name, each in columns.items():
        for joint, one in zip(there, each, strict=True):
            if len(one) != len(time):
                rule = f"must have {len(time)}, as time has. Cut them alike"
                raise ValueError(f"{path}: {places[joint, name]} has {len(one)} rows: {rule}.")
    signals = {name: np.stack(each, axis=1) for name, each in columns.items()}
    return MotorLog(time, there, signals, str(path), table.settings)


def _places(names: Mapping[str, object], joints: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return the column of each joint and signal that is there."""
    places: dict[tuple[str, str], str] = {}
    for joint in joints:
        for signal, units in SIGNALS.items():
            plain = [f"{joint}/{signal}", *[signal] * (len(joints) == 1)]
            spelled = [one for name in plain for one in (name, *(f"{name} [{unit}]" for unit in units.split(" or ")))]
            if found := [name for name in spelled if name in names]:
                places[joint, signal] = found[0]
    return places


def _recorded(
    path: Path, found: Found, settings: Mapping[str, float], joints: Sequence[str], robot: int | None
) -> MotorLog:
    """Return the log of a robot of a recording."""
    steps, subject, arrays = found
    numbers = range(len(subject.robots))
    if robot not in numbers and not (robot is None and len(numbers) == 1):
        listed = ", ".join(f"{number} ({subject.robots[number]})" for number in numbers[:10])
        raise ValueError(f"{path}: robot = {robot}: must be the number of one of {listed}. Give robot=0 for the first.")
    there = [joint for joint in joints if joint in subject.joints]
    if not there:
        rule = f"must have some of {', '.join(joints)}. Rename them, or choose the robot of this log"
        raise ValueError(f"{path} has joints {', '.join(subject.joints)}: {rule}.")
    columns = [subject.joints.index(joint) for joint in there]
    signals = {}
    for name, choices in _RECORDED.items():
        recorded = next((arrays[one] for one in choices if one in arrays), None)
        if recorded is None and name in REQUIRED:
            raise ValueError(f"{path} has no {choices[0]}: must have it. Ask for it by record(signals=…).")
        # joints without electrical and thermal laws have 0
        if recorded is not None and (name not in ("current", "volts", "temperature") or recorded.any()):
            signals[name] = recorded[:, robot or 0, columns]
    return MotorLog(np.r_[0.0, np.cumsum(steps)][:-1], there, signals, str(path), settings)
