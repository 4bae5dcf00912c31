"""Write a scene as a stage, with UsdPhysics and further schemas of engines.

Each robot is a prim below `/World` with its links side by side and its joints in a scope: readers sort joints of one
link by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from ...base.saving import whole_file
from .frames import HERE, frame_of
from .prim_names import Names
from .scene import Articulation, Axis, Body, Scene
from .write_filters import write_filters
from .write_joints import motion, placed, write_joints, write_loops, write_mimics
from .write_shapes import write_shapes

WORLD = Sdf.Path("/World")
# mass [kg] and inertia [kg·m²] of a link without: USD computes one if none is authored
_NO_MASS, _NO_INERTIA = 1e-12, 2e-15


def save_scene(scene: Scene, path: Path) -> list[str]:
    """Write a scene to a file, see `scene_stage`; return what is otherwise there, in words.

    Raises:
        OSError: The file cannot be written.
        UnsupportedSceneError: A body has two joints that turn about the same axis.
    """
    stage, otherwise = scene_stage(scene)
    with whole_file(path) as written:
        stage.GetRootLayer().Export(str(written))
    # another stage of this process may have the file that was there, with edits
    if (former := Sdf.Layer.Find(str(path))) is not None:
        former.Reload(force=True)
    return otherwise


def scene_stage(scene: Scene) -> tuple[Usd.Stage, list[str]]:
    """Return a new stage in meters and kilograms with a scene without its tendons, and what is otherwise, in words.

    These are names that changed, and the order of DOFs of robots, which readers sort by names.

    Joint positions and initial positions are those of the scene.

    Args:
        scene: The scene.

    Raises:
        UnsupportedSceneError: A body has two joints that turn about the same axis.
    """
    stage = Usd.Stage.CreateInMemory(".usda")
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, WORLD).GetPrim())
    names = Names()
    _write_gravity(stage, names.below(WORLD, "PhysicsScene"), scene.gravity)
    robots = [names.below(WORLD, robot.path) for robot in scene.articulations]
    for path in robots:
        UsdGeom.Xform.Define(stage, path)
    owner = {body: robots[number] for number, robot in enumerate(scene.articulations) for body in robot.bodies}
    scopes = {path: names.below(path, "joints") for path in (*robots, WORLD)}
    bodies = _write_bodies(stage, names, scene, [owner.get(body, WORLD) for body in range(len(scene.bodies))])
    of_body = [scopes[owner.get(body, WORLD)] for body in range(len(scene.bodies))]
    shapes = write_shapes(stage, names, scene, bodies, names.below(WORLD, "materials"))
    roots = [_root(scene, bodies, robot, path) for robot, path in zip(scene.articulations, robots, strict=True)]
    for path in roots:
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(path))
    apart = write_filters(stage, scene, bodies, roots, shapes)
    joints = write_joints(stage, names, scene, bodies, of_body, apart)
    write_mimics(stage, scene, joints)
    write_loops(stage, names, scene, bodies, scopes[WORLD], apart)
    otherwise = [f"names that USD refuses: {', '.join(names.renamed)}"] if names.renamed else []
    for robot, path in zip(scene.articulations, robots, strict=True):
        order = _order_of_names(scene, robot, joints)
        if [*map(id, order)] != [*map(id, robot.axes)]:
            there = ", ".join(joints[id(axis)].name for axis in order)
            otherwise.append(f"the order of the DOFs of <{path}>, which is {there}")
    return stage, otherwise


def _order_of_names(scene: Scene, robot: Articulation, joints: Mapping[int, Sdf.Path]) -> list[Axis]:
    """The axes of a robot in the order of readers: breadth-first, joints of one link by the names of their prims."""

    def name_of(body: int) -> Sdf.Path:
        return joints[id((scene.bodies[body].axes or [scene.bodies[body]])[0])]

    links = robot.bodies[:1]
    for link in links:
        links += sorted((body for body in robot.bodies if scene.bodies[body].parent == link), key=name_of)
    return [axis for link in links for axis in scene.bodies[link].axes]


def _root(scene: Scene, bodies: list[Sdf.Path], robot: Articulation, path: Sdf.Path) -> Sdf.Path:
    """The root prim of a robot: its first link if it floats, for PhysX would choose one in the middle."""
    first = robot.bodies[0]
    return bodies[first] if scene.bodies[first].kind == "free" else path


def _write_gravity(stage: Usd.Stage, path: Sdf.Path, gravity: np.ndarray) -> None:
    physics, size = UsdPhysics.Scene.Define(stage, path), float(np.linalg.norm(gravity))
    direction = gravity / size if size else np.array([0.0, 0.0, -1.0])
    physics.CreateGravityDirectionAttr(Gf.Vec3f(*direction.tolist()))
    physics.CreateGravityMagnitudeAttr(size)


def _write_bodies(stage: Usd.Stage, names: Names, scene: Scene, parents: list[Sdf.Path]) -> list[Sdf.Path]:
    """Write bodies at their initial poses."""
    paths, places = [], []
    for body, parent in zip(scene.bodies, parents, strict=True):
        parent_place = places[body.parent] if body.parent >= 0 else HERE
        place = parent_place @ frame_of(body.position, body.quaternion)
        for axis in body.axes:
            place = place @ motion(axis, axis.position - axis.reference)
        places.append(place)
        paths.append(names.below(parent, body.path))
        prim = placed(UsdGeom.Xform.Define(stage, paths[-1]), place)
        UsdPhysics.RigidBodyAPI.Apply(prim)
        _write_mass(prim, body)
        if body.kind == "free":
            _write_velocity(prim, body)
        if body.kind == "free" and body.armature:
            prim.CreateAttribute("mjc:armature", Sdf.ValueTypeNames.Double).Set(body.armature)
        if body.weightless:
            prim.CreateAttribute("mjc:body:gravcomp", Sdf.ValueTypeNames.Double).Set(body.weightless)
        if body.weightless == 1.0:
            prim.AddAppliedSchema("PhysxRigidBodyAPI")
            prim.CreateAttribute("physxRigidBody:disableGravity", Sdf.ValueTypeNames.Bool).Set(True)
    return paths


def _write_velocity(prim: Usd.Prim, body: Body) -> None:
    """Write the velocity of the center of mass and the angular velocity, both in the body's frame."""
    if not body.velocity.any():
        return
    turn, spin = Gf.Quatd(*body.quaternion.tolist()).GetNormalized(), Gf.Vec3d(*body.velocity[3:].tolist())
    linear = turn.GetInverse().Transform(Gf.Vec3d(*body.velocity[:3].tolist()))
    linear += Gf.Cross(spin, Gf.Vec3d(*body.com.tolist()))
    api = UsdPhysics.RigidBodyAPI(prim)
    api.CreateVelocityAttr(Gf.Vec3f(linear))
    api.CreateAngularVelocityAttr(Gf.Vec3f(spin * math.degrees(1.0)))


def _write_mass(prim: Usd.Prim, body: Body) -> None:
    """Write mass and inertia, in single precision for USD and in double precision for newton."""
    mass = body.mass if body.mass > 0 else _NO_MASS
    inertia = body.inertia if body.inertia.any() else _NO_INERTIA * np.eye(3)
    api = UsdPhysics.MassAPI.Apply(prim)
    api.CreateMassAttr(mass)
    api.CreateCenterOfMassAttr(Gf.Vec3f(*body.com.tolist()))
    moments, axes = np.linalg.eigh(inertia)
    rows = (axes * np.linalg.det(axes)).T
    turn = Gf.Matrix3d(*rows.ravel().tolist()).ExtractRotation().GetQuat()
    api.CreateDiagonalInertiaAttr(Gf.Vec3f(*moments.tolist()))
    api.CreatePrincipalAxesAttr(Gf.Quatf(turn))
    prim.AddAppliedSchema("NewtonMassAPI")
    compact = [inertia[at] for at in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    prim.CreateAttribute("newton:inertia", Sdf.ValueTypeNames.DoubleArray).Set(compact)
