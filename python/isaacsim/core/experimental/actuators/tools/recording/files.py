"""Recordings as files of arrays by name; `tables` has those with a line per step, robot and joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..contents import arrays_in


@dataclass(frozen=True)
class Subject:
    """Names of robots and joints of a recording, and its limits.

    `clamps` are class names of clamps by their number in `limited_by`, from 1. `max_efforts` are plain limits at the
    start [N·m or N], `(robots, joints)`, NaN for none. A joint that does not turn slides; tables do not know (None).
    """

    robots: tuple[str, ...]
    joints: tuple[str, ...]
    clamps: tuple[str, ...]
    max_efforts: np.ndarray
    turns: tuple[bool, ...] | None = None


Found = tuple[np.ndarray, Subject, dict[str, np.ndarray]]
"""Seconds of each step, subject, and arrays by name."""

_SUBJECT = ("robots", "joints", "clamps", "max_efforts")
REMEDY = "must be what Recording.save wrote. Choose another."


def save_npz(path: Path, steps: np.ndarray, subject: Subject, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name; robots, joints and clamps are arrays of text."""
    kept: Any = {name: np.array(getattr(subject, name)) for name in _SUBJECT} | {"dt": steps, **arrays}
    if subject.turns is not None:
        kept["turns"] = np.array(subject.turns, bool)
    with path.open("wb") as file:
        np.savez_compressed(file, **kept)


def load_npz(path: Path) -> Found:
    """Read what `save_npz` wrote; ValueError if it is something else."""
    arrays = arrays_in(path, REMEDY)
    if missing := [name for name in ("dt", *_SUBJECT) if name not in arrays]:
        raise ValueError(f"{path} has no {', '.join(missing)}: {REMEDY}")
    steps, limits = arrays.pop("dt"), arrays.pop("max_efforts")
    robots, joints, clamps = (tuple(arrays.pop(name).tolist()) for name in _SUBJECT[:3])
    # recordings of earlier versions do not have it
    turns = tuple(arrays.pop("turns").tolist()) if "turns" in arrays else None
    subject = Subject(robots, joints, clamps, limits, turns)
    arrays.pop("time", None)
    shape = len(steps), len(subject.robots), len(subject.joints)
    if odd := {name: array.shape for name, array in arrays.items() if array.shape != shape}:
        raise ValueError(f"{path}: {odd}: must have the shape {shape}. Choose another.")
    return steps, subject, arrays
