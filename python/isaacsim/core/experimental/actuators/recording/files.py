"""Recordings in files of arrays by name; `tables` has those with a line per step, robot and joint."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

Found = tuple[np.ndarray, dict[str, Any], dict[str, np.ndarray]]
"""Seconds of each step, what was recorded, and arrays by name."""

_SUBJECT = ("robots", "joints", "clamps", "max_efforts")


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
