"""The answer of a subcommand: tables and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """Rows that belong together.

    Args:
        name: Key in JSON.
        columns: Headings by the keys of a row, in the order they are shown, units in brackets.
        rows: Values by key: numbers, texts, booleans, None for what is not there, or lists of these.
        title: Heading of the whole; None for none.
        shown: Rows for people, where those are other ones than for programs; None where they are the same.
    """

    name: str
    columns: Mapping[str, str]
    rows: Sequence[Mapping[str, Any]]
    title: str | None = None
    shown: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class Answer:
    """What a subcommand found.

    Args:
        tables: What is shown, in order.
        notes: Sentences below the tables.
        is_wrong: Whether something is wrong with what was asked about; the exit code is 1 then.
    """

    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    is_wrong: bool = False
