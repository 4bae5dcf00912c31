"""The groups of a robot: their joints, actuators and properties of the solver."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ...base.values import as_numpy
from ...engine.entry import ActuatorConfig
from ...engine.handed_over import JointValues
from ...simulators.motor_properties import effort_limits, read_property, wanted_values
from ...simulators.port import ArticulationPort
from ...specs.distributions import Uniform
from ...specs.patterns import assigned
from .kinds import IMPLICIT, Cfg, require_known_model
from .motors import actuators_of, delay_range
from .resolve import DEFAULTS, EXPLICIT_EFFORT_LIMIT_SIM, PROPERTIES, Resolved, Rules, resolve
from .table import ResolutionTable, Row

if TYPE_CHECKING:
    from ...files.usd.handles import Stage

# names of properties of articulations that differ
_THERE = {"friction": "static_friction"}
# dry friction is static and dynamic there
_DRY = ("friction", "dynamic_friction")


@dataclass(frozen=True)
class Groups:
    """The resolved groups of a robot."""

    # for each joint of explicit groups, with its name
    actuators: list[tuple[ActuatorConfig, str]]
    # what changes in solver and drives: name, columns, values `(robots, columns)`
    properties: list[tuple[str, list[int], np.ndarray]]
    # by pattern of joints
    delays: dict[str, Uniform]
    # joints in no group
    uncovered: list[str]
    table: ResolutionTable


def joints_of_groups(
    groups: Mapping[str, object], names: Sequence[str], problems: list[str]
) -> dict[str, tuple[Cfg, list[int]]]:
    """Return the cfg of each group, and the columns of its joints, without groups that have none.

    Collects problems: a joint in two groups, a group without joints, or a cfg that cannot be used.
    """
    if not isinstance(groups, Mapping):
        raise ValueError(f"groups = {groups!r:.120}: must be a dictionary. Write {{name: cfg}}.")
    owner: dict[str, str] = {}
    found: dict[str, tuple[Cfg, list[int]]] = {}
    for group, cfg in groups.items():
        try:
            require_known_model(cfg)
        except ValueError as error:
            problems.append(f"groups[{group!r}]: {error}")
            continue
        matched = _matched(cfg, names, f"groups[{group!r}].joint_names_expr", problems)
        problems += [
            f"joint {joint} is in groups {owner[joint]!r} and {group!r}: must be in one. Narrow one of them."
            for joint in matched
            if joint in owner
        ]
        owner |= dict.fromkeys(matched, group)
        if matched:
            found[group] = cfg, [at for at, joint in enumerate(names) if joint in matched]
    return found


def _matched(cfg: Cfg, names: Sequence[str], subject: str, problems: list[str]) -> Collection[str]:
    expressions = [cfg.joint_names_expr] if isinstance(cfg.joint_names_expr, str) else list(cfg.joint_names_expr)
    if not expressions:
        problems.append(f"{subject} = []: must name joints. Add a pattern.")
    matched, wrong = assigned(expressions, names, subject, every=False)
    problems += wrong
    return matched


def values_of(articulation: ArticulationPort, stage: Stage | None) -> dict[str, np.ndarray]:
    """Return the current `PROPERTIES` of robots by name, `(robots, DOFs)`; unknown ones are `DEFAULTS`.

    And the `effort_limit` of joints, which is not that of the solver where this is a fallback of an actuator on the
    stage, if there is one; and the `const_effort` of their drives, where these have gains.
    """
    shape = len(articulation.paths), articulation.num_dofs
    found: dict[str, np.ndarray] = {}
    for name in PROPERTIES:
        given = read_property(articulation, _THERE.get(name, name))
        found[name] = np.array(np.broadcast_to(DEFAULTS[name] if given is None else given, shape), np.float32)
    if (limits := effort_limits(articulation, stage)) is not None:
        found["effort_limit"] = limits.astype(np.float32)
    if (constants := getattr(articulation, "get_dof_drive_constants", None)) is not None:
        has_gains = (found["stiffness"] != 0) | (found["damping"] != 0)
        found["const_effort"] = np.where(has_gains, as_numpy(constants()), np.float32(0.0))
    return found


def with_own_values(
    values: Mapping[str, np.ndarray], of_author: Iterable[JointValues], names: Sequence[str]
) -> dict[str, np.ndarray]:
    """Return properties of robots, from `values_of`, with those of their author in place of fallbacks of actuators."""
    found = {name: column.copy() for name, column in values.items()}
    for one in of_author:
        columns = [names.index(name) for _, name in one.axes]
        fields = _DRY if one.name == "friction" else (one.name,)
        wanted = wanted_values(one, np.array([found[field][:, columns] for field in fields]))
        for field, part in zip(fields, wanted, strict=True):
            found[field][:, columns] = part
    return found


def _delays_of(cfg: object, resolved: Resolved) -> dict[str, Uniform]:
    low, high = delay_range(cfg, resolved)
    return {re.escape(joint): Uniform(low, high, per_robot=True) for joint in resolved.names if high}


def resolve_groups(
    groups: Mapping[str, object],
    names: Sequence[str],
    robot: Mapping[str, np.ndarray],
    device: wp.DeviceLike,
    rules: Rules | None,
) -> Groups:
    """Return a robot's resolved groups, with properties of `values_of` and `with_own_values`.

    A ValueError lists every joint in two groups, group without joints and value that cannot be used.
    """
    problems: list[str] = []
    actuators: list[tuple[ActuatorConfig, str]] = []
    properties: list[tuple[str, list[int], np.ndarray]] = []
    delays: dict[str, Uniform] = {}
    rows: list[Row] = []
    num_robots = len(robot["stiffness"])
    of_groups = joints_of_groups(groups, names, problems)
    for group, (cfg, columns) in of_groups.items():
        own = {name: values[:, columns] for name, values in robot.items()}
        try:
            resolved = resolve(cfg, [names[at] for at in columns], columns, own, num_robots, rules=rules, group=group)
            if resolved.model != IMPLICIT:
                actuators += actuators_of(cfg, resolved.cut, num_robots, device)
                delays |= _delays_of(cfg, resolved)
        except (ValueError, OSError) as error:
            problems += [f"groups[{group!r}]: {line}" for line in str(error).splitlines()]
            continue
        rows += resolved.rows
        properties += [(_THERE.get(name, name), columns, values) for name, values in _changed(resolved, own)]
    if problems:
        raise ValueError("\n".join(problems))
    return Groups(actuators, properties, delays, uncovered(of_groups, names), ResolutionTable(rows))


def resolved_of(
    groups: Mapping[str, tuple[object, list[int]]],
    names: Sequence[str],
    robot: Mapping[str, np.ndarray],
    rules: Rules | None,
) -> dict[str, Resolved]:
    """Return the resolved values of the groups of one robot, by cfg and columns from `joints_of_groups`."""
    found: dict[str, Resolved] = {}
    for group, (cfg, columns) in groups.items():
        own = {name: values[:, columns] for name, values in robot.items()}
        found[group] = resolve(cfg, [names[at] for at in columns], columns, own, 1, rules=rules, group=group)
    return found


def uncovered(groups: Mapping[str, tuple[object, list[int]]], names: Sequence[str]) -> list[str]:
    """Return the names of the joints in no group."""
    covered = {at for _, columns in groups.values() for at in columns}
    return [joint for at, joint in enumerate(names) if at not in covered]


def _changed(resolved: Resolved, own: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    for name in resolved.for_solver:
        values = resolved.values[name]
        differs = values != own[name]
        if name == "effort_limit_sim":
            # the default of explicit models means no limit
            differs &= ~(np.isinf(own[name]) & (values == EXPLICIT_EFFORT_LIMIT_SIM))
        if differs.any():
            yield name, values
