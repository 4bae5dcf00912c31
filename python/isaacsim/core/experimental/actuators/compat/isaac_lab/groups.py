"""The groups of a robot: which joints each has, what drives them, and what the solver gets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...motor_properties import read_property
from ...pipeline.entry import ActuatorConfig
from ...specs.distributions import Uniform
from ...specs.patterns import assigned
from .kinds import IMPLICIT, require_known_model
from .motors import actuators_of, delay_range
from .resolve import DEFAULTS, DRIVE, EXPLICIT_EFFORT_LIMIT_SIM, PROPERTIES, SOLVER, Rules, resolve
from .table import ResolutionTable

# properties that articulations call otherwise
_THERE = {"friction": "static_friction"}


@dataclass(frozen=True)
class Groups:
    """What the groups of a robot come to.

    Args:
        actuators: An actuator for each joint of explicit groups, with its name.
        properties: What the solver gets, and the drives of implicit groups: name, columns, values `(robots, columns)`.
        delays: Delay of joints that have one, by pattern.
        uncovered: Names of the joints in no group.
        table: Where cfgs and robot differ.
    """

    actuators: list[tuple[ActuatorConfig, str]]
    properties: list[tuple[str, list[int], np.ndarray]]
    delays: dict[str, Uniform]
    uncovered: list[str]
    table: ResolutionTable


def joints_of_groups(
    groups: Mapping[str, Any], names: Sequence[str], problems: list[str]
) -> dict[str, tuple[Any, list[int]]]:
    """The cfg of each group, and the columns of its joints; groups without any are left out.

    What is wrong goes to `problems`: a joint in two groups, a group without joints, or a cfg that cannot be used.

    Raises:
        ValueError: They are no dictionary.
    """
    if not isinstance(groups, Mapping):
        raise ValueError(f"groups = {groups!r:.120}: must be a dictionary. Write {{name: cfg}}.")
    owner: dict[str, str] = {}
    found: dict[str, tuple[Any, list[int]]] = {}
    for group, cfg in groups.items():
        try:
            require_known_model(cfg)
        except ValueError as error:
            problems.append(f"groups[{group!r}]: {error}")
            continue
        expressions = [cfg.joint_names_expr] if isinstance(cfg.joint_names_expr, str) else list(cfg.joint_names_expr)
        matched, wrong = assigned(expressions, names, f"groups[{group!r}].joint_names_expr", every=False)
        problems += wrong
        problems += [
            f"joint {joint} is in groups {owner[joint]!r} and {group!r}: must be in one. Narrow one of them."
            for joint in matched
            if joint in owner
        ]
        owner |= dict.fromkeys(matched, group)
        if not expressions:
            problems.append(f"groups[{group!r}].joint_names_expr = []: must name joints. Add a pattern.")
        if matched:
            found[group] = cfg, [at for at, joint in enumerate(names) if joint in matched]
    return found


def values_of(articulation: Any) -> dict[str, np.ndarray]:
    """What the robots have now, by name of `PROPERTIES`, `(robots, DOFs)`; `DEFAULTS` for what cannot be asked."""
    shape = len(articulation.paths), articulation.num_dofs
    found: dict[str, np.ndarray] = {}
    for name in PROPERTIES:
        given = read_property(articulation, _THERE.get(name, name))
        found[name] = np.array(np.broadcast_to(DEFAULTS[name] if given is None else given, shape), np.float32)
    return found


def resolve_groups(
    groups: Mapping[str, Any], names: Sequence[str], robot: Mapping[str, np.ndarray], device: Any, rules: Rules
) -> Groups:
    """Return what the groups of a robot come to.

    Args:
        groups: Cfgs by name of the group.
        names: Names of the robot's joints.
        robot: What the robots have, see `values_of`.
        device: Where efforts are computed.
        rules: `documentation` or `code`, see `resolve.py`.

    Raises:
        ValueError: A joint in two groups, a group without joints, or a value that cannot be used; lists every problem.
    """
    problems: list[str] = []
    found = Groups([], [], {}, [], ResolutionTable([]))
    rows = list(found.table.rows)
    num_robots = len(robot["stiffness"])
    of_groups = joints_of_groups(groups, names, problems)
    for group, (cfg, columns) in of_groups.items():
        joints = [names[at] for at in columns]
        own = {name: robot[name][:, columns] for name in PROPERTIES}
        try:
            resolved = resolve(cfg, joints, columns, own, num_robots, rules=rules, group=group)
            implicit = resolved.model == IMPLICIT
            if not implicit:
                found.actuators.extend(actuators_of(cfg, resolved, num_robots, device))
                low, high = delay_range(cfg, resolved)
                found.delays.update({re.escape(joint): Uniform(low, high, per_robot=True) for joint in joints if high})
        except (ValueError, OSError) as error:
            problems += [f"groups[{group!r}]: {line}" for line in str(error).splitlines()]
            continue
        rows += resolved.rows
        for name in (*SOLVER, *(DRIVE if implicit else ())):
            differs = resolved.values[name] != own[name]
            if name == "effort_limit_sim":
                # that of explicit models stands for none
                differs &= ~(np.isinf(own[name]) & (resolved.values[name] == EXPLICIT_EFFORT_LIMIT_SIM))
            if name in resolved.said and differs.any():
                found.properties.append((_THERE.get(name, name), columns, resolved.values[name]))
    if problems:
        raise ValueError("\n".join(problems))
    covered = {at for _, columns in of_groups.values() for at in columns}
    uncovered = [joint for at, joint in enumerate(names) if at not in covered]
    return Groups(found.actuators, found.properties, found.delays, uncovered, ResolutionTable(rows))
