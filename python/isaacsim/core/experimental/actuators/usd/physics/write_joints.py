"""Joints of a scene on a stage: one prim per axis, with its limits, drive, friction, armature, spring and state."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from ...errors import UnsupportedSceneError
from ..joint_properties import PROPERTIES, write_properties
from .frames import HERE, Frame, frame_of
from .prim_names import Names
from .scene import FIELDS, Axis, Body, Scene
from .tree import WORLD

Apart = Collection[frozenset[int]]

_KINDS = {
    "fixed": UsdPhysics.FixedJoint,
    "ball": UsdPhysics.SphericalJoint,
    "hinge": UsdPhysics.RevoluteJoint,
    "slide": UsdPhysics.PrismaticJoint,
}
_UNITS = {"X": Gf.Vec3d.XAxis(), "Y": Gf.Vec3d.YAxis(), "Z": Gf.Vec3d.ZAxis()}
# schemas of those attributes of a joint that stand beside the first one of a property
_BESIDE = ("NewtonJointAPI", "PhysxJointAPI")
# turning axes that are that parallel are the same for the reader of joints
_PARALLEL = 1e-4


def placed(geometry: Any, place: Frame) -> Usd.Prim:
    """The prim of a geometry, put somewhere in its parent."""
    geometry.AddTranslateOp().Set(place.place)
    geometry.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(place.turn)
    return geometry.GetPrim()


def motion(axis: Axis, position: float) -> Frame:
    """How an axis moves its body, in the body's own frame."""
    direction, anchor = Gf.Vec3d(*axis.direction.tolist()), Gf.Vec3d(*axis.anchor.tolist())
    if axis.linear:
        return Frame(direction * position, Gf.Quatd(1.0))
    turn = Gf.Quatd(math.cos(position / 2), direction * math.sin(position / 2))
    return Frame(anchor - turn.Transform(anchor), turn)


def write_joints(
    stage: Usd.Stage,
    names: Names,
    scene: Scene,
    bodies: Sequence[Sdf.Path],
    scopes: Sequence[Sdf.Path],
    apart: Apart,
) -> dict[int, Sdf.Path]:
    """Write the joints that carry bodies; return the paths of axes, by their `id`.

    Args:
        stage: Where to.
        names: Of prims.
        scene: Whose joints.
        bodies: Paths of bodies.
        scopes: Where the joints of each body go.
        apart: Pairs of bodies that do not touch.
    """
    joints: dict[int, Sdf.Path] = {}
    for number, body in enumerate(scene.bodies):
        _require_directions(body)
        ends = (body.parent, number)
        touch = body.kind != "fixed" and frozenset(ends) not in apart
        for axis, (letter, frames) in zip(body.axes, _frames(body), strict=True):
            path = names.below(scopes[number], axis.name)
            kind = "slide" if axis.linear else "hinge"
            _joint(stage, kind, path, bodies, ends, frames, touch).CreateAxisAttr(letter)
            joints[id(axis)] = path
        if body.kind in ("fixed", "ball"):
            local = Frame(Gf.Vec3d(*body.anchor.tolist()), Gf.Quatd(1.0)) if body.kind == "ball" else HERE
            # bodies of files that have no joint there are many: their names stay free
            path = names.below(scopes[number], f"{body.path}_{body.kind}", noted=False)
            place = frame_of(body.position, body.quaternion)
            joint = _joint(stage, body.kind, path, bodies, ends, (place @ local, local), touch)
            if body.armature:
                _set(joint.GetPrim(), "mjc:armature", body.armature)
    axes = [axis for body in scene.bodies for axis in body.axes]
    _write_values(stage, axes, joints)
    for axis in axes:
        _write_mujoco(stage.GetPrimAtPath(joints[id(axis)]), axis)
        _write_state(stage.GetPrimAtPath(joints[id(axis)]), axis)
    return joints


def write_mimics(stage: Usd.Stage, scene: Scene, joints: Mapping[int, Sdf.Path]) -> None:
    """Write which joints follow others; each has a leader."""
    for mimic in scene.mimics:
        prim, follower, leader = stage.GetPrimAtPath(joints[id(mimic.follower)]), mimic.follower, mimic.leader
        assert leader is not None
        # positions are counted from the references in a scene, and from 0 on a stage
        shift = Polynomial([-leader.reference, 1.0])
        powers = np.zeros(5)
        found = (Polynomial(mimic.coefficients)(shift) + follower.reference).coef[:5]
        powers[: len(found)] = found
        prim.AddAppliedSchema("NewtonMimicAPI")
        prim.CreateRelationship("newton:mimicJoint").SetTargets([joints[id(leader)]])
        unit = 1.0 if follower.linear else math.degrees(1.0)
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
        joint = _joint(stage, loop.kind, path, bodies, loop.bodies, frames, touch)
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
    """Of each axis the letter, and its frame in the parent and in the body while all positions are 0.

    A scene places bodies where positions are at their references. What an axis does is carried through what those
    behind it do on the way from there to 0.
    """
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


def _joint(
    stage: Usd.Stage,
    kind: str,
    path: Sdf.Path,
    bodies: Sequence[Sdf.Path],
    ends: tuple[int, int],
    frames: Any,
    touch: bool,
) -> Any:
    joint = _KINDS[kind].Define(stage, path)
    for side, (body, local) in enumerate(zip(ends, frames, strict=True)):
        if body != WORLD:
            getattr(joint, f"CreateBody{side}Rel")().SetTargets([bodies[body]])
        getattr(joint, f"CreateLocalPos{side}Attr")(Gf.Vec3f(local.place))
        getattr(joint, f"CreateLocalRot{side}Attr")(Gf.Quatf(local.turn))
    if touch:
        joint.CreateCollisionEnabledAttr(True)
    return joint


def _write_values(stage: Usd.Stage, axes: Sequence[Axis], joints: Mapping[int, Sdf.Path]) -> None:
    """What properties of joints have, for every reader: in all attributes that each of them knows."""
    for name, field in FIELDS.items():
        known = PROPERTIES[name]
        told = [axis for axis in axes if getattr(axis, field) != known.fallback]
        for axis in told if len(known.attributes) > 1 else ():
            prim = stage.GetPrimAtPath(joints[id(axis)])
            for schema in _BESIDE:
                prim.AddAppliedSchema(schema)
            for attribute in known.attributes[1:]:
                _set(prim, attribute, 1.0, Sdf.ValueTypeNames.Float)
        places = [(str(joints[id(axis)]), axis.usd_name) for axis in told]
        if places:
            write_properties(stage, {name: np.array([getattr(axis, field) for axis in told])}, places)


def _write_mujoco(prim: Usd.Prim, axis: Axis) -> None:
    """What only MuJoCo's schema has: springs, and how hard friction is."""
    if axis.stiffness:
        prim.AddAppliedSchema("MjcJointAPI")
        _set(prim, "mjc:stiffness", axis.stiffness)
        _set(prim, "mjc:springref", axis.rest if axis.linear else math.degrees(axis.rest))
    if axis.friction:
        _write_hardness(prim, axis.hardness, "friction")


def _write_hardness(prim: Usd.Prim, hardness: Mapping[str, Sequence[float]], of: str = "") -> None:
    for name, values in hardness.items():
        _set(prim, f"mjc:{name}{of}", list(values), Sdf.ValueTypeNames.DoubleArray)


def _write_state(prim: Usd.Prim, axis: Axis) -> None:
    """Where an axis begins, as PhysX has it."""
    if axis.position:
        prim.AddAppliedSchema(f"PhysicsJointStateAPI:{axis.usd_name}")
        position = axis.position if axis.linear else math.degrees(axis.position)
        _set(prim, f"state:{axis.usd_name}:physics:position", position, Sdf.ValueTypeNames.Float)


def _set(prim: Usd.Prim, name: str, value: Any, kind: Any = Sdf.ValueTypeNames.Double) -> None:
    prim.CreateAttribute(name, kind).Set(value)
