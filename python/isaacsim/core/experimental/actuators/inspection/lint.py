"""Look for what is wrong or doubtful in a robot file."""

from __future__ import annotations

import math
import os
from pathlib import Path

from ..specs.arguments import number_of, path_of
from .findings import Finding, told_apart
from .inspect import inspect_robots
from .opened import stabilities
from .rules.rule import Checked
from .rules.table import RULES


def lint(file: str | os.PathLike[str], dt: float | None = None) -> list[Finding]:
    """Return what is wrong or doubtful in a robot file: its actuators, drives, limits and units.

    Args:
        file: Path of a USD, MJCF (`.xml`, `.mjcf`) or URDF file.
        dt: Physics step [s] at which the gains have to be stable, for which the file is opened with MuJoCo; None leaves
            these rules out.

    Returns:
        A finding each, robot by robot; none where all is well.

    Raises:
        FileNotFoundError: No such file.
        ValueError: `dt` is not a finite number > 0.
        ModuleNotFoundError: USD or MuJoCo is missing, which the extra `sim` brings.

    Example:
        >>> from isaacsim.core.experimental.actuators import lint
        >>> lint("data/robots/arm_2dof.usda")
        []
    """
    if dt is not None and not (math.isfinite(number_of("dt", dt)) and dt > 0):
        raise ValueError(f"dt = {dt}: must be a finite number of seconds > 0, 1/240 for instance.")
    path = path_of("file", file)
    try:
        robots = inspect_robots(path)
    except ValueError as error:
        _, problem, remedy = told_apart(" ".join(str(error).split()).removeprefix(f"{path}: "))
        return [Finding("unreadable-file", "error", str(path), problem, remedy)]
    if not robots:
        problem = "no prim has PhysicsArticulationRootAPI, or no body has a joint, so that there is no robot."
        return [Finding("no-robot", "error", str(path), problem, "Apply the schema to the robot's root.")]
    findings: list[Finding] = []
    stability = {}
    if dt is not None:
        try:
            stability = stabilities(path, [robot.path for robot in robots if not robot.problems], dt)
        except ValueError as error:
            findings.append(_not_simulated(path, str(error)))
    for robot in robots:
        findings += _of(Checked(robot, dt, stability.get(robot.path)))
    # a remark on the file is one of all its robots
    return [finding for at, finding in enumerate(findings) if finding not in findings[:at]]


def _of(checked: Checked) -> list[Finding]:
    return [finding for rule in RULES.values() for finding in rule(checked)]


def _not_simulated(path: Path, why: str) -> Finding:
    problem = f"cannot be simulated, so that its stability is not known: {why}"
    return Finding("not-simulated", "error", str(path), problem, "Correct the file, or leave --dt out.")
