"""Groups into a stage and back: actuators as prims, the rest on the joints, and the cfgs themselves as a text."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...authoring import add_motors
from ...extras import needs
from ...networks.load import load_metadata
from ...specs.configs import DelayConfig
from ...specs.motors import MotorConfig
from . import cfgs as known_cfgs
from .articulations import all_but_groups, groups_in
from .groups import joints_of_groups
from .kinds import DELAYED, IMPLICIT, MODELS, NETWORKS, model_of
from .motors import configs_of, delay_range, metadata_of
from .resolve import DRIVE, EXPLICIT_EFFORT_LIMIT_SIM, PROPERTIES, SOLVER, Resolved, Rules, resolve

ATTRIBUTE = "isaacLab:actuatorGroups"
"""Where the robot's prim has its groups, as JSON."""
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
    cfgs: Any,
    stage: Any,
    root: str,
    *,
    rules: Rules = "documentation",
    overwrite_existing: bool = False,
) -> list[str]:
    """Write groups into a stage: all of it, or nothing where something is wrong.

    Joints of explicit groups get `NewtonActuator` prims, those of implicit groups the gains of their drives. What cfgs
    say of solver limits, armature and friction is authored on the joints. The cfgs themselves are kept in the attribute
    `isaacLab:actuatorGroups` of the root, where `groups_of` finds them.

    Args:
        cfgs: Cfgs by name of the group, ours or Isaac Lab's own, or Isaac Lab's cfg of the whole articulation.
        stage: Where to author.
        root: Path of the robot's prim.
        rules: Which value holds where cfg and stage differ.
        overwrite_existing: Replace prims that drive these joints.

    Returns:
        What neither prims nor joints can hold, a line each; other readers of the stage go without it.

    Raises:
        ValueError: A joint in two groups, a group without joints, a value that cannot be used, or a place that cannot
            be edited; lists every problem.
        TypeError: No stage.
        ModuleNotFoundError: USD is missing, which the extra `usd` brings.

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
        from ...usd.author import joints_to_drive, others_driving
        from ...usd.joint_properties import axis_of, read_property, write_properties
        from ...usd.text import undo_on_error, write_text

    lost = [f"{type(cfgs).__name__}: {name}: motors have no such thing" for name in all_but_groups(cfgs)]
    cfgs = groups_in(cfgs)
    names, paths = joints_to_drive(stage, root)
    axes = [(path, axis_of(stage, path, name)) for path, name in zip(paths, names, strict=True)]
    robot = {name: read_property(stage, _ON_JOINTS[name], axes)[None].astype(np.float32) for name in PROPERTIES}
    motors: dict[str, MotorConfig] = {}
    on_joints: list[tuple[str, np.ndarray, list[tuple[str, str]]]] = []
    problems: list[str] = []
    of_groups = joints_of_groups(cfgs, names, problems)
    covered = {(paths[at], names[at]) for _, columns in of_groups.values() for at in columns}
    # those of implicit groups too, whose drives are silent else
    wrong, obsolete = others_driving(stage, covered, set(), overwrite_existing)
    if problems := problems + wrong:
        raise ValueError("\n".join(problems))
    for group, (cfg, columns) in of_groups.items():
        own = {name: values[:, columns] for name, values in robot.items()}
        joints = [names[at] for at in columns]
        resolved = resolve(cfg, joints, columns, own, 1, rules=rules, group=group)
        implicit = resolved.model == IMPLICIT
        if not implicit:
            motors["|".join(map(re.escape, joints))] = _motor(cfg, resolved)
        for name in (*SOLVER, *(DRIVE if implicit else ())):
            values = resolved.values[name][0]
            stands_for_none = name == "effort_limit_sim" and (values == EXPLICIT_EFFORT_LIMIT_SIM).all()
            if name in resolved.said and not stands_for_none:
                on_joints.append((_ON_JOINTS[name], values, [axes[at] for at in columns]))
        lost += [f"{group}: {line}" for line in _lost(cfg, resolved)]
    with undo_on_error(stage):
        for path in obsolete:
            stage.RemovePrim(path)
        # drives first: a joint that one moves needs no motor
        for name, values, where in on_joints:
            write_properties(stage, {name: values}, where)
        if motors:
            add_motors(root, motors, stage=stage, overwrite_existing=overwrite_existing)
        write_text(stage, root, ATTRIBUTE, json.dumps({group: _as_json(cfg) for group, cfg in cfgs.items()}))
    return lost


def groups_of(stage: Any, root: str) -> dict[str, Any]:
    """Return the groups that `to_usd` wrote into a stage, as our cfgs by name.

    Args:
        stage: The stage.
        root: Path of the articulation root, or of a prim above this robot alone; whichever of them has the groups.

    Raises:
        ValueError: There are none, or what is there are none.
        ModuleNotFoundError: USD is missing, which the extra `usd` brings.
    """
    with needs("groups_of", "usd"):
        from ...usd.text import text_of_robot

    text = text_of_robot(stage, root, ATTRIBUTE)
    if text is None:
        raise ValueError(f"<{root}>.{ATTRIBUTE}: must be there. Write groups into the stage with to_usd.")
    try:
        found: dict[str, Any] = {}
        for group, said in json.loads(text).items():
            name, fields = said.pop("class"), said
            if name not in MODELS:
                raise ValueError(f"class = {name!r}")
            found[group] = getattr(known_cfgs, name)(**fields)
        return found
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"<{root}>.{ATTRIBUTE}: must hold groups, but {error}. Write them anew with to_usd."
        ) from error


def _motor(cfg: Any, resolved: Resolved) -> MotorConfig:
    """An explicit group as a motor; a value of its joints is a dictionary where they differ."""
    of_joints = {
        field: values[0, 0].item()
        if (values == values[0, 0]).all()
        else dict(zip(map(re.escape, resolved.names), values[0].tolist(), strict=True))
        for field, values in resolved.values.items()
    }
    controller, clamp = configs_of(cfg, resolved.model, of_joints)
    longest = delay_range(cfg, resolved)[1]
    return MotorConfig(controller, [clamp], DelayConfig(longest) if longest else None)


def _lost(cfg: Any, resolved: Resolved) -> list[str]:
    """What of a cfg is nowhere but in the text."""
    found: list[str] = []
    low, high = delay_range(cfg, resolved)
    if resolved.model in DELAYED and low != high:
        found.append(f"delays from {low} to {high} steps: a prim has one delay, {high}")
    if (resolved.gear_ratio != 1).any():
        found.append("gear_ratio: limits are those at the joint")
    if resolved.model == "RemotizedPDActuator":
        found.append("joint_parameter_lookup: its transmission ratios, which nothing uses")
    if resolved.model in NETWORKS:
        wanted, has = metadata_of(cfg, resolved.model), load_metadata(cfg.network_file)
        nothing = metadata_of(known_cfgs.ActuatorNetGRUCfg(joint_names_expr=[], network_file=""), "ActuatorNetGRU")
        has = {"effort_scale": has.get("torque_scale"), "history_fill": "zeros"} | nothing | has
        if others := [name for name, value in wanted.items() if has.get(name) != value]:
            found.append(f"{', '.join(others)}: must be in the file of the network. Write it with convert_checkpoint")
        if resolved.said.intersection(DRIVE):
            found.append("stiffness, damping: a network has none")
    patterns = [
        field.name
        for field in dataclasses.fields(getattr(known_cfgs, f"{resolved.model}Cfg"))
        if isinstance(getattr(cfg, field.name, None), Mapping)
    ]
    if sorted(cfg.joint_names_expr) != sorted(resolved.names) or patterns:
        found.append(f"patterns of {', '.join(['joint_names_expr', *patterns])}: prims name each joint")
    return found


def _as_json(cfg: Any) -> dict[str, Any]:
    """A cfg as JSON has it; values that are what they are by default are left out."""
    name = f"{model_of(cfg)}Cfg"
    found: dict[str, Any] = {"class": name}
    for field in dataclasses.fields(getattr(known_cfgs, name)):
        value = getattr(cfg, field.name, field.default)
        if field.name == "class_type" or (isinstance(value, type(field.default)) and value == field.default):
            continue
        found[field.name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple | range):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)
