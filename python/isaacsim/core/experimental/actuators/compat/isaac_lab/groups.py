"""The groups of a robot: which joints each has, what drives them, and what the solver gets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...hosts.values import as_numpy
from ...pipeline.entry import ActuatorConfig
from ...specs.distributions import Uniform
from ...specs.patterns import assigned
from .kinds import IMPLICIT, require_known_model
from .motors import actuators_of, delay_range
from .resolve import DEFAULTS, DRIVE, EXPLICIT_EFFORT_LIMIT_SIM, PROPERTIES, SOLVER, Rules, resolve
from .table import ResolutionTable

# where an articulation has each property: a getter, and which of what it returns
_GETTERS = {
    "stiffness": ("get_dof_gains", 0),
    "damping": ("get_dof_gains", 1),
    "effort_limit_sim": ("get_dof_max_efforts", None),
    "velocity_limit_sim": ("get_dof_max_velocities", None),
    "armature": ("get_dof_armatures", None),
    "friction": ("get_dof_friction_properties", 0),
    "dynamic_friction": ("get_dof_friction_properties", 1),
    "viscous_friction": ("get_dof_friction_properties", 2),
}


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


def values_of(articulation: Any) -> dict[str, np.ndarray]:
    """What the robots have now, by name of `PROPERTIES`, `(robots, DOFs)`; `DEFAULTS` for what cannot be asked."""
    shape = len(articulation.paths), articulation.num_dofs
    found: dict[str, np.ndarray] = {}
    for name, (getter, at) in _GETTERS.items():
        given = getattr(articulation, getter)() if hasattr(articulation, getter) else DEFAULTS[name]
        given = given[at] if at is not None and isinstance(given, tuple | list) else given
        found[name] = np.array(np.broadcast_to(as_numpy(given), shape), np.float32)
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
    if not isinstance(groups, Mapping):
        raise ValueError(f"groups = {groups!r:.120}: must be a dictionary. Write {{name: cfg}}.")
    problems: list[str] = []
    owner: dict[str, str] = {}
    found = Groups([], [], {}, [], ResolutionTable([]))
    rows = list(found.table.rows)
    num_robots = len(robot["stiffness"])
    for group, cfg in groups.items():
        try:
            require_known_model(cfg)
            expressions = cfg.joint_names_expr
            expressions = [expressions] if isinstance(expressions, str) else list(expressions)
            matched, wrong = assigned(expressions, names, f"groups[{group!r}].joint_names_expr", every=False)
            problems += wrong
            problems += [
                f"joint {joint} is in groups {owner[joint]!r} and {group!r}: must be in one. Narrow one of them."
                for joint in matched
                if joint in owner
            ]
            owner |= dict.fromkeys(matched, group)
            columns = [at for at, joint in enumerate(names) if joint in matched]
            if not columns:
                continue
            joints = [names[at] for at in columns]
            own = {name: robot[name][:, columns] for name in PROPERTIES}
            resolved = resolve(cfg, joints, columns, own, num_robots, rules=rules, group=group)
            rows += resolved.rows
            implicit = resolved.model == IMPLICIT
            if not implicit:
                found.actuators.extend(actuators_of(cfg, resolved, num_robots, device))
                low, high = delay_range(cfg, resolved)
                found.delays.update({re.escape(joint): Uniform(low, high, per_robot=True) for joint in joints if high})
            for name in (*SOLVER, *(DRIVE if implicit else ())):
                differs = resolved.values[name] != own[name]
                if name == "effort_limit_sim":
                    # that of explicit models stands for none
                    differs &= ~(np.isinf(own[name]) & (resolved.values[name] == EXPLICIT_EFFORT_LIMIT_SIM))
                if name in resolved.said and differs.any():
                    where = "static_friction" if name == "friction" else name
                    found.properties.append((where, columns, resolved.values[name]))
        except (ValueError, TypeError, OSError) as error:
            problems += [f"groups[{group!r}]: {line}" for line in str(error).splitlines()]
    if problems:
        raise ValueError("\n".join(problems))
    uncovered = [joint for joint in names if joint not in owner]
    return Groups(found.actuators, found.properties, found.delays, uncovered, ResolutionTable(rows))
