"""Answers as tables in a terminal, or as JSON."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import os
import re
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table as RichTable

from ...base.values import is_number
from ..contents import for_json
from ..plots.units import are_mixed, heading, numbers_of
from ..progress import Progress
from .answer import Answer, Table

# significant digits of numbers in tables
_DIGITS = 4
# characters of a line in a file or a pipe
_FILE_WIDTH = 80
# words up to this length are not broken
_LONGEST = 48
# rows from which on a value that all have stands above the table; two if it is too wide otherwise
_MANY = 3
# digits of the largest number of a column with a unit, to which its numbers are rounded
_OF_LARGEST = 6


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
        for one in _drawn(table, console.width):
            if isinstance(one, str):
                _print(one, console)
                continue
            # wider than the terminal rather than cut
            console.print(one, width=one.width, crop=False)
    for note in answer.notes:
        _print(note, console)


def _print(text: str, console: Console) -> None:
    """Print lines, broken between words."""
    for line in text.splitlines():
        filled = textwrap.fill(line, console.width, break_long_words=False, break_on_hyphens=False)
        console.print(filled, markup=False, soft_wrap=True)


def show_json(answer: Answer) -> None:
    """Print an answer for programs: an object with a list per table, `notes` and `is_wrong`; no NaN and no infinity."""
    content: dict[str, object] = {table.name: [for_json(dict(row)) for row in table.rows] for table in answer.tables}
    content |= {"notes": list(answer.notes), "is_wrong": answer.is_wrong}
    # escape characters outside a limited encoding
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(content, indent=1, ensure_ascii=not is_unicode))


def _drawn(table: Table, width: int) -> Iterator[str | RichTable]:
    """Yield what stands above a table, and the table."""
    rows, columns = [*(table.rows if table.shown is None else table.shown)], dict(table.columns)
    yield from filter(None, [table.title])
    values, texts = _cells(rows, columns)
    is_wide = sum(_widths([*columns.values()], texts, 0)) > width - 2 * len(columns)
    if len(rows) >= _MANY or (is_wide and len(rows) > 1):
        yield from _shared(rows, columns)
        rows = _merged(rows, *columns)
        values, texts = _cells(rows, columns)
    heads = list(columns.values())
    # before each column are two spaces
    room = width - 2 * len(columns)
    widths = _widths(heads, texts, room)
    if sum(widths) > room and "[" in "".join(heads):
        yield f"units: {', '.join(head for head in heads if '[' in head)}"
        heads = [head.partition(" [")[0] for head in heads]
        widths = _widths(heads, texts, room)
    gap = 2
    if sum(widths) > room:
        gap, widths = 1, _widths(heads, texts, width - len(columns) - 1)
    yield _table(heads, values, texts, widths, gap)


def _cells(
    rows: Sequence[Mapping[str, object]], columns: Mapping[str, str]
) -> tuple[list[list[object]], list[list[str]]]:
    """Return values and texts of columns."""
    values = [[row.get(key) for row in rows] for key in columns]
    return values, list(map(_texts, values, columns.values()))


def _table(
    heads: Sequence[str],
    values: Sequence[Sequence[object]],
    texts: Sequence[Sequence[str]],
    widths: Sequence[int],
    gap: int,
) -> RichTable:
    """Return a table of columns, numbers to the right, with one or two spaces between columns."""
    width = sum(widths) + gap * (len(widths) - 1) + 2
    table = RichTable(box=box.SIMPLE_HEAD, padding=(0, gap - 1, 0, 0), pad_edge=False, width=width)
    for head, column, room in zip(heads, values, widths, strict=True):
        is_right = all(value is None or is_number(value) for value in column)
        table.add_column(escape(head), justify="right" if is_right else "left", overflow="fold", width=room)
    for cells in zip(*texts, strict=True):
        table.add_row(*map(escape, cells))
    return table


def _widths(heads: Sequence[str], texts: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return the width of each column: the widest are broken between words."""
    columns = [(head, *column) for head, column in zip(heads, texts, strict=True)]
    widths = [max(map(len, texts)) for texts in columns]
    least = [min(_LONGEST, max(len(word) for text in texts for word in _words(text))) for texts in columns]
    while sum(widths) > room and any(map(int.__gt__, widths, least)):
        widest = max(range(len(widths)), key=lambda k: widths[k] if widths[k] > least[k] else 0)
        widths[widest] -= 1
    return widths


def _words(text: str) -> list[str]:
    """Return what is not broken of a text: its words, or a number with its unit."""
    return [text] if text.lstrip()[:1] in tuple("-0123456789∞") else text.split() or [text]


def _shared(rows: Sequence[Mapping[str, object]], columns: dict[str, str]) -> Iterator[str]:
    """Take columns in which all rows have one value out, and yield them: people need it once."""
    said = []
    for key in list(columns)[1:]:
        if len({text_of(row.get(key)) for row in rows}) == 1:
            words, _, unit = columns.pop(key).partition(" [")
            value = rows[0].get(key)
            if value is not None and text_of(value):
                said.append(" ".join(filter(None, (words, text_of(value), unit.rstrip("]")))))
    if said:
        yield f"in all rows: {', '.join(said)}"


def _merged(rows: Sequence[Mapping[str, object]], first: str, *others: str) -> Sequence[Mapping[str, object]]:
    """Return rows of which those that differ in their name alone are one, with all names."""
    groups: dict[tuple[str, ...], list[Mapping[str, object]]] = {}
    for row in rows:
        groups.setdefault(tuple(text_of(row.get(key)) for key in others), []).append(row)
    if first != "joint" or not others:
        return rows
    every = {str(row[first]) for row in rows}
    return [{**group[0], first: briefly([str(row[first]) for row in group], every)} for group in groups.values()]


def briefly(names: Sequence[str], every: Collection[str]) -> str:
    """Return some of all names, with commas; those that differ in one word as one pattern: `(left|right)_knee`."""
    if set(names) == set(every) and len(names) > 1:
        return f"all {len(every)} joints" if len(names) > 2 else "both joints"
    left = [tuple(re.findall(r"\d+|[^\W\d_]+|\W|_", name)) for name in dict.fromkeys(names)]
    while True:
        groups: dict[tuple[int, tuple[str, ...], tuple[str, ...]], list[tuple[str, ...]]] = {}
        for parts in filter(lambda parts: len(parts) > 1, left):
            for k in range(len(parts)):
                groups.setdefault((k, parts[:k], parts[k + 1 :]), []).append(parts)
        (k, before, after), most = max(groups.items(), key=lambda item: len(item[1]), default=((0, (), ()), []))
        if len(most) < 2:
            return ", ".join(map("".join, left))
        at = left.index(most[0])
        left = list(itertools.filterfalse(most.__contains__, left))
        left.insert(at, (*before, f"({'|'.join(parts[k] for parts in most)})", *after))


def _texts(values: Sequence[object], head: str) -> list[str]:
    """Return the texts of a column; of numbers with one unit, what is nothing beside the largest is 0."""
    sizes = [abs(one) for one in values if isinstance(one, float) and math.isfinite(one) and one] if "[" in head else []
    decimals = _OF_LARGEST - math.ceil(math.log10(max(sizes))) if sizes else None
    rounds = decimals is not None
    return [text_of(round(one, decimals) + 0.0 if rounds and isinstance(one, float) else one) for one in values]


def text_of(value: object) -> str:
    """Return a value as tables show it: a hyphen for None, four digits of numbers, lists with commas."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        # 20000, not 2e+04
        return f"{float(f'{value:.{_DIGITS}g}'):.{_OF_LARGEST}g}".replace("inf", "∞")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(text_of, value))
    return str(value)


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
    columns = {**table.columns, **{key: heading(table.columns[key], there[key], turns) for key in there}}
    if turns is None or not are_mixed(turns):
        return replace(table, columns=columns)
    shown = [dict(row) for row in (table.rows if table.shown is None else table.shown)]
    for key, quantity in there.items():
        # infinity is so in whatever unit
        if any(row.get(key) != math.inf for row in shown):
            _write_units(shown, key, quantity, turns)
    return replace(table, columns=columns, shown=shown)


def _write_units(rows: Sequence[dict[str, object]], key: str, quantity: str, turns: Sequence[bool | None]) -> None:
    numbers = [None if (value := row.get(key)) is None else text_of(value) for row in rows]
    for row, number in zip(rows, numbers_of(numbers, quantity, turns), strict=True):
        row[key] = number
