"""Units in tables that have a row for each joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..plots.units import are_mixed, heading, numbers_of
from .answer import Table
from .show import text_of


def with_units(table: Table, quantities: Mapping[str, str], turns: Sequence[bool | None] | None) -> Table:
    """Return a table with units: in its headings, or behind each number where joints of both kinds are.

    Rows for programs stay as they are.

    Args:
        table: A row for each joint, with headings without units.
        quantities: Quantities by key of the column, fields of `Units`; other columns have none.
        turns: For each row, True if its joint turns, False if it slides, None if that is unknown; None for all unknown.
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
