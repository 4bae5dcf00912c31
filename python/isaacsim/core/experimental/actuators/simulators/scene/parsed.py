"""Results of USD's own parser of physics."""

# its type stubs lack the parser
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pxr import Sdf, Tf, Usd, UsdPhysics

from ...base.errors import UnsupportedSceneError
from ...files.usd.usd_errors import usd_message

# newer versions of USD warn of the former name
_load = getattr(UsdPhysics, "UsdPhysicsLoadStageFromPrimRange", None) or UsdPhysics.LoadUsdPhysicsFromRange

_JOINTS = {
    UsdPhysics.ObjectType.FixedJoint: "fixed",
    UsdPhysics.ObjectType.RevoluteJoint: "revolute",
    UsdPhysics.ObjectType.PrismaticJoint: "prismatic",
    UsdPhysics.ObjectType.SphericalJoint: "spherical",
    UsdPhysics.ObjectType.DistanceJoint: "distance",
    UsdPhysics.ObjectType.D6Joint: "d6",
    UsdPhysics.ObjectType.CustomJoint: "custom",
}
_SHAPES = {kind for name, kind in UsdPhysics.ObjectType.names.items() if name.endswith("Shape")}


Description: TypeAlias = Any
"""What USD's parser says of a prim; the types of its library do not have these."""


@dataclass
class Parsed:
    """The parser's descriptions by path, sorted by path."""

    scenes: dict[Sdf.Path, Description] = field(default_factory=dict)
    bodies: dict[Sdf.Path, Description] = field(default_factory=dict)
    # kind and description
    joints: dict[Sdf.Path, tuple[str, Description]] = field(default_factory=dict)
    shapes: dict[Sdf.Path, Description] = field(default_factory=dict)
    materials: dict[Sdf.Path, Description] = field(default_factory=dict)
    groups: dict[Sdf.Path, Description] = field(default_factory=dict)
    articulations: dict[Sdf.Path, Description] = field(default_factory=dict)


def parse(stage: Usd.Stage) -> Parsed:
    """Parse the physics of a stage with USD; an `UnsupportedSceneError` if USD finds an error."""
    kinds = UsdPhysics.ObjectType
    found = Parsed()
    into = {
        kinds.Scene: found.scenes,
        kinds.RigidBody: found.bodies,
        kinds.RigidBodyMaterial: found.materials,
        kinds.CollisionGroup: found.groups,
        kinds.Articulation: found.articulations,
    }
    try:
        objects = _load(stage, ["/"])
    except Tf.ErrorException as error:
        where = stage.GetRootLayer().GetDisplayName()
        raise UnsupportedSceneError(
            f"{where}: USD cannot read the physics of this stage: {usd_message(error)}. Correct that."
        ) from error
    for kind, (paths, descriptions) in objects.items():
        for path, description in sorted(zip(paths, descriptions, strict=True), key=lambda one: one[0]):
            if not description.isValid:
                raise UnsupportedSceneError(
                    f"<{path}>: USD finds this {description.type} not valid. Its warnings tell why; correct that."
                )
            if kind in _JOINTS:
                found.joints[path] = _JOINTS[kind], description
            elif kind in _SHAPES:
                found.shapes[path] = description
            elif kind in into:
                into[kind][path] = description
    return found
