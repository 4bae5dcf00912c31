"""Columns of tables under other names and in other units, made what `wide` and `widened` read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from ..log import SIGNALS, UNITS
from .asked import Asked
from .table import Source, Table, column_of

_QUANTITIES = {"time": "s", "joint": None, **SIGNALS}
"""Unit of what a column may be; None for words."""
_ANY_JOINT = "{joint}"


def with_columns(table: Table, asked: Asked) -> Table:
    """Return a table with columns under the names of logs, in SI."""
    if not asked.columns:
        return table
    is_long = "joint" in table.columns or "joint" in asked.columns
    sources: dict[str, Source] = {}
    for key, word in asked.columns.items():
        quantity = _quantity(key, asked)
        name, unit = _split(word, quantity)
        found = dict(_sources(table, key, name, is_long, asked))
        if not found:
            units = "" if quantity is None else f", and its unit one of {', '.join(UNITS[quantity])}"
            listed = ", ".join(table.columns) or "none"
            raise ValueError(
                f"{table.path} has columns {listed}: columns {key} = {word}: must be one of them{units}. Correct it."
            )
        sources |= {target: Source(source, 1.0 if unit is None else unit) for target, source in found.items()}
    taken = {one.name for one in sources.values()}
    rest = {name: column for name, column in table.columns.items() if name not in taken and name not in sources}
    hidden = [name for name in table.columns if name in sources and name not in taken]
    columns = {**rest, **{target: table.columns[one.name] for target, one in sources.items()}}
    return dataclasses.replace(table, columns=columns, sources=sources, skipped=[*table.skipped, *hidden])


def _quantity(key: str, asked: Asked) -> str | None:
    """Return the unit in a log of what a column is."""
    joint, _, signal = key.rpartition("/")
    if signal not in _QUANTITIES or (joint and (joint not in asked.joints or signal not in SIGNALS)):
        known = f"{', '.join(_QUANTITIES)}, or a signal of a joint such as {asked.joints[0]}/position"
        raise ValueError(f"columns {key}: must be {known}, of {', '.join(asked.joints)}. Correct it.")
    return _QUANTITIES[signal]


def _split(word: str, quantity: str | None) -> tuple[str, float | None]:
    """Return name and unit of a column; what follows a colon and is no unit is part of the name."""
    name, _, unit = word.rpartition(":")
    known: Mapping[str, float] = {} if quantity is None else UNITS[quantity]
    return (name, known[unit]) if unit in known and ":" in word else (word, None)


def _sources(table: Table, key: str, name: str, is_long: bool, asked: Asked) -> Iterator[tuple[str, str]]:
    """Yield names that logs have, and those of their columns in a table."""
    joint, _, signal = key.rpartition("/")
    if signal not in SIGNALS:
        source = name or next((one for one in (key, f"{key} [s]") if one in table.columns), "")
        if source in table.columns:
            yield key, source
        return
    if is_long:
        source = name or column_of(table.columns, "", signal) or ""
        if source in table.columns and not joint:
            yield signal, source
        return
    if name and not joint and len(asked.joints) > 1 and _ANY_JOINT not in name:
        raise ValueError(
            f"columns {key} = {name}: must tell its joint. Give {asked.joints[0]}/{signal}={name}, or {_ANY_JOINT} in "
            "the name for that of each joint."
        )
    for one in (joint,) if joint else asked.joints:
        usual = column_of(table.columns, f"{one}/", signal)
        if usual is None and len(asked.joints) == 1:
            usual = column_of(table.columns, "", signal)
        source = name.replace(_ANY_JOINT, one) or usual or ""
        if source in table.columns:
            yield f"{one}/{signal}", source
