"""Logs in datasets of LeRobot, of versions 2 and 3: a log per episode.

A dataset is a folder. `meta/info.json` has the names of the numbers in `action` and `observation.state`, such as
`shoulder_pan.pos`; Parquet files below `data` have a row per frame, with the columns `action` and `observation.state`,
`timestamp` [s] since the start of the episode, and `episode_index`. The action of a frame is sent after its state is
measured; it is stored before LeRobot limits it. The unit of positions stands nowhere. Source: lerobot 0.6.1,
`datasets/utils.py`, `motors/motors_bus.py` and `scripts/lerobot_record.py`.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ....base.errors import shown
from ....specs.lerobot import UNITS
from ...recording.tables import parquet_columns
from ..log import MotorLog
from .asked import Asked

INFO = "meta/info.json"
"""File that the folder of a dataset has."""

_FEATURES = {"command": "action", "position": "observation.state"}
_OTHERS = ("timestamp", "episode_index")
_RULE = "must be a dataset of LeRobot. Give the folder of one."
_SUFFIX = ".pos"
# a file of LeRobot has a few kilobytes
_MOST_BYTES = 10_000_000


def read_dataset(folder: Path, asked: Asked) -> list[MotorLog]:
    """Read the logs in a dataset, one per episode."""
    names = {signal: _names(folder, feature) for signal, feature in _FEATURES.items()}
    there = _joints(folder, names, asked.joints)
    try:
        conversions = {joint: conversion(joint, asked) for joint in there}
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from None
    columns, signals = _columns(folder), {}
    for signal, feature in _FEATURES.items():
        matrix = _matrix(folder, feature, columns[feature], len(names[signal]))
        converted = [convert(matrix[:, names[signal].index(joint)]) for joint, convert in conversions.items()]
        signals[signal] = np.stack(converted, axis=1)
    time, episode = (np.asarray(columns[name], np.float64) for name in _OTHERS)
    logs = []
    for number in np.unique(episode):
        here = np.flatnonzero(episode == number)
        parts = {name: one[here] for name, one in signals.items()}
        logs.append(MotorLog(time[here], there, parts, f"{folder}, episode {number:g}"))
    return logs


def _joints(folder: Path, names: Mapping[str, Sequence[str]], joints: Sequence[str]) -> list[str]:
    """Return the joints of the robot that both features have."""
    there = [joint for joint in joints if all(joint in each for each in names.values())]
    if not there:
        told = "; ".join(f"{_FEATURES[signal]} of {', '.join(each)}" for signal, each in names.items())
        rule = f"must have some of {', '.join(joints)} in both. Rename the joints of the robot file"
        raise ValueError(f"{folder} has {told}: {rule}.")
    return there


def _names(folder: Path, feature: str) -> list[str]:
    """Return the names of joints in a feature, without the ending of positions."""
    info = folder / INFO
    try:
        if (size := info.stat().st_size) > _MOST_BYTES:
            raise ValueError(f"{size} bytes")
        names = _flat(json.loads(info.read_text(encoding="utf-8"))["features"][feature]["names"])
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise ValueError(f"{info}: features.{feature}.names: {error!r:.200}: {_RULE}") from None
    return [name.removesuffix(_SUFFIX) for name in names]


def _flat(names: Any) -> list[str]:
    """Return names, which older datasets have in lists by a word such as `motors`."""
    lists = [*names.values()] if isinstance(names, dict) else [names]
    if not lists or {type(one) for one in lists} != {list}:
        raise ValueError(f"{shown(names)} is no list of names")
    return [str(name) for one in lists for name in one]


def _columns(folder: Path) -> dict[str, np.ndarray]:
    """Return the columns of all files, one after the other."""
    wanted = (*_FEATURES.values(), *_OTHERS)
    files = sorted(folder.glob("data/**/*.parquet"))
    if not files:
        raise ValueError(f"{folder} has no data/**/*.parquet: {_RULE}")
    tables = [parquet_columns(file, _RULE, wanted) for file in files]
    for file, table in zip(files, tables, strict=True):
        if missing := ", ".join(name for name in wanted if name not in table):
            raise ValueError(f"{file} has no {missing}: {_RULE}")
    return {name: np.concatenate([table[name] for table in tables]) for name in wanted}


def _matrix(folder: Path, feature: str, rows: np.ndarray, width: int) -> np.ndarray:
    """Return a column of lists as numbers, `(frames, width)`; LeRobot writes lists of one number as that number."""
    if width == 1 and rows.dtype.kind == "f":
        return rows.astype(np.float64)[:, None]
    for place, row in enumerate(rows):
        if np.shape(row) != (width,):
            rule = f"must have {width}, as {INFO} names them. Record the dataset again"
            raise ValueError(f"{folder}, frame {place}: {feature} has shape {np.shape(row)}: {rule}.")
    return np.array(list(rows), np.float64).reshape(-1, width)


# units in which programs for servos write positions, and what they are in radians

Convert = Callable[[np.ndarray], np.ndarray]
"""Returns positions [rad] of those in another unit."""

_PLAIN = {"radians": 1.0, "degrees": math.pi / 180.0}
_KNOWN = (*_PLAIN, *(unit for unit in UNITS if unit not in _PLAIN))


def conversion(joint: str, asked: Asked) -> Convert:
    """Return what makes positions of a joint [rad] of those in its unit.

    With calibrations, degrees are those of LeRobot and turn with the drive mode of the servo; else they are plain.
    """
    unit, calibration = asked.units.get(joint, asked.units.get("", "")), asked.calibration.get(joint)
    if unit not in _KNOWN:
        rule = f"must be one of {', '.join(_KNOWN)}, which the dataset does not tell"
        raise ValueError(f"unit of {joint} = {unit or 'none'}: {rule}. Give --units UNIT {joint}=UNIT.")
    if unit == "radians":
        return np.asarray
    if calibration is not None:
        return functools.partial(calibration.to_joint, units=unit)
    if asked.calibration or unit not in _PLAIN:
        rule = "must have the calibration of its servo"
        raise ValueError(f"unit of {joint} = {unit}: {rule}. Give --calibration FILE, a file of LeRobot with {joint}.")
    return functools.partial(np.multiply, _PLAIN[unit])
