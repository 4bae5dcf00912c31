"""Robots of a USD stage, as far as they can be read: each problem is one line and hides nothing else."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...base.extras import needs
from ...laws.contract.catalogue import in_order
from ...specs.actuator_spec import ActuatorSpec
from ...specs.stages import parts_of
from .described import (
    JOINT_UNITS,
    DrivenBy,
    InspectedActuator,
    InspectedJoint,
    InspectedOwnValue,
    InspectedRobot,
    InspectedValue,
)
from .words import law_of, pipeline_of, source_of, values_of

if TYPE_CHECKING:
    from ...files.usd.handles import Stage

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
    """Return the articulations of a stage, in stage order."""
    with needs("a USD file", "usd"):
        from ...files.usd.articulation import articulation_roots, joint_orders

    roots = articulation_roots(stage)
    orders = zip(roots, joint_orders(stage, roots), strict=True)
    return [_robot(stage, root, joints, roots) for root, joints in orders]


def _robot(stage: Stage, root: str, paths: Sequence[str], roots: Sequence[str]) -> InspectedRobot:
    from ...files.usd.articulation import dof_names
    from ...files.usd.authored import misnamed
    from ...files.usd.discover import discover
    from ...files.usd.fallbacks import drives_without_actuator
    from ...files.usd.joint_properties import axis_of
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
    actuators = [_actuator(stage, spec) for spec in specs]
    actuators += _unusable(stage, set(zip(paths, names, strict=True)), {spec.path for spec in specs})
    joints = [_joint(stage, path, name, actuators, problems) for path, name in zip(paths, names, strict=True)]
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
    found = own_values(stage, specs, root, copies, si=True, issues=of_others)
    problems += [line for line in of_others if not any(line.startswith(f"<{one}/") for one in roots)]
    rows = []
    for one in found:
        config, is_linear = specs[one.actuator].stages[one.stage], _is_linear(stage, specs[one.actuator])
        _, before = values_of(config, is_linear, "")[one.parameter]
        attribute = attributes_on(stage.GetPrimAtPath(specs[one.actuator].path), type(config)).get(one.parameter)
        layer = layer_of_parameter(stage, one.prim, attribute or f"newton:{one.parameter}")
        value = InspectedValue(one.value, before.unit, source_of(layer))
        rows.append(InspectedOwnValue(copies[one.robot], one.prim, law_of(config), one.parameter, value, before.value))
    return tuple(rows)


def _is_linear(stage: Stage, spec: ActuatorSpec) -> bool:
    """Return True if an actuator drives joints that slide."""
    from ...files.usd.axes import is_angular
    from ...files.usd.joint_properties import axis_of

    dofs = zip(spec.targets, spec.dof_names, strict=True)
    return not all(is_angular(axis_of(stage, joint, name)) for joint, name in dofs)


def _actuator(stage: Stage, spec: ActuatorSpec) -> InspectedActuator:
    from ...files.usd.discover import stand_ins_on
    from ...files.usd.joint_properties import layer_of_parameter
    from ...files.usd.overlay import split_problem
    from ...files.usd.schema import attributes_on, earlier_schemas
    from ...files.usd.supplies import holder_of

    stages = in_order(spec.stages)
    linear = _is_linear(stage, spec)
    values: dict[tuple[str, str], InspectedValue] = {}
    for config in stages:
        holder = holder_of(stage.GetPrimAtPath(spec.path), type(config))
        stored = attributes_on(holder, type(config))
        for name, (_, value) in values_of(config, linear, "").items():
            layer = layer_of_parameter(stage, str(holder.GetPath()), stored.get(name, f"newton:{name}"))
            values[law_of(config), name] = InspectedValue(value.value, value.unit, source_of(layer))
    return InspectedActuator(
        spec.path,
        spec.dof_names,
        pipeline_of(stages),
        values=values,
        stand_ins=tuple(stand_ins_on(stage, spec.path)),
        earlier=tuple(earlier_schemas(stage.GetPrimAtPath(spec.path))),
        unsplit=split_problem(stage, spec.path),
        **parts_of(stages),
    )


def _unusable(stage: Stage, own: set[tuple[str, str]], read: Iterable[str]) -> list[InspectedActuator]:
    """Return the actuator prims of the robot that cannot be used."""
    from ...files.usd.discover import actuator_paths, dofs_driven

    found = []
    for path in actuator_paths(stage):
        driven = [dof for dof in dofs_driven(stage.GetPrimAtPath(path)) if dof in own]
        if driven and path not in read:
            found.append(InspectedActuator(path, tuple(name for _, name in driven), "unusable"))
    return found


def _joint(
    stage: Stage, path: str, name: str, actuators: Sequence[InspectedActuator], problems: list[str]
) -> InspectedJoint:
    from ...files.usd.axes import is_angular
    from ...files.usd.fallbacks import is_marked
    from ...files.usd.joint_properties import axis_of

    axis = axis_of(stage, path, name)
    linear = not is_angular(axis)
    values = {one: _value(stage, one, (path, axis), linear, problems) for one in _PROPERTIES}
    driver = next((actuator.path for actuator in actuators if actuator.usable and name in actuator.joints), None)
    has_drive = bool(values["drive_stiffness"].value or values["drive_damping"].value)
    by, driver = ("actuator", driver) if driver is not None else _driven_by(stage, path, has_drive)
    return InspectedJoint(name, path, axis, linear, by, driver, values, is_marked(stage, (path, axis)))


def _driven_by(stage: Stage, path: str, has_drive: bool) -> tuple[DrivenBy, str | None]:
    """Return what drives a joint without an actuator of ours, and its path if it is a prim."""
    from ...files.usd.other_drives import follows, mujoco_actuators

    if has_drive:
        return "USD drive", None
    if path in (found := mujoco_actuators(stage)):
        return "MjcActuator", found[path]
    return ("another joint" if follows(stage, path) else "nothing"), None


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
