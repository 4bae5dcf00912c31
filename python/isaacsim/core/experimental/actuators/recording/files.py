"""Recordings in files: arrays by name, or a table with a line per step, robot and joint."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import needs

Found = tuple[np.ndarray, dict[str, Any], dict[str, np.ndarray]]
"""Seconds of each step, what was recorded, and arrays by name."""

_SUBJECT = ("robots", "joints", "clamps", "max_efforts")
_HEAD = ("time", "robot", "joint")


def save_npz(path: Path, steps: np.ndarray, subject: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name; robots, joints and clamps are arrays of text."""
    kept: dict[str, Any] = {name: np.array(subject[name]) for name in _SUBJECT} | {"dt": steps, **arrays}
    with path.open("wb") as file:
        np.savez_compressed(file, **kept)


def load_npz(path: Path) -> Found:
    """Read what `save_npz` wrote.

    Raises:
        ValueError: It is something else.
    """
    try:
        # arrays of objects are pickles, which would run
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            if missing := [name for name in ("dt", *_SUBJECT) if name not in file.files]:
                raise ValueError(
                    f"{path} has no {', '.join(missing)}: must be what Recording.save wrote. Choose another."
                )
            arrays = {name: file[name] for name in file.files if name not in ("dt", "time", *_SUBJECT)}
            about: dict[str, Any] = {name: tuple(file[name].tolist()) for name in _SUBJECT[:3]}
            about["max_efforts"] = file["max_efforts"]
            steps = file["dt"]
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        if str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path}: {error}: must be what Recording.save wrote. Choose another.") from None
    shape = len(steps), len(about["robots"]), len(about["joints"])
    if odd := {name: array.shape for name, array in arrays.items() if array.shape != shape}:
        raise ValueError(f"{path}: {odd}: must have the shape {shape}. Choose another.")
    return steps, about, arrays


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
        ValueError: It is something else.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.reader(file))
    names = lines[0] if lines else []
    if missing := [name for name in (*_HEAD, "dt", "max_effort") if name not in names]:
        raise ValueError(f"{path} has no {', '.join(missing)}: must be what Recording.save wrote. Choose another.")
    try:
        columns = dict(zip(names, zip(*lines[1:], strict=True), strict=True)) if lines[1:] else {}
        robots, joints = (tuple(dict.fromkeys(columns.get(name, ()))) for name in _HEAD[1:])
        shape = (-1, max(1, len(robots)), max(1, len(joints)))
        arrays = {
            name: _read(name, columns.get(name, ())).reshape(shape) for name in names if name not in ("robot", "joint")
        }
    except ValueError as error:
        raise ValueError(f"{path}: {error}: must be what Recording.save wrote. Choose another.") from None
    steps, limits = arrays.pop("dt")[:, 0, 0], arrays.pop("max_effort")
    arrays.pop("time")
    clamps = ("", *sorted({*arrays["limited_by"].ravel().tolist()} - {""})) if "limited_by" in arrays else ("",)
    max_efforts = limits[0].astype(np.float32) if len(limits) else np.zeros(shape[1:], np.float32)
    return steps, {"robots": robots, "joints": joints, "clamps": clamps, "max_efforts": max_efforts}, arrays


def save_parquet(path: Path, steps: np.ndarray, subject: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a table.

    Raises:
        ModuleNotFoundError: pyarrow is missing.
    """
    with needs("A Parquet file", "parquet"):
        import pyarrow  # pyright: ignore[reportMissingImports]
        import pyarrow.parquet  # pyright: ignore[reportMissingImports]
    pyarrow.parquet.write_table(pyarrow.table(_table(steps, subject, arrays)), path)


def _table(steps: np.ndarray, subject: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Columns by name, a line per step, robot and joint."""
    shape = len(steps), len(subject["robots"]), len(subject["joints"])

    def spread(values: Any, axis: int) -> np.ndarray:
        places = [1, 1, 1]
        places[axis] = -1
        return np.broadcast_to(np.reshape(values, places), shape).ravel()

    head = {
        "time": spread(arrays["time"], 0),
        "robot": spread(subject["robots"], 1),
        "joint": spread(subject["joints"], 2),
    }
    signals = {name: array.ravel() for name, array in arrays.items() if name != "time"}
    return {
        **head,
        **signals,
        "max_effort": np.broadcast_to(subject["max_efforts"], shape).ravel(),
        "dt": spread(steps, 0),
    }


def _read(name: str, column: Any) -> np.ndarray:
    """The values of a column, of the type that they were written from."""
    if name == "limited_by":
        return np.array(column, str)
    return np.array(column, np.float64 if name in ("time", "dt") else np.uint8 if name == "faults" else np.float32)
