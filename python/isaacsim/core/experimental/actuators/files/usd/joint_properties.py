"""Per-DOF properties on a stage: their attributes, units and fallbacks.

Values here are SI, rad and m; the stage has its own units, and degrees on angular axes. An axis is a joint's path and
the name of its instance in multiple-apply schemas: `angular` or `linear` for a joint with one axis, `transX` … `rotZ`
for one with several.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Sdf, Usd

from ...base.errors import HostError, UnsupportedSceneError
from ...specs.fields import in_single
from .articulation import axes_of
from .authored import authored as authored_of
from .authored import authored_number, instance_for
from .axes import MANY, axis_in, is_angular
from .schema import opinion
from .units import RADIAN, StageUnits, units_of
from .usd_errors import reports_usd_errors

Axis = tuple[str, str]


@dataclass(frozen=True)
class Property:
    """A property of an axis on a stage.

    `attributes` hold it, the strongest first; `{axis}` is the instance. The first, which alone may be of a `schema`, is
    written if none is authored; otherwise all authored ones are, so that every reader finds the same.
    """

    attributes: tuple[str, ...]
    schema: str | None = None
    # powers of effort and position in its unit
    effort: int = 0
    position: int = 0
    # angles are in degrees on the stage
    degrees: bool = True
    # [SI]
    fallback: float = 0.0
    # replaces `attributes` and `schema` on joints of several axes
    of_several: tuple[str, str] | None = None
    # attributes that hold a value only above 0: converters write 0 for a missing value
    positive: tuple[str, ...] = ()
    # attribute of converters from URDF, in SI whatever the stage's units; read if none of the others is authored
    urdf: str = ""

    def on(self, axis: str) -> tuple[tuple[str, ...], str | None]:
        """Attributes and schema on one axis."""
        names, schema = self.attributes, self.schema
        if self.of_several is not None and axis not in ("angular", "linear"):
            names, schema = self.of_several[:1], self.of_several[1]
        return tuple(name.format(axis=axis) for name in names), schema and schema.format(axis=axis)

    def scale(self, axis: str, units: StageUnits) -> float:
        """The factor from SI to the number on the stage."""
        angular = is_angular(axis)
        degrees = RADIAN**self.position if angular and self.degrees else 1.0
        return degrees / units.unit(self.effort, self.position, angular)


_DRIVE, _AXIS, _ENVELOPE = (
    "PhysicsDriveAPI:{axis}",
    "PhysxJointAxisAPI:{axis}",
    "PhysxDrivePerformanceEnvelopeAPI:{axis}",
)
_LIMIT = "PhysicsLimitAPI:{axis}"


def _drive(name: str, effort: int, position: int = 0, fallback: float = 0.0, urdf: str = "") -> Property:
    return Property((f"drive:{{axis}}:physics:{name}",), _DRIVE, effort, position, fallback=fallback, urdf=urdf)


def _axis(name: str, *others: str, effort: int, position: int = 0, **more: Any) -> Property:
    return Property((f"physxJointAxis:{{axis}}:{name}", *others), _AXIS, effort, position, **more)


def _envelope(name: str, effort: int, position: int, fallback: float = 0.0) -> Property:
    names = (f"physxDrivePerformanceEnvelope:{{axis}}:{name}",)
    return Property(names, _ENVELOPE, effort, position, fallback=fallback)


def _limit(name: str, of_several: str, fallback: float) -> Property:
    several = f"limit:{{axis}}:physics:{of_several}", _LIMIT
    urdf = f"urdf:limit:{name}"
    return Property((f"physics:{name}Limit",), None, 0, 1, fallback=fallback, of_several=several, urdf=urdf)


PROPERTIES = {
    "stiffnesses": _drive("stiffness", 1, -1),
    "dampings": _drive("damping", 1, -1),
    "position_targets": _drive("targetPosition", 0, 1),
    "velocity_targets": _drive("targetVelocity", 0, 1),
    "max_efforts": _drive("maxForce", 1, fallback=math.inf, urdf="urdf:limit:effort"),
    "lower_limits": _limit("lower", "low", -math.inf),
    "upper_limits": _limit("upper", "high", math.inf),
    # an inertia: effort per acceleration, which is in radians here
    "armatures": _axis("armature", "newton:armature", "physxJoint:armature", effort=1, position=-1, degrees=False),
    # newton knows one dry friction
    "static_frictions": _axis("staticFrictionEffort", "newton:friction", effort=1),
    "dynamic_frictions": _axis("dynamicFrictionEffort", "newton:friction", effort=1),
    "viscous_frictions": _axis("viscousFrictionCoefficient", "newton:damping", effort=1, position=-1),
    "max_velocities": _axis(
        *("maxJointVelocity", "newton:velocityLimit", "physxJoint:maxJointVelocity"),
        effort=0,
        position=1,
        fallback=math.inf,
        positive=("newton:velocityLimit",),
        urdf="urdf:limit:velocity",
    ),
    "speed_effort_gradients": _envelope("speedEffortGradient", -1, 1),
    "max_actuator_velocities": _envelope("maxActuatorVelocity", 0, 1, math.inf),
    "velocity_dependent_resistances": _envelope("velocityDependentResistance", 1, -1),
}

OF_MOTORS = {
    "armature": ("armatures",),
    "friction": ("static_frictions", "dynamic_frictions"),
    "viscous_friction": ("viscous_frictions",),
}
"""Properties of joints by the fields of `MotorConfig`."""

_ENVELOPES = ("max_actuator_velocities", "speed_effort_gradients", "velocity_dependent_resistances")
_URDF_RANGE = ("urdf:limit:lower", "urdf:limit:upper")
# PhysX writes the largest number of single precision for no limit
_NO_LIMIT = 1e36


def axis_of(stage: Usd.Stage, joint: str, name: str) -> str:
    """The axis of the DOF of this name; one of several is named `joint:axis`."""
    free = axes_of(stage.GetPrimAtPath(joint))
    if free in (("angular",), ("linear",)):
        return free[0]
    # PhysX locks the linear axes of joints in robots
    first = min(free, key=lambda one: not is_angular(one), default="rotX")
    return axis if (axis := axis_in(name)) in MANY else first


@reports_usd_errors
def envelopes(stage: Usd.Stage, axes: Sequence[Axis]) -> list[str]:
    """One message per drive with a performance envelope, which only PhysX knows."""
    limits = {name: read_property(stage, name, axes) for name in _ENVELOPES}
    found = []
    for at, (joint, axis) in enumerate(axes):
        parts = [
            f"{PROPERTIES[name].attributes[0].rpartition(':')[2]} = {column[at]:g}"
            for name, column in limits.items()
            if _limits_drive(name, column[at])
        ]
        if parts:
            found.append(
                f"<{joint}>: the performance envelope of its {axis} drive, {', '.join(parts)} (SI), is not carried: "
                "drives of MuJoCo have none. Give it an actuator with an EnvelopeClampingConfig, as motors_of a "
                "simulation returns, or simulate it on PhysX."
            )
    return found


@reports_usd_errors
def performance_envelope(stage: Usd.Stage, axis: Axis) -> tuple[float, float, float] | None:
    """Resistance, largest velocity and gradient of the performance envelope of a drive; None if it limits nothing."""
    velocity, gradient, resistance = (float(read_property(stage, name, [axis])[0]) for name in _ENVELOPES)
    if not any(map(_limits_drive, _ENVELOPES, (velocity, gradient, resistance))):
        return None
    return resistance, velocity if velocity < _NO_LIMIT else math.inf, gradient


def _limits_drive(name: str, value: float) -> bool:
    return value != PROPERTIES[name].fallback and value < _NO_LIMIT


@reports_usd_errors
def authored(stage: Usd.Stage, name: str, axes: Sequence[Axis]) -> np.ndarray:
    """Authored values of a property, one per axis; NaN for none; a `HostError` if a joint is not on the stage."""
    known, units = PROPERTIES[name], units_of(stage)
    values = np.full(len(axes), math.nan)
    for at, (path, axis) in enumerate(axes):
        joint = _joint(stage, path)
        if (attribute := _attribute_of(joint, known, axis)) is not None:
            values[at] = _in_si(joint, attribute, known, axis, units)
    return values


@reports_usd_errors
def read_property(stage: Usd.Stage, name: str, axes: Sequence[Axis]) -> np.ndarray:
    """Values of a property, one per axis; ±inf is no limit, NaN the value of an axis without a name."""
    values = authored(stage, name, axes)
    named = np.array([bool(axis) for _, axis in axes], bool)
    return np.where(np.isnan(values) & named, PROPERTIES[name].fallback, values)


def unlike(stage: Usd.Stage, values: Mapping[str, float], axis: Axis) -> dict[str, np.ndarray]:
    """Properties of one axis that do not have these values, with the values, as `write_properties` takes them."""
    return {
        name: np.array([value])
        for name, value in values.items()
        if not np.isclose(read_property(stage, name, [axis])[0], value, rtol=1e-6, atol=0.0)
    }


def write_properties(
    stage: Usd.Stage, values: Mapping[str, np.ndarray], axes: Sequence[Axis], cleared: Sequence[tuple[str, str]] = ()
) -> None:
    """Author properties by name, one value per axis each, at the stage's edit target.

    Attributes in `cleared`, given by joint and name, become 0 as well. A `ValueError` says that a value is too large
    for a file, a `HostError` that one cannot be authored there, or would have no effect; nothing is written then.
    """
    layer, numbers = stage.GetEditTarget().GetLayer(), _scaled(stage, values, axes)
    joints = {joint: _spec_path(stage, joint) for joint, _ in axes}
    draft = Sdf.Layer.CreateAnonymous("before")
    before = {path: Sdf.Path(f"/Joint{i}") for i, path in enumerate(joints.values()) if layer.GetPrimAtPath(path)}
    for path, place in before.items():
        Sdf.CopySpec(layer, path, draft, place)
    for name, (joint, axis), _, scaled in numbers:
        _write(stage.GetPrimAtPath(joint), joints[joint], PROPERTIES[name], axis, scaled)
    for joint, name in cleared:
        _author(stage.GetPrimAtPath(joint), joints[joint], name, 0.0)
    if hidden := _without_effect(stage, values, axes, cleared):
        for path in joints.values():
            _put_back(layer, path, draft, before.get(path))
        joint, name = hidden[0]
        raise HostError(
            f"<{joint}>.{name}: setting it at the edit target {layer.GetDisplayName()} has no effect, for a stronger "
            "layer authors it. Set that layer as the edit target."
        )


def _scaled(
    stage: Usd.Stage, values: Mapping[str, np.ndarray], axes: Sequence[Axis]
) -> list[tuple[str, Axis, float, float]]:
    """Name, axis, and the value in SI and in units of the stage; a `ValueError` for what is too large for a file."""
    units = units_of(stage)
    numbers = [
        (name, axis, float(value), float(value) * PROPERTIES[name].scale(axis[1], units))
        for name, column in values.items()
        for axis, value in zip(axes, column, strict=True)
    ]
    problems: list[str] = []
    for name, axis, value, scaled in numbers:
        if math.isinf(in_single(scaled)) and math.isfinite(value):
            attribute = _on(_joint(stage, axis[0]), PROPERTIES[name], axis[1])[0][0]
            problems.append(
                f"<{axis[0]}>.{attribute}: {value:g} in SI is {scaled:g} in the units of the stage, must be finite in "
                "single precision. Give a smaller number."
            )
    if problems:
        raise ValueError("\n".join(problems))
    return numbers


def _without_effect(
    stage: Usd.Stage, values: Mapping[str, np.ndarray], axes: Sequence[Axis], cleared: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    found = [(joint, name) for joint, name in cleared if authored_number(stage.GetPrimAtPath(joint), name, 0.0) != 0.0]
    for name, column in values.items():
        as_set = np.isclose(read_property(stage, name, axes), column, rtol=1e-5, atol=1e-30)
        other = [one for one, is_set in zip(axes, as_set, strict=True) if not is_set]
        found += [(joint, PROPERTIES[name].on(axis)[0][0]) for joint, axis in other]
    return found


def _joint(stage: Usd.Stage, path: str) -> Usd.Prim:
    prim = stage.GetPrimAtPath(path)
    if not prim:
        raise HostError(f"<{path}>: not on the stage any more. Put it back, or make the articulation anew.")
    return prim


def attribute_of(stage: Usd.Stage, name: str, axis: Axis) -> Usd.Attribute | None:
    """The attribute that holds a property of an axis; None if none is authored.

    A `HostError` says that the joint is not on the stage, an `UnsupportedSceneError` that the value is not a number.
    """
    return _attribute_of(_joint(stage, axis[0]), PROPERTIES[name], axis[1])


def _in_si(joint: Usd.Prim, attribute: Usd.Attribute, known: Property, axis: str, units: StageUnits) -> float:
    scale = 1.0 if attribute.GetName() == known.urdf else known.scale(axis, units)
    return authored_number(joint, attribute.GetName(), 0.0) / scale


def declared(stage: Usd.Stage, name: str, axis: Axis) -> dict[str, float]:
    """The authored values of a property of an axis, in SI by attribute; the first one is read."""
    joint, known, units = _joint(stage, axis[0]), PROPERTIES[name], units_of(stage)
    found = _attributes_of(joint, known, axis[1])
    return {one.GetName(): _in_si(joint, one, known, axis[1], units) for one in found}


def _attribute_of(joint: Usd.Prim, known: Property, axis: str) -> Usd.Attribute | None:
    return next(_attributes_of(joint, known, axis), None)


def _attributes_of(joint: Usd.Prim, known: Property, axis: str) -> Iterator[Usd.Attribute]:
    """Iterate over the attributes that hold a property, the one that is read first."""
    if not axis:
        return
    names, schema = _on(joint, known, axis)
    # without its schema, a drive or an axis has no attributes
    readable_names = names if schema is None or _has(joint, schema) else names[1:]
    for name in readable_names:
        if _holds(joint, name, name in known.positive):
            yield joint.GetAttribute(name)
    if known.urdf and _is_of_urdf(joint, known.urdf):
        yield joint.GetAttribute(known.urdf)


def _holds(joint: Usd.Prim, name: str, positive: bool) -> bool:
    if authored_of(joint, name) is None:
        return False
    value = authored_number(joint, name, 0.0)
    if math.isnan(value):
        raise UnsupportedSceneError(f"<{joint.GetPath()}>.{name} = nan: must be a number. Correct it, or remove it.")
    return value > 0 or not positive


def _is_of_urdf(joint: Usd.Prim, name: str) -> bool:
    """Return True if a converter from URDF left a limit; an effort or a velocity of 0 is none, as in URDF.

    Limits of the position are two, the lower below the upper: both are 0 on joints that turn without end.
    """
    if authored_of(joint, name) is None:
        return False
    if name in _URDF_RANGE:
        lower, upper = (authored_number(joint, one, math.nan) for one in _URDF_RANGE)
        return lower < upper
    return authored_number(joint, name, 0.0) > 0


def _on(joint: Usd.Prim, known: Property, axis: str) -> tuple[tuple[str, ...], str | None]:
    """Attributes and schema of a property on one axis, under the instance name on the joint."""
    names, schema = known.on(axis)
    if schema is None or _has(joint, schema):
        return names, schema
    return known.on(instance_for(joint, schema.partition(":")[0], axis))


def _has(joint: Usd.Prim, schema: str) -> bool:
    return schema in joint.GetPrimTypeInfo().GetAppliedAPISchemas()


def _spec_path(stage: Usd.Stage, joint: str) -> Sdf.Path:
    prim, target = _joint(stage, joint), stage.GetEditTarget()
    layer = target.GetLayer()
    if prim.IsInstanceProxy():
        raise HostError(
            f"<{joint}> is part of an instance and cannot be edited here. Make the robot uninstanceable, or set the "
            "property after play()."
        )
    if not layer.permissionToEdit:
        raise HostError(f"layer {layer.GetDisplayName()} is locked. Set another edit target or unlock it.")
    path = target.MapToSpecPath(prim.GetPath())
    if path.isEmpty:
        raise HostError(
            f"<{joint}> is out of reach of the edit target {layer.GetDisplayName()}. Set one that covers the robot."
        )
    return path


def _write(joint: Usd.Prim, path: Sdf.Path, known: Property, axis: str, value: float) -> None:
    names, schema = _on(joint, known, axis)
    # the other attributes are of all axes of the joint
    also = [name for name in names[1:] if axis in ("angular", "linear") and joint.GetAttribute(name).HasAuthoredValue()]
    if schema is not None and not _has(joint, schema):
        joint.AddAppliedSchema(schema)
    for name in (names[0], *also):
        _author(joint, path, name, value)


def _author(joint: Usd.Prim, path: Sdf.Path, name: str, value: float) -> None:
    spec = Sdf.CreatePrimInLayer(joint.GetStage().GetEditTarget().GetLayer(), path)
    attribute = spec.attributes.get(name) or Sdf.AttributeSpec(
        spec, name, joint.GetAttribute(name).GetTypeName() or Sdf.ValueTypeNames.Float
    )
    attribute.default = value


def _put_back(layer: Sdf.Layer, path: Sdf.Path, draft: Sdf.Layer, place: Sdf.Path | None) -> None:
    if place is not None:
        Sdf.CopySpec(draft, place, layer, path)
        return
    spec = layer.GetPrimAtPath(path)
    for name in list(spec.attributes.keys()):
        spec.RemoveProperty(spec.attributes[name])
    spec.ClearInfo("apiSchemas")
    layer.ScheduleRemoveIfInert(spec)


@reports_usd_errors
def layer_of_parameter(stage: Usd.Stage, prim: str, attribute: str) -> str | None:
    """The layer that holds an attribute of an actuator prim; None for none."""
    found = stage.GetPrimAtPath(prim).GetAttribute(attribute)
    return _name_of(found) if found and found.HasAuthoredValue() else None


@reports_usd_errors
def layer_of_property(stage: Usd.Stage, name: str, axis: Axis) -> str | None:
    """The layer that holds a property of a joint's axis, see `joint_properties`; None for none."""
    found = attribute_of(stage, name, axis)
    return None if found is None else _name_of(found)


def _name_of(attribute: Usd.Attribute) -> str:
    return opinion(attribute).layer.GetDisplayName()
