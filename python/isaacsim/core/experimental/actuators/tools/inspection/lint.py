"""The linter of robot files: errors, doubtful values and notes, and corrections in an overlay."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...base.errors import HostError
from ...base.extras import needs
from ...extension.articulation_actuators import ArticulationActuators
from ...simulators.authoring import motors_of
from ...simulators.simulation import Simulation
from ...specs.arguments import MODEL_FILES, number_of, path_of
from ...specs.motors import Motors
from ..stability.table import Stability
from .described import InspectedRobot
from .findings import Checked, Finding, Rule, split_message
from .inspect import inspect_robots, with_motors
from .rules import drives, portability, steps, units, values


def lint(file: str | os.PathLike[str], dt: float | None = None, config: Motors | None = None) -> list[Finding]:
    """Return the findings on a robot file: its actuators, drives, limits and units.

    Args:
        file: Path of a USD, MJCF (`.xml`, `.mjcf`) or URDF file.
        dt: Physics step [s] at which the gains have to be stable; the file is opened with MuJoCo. None skips these
            rules.
        config: Motors by pattern of joint names in place of those of the file; None means those of the file.

    Returns:
        The findings, robot by robot.

    Raises:
        FileNotFoundError: No such file.
        ValueError: `dt` is not a finite number > 0, or motors do not fit the robots.
        ModuleNotFoundError: USD or MuJoCo is missing, which the extra `sim` brings.

    Example:
        >>> from isaacsim.core.experimental.actuators import lint
        >>> lint("data/robots/arm_2dof.usda")
        []
    """
    if dt is not None and not 0.0 < number_of("dt", dt) < math.inf:
        raise ValueError(f"dt = {dt}: must be a finite number of seconds > 0, 1/240 for instance.")
    path = path_of("file", file)
    try:
        robots = inspect_robots(path)
    except ValueError as error:
        _, problem, remedy = split_message(" ".join(str(error).split()).removeprefix(f"{path}: "))
        return [Finding("unreadable-file", "error", str(path), problem, remedy)]
    if not robots:
        problem = "no prim has PhysicsArticulationRootAPI, or no body has a joint, so that there is no robot."
        return [Finding("no-robot", "error", str(path), problem, "Apply the schema to the robot's root.")]
    if config is not None:
        robots = [with_motors(robot, config, "config") for robot in robots]
    findings: list[Finding] = []
    stability: dict[str, Stability] = {}
    if dt is not None:
        try:
            stability = _stabilities(path, robots, dt, config)
        except (HostError, ValueError) as error:
            problem = f"cannot be simulated, so that its stability is not known: {error}"
            remedy = "Correct the file, or leave --dt out."
            findings.append(Finding("not-simulated", "error", str(path), problem, remedy))
    for robot in robots:
        findings += _by_rules(Checked(robot, dt, stability.get(robot.path)))
    # a remark on the file belongs to all its robots
    return [finding for at, finding in enumerate(findings) if finding not in findings[:at]]


def _by_rules(checked: Checked) -> Iterator[Finding]:
    """Yield the findings of all rules on a robot."""
    for name, rule in RULES.items():
        for remark in rule(checked):
            yield Finding(name, remark.severity, remark.where, remark.problem, remark.remedy, remark.edits)


def fix(
    file: str | os.PathLike[str], overlay: str | os.PathLike[str], dt: float | None = None
) -> tuple[list[Finding], list[Finding]]:
    """Write an overlay of a USD file with the corrections that need no guess.

    The file itself is never written. No overlay is written if nothing can be corrected.
    """
    path, place = path_of("file", file), path_of("overlay", overlay)
    if path.suffix.lower() in MODEL_FILES:
        raise ValueError(f"{path}: no layer can lie over it, for it is not USD. Correct the file itself.")
    findings = lint(path, dt)
    fixable = [finding for finding in findings if finding.edits]
    if not fixable:
        return [], findings
    with needs("an overlay", "usd"):
        from ...files.usd.overlay import write_overlay

    write_overlay(path, place, [edit for finding in fixable for edit in finding.edits])
    left = lint(overlay, dt)
    still = {(finding.rule, finding.where, finding.problem) for finding in left}
    return [one for one in fixable if (one.rule, one.where, one.problem) not in still], left


def _stabilities(
    file: Path, robots: Iterable[InspectedRobot], dt: float, config: Motors | None
) -> dict[str, Stability]:
    """Return the stability of robots of a file at a physics step, by path; of their actuators, without drives."""
    usable = [robot.path for robot in robots if not robot.problems]
    stabilities = {}
    with warnings.catch_warnings():
        # the rules report on the file
        warnings.simplefilter("ignore", UserWarning)
        with Simulation(file, dt=dt) as sim:
            wrappers = {
                path: ArticulationActuators(path)
                if sim.stage is not None and config is None
                else ArticulationActuators.from_configs(path, motors_of(sim, path) if config is None else config)
                for path in usable
            }
            sim.play()
            for path, wrapper in wrappers.items():
                if wrapper.actuators:
                    stabilities[path] = wrapper.stability(dt=dt)
    return stabilities


_FUNCTIONS: tuple[Rule, ...] = (
    drives.unusable_actuator,
    drives.without_effect,
    drives.two_values,
    drives.earlier_name,
    portability.several_targets,
    portability.no_stand_in,
    portability.refused_elsewhere,
    portability.approximated,
    portability.friction_fallback,
    portability.unmarked_fallback,
    drives.undriven_joint,
    drives.drive_and_actuator,
    drives.no_effort_limit,
    drives.limit_above_joint,
    units.limits_in_radians,
    units.speed_in_degrees,
    units.speed_in_radians,
    units.gains_in_degrees,
    values.undamped,
    values.stall_below_peak,
    values.zero_limit,
    values.huge_value,
    values.long_delay,
    values.stuck_joint,
    values.knee_without_linkage,
    values.unread_supply,
    values.unread_derating,
    values.transmission_armature,
    steps.unstable_gains,
    steps.unchecked_gains,
    steps.gains_against_inertia,
    steps.assumed_inertia_too_large,
    steps.unresolved_spring,
    steps.coarse_encoder,
)

RULES = {function.__name__.replace("_", "-"): function for function in _FUNCTIONS}
"""All rules by name, in the order in which findings are reported."""
