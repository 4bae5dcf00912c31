"""Tables with a row per sample, and a column per signal and joint."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ....base.callers import level_outside
from ..log import REQUIRED, SIGNALS, MotorLog
from .table import Table, column_of

_Places = dict[tuple[str, str], str]
"""Column of each joint and signal."""


def wide(table: Table, joints: Sequence[str]) -> MotorLog:
    """Return the log in a table with a row per sample; a warning names what is not read."""
    time, places = table.time, _places(table.columns, joints)
    there = _joints(table, places, joints)
    names = [name for name in SIGNALS if all((joint, name) in places for joint in there)]
    _tell_unread(table, {time, *(places[joint, name] for joint in there for name in names)})
    numbers = table.numbers(time)
    signals = {name: _matrix(table, [places[joint, name] for joint in there], len(numbers)) for name in names}
    return MotorLog(numbers, there, signals, str(table.path), table.settings)


def _places(names: Mapping[str, object], joints: Sequence[str]) -> _Places:
    """Return the columns of joints and signals that are there; a single joint needs no name."""
    places: _Places = {}
    for joint, signal in itertools.product(joints, SIGNALS):
        column = column_of(names, f"{joint}/", signal)
        if column is None and len(joints) == 1:
            column = column_of(names, "", signal)
        if column is not None:
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


def _tell_unread(table: Table, used: Iterable[str]) -> None:
    if unread := [*table.skipped, *(name for name in table.columns if name not in used)]:
        rule = "must be names of joints of the robot and of signals, and a signal of all joints to be read"
        warnings.warn(f"{table.path}: {', '.join(unread)}: not read: {rule}.", stacklevel=level_outside())


def _matrix(table: Table, names: Sequence[str], rows: int) -> np.ndarray:
    """Return columns side by side."""
    columns = [table.numbers(name) for name in names]
    for name, one in zip(names, columns, strict=True):
        if len(one) != rows:
            raise ValueError(
                f"{table.path}: {name} has {len(one)} rows: must have {rows}, as time has. Cut them alike."
            )
    return np.stack(columns, axis=1)
