"""Find and parse the actuator prims of one articulation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from pxr import Sdf, Tf, Usd

from ..errors import ActuatorParseError
from ..specs.actuator_spec import ActuatorSpec
from ..specs.configs import DCMotorClampingConfig, NeuralControlConfig
from .articulation import every_prim, is_single_axis_joint, on_stage, unloaded_payloads
from .assets import read_network
from .ownership import Ownership
from .schema import (
    CONFIG_BY_SCHEMA,
    TARGETS,
    applied_schemas,
    foreign_config,
    is_actuator,
    opinion_of_other_kind,
    properties_without_effect,
    read_config,
    schema_problem,
)


def actuator_paths(stage: Usd.Stage) -> list[str]:
    """Paths of every `NewtonActuator` prim, in stage order."""
    return [str(prim.GetPath()) for prim in every_prim(stage.GetPseudoRoot()) if is_actuator(prim)]


def discover(
    stage: Usd.Stage, root: str, joints: Sequence[str], *, files: bool = False, trusted: bool = False
) -> list[ActuatorSpec]:
    """Specs of the actuator prims that belong to the articulation at `root`, in stage order.

    Warns of prims that belong to no articulation, and of payloads of the robot that are not loaded.

    Args:
        stage: Where to look.
        root: Path of the articulation root prim.
        joints: Paths of the articulation's joints that an actuator can drive.
        files: Whether to read the files of networks too.
        trusted: Whether Torch may run those that are not recognised.

    Raises:
        ActuatorParseError: Listing every problem of every prim at once.
    """
    owner = Ownership(stage, root, joints)
    _warn_of_unloaded(stage, root, owner)
    owned = set(joints)
    specs: list[ActuatorSpec] = []
    issues: list[str] = []
    driven_by: dict[str, str] = {}
    for prim in every_prim(stage.GetPseudoRoot()):
        if not is_actuator(prim):
            continue
        path, targets = str(prim.GetPath()), targets_of(prim)
        whose = owner.of(path, targets)
        if whose == "nobody's":
            warnings.warn(
                f"<{path}> is ignored: it drives no joint of an articulation. "
                f"Correct {TARGETS} or deactivate the prim.",
                stacklevel=2,
            )
        if whose != "ours":
            continue
        issues += _target_issues(prim, targets, owned, root, driven_by)
        spec = _parse(prim, tuple(targets), issues, files, trusted)
        if spec is not None:
            specs.append(spec)
    if issues:
        raise ActuatorParseError(issues)
    return specs


def parse_prim(prim: Usd.Prim, *, files: bool = False, trusted: bool = False) -> ActuatorSpec | None:
    """The spec of one prim, or None when it is no `NewtonActuator`; with the network in its file if asked for.

    A file that is not recognised is run by Torch if it is trusted.

    Raises:
        ActuatorParseError: Listing every problem of the prim.
        ValueError: The prim is not on a stage.
    """
    if not prim:
        raise ValueError(f"{prim!r}: no such prim on the stage. Give the path of an actuator prim.")
    if not is_actuator(prim):
        return None
    targets = targets_of(prim)
    issues = _target_issues(prim, targets, set(targets), "", {})
    spec = _parse(prim, tuple(targets), issues, files, trusted)
    if spec is None and not issues:
        issues.append(
            f"<{prim.GetPath()}> has schemas {applied_schemas(prim)}: must have a controller schema that this version "
            "knows. Apply one."
        )
    if issues:
        raise ActuatorParseError(issues)
    return spec


def targets_of(prim: Usd.Prim) -> list[str]:
    """Paths the prim targets; none when `newton:targets` is no relationship."""
    try:
        return [str(path) for path in prim.GetRelationship(TARGETS).GetForwardedTargets()]
    except Tf.ErrorException:
        return []


def _target_issues(
    prim: Usd.Prim, targets: Sequence[str], owned: set[str], root: str, driven_by: dict[str, str]
) -> list[str]:
    """What is wrong with the targets of one prim; notes in `driven_by` who drives each joint."""
    path = str(prim.GetPath())
    where = f"<{path}>.{TARGETS}"
    if layer := opinion_of_other_kind(prim, TARGETS, Sdf.RelationshipSpec):
        return [f"{where} ({layer}) is an attribute: must be a relationship. Author `rel {TARGETS} = <joint>` instead."]
    if not targets:
        return [f"{where} is empty: an actuator drives a joint. Author a target or deactivate the prim."]
    issues = []
    for target in targets:
        joint = prim.GetStage().GetPrimAtPath(target)
        if not joint or not on_stage(joint):
            issues.append(
                f"{where} = <{target}>: no such prim, or it is inactive. Correct the path or deactivate the actuator."
            )
        elif not is_single_axis_joint(joint):
            issues.append(
                f"{where} = <{target}>: a {joint.GetTypeName() or 'typeless prim'}, must be a PhysicsRevoluteJoint or "
                "PhysicsPrismaticJoint. Target another joint or deactivate the actuator."
            )
        elif target not in owned:
            issues.append(
                f"{where} = <{target}>: not a joint of the articulation <{root}>. "
                "Target one of its joints or move the actuator to the robot it drives."
            )
        elif target in driven_by:
            issues.append(
                f"{where} = <{target}>: already driven by <{driven_by[target]}>; a joint has one actuator. "
                "Deactivate one of the two."
            )
        else:
            driven_by[target] = path
    return issues


def _parse(
    prim: Usd.Prim, targets: tuple[str, ...], issues: list[str], files: bool, trusted: bool
) -> ActuatorSpec | None:
    """Return the spec of one prim, or None when it has no usable controller; problems go to `issues`.

    A controller whose schema this version does not know is none: the joint keeps its own drive, with a warning.
    """
    path = str(prim.GetPath())
    configs: dict[str, list] = {"controller": [], "clamping": [], "delay": []}
    unknown = []
    for schema in applied_schemas(prim):
        if problem := schema_problem(prim, schema):
            unknown.append(problem)
        elif foreign := foreign_config(prim, schema):
            configs[foreign.KIND].append(foreign)
        elif schema in CONFIG_BY_SCHEMA:
            config_type = CONFIG_BY_SCHEMA[schema]
            configs[config_type.KIND].append(read_config(prim, config_type, issues))
    if unknown:
        drives = "" if configs["controller"] else " Its joints keep their own drives meanwhile."
        warnings.warn("\n".join(unknown) + drives, stacklevel=3)
    if len(configs["delay"]) > 1:
        has = [config.SCHEMA for config in configs["delay"]]
        issues.append(f"<{path}> has delay schemas {has}: must have at most one. Apply one of them.")
    # a schema that is not known may have any property
    if not unknown and (idle := properties_without_effect(prim)):
        warnings.warn("\n".join(idle), stacklevel=3)
    if len(configs["controller"]) != 1:
        if configs["controller"] or not unknown:
            has = [config.SCHEMA for config in configs["controller"]] or "none"
            issues.append(
                f"<{path}> has controller schemas {has}: must have exactly one. Apply one or deactivate the prim."
            )
        return None
    _warn_of_idle_limits(path, configs["clamping"])
    controller = configs["controller"][0]
    neural = isinstance(controller, NeuralControlConfig) and bool(controller.model_path)
    return ActuatorSpec(
        path=path,
        targets=targets,
        controller=controller,
        clamping=tuple(configs["clamping"]),
        delay=next(iter(configs["delay"]), None),
        checkpoint=read_network(prim, str(controller.model_path), issues, trusted) if files and neural else None,
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


def _warn_of_unloaded(stage: Usd.Stage, root: str, owner: Ownership) -> None:
    """Name the payloads near the robot that are not loaded, for actuators in them are not read."""
    if unloaded := [path for path in unloaded_payloads(stage) if owner.is_near(path)]:
        warnings.warn(
            f"<{root}>: actuators in payloads that are not loaded are not read: {', '.join(unloaded)}. "
            "Load them, `stage.Load(path)`, if they hold any.",
            stacklevel=3,
        )
