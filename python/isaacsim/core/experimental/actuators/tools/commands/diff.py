"""`actuators diff`: differences between the joints and motors of two files."""

from __future__ import annotations

from dataclasses import asdict

from ..inspection.compare import differences
from ..inspection.inspect import inspect_robots
from .answer import Answer, Table
from .arguments import Diff, choices


def answer(arguments: Diff) -> Answer:
    """Answer `actuators diff`."""
    files = (arguments.first, arguments.first_variant), (arguments.second, arguments.second_variant)
    sides = [inspect_robots(file, choices(variant)) for file, variant in files]
    rows = [asdict(difference) for difference in differences(*sides)]
    problems = [
        f"{file}: {line}"
        for (file, _), robots in zip(files, sides, strict=True)
        for robot in robots
        for line in robot.problems
    ]
    first, second = (" ".join([file.name, *variant]) for file, variant in files)
    columns = {"robot": "robot", "joint": "joint", "property": "property", "unit": "unit"}
    columns |= {"first": first, "second": second}
    if len({row["robot"] for row in rows}) < 2:
        del columns["robot"]
    notes = problems + ["Their joints and motors are the same."] * (not rows)
    return Answer([Table("differences", columns, rows)], notes, bool(rows or problems))
