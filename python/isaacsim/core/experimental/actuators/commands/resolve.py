"""`actuators resolve`: what the file says, what a configuration says, and what is applied."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ..inspection.groups import resolve_groups
from ..inspection.resolve import resolve
from ..motor_files.files import load_motors
from .command import Answer, Command, Table

_COLUMNS = {
    "robot": "robot",
    "joint": "joint",
    "property": "property",
    "unit": "unit",
    "file": "file",
    "config": "config",
    "applied": "applied",
    "rule": "by",
}
_GROUPS = {"group": "group"} | {key: heading for key, heading in _COLUMNS.items() if key != "unit"}


@dataclass(kw_only=True)
class Resolve(Command):
    """Show which values hold after play: what the file says, what a configuration says, what is applied, and why.

    `actuator_limit` is the largest effort that the actuator gives, `effort_limit` that of the joint, which bounds its
    drive only.
    """

    file: tyro.conf.Positional[Path]
    """USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json; by default the actuators of the file."""
    groups: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Take the groups of Isaac Lab that the stage keeps, which `to_usd` wrote; only what differs is told."""

    def answer(self) -> Answer:
        """See the class.

        Raises:
            ValueError: A configuration and groups.
        """
        if self.groups:
            if self.config is not None:
                raise ValueError(f"--config = {self.config} with --groups: must be one of them. Leave one out.")
            return Answer([Table("values", _GROUPS, [asdict(row) for row in resolve_groups(self.file)])])
        rows = [asdict(row) for row in resolve(self.file, None if self.config is None else load_motors(self.config))]
        hidden = {"config"} if self.config is None else set[str]()
        if len({row["robot"] for row in rows}) < 2:
            hidden.add("robot")
        columns = {key: heading for key, heading in _COLUMNS.items() if key not in hidden}
        return Answer([Table("values", columns, rows)])
