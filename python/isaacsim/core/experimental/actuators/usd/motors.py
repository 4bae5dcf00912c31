"""What a robot file says of its motors, as the configs that say the same in a program."""

from __future__ import annotations

import copy

import numpy as np
from pxr import Usd

from ..errors import ActuatorParseError
from ..specs.actuator_spec import ActuatorSpec
from ..specs.configs import ControlConfig, MaxEffortClampingConfig, NeuralControlConfig, PDControlConfig
from ..specs.motors import MotorConfig
from .articulation import articulation_roots, unloaded_payloads
from .assets import MODEL_PATH, file_named
from .discover import discover
from .joint_order import dof_names, joint_orders
from .joint_properties import authored, axis_of
from .other_drives import gains_of_drives
from .roots import match_roots


def read_motors(stage: Usd.Stage, articulation_root: str | None) -> dict[str, MotorConfig]:
    """Motors of a robot by the names of their joints, `"hip|knee"`; see `motors_of` for the contract."""
    root = _root(stage, articulation_root)
    motors: dict[str, MotorConfig] = {}
    issues: list[str] = []
    joints = joint_orders(stage, [root])[0]
    for spec in discover(stage, root, joints, dof_names(stage, joints), si=True):
        controller = _with_file(stage, spec.path, spec.controller, issues)
        values = {name: _property(stage, spec, name) for name in ("armature", "friction")}
        # joints that have a property stand apart from those that do not
        groups: dict[tuple[bool, ...], list[int]] = {}
        for at in range(len(spec.targets)):
            groups.setdefault(tuple(bool(np.isnan(column[at])) for column in values.values()), []).append(at)
        for group in groups.values():
            names = [spec.dof_names[at] for at in group]
            motors["|".join(names)] = MotorConfig(
                copy.copy(controller),
                [copy.copy(clamp) for clamp in spec.clamping],
                copy.copy(spec.delay),
                *(_short(names, column[group]) for column in values.values()),
            )
    if issues:
        raise ActuatorParseError(issues)
    return motors


def read_drives(stage: Usd.Stage, articulation_root: str | None) -> dict[str, MotorConfig]:
    """Motors that do what joint drives do, by the names of their joints; of drives that have gains and no actuator."""
    root = _root(stage, articulation_root)
    joints = joint_orders(stage, [root])[0]
    names = dof_names(stage, joints)
    driven = {path for spec in discover(stage, root, joints, names) for path in spec.dof_names}
    free = {name: joint for joint, name in zip(joints, names, strict=True) if name not in driven}
    drives = gains_of_drives(stage, list(free.values()), list(free))
    motors = {}
    for name, (stiffness, damping, most) in drives.items():
        control = PDControlConfig(stiffness, damping)
        spec = ActuatorSpec(root, (free[name],), control, dof_names=(name,))
        motors[name] = MotorConfig(
            control,
            [MaxEffortClampingConfig(most)] if np.isfinite(most) else [],
            None,
            *(_short([name], _property(stage, spec, which)) for which in ("armature", "friction")),
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


def _with_file(stage: Usd.Stage, path: str, controller: ControlConfig, issues: list[str]) -> ControlConfig:
    """A controller whose file is found from everywhere."""
    if not isinstance(controller, NeuralControlConfig) or not controller.model_path:
        return controller
    try:
        return NeuralControlConfig(file_named(stage.GetPrimAtPath(path), str(controller.model_path)))
    except ValueError as error:
        issues.append(f"<{path}>.{MODEL_PATH} = {str(controller.model_path)!r}: {error}")
        return controller


def _property(stage: Usd.Stage, spec: ActuatorSpec, name: str) -> np.ndarray:
    """Armature or friction of each joint; NaN where none is authored, or static and dynamic friction differ."""
    dofs = zip(spec.targets, spec.dof_names, strict=True)
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
