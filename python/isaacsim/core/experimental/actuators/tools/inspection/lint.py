"""The linter of robot files: errors, doubtful values and notes."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

from ...specs.arguments import number_of, path_of
from ..stability.table import Stability
from .described import InspectedRobot
from .findings import Finding, split_message
from .inspect import inspect_robots
from .opened import stabilities
from .rules.rule import Checked
from .rules.table import RULES


def lint(file: str | os.PathLike[str], dt: float | None = None) -> list[Finding]:
    """Return the findings on a robot file: its actuators, drives, limits and units.

    Args:
        file: Path of a USD, MJCF (`.xml`, `.mjcf`) or URDF file.
        dt: Physics step [s] at which the gains have to be stable; the file is opened with MuJoCo. None skips these
            rules.

    Returns:
        The findings, robot by robot.

    Raises:
        FileNotFoundError: No such file.
        ValueError: `dt` is not a finite number > 0.
        ModuleNotFoundError: USD or MuJoCo is missing, which the extra `sim` brings.

    Example:
        >>> from isaacsim.core.experimental.actuators import lint
        >>> lint("data/robots/arm_2dof.usda")
        []
    """
    if dt is not None:
        _require_step(dt)
    path = path_of("file", file)
    try:
        robots = inspect_robots(path)
    except ValueError as error:
        _, problem, remedy = split_message(" ".join(str(error).split()).removeprefix(f"{path}: "))
        return [Finding("unreadable-file", "error", str(path), problem, remedy)]
    if not robots:
        problem = "no prim has PhysicsArticulationRootAPI, or no body has a joint, so that there is no robot."
        return [Finding("no-robot", "error", str(path), problem, "Apply the schema to the robot's root.")]
    stability, findings = ({}, []) if dt is None else _stability(path, robots, dt)
    for robot in robots:
        checked = Checked(robot, dt, stability.get(robot.path))
        findings += [finding for rule in RULES.values() for finding in rule(checked)]
    # a remark on the file belongs to all its robots
    return [finding for at, finding in enumerate(findings) if finding not in findings[:at]]


def _require_step(dt: float) -> None:
    if not (math.isfinite(number_of("dt", dt)) and dt > 0):
        raise ValueError(f"dt = {dt}: must be a finite number of seconds > 0, 1/240 for instance.")


def _stability(path: Path, robots: Sequence[InspectedRobot], dt: float) -> tuple[dict[str, Stability], list[Finding]]:
    """Return the stability of robots by path, or a finding if the file cannot be simulated."""
    try:
        return stabilities(path, [robot.path for robot in robots if not robot.problems], dt), []
    except ValueError as error:
        problem = f"cannot be simulated, so that its stability is not known: {error}"
        return {}, [Finding("not-simulated", "error", str(path), problem, "Correct the file, or leave --dt out.")]
