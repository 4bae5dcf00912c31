"""Joints and motors of a robot file: of a USD stage, or of a model that MuJoCo reads."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import warnings
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...base.extras import needs
from ...engine.motors import motors_by_joint
from ...laws.contract.catalogue import in_order
from ...specs.actuator_spec import ActuatorSpec
from ...specs.arguments import HAVE_MOTORS, MODEL_FILES, path_of, require_type
from ...specs.motors import MotorConfig, Motors
from ...specs.patterns import first_matching
from ...specs.stages import is_linked, parts_of, without_idle
from .described import (
    JOINT_UNITS,
    DrivenBy,
    InspectedActuator,
    InspectedJoint,
    InspectedOwnValue,
    InspectedRobot,
    InspectedValue,
    law_of,
    pipeline_of,
    source_of,
    values_of,
)

if TYPE_CHECKING:
    from ...files.usd.handles import Stage
    from ...simulators.scene.scene import Articulation


def inspect_robots(file: str | os.PathLike[str], variants: Mapping[str, str] | None = None) -> list[InspectedRobot]:
    """Return the robots of a file: joints, limits, drivers, and the source of each value.

    Broken actuator prims are listed in `problems` and hide nothing else. Networks of known formats are read. Numbers
    are SI.

    Args:
        file: Path of a USD, MJCF (`.xml`, `.mjcf`) or URDF file.
        variants: Variants of a USD file to select, by variant set; None keeps those of the file.

    Raises:
        FileNotFoundError: No such file.
        ValueError: The file cannot be read, or there is no such variant.
        ModuleNotFoundError: USD or MuJoCo is missing, which the extra `sim` brings.

    Example:
        >>> from isaacsim.core.experimental.actuators import inspect_robots
        >>> (arm,) = inspect_robots("data/robots/arm_2dof.usda")
        >>> [(joint.name, joint.driven_by) for joint in arm.joints]
        [('shoulder', 'actuator'), ('extension', 'actuator')]
        >>> arm.actuators[0].pipeline
        'PD(kp=200, kd=20) → max effort 60'
    """
    if variants is not None:
        require_type("variants", variants, Mapping, "a dictionary")
    path = path_of("file", file)
    if path.suffix.lower() in MODEL_FILES:
        if variants:
            raise ValueError(f"{path}: has no variants, for it is not USD. Leave them out.")
        return robots_of_model(path)
    with needs("a USD file", "usd"):
        from ...files.usd.stage import open_stage, select_variants

    stage = open_stage(path)
    select_variants(stage, variants or {})
    return robots_of_stage(stage)


# attribute of the axes of a scene, and its default
_FIELDS = {
    "lower_limit": ("lower", -math.inf),
    "upper_limit": ("upper", math.inf),
    "effort_limit": ("drive_limit", math.inf),
    "velocity_limit": ("max_velocity", math.inf),
    "armature": ("armature", 0.0),
    "friction": ("friction", 0.0),
    "viscous_friction": ("damping", 0.0),
}


def robots_of_model(path: Path) -> list[InspectedRobot]:
    """Return the robots of an MJCF or URDF file, read by MuJoCo, in its order."""
    with needs("an MJCF or URDF file", "sim"):
        from ...simulators.mujoco.file_reader import read_file
        from ...simulators.mujoco.model_actuators import followers, other_actuators

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scene = read_file(path)
    remarks = tuple(str(warning.message).removeprefix(f"{path}: ") for warning in caught)
    # a URDF file, whose extension may be any, has no actuators: its motors are its limits
    element = re.search(rb"<(robot|mujoco)\b", path.read_bytes())
    motors = {} if element is not None and element[1] == b"robot" else scene.motors
    others, led = other_actuators(scene.spec), followers(scene.spec)
    robots = [_model_robot(articulation, motors, others, led, path.name) for articulation in scene.articulations]
    # a remark on the file is reported once
    first = {"remarks": remarks, "two_values": tuple(scene.two_values)}
    return [dataclasses.replace(robot, **first) if at == 0 else robot for at, robot in enumerate(robots)]


def _model_robot(
    articulation: Articulation,
    motors: Mapping[str, MotorConfig],
    others: Mapping[str, str],
    led: Container[str],
    file: str,
) -> InspectedRobot:
    """Return one robot, of motors by pattern, actuators that are no motors of ours by joint, and joints that follow."""
    actuators: list[InspectedActuator] = []
    joints: list[InspectedJoint] = []
    for axis in articulation.axes:
        motor = first_matching(motors, axis.name)
        if motor is not None:
            actuator = _actuator_of(axis.name, axis.linear, motor, file)
            # no joint drive stands for an actuator of a tendon
            words = f"with control 0: {actuator.pipeline}" if is_linked(actuator) else actuator.pipeline
            actuators.append(dataclasses.replace(actuator, pipeline=words))
        driver = others.get(axis.name) if motor is None else axis.name
        by: DrivenBy = "MJCF actuator" if driver else "another joint" if axis.name in led else "nothing"
        numbers = {name: (float(getattr(axis, field)), default) for name, (field, default) in _FIELDS.items()}
        # the drive of the scene represents the actuators, which are listed as such
        numbers |= dict.fromkeys(("drive_stiffness", "drive_damping"), (0.0, 0.0))
        values = {
            name: InspectedValue(value, JOINT_UNITS[name][axis.linear], source_of(None if value == default else file))
            for name, (value, default) in numbers.items()
        }
        joints.append(InspectedJoint(axis.name, axis.joint, axis.usd_name, axis.linear, by, driver, values))
    return InspectedRobot(articulation.path, tuple(joints), tuple(actuators))


def with_motors(robot: InspectedRobot, motors: Motors, file: str) -> InspectedRobot:
    """Return a robot with the motors of a file in place of its own actuators; ValueError if they do not fit."""
    limits = np.array([[joint.value("effort_limit") for joint in robot.joints]])
    of_joint = motors_by_joint(motors, [joint.name for joint in robot.joints], lambda: limits)
    joints = tuple(_with_motor(joint, of_joint.get(joint.name), file) for joint in robot.joints)
    left = {joint.driver for joint in joints if joint.driven_by != "motor"}
    actuators = [actuator for actuator in robot.actuators if actuator.path in left]
    actuators += [
        _actuator_of(joint.name, joint.linear, of_joint[joint.name], file)
        for joint in joints
        if joint.driven_by == "motor"
    ]
    lines = {"problems": _not_on(robot, robot.problems), "remarks": _not_on(robot, robot.remarks)}
    return dataclasses.replace(robot, joints=joints, actuators=tuple(actuators), own_values=(), **lines)


def _not_on(robot: InspectedRobot, lines: Iterable[str]) -> tuple[str, ...]:
    """Return lines without those on actuators of the file of a robot that motors replace."""
    prims = tuple(f"<{actuator.path}>" for actuator in robot.actuators)
    return tuple(line for line in lines if not line.startswith(prims) and not re.match(HAVE_MOTORS, line))


def _with_motor(joint: InspectedJoint, motor: MotorConfig | None, file: str) -> InspectedJoint:
    """Return a joint with the motor of a file; without stages of one, actuator prims leave it to its drive."""
    if motor is not None:
        stated = {name: getattr(motor, name) for name in ("armature", "friction", "viscous_friction")}
        own = {name: InspectedValue(value, joint.values[name].unit, file) for name, value in stated.items()}
        values = {name: value for name, value in own.items() if value.value is not None}
        joint = dataclasses.replace(joint, values={**joint.values, **values})
        if motor.stages:
            return dataclasses.replace(joint, driven_by="motor", driver=joint.name)
    if joint.driven_by != "actuator":
        return joint
    has_drive = bool(joint.value("drive_stiffness") or joint.value("drive_damping"))
    return dataclasses.replace(joint, driven_by="USD drive" if has_drive else "nothing", driver=None)


def _actuator_of(name: str, linear: bool, motor: MotorConfig, file: str) -> InspectedActuator:
    configs = in_order(motor.stages)
    values = {
        (law_of(config), parameter): value
        for config in in_order(without_idle(motor))
        for parameter, (_, value) in values_of(config, linear, file).items()
    }
    words = pipeline_of(configs)
    if motor.controller is not None and motor.controller.gains_at_joint() == (0.0, 0.0, 0.0):
        # its control input is the effort, which stays 0
        words = words.replace(pipeline_of([motor.controller]), "torque motor, nothing drives it", 1)
    return InspectedActuator(name, (name,), words, values=values, **parts_of(configs))


# names in `files.usd.joint_properties`
_PROPERTIES = {
    "lower_limit": "lower_limits",
    "upper_limit": "upper_limits",
    "effort_limit": "max_efforts",
    "velocity_limit": "max_velocities",
    "armature": "armatures",
    "friction": "static_frictions",
    "viscous_friction": "viscous_frictions",
    "drive_stiffness": "stiffnesses",
    "drive_damping": "dampings",
}


def robots_of_stage(stage: Stage) -> list[InspectedRobot]:
    """Return the articulations of a stage, in stage order; each problem is one line and hides nothing else."""
    with needs("a USD file", "usd"):
        from ...files.usd.articulation import articulation_roots, joint_orders

    roots = articulation_roots(stage)
    orders = zip(roots, joint_orders(stage, roots), strict=True)
    return [_stage_robot(stage, root, joints, roots) for root, joints in orders]


def _stage_robot(stage: Stage, root: str, paths: Sequence[str], roots: Sequence[str]) -> InspectedRobot:
    from ...files.usd.articulation import dof_names
    from ...files.usd.authored import misnamed
    from ...files.usd.discover import discover
    from ...files.usd.fallbacks import drives_without_actuator
    from ...files.usd.joint_properties import axis_of
    from ...files.usd.other_drives import followers
    from ...simulators.scene.two_values import two_values

    names = dof_names(stage, paths)
    problems: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        specs = discover(stage, root, paths, names, si=True, files=True, issues=problems)
    remarks = [line for warning in caught for line in str(warning.message).splitlines()]
    axes = [(path, axis_of(stage, path, name)) for path, name in zip(paths, names, strict=True)]
    try:
        remarks += [*misnamed(stage, paths), *drives_without_actuator(stage, axes)]
        twice = two_values(stage, axes)
    except ValueError as error:
        problems.append(str(error))
        twice = []
    actuators = [_stage_actuator(stage, spec) for spec in specs]
    actuators += _unusable(stage, set(zip(paths, names, strict=True)), {spec.path for spec in specs})
    led = followers(stage, paths, names)
    joints = [
        _stage_joint(stage, path, name, actuators, led, problems) for path, name in zip(paths, names, strict=True)
    ]
    own = _own_values(stage, specs, root, roots, problems)
    lines = tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(remarks))
    return InspectedRobot(root, tuple(joints), tuple(actuators), *lines, own, tuple(twice))


def _own_values(
    stage: Stage, specs: Sequence[ActuatorSpec], root: str, roots: Sequence[str], problems: list[str]
) -> tuple[InspectedOwnValue, ...]:
    """Return what copies of a robot have for themselves; `roots` are all articulation roots."""
    from ...files.usd.joint_properties import layer_of_parameter
    from ...files.usd.own_values import own_values, robots_like
    from ...files.usd.schema import attributes_on

    copies = robots_like(stage, root, roots)
    # robots on the stage may be other robots, with problems of their own
    of_others: list[str] = []
    values = own_values(stage, specs, root, copies, si=True, issues=of_others)
    problems += [line for line in of_others if not any(line.startswith(f"<{other}/") for other in roots)]
    rows = []
    for own in values:
        spec, name = specs[own.actuator], own.parameter
        config = spec.stages[own.stage]
        _, before = values_of(config, _is_linear(stage, spec), "")[name]
        attribute = attributes_on(stage.GetPrimAtPath(spec.path), type(config)).get(name, f"newton:{name}")
        layer = layer_of_parameter(stage, own.prim, attribute)
        value = InspectedValue(own.value, before.unit, source_of(layer))
        rows.append(InspectedOwnValue(copies[own.robot], own.prim, law_of(config), name, value, before.value))
    return tuple(rows)


def _is_linear(stage: Stage, spec: ActuatorSpec) -> bool:
    """Return True if an actuator drives joints that slide."""
    from ...files.usd.axes import is_angular
    from ...files.usd.joint_properties import axis_of

    dofs = zip(spec.targets, spec.dof_names, strict=True)
    return not all(is_angular(axis_of(stage, joint, name)) for joint, name in dofs)


def _stage_actuator(stage: Stage, spec: ActuatorSpec) -> InspectedActuator:
    from ...files.usd.discover import stand_ins_on
    from ...files.usd.joint_properties import layer_of_parameter
    from ...files.usd.overlay import split_problem
    from ...files.usd.schema import attributes_on, earlier_schemas
    from ...files.usd.supplies import holder_of

    stages = in_order(spec.stages)
    linear = _is_linear(stage, spec)
    values: dict[tuple[str, str], InspectedValue] = {}
    for config in in_order(without_idle(spec)):
        holder = holder_of(stage.GetPrimAtPath(spec.path), type(config))
        stored = attributes_on(holder, type(config))
        for name, (_, value) in values_of(config, linear, "").items():
            layer = layer_of_parameter(stage, str(holder.GetPath()), stored.get(name, f"newton:{name}"))
            values[law_of(config), name] = InspectedValue(value.value, value.unit, source_of(layer))
    return InspectedActuator(
        spec.path,
        spec.dof_names,
        pipeline_of(stages) or "unusable",
        values=values,
        stand_ins=tuple(stand_ins_on(stage, spec.path)),
        earlier=tuple(earlier_schemas(stage.GetPrimAtPath(spec.path))),
        unsplit=split_problem(stage, spec.path),
        **parts_of(stages),
    )


def _unusable(stage: Stage, own: set[tuple[str, str]], read: Iterable[str]) -> list[InspectedActuator]:
    """Return the actuator prims of the robot that cannot be used."""
    from ...files.usd.discover import actuator_paths, dofs_driven

    unusable = []
    for path in actuator_paths(stage):
        driven = [dof for dof in dofs_driven(stage.GetPrimAtPath(path)) if dof in own]
        if driven and path not in read:
            unusable.append(InspectedActuator(path, tuple(name for _, name in driven), "unusable"))
    return unusable


def _stage_joint(
    stage: Stage, path: str, name: str, actuators: Sequence[InspectedActuator], led: Container[str], problems: list[str]
) -> InspectedJoint:
    from ...files.usd.axes import is_angular
    from ...files.usd.fallbacks import is_marked
    from ...files.usd.joint_properties import axis_of

    axis = axis_of(stage, path, name)
    linear = not is_angular(axis)
    values = {key: _value(stage, key, (path, axis), linear, problems) for key in _PROPERTIES}
    driver = next((actuator.path for actuator in actuators if actuator.usable and name in actuator.joints), None)
    has_drive = bool(values["drive_stiffness"].value or values["drive_damping"].value)
    by, driver = ("actuator", driver) if driver is not None else _driven_by(stage, path, has_drive, name in led)
    return InspectedJoint(name, path, axis, linear, by, driver, values, is_marked(stage, (path, axis)))


def _driven_by(stage: Stage, path: str, has_drive: bool, is_led: bool) -> tuple[DrivenBy, str | None]:
    """Return what drives a joint without an actuator of ours, and its path if it is a prim."""
    from ...files.usd.other_drives import mujoco_actuators

    if has_drive:
        return "USD drive", None
    if path in (by_joint := mujoco_actuators(stage)):
        return "MjcActuator", by_joint[path]
    return ("another joint" if is_led else "nothing"), None


def _value(stage: Stage, name: str, axis: tuple[str, str], linear: bool, problems: list[str]) -> InspectedValue:
    from ...files.usd.joint_properties import layer_of_property, read_property

    unit, known = JOINT_UNITS[name][linear], _PROPERTIES[name]
    try:
        value = float(read_property(stage, known, [axis])[0])
        source = source_of(layer_of_property(stage, known, axis))
    except ValueError as error:
        problems.append(str(error))
        return InspectedValue(math.nan, unit, source_of(None))
    return InspectedValue(value, unit, source)
