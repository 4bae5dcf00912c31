"""Results of subcommands: tables and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Table:
    """A table of a result; `name` is its key in JSON."""

    name: str
    # headings by the keys of a row, in order, units in brackets
    columns: Mapping[str, str]
    # numbers, texts, booleans, None for a missing value, or lists of these
    rows: Sequence[Mapping[str, object]]
    title: str | None = None
    # rows for people, if they differ from those for programs
    shown: Sequence[Mapping[str, object]] | None = None
    # for programs only, as reports show it to people
    is_detail: bool = False


@dataclass(frozen=True)
class Answer:
    """The result of a subcommand; `notes` are sentences below the tables."""

    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    # there is a finding, which makes the exit code 1
    is_wrong: bool = False


def headings(row: str) -> dict[str, str]:
    """Return headings by key, from a row of keys, and `key: heading` where they differ: `robot | of: actuator`."""
    cells = (cell.partition(": ") for cell in row.split(" | "))
    return {key: heading or key.replace("_", " ") for key, _, heading in cells}


def written(path: Path | None, what: str, write: Callable[[Path], object]) -> list[str]:
    """Write a file that is asked for by its path, and return the note that says where it is."""
    if path is None:
        return []
    write(path)
    return [f"The {what} in {path}."]


def shortened(notes: Sequence[str], most: int | None, where: str) -> list[str]:
    """Return the first notes, and how many more there are and where; all for None."""
    more = 0 if most is None else len(notes) - most
    return [*notes[:most], f"{more} more {where}."] if more > 0 else [*notes]
