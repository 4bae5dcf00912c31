"""`Table`: columns of a file by name, as they stand there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...contents import require_plain
from ..log import SIGNALS

RULE = "must be a table of numbers by column. Export the log again."
"""End of errors of files that are no tables."""

_TIMES = ("time", "time [s]")
_SWITCHES = {"true": 1.0, "false": 0.0}


class Source(NamedTuple):
    """A column in the file: its name, and what one of its unit is in SI."""

    name: str
    unit: float


@dataclass(frozen=True)
class Table:
    """Columns of a file by name, as they stand there.

    Args:
        path: The file.
        columns: Texts or numbers by the name of the column.
        settings: Values of parameters during the log.
        places: Where each row stands in the file, such as `line 3`; empty for `row 0` and so on.
        skipped: What was not understood.
        sources: Columns that the file has under another name or in another unit, by name here.
    """

    path: Path
    columns: Mapping[str, Sequence[object] | np.ndarray]
    settings: Mapping[str, float] = field(default_factory=dict)
    places: Sequence[str] = ()
    skipped: Sequence[str] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)

    @property
    def time(self) -> str:
        """Name of the column of times."""
        if (found := next((name for name in _TIMES if name in self.columns), None)) is None:
            listed = ", ".join(self.columns) or "none"
            raise ValueError(f"{self.path} has columns {listed}: must have time. Add it, or give columns.")
        return found

    def numbers(self, name: str, rows: np.ndarray | None = None) -> np.ndarray:
        """Return a column as numbers, in SI."""
        column, source = self.columns[name], self.sources.get(name, Source(name, 1.0))
        at = range(len(column)) if rows is None else rows.tolist()
        cells = column if rows is None else [column[row] for row in at]
        try:
            require_plain(cells)
            numbers = np.array(cells, np.float64)
        except (ValueError, TypeError):
            numbers = np.array([number_of(cell) for cell in cells])
        if numbers.ndim != 1:
            raise ValueError(
                f"{self.path}: {source.name} has shape {numbers.shape}: must be (samples,). Give a column."
            )
        if len(bad := np.flatnonzero(~np.isfinite(numbers))):
            row = at[int(bad[0])]
            place = self.places[row] if self.places else f"row {row}"
            raise ValueError(
                f"{self.path}, {place}, column {source.name} = {column[row]}: must be a finite number. Cut the "
                "log there, or repair it."
            )
        return numbers * source.unit


def number_of(cell: object) -> float:
    """Return a cell as a number: 1 and 0 for true and false, NaN for other words."""
    text = str(cell).strip().lower()
    try:
        require_plain([text])
        return _SWITCHES[text] if text in _SWITCHES else float(text)
    except ValueError:
        return math.nan


def split_settings(words: Mapping[str, object]) -> tuple[dict[str, float], list[str]]:
    """Return settings that are numbers, by name, and the names of the others."""
    numbers = {name: number_of(value) for name, value in words.items()}
    finite = {name: value for name, value in numbers.items() if math.isfinite(value)}
    return finite, [name for name in words if name not in finite]


def column_of(names: Iterable[str], prefix: str, signal: str) -> str | None:
    """Return the column of a signal, such as `hip/position` or `hip/position [rad]`; None if there is none."""
    plain = f"{prefix}{signal}"
    spelled = (plain, *(f"{plain} [{unit}]" for unit in SIGNALS[signal].split(" or ")))
    return next((name for name in spelled if name in names), None)
