"""Answers as tables in a terminal, or as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table as RichTable

from ..plots.units import are_mixed, heading, numbers_of
from ..progress import Progress
from .answer import Answer, Table

# significant digits of numbers in tables
_DIGITS = 4
# characters of a line in a file or a pipe
_FILE_WIDTH = 160
# words up to this length are not broken
_SHORT = 16


def show(answer: Answer) -> None:
    """Print an answer for people."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # replace characters outside a limited encoding
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _FILE_WIDTH
    # an empty table is for programs only
    for table in filter(lambda table: table.rows and not table.is_detail, answer.tables):
        drawn = _drawn(table)
        # wider than the terminal rather than cut
        needed = console.measure(drawn).minimum
        console.print(drawn, width=max(console.width, needed), crop=False)
    for note in answer.notes:
        console.print(note, markup=False, soft_wrap=True)


def show_json(answer: Answer) -> None:
    """Print an answer for programs: an object with a list per table, `notes` and `is_wrong`; no NaN and no infinity."""
    content: dict[str, object] = {table.name: [_plain(dict(row)) for row in table.rows] for table in answer.tables}
    content |= {"notes": list(answer.notes), "is_wrong": answer.is_wrong}
    # escape characters outside a limited encoding
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(content, indent=1, ensure_ascii=not is_unicode))


def _drawn(table: Table) -> RichTable:
    rows = table.rows if table.shown is None else table.shown
    title = None if table.title is None else escape(table.title)
    drawn = RichTable(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for key, words in table.columns.items():
        values = [row.get(key) for row in rows]
        widths = [*(len(text_of(value)) for value in values), *map(len, words.split())]
        drawn.add_column(
            escape(words),
            justify="right" if all(map(_is_number, values)) else "left",
            overflow="fold",
            min_width=min(_SHORT, max(widths)),
        )
    for row in rows:
        drawn.add_row(*(escape(text_of(row.get(key))) for key in table.columns))
    return drawn


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def text_of(value: object) -> str:
    """Return a value as tables show it: a hyphen for None, four digits of numbers, lists with commas."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}" if math.isfinite(value) else str(value).replace("inf", "∞")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(text_of, value))
    return str(value)


def _plain(value: object) -> object:
    """Return a value as JSON can hold it: numbers that are not finite become text, "inf"."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


@contextlib.contextmanager
def progress_bar(words: str, hidden: bool = False) -> Iterator[Progress]:
    """Show a bar with the time left; yields a function that takes words and the share of finished work."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True, disable=hidden) as bar:
        task = bar.add_task(words, total=1.0)
        yield lambda words, share: bar.update(task, description=words, completed=share)


def lines(error: BaseException) -> Iterator[str]:
    """Return the lines of an error; its class if it has no message."""
    yield from str(error).splitlines() or [type(error).__name__]


def with_units(table: Table, quantities: Mapping[str, str], turns: Sequence[bool | None] | None) -> Table:
    """Return a table with units: in its headings, or behind each number where joints of both kinds are.

    Rows for programs stay as they are.
    """
    there = {key: quantity for key, quantity in quantities.items() if key in table.columns}
    columns = {
        key: heading(words, there[key], turns) if key in there else words for key, words in table.columns.items()
    }
    if turns is None or not are_mixed(turns):
        return replace(table, columns=columns)
    shown = [dict(row) for row in table.rows]
    for key, quantity in there.items():
        numbers = [None if (value := row.get(key)) is None else text_of(value) for row in shown]
        for row, number in zip(shown, numbers_of(numbers, quantity, turns), strict=True):
            row[key] = number
    return replace(table, columns=columns, shown=shown)
