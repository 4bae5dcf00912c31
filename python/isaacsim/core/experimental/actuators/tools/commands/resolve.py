"""`actuators resolve`: values in the file, in a configuration, and as applied."""

from __future__ import annotations

from dataclasses import asdict

from ..inspection.resolve import resolve, resolve_groups
from .answer import Answer, Table, headings
from .arguments import Resolve
from .opened import motors_in

_COLUMNS = headings("robot | joint | property | unit | file | config | applied | rule")
_GROUPS = {"group": "group"} | {key: heading for key, heading in _COLUMNS.items() if key != "unit"}


def answer(arguments: Resolve) -> Answer:
    """Answer `actuators resolve`; ValueError for a configuration with groups."""
    if arguments.groups:
        if arguments.config is not None:
            raise ValueError(f"--config = {arguments.config} with --groups: must be one of them. Leave one out.")
        return Answer([Table("values", _GROUPS, [asdict(row) for row in resolve_groups(arguments.file)])])
    motors = motors_in(arguments.config)
    rows = resolve(arguments.file, motors)
    columns = dict(_COLUMNS)
    if motors is None:
        del columns["config"]
    if len({row.robot for row in rows}) < 2:
        del columns["robot"]
    # words can be broken between law and parameter
    shown = [asdict(row) | {"property": row.property.replace(".", ": ", 1)} for row in rows if not row.is_default]
    table = Table("values", columns, list(map(asdict, rows)), shown=shown)
    return Answer([table], ["Actuators and motors switch the drives of their joints off."])
