"""`actuators diff`: what differs between the joints and motors of two files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import tyro

from ..inspection.compare import differences
from ..inspection.inspect import inspect_robots
from .command import Answer, Command, Table
from .variants import choices


@dataclass(kw_only=True)
class Diff(Command):
    """Show what differs between the joints and motors of two files; the exit code is 1 where something does.

    Robots are the same by path, or where each file has one; joints by name. Numbers are SI, so that a USD file can be
    compared with an MJCF file. With the same file twice and a variant, the variants of a robot are compared.
    """

    first: tyro.conf.Positional[Path]
    """USD, MJCF (.xml, .mjcf) or URDF file."""
    second: tyro.conf.Positional[Path]
    """Another one."""
    first_variant: tuple[str, ...] = ()
    """Variants to select in the first file, SET=CHOICE each."""
    second_variant: tuple[str, ...] = ()
    """Variants to select in the second file, SET=CHOICE each."""

    def answer(self) -> Answer:
        """See the class."""
        files = (self.first, self.first_variant), (self.second, self.second_variant)
        sides = [inspect_robots(file, choices(variant)) for file, variant in files]
        rows = [asdict(difference) for difference in differences(*sides)]
        problems = [
            f"{file}: {line}"
            for (file, _), robots in zip(files, sides, strict=True)
            for robot in robots
            for line in robot.problems
        ]
        names = [" ".join([file.name, *variant]) for file, variant in files]
        columns = {"robot": "robot", "joint": "joint", "property": "property", "unit": "unit"}
        columns |= {"first": names[0], "second": names[1]}
        if len({row["robot"] for row in rows}) < 2:
            del columns["robot"]
        notes = [*problems, *([] if rows else ["Their joints and motors are the same."])]
        return Answer([Table("differences", columns, rows)], notes, bool(rows or problems))
