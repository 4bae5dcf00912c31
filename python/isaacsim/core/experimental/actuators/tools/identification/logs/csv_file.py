"""Tables in CSV files, with settings in lines before the names."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from .table import RULE, Table, split_settings

_SETTING = re.compile(r"#\s*([^\W\d]\w*)\s*=\s*(\S+)\s*$")

_Line = tuple[int, list[str]]
"""Number of a line and its cells."""


def read_csv(path: Path) -> Table:
    """Read a table with a line of names, after lines that start with `#`."""
    lines = _lines(path)
    start = next((row for row, (_, line) in enumerate(lines) if not line[0].startswith("#")), len(lines))
    settings, skipped = _settings(lines[:start])
    names = _names(path, lines[start][1] if start < len(lines) else [])
    body = lines[start + 1 :]
    _require_cells(path, body, names)
    columns = zip(*(line for _, line in body), strict=True) if body else [()] * len(names)
    places = [f"line {number}" for number, _ in body]
    return Table(path, dict(zip(names, columns, strict=True)), settings, places, skipped)


def _lines(path: Path) -> list[_Line]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True)
            # spreadsheets leave empty lines
            return [(reader.line_num, line) for line in reader if line]
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: {error}: {RULE}") from None


def _settings(lines: Sequence[_Line]) -> tuple[dict[str, float], list[str]]:
    """Return settings by name, and the lines of those that are no numbers."""
    found = (_SETTING.match(",".join(line).rstrip(",")) for _, line in lines)
    words = {one[1]: one[2] for one in found if one}
    settings, skipped = split_settings(words)
    return settings, [f"# {name} = {words[name]}" for name in skipped]


def _names(path: Path, cells: Sequence[str]) -> list[str]:
    names = [name.strip() for name in cells]
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise ValueError(f"{path} has {', '.join(twice)} in several columns: must be in one. Drop the others.")
    return names


def _require_cells(path: Path, body: Sequence[_Line], names: Sequence[str]) -> None:
    for number, line in body:
        if len(line) != len(names):
            raise ValueError(
                f"{path}, line {number} has {len(line)} cells: must have {len(names)}, one per column from {names[0]} "
                f"to {names[-1]}, with commas between. Cut the log there, or repair it."
            )
