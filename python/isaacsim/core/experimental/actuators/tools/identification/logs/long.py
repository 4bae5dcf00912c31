"""Tables with a row per sample and joint: `time`, `joint`, `command`, `position` and others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..log import SIGNALS
from .table import Table, column_of


def widened(table: Table, joints: Sequence[str]) -> Table:
    """Return a table with a row per sample and joint as one with a row per sample."""
    time, rows = table.time, _rows(table, joints)
    names = [name for signal in SIGNALS if (name := column_of(table.columns, "", signal))]
    times = {joint: table.numbers(time, here) for joint, here in rows.items()}
    first = next(iter(times))
    for joint, one in times.items():
        if not np.array_equal(one, times[first]):
            raise ValueError(
                f"{table.path}: {joint} has {len(one)} times, {first} has {len(times[first])}, and they are not those: "
                "each sample must have a row of each joint. Export the log again."
            )
    columns = {f"{joint}/{name}": table.numbers(name, here) for name in names for joint, here in rows.items()}
    unread = [name for name in table.columns if name not in (time, "joint", *names)]
    return Table(table.path, {time: times[first], **columns}, table.settings, skipped=[*table.skipped, *unread])


def _rows(table: Table, joints: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the rows of each joint of the robot that is in a table."""
    words = np.array([str(word).strip() for word in table.columns["joint"]], str)
    rows = {joint: np.flatnonzero(words == joint) for joint in joints if joint in words}
    if not rows:
        rule = f"must have some of {', '.join(joints)}. Rename them, or choose the robot of this log"
        raise ValueError(f"{table.path} has joints {', '.join(dict.fromkeys(words.tolist()))}: {rule}.")
    return rows
