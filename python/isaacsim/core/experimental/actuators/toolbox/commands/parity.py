"""`actuators parity`: laws of peers beside ours, and how far they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...components.quiet_warp import quiet_warp
from ...pipeline.step.native import has_native_core
from ..parity.compare import SAME, Compared, Failed, Parity, parity
from ..parity.peer import Difference
from .answer import Answer, Table
from .arguments import Parity as Arguments
from .show import progress_bar

COLUMNS = {
    "peer": "peer",
    "law": "its law",
    "ours": "stages here",
    "precision": "precision",
    "states": "states",
    "steps": "steps",
    "largest": "largest effort [N·m]",
    "difference": "largest difference [N·m]",
    "relative": "relative",
    "verdict": "verdict",
}
"""Headings of the table of laws by the keys of a row."""
_LEFT_OUT = {"peer": "peer", "law": "law that is not compared", "reason": "reason"}
_MISSING = {"peer": "peer that is not compared", "reason": "reason", "install": "install"}
_DIFFERS, _FAILED = "differs", "failed"


def answer(arguments: Arguments) -> Answer:
    """Answer `actuators parity`.

    Raises:
        ValueError: An option is out of range.
    """
    sizes = {"states": arguments.states, "steps": arguments.steps, "seed": arguments.seed}
    with progress_bar("comparing", hidden=arguments.json) as progress, quiet_warp():
        found = parity(arguments.peer, **sizes, progress=progress)
    lines = list(dict.fromkeys(_lines(found.compared)))
    rows = [_compared(found, one) for one in found.compared] + [_failed(found, one) for one in found.failed]
    shown = [_shown(row, lines) for row in rows]
    left_out = [{"peer": one.peer, "law": ", ".join(one.laws), "reason": one.reason} for one in found.left_out]
    missing = [{"peer": one.peer.name, "reason": one.reason, "install": one.peer.install} for one in found.missing]
    is_wrong = any(row["verdict"] in (_DIFFERS, _FAILED) for row in rows) or bool(arguments.peer and missing)
    tables = [
        Table("laws", COLUMNS, rows, shown=shown),
        Table("left_out", _LEFT_OUT, left_out),
        Table("missing", _MISSING, missing),
    ]
    return Answer(tables, _notes(found, lines), is_wrong)


def _lines(compared: Iterable[Compared]) -> Iterator[Difference]:
    """Return the intended differences that showed."""
    for one in compared:
        if one.case.unlike is not None and not one.is_same:
            yield one.case.unlike


def _compared(found: Parity, one: Compared) -> dict[str, object]:
    line = one.case.unlike
    return {
        "peer": one.case.peer,
        "version": found.versions[one.case.peer],
        "law": one.case.law,
        "ours": one.ours,
        "precision": one.case.precision,
        "states": one.states,
        "steps": one.steps,
        "largest": one.largest,
        "difference": one.difference,
        "relative": one.relative,
        "unexplained": one.unexplained,
        "verdict": f"same to {SAME:.0e}"
        if one.is_same
        else f"{_DIFFERS} as documented"
        if one.is_explained
        else _DIFFERS,
        "line": None if line is None or one.is_same else _reference(line),
    }


def _failed(found: Parity, one: Failed) -> dict[str, object]:
    ours = [part.__name__ for part in one.case.ours]
    known: dict[str, object] = {
        "peer": one.case.peer,
        "version": found.versions[one.case.peer],
        "law": one.case.law,
        "ours": ours,
    }
    return known | {"verdict": _FAILED, "error": one.error}


def _shown(row: dict[str, object], lines: list[Difference]) -> dict[str, object]:
    """Return a row for people: stages by their short names, lines of the documentation by number, as in the notes."""
    ours = row["ours"]
    assert isinstance(ours, list)
    short = [one.removesuffix("Config").removesuffix("Control").removesuffix("Clamping") for one in ours]
    said = [number for number, one in enumerate(lines, 1) if row.get("line") == _reference(one)]
    verdict = f"{row['verdict']} [{said[0]}]" if said else row["verdict"]
    return row | {"peer": f"{row['peer']} {row['version']}", "ours": " + ".join(short), "verdict": verdict}


def _reference(line: Difference) -> str:
    return f"docs/{line.page}, {line.line}: {line.where}"


def _notes(found: Parity, lines: list[Difference]) -> list[str]:
    notes = [f"[{number}] {_reference(one)}" for number, one in enumerate(lines, 1)]
    engine = "the native core" if has_native_core() else "Warp"
    notes.append(f"This package computes in float32, here with {engine}.")
    if lines:
        notes.append(f"Where no line says otherwise, these laws are the same to {SAME:.0e} of the largest effort, too.")
    notes += [
        f"{one.case.peer}, {one.case.law}: differs by {one.unexplained:.3g} N·m that no line of docs/ explains."
        for one in found.compared
        if not (one.is_same or one.is_explained)
    ]
    notes += [f"{one.case.peer}, {one.case.law}: {one.error}" for one in found.failed]
    return notes if found.compared else [*notes, "No law was compared."]
