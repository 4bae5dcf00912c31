"""Properties of joints as MuJoCo takes them from a stage: those of all simulators, its own attributes, its actuators.

    armature = newton:armature and the like, or mjc:armature where these are 0      + those of MjcActuator prims
    friction, viscous friction likewise, by mjc:frictionloss and mjc:damping
    gains = those of the drive, or of MjcActuator prims where these are 0
    largest effort = that of the drive, or mjc:actuatorfrcrange                     and those of MjcActuator prims

Units are SI, and MuJoCo's attributes are in SI whatever the stage's units are.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from pxr import Sdf, Usd

from ...base.callers import level_outside
from ...base.errors import HostError
from .authored import authored_number
from .joint_properties import Axis, read_property, unlike, write_properties
from .mjc_actuators import Drive, acting_on, drives_of, joint_bounds
from .usd_errors import reports_usd_errors

OF_JOINT = {
    "armatures": "mjc:armature",
    "static_frictions": "mjc:frictionloss",
    "dynamic_frictions": "mjc:frictionloss",
    "viscous_frictions": "mjc:damping",
}
"""MuJoCo's attributes of joints, by the property that they are where no other attribute is authored."""

_GAINS = ("stiffnesses", "dampings")
_OF_DRIVES = (*_GAINS, "armatures", "max_efforts")


@reports_usd_errors
def read_mujoco_property(stage: Usd.Stage, name: str, axes: Sequence[Axis]) -> np.ndarray:
    """Values of a property, one per axis, as `read_property` returns them."""
    values = with_own_attributes(stage, name, read_property(stage, name, axes), axes)
    return with_actuators(stage, name, values, axes)


def with_own_attributes(stage: Usd.Stage, name: str, values: np.ndarray, axes: Sequence[Axis]) -> np.ndarray:
    """Return values of a property with those of MuJoCo's attributes of the joints where they are 0, or no limit."""
    if name in OF_JOINT:
        own = [authored_number(stage.GetPrimAtPath(joint), OF_JOINT[name], 0.0) for joint, _ in axes]
        return np.where(values == 0.0, own, values)
    if name == "max_efforts":
        bounds = [joint_bounds(stage.GetPrimAtPath(joint)) or (-np.inf, np.inf) for joint, _ in axes]
        return np.where(np.isinf(values), np.max(np.abs(bounds), axis=1, initial=0.0), values)
    return values


def with_actuators(stage: Usd.Stage, name: str, values: np.ndarray, axes: Sequence[Axis]) -> np.ndarray:
    """Return values of a property with those of `MjcActuator` prims on the joints."""
    found = values.copy()
    if name in _OF_DRIVES:
        for at, drive in drives_of_axes(stage, axes).items():
            found[at] = _with_drive(name, found[at], drive)
    return found


def write_mujoco_properties(stage: Usd.Stage, values: Mapping[str, np.ndarray], axes: Sequence[Axis]) -> None:
    """Author properties, one value per axis each, as `write_properties` does, and so that MuJoCo takes them.

    A joint whose drive gets gains is no longer driven by `MjcActuator` prims: what these gave it besides is authored on
    the joint.

    Raises:
        HostError: A property cannot be authored, or would have no effect beside `MjcActuator` prims; nothing is
            written then.

    Warns:
        UserWarning: Actuators push with a constant effort, which a drive of USD has not.
    """
    given = {name: column.copy() for name, column in values.items()}
    kept: list[tuple[Axis, dict[str, float]]] = []
    for at, drive in drives_of_axes(stage, axes).items():
        mine = {name: float(column[at]) for name, column in values.items()}
        if mine.keys() & set(_GAINS):
            kept.append((axes[at], _kept(stage, axes[at], mine, drive)))
        else:
            for name, value in _besides(axes[at], mine, drive).items():
                given[name][at] = value
    cleared = _standing_in(stage, given, axes)
    kept += _also_standing_in(stage, given, axes, cleared)
    write_properties(stage, given, axes, cleared)
    for axis, others in kept:
        if changed := unlike(stage, others, axis):
            write_properties(stage, changed, [axis])


def _standing_in(stage: Usd.Stage, given: Mapping[str, np.ndarray], axes: Sequence[Axis]) -> list[tuple[str, str]]:
    """Return joints and MuJoCo's attributes of them that would act in place of given zeros."""
    found = {
        (joint, OF_JOINT[name])
        for name in OF_JOINT.keys() & given.keys()
        for (joint, _), value in zip(axes, given[name], strict=True)
        if value == 0.0 and authored_number(stage.GetPrimAtPath(joint), OF_JOINT[name], 0.0) != 0.0
    }
    return sorted(found)


def _also_standing_in(
    stage: Usd.Stage, given: Mapping[str, np.ndarray], axes: Sequence[Axis], cleared: Sequence[tuple[str, str]]
) -> list[tuple[Axis, dict[str, float]]]:
    """Return properties that are not given, and for which these attributes act, too."""
    shared = [
        (axis, [name for name, own in OF_JOINT.items() if (axis[0], own) in cleared and name not in given])
        for axis in axes
    ]
    return [(axis, _present(stage, axis, names)) for axis, names in shared if names]


def _present(stage: Usd.Stage, axis: Axis, names: Sequence[str]) -> dict[str, float]:
    """Return the present values of properties of an axis."""
    return {name: float(read_mujoco_property(stage, name, [axis])[0]) for name in names}


def _kept(stage: Usd.Stage, axis: Axis, given: Mapping[str, float], drive: Drive) -> dict[str, float]:
    """Return the properties to author besides gains, because the actuators that gave them no longer act."""
    others = _present(stage, axis, [name for name in _OF_DRIVES if name not in given])
    if not any((others | dict(given))[name] for name in _GAINS):
        raise _no_effect(axis, "gains of 0 leave", "Deactivate the prims.")
    if drive.effort:
        warnings.warn(
            f"<{axis[0]}>: the constant effort {drive.effort:g} N·m or N of its MjcActuator prims acts no longer, for "
            "its drive has gains now and no constant effort. Set gains after play() to keep it.",
            stacklevel=level_outside(),
        )
    return others


def _besides(axis: Axis, given: Mapping[str, float], drive: Drive) -> dict[str, float]:
    """Return the properties to author beside actuators, so that the joint has the given values with them."""
    found = {}
    if "armatures" in given:
        found["armatures"] = given["armatures"] - drive.armature
        if found["armatures"] < 0.0:
            raise _no_effect(axis, f"an armature of {given['armatures']:g} is below that of", "Change mjc:armature.")
    if given.get("max_efforts", 0.0) > drive.limit:
        raise _no_effect(axis, f"a largest effort of {given['max_efforts']:g} is above that of", "Change their ranges.")
    return found


def _no_effect(axis: Axis, what: str, remedy: str) -> HostError:
    return HostError(
        f"<{axis[0]}>: {what} the MjcActuator prims that drive the joint. {remedy} Or set the value after play()."
    )


def drives_of_axes(stage: Usd.Stage, axes: Sequence[Axis]) -> dict[int, Drive]:
    """The drives that `MjcActuator` prims are of axes without another one, by index of the axis."""
    acting, _ = acting_on(stage)
    found = [at for at, (joint, _) in enumerate(axes) if joint in acting]
    if not found:
        return {}
    gains = [read_property(stage, name, [axes[at] for at in found]) for name in _GAINS]
    bare = {axes[at][0]: at for at, *both in zip(found, *gains, strict=True) if not any(both)}
    drives, _ = drives_of(
        {Sdf.Path(joint): acting[joint] for joint in bare}, {Sdf.Path(joint): joint for joint in bare}
    )
    return {bare[str(joint)]: drive for joint, drive in drives.items()}


def _with_drive(name: str, value: float, drive: Drive) -> float:
    """A property of an axis with the drive that `MjcActuator` prims are."""
    if name == "armatures":
        return value + drive.armature
    if name == "max_efforts":
        return min(value, drive.limit)
    return drive.stiffness if name == "stiffnesses" else drive.damping
