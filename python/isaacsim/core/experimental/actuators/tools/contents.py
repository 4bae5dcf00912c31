"""Contents of files: arrays of NPZ files and cells of tables that anyone may have written, and values of JSON."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

_ANY, _DENSE = 256_000_000, 100
"""Bytes to which any NPZ file may unpack, and how many times its own size a large one may have then."""


def arrays_in(path: Path, rule: str) -> dict[str, np.ndarray]:
    """Return the arrays of an NPZ file by name; `rule` says in errors what it must be, and the remedy."""
    with path.open("rb") as stream:
        try:
            packed = os.fstat(stream.fileno()).st_size
            with zipfile.ZipFile(stream) as archive:
                unpacked = sum(entry.file_size for entry in archive.infolist())
            if unpacked > max(_ANY, _DENSE * packed):
                raise ValueError(f"{packed / 1e6:.3g} MB unpack to {unpacked / 1e6:.4g} MB")
            stream.seek(0)
            # arrays of objects are pickles, which run code
            with np.load(stream, allow_pickle=False) as file:
                return dict(file)
        # each library that unpacks has errors of its own
        except Exception as error:
            raise ValueError(f"{path}: {str(error) or type(error).__name__:.300}: {rule}") from None


def for_json(value: object) -> object:
    """Return a value as JSON can hold it: numbers that are not finite become text, "inf"."""
    if isinstance(value, dict):
        return {key: for_json(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [for_json(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def require_plain(cells: Iterable[object]) -> None:
    """Raise for cells that Python alone takes for numbers, such as `1_0` and `٣`."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind not in "OU":
        return
    for cell in cells:
        if isinstance(cell, str) and ("_" in cell or not cell.strip().isascii()):
            raise ValueError(f"{cell!r} is no number")
