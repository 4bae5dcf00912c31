"""Recordings as tables in CSV and Parquet files: a line per step, robot and joint, in any order.

Columns `time`, `robot` and `joint` are labels of `step`, `robot_index` and `joint_index`, by which lines are sorted;
labels may be equal. Tables of earlier versions lack the numbers: their robots and joints have the order of their first
lines.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from ...base.extras import needs
from ...engine.recorded_signals import FLAGS
from ..contents import require_plain
from .files import REMEDY, Found, Subject

_T = TypeVar("_T")
# label and number of each axis of a recording
_AXES = {"time": "step", "robot": "robot_index", "joint": "joint_index"}
_REQUIRED = (*_AXES, "dt", "max_effort")


def save_csv(path: Path, steps: np.ndarray, subject: Subject, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a table."""
    table = _table(steps, subject, arrays)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        # the fewest digits that give the same number
        writer.writerows(zip(*([str(value) for value in column] for column in table.values()), strict=True))


def load_csv(path: Path) -> Found:
    """Read what `save_csv` wrote; ValueError if it is something else, or a line is missing or comes twice."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            # spreadsheets leave empty lines
            names, *lines = [line for line in csv.reader(file) if line] or [[]]
        columns = dict(zip(names, zip(*lines, strict=True) if lines else ((),) * len(names), strict=True))
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: {error}: {REMEDY}") from None
    return recording_of(path, columns)


def save_parquet(path: Path, steps: np.ndarray, subject: Subject, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a table; ModuleNotFoundError if pyarrow is missing."""
    arrow = _arrow()
    arrow.parquet.write_table(arrow.table(_table(steps, subject, arrays)), path)


def load_parquet(path: Path) -> Found:
    """Read what `save_parquet` wrote."""
    return recording_of(path, parquet_columns(path, REMEDY))


def parquet_columns(path: Path, rule: str, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """Return the columns of a Parquet file by name."""
    arrow = _arrow()
    with path.open("rb") as file:
        try:
            parquet = arrow.parquet.ParquetFile(file)
            wanted = None if names is None else [name for name in names if name in parquet.schema_arrow.names]
            table = parquet.read(wanted)
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(f"{path}: {error!s:.300}: {rule}") from None
    columns = zip(table.column_names, table.columns, strict=True)
    return {name: column.to_numpy() for name, column in columns}


def _arrow() -> ModuleType:
    with needs("A Parquet file", "parquet"):
        import pyarrow  # pyright: ignore[reportMissingImports]
        import pyarrow.parquet  # pyright: ignore[reportMissingImports]
    return pyarrow


def _table(steps: np.ndarray, subject: Subject, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return columns by name, a line per step, robot and joint."""
    shape = len(steps), len(subject.robots), len(subject.joints)

    def along(values: Sequence[str] | np.ndarray, axis: int) -> np.ndarray:
        places = [1, 1, 1]
        places[axis] = -1
        return np.broadcast_to(np.reshape(values, places), shape).ravel()

    words = zip(_AXES, (arrays["time"], subject.robots, subject.joints), strict=True)
    return {
        **{name: along(values, axis) for axis, (name, values) in enumerate(words)},
        **{name: array.ravel() for name, array in arrays.items() if name != "time"},
        "max_effort": np.broadcast_to(subject.max_efforts, shape).ravel(),
        "dt": along(steps, 0),
        **{name: along(np.arange(shape[axis]), axis) for axis, name in enumerate(_AXES.values())},
    }


def recording_of(path: Path, columns: Mapping[str, Any]) -> Found:
    """Return the recording in columns, whose lines are in any order."""
    if missing := [name for name in _REQUIRED if name not in columns]:
        raise ValueError(f"{path} has no {', '.join(missing)}: {REMEDY}")
    try:
        labels, places = zip(*(_axis(columns, *names) for names in _AXES.items()), strict=True)
        signals = {name: _read(name, columns[name]) for name in columns.keys() - {*_AXES, *_AXES.values()}}
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}: {REMEDY}") from None
    order = np.lexsort(places[::-1])
    _require_each_once(path, labels, np.array(places)[:, order])
    shape = tuple(map(len, labels))
    arrays = {name: values[order].reshape(shape) for name, values in signals.items()}
    steps, limits = arrays.pop("dt"), arrays.pop("max_effort")
    max_efforts = limits[0] if len(limits) else np.zeros(shape[1:], np.float32)
    clamps = {*arrays["limited_by"].ravel().tolist()} if "limited_by" in arrays else set()
    subject = Subject(tuple(labels[1]), tuple(labels[2]), ("", *sorted(clamps - {""})), max_efforts)
    return steps[:, :1, :1].ravel(), subject, arrays


def _axis(columns: Mapping[str, Sequence[object]], name: str, number: str) -> tuple[list[Any], list[int]]:
    """Return the values along an axis, in order, and the place of each line among them."""
    for numeric in {number, "time"} & columns.keys():
        require_plain(columns[numeric])
    words: Sequence[Any] = np.array(columns[name], float).tolist() if name == "time" else list(map(str, columns[name]))
    if number in columns:
        numbers = np.array(columns[number], float).tolist()
    elif name == "time":
        number, numbers = name, words
    else:
        first = _numbered(dict.fromkeys(words))
        numbers = [first[word] for word in words]
    if not np.isfinite(np.array(numbers, float)).all():
        raise ValueError(f"{number} is no number in some lines")
    pairs = list(zip(numbers, words, strict=True))
    places = _numbered(sorted(set(pairs)))
    return [word for _, word in places], [places[pair] for pair in pairs]


def _numbered(values: Iterable[_T]) -> dict[_T, int]:
    return {value: number for number, value in enumerate(values)}


def _require_each_once(path: Path, labels: Sequence[Sequence[object]], places: np.ndarray) -> None:
    """Raise unless a table has each line once; `places` are those of its lines, `(axes, lines)`, sorted."""

    def label(place: Sequence[int]) -> str:
        time, robot, joint = (words[at] for words, at in zip(labels, place, strict=True))
        return f"time = {time:g}, robot = {robot!r}, joint = {joint!r}"

    rule = "each step, robot and joint must have one. Save the recording again."
    twice = np.flatnonzero((places[:, 1:] == places[:, :-1]).all(axis=0))
    if len(twice):
        raise ValueError(f"{path} has {label(places[:, twice[0]].tolist())} in more than one line: {rule}")
    _, robots, joints = map(len, labels)
    whole = len(labels[0]) * robots * joints
    count = np.arange(places.shape[1])
    if len(count) != whole:
        expected = np.array([count // (robots * joints), count // joints % robots, count % joints])
        gaps = np.flatnonzero((places != expected).any(axis=0))
        first = int(gaps[0]) if len(gaps) else len(count)
        place = first // (robots * joints), first // joints % robots, first % joints
        raise ValueError(f"{path} has no line of {label(place)}, {whole - len(count)} of {whole} are missing: {rule}")


def _read(name: str, column: Sequence[object]) -> np.ndarray:
    """Return the values of a column in their original type."""
    if name == "limited_by":
        return np.array(column, str)
    if name not in FLAGS:
        require_plain(column)
    if name == "dt":
        return np.array(column, float)
    if name in FLAGS:
        # spreadsheets write capitals
        return np.array([str(value).lower() == "true" for value in column])
    if name == "faults":
        numbers = np.array(column, float)
        if not np.isin(numbers, np.arange(256)).all():
            raise ValueError("faults are no whole numbers from 0 to 255")
        return numbers.astype(np.uint8)
    # numbers beyond single precision are infinite
    with np.errstate(over="ignore"):
        return np.array(column, np.float32)
