"""The motors of a robot file as configs."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from pxr import Usd

from ...base.errors import ActuatorParseError, listed
from ...base.values import grouped
from ...specs.actuator_spec import ActuatorSpec
from ...specs.configs import (
    ClampingConfig,
    Config,
    EnvelopeClampingConfig,
    FrictionConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
)
from ...specs.dc_motors import Imported, imported
from ...specs.effort_modes import damped_at_end
from ...specs.engine_friction import is_friction
from ...specs.linear_actuators import Law, motor_of, ranges_without_motor, refused
from ...specs.motors import MotorConfig, with_friction_stage
from ...specs.roots import match_roots
from ...specs.stages import parts_of
from .articulation import articulation_roots, dof_names, every_prim, joint_orders, unloaded_payloads
from .assets import MODEL_PATH, file_named
from .authored import authored as authored_value
from .authored import authored_number
from .discover import discover
from .fallbacks import without_fallbacks
from .joint_properties import OF_MOTORS, PROPERTIES, authored, axis_of, envelopes, performance_envelope, read_property
from .mujoco_properties import (
    OF_JOINT,
    acting_on,
    armature_of,
    dc_motor_of_prim,
    joint_bounds,
    law_of_prim,
    with_actuators,
    with_own_attributes,
)
from .other_drives import gains_of_drives
from .schema import intervals_of
from .shared import classes_of
from .units import units_of

# values of `mjc:option:integrator`, MuJoCo's names and numbers
_IMPLICIT = ("implicit", "implicitfast", 2, 3)
# MuJoCo's attributes of joints by the fields of `MotorConfig`
_OF_MUJOCO = {field: OF_JOINT[names[0]] for field, names in OF_MOTORS.items()}


def read_motors(
    stage: Usd.Stage, articulation_root: str | None, friction_stages: bool = False, *, in_engine: bool | None = None
) -> dict[str, MotorConfig]:
    """Motors of a robot by the names of their joints, `"hip|knee"`; see `motors_of` for the contract.

    `in_engine` says whether the simulator takes over the slope of motors of `MjcActuator` prims that are damped at the
    end of the step, as the integrator of the stage has it; None makes all of these explicit.
    """
    root = only_root(stage, articulation_root)
    issues: list[str] = []
    joints = joint_orders(stage, [root])[0]
    dofs = dof_names(stage, joints)
    specs = discover(stage, root, joints, dofs, si=True)
    motors: dict[str, MotorConfig] = {}
    for spec, own in _by_motor(stage, specs):
        configs = [_with_file(stage, spec.path, config, issues) for config in spec.stages]
        found = _with_properties(stage, own, configs, friction_stages)
        intervals = intervals_of(stage.GetPrimAtPath(spec.path))
        motors |= {name: dataclasses.replace(motor, intervals=intervals) for name, motor in found.items()}
    if issues:
        raise ActuatorParseError(issues)
    driven = set(itertools.chain.from_iterable(spec.dof_names for spec in specs))
    free = {name: path for name, path in zip(dofs, joints, strict=True) if name not in driven}
    of_mujoco = _of_mujoco(stage, free)
    if friction_stages:
        of_mujoco = {name: with_friction_stage(motor) for name, motor in of_mujoco.items()}
    return motors | _as_integrated(stage, of_mujoco, in_engine)


def _as_integrated(stage: Usd.Stage, motors: dict[str, MotorConfig], in_engine: bool | None) -> dict[str, MotorConfig]:
    """Motors of drives or `MjcActuator` prims with the effort mode of the integrator, where the stage names one."""
    scenes = [prim for prim in every_prim(stage.GetPseudoRoot()) if prim.GetTypeName() == "PhysicsScene"]
    if in_engine is None or not any(authored_value(one, "mjc:option:integrator") in _IMPLICIT for one in scenes):
        return motors
    found, warned = damped_at_end(motors, in_engine=in_engine)
    for line in warned:
        warnings.warn(line, stacklevel=5)
    return found


def _with_properties(
    stage: Usd.Stage, dofs: Sequence[tuple[str, str]], configs: Sequence[Config], friction_stages: bool
) -> dict[str, MotorConfig]:
    """Motors of some joints with their properties; joints that differ in what they have get motors of their own."""
    has_stage = any(map(is_friction, configs))
    # beside a friction stage, frictions of the joint are for readers that do not know the stage
    names = ("armature",) if has_stage or friction_stages else tuple(_OF_MUJOCO)
    values = {name: _property(stage, dofs, name) for name in names}
    levels = _levels(stage, dofs) if friction_stages and not has_stage else {}
    rubs = np.any([*levels.values(), np.zeros(len(dofs))], axis=0)
    motors: dict[str, MotorConfig] = {}
    # rows that are equal in all columns are one motor
    rows = np.array([*map(np.isnan, values.values()), rubs], bool).T.tolist()
    alike = grouped((tuple(row), at) for at, row in enumerate(rows))
    for group in alike.values():
        joints = [dofs[at][1] for at in group]
        friction = [FrictionConfig(**_of_group(joints, levels, group))] if rubs[group[0]] else []
        stages = parts_of([*map(copy.copy, configs), *friction])
        motors["|".join(joints)] = MotorConfig(**stages, **_of_group(joints, values, group))
    return motors


def _of_group(joints: list[str], columns: Mapping[str, np.ndarray], group: list[int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, column in columns.items():
        values = column[group]
        # one value if it is that of all joints; None for NaN
        same = float(values[0]) if (values == values[0]).all() else dict(zip(joints, values.tolist(), strict=True))
        found[name] = None if np.isnan(values).any() else same
    return found


def _levels(stage: Usd.Stage, dofs: Sequence[tuple[str, str]]) -> dict[str, np.ndarray]:
    axes = [(joint, axis_of(stage, joint, name)) for joint, name in dofs]
    static, dynamic, viscous = (
        authored(stage, f"{which}_frictions", axes) for which in ("static", "dynamic", "viscous")
    )
    dry_of_mujoco, viscous_of_mujoco = (
        np.array([authored_number(stage.GetPrimAtPath(joint), _OF_MUJOCO[name], 0.0) for joint, _ in dofs])
        for name in ("friction", "viscous_friction")
    )
    coulomb = _first_authored(dynamic, static, dry_of_mujoco)
    breakaway = _first_authored(static, dynamic, dry_of_mujoco)
    return {
        "coulomb": coulomb,
        "static": np.where(breakaway > coulomb, breakaway, 0.0),
        "viscous": _first_authored(viscous, viscous_of_mujoco),
    }


def _first_authored(*columns: np.ndarray) -> np.ndarray:
    return functools.reduce(lambda one, other: np.where(np.isnan(one), other, one), columns)


def _by_motor(stage: Usd.Stage, specs: Sequence[ActuatorSpec]) -> Iterator[tuple[ActuatorSpec, list[tuple[str, str]]]]:
    """Each motor with its joints; prims with equal stages that inherit from one class prim are one motor."""
    found: dict[tuple[str, str], tuple[ActuatorSpec, list[tuple[str, str]]]] = {}
    for spec in specs:
        classes = classes_of(prim := stage.GetPrimAtPath(spec.path))
        key = str(classes[0] if classes else spec.path), repr((spec.stages, intervals_of(prim)))
        found.setdefault(key, (spec, []))[1].extend(zip(spec.targets, spec.dof_names, strict=True))
    yield from found.values()


def read_drives(
    stage: Usd.Stage, articulation_root: str | None, friction_stages: bool = False, *, in_engine: bool | None = None
) -> dict[str, MotorConfig]:
    """Motors equal to the joint drives that have gains and no actuator, by the names of their joints.

    The arguments are those of `read_motors`.
    """
    root = only_root(stage, articulation_root)
    joints = joint_orders(stage, [root])[0]
    names = dof_names(stage, joints)
    driven = {path for spec in discover(stage, root, joints, names) for path in spec.dof_names}
    free = {name: joint for joint, name in zip(joints, names, strict=True) if name not in driven}
    drives = gains_of_drives(stage, list(free.values()), list(free))
    motors: dict[str, MotorConfig] = {}
    for name, (stiffness, damping, most) in drives.items():
        limits: list[ClampingConfig] = [MaxEffortClampingConfig(most)] if np.isfinite(most) else []
        axis = free[name], axis_of(stage, free[name], name)
        try:
            if (envelope := performance_envelope(stage, axis)) is not None:
                limits = [EnvelopeClampingConfig.from_physx(most, *envelope)]
        except ValueError as error:
            warnings.warn("\n".join([*envelopes(stage, [axis]), str(error)]), stacklevel=4)
        configs = [PDControlConfig(stiffness, damping), *limits]
        motors |= _with_properties(stage, [(free[name], name)], configs, friction_stages)
    return _as_integrated(stage, motors, in_engine)


def effort_limits(stage: Usd.Stage, joints: Sequence[str], names: Sequence[str]) -> np.ndarray:
    """Authored effort limits of joints, of drives or for MuJoCo [N·m or N]; inf for none.

    The fallback of an actuator is no limit of its joint: it is removed with the actuator.
    """
    axes = [(joint, axis_of(stage, joint, name)) for joint, name in zip(joints, names, strict=True)]
    return _limits_on(without_fallbacks(stage, axes), axes)


def own_effort_limits(
    found: np.ndarray, stage: Usd.Stage, joints: Sequence[str], names: Sequence[str], *, si: bool = True
) -> np.ndarray:
    """Effort limits `(robots, DOFs)` in a simulator, those of joints' authors in place of fallbacks of actuators.

    Limits that are neither were set since, and stay. They are in `si`, or in the units of the stage that is simulated.
    """
    there = [at for at, joint in enumerate(joints) if stage.GetPrimAtPath(joint)]
    axes = [(joints[at], axis_of(stage, joints[at], names[at])) for at in there]
    if (without := without_fallbacks(stage, axes)) is stage:
        return found
    unit = 1.0 if si else [PROPERTIES["max_efforts"].scale(axis, units_of(stage)) for _, axis in axes]
    marked, own = (_limits_on(one, axes) * unit for one in (stage, without))
    limits = found.copy()
    limits[:, there] = np.where(np.isclose(found[:, there], marked, rtol=1e-6, atol=0.0), own, found[:, there])
    return limits


def own_properties(
    stage: Usd.Stage, dofs: Sequence[tuple[str, str]], *, si: bool = True, of_mujoco: bool = False
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Armature and friction of joints with fallbacks of actuators, and those of the joints' author in place of these.

    They are in `si`, or in the units of the stage with angles in rad; as MuJoCo takes them from the stage, or as PhysX.
    Returned are both by the fields of `MotorConfig`, where they differ, `(parts, DOFs)`; dry friction is static and
    dynamic.
    """
    axes = [(joint, axis_of(stage, joint, name)) for joint, name in dofs]
    if (without := without_fallbacks(stage, axes)) is stage:
        return {}
    read = _mujoco_property if of_mujoco else _physx_property
    found = {}
    for field, names in OF_MOTORS.items():
        known = dataclasses.replace(PROPERTIES[names[0]], degrees=False)
        unit = 1.0 if si else np.array([known.scale(axis, units_of(stage)) for _, axis in axes])
        marked, own = (read(one, field, axes) * unit for one in (stage, without))
        if (marked != own).any():
            found[field] = marked, own
    return found


def _physx_property(stage: Usd.Stage, field: str, axes: Sequence[tuple[str, str]]) -> np.ndarray:
    """A property as PhysX takes it from a stage, `(parts, DOFs)`."""
    parts = np.array([read_property(stage, name, axes) for name in OF_MOTORS[field]])
    # its static friction is the larger one
    parts[0] = parts.max(axis=0)
    return parts


def _mujoco_property(stage: Usd.Stage, field: str, axes: Sequence[tuple[str, str]]) -> np.ndarray:
    """A property as MuJoCo takes it from a stage, `(parts, DOFs)`, both parts of dry friction the same."""
    names = OF_MOTORS[field]
    first = _first_authored(*(authored(stage, name, axes) for name in names), np.zeros(len(axes)))
    values = with_own_attributes(stage, names[0], first, axes)
    return np.tile(with_actuators(stage, names[0], values, axes), (len(names), 1))


def _limits_on(stage: Usd.Stage, axes: Sequence[tuple[str, str]]) -> np.ndarray:
    return with_own_attributes(stage, "max_efforts", read_property(stage, "max_efforts", axes), axes)


def _of_mujoco(stage: Usd.Stage, free: dict[str, str]) -> dict[str, MotorConfig]:
    """Motors equal to `MjcActuator` prims, by joint name; `free` are the paths of joints without another actuator."""
    acting, problems = acting_on(stage)
    motors: dict[str, MotorConfig] = {}
    ranges: list[str] = []
    lost: list[str] = []
    for name, path in free.items():
        if path not in acting:
            continue
        if (dc_motor := _dc_motor(stage, (path, name), acting[path])) is not None:
            motors[name] = dc_motor.motor
            lost += [f"<{acting[path][0].GetPath()}> ({why})" for why in dc_motor.lost]
            continue
        laws = {f"<{prim.GetPath()}>": law_of_prim(prim) for prim in acting[path]}
        good = {prim: law for prim, law in laws.items() if isinstance(law, Law)}
        limits = _joint_limits(stage, path)
        if wrong := refused(laws, name) or _asymmetries(good, limits):
            problems += itertools.starmap("{} ({})".format, wrong)
            continue
        limit = _limit(stage, (path, name), limits)
        motors[name] = motor_of([*good.values()], limit, _joint_properties(stage, (path, name), acting[path]))
        ranges += ranges_without_motor(good)
    _warn_of_mujoco(lost, problems, ranges)
    return motors


def _warn_of_mujoco(lost: Sequence[str], problems: Sequence[str], ranges: Sequence[str]) -> None:
    for names, what, remedy in (
        (lost, "DC motors of MuJoCo have what motors have not", ". Compare both where that matters."),
        (problems, "MjcActuator prims that no motor stands for", ". Write the motors of their joints by hand."),
        (
            ranges,
            "MjcActuator prims hold position targets within their ctrlRange, which motors do not",
            ", in rad or m. Keep the targets of their joints within it.",
        ),
    ):
        if names:
            warnings.warn(f"{what}: {listed(names)}{remedy}", stacklevel=6)


def _joint_limits(stage: Usd.Stage, joint: str) -> tuple[float, float]:
    return joint_bounds(stage.GetPrimAtPath(joint)) or (-np.inf, np.inf)


def _limit(stage: Usd.Stage, dof: tuple[str, str], limits: tuple[float, float]) -> float:
    """The effort limit of a joint, whose forces of actuators have limits, too."""
    return float(np.fmin(authored(stage, "max_efforts", [(dof[0], axis_of(stage, *dof))])[0], limits[1]))


def _dc_motor(stage: Usd.Stage, dof: tuple[str, str], prims: Sequence[Usd.Prim]) -> Imported | None:
    """The motor of a joint whose one actuator is a DC motor of MuJoCo that a motor stands for; None for others."""
    actuator = dc_motor_of_prim(prims[0]) if len(prims) == 1 else None
    limits = _joint_limits(stage, dof[0])
    if actuator is None or actuator.problem or limits[0] != -limits[1]:
        return None
    limit = _limit(stage, dof, limits)
    return imported(actuator, _joint_properties(stage, dof, prims), np.inf if np.isnan(limit) else limit)


def _asymmetries(laws: Mapping[str, Law], limits: tuple[float, float]) -> list[tuple[str, str]]:
    """Actuators of a joint whose bounds are not symmetric, and why; those of the joint count for the first one."""
    if found := [(prim, law.asymmetry) for prim, law in laws.items() if law.asymmetry]:
        return found
    low, high = limits
    if low == -high:
        return []
    return [(next(iter(laws)), f"the actuatorfrcrange {low:g} … {high:g} of its joint is not symmetric")]


def only_root(stage: Usd.Stage, given: str | None) -> str:
    """The articulation root at a path, or the only one; a `ValueError` if there is none, or several."""
    roots = articulation_roots(stage)
    found = roots if given is None else [roots[at] for at in match_roots(given, roots, unloaded_payloads(stage))]
    if len(found) != 1:
        raise ValueError(
            f"articulation_root = {given!r}: stands for {found or 'no articulation'}, must for one. Give the path of "
            "one prim with PhysicsArticulationRootAPI."
        )
    return found[0]


def _with_file(stage: Usd.Stage, path: str, controller: Config, issues: list[str]) -> Config:
    if not isinstance(controller, NeuralControlConfig) or not controller.model_path:
        return controller
    try:
        return NeuralControlConfig(file_named(stage.GetPrimAtPath(path), str(controller.model_path)))
    except ValueError as error:
        issues.append(f"<{path}>.{MODEL_PATH} = {str(controller.model_path)!r}: {error}")
        return controller


def _joint_properties(stage: Usd.Stage, dof: tuple[str, str], actuators: Sequence[Usd.Prim]) -> dict[str, float | None]:
    """Properties of a joint with actuators of MuJoCo, by the fields of `MotorConfig`; None if not authored."""
    joint = stage.GetPrimAtPath(dof[0])
    found: dict[str, float | None] = {
        name: authored_value(joint, other) if np.isnan(value := _property(stage, [dof], name)[0]) else float(value)
        for name, other in _OF_MUJOCO.items()
    }
    if more := sum(map(armature_of, actuators)):
        found["armature"] = (found["armature"] or 0.0) + more
    return found


def _property(stage: Usd.Stage, dofs: Sequence[tuple[str, str]], name: str) -> np.ndarray:
    """A property of each joint; NaN if not authored, or if static and dynamic friction differ."""
    axes = [(joint, axis_of(stage, joint, dof_name)) for joint, dof_name in dofs]
    if name != "friction":
        return authored(stage, {"armature": "armatures", "viscous_friction": "viscous_frictions"}[name], axes)
    static, dynamic = (authored(stage, f"{which}_frictions", axes) for which in ("static", "dynamic"))
    return np.where(static == dynamic, static, np.nan)
