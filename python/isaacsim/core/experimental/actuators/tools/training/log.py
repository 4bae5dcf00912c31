"""Logs of actuators, in memory and in files."""

from __future__ import annotations

import csv
import itertools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from ...base.saving import whole_file
from ...base.values import as_numbers
from ...laws.networks.features import COLUMNS, Feature
from ...laws.networks.metadata import HistoryFill, Metadata
from ...specs.arguments import number_of, path_of, require_file, whole_of
from ..contents import arrays_in, require_plain

# largest deviation of a step in a file from the mean, relative
_JITTER = 0.1


@dataclass(frozen=True, eq=False)
class ActuatorLog:
    """Measurements of actuators of one kind, a row per step and a column per joint.

    Row k has the inputs of the controller at the start of step k, and the effort that acted in this step. Joints may
    belong to one robot, to several, or to several runs: columns are independent.

    Args:
        dt: Time from one row to the next [s].
        position: Joint positions [rad or m], shape `(steps, joints)`; `(steps,)` is one joint.
        velocity: Joint velocities [rad/s or m/s], same shape.
        position_target: Commanded positions [rad or m], same shape, as sent: a delay is learned too.
        effort: Measured joint efforts [N·m or N], same shape.
        turns: True if the joints turn, False if they slide, None if that is unknown: the units of reports.

    Raises:
        ValueError: By name: shapes differ, there are fewer than two steps, a number is not finite, dt is not > 0, or
            `turns` is something else.
    """

    dt: float
    position: np.ndarray
    velocity: np.ndarray
    position_target: np.ndarray
    effort: np.ndarray
    turns: bool | None = None

    def __post_init__(self) -> None:
        if not 0.0 < number_of("dt", self.dt) < math.inf:
            raise ValueError(f"dt = {self.dt}: must be a finite number of seconds > 0. Give the step of the log.")
        object.__setattr__(self, "dt", float(self.dt))
        if self.turns is not None and not isinstance(self.turns, bool):
            raise ValueError(f"turns = {self.turns!r}: must be True, False or None. Leave it out if it is unknown.")
        for name in SIGNALS:
            values = np.array(as_numbers(getattr(self, name), name), np.float32)
            object.__setattr__(self, name, values[:, None] if values.ndim == 1 else values)
        shape = self.position.shape
        if len(shape) != 2 or shape[0] < 2 or shape[1] < 1:
            raise ValueError(f"position has shape {shape}: must be (steps, joints), at least (2, 1). Log for longer.")
        for name in SIGNALS:
            _require_finite(name, getattr(self, name), shape)
            getattr(self, name).setflags(write=False)

    @property
    def steps(self) -> int:
        """Number of rows."""
        return len(self.position)

    @property
    def joints(self) -> int:
        """Number of columns."""
        return self.position.shape[1]

    @property
    def seconds(self) -> float:
        """Duration [s]."""
        return self.steps * self.dt

    @property
    def position_error(self) -> np.ndarray:
        """Target minus position [rad or m], shape `(steps, joints)`."""
        return self.position_target - self.position

    def cut(self, start: int, stop: int) -> ActuatorLog:
        """Return the rows `start … stop - 1`."""
        rows = slice(whole_of("start", start), whole_of("stop", stop))
        return replace(self, **{name: getattr(self, name)[rows] for name in SIGNALS})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file that `load` reads: `.npz`, or `.csv` with a line per step and joint, without `turns`.

        Raises:
            ValueError: The name has another extension.
        """
        if _extension(path) == ".npz":
            known = {} if self.turns is None else {"turns": np.bool_(self.turns)}
            arrays = {name: getattr(self, name) for name in SIGNALS}
            with whole_file(path) as written:
                np.savez_compressed(written, dt=np.float64(self.dt), **known, **arrays)
            return
        with whole_file(path) as written, written.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["joint", "time", *SIGNALS])
            for joint, step in itertools.product(range(self.joints), range(self.steps)):
                # the fewest digits that give the same number
                numbers = [str(getattr(self, name)[step, joint]) for name in SIGNALS]
                writer.writerow([joint, repr(step * self.dt), *numbers])

    @classmethod
    def load(cls, path: str | os.PathLike[str], dt: float | None = None) -> ActuatorLog:
        """Read a log.

        Args:
            path: `.npz` with `dt`, the arrays by name and `turns` if it is known, or `.csv` with columns `time` [s] and
                the signals by name, and `joint`, a number or name, for several joints of equal length; other columns
                are ignored.
            dt: The step [s], for a file whose times are rounded or missing; None: that of the file.

        Raises:
            ValueError: Something is missing, is no number, or times are not evenly spaced; or it is no regular file, as
                a pipe.
            OSError: There is no such file, or it cannot be read.
        """
        read = _read_npz if _extension(path) == ".npz" else _read_csv
        require_file(Path(path))
        columns, step, turns = read(Path(path), dt is None)
        return cls(step if dt is None else dt, *columns, turns=turns)


SIGNALS = tuple(field.name for field in fields(ActuatorLog) if field.name not in ("dt", "turns"))


def _require_finite(name: str, values: np.ndarray, shape: tuple[int, ...]) -> None:
    if values.shape != shape:
        raise ValueError(f"{name} has shape {values.shape}: must be {shape}, that of position. Cut them alike.")
    if not (finite := np.isfinite(values)).all():
        step, joint = map(int, np.argwhere(~finite)[0])
        raise ValueError(
            f"{name}[{step}, {joint}] = {values[step, joint]}: must be finite. Cut the log there, or repair it."
        )


def _extension(path: str | os.PathLike[str]) -> str:
    extension = path_of("path", path).suffix.lower()
    if extension not in (".npz", ".csv"):
        raise ValueError(f"{path}: must end with .npz or .csv. Rename the file.")
    return extension


def _read_npz(path: Path, timed: bool) -> tuple[list[np.ndarray], float, bool | None]:
    rule = "must hold arrays of numbers, as ActuatorLog.save writes them."
    arrays = arrays_in(path, rule)
    _require(["dt"] * timed + list(SIGNALS), list(arrays), path)
    try:
        turns = bool(arrays["turns"]) if "turns" in arrays else None
        return [arrays[name] for name in SIGNALS], float(arrays["dt"]) if timed else 0.0, turns
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}: {rule}") from None


def _read_csv(path: Path, timed: bool) -> tuple[list[np.ndarray], float, None]:
    wanted = ["time"] * timed + list(SIGNALS)
    rows: dict[str, list[list[float]]] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, skipinitialspace=True)
        _require(wanted, reader.fieldnames or [], path)
        for row in reader:
            cells = [row[name] for name in wanted]
            try:
                require_plain(cells)
                rows.setdefault(row.get("joint") or "", []).append(list(map(float, cells)))
            except (TypeError, ValueError):
                problem = f"{path}, line {reader.line_num}: {cells}: must be numbers. Correct the line."
                raise ValueError(problem) from None
    lengths = {joint: len(values) for joint, values in rows.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"{path} has {lengths} lines by joint: must be equally many of each. Cut them alike.")
    # (steps, joints, columns)
    table = np.stack([np.array(values) for values in rows.values()], axis=1)
    signals = list(np.moveaxis(table[:, :, -len(SIGNALS) :], 2, 0))
    return signals, _step_of(table[:, :, 0], path) if timed else 0.0, None


def _require(wanted: list[str], found: Sequence[str], path: Path) -> None:
    if missing := [name for name in wanted if name not in found]:
        raise ValueError(f"{path} has {', '.join(found) or 'nothing'}: must have {', '.join(missing)} too.")


def _step_of(times: np.ndarray, path: Path) -> float:
    """Return the step of evenly spaced times, shape `(steps, joints)`."""
    if len(times) < 2:
        raise ValueError(f"{path} has {len(times)} steps: must have 2 at least. Log for longer.")
    steps = np.diff(times, axis=0)
    mean = float(steps.mean())
    if not (mean > 0 and (np.abs(steps - mean) <= _JITTER * mean).all()):
        raise ValueError(
            f"{path}: times are {steps.min():g} to {steps.max():g} s apart: must be evenly spaced. Give the "
            "step of the log, dt or --dt, where they are rounded; else resample it to the physics step."
        )
    # times have fewer digits than their mean step
    return float(f"{mean:.9g}")


def features_of(log: ActuatorLog, metadata: Metadata) -> np.ndarray:
    """Return inputs of a network, float32 `(steps, joints, inputs)`; `history_fill` decides on those before the log."""
    return np.stack([_values_of(log, feature, metadata.history_fill) for feature in metadata.features], axis=2)


def _values_of(log: ActuatorLog, feature: Feature, fill: HistoryFill) -> np.ndarray:
    # a log has no target velocity
    signals = log.position, log.velocity, log.position_target
    parts = [factor * signal for factor, signal in zip(COLUMNS[feature.column], signals, strict=False) if factor]
    column, values = np.sum(parts, axis=0), np.zeros_like(log.velocity)
    if fill == "first":
        values[:] = column[0]
    values[feature.back :] = column[: len(values) - feature.back]
    return (values - np.float32(feature.offset)) * np.float32(feature.scale)
