"""Write the joints of a scene: a prim per axis with its limits, drive, friction, armature, spring and state."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics

from ...base.errors import UnsupportedSceneError
from ...files.usd.joint_properties import PROPERTIES, write_properties
from ...files.usd.units import RADIAN
from .frames import HERE, Frame, frame_of
from .joints import motion
from .scene import FIELDS, NAMELESS, Axis, Body, Scene
from .tree import WORLD


class Names:
    """Valid and unique paths of new prims; changed names are recorded."""

    def __init__(self) -> None:
        self._taken: set[Sdf.Path] = set()
        self.renamed: list[str] = []

    def below(self, parent: Sdf.Path, name: str, *, noted: bool = True) -> Sdf.Path:
        """Return a path for a child of this name."""
        valid = first = Tf.MakeValidIdentifier(name.strip("/"))
        number = 2
        while (path := parent.AppendChild(valid)) in self._taken:
            valid, number = f"{first}_{number}", number + 1
        self._taken.add(path)
        if noted and valid != name.strip("/"):
            self.renamed.append(f"{name.strip('/')} → {valid}")
        return path


Apart = Collection[frozenset[int]]

_KINDS = {
    "fixed": UsdPhysics.FixedJoint,
    "ball": UsdPhysics.SphericalJoint,
    "hinge": UsdPhysics.RevoluteJoint,
    "slide": UsdPhysics.PrismaticJoint,
}
_UNITS = {"X": Gf.Vec3d.XAxis(), "Y": Gf.Vec3d.YAxis(), "Z": Gf.Vec3d.ZAxis()}
# schemas of the further attributes of a property
_BESIDE = ("NewtonJointAPI", "PhysxJointAPI")
# tolerance of parallel axes, that of the reader of joints
_PARALLEL = 1e-4


def placed(geometry: UsdGeom.Xformable, place: Frame) -> Usd.Prim:
    """The prim of a geometry, placed in its parent."""
    geometry.AddTranslateOp().Set(place.place)
    geometry.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(place.turn)
    return geometry.GetPrim()


def write_joints(
    stage: Usd.Stage, names: Names, scene: Scene, bodies: Sequence[Sdf.Path], scopes: Sequence[Sdf.Path], apart: Apart
) -> dict[int, Sdf.Path]:
    """Write the joints that carry bodies, into `scopes`; return paths of axes, and of bodies without, by their `id`."""
    joints: dict[int, Sdf.Path] = {}
    digits = len(str(len(scene.bodies)))
    for number, body in enumerate(scene.bodies):
        _require_directions(body)
        ends = (body.parent, number)
        touch = body.kind != "fixed" and frozenset(ends) not in apart
        for axis, (letter, frames) in zip(body.axes, _frames(body), strict=True):
            path = names.below(scopes[number], axis.name)
            kind = "slide" if axis.linear else "hinge"
            _joint(stage, kind, path, _bodies_at(bodies, ends), frames, touch).CreateAxisAttr(letter)
            joints[id(axis)] = path
        if body.kind in ("fixed", "ball"):
            name = body.joint.rsplit("/", 1)[-1]
            is_named = name != NAMELESS
            # readers sort joints of one link by name, and a file has those without a name in the order of its bodies
            name = name if is_named else f"{NAMELESS}_{number:0{digits}}_{body.path}"
            path = names.below(scopes[number], name, noted=is_named)
            _write_carrier(stage, path, body, _bodies_at(bodies, ends), touch)
            joints[id(body)] = path
    axes = [axis for body in scene.bodies for axis in body.axes]
    _write_values(stage, axes, joints)
    for axis in axes:
        _write_mujoco(stage.GetPrimAtPath(joints[id(axis)]), axis)
        _write_state(stage.GetPrimAtPath(joints[id(axis)]), axis)
    return joints


def write_mimics(stage: Usd.Stage, scene: Scene, joints: Mapping[int, Sdf.Path]) -> None:
    """Write the joints that follow others; each has a leader."""
    for mimic in scene.mimics:
        prim, follower, leader = stage.GetPrimAtPath(joints[id(mimic.follower)]), mimic.follower, mimic.leader
        assert leader is not None
        # positions are relative to the references in a scene, and absolute on a stage
        shift = Polynomial([-leader.reference, 1.0])
        powers = np.zeros(5)
        found = (Polynomial(mimic.coefficients)(shift) + follower.reference).coef[:5]
        powers[: len(found)] = found
        prim.AddAppliedSchema("NewtonMimicAPI")
        prim.CreateRelationship("newton:mimicJoint").SetTargets([joints[id(leader)]])
        unit = 1.0 if follower.linear else RADIAN
        _set(prim, "newton:mimicCoef0", powers[0] * unit, Sdf.ValueTypeNames.Float)
        _set(prim, "newton:mimicCoef1", powers[1], Sdf.ValueTypeNames.Float)
        for power in (2, 3, 4):
            if powers[power]:
                prim.AddAppliedSchema("MjcEqualityJointAPI")
                _set(prim, f"mjc:coef{power}", powers[power])
        _write_hardness(prim, mimic.hardness)


def write_loops(
    stage: Usd.Stage, names: Names, scene: Scene, bodies: Sequence[Sdf.Path], scope: Sdf.Path, apart: Apart
) -> None:
    """Write joints that close loops."""
    for loop in scene.loops:
        frames = tuple(frame_of(*one) for one in loop.frames)
        path, touch = names.below(scope, loop.joint), frozenset(loop.bodies) not in apart
        joint = _joint(stage, loop.kind, path, _bodies_at(bodies, loop.bodies), frames, touch)
        if loop.kind == "hinge":
            joint.CreateAxisAttr("Z")
        joint.CreateExcludeFromArticulationAttr(True)
        _write_hardness(joint.GetPrim(), loop.hardness)


def _require_directions(body: Body) -> None:
    turning = [axis for axis in body.axes if not axis.linear]
    for number, axis in enumerate(turning):
        for other in turning[:number]:
            if abs(float(axis.direction @ other.direction)) > 1 - _PARALLEL:
                raise UnsupportedSceneError(
                    f"joints {other.name!r} and {axis.name!r} turn body {body.path!r} about the same direction: USD "
                    "has no such joint. Put a body between them."
                )


def _frames(body: Body) -> list[tuple[str, tuple[Frame, Frame]]]:
    """Letter of each axis, and its frame in parent and body at joint zero, where the axes behind it move it."""
    back = [motion(axis, -axis.reference) for axis in body.axes]
    zero = frame_of(body.position, body.quaternion)
    for move in back:
        zero = zero @ move
    found, behind = [], HERE
    for axis, move in zip(reversed(body.axes), reversed(back), strict=True):
        anchor = Frame(Gf.Vec3d(*axis.anchor.tolist()), Gf.Quatd(1.0))
        direction = behind.turn.GetInverse().Transform(Gf.Vec3d(*axis.direction.tolist()).GetNormalized())
        letter = next((letter for letter, unit in _UNITS.items() if direction == unit), "X")
        turn = Gf.Quatd(Gf.Rotation(_UNITS[letter], direction).GetQuat())
        local = Frame((behind.inverse() @ anchor).place, turn)
        found.append((letter, (zero @ local, local)))
        behind = move @ behind
    return found[::-1]


def _bodies_at(bodies: Sequence[Sdf.Path], ends: tuple[int, int]) -> tuple[Sdf.Path | None, Sdf.Path | None]:
    """Paths of the two bodies of a joint; None is the world."""
    first, second = (None if body == WORLD else bodies[body] for body in ends)
    return first, second


def _joint(
    stage: Usd.Stage,
    kind: str,
    path: Sdf.Path,
    bodies: tuple[Sdf.Path | None, Sdf.Path | None],
    frames: Sequence[Frame],
    touch: bool,
) -> Any:
    joint = _KINDS[kind].Define(stage, path)
    for side, (body, local) in enumerate(zip(bodies, frames, strict=True)):
        if body is not None:
            getattr(joint, f"CreateBody{side}Rel")().SetTargets([body])
        getattr(joint, f"CreateLocalPos{side}Attr")(Gf.Vec3f(local.place))
        getattr(joint, f"CreateLocalRot{side}Attr")(Gf.Quatf(local.turn))
    if touch:
        joint.CreateCollisionEnabledAttr(True)
    return joint


def _write_carrier(
    stage: Usd.Stage, path: Sdf.Path, body: Body, bodies: tuple[Sdf.Path | None, Sdf.Path | None], touch: bool
) -> None:
    """Write the fixed or ball joint of a body."""
    local = Frame(Gf.Vec3d(*body.anchor.tolist()), Gf.Quatd(1.0)) if body.kind == "ball" else HERE
    place = frame_of(body.position, body.quaternion)
    joint = _joint(stage, body.kind, path, bodies, (place @ local, local), touch)
    if body.armature:
        _set(joint.GetPrim(), "mjc:armature", body.armature)


def _write_values(stage: Usd.Stage, axes: Sequence[Axis], joints: Mapping[int, Sdf.Path]) -> None:
    """Write the properties of joints, in all attributes that readers know."""
    for name, field in FIELDS.items():
        known = PROPERTIES[name]
        written = [axis for axis in axes if getattr(axis, field) != known.fallback]
        if not written:
            continue
        for axis in written:
            _declare(stage.GetPrimAtPath(joints[id(axis)]), known.attributes[1:])
        places = [(str(joints[id(axis)]), axis.usd_name) for axis in written]
        write_properties(stage, {name: np.array([getattr(axis, field) for axis in written])}, places)


def _declare(prim: Usd.Prim, attributes: Sequence[str]) -> None:
    """Author attributes beside the first one of a property, so that it is written into all of them."""
    for schema in _BESIDE if attributes else ():
        prim.AddAppliedSchema(schema)
    for attribute in attributes:
        _set(prim, attribute, 1.0, Sdf.ValueTypeNames.Float)


def _write_mujoco(prim: Usd.Prim, axis: Axis) -> None:
    """Write what only MuJoCo's schema has: springs and solver parameters of friction."""
    if axis.stiffness:
        prim.AddAppliedSchema("MjcJointAPI")
        _set(prim, "mjc:stiffness", axis.stiffness)
        _set(prim, "mjc:springref", axis.rest if axis.linear else axis.rest * RADIAN)
    if axis.friction:
        _write_hardness(prim, axis.hardness, "friction")


def _write_hardness(prim: Usd.Prim, hardness: Mapping[str, Sequence[float]], of: str = "") -> None:
    for name, values in hardness.items():
        _set(prim, f"mjc:{name}{of}", list(values), Sdf.ValueTypeNames.DoubleArray)


def _write_state(prim: Usd.Prim, axis: Axis) -> None:
    """Write the initial position of an axis, in a schema of PhysX."""
    if axis.position:
        prim.AddAppliedSchema(f"PhysicsJointStateAPI:{axis.usd_name}")
        position = axis.position if axis.linear else axis.position * RADIAN
        _set(prim, f"state:{axis.usd_name}:physics:position", position, Sdf.ValueTypeNames.Float)


def _set(prim: Usd.Prim, name: str, value: object, kind: Sdf.ValueTypeName = Sdf.ValueTypeNames.Double) -> None:
    prim.CreateAttribute(name, kind).Set(value)
