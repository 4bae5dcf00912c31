"""Arrays in NPZ files: columns by name, or a matrix per signal with the names of its joints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...contents import arrays_in
from ...recording.files import Found, load_npz
from ..log import SIGNALS
from .table import RULE, Table, split_settings


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
