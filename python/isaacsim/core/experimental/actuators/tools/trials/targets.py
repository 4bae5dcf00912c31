"""Position targets over time: a constant pose, a sine or a step around it, or those of a file."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..contents import require_plain

Targets = Callable[[float], np.ndarray]
"""Position targets [rad or m] at a time [s], shape `(robots, DOFs)`."""

KINDS = ("hold", "sine", "step")
STEP_AT = 0.25
"""Time of a step [s]."""

# distance of targets from the limits, of the range of a joint: room for overshoot
_AWAY = 0.05
_TIMES = ("time", "time [s]")
_OF_EXCITE = "/command"
# tolerance of positions and limits, which have single precision [rad or m]
_SMALL = 1e-5


@dataclass(frozen=True)
class Room:
    """Positions and limits of joints [rad or m], all of shape `(robots, DOFs)`; infinite for no limit."""

    initial: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def within(self) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper bounds of targets: a little inside the limits, or where the joint begins."""
        span = np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, 0.0)
        return (np.minimum(self.lower + _AWAY * span, self.pose), np.maximum(self.upper - _AWAY * span, self.pose))

    @property
    def pose(self) -> np.ndarray:
        """The nearest pose within the limits."""
        return np.clip(self.initial, self.lower, self.upper)


def hold(room: Room) -> Targets:
    """Return constant targets: the pose, or the limit that a joint is beyond."""
    pose = room.pose
    return lambda time: pose


def sine(room: Room, amplitude: np.ndarray | float, frequency: float) -> Targets:
    """Return a sine [Hz] around the initial pose, from there on; near a limit it is shifted, and smaller if necessary.

    `amplitude` is a number or one per DOF [rad or m].
    """
    _require(amplitude, frequency)
    lower, upper = room.within()
    swing = np.minimum(amplitude, (upper - lower) / 2)
    middle = np.clip(room.pose, lower + swing, upper - swing)
    share = np.divide(room.pose - middle, swing, out=np.zeros_like(swing), where=swing > 0)
    phase = np.arcsin(np.clip(share, -1.0, 1.0))
    return lambda time: middle + swing * np.sin(2 * math.pi * frequency * time + phase)


def step(room: Room, amplitude: np.ndarray | float, at: float = STEP_AT) -> Targets:
    """Return a step at a time [s] from the pose into the direction with more room, at most to the limit.

    `amplitude` is a number or one per DOF [rad or m].
    """
    _require(amplitude, 0.0)
    pose, (lower, upper) = room.pose, room.within()
    up = upper - pose >= pose - lower
    goal = np.clip(pose + np.where(up, amplitude, -np.asarray(amplitude)), lower, upper)
    return lambda time: goal if time >= at else pose


def clipped(room: Room, names: Sequence[str], jumps: tuple[Targets, np.ndarray | float] | None = None) -> list[str]:
    """Return the effects of joint limits on targets, in sentences: joints that begin outside, and shortened steps."""

    def listed(found: Any) -> str:
        return ", ".join(name for name, one in zip(names, found.any(axis=0), strict=True) if one)

    notes = []
    if beyond := listed(np.abs(room.initial - room.pose) > _SMALL):
        notes.append(f"Beginning outside their limits, with targets at the nearest limit: {beyond}.")
    if jumps is not None and (short := listed(np.abs(jumps[0](math.inf) - room.pose) < jumps[1] - _SMALL)):
        notes.append(f"Steps shorter than asked for, which keeps targets within the limits: {short}.")
    return notes


def from_csv(path: Path, names: Sequence[str], room: Room) -> tuple[Targets, float]:
    """Read targets, and the time of the last line [s]: a column `time [s]` or `time`, and one per joint [rad or m].

    The name of a column is that of the joint, or `<joint>/command` as in the files of `actuators excite`. Targets are
    interpolated between lines and constant after the last one. Joints without a column hold their pose.
    """
    head, table = _table(path)
    head = [name if name in names else name.removesuffix(_OF_EXCITE) for name in head]
    if unknown := [name for name in head[1:] if list(names).count(name) != 1]:
        raise ValueError(f"{path}: column {unknown[0]!r}: must be a joint, one of {list(names)}. Correct the name.")
    times, columns = table[:, 0], [list(names).index(name) for name in head[1:]]

    def at(time: float) -> np.ndarray:
        targets = room.pose
        targets[:, columns] = [np.interp(time, times, column) for column in table[:, 1:].T]
        return targets

    return at, float(times[-1])


def _table(path: Path) -> tuple[list[str], np.ndarray]:
    """Return names of the columns and numbers of a file, with a column of ascending times first."""
    head, lines = _lines(path)
    try:
        for line in lines:
            require_plain(line)
        table = np.array(lines, float)
    except ValueError as error:
        raise ValueError(f"{path}: {error}: must hold a number in each cell of each line. Correct it.") from None
    if (
        table.shape[1] != len(head)
        or not np.isfinite(table).all()
        or not (table[0, 0] >= 0 and (np.diff(table[:, 0]) > 0).all())
    ):
        raise ValueError(f"{path}: must hold finite numbers, with times that rise from 0 or later. Correct it.")
    return head, table


def _lines(path: Path) -> tuple[list[str], list[list[str]]]:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file. Give the path of a .csv file, or one of {', '.join(KINDS)}.")
    with path.open(encoding="utf-8-sig", newline="") as file:
        first, *lines = [line for line in csv.reader(file, skipinitialspace=True) if line] or [[""]]
    head = [name.strip() for name in first]
    if head[0] not in _TIMES or not lines:
        raise ValueError(
            f"{path} begins with {', '.join(filter(None, head)) or 'nothing'}: must have a column `time [s]` first, "
            "then one per joint, and a line at least. Add it."
        )
    return head, lines


def _require(amplitude: np.ndarray | float, frequency: float) -> None:
    for name, value in (("amplitude", amplitude), ("frequency", frequency)):
        if not (np.isfinite(value).all() and (np.asarray(value) >= 0).all()):
            raise ValueError(f"{name} = {value}: must be a finite number >= 0. Correct it.")
