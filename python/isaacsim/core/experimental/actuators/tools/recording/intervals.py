"""Intervals in recordings, and tables of them as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def intervals(mask: np.ndarray) -> list[tuple[int, int]]:
    """Return the first step of each run of true, and the step after its last."""
    edges = np.flatnonzero(np.diff(np.r_[False, mask, False])).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def longest(mask: np.ndarray, durations: np.ndarray) -> float:
    """Return the longest run of true [s], 0 for none."""
    until = np.r_[0.0, np.cumsum(durations)]
    return max((float(until[end] - until[start]) for start, end in intervals(mask)), default=0.0)


class NotedTable(list[T]):
    """Results of joints, and a note on what they do not show."""

    note = ""
    """A sentence, empty for none."""

    def _noted(self, text: str) -> str:
        return f"{text}\n{self.note}" if self.note else text


def text_table(rows: Sequence[Sequence[str]], num_names: int) -> str:
    """Return rows as lines of equal length; the first columns are names, left-aligned, the others numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        words = [cell.ljust(width) for cell, width in zip(row[:num_names], widths, strict=False)]
        numbers = [cell.rjust(width) for cell, width in zip(row[num_names:], widths[num_names:], strict=True)]
        lines.append("  ".join([*words, *numbers]))
    return "\n".join(lines)
