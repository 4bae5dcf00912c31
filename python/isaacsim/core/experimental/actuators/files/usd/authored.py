"""Authored values of prims, whether or not USD knows their schema, with checks of their types.

A layer may give any attribute a value of any type, whatever its schema. A joint of one axis has
`PhysicsDriveAPI:angular` or `:linear`; some files have `:X` or `:rotZ`, as joints of several axes do. USD's own parser
and PhysX ignore these, and the drive with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pxr import Gf, Sdf, Tf, Usd

from ...base.errors import UnsupportedSceneError
from .axes import MANY


def authored(prim: Usd.Prim, name: str, fallback: object = None) -> Any:
    """The value of an attribute at the default time; the fallback if none is authored."""
    attribute = prim.GetAttribute(name)
    value = attribute.Get() if attribute and attribute.HasAuthoredValue() else None
    return fallback if value is None else value


def authored_number(prim: Usd.Prim, name: str, fallback: float) -> float:
    """An authored number, or the fallback; an `UnsupportedSceneError` if the value is no number."""
    value = authored(prim, name, fallback)
    if not isinstance(value, int | float):
        raise other_type(prim, name, value, "a number")
    return float(value)


def authored_numbers(prim: Usd.Prim, name: str, fallback: Sequence[float], size: int | None = None) -> list[float]:
    """Several authored numbers, the fallback if none is authored.

    `size` is their required count, None for any; an `UnsupportedSceneError` says that the value is something else.
    """
    value = authored(prim, name, fallback)
    try:
        # vectors of USD are iterable, and no sequences
        found: list[Any] = list(value)
    except (TypeError, UnicodeDecodeError):
        found = [None]
    if not all(isinstance(one, int | float) for one in found) or size not in (None, len(found)):
        raise other_type(prim, name, value, "numbers" if size is None else f"{size} numbers")
    return [float(one) for one in found]


def quaternion(prim: Usd.Prim, name: str) -> Gf.Quatd:
    """The normalized rotation of an attribute; the identity if none is authored or its length is 0.

    An `UnsupportedSceneError` says that the value is no quaternion.
    """
    value = authored(prim, name, Gf.Quatd(1.0))
    if not isinstance(value, Gf.Quatd | Gf.Quatf | Gf.Quath):
        raise other_type(prim, name, value, "a quaternion")
    return Gf.Quatd(value).GetNormalized() if value.GetLength() > 0 else Gf.Quatd(1.0)


def targets(prim: Usd.Prim, name: str) -> list[Sdf.Path]:
    """Targets of a relationship of a prim; none if there is no such relationship."""
    try:
        relation = prim.GetRelationship(name)
        return relation.GetForwardedTargets() if relation else []
    except Tf.ErrorException:
        return []


def other_type(prim: Usd.Prim, name: str, value: object, wanted: str) -> UnsupportedSceneError:
    """The error of a value of the wrong type."""
    try:
        text = str(value)
    except UnicodeDecodeError:
        text = "text that is not UTF-8"
    text = " ".join(text[:120].split()) + ("…" if len(text) > 120 else "")
    return UnsupportedSceneError(
        f"<{prim.GetPath()}>.{name} = {text} ({type(value).__name__}): must be {wanted}. Correct it, or remove it."
    )


# schemas of an axis, and the prefix of their attributes
FAMILIES = {
    "PhysicsDriveAPI": "drive",
    "PhysxJointAxisAPI": "physxJointAxis",
    "PhysxDrivePerformanceEnvelopeAPI": "physxDrivePerformanceEnvelope",
}
_KINDS = {"angular": "rot", "linear": "trans"}
_AXIS_OF = {"PhysicsRevoluteJoint": "angular", "PhysicsPrismaticJoint": "linear"}


def instance_for(joint: Usd.Prim, family: str, axis: str) -> str:
    """The instance of a schema for an axis: the one of that name, else the one of the joint's only axis."""
    found = _instances(joint, family)
    if axis in found or axis not in _KINDS:
        return axis
    names = {axis, *"xyz", *(f"{_KINDS[axis]}{letter}" for letter in "xyz")}
    meant = [one for one in found if one.lower() in names]
    letter = str(authored(joint, "physics:axis", "X"))
    return min(meant, key=lambda one: one[-1:].upper() != letter, default=axis)


def misnamed(stage: Usd.Stage, joints: Sequence[str]) -> list[str]:
    """One message per instance of a schema that has another name than its axis, or that is of no axis."""
    found: list[str] = []
    for path in dict.fromkeys(joints):
        joint = stage.GetPrimAtPath(path)
        axis = _AXIS_OF.get(joint.GetTypeName())
        known = MANY if axis is None else (axis,)
        for family, prefix in FAMILIES.items():
            read = None if axis is None else instance_for(joint, family, axis)
            for one in _instances(joint, family):
                applies = f"<{path}> applies {family}:{one}"
                if one in known:
                    continue
                found.append(
                    f"{applies}: read as {family}:{axis}, for the joint has one axis; others do not read it. Rename "
                    f"it, and its attributes to `{prefix}:{axis}:…`."
                    if one == read
                    else f"{applies}, which has no effect: the joint knows {', '.join(known)}. Rename or remove it."
                )
    return found


def rename_misnamed(layer: Sdf.Layer) -> None:
    """Rename instances of schemas in a layer to the names of their axes."""
    stage = Usd.Stage.Open(layer)
    for joint in list(stage.TraverseAll()):
        axis = _AXIS_OF.get(joint.GetTypeName(), "")
        for family, prefix in FAMILIES.items():
            read = instance_for(joint, family, axis)
            if read == axis:
                continue
            joint.RemoveAppliedSchema(f"{family}:{read}")
            joint.AddAppliedSchema(f"{family}:{axis}")
            spec = layer.GetPrimAtPath(joint.GetPath())
            for attribute in [one for one in spec.attributes if one.name.startswith(f"{prefix}:{read}:")]:
                attribute.name = attribute.name.replace(f":{read}:", f":{axis}:", 1)


def _instances(joint: Usd.Prim, family: str) -> list[str]:
    applied = (schema.partition(":") for schema in joint.GetPrimTypeInfo().GetAppliedAPISchemas())
    return [instance for name, _, instance in applied if name == family]
