"""Groups in USD stages: actuators as prims, other properties on joints, and the cfgs themselves as text."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.extras import needs
from ...simulators.authoring import add_motors
from ...specs.motors import MotorConfig
from . import cfgs as known_cfgs
from .articulations import all_but_groups, groups_in
from .groups import joints_of_groups, resolved_of
from .kinds import DELAYED, IMPLICIT, MODELS, NETWORKS, Cfg, model_of
from .motors import delay_range, motor_of_group, not_in_network
from .resolve import DRIVE, EXPLICIT_EFFORT_LIMIT_SIM, PROPERTIES, Resolved, Rules

if TYPE_CHECKING:
    from ...files.usd.handles import Stage

ATTRIBUTE = "isaacLab:actuatorGroups"
"""Attribute of the robot's prim with its groups, as JSON."""
_ON_JOINTS = {
    "stiffness": "stiffnesses",
    "damping": "dampings",
    "effort_limit_sim": "max_efforts",
    "velocity_limit_sim": "max_velocities",
    "armature": "armatures",
    "friction": "static_frictions",
    "dynamic_friction": "dynamic_frictions",
    "viscous_friction": "viscous_frictions",
}


def to_usd(
    cfgs: Cfg, stage: Stage, root: str, *, rules: Rules | None = None, overwrite_existing: bool = False
) -> list[str]:
    """Write groups into a stage; an error writes nothing.

    Joints of explicit groups get `NewtonActuator` prims, those of implicit groups the gains of their drives. Solver
    limits, armature and friction of cfgs are authored on the joints. The cfgs themselves are kept in the attribute
    `isaacLab:actuatorGroups` of the root, for `groups_of`.

    Args:
        cfgs: Cfgs by name of the group, ours or Isaac Lab's own, or Isaac Lab's cfg of the whole articulation.
        stage: The stage to author.
        root: Path of the robot's prim.
        rules: Rules for different values in cfg and stage, see `resolve.py`; None for those of each cfg. They are kept
            in the attribute too.
        overwrite_existing: Replace prims that drive these joints.

    Returns:
        What neither prims nor joints can hold, a line each; other readers of the stage do not see it.

    Raises:
        ValueError: A joint in two groups, a group without joints, a value that cannot be used, or a place that cannot
            be edited; lists every problem.
        TypeError: No stage.
        ModuleNotFoundError: USD is missing; install the extra `usd`.

    Example:
        >>> from pxr import Usd
        >>> from isaacsim.core.experimental.actuators.compat.isaac_lab import DelayedPDActuatorCfg, groups_of, to_usd
        >>> stage = Usd.Stage.Open("data/robots/pendulum.usda")
        >>> leg = DelayedPDActuatorCfg(
        ...     joint_names_expr=["hinge"], stiffness=20.0, damping=2.0, min_delay=1, max_delay=3
        ... )
        >>> to_usd({"leg": leg}, stage, "/World/Pendulum", overwrite_existing=True)
        ['leg: delays from 1 to 3 steps: a prim has one delay, 3']
        >>> groups_of(stage, "/World/Pendulum")["leg"].min_delay
        1
        >>> stage.Reload()
    """
    with needs("to_usd", "usd"):
        from ...files.usd.articulation import undo_on_error, write_text
        from ...files.usd.author import joints_to_drive, others_driving
        from ...files.usd.fallbacks import take_back
        from ...files.usd.joint_properties import axis_of, write_properties

    lost = [f"{type(cfgs).__name__}: {name}: motors have no such thing" for name in all_but_groups(cfgs)]
    cfgs = groups_in(cfgs)
    names, paths = joints_to_drive(stage, root)
    problems: list[str] = []
    of_groups = joints_of_groups(cfgs, names, problems)
    # implicit groups too, whose drives would be silenced
    dofs = list(zip(paths, names, strict=True))
    columns = list(itertools.chain.from_iterable(of_group for _, of_group in of_groups.values()))
    covered = {dofs[dof] for dof in columns}
    wrong, obsolete = others_driving(stage, covered, set(), overwrite_existing)
    if problems := problems + wrong:
        raise ValueError("\n".join(problems))
    axes = [(path, axis_of(stage, path, name)) for path, name in dofs]
    with undo_on_error(stage):
        # values of earlier actuators are not those of the robot
        take_back(stage, list(map(axes.__getitem__, columns)), obsolete)
        resolved = resolved_of(of_groups, names, _properties(stage, axes), rules)
        motors = _motors(cfgs, resolved)
        for path in obsolete:
            stage.RemovePrim(path)
        # drives first: a joint that one moves needs no motor
        for group, (_, of_group) in of_groups.items():
            write_properties(stage, _joint_properties(resolved[group]), list(map(axes.__getitem__, of_group)))
        if motors:
            add_motors(root, motors, stage=stage, overwrite_existing=overwrite_existing)
        as_json = {group: _as_json(cfg, resolved[group].rules) for group, cfg in cfgs.items()}
        write_text(stage, root, ATTRIBUTE, json.dumps(as_json))
        lost += _lost_of_groups(cfgs, resolved)
    return lost


def _properties(stage: Stage, axes: Sequence[tuple[str, str]]) -> dict[str, np.ndarray]:
    """Return the properties of all joints."""
    from ...files.usd.joint_properties import read_property

    return {name: read_property(stage, _ON_JOINTS[name], axes)[None].astype(np.float32) for name in PROPERTIES}


def _motors(cfgs: Mapping[str, object], resolved: Mapping[str, Resolved]) -> dict[str, MotorConfig]:
    """Return the motors of explicit groups, by pattern."""
    explicit = {group: one for group, one in resolved.items() if one.model != IMPLICIT}
    return {"|".join(map(re.escape, one.names)): motor_of_group(cfgs[group], one) for group, one in explicit.items()}


def _joint_properties(resolved: Resolved) -> dict[str, np.ndarray]:
    """Return the specified properties of joints by their names in USD, without defaults of explicit models."""
    values = {name: resolved.values[name][0] for name in resolved.for_solver}
    limit = values.get("effort_limit_sim")
    if limit is not None and (limit == EXPLICIT_EFFORT_LIMIT_SIM).all():
        del values["effort_limit_sim"]
    return {_ON_JOINTS[name]: array for name, array in values.items()}


def groups_of(stage: Stage, root: str) -> dict[str, known_cfgs.ActuatorBaseCfg]:
    """Return the groups that `to_usd` wrote into a stage, as our cfgs by name.

    Args:
        stage: The stage.
        root: Path of the articulation root, or of a prim above this robot alone; either may have the groups.

    Raises:
        ValueError: There are no groups, or the attribute has other content.
        ModuleNotFoundError: USD is missing; install the extra `usd`.
    """
    with needs("groups_of", "usd"):
        from ...files.usd.articulation import text_of_robot

    text = text_of_robot(stage, root, ATTRIBUTE)
    if text is None:
        raise ValueError(f"<{root}>.{ATTRIBUTE}: must be there. Write groups into the stage with to_usd.")
    try:
        found: dict[str, known_cfgs.ActuatorBaseCfg] = {}
        for group, fields in json.loads(text).items():
            name = fields.pop("class")
            if name not in MODELS:
                raise ValueError(f"class = {name!r}")
            found[group] = known_cfgs.of_fields(name, fields)
        return found
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"<{root}>.{ATTRIBUTE}: must hold groups, but {error}. Write them anew with to_usd."
        ) from error


def _lost_of_groups(cfgs: Mapping[str, object], resolved: Mapping[str, Resolved]) -> Iterator[str]:
    for group, one in resolved.items():
        for line in _lost(cfgs[group], one):
            yield f"{group}: {line}"


def _lost(cfg: Cfg, resolved: Resolved) -> list[str]:
    """Return what neither prims nor joints can hold of a cfg."""
    found: list[str] = []
    low, high = delay_range(cfg, resolved)
    if resolved.model in DELAYED and low != high:
        found.append(f"delays from {low} to {high} steps: a prim has one delay, {high}")
    if (resolved.gear_ratio != 1).any():
        found.append("gear_ratio: limits are those at the joint")
    if resolved.model == "RemotizedPDActuator":
        found.append("joint_parameter_lookup: its transmission ratios, which nothing uses")
    if resolved.model in NETWORKS:
        found += _lost_of_network(cfg, resolved)
    fields = dataclasses.fields(getattr(known_cfgs, f"{resolved.model}Cfg"))
    patterns = [field.name for field in fields if isinstance(getattr(cfg, field.name, None), Mapping)]
    if sorted(cfg.joint_names_expr) != sorted(resolved.names) or patterns:
        found.append(f"patterns of {', '.join(['joint_names_expr', *patterns])}: prims name each joint")
    return found


def _lost_of_network(cfg: object, resolved: Resolved) -> Iterator[str]:
    if others := not_in_network(cfg, resolved.model):
        yield f"{', '.join(others)}: must be in the file of the network. Write it with convert_checkpoint"
    if resolved.specified.intersection(DRIVE):
        yield "stiffness, damping: a network has none"


def _as_json(cfg: object, rules: Rules) -> dict[str, object]:
    """Return a cfg and the rules of its values as JSON, without those at their default."""
    name = f"{model_of(cfg)}Cfg"
    found: dict[str, object] = {"class": name}
    for field in dataclasses.fields(getattr(known_cfgs, name)):
        value = getattr(cfg, field.name, field.default)
        if field.name == "class_type" or (isinstance(value, type(field.default)) and value == field.default):
            continue
        found[field.name] = _plain(value)
    return found if rules == "documentation" else found | {"rules": rules}


def _plain(value: Any) -> object:
    if dataclasses.is_dataclass(value):
        return _plain(vars(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple | range):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)
