"""Tables of logs: CSV and NPZ files, with a row per sample or per sample and joint, and names and units of columns."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ....base.callers import level_outside
from ...contents import arrays_in, require_plain
from ...recording.files import Found, load_npz
from ..log import REQUIRED, SIGNALS, UNITS, MotorLog
from .asked import Asked

RULE = "must be a table of numbers by column. Export the log again."
"""End of errors of files that are no tables."""

_TIMES = ("time", "time [s]")
_SWITCHES = {"true": 1.0, "false": 0.0}


class Source(NamedTuple):
    """A column in the file: its name, and what one of its unit is in SI."""

    name: str
    unit: float


@dataclass(frozen=True)
class Table:
    """Columns of a file by name, as they stand there, and values of parameters during the log.

    `places` say where each row stands, such as `line 3`; empty for `row 0` and so on. `skipped` was not understood, and
    `sources` are columns that the file has under another name or in another unit, by name here.
    """

    path: Path
    columns: Mapping[str, Sequence[object] | np.ndarray]
    settings: Mapping[str, float] = field(default_factory=dict)
    places: Sequence[str] = ()
    skipped: Sequence[str] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)

    @property
    def time(self) -> str:
        """Name of the column of times."""
        if (found := next((name for name in _TIMES if name in self.columns), None)) is None:
            listed = ", ".join(self.columns) or "none"
            raise ValueError(f"{self.path} has columns {listed}: must have time. Add it, or give columns.")
        return found

    def numbers(self, name: str, rows: np.ndarray | None = None) -> np.ndarray:
        """Return a column as numbers, in SI."""
        column, source = self.columns[name], self.sources.get(name, Source(name, 1.0))
        at = range(len(column)) if rows is None else rows.tolist()
        cells = column if rows is None else [column[row] for row in at]
        try:
            require_plain(cells)
            numbers = np.array(cells, np.float64)
        except (ValueError, TypeError):
            numbers = np.array([number_of(cell) for cell in cells])
        if numbers.ndim != 1:
            raise ValueError(
                f"{self.path}: {source.name} has shape {numbers.shape}: must be (samples,). Give a column."
            )
        if len(bad := np.flatnonzero(~np.isfinite(numbers))):
            row = at[int(bad[0])]
            place = self.places[row] if self.places else f"row {row}"
            raise ValueError(
                f"{self.path}, {place}, column {source.name} = {column[row]}: must be a finite number. Cut the "
                "log there, or repair it."
            )
        return numbers * source.unit


def number_of(cell: object) -> float:
    """Return a cell as a number: 1 and 0 for true and false, NaN for other words."""
    text = str(cell).strip().lower()
    try:
        require_plain([text])
        return _SWITCHES[text] if text in _SWITCHES else float(text)
    except ValueError:
        return math.nan


def split_settings(words: Mapping[str, object]) -> tuple[dict[str, float], list[str]]:
    """Return settings that are numbers, by name, and the names of the others."""
    numbers = {name: number_of(value) for name, value in words.items()}
    finite = {name: value for name, value in numbers.items() if math.isfinite(value)}
    return finite, [name for name in words if name not in finite]


def column_of(names: Iterable[str], prefix: str, signal: str) -> str:
    """Return the column of a signal, such as `hip/position` or `hip/position [rad]`; empty if there is none."""
    plain = f"{prefix}{signal}"
    spelled = (plain, *(f"{plain} [{unit}]" for unit in SIGNALS[signal].split(" or ")))
    return next((name for name in spelled if name in names), "")


def _column_at(names: Iterable[str], joint: str, signal: str, joints: Sequence[str]) -> str:
    """Return the column of a signal of a joint; a single joint of the robot needs no name."""
    return column_of(names, f"{joint}/", signal) or column_of(names, "", signal) * (len(joints) == 1)


# tables in CSV files, with settings in lines before the names

_SETTING = re.compile(r"#\s*([^\W\d]\w*)\s*=\s*(\S+)\s*$")

_Line = tuple[int, list[str]]
"""Number of a line and its cells."""


def read_csv(path: Path) -> Table:
    """Read a table with a line of names, after lines that start with `#`."""
    lines = _lines(path)
    start = next((row for row, (_, line) in enumerate(lines) if not line[0].startswith("#")), len(lines))
    settings, skipped = _settings(lines[:start])
    names = _names(path, lines[start][1] if start < len(lines) else [])
    body = lines[start + 1 :]
    for number, line in body:
        if len(line) != len(names):
            raise ValueError(
                f"{path}, line {number} has {len(line)} cells: must have {len(names)}, one per column from {names[0]} "
                f"to {names[-1]}, with commas between. Cut the log there, or repair it."
            )
    columns = zip(*(line for _, line in body), strict=True) if body else [()] * len(names)
    places = [f"line {number}" for number, _ in body]
    return Table(path, dict(zip(names, columns, strict=True)), settings, places, skipped)


def _lines(path: Path) -> list[_Line]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True)
            # spreadsheets leave empty lines
            return [(reader.line_num, line) for line in reader if line]
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: {error}: {RULE}") from None


def _settings(lines: Sequence[_Line]) -> tuple[dict[str, float], list[str]]:
    """Return settings by name, and the lines of those that are no numbers."""
    found = (_SETTING.match(",".join(line).rstrip(",")) for _, line in lines)
    words = {one[1]: one[2] for one in found if one}
    settings, skipped = split_settings(words)
    return settings, [f"# {name} = {words[name]}" for name in skipped]


def _names(path: Path, cells: Sequence[str]) -> list[str]:
    names = [name.strip() for name in cells]
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise ValueError(f"{path} has {', '.join(twice)} in several columns: must be in one. Drop the others.")
    return names


# arrays in NPZ files: columns by name, or a matrix per signal with the names of its joints


def read_npz(path: Path) -> Table | Found:
    """Read columns, or matrices `(samples, joints)` and `joints`; scalars are settings."""
    arrays = arrays_in(path, RULE)
    if "clamps" in arrays:
        return load_npz(path)
    scalars = {name: arrays.pop(name) for name in list(arrays) if not arrays[name].ndim}
    settings, skipped = split_settings(scalars)
    joints = [str(name) for name in arrays.pop("joints", np.zeros(0)).ravel()]
    return Table(path, _columns(path, arrays, joints) if joints else arrays, settings, skipped=skipped)


def _columns(path: Path, arrays: dict[str, np.ndarray], joints: Sequence[str]) -> dict[str, np.ndarray]:
    """Return arrays with a column per joint instead of each matrix of a signal."""
    for name in (name for name in SIGNALS if name in arrays):
        matrix = arrays.pop(name)
        if matrix.ndim != 2 or matrix.shape[1] != len(joints):
            raise ValueError(
                f"{path}: {name} has shape {matrix.shape}: must be (samples, {len(joints)}), a column per joint of "
                f"{', '.join(joints)}. Transpose or cut it."
            )
        arrays.update({f"{joint}/{name}": matrix[:, column] for column, joint in enumerate(joints)})
    return arrays


# columns of tables under other names and in other units, made what `wide` and `widened` read

_QUANTITIES = {"time": "s", "joint": None, **SIGNALS}
"""Unit of what a column may be; None for words."""
_ANY_JOINT = "{joint}"


def with_columns(table: Table, asked: Asked) -> Table:
    """Return a table with columns under the names of logs, in SI."""
    if not asked.columns:
        return table
    sources = _asked_sources(table, asked)
    taken = {source.name for source in sources.values()}
    rest = {name: column for name, column in table.columns.items() if name not in taken and name not in sources}
    hidden = [name for name in table.columns if name in sources and name not in taken]
    columns = {**rest, **{target: table.columns[source.name] for target, source in sources.items()}}
    return dataclasses.replace(table, columns=columns, sources=sources, skipped=[*table.skipped, *hidden])


def _asked_sources(table: Table, asked: Asked) -> dict[str, Source]:
    """Return the columns that were asked for, by the names that logs have for them."""
    is_long = "joint" in table.columns or "joint" in asked.columns
    sources: dict[str, Source] = {}
    for key, word in asked.columns.items():
        quantity = _quantity(key, asked)
        name, unit = _split(word, quantity)
        found = _names_in(table, key, name, is_long, asked)
        if not found:
            units = "" if quantity is None else f", and its unit one of {', '.join(UNITS[quantity])}"
            listed = ", ".join(table.columns) or "none"
            raise ValueError(
                f"{table.path} has columns {listed}: columns {key} = {word}: must be one of them{units}. Correct it."
            )
        sources |= {target: Source(source, unit) for target, source in found.items()}
    return sources


def _quantity(key: str, asked: Asked) -> str | None:
    """Return the unit in a log of what a column is."""
    joint, _, signal = key.rpartition("/")
    if signal not in _QUANTITIES or (joint and (joint not in asked.joints or signal not in SIGNALS)):
        known = f"{', '.join(_QUANTITIES)}, or a signal of a joint such as {asked.joints[0]}/position"
        raise ValueError(f"columns {key}: must be {known}, of {', '.join(asked.joints)}. Correct it.")
    return _QUANTITIES[signal]


def _split(word: str, quantity: str | None) -> tuple[str, float]:
    """Return name and unit of a column; what follows a colon and is no unit is part of the name."""
    name, _, unit = word.rpartition(":")
    known: Mapping[str, float] = {} if quantity is None else UNITS[quantity]
    return (name, known[unit]) if unit in known and ":" in word else (word, 1.0)


def _names_in(table: Table, key: str, name: str, is_long: bool, asked: Asked) -> dict[str, str]:
    """Return the columns of a table for an entry, by the names that logs have for them."""
    joint, _, signal = key.rpartition("/")
    if signal not in SIGNALS:
        named = {key: name or next((usual for usual in (key, f"{key} [s]") if usual in table.columns), "")}
    elif is_long:
        named = {} if joint else {signal: name or column_of(table.columns, "", signal)}
    else:
        named = _names_by_joint(table, key, name, asked.joints)
    return {target: source for target, source in named.items() if source in table.columns}


def _names_by_joint(table: Table, key: str, name: str, joints: Sequence[str]) -> dict[str, str]:
    """Return the columns of a table with a row per sample, of one joint or of each, by the names of logs."""
    joint, _, signal = key.rpartition("/")
    own = (joint,) if joint else joints
    if name and len(own) > 1 and _ANY_JOINT not in name:
        raise ValueError(
            f"columns {key} = {name}: must tell its joint. Give {own[0]}/{signal}={name}, or {_ANY_JOINT} in "
            "the name for that of each joint."
        )
    return {
        f"{one}/{signal}": name.replace(_ANY_JOINT, one) or _column_at(table.columns, one, signal, joints)
        for one in own
    }


# tables with a row per sample and joint: `time`, `joint`, `command`, `position` and others


def widened(table: Table, joints: Sequence[str]) -> Table:
    """Return a table with a row per sample and joint as one with a row per sample."""
    time, rows = table.time, _rows(table, joints)
    names = [name for signal in SIGNALS if (name := column_of(table.columns, "", signal))]
    times = {joint: table.numbers(time, here) for joint, here in rows.items()}
    first = next(iter(times))
    for joint, one in times.items():
        if not np.array_equal(one, times[first]):
            raise ValueError(
                f"{table.path}: {joint} has {len(one)} times, {first} has {len(times[first])}, and they are not those: "
                "each sample must have a row of each joint. Export the log again."
            )
    columns = {f"{joint}/{name}": table.numbers(name, here) for name in names for joint, here in rows.items()}
    unread = [name for name in table.columns if name not in (time, "joint", *names)]
    return Table(table.path, {time: times[first], **columns}, table.settings, skipped=[*table.skipped, *unread])


def _rows(table: Table, joints: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the rows of each joint of the robot that is in a table."""
    words = np.array([str(word).strip() for word in table.columns["joint"]], str)
    rows = {joint: np.flatnonzero(words == joint) for joint in joints if joint in words}
    if not rows:
        rule = f"must have some of {', '.join(joints)}. Rename them, or choose the robot of this log"
        raise ValueError(f"{table.path} has joints {', '.join(dict.fromkeys(words.tolist()))}: {rule}.")
    return rows


# tables with a row per sample, and a column per signal and joint

_Places = dict[tuple[str, str], str]
"""Column of each joint and signal."""


def wide(table: Table, joints: Sequence[str]) -> MotorLog:
    """Return the log in a table with a row per sample; a warning names what is not read."""
    time, places = table.time, _places(table.columns, joints)
    there = _joints(table, places, joints)
    names = [name for name in SIGNALS if all((joint, name) in places for joint in there)]
    used = {time, *(places[joint, name] for joint in there for name in names)}
    if unread := [*table.skipped, *(name for name in table.columns if name not in used)]:
        rule = "must be names of joints of the robot and of signals, and a signal of all joints to be read"
        warnings.warn(f"{table.path}: {', '.join(unread)}: not read: {rule}.", stacklevel=level_outside())
    numbers = table.numbers(time)
    signals = {name: _matrix(table, [places[joint, name] for joint in there], len(numbers)) for name in names}
    return MotorLog(numbers, there, signals, str(table.path), table.settings)


def _places(names: Mapping[str, object], joints: Sequence[str]) -> _Places:
    """Return the columns of joints and signals that are there."""
    places: _Places = {}
    for joint, signal in itertools.product(joints, SIGNALS):
        if column := _column_at(names, joint, signal, joints):
            places[joint, signal] = column
    return places


def _joints(table: Table, places: _Places, joints: Sequence[str]) -> list[str]:
    """Return the joints of the robot that are in a table."""
    known = {joint for joint, _ in places}
    there = [joint for joint in joints if joint in known]
    if not there:
        rule = f"must have joint/command and joint/position of some of {', '.join(joints)}. Rename, or give columns"
        raise ValueError(f"{table.path} has columns {', '.join(table.columns)}: {rule}.")
    if missing := [f"{joint}/{name}" for joint in there for name in REQUIRED if (joint, name) not in places]:
        rule = f"must have each of {', '.join(there)}. Add it, or give columns"
        raise ValueError(f"{table.path} has no {', '.join(missing)}: {rule}.")
    return there


def _matrix(table: Table, names: Sequence[str], rows: int) -> np.ndarray:
    """Return columns side by side."""
    columns = [table.numbers(name) for name in names]
    for name, one in zip(names, columns, strict=True):
        if len(one) != rows:
            raise ValueError(
                f"{table.path}: {name} has {len(one)} rows: must have {rows}, as time has. Cut them alike."
            )
    return np.stack(columns, axis=1)
