"""Recordings as tables in CSV and Parquet files: a line per step, robot and joint, in any order.

Columns `time`, `robot` and `joint` say in words what `step`, `robot_index` and `joint_index` say in numbers, by which
lines are sorted; names may be alike. Tables of earlier versions lack the numbers: there robots and joints come in the
order of their first lines.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import needs
from .files import Found

_REMEDY = "must be what Recording.save wrote. Choose another."
# each axis of a recording in words and in numbers
_AXES = {"time": "step", "robot": "robot_index", "joint": "joint_index"}
_REQUIRED = (*_AXES, "dt", "max_effort")


def save_csv(path: Path, steps: np.ndarray, subject: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a table."""
    table = _table(steps, subject, arrays)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        # as many digits as give the same number back
        writer.writerows(zip(*([str(value) for value in column] for column in table.values()), strict=True))


def load_csv(path: Path) -> Found:
    """Read what `save_csv` wrote.

    Raises:
        ValueError: It is something else, or a line is missing or comes twice.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            # spreadsheets leave empty lines
            names, *lines = [line for line in csv.reader(file) if line] or [[]]
        columns = dict(zip(names, zip(*lines, strict=True) if lines else ((),) * len(names), strict=True))
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: {error}: {_REMEDY}") from None
    return _recording(path, columns)


def save_parquet(path: Path, steps: np.ndarray, subject: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a table.

    Raises:
        ModuleNotFoundError: pyarrow is missing.
    """
    arrow = _arrow()
    arrow.parquet.write_table(arrow.table(_table(steps, subject, arrays)), path)


def load_parquet(path: Path) -> Found:
    """Read what `save_parquet` wrote.

    Raises:
        ValueError: It is something else, or a line is missing or comes twice.
        ModuleNotFoundError: pyarrow is missing.
    """
    arrow = _arrow()
    with path.open("rb") as file:
        try:
            table = arrow.parquet.read_table(file)
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(f"{path}: {error!s:.300}: {_REMEDY}") from None
    columns = zip(table.column_names, table.columns, strict=True)
    return _recording(path, {name: column.to_numpy() for name, column in columns})


def _arrow() -> Any:
    with needs("A Parquet file", "parquet"):
        import pyarrow  # pyright: ignore[reportMissingImports]
        import pyarrow.parquet  # pyright: ignore[reportMissingImports]
    return pyarrow


def _table(steps: np.ndarray, subject: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Columns by name, a line per step, robot and joint."""
    shape = len(steps), len(subject["robots"]), len(subject["joints"])

    def spread(values: Any, axis: int) -> np.ndarray:
        places = [1, 1, 1]
        places[axis] = -1
        return np.broadcast_to(np.reshape(values, places), shape).ravel()

    words = zip(_AXES, (arrays["time"], subject["robots"], subject["joints"]), strict=True)
    return {
        **{name: spread(values, axis) for axis, (name, values) in enumerate(words)},
        **{name: array.ravel() for name, array in arrays.items() if name != "time"},
        "max_effort": np.broadcast_to(subject["max_efforts"], shape).ravel(),
        "dt": spread(steps, 0),
        **{name: spread(np.arange(shape[axis]), axis) for axis, name in enumerate(_AXES.values())},
    }


def _recording(path: Path, columns: Mapping[str, Any]) -> Found:
    """The recording in columns whose lines stand in any order.

    Raises:
        ValueError: It is none, or a line is missing or comes twice.
    """
    if missing := [name for name in _REQUIRED if name not in columns]:
        raise ValueError(f"{path} has no {', '.join(missing)}: {_REMEDY}")
    try:
        axes = [_axis(columns, *names) for names in _AXES.items()]
        lines = {name: _read(name, values) for name, values in columns.items() if name not in (*_AXES, *_AXES.values())}
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}: {_REMEDY}") from None
    labels, places = [labels for labels, _ in axes], np.array([places for _, places in axes])
    order = np.lexsort(places[::-1])
    _require_each_once(path, labels, places[:, order])
    arrays = {name: values[order].reshape([len(words) for words in labels]) for name, values in lines.items()}
    steps, limits = arrays.pop("dt"), arrays.pop("max_effort")
    clamps = ("", *sorted({*arrays["limited_by"].ravel().tolist()} - {""})) if "limited_by" in arrays else ("",)
    subject = {
        "robots": tuple(labels[1]),
        "joints": tuple(labels[2]),
        "clamps": clamps,
        "max_efforts": limits[0] if len(limits) else np.zeros(limits.shape[1:], np.float32),
    }
    return steps[:, 0, 0] if steps.size else np.zeros(0), subject, arrays


def _axis(columns: Mapping[str, Any], name: str, number: str) -> tuple[list[Any], list[int]]:
    """What stands along an axis, in order, and the place there of each line."""
    words: Sequence[Any] = np.array(columns[name], float).tolist() if name == "time" else list(map(str, columns[name]))
    if number in columns:
        numbers = np.array(columns[number], float).tolist()
    elif name == "time":
        numbers = words
    else:
        first = {word: place for place, word in enumerate(dict.fromkeys(words))}
        numbers = [first[word] for word in words]
    if not np.isfinite(np.array(numbers, float)).all():
        raise ValueError(f"{number if number in columns else name} is no number in some lines")
    pairs = list(zip(numbers, words, strict=True))
    places = {pair: place for place, pair in enumerate(sorted(set(pairs)))}
    return [word for _, word in places], [places[pair] for pair in pairs]


def _require_each_once(path: Path, labels: Sequence[Sequence[Any]], places: np.ndarray) -> None:
    """Refuse a table that lacks a line or has one twice; `places` are those of its lines, `(axes, lines)`, sorted."""

    def said(place: Sequence[int]) -> str:
        time, robot, joint = (words[at] for words, at in zip(labels, place, strict=True))
        return f"time = {time:g}, robot = {robot!r}, joint = {joint!r}"

    rule = "each step, robot and joint must have one. Save the recording again."
    twice = np.flatnonzero((places[:, 1:] == places[:, :-1]).all(axis=0))
    if len(twice):
        raise ValueError(f"{path} has {said(places[:, twice[0]].tolist())} in more than one line: {rule}")
    _, robots, joints = map(len, labels)
    whole = len(labels[0]) * robots * joints
    count = np.arange(places.shape[1])
    if len(count) != whole:
        expected = np.array([count // (robots * joints), count // joints % robots, count % joints])
        gaps = np.flatnonzero((places != expected).any(axis=0))
        first = int(gaps[0]) if len(gaps) else len(count)
        place = first // (robots * joints), first // joints % robots, first % joints
        raise ValueError(f"{path} has no line of {said(place)}, {whole - len(count)} of {whole} are missing: {rule}")


def _read(name: str, column: Any) -> np.ndarray:
    """The values of a column, of the type that they were written from."""
    if name == "limited_by":
        return np.array(column, str)
    if name == "dt":
        return np.array(column, float)
    if name == "faults":
        numbers = np.array(column, float)
        if not np.isin(numbers, np.arange(256)).all():
            raise ValueError("faults are no whole numbers from 0 to 255")
        return numbers.astype(np.uint8)
    # beyond single precision is infinite
    with np.errstate(over="ignore"):
        return np.array(column, np.float32)
