"""The instance of a multiple-apply schema for an axis of a joint, also under another name.

A joint of one axis has `PhysicsDriveAPI:angular` or `:linear`. Some files have `:X` or `:rotZ`, as joints of several
axes do; USD's own parser and PhysX ignore these, and the drive with them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pxr import Sdf, Usd

from .authored import authored
from .axes import MANY

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
