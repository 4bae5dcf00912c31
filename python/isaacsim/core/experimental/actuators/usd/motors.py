"""What a robot file says of its motors, as the configs that say the same in a program."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pxr import Usd

from ..errors import ActuatorParseError
from ..specs.actuator_spec import ActuatorSpec
from ..specs.configs import Config, MaxEffortClampingConfig, NeuralControlConfig, PDControlConfig
from ..specs.linear_actuators import Law, motor_of, ranges_without_motor, refused
from ..specs.motors import MotorConfig
from ..specs.stages import parts_of
from .articulation import articulation_roots, axes_of, unloaded_payloads
from .assets import MODEL_PATH, file_named
from .authored import authored as authored_value
from .discover import discover
from .joint_order import dof_names, joint_orders
from .joint_properties import authored, axis_of, envelopes, read_property
from .mjc_actuators import armature_of, joint_bounds, joint_of, law_of_prim, mjc_prims
from .other_drives import gains_of_drives
from .roots import match_roots
from .shared import classes_of
from .words import listed


def read_motors(stage: Usd.Stage, articulation_root: str | None) -> dict[str, MotorConfig]:
    """Motors of a robot by the names of their joints, `"hip|knee"`; see `motors_of` for the contract."""
    root = _root(stage, articulation_root)
    motors: dict[str, MotorConfig] = {}
    issues: list[str] = []
    joints = joint_orders(stage, [root])[0]
    dofs = dof_names(stage, joints)
    specs = discover(stage, root, joints, dofs, si=True)
    for spec, own in _by_motor(stage, specs):
        configs = [_with_file(stage, spec.path, config, issues) for config in spec.stages]
        values = {name: _property(stage, own, name) for name in ("armature", "friction")}
        # joints that have a property stand apart from those that do not
        groups: dict[tuple[bool, ...], list[int]] = {}
        for at in range(len(own)):
            groups.setdefault(tuple(bool(np.isnan(column[at])) for column in values.values()), []).append(at)
        for group in groups.values():
            names = [own[at][1] for at in group]
            stages = parts_of(map(copy.copy, configs))
            properties: dict[str, Any] = {name: _short(names, column[group]) for name, column in values.items()}
            motors["|".join(names)] = MotorConfig(**stages, **properties)
    if issues:
        raise ActuatorParseError(issues)
    driven = {name for spec in specs for name in spec.dof_names}
    free = {name: path for name, path in zip(dofs, joints, strict=True) if name not in driven}
    return motors | _of_mujoco(stage, free)


def _by_motor(stage: Usd.Stage, specs: Sequence[ActuatorSpec]) -> Iterator[tuple[ActuatorSpec, list[tuple[str, str]]]]:
    """Each motor once, with its joints: prims that inherit from one class prim are one, where they say the same."""
    found: dict[tuple[str, str], tuple[ActuatorSpec, list[tuple[str, str]]]] = {}
    for spec in specs:
        classes = classes_of(stage.GetPrimAtPath(spec.path))
        key = str(classes[0] if classes else spec.path), repr(spec.stages)
        found.setdefault(key, (spec, []))[1].extend(zip(spec.targets, spec.dof_names, strict=True))
    yield from found.values()


def read_drives(stage: Usd.Stage, articulation_root: str | None) -> dict[str, MotorConfig]:
    """Motors that do what joint drives do, by the names of their joints; of drives that have gains and no actuator."""
    root = _root(stage, articulation_root)
    joints = joint_orders(stage, [root])[0]
    names = dof_names(stage, joints)
    driven = {path for spec in discover(stage, root, joints, names) for path in spec.dof_names}
    free = {name: joint for joint, name in zip(joints, names, strict=True) if name not in driven}
    drives = gains_of_drives(stage, list(free.values()), list(free))
    if lost := envelopes(stage, [(free[name], axis_of(stage, free[name], name)) for name in drives]):
        warnings.warn("\n".join(lost), stacklevel=3)
    motors = {}
    for name, (stiffness, damping, most) in drives.items():
        control = PDControlConfig(stiffness, damping)
        own: dict[str, Any] = {
            which: _short([name], _property(stage, [(free[name], name)], which)) for which in ("armature", "friction")
        }
        motors[name] = MotorConfig(control, [MaxEffortClampingConfig(most)] if np.isfinite(most) else [], **own)
    return motors


def effort_limits(stage: Usd.Stage, joints: Sequence[str], names: Sequence[str]) -> np.ndarray:
    """Effort limits of joints as a stage says them, of drives or for MuJoCo [N·m or N]; inf for none.

    Args:
        stage: Where they are.
        joints: Path of the joint of each DOF.
        names: Name of each DOF.
    """
    axes = [(joint, axis_of(stage, joint, name)) for joint, name in zip(joints, names, strict=True)]
    bounds = [joint_bounds(stage.GetPrimAtPath(joint)) or (-np.inf, np.inf) for joint in joints]
    found = read_property(stage, "max_efforts", axes)
    return np.where(np.isinf(found), np.max(np.abs(bounds), axis=1), found)


def _of_mujoco(stage: Usd.Stage, free: dict[str, str]) -> dict[str, MotorConfig]:
    """Motors that do what `MjcActuator` prims do, by the names of their joints.

    Args:
        stage: Where they are.
        free: Path of the joint of each DOF that no other actuator drives, by name.
    """
    acting: dict[str, list[Usd.Prim]] = {}
    problems: list[str] = []
    for prim in mjc_prims(stage)[0]:
        path = joint_of(prim)
        if path is not None and len(axes_of(stage.GetPrimAtPath(path))) == 1:
            acting.setdefault(str(path), []).append(prim)
        else:
            problems.append(f"<{prim.GetPath()}> (acts on {f'<{path}>' if path else 'nothing'}: no joint of one axis)")
    motors = {}
    ranges: list[str] = []
    for name, path in free.items():
        if path not in acting:
            continue
        laws = {f"<{prim.GetPath()}>": law_of_prim(prim) for prim in acting[path]}
        good = {prim: law for prim, law in laws.items() if isinstance(law, Law)}
        wrong = refused(laws, name) or [(prim, law.asymmetry) for prim, law in good.items() if law.asymmetry]
        low, high = joint_bounds(stage.GetPrimAtPath(path)) or (-np.inf, np.inf)
        if not wrong and low != -high:
            wrong = [(next(iter(laws)), f"the actuatorfrcrange {low:g} … {high:g} of its joint is not symmetric")]
        problems += [f"{prim} ({why})" for prim, why in wrong]
        if not wrong:
            limit = np.fmin(authored(stage, "max_efforts", [(path, axis_of(stage, path, name))])[0], high)
            motors[name] = motor_of(
                [*good.values()], float(limit), *_joint_properties(stage, (path, name), acting[path])
            )
            ranges += ranges_without_motor(good)
    if problems:
        warnings.warn(
            f"MjcActuator prims that no motor stands for: {listed(problems)}. Write the motors of their joints by "
            "hand.",
            stacklevel=4,
        )
    if ranges:
        warnings.warn(
            "MjcActuator prims hold position targets within their ctrlRange, which motors do not: "
            f"{listed(ranges)}, in rad or m. Keep the targets of their joints within it.",
            stacklevel=4,
        )
    return motors


def _root(stage: Usd.Stage, given: str | None) -> str:
    """The articulation root that is meant.

    Raises:
        ValueError: There is none, or several.
    """
    roots = articulation_roots(stage)
    found = roots if given is None else [roots[at] for at in match_roots(given, roots, unloaded_payloads(stage))]
    if len(found) != 1:
        raise ValueError(
            f"articulation_root = {given!r}: stands for {found or 'no articulation'}, must for one. Give the path of "
            "one prim with PhysicsArticulationRootAPI."
        )
    return found[0]


def _with_file(stage: Usd.Stage, path: str, controller: Config, issues: list[str]) -> Config:
    """A config whose file, if it names one, is found from everywhere."""
    if not isinstance(controller, NeuralControlConfig) or not controller.model_path:
        return controller
    try:
        return NeuralControlConfig(file_named(stage.GetPrimAtPath(path), str(controller.model_path)))
    except ValueError as error:
        issues.append(f"<{path}>.{MODEL_PATH} = {str(controller.model_path)!r}: {error}")
        return controller


def _joint_properties(
    stage: Usd.Stage, dof: tuple[str, str], actuators: Sequence[Usd.Prim]
) -> tuple[float | None, float | None]:
    """Armature and friction of a joint that actuators of MuJoCo move; None where none is authored."""
    joint = stage.GetPrimAtPath(dof[0])
    armature, friction = (
        authored_value(joint, f"mjc:{other}") if np.isnan(value := _property(stage, [dof], name)[0]) else float(value)
        for name, other in (("armature", "armature"), ("friction", "frictionloss"))
    )
    more = sum(map(armature_of, actuators))
    return (armature or 0.0) + more if more else armature, friction


def _property(stage: Usd.Stage, dofs: Sequence[tuple[str, str]], name: str) -> np.ndarray:
    """Armature or friction of each joint; NaN where none is authored, or static and dynamic friction differ."""
    axes = [(joint, axis_of(stage, joint, dof_name)) for joint, dof_name in dofs]
    if name == "armature":
        return authored(stage, "armatures", axes)
    static, dynamic = (authored(stage, f"{which}_frictions", axes) for which in ("static", "dynamic"))
    return np.where(static == dynamic, static, np.nan)


def _short(names: list[str], values: np.ndarray) -> float | dict[str, float] | None:
    """One value where all joints have the same."""
    if np.isnan(values).any():
        return None
    return float(values[0]) if (values == values[0]).all() else dict(zip(names, values.tolist(), strict=True))
