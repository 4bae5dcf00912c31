"""`actuators lint`: errors and doubtful values of robot files."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from ...base.values import grouped
from ..inspection.findings import Finding
from ..inspection.lint import fix, lint
from ..inspection.untrusted import lint_untrusted
from .answer import Answer, Table, headings
from .arguments import Lint
from .opened import motors_in

_KEYS = ("rule", "severity", "where", "problem", "remedy")


def answer(arguments: Lint) -> Answer:
    """Answer `actuators lint`."""
    files = list(arguments.files)
    if not files:
        raise ValueError("no file to look at. Name a USD, MJCF or URDF file.")
    motors = motors_in(arguments.config)
    if arguments.fix is None and not arguments.untrusted:
        return _found(arguments, functools.partial(lint, config=motors))
    if motors is not None:
        raise ValueError(
            "--config: must not be beside --fix or --untrusted, which look at what files have. Leave it out."
        )
    if arguments.fix is None:
        return _found(arguments, lint_untrusted)
    if arguments.untrusted:
        raise ValueError("--fix and --untrusted: must not be given together, for --fix reads the file in this process.")
    if len(files) > 1:
        raise ValueError(f"--fix = {arguments.fix}: corrects one file, {len(files)} are named. Name one.")
    fixed, left = fix(files[0], arguments.fix, arguments.dt)
    tables = [_table("fixed", {files[0]: fixed}, files), _table("left", {arguments.fix: left}, files)]
    notes = [f"{arguments.fix} is an overlay of {files[0]}: {len(fixed)} corrected, {len(left)} left."]
    if not fixed:
        notes = [f"Nothing can be corrected without a guess: {arguments.fix} is not written."]
    return Answer(tables, notes, _is_wrong(left))


def _found(arguments: Lint, check: Callable[[Path, float | None], list[Finding]]) -> Answer:
    """Return what a check finds in files."""
    found = {file: check(file, arguments.dt) for file in arguments.files}
    counts = Counter(finding.severity for findings in found.values() for finding in findings)
    notes = f", notes: {counts['note']}" if counts["note"] else ""
    return Answer(
        [_table("findings", found, arguments.files)],
        [f"errors: {counts['error']}, warnings: {counts['warning']}{notes}, files: {len(found)}"],
        any(map(_is_wrong, found.values())),
    )


def _table(name: str, found: dict[Path, list[Finding]], files: Sequence[Path]) -> Table:
    """Return a table of findings; people see sentences, and one note of each rule."""
    columns = headings("file | severity | finding" if len(files) > 1 else "severity | finding")
    every = [(str(file), finding) for file, findings in found.items() for finding in findings]
    keys = [(file, one.rule) if one.severity == "note" else id(one) for file, one in every]
    groups = grouped(zip(keys, every, strict=True))
    shown = []
    for (file, first), *others in groups.values():
        names = ", ".join(other.where.rpartition("/")[2] for _, other in others)
        text = f"<{first.where}>: {first.problem} {first.remedy} [{first.rule}]"
        more = f" The same rule notes {names}, see --json." if names else ""
        shown.append({"file": file, "severity": first.severity, "finding": text + more})
    rows = [{"file": file} | {key: getattr(finding, key) for key in _KEYS} for file, finding in every]
    return Table(name, columns, rows, {"fixed": "corrected", "left": "left"}.get(name), shown)


def _is_wrong(found: Sequence[Finding]) -> bool:
    """Return True if there is more than notes."""
    return any(finding.severity != "note" for finding in found)
