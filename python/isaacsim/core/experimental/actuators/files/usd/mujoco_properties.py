"""Properties of joints as MuJoCo takes them from a stage: those of all simulators, its own attributes, its actuators.

    armature = newton:armature and the like, or mjc:armature where these are 0      + those of MjcActuator prims
    friction, viscous friction likewise, by mjc:frictionloss and mjc:damping
    gains = those of the drive, or of MjcActuator prims where these are 0
    largest effort = that of the drive, or mjc:actuatorfrcrange                     and those of MjcActuator prims

Units are SI, and MuJoCo's attributes are in SI whatever the stage's units are. All is read with or without MuJoCo's
schemas in USD.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pxr import Sdf, Usd

from ...base.callers import level_outside
from ...base.errors import HostError
from ...specs.dc_motors import INPUTS, DCMotor
from ...specs.linear_actuators import Bounds, Law, law_of, refused, target_ranges
from .articulation import axes_of, every_prim
from .authored import authored, authored_number, authored_numbers, targets
from .joint_properties import Axis, read_property, unlike, write_properties
from .usd_errors import reports_usd_errors

ACTUATOR, TENDON = "MjcActuator", "MjcTendon"


@dataclass(frozen=True)
class Drive:
    """The joint drive that does what actuators of a joint do, in SI."""

    stiffness: float
    damping: float
    effort: float
    """Constant effort."""
    limit: float
    armature: float
    """Armature of the actuators, in addition to that of the joint."""
    position_range: Bounds
    velocity_range: Bounds


def mjc_prims(stage: Usd.Stage) -> tuple[list[Usd.Prim], list[Usd.Prim]]:
    """The actuators and the tendons of MuJoCo."""
    found: dict[str, list[Usd.Prim]] = {ACTUATOR: [], TENDON: []}
    for prim in every_prim(stage.GetPseudoRoot()):
        if (kind := prim.GetTypeName()) in found:
            found[kind].append(prim)
    return found[ACTUATOR], found[TENDON]


def joint_of(actuator: Usd.Prim) -> Sdf.Path | None:
    """The target of an actuator, a joint or another prim; None for none."""
    return next(iter(targets(actuator, "mjc:target")), None)


def acting_on(stage: Usd.Stage) -> tuple[dict[str, list[Usd.Prim]], list[str]]:
    """Actuators by the path of their joint, and problems of those without a joint of one axis."""
    acting: dict[str, list[Usd.Prim]] = {}
    problems: list[str] = []
    for prim in mjc_prims(stage)[0]:
        path = joint_of(prim)
        if path is not None and len(axes_of(stage.GetPrimAtPath(path))) == 1:
            acting.setdefault(str(path), []).append(prim)
        else:
            problems.append(f"<{prim.GetPath()}> (acts on {f'<{path}>' if path else 'nothing'}: no joint of one axis)")
    return acting, problems


def drives_of(
    actuators: Mapping[Sdf.Path, Sequence[Usd.Prim]], names: Mapping[Sdf.Path, str]
) -> tuple[dict[Sdf.Path, Drive], list[tuple[Usd.Prim, str]]]:
    """The drives that actuators are, by joint, and the actuators that no drive stands for, with reasons.

    Those of one joint, which has one axis and no other drive, are one drive, as in MJCF: gains and constant efforts add
    up.
    """
    drives: dict[Sdf.Path, Drive] = {}
    others: list[tuple[Usd.Prim, str]] = []
    for joint, acting in actuators.items():
        laws = {prim: law_of_prim(prim) for prim in acting}
        linear = {prim: law for prim, law in laws.items() if isinstance(law, Law)}
        if wrong := refused(laws, names[joint]) or _constants_alone(linear):
            others += wrong
        else:
            own = list(linear.values())
            kp, kd, effort = (sum(getattr(law, name) for law in own) for name in ("kp", "kd", "const_effort"))
            limit = min(max(map(abs, law.bounds)) for law in own)
            drives[joint] = Drive(kp, kd, effort, limit, sum(map(armature_of, linear)), *target_ranges(own))
    return drives, others


def _constants_alone(laws: Mapping[Usd.Prim, Law]) -> list[tuple[Usd.Prim, str]]:
    """Actuators of one joint with a constant effort that no drive has, for it would be without gains."""
    if any(law.kp or law.kd for law in laws.values()):
        return []
    return [(prim, "it pushes with a constant alone") for prim, law in laws.items() if law.const_effort]


def law_of_prim(actuator: Usd.Prim) -> Law | str:
    """An actuator as a law of its joint, or the reason why it is none."""
    if (motor := dc_motor_of_prim(actuator)) is not None and motor.problem:
        return motor.problem
    kinds = [str(authored(actuator, f"mjc:{name}Type", "none")) for name in ("dyn", "bias")]
    gain = [*authored_numbers(actuator, "mjc:gainPrm", (1.0,)), 0.0, 0.0, 0.0]
    bias = [*authored_numbers(actuator, "mjc:biasPrm", ()), 0.0, 0.0, 0.0] if kinds[1] == "affine" else [0.0] * 3
    known = kinds[0] == "none" and kinds[1] in ("none", "affine")
    if not known or str(authored(actuator, "mjc:gainType", "fixed")) not in ("fixed", "affine") or any(gain[1:3]):
        return "its force is more than a constant times its control, its position and its velocity"
    return law_of(gear_of(actuator), gain[0], bias[:3], bounds(actuator, "force"), bounds(actuator, "ctrl"))


def dc_motor_of_prim(actuator: Usd.Prim) -> DCMotor | None:
    """A DC motor in the packing of MuJoCo 4.0; None for other actuators.

    Prims have no kind of control: one with gains is commanded by targets, others by a voltage.
    """
    if str(authored(actuator, "mjc:gainType", "fixed")) != "dcmotor":
        return None
    dynamics, gain, bias = (authored_numbers(actuator, f"mjc:{name}Prm", ()) for name in ("dyn", "gain", "bias"))
    inputs = INPUTS["pos"] | INPUTS["vel"] if any(gain[4:7]) else INPUTS["voltage"]
    forces, controls = bounds(actuator, "force"), bounds(actuator, "ctrl")
    return DCMotor(dynamics, gain, bias, inputs, gear_of(actuator), forces, controls)


def gear_of(actuator: Usd.Prim) -> float:
    """Transmission of an actuator on a joint of one axis."""
    return [*authored_numbers(actuator, "mjc:gear", ()), 1.0][0]


def armature_of(actuator: Usd.Prim) -> float:
    """Armature that an actuator adds to its joint."""
    return authored_number(actuator, "mjc:armature", 0.0) * gear_of(actuator) ** 2


def bounds(prim: Usd.Prim, of: str, ends: tuple[str, str] = ("Range", "Limited")) -> Bounds | None:
    """A range of MuJoCo, such as that of the control (`of`); None if it is not active."""
    low, high = (authored_number(prim, f"mjc:{of}{ends[0]}:{side}", 0.0) for side in ("min", "max"))
    is_limited = str(authored(prim, f"mjc:{of}{ends[1]}", "auto")) != "false"
    return (low, high) if low < high and is_limited else None


def joint_bounds(joint: Usd.Prim) -> Bounds | None:
    """Bounds of the total actuator force on a joint; None for none."""
    return bounds(joint, "actuatorfrc", ("range", "limited"))


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
            match name:
                case "armatures":
                    found[at] += drive.armature
                case "max_efforts":
                    found[at] = min(found[at], drive.limit)
                case "stiffnesses":
                    found[at] = drive.stiffness
                case _:
                    found[at] = drive.damping
    return found


def write_mujoco_properties(stage: Usd.Stage, values: Mapping[str, np.ndarray], axes: Sequence[Axis]) -> None:
    """Author properties, one value per axis each, as `write_properties` does, and so that MuJoCo takes them.

    A joint whose drive gets gains is no longer driven by `MjcActuator` prims: what these gave it besides is authored on
    the joint, and a warning names a constant effort, which a drive of USD has not. A `HostError` says that a property
    cannot be authored, or would have no effect beside `MjcActuator` prims; nothing is written then.
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
    cleared = _zeros_of_joints(stage, given, axes)
    kept += _kept_of_joints(stage, given, axes, cleared)
    write_properties(stage, given, axes, cleared)
    for axis, others in kept:
        if changed := unlike(stage, others, axis):
            write_properties(stage, changed, [axis])


def _present(stage: Usd.Stage, axis: Axis, names: Sequence[str]) -> dict[str, float]:
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


def _zeros_of_joints(stage: Usd.Stage, given: Mapping[str, np.ndarray], axes: Sequence[Axis]) -> list[tuple[str, str]]:
    """Joints and attributes of MuJoCo that become 0 with properties of their axes, and are something else."""
    found = {
        (joint, OF_JOINT[name])
        for name in OF_JOINT.keys() & given.keys()
        for (joint, _), value in zip(axes, given[name], strict=True)
        if value == 0.0 and authored_number(stage.GetPrimAtPath(joint), OF_JOINT[name], 0.0) != 0.0
    }
    return sorted(found)


def _kept_of_joints(
    stage: Usd.Stage, given: Collection[str], axes: Sequence[Axis], cleared: Collection[tuple[str, str]]
) -> Iterator[tuple[Axis, dict[str, float]]]:
    """Yield axes with what they have besides the given properties of attributes that become 0."""
    for axis in axes:
        shared = [name for name, own in OF_JOINT.items() if (axis[0], own) in cleared]
        if names := [name for name in shared if name not in given]:
            yield axis, _present(stage, axis, names)


def drives_of_axes(stage: Usd.Stage, axes: Sequence[Axis]) -> dict[int, Drive]:
    """The drives that `MjcActuator` prims are of axes without another one, by index of the axis."""
    acting, _ = acting_on(stage)
    found = {at: axis for at, axis in enumerate(axes) if axis[0] in acting}
    if not found:
        return {}
    gains = [read_property(stage, name, [*found.values()]) for name in _GAINS]
    bare = {axes[at][0]: at for at, *both in zip(found, *gains, strict=True) if not any(both)}
    drives, _ = drives_of(
        {Sdf.Path(joint): acting[joint] for joint in bare}, {Sdf.Path(joint): joint for joint in bare}
    )
    return {bare[str(joint)]: drive for joint, drive in drives.items()}
