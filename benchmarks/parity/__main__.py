"""Compare the laws of other libraries with those of this package, where they are installed.

./python.sh -m benchmarks.parity [--peer newton mujoco] [--json]

Both get the same random numbers, states and commands, edges of limits among them. A row shows the largest difference
of efforts of a law; the others are named with the reason, and libraries that are missing with the command that installs
them. The exit code is 1 if a law differs without a line of the documentation that explains it, or if a library of
--peer is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence

from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.engine.step.native import has_native_core
from isaacsim.core.experimental.actuators.tools.commands.answer import Answer, Table
from isaacsim.core.experimental.actuators.tools.commands.show import lines, progress_bar, show, show_json

from .cases import PEERS
from .compare import SAME, Compared, Failed, Parity, parity
from .peer import Difference

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


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.parity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [peer.name for peer in PEERS]
    parser.add_argument("--peer", nargs="*", default=(), choices=names, help="libraries; default: all installed ones")
    parser.add_argument("--states", type=int, default=1000, help="random states of a step, a multiple of 8; 1000")
    parser.add_argument("--steps", type=int, default=100, help="steps, each with new states and commands; 100")
    parser.add_argument("--seed", type=int, default=0, help="seed of numbers, states and commands; 0")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(arguments)
    try:
        found = answer(options.peer, options.states, options.steps, options.seed, hidden=options.json)
    except ValueError as error:
        print(*(f"error: {line}" for line in lines(error)), sep="\n", file=sys.stderr)
        return 1
    (show_json if options.json else show)(found)
    return int(found.is_wrong)


def answer(
    peers: Collection[str] = (), states: int = 1000, steps: int = 100, seed: int = 0, *, hidden: bool = False
) -> Answer:
    """Return tables and notes of a comparison, see `parity`; `hidden` shows no progress.

    Raises:
        ValueError: An argument is out of range.
    """
    with progress_bar("comparing", hidden=hidden) as progress, quiet_warp():
        found = parity(peers, states=states, steps=steps, seed=seed, progress=progress)
    documented = list(dict.fromkeys(_lines(found.compared)))
    rows = [_compared(found, one) for one in found.compared] + [_failed(found, one) for one in found.failed]
    shown = [_shown(row, documented) for row in rows]
    left_out = [{"peer": one.peer, "law": ", ".join(one.laws), "reason": one.reason} for one in found.left_out]
    missing = [{"peer": one.peer.name, "reason": one.reason, "install": one.peer.install} for one in found.missing]
    is_wrong = any(row["verdict"] in (_DIFFERS, _FAILED) for row in rows) or bool(peers and missing)
    tables = [
        Table("laws", COLUMNS, rows, shown=shown),
        Table("left_out", _LEFT_OUT, left_out),
        Table("missing", _MISSING, missing),
    ]
    return Answer(tables, _notes(found, documented), is_wrong)


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


if __name__ == "__main__":
    sys.exit(main())
