"""Write a scene as a stage, with UsdPhysics and further schemas of engines.

Each robot is a prim below `/World` with its links side by side and its joints in a scope: readers sort joints of one
link by name.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade, Vt

from ...base.saving import whole_file
from ...base.values import grouped
from ...files.usd.units import RADIAN
from .frames import HERE, frame_of
from .joints import motion
from .scene import Articulation, Body, Scene, Shape
from .tree import WORLD
from .write_joints import Names, placed, write_joints, write_loops, write_mimics

_WORLD_PRIM = Sdf.Path("/World")
# mass [kg] and inertia [kg·m²] of a link without: USD computes one if none is authored
_NO_MASS, _NO_INERTIA = 1e-12, 2e-15


def save_scene(scene: Scene, path: Path) -> list[str]:
    """Write a scene to a file; return and raise what `scene_stage` does, and an `OSError` if it cannot be written."""
    stage, otherwise = scene_stage(scene)
    with whole_file(path) as written:
        stage.GetRootLayer().Export(str(written))
    # another stage of this process may have the file that was there, with edits
    if (former := Sdf.Layer.Find(str(path))) is not None:
        former.Reload(force=True)
    return otherwise


def scene_stage(scene: Scene) -> tuple[Usd.Stage, list[str]]:
    """A new stage in meters and kilograms with a scene without its tendons, and what is otherwise, in words.

    That is names that changed, and the order of DOFs, which readers sort by names. An `UnsupportedSceneError` names a
    body with two joints that turn about the same axis.
    """
    stage = Usd.Stage.CreateInMemory(".usda")
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, _WORLD_PRIM).GetPrim())
    names = Names()
    _write_gravity(stage, names.below(_WORLD_PRIM, "PhysicsScene"), scene.gravity)
    robots, owners = list[Sdf.Path](), [_WORLD_PRIM] * len(scene.bodies)
    for robot in scene.articulations:
        robots.append(names.below(_WORLD_PRIM, robot.path))
        UsdGeom.Xform.Define(stage, robots[-1])
        for body in robot.bodies:
            owners[body] = robots[-1]
    scopes = {path: names.below(path, "joints") for path in (*robots, _WORLD_PRIM)}
    bodies = _write_bodies(stage, names, scene, owners)
    materials = names.below(_WORLD_PRIM, "materials")
    shapes = write_shapes(stage, names, scene, bodies, materials)
    roots = [_root(scene, bodies, robot, path) for robot, path in zip(scene.articulations, robots, strict=True)]
    for path in roots:
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(path))
    apart = write_filters(stage, scene, bodies, roots, shapes)
    joints = write_joints(stage, names, scene, bodies, [scopes[owner] for owner in owners], apart)
    write_mimics(stage, scene, joints)
    write_loops(stage, names, scene, bodies, scopes[_WORLD_PRIM], apart)
    for scope in (*scopes.values(), materials):
        # as far as something is in them
        if stage.GetPrimAtPath(scope):
            UsdGeom.Scope.Define(stage, scope)
    renamed = [f"names that USD refuses: {', '.join(names.renamed)}"] if names.renamed else []
    return stage, [*renamed, *_reordered(scene, robots, joints)]


def _reordered(scene: Scene, robots: Sequence[Sdf.Path], joints: Mapping[int, Sdf.Path]) -> Iterator[str]:
    """Yield the robots whose DOFs have another order on the stage, which readers sort by names."""

    def name_of(body: int) -> Sdf.Path:
        return joints[id((scene.bodies[body].axes or [scene.bodies[body]])[0])]

    for robot, path in zip(scene.articulations, robots, strict=True):
        # readers go breadth-first, joints of one link by the names of their prims
        links = robot.bodies[:1]
        for link in links:
            links += sorted((body for body in robot.bodies if scene.bodies[body].parent == link), key=name_of)
        order = [axis for link in links for axis in scene.bodies[link].axes]
        if [*map(id, order)] != [*map(id, robot.axes)]:
            yield f"the order of the DOFs of <{path}>, which is {', '.join(joints[id(axis)].name for axis in order)}"


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
        if body.kind == "free" and body.velocity.any():
            # of the center of mass, and angular, both in the body's frame
            turn, spin = Gf.Quatd(*body.quaternion.tolist()).GetNormalized(), Gf.Vec3d(*body.velocity[3:].tolist())
            linear = turn.GetInverse().Transform(Gf.Vec3d(*body.velocity[:3].tolist()))
            linear += Gf.Cross(spin, Gf.Vec3d(*body.com.tolist()))
            api = UsdPhysics.RigidBodyAPI(prim)
            api.CreateVelocityAttr(Gf.Vec3f(linear))
            api.CreateAngularVelocityAttr(Gf.Vec3f(spin * RADIAN))
        if body.kind == "free" and body.armature:
            prim.CreateAttribute("mjc:armature", Sdf.ValueTypeNames.Double).Set(body.armature)
        if body.weightless:
            prim.CreateAttribute("mjc:body:gravcomp", Sdf.ValueTypeNames.Double).Set(body.weightless)
        if body.weightless == 1.0:
            prim.AddAppliedSchema("PhysxRigidBodyAPI")
            prim.CreateAttribute("physxRigidBody:disableGravity", Sdf.ValueTypeNames.Bool).Set(True)
    return paths


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


def write_filters(
    stage: Usd.Stage, scene: Scene, bodies: Sequence[Sdf.Path], robots: Sequence[Sdf.Path], shapes: Sequence[Sdf.Path]
) -> set[frozenset[int]]:
    """Write which bodies and shapes do not touch but by a joint, and self-collisions; return the pairs of bodies."""
    of_body = _colliding(scene)
    apart, single = _apart(scene, of_body)
    joined = {frozenset((body.parent, number)) for number, body in enumerate(scene.bodies)}
    known = joined | _write_self_collisions(stage, scene, robots, apart, of_body.keys())
    pairs = sorted(sorted(pair) for pair in apart - known if len(pair) == 2 and pair <= of_body.keys())
    filtered = [(shapes[a], shapes[b]) for a, b in single]
    for a, b in pairs:
        # the world is no prim: its shapes are filtered instead
        filtered += [(bodies[b], shapes[one]) for one in of_body[WORLD]] if a == WORLD else [(bodies[a], bodies[b])]
    _filter(stage, filtered)
    return apart


def _apart(scene: Scene, of_body: Mapping[int, Sequence[int]]) -> tuple[set[frozenset[int]], list[tuple[int, int]]]:
    """Pairs of bodies that do not touch, and pairs of shapes that do not touch while their bodies do."""
    apart = {frozenset(pair) for pair in scene.no_contact}
    single: list[tuple[int, int]] = []
    for a, b in itertools.combinations(sorted(of_body), 2):
        if frozenset((a, b)) in apart:
            continue
        pairs = [*itertools.product(of_body[a], of_body[b])]
        filtered = [pair for pair in pairs if not _touch(*(scene.shapes[one] for one in pair))]
        if len(filtered) == len(pairs):
            apart.add(frozenset((a, b)))
        else:
            single += filtered
    return apart, single


def _write_self_collisions(
    stage: Usd.Stage, scene: Scene, robots: Sequence[Sdf.Path], apart: Set[frozenset[int]], colliding: Set[int]
) -> set[frozenset[int]]:
    """Write whether robots touch themselves; return the pairs of bodies that follow from it."""
    known: set[frozenset[int]] = set()
    for path, robot in zip(robots, scene.articulations, strict=True):
        links = [body for body in robot.bodies if body in colliding]
        pairs = {frozenset(pair) for pair in itertools.combinations(links, 2)}
        is_apart = pairs <= apart
        robot = stage.GetPrimAtPath(path)
        for schema, name in (
            ("NewtonArticulationRootAPI", "newton:selfCollisionEnabled"),
            ("PhysxArticulationAPI", "physxArticulation:enabledSelfCollisions"),
        ):
            robot.AddAppliedSchema(schema)
            robot.CreateAttribute(name, Sdf.ValueTypeNames.Bool).Set(not is_apart)
        if is_apart:
            known |= pairs
    return known


def _touch(one: Shape, other: Shape) -> bool:
    return bool(one.touches[0] & other.touches[1] or other.touches[0] & one.touches[1])


def _colliding(scene: Scene) -> dict[int, list[int]]:
    """Numbers of the colliding shapes of each body."""
    return grouped((shape.body, number) for number, shape in enumerate(scene.shapes) if shape.collides)


def _filter(stage: Usd.Stage, pairs: Iterable[tuple[Sdf.Path, Sdf.Path]]) -> None:
    for path, targets in grouped(pairs).items():
        api = UsdPhysics.FilteredPairsAPI.Apply(stage.GetPrimAtPath(path))
        api.CreateFilteredPairsRel().SetTargets(targets)


# scope of the meshes that shapes refer to; a class is not drawn itself
_MESHES = Sdf.Path("/meshes")


def write_shapes(
    stage: Usd.Stage, names: Names, scene: Scene, bodies: list[Sdf.Path], scope: Sdf.Path
) -> list[Sdf.Path]:
    """Write all shapes, and their materials into a scope; return the paths of the shapes."""
    meshes: dict[int, Sdf.Path] = {}
    materials: dict[float, UsdShade.Material] = {}
    paths = []
    for shape in scene.shapes:
        parent = bodies[shape.body] if shape.body >= 0 else scope.GetParentPath()
        paths.append(names.below(parent, shape.path, noted=False))
        geometry = _geometry(stage, paths[-1], shape)
        if shape.kind == "MESH":
            if id(shape.vertices) not in meshes:
                meshes[id(shape.vertices)] = _write_mesh(stage, names.below(_MESHES, shape.path, noted=False), shape)
            geometry.GetPrim().GetReferences().AddInternalReference(meshes[id(shape.vertices)])
        _write_look(geometry, shape)
        if shape.collides:
            UsdPhysics.CollisionAPI.Apply(geometry.GetPrim())
            if shape.kind == "MESH":
                UsdPhysics.MeshCollisionAPI.Apply(geometry.GetPrim()).CreateApproximationAttr("convexHull")
            if shape.friction not in materials:
                path = names.below(scope, f"friction_{shape.friction:g}", noted=False)
                material = UsdShade.Material.Define(stage, path)
                api = UsdPhysics.MaterialAPI.Apply(material.GetPrim())
                api.CreateStaticFrictionAttr(shape.friction)
                api.CreateDynamicFrictionAttr(shape.friction)
                materials[shape.friction] = material
            binding = UsdShade.MaterialBindingAPI.Apply(geometry.GetPrim())
            binding.Bind(materials[shape.friction], UsdShade.Tokens.weakerThanDescendants, "physics")
    return paths


def _write_look(geometry: UsdGeom.Gprim, shape: Shape) -> None:
    """Write the color of a shape, which USD has in linear light, its opacity, and that it is hidden."""
    linear = [((one + 0.055) / 1.055) ** 2.4 if one > 0.04045 else one / 12.92 for one in shape.color[:3]]
    geometry.CreateDisplayColorAttr([Gf.Vec3f(*linear)])
    if shape.color[3] < 1.0:
        geometry.CreateDisplayOpacityAttr([shape.color[3]])
    if shape.hidden:
        geometry.CreatePurposeAttr(UsdGeom.Tokens.guide)


def _geometry(stage: Usd.Stage, path: Sdf.Path, shape: Shape) -> UsdGeom.Gprim:
    """The prim of a shape, in its place."""
    kind, size = shape.kind, shape.size.tolist()
    geometry: Any = _SCHEMAS[kind].Define(stage, path)
    if kind in ("PLANE", "CAPSULE", "CYLINDER"):
        geometry.CreateAxisAttr("Z")
    match kind:
        case "PLANE":
            # half sizes for drawing; 0 is infinite
            width, length, _ = np.where(shape.size > 0, 2 * shape.size, 100.0).tolist()
            geometry.CreateWidthAttr(width)
            geometry.CreateLengthAttr(length)
        case "BOX":
            geometry.CreateSizeAttr(2.0)
        case "SPHERE" | "ELLIPSOID":
            geometry.CreateRadiusAttr(size[0] if kind == "SPHERE" else 1.0)
        case "CAPSULE" | "CYLINDER":
            geometry.CreateRadiusAttr(size[0])
            geometry.CreateHeightAttr(2 * size[1])
    if kind not in ("MESH", "PLANE"):
        geometry.CreateExtentAttr(UsdGeom.Boundable.ComputeExtentFromPlugins(geometry, Usd.TimeCode.Default()))
    placed(geometry, frame_of(shape.position, shape.quaternion))
    if kind in ("BOX", "ELLIPSOID"):
        geometry.AddScaleOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*size))
    return geometry


_SCHEMAS = {
    **{"MESH": UsdGeom.Mesh, "PLANE": UsdGeom.Plane, "BOX": UsdGeom.Cube, "SPHERE": UsdGeom.Sphere},
    **{"ELLIPSOID": UsdGeom.Sphere, "CAPSULE": UsdGeom.Capsule, "CYLINDER": UsdGeom.Cylinder},
}


def _write_mesh(stage: Usd.Stage, path: Sdf.Path, shape: Shape) -> Sdf.Path:
    assert shape.vertices is not None and shape.faces is not None
    stage.CreateClassPrim(_MESHES)
    mesh = UsdGeom.Mesh.Define(stage, path)
    points = Vt.Vec3fArray.FromNumpy(shape.vertices.astype(np.float32))
    mesh.CreatePointsAttr(points)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(shape.faces), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(shape.faces.astype(np.int32).ravel()))
    mesh.CreateSubdivisionSchemeAttr("none")
    corners = shape.vertices[shape.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    # faces without an area have none
    normals = np.where(lengths > 0.0, normals / np.where(lengths > 0.0, lengths, 1.0), (0.0, 0.0, 1.0))
    mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(normals.astype(np.float32)))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.uniform)
    mesh.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(points))
    return path
