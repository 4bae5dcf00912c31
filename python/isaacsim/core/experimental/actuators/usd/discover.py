"""Find and parse the actuator prims of one articulation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from pxr import Sdf, Tf, Usd

from ..errors import ActuatorParseError
from ..specs.actuator_spec import ActuatorSpec
from ..specs.configs import DCMotorClampingConfig
from .articulation import every_prim, is_single_axis_joint, scope_of
from .schema import (
    CONFIG_BY_SCHEMA,
    TARGETS,
    applied_schemas,
    foreign_config,
    is_actuator,
    read_config,
    schema_problem,
)


def actuator_paths(stage: Usd.Stage) -> list[str]:
    """Paths of every `NewtonActuator` prim, in stage order."""
    return [str(prim.GetPath()) for prim in every_prim(stage.GetPseudoRoot()) if is_actuator(prim)]


def discover(stage: Usd.Stage, root: str, joints: Sequence[str]) -> list[ActuatorSpec]:
    """Specs of the actuator prims that drive the articulation at `root`, in stage order.

    A prim belongs to the articulation that owns one of its targets, wherever the prim lies; a prim inside the robot
    must have such a target.

    Args:
        stage: Where to look.
        root: Path of the articulation root prim.
        joints: Paths of the articulation's joints that an actuator can drive.

    Raises:
        ActuatorParseError: Listing every problem of every prim at once.
    """
    scope = Sdf.Path(scope_of(stage, root, joints))
    owned = set(joints)
    specs: list[ActuatorSpec] = []
    issues: list[str] = []
    driven_by: dict[str, str] = {}
    for prim in every_prim(stage.GetPseudoRoot()):
        if not is_actuator(prim):
            continue
        targets = _targets_of(prim)
        if not owned.intersection(targets) and not prim.GetPath().HasPrefix(scope):
            continue
        path = str(prim.GetPath())
        issues += _target_issues(stage, path, targets, owned, root, driven_by)
        spec = _parse(prim, tuple(targets), issues)
        if spec is not None:
            specs.append(spec)
    if issues:
        raise ActuatorParseError(issues)
    return specs


def parse_prim(prim: Usd.Prim) -> ActuatorSpec | None:
    """The spec of one prim, or None when it is no `NewtonActuator`.

    Raises:
        ActuatorParseError: Listing every problem of the prim.
    """
    if not is_actuator(prim):
        return None
    targets = _targets_of(prim)
    issues = _target_issues(prim.GetStage(), str(prim.GetPath()), targets, set(targets), "", {})
    spec = _parse(prim, tuple(targets), issues)
    if issues:
        raise ActuatorParseError(issues)
    return spec


def _targets_of(prim: Usd.Prim) -> list[str]:
    """Paths the prim targets; none when `newton:targets` is no relationship."""
    try:
        return [str(path) for path in prim.GetRelationship(TARGETS).GetForwardedTargets()]
    except Tf.ErrorException:
        return []


def _target_issues(
    stage: Usd.Stage, path: str, targets: Sequence[str], owned: set[str], root: str, driven_by: dict[str, str]
) -> list[str]:
    """What is wrong with the targets of one prim; notes in `driven_by` who drives each joint."""
    if not targets:
        return [f"<{path}>.{TARGETS} is empty: an actuator drives a joint. Author a target or deactivate the prim."]
    issues = []
    for target in targets:
        joint = stage.GetPrimAtPath(target)
        if not joint:
            issues.append(
                f"<{path}>.{TARGETS} = <{target}>: no such prim. Correct the path or deactivate the actuator."
            )
        elif not is_single_axis_joint(joint):
            issues.append(
                f"<{path}>.{TARGETS} = <{target}>: a {joint.GetTypeName() or 'typeless prim'}, must be a "
                "PhysicsRevoluteJoint or PhysicsPrismaticJoint. Target another joint or deactivate the actuator."
            )
        elif target not in owned:
            issues.append(
                f"<{path}>.{TARGETS} = <{target}>: not a joint of the articulation <{root}>. "
                "Target one of its joints or move the actuator to the robot it drives."
            )
        elif target in driven_by:
            issues.append(
                f"<{path}>.{TARGETS} = <{target}>: already driven by <{driven_by[target]}>; a joint has one actuator. "
                "Deactivate one of the two."
            )
        else:
            driven_by[target] = path
    return issues


def _parse(prim: Usd.Prim, targets: tuple[str, ...], issues: list[str]) -> ActuatorSpec | None:
    """Return the spec of one prim, or None when it has no usable controller; problems go to `issues`."""
    path = str(prim.GetPath())
    parts: dict[str, list] = {"controller": [], "clamping": [], "delay": []}
    unknown = []
    for schema in applied_schemas(prim):
        if problem := schema_problem(prim, schema):
            unknown.append(problem)
        elif foreign := foreign_config(prim, schema):
            parts[foreign.KIND].append(foreign)
        elif schema in CONFIG_BY_SCHEMA:
            config_type = CONFIG_BY_SCHEMA[schema]
            parts[config_type.KIND].append(read_config(prim, config_type, issues))
    issues += unknown
    if len(parts["controller"]) != 1:
        if not unknown:
            has = [part.SCHEMA for part in parts["controller"]] or "none"
            issues.append(
                f"<{path}> has controller schemas {has}: must have exactly one. Apply one or deactivate the prim."
            )
        return None
    _warn_of_idle_limits(path, parts["clamping"])
    return ActuatorSpec(
        path=path,
        targets=targets,
        controller=parts["controller"][0],
        clamping=tuple(parts["clamping"]),
        delay=next(iter(parts["delay"]), None),
    )


def _warn_of_idle_limits(path: str, clamps: Sequence[Any]) -> None:
    """Say so when a velocity limit has no effect."""
    for clamp in clamps:
        if isinstance(clamp, DCMotorClampingConfig):
            if math.isinf(clamp.saturation_effort) and math.isfinite(clamp.velocity_limit):
                warnings.warn(
                    f"<{path}>: newton:velocityLimit = {clamp.velocity_limit:g} has no effect, for an infinite "
                    "newton:saturationEffort switches the speed curve off. Author the stall effort.",
                    stacklevel=2,
                )
