"""Authored values of joints and links that mean the same and differ: one is read, the others are not.

The attributes are those of `joint_properties` and `mujoco_properties`, gains and limits of drives and of `MjcActuator`
prims, couplings, and the inertias of links.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from pxr import Sdf, Usd

from ...files.usd.authored import authored, authored_number, targets
from ...files.usd.joint_properties import PROPERTIES, Axis, declared, read_property
from ...files.usd.mujoco_properties import ACTUATOR, OF_JOINT, acting_on, drives_of, joint_bounds
from ...files.usd.other_drives import follows
from ...files.usd.schema import applied_schemas
from ...files.usd.units import units_of
from ...files.usd.usd_errors import reports_usd_errors
from ...specs.two_values import are_same, contradiction
from .masses import authored_inertias

# of the largest entry of an inertia: principal axes have single precision
_OF_INERTIAS = 1e-3


@reports_usd_errors
def two_values(stage: Usd.Stage, axes: Sequence[Axis]) -> list[str]:
    """One message per value that is not read, because another attribute is and says something else."""
    found = [line for axis in axes for line in (*_of_attributes(stage, axis), *_of_coupling(stage, axis))]
    return [*found, *_of_actuators(stage, axes), *_of_inertias(stage, axes)]


def _of_attributes(stage: Usd.Stage, axis: Axis) -> Iterator[str]:
    values = list(filter(None, (_declared(stage, name, axis) for name in PROPERTIES)))
    told: set[str] = set()
    for one in values:
        (used, first), *others = one.items()
        for name, value in others:
            # PhysX has two dry frictions, others have one, which may be either
            read = [next(iter(other.items())) for other in values if name in other]
            if name not in told and not any(are_same(value, its) for known, its in read if known != name):
                told.add(name)
                yield contradiction(axis[0], f".{used} = {first:g}", f"{name} = {value:g}", first, value)


def _declared(stage: Usd.Stage, name: str, axis: Axis) -> dict[str, float]:
    """The authored values of a property, with MuJoCo's own, which act where the others are 0 or no limit."""
    found, joint = declared(stage, name, axis), stage.GetPrimAtPath(axis[0])
    first = next(iter(found.values()), 0.0)
    if name in OF_JOINT and first and isinstance(own := authored(joint, OF_JOINT[name]), int | float):
        found[OF_JOINT[name]] = float(own)
    if name == "max_efforts" and first and math.isfinite(first) and (bounds := joint_bounds(joint)):
        found["mjc:actuatorfrcrange"] = max(map(abs, bounds))
    return found


def _of_actuators(stage: Usd.Stage, axes: Sequence[Axis]) -> Iterator[str]:
    """Drives with gains beside `MjcActuator` prims, which do not act then."""
    acting, _ = acting_on(stage)
    for joint, axis in filter(lambda one: one[0] in acting, axes):
        values = (read_property(stage, name, [(joint, axis)])[0] for name in ("stiffnesses", "dampings", "max_efforts"))
        *drive, limit = map(float, values)
        if not any(drive):
            continue
        found, _ = drives_of({Sdf.Path(joint): acting[joint]}, {Sdf.Path(joint): joint})
        prims = ", ".join(f"<{prim.GetPath()}>" for prim in acting[joint])
        for other in found.values():
            if not are_same(limit, other.limit):
                used = f": its drive, with a largest effort of {limit:g},"
                yield contradiction(joint, used, f"{ACTUATOR} {prims}, with {other.limit:g},", limit, other.limit)
            gains = other.stiffness, other.damping
            pairs = [(ours, its) for ours, its in zip(drive, gains, strict=True) if not are_same(ours, its)]
            if pairs:
                yield contradiction(
                    joint,
                    f": its drive, with stiffness {drive[0]:g} and damping {drive[1]:g},",
                    f"{ACTUATOR} {prims}, with {gains[0]:g} and {gains[1]:g},",
                    *pairs[0],
                )


def _of_coupling(stage: Usd.Stage, axis: Axis) -> Iterator[str]:
    """Offset and ratio of a joint that follows another one, by the schemas of newton, MuJoCo and PhysX."""
    joint, unit = stage.GetPrimAtPath(axis[0]), 1.0 / PROPERTIES["position_targets"].scale(axis[1], units_of(stage))
    if not follows(stage, axis[0]):
        return
    of_physx = [one.partition(":")[2] for one in applied_schemas(joint) if one.startswith("PhysxMimicJointAPI:")]
    for power, name, factor in ((0, "offset", unit), (1, "gearing", 1.0)):
        scales = {f"newton:mimicCoef{power}": factor, f"mjc:coef{power}": 1.0}
        # PhysX: position + gearing · that of the leader + offset = 0
        scales |= {f"physxMimicJoint:{instance}:{name}": -factor for instance in of_physx}
        there = filter(lambda one: authored(joint, one) is not None, scales)
        values = [(one, authored_number(joint, one, 0.0) * scales[one]) for one in there]
        for other, second in values[1:]:
            used, first = values[0]
            if not are_same(first, second):
                yield contradiction(axis[0], f".{used} = {first:g}", f"{other} = {second:g}", first, second)


def _of_inertias(stage: Usd.Stage, axes: Sequence[Axis]) -> Iterator[str]:
    """Inertias of the links of joints, compact and by principal axes; the entry that differs most."""
    joints = [stage.GetPrimAtPath(joint) for joint, _ in axes]
    links = [link for joint in joints for side in ("0", "1") for link in targets(joint, f"physics:body{side}")]
    units = units_of(stage)
    for link in dict.fromkeys(links):
        prim = stage.GetPrimAtPath(link)
        found = list(authored_inertias(prim, units.mass * units.length**2)) if prim else []
        if len(found) < 2:
            continue
        (used, first), (other, second) = found
        row, column = np.unravel_index(np.argmax(np.abs(first - second)), first.shape)
        one, two = float(first[row, column]), float(second[row, column])
        if abs(one - two) > _OF_INERTIAS * np.abs(first).max():
            entry = "xyz"[row] + "xyz"[column]
            yield contradiction(str(link), f".{used}, {entry} = {one:g},", f"{other}, {entry} = {two:g},", one, two)
