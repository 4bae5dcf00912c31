"""Write `data/robots` files of imported robots: smaller meshes, one articulation, real motors.

    ./python.sh tools/robots/import_robots.py CONVERTED [OUTDIR]      # default: data/robots

`CONVERTED` is a folder with the output of mujoco-usd-converter and urdf-usd-converter;
`imported_robots.py` has the file, motors and sources of each robot. Meshes are reduced with
fast-simplification, which only this script requires: `pip install fast-simplification`.
"""

# the type stubs of USD do not know the element type of vectors; fast-simplification has none
# pyright: reportArgumentType=false, reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from imported_robots import ROBOTS, Imported
from isaacsim.core.experimental.actuators import add_motors
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade
from write_robots import FOLDER, author_float, author_ground, new_stage, turn_self_collision_off

# additions of the converters for their own simulators, which are replaced or not required here
_FOREIGN = re.compile(
    r"(mjc|urdf):.*|newton:(contact|rolling|torsional|armature|friction|damping|velocity).*|material:.*"
)
_DROPPED_TYPES = {"Material", "MjcActuator", "MjcKeyframe", "Camera", "MjcTendon"}
_ORIGIN_NOTE = "Written by tools/robots/import_robots.py; licence and changes are in README.md beside it."


def import_robot(converted: Path, robot: Imported, folder: Path) -> Path:
    """Write `<file>.usda` and `<file>_meshes.usdc` into `folder`; return the path of the first."""
    source = Usd.Stage.Open(str(converted / robot.source))
    for prim in source.Traverse():
        prim.SetInstanceable(False)
    flat = source.Flatten()
    stage = new_stage(robot.documentation, _ORIGIN_NOTE)
    layer, path = stage.GetRootLayer(), f"/World/{robot.name}"
    Sdf.CopySpec(flat, source.GetDefaultPrim().GetPath(), layer, path)
    root = stage.GetPrimAtPath(path)
    _drop_foreign(stage, root, robot)
    _merge_light_bodies(stage, root)
    for prim in list(Usd.PrimRange(root)):
        prim.RemoveAPI(UsdPhysics.ArticulationRootAPI)
        prim.RemoveAppliedSchema("NewtonArticulationRootAPI")
    UsdPhysics.ArticulationRootAPI.Apply(root)
    turn_self_collision_off(root)
    if robot.friction is not None:
        author_ground(stage, path, robot.friction)
        _bind_ground_material(root, path)
    meshes = _lighten(source, stage, root, robot, folder)
    _finish_joints(root, robot)
    _pose(stage, root, robot)
    _author_motors(stage, path, robot)
    # meshes are next to the file, so a stage in memory cannot find them
    written = Sdf.Layer.CreateAnonymous(".usda")
    written.TransferContent(layer)
    for place, reference in meshes.items():
        written.GetPrimAtPath(place).referenceList.Prepend(reference)
    written.Traverse("/", lambda place: _tidy_schemas(written, place))
    target = folder / f"{robot.file}.usda"
    written.Export(str(target))
    return target


def _tidy_schemas(layer: Sdf.Layer, place: Sdf.Path) -> None:
    """Author the schemas of a prim as an explicit list, without deletions."""
    prim = layer.GetPrimAtPath(place) if place.IsPrimPath() else None
    if prim is None or not prim.HasInfo("apiSchemas"):
        return
    left = prim.GetInfo("apiSchemas").ApplyOperations([])
    prim.ClearInfo("apiSchemas")
    if left:
        prim.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=left))


def _drop_foreign(stage: Usd.Stage, root: Usd.Prim, robot: Imported) -> None:
    for prim in list(Usd.PrimRange(root)):
        if not prim or not prim.IsValid():
            continue
        collider = prim.HasAPI(UsdPhysics.CollisionAPI)
        dropped = prim.IsA(UsdGeom.Mesh) and prim.GetName() in robot.dropped
        if dropped or prim.GetTypeName() in _DROPPED_TYPES or (collider and robot.friction is None):
            stage.RemovePrim(prim.GetPath())
            continue
        for schema in prim.GetAppliedSchemas():
            if schema.startswith(
                ("Mjc", "GeomModel", "MaterialBinding", "NewtonCollision", "NewtonMass", "NewtonJoint")
            ) or (collider and schema == "PhysicsMassAPI"):
                prim.RemoveAppliedSchema(schema)
        for spare in prim.GetAuthoredProperties():
            name = spare.GetName()
            if _FOREIGN.fullmatch(name) or (collider and name == "physics:density"):
                prim.RemoveProperty(name)
        for name in ("extentsHint", "newton:inertia", "newton:jointsAddMobility", "primvars:displayOpacity"):
            prim.RemoveProperty(name)
        for name in ("primvars:displayColor:indices", "primvars:displayOpacity:indices"):
            prim.RemoveProperty(name)
        for key in ("kind", "assetInfo", "displayName", "uiHints"):
            prim.ClearMetadata(key)
    for scope in [prim for prim in root.GetChildren() if not prim.GetChildren()]:
        stage.RemovePrim(scope.GetPath())


def _merge_light_bodies(stage: Usd.Stage, root: Usd.Prim) -> None:
    """Merge massless bodies into the body to which they are fixed."""
    for joint in [prim for prim in Usd.PrimRange(root) if prim.IsA(UsdPhysics.FixedJoint)]:
        child = stage.GetPrimAtPath(joint.GetRelationship("physics:body1").GetTargets()[0])
        mass = UsdPhysics.MassAPI(child).GetMassAttr()
        if not child.HasAPI(UsdPhysics.RigidBodyAPI) or (mass.HasAuthoredValue() and mass.Get() > 0.0):
            continue
        child.RemoveAPI(UsdPhysics.RigidBodyAPI)
        child.RemoveAPI(UsdPhysics.MassAPI)
        stage.RemovePrim(joint.GetPath())


def _bind_ground_material(root: Usd.Prim, path: str) -> None:
    material = UsdShade.Material.Get(root.GetStage(), f"{path}/rubber")
    for prim in Usd.PrimRange(root):
        if prim.HasAPI(UsdPhysics.CollisionAPI):
            binding = UsdShade.MaterialBindingAPI.Apply(prim)
            binding.Bind(material, UsdShade.Tokens.weakerThanDescendants, "physics")


# meshes


def _lighten(
    source: Usd.Stage, stage: Usd.Stage, root: Usd.Prim, robot: Imported, folder: Path
) -> dict[Sdf.Path, Sdf.Reference]:
    """Write the meshes into a separate layer, each shape once, with fewer triangles; return the references."""
    library = Usd.Stage.CreateInMemory()
    library.SetDefaultPrim(UsdGeom.Scope.Define(library, "/Meshes").GetPrim())
    file = f"{robot.file}_meshes.usdc"
    places: dict[bytes, str] = {}
    references: dict[Sdf.Path, Sdf.Reference] = {}
    meshes = [UsdGeom.Mesh(prim) for prim in Usd.PrimRange(root) if prim.IsA(UsdGeom.Mesh)]
    triangles = {mesh.GetPath(): _triangles(mesh) for mesh in meshes}
    share = robot.triangles / sum(len(faces) for faces in _once(triangles.values()))
    for mesh in meshes:
        points, faces = triangles[mesh.GetPath()]
        key = points.tobytes() + faces.tobytes()
        if key not in places:
            places[key] = f"/Meshes/{_free(mesh.GetPrim().GetName(), places.values())}"
            _author_mesh(library, places[key], *_simplified(points, faces, share))
        prim = mesh.GetPrim()
        color = robot.colors[_material(source, stage, prim, root)]
        for name in prim.GetPropertyNames():
            if not name.startswith("xformOp"):
                prim.RemoveProperty(name)
        references[prim.GetPath()] = Sdf.Reference(f"./{file}", places[key])
        mesh.CreateDisplayColorAttr([Gf.Vec3f(color)])
    library.GetRootLayer().Export(str(folder / file))
    return references


def _triangles(mesh: UsdGeom.Mesh) -> tuple[np.ndarray, np.ndarray]:
    points = np.asarray(mesh.GetPointsAttr().Get(), np.float32)
    faces = np.asarray(mesh.GetFaceVertexIndicesAttr().Get(), np.int32).reshape(-1, 3)
    # STL files repeat each point for each of its triangles
    welded, back = np.unique(points.round(6), axis=0, return_inverse=True)
    return welded, back.reshape(-1)[faces].astype(np.int32)


def _once(found: Any) -> Iterator[np.ndarray]:
    seen: set[bytes] = set()
    for points, faces in found:
        if (key := points.tobytes()) not in seen:
            seen.add(key)
            yield faces


def _simplified(points: np.ndarray, faces: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    import fast_simplification

    # small parts would lose their shape
    wanted = max(500, round(len(faces) * share))
    if wanted >= len(faces):
        return points, faces
    # a pass stops early if many edges are sharp
    for _ in range(4):
        points, faces = fast_simplification.simplify(points, faces, target_count=wanted, agg=8)
        if len(faces) <= 1.1 * wanted:
            break
    return points, faces


def _author_mesh(library: Usd.Stage, path: str, points: np.ndarray, faces: np.ndarray) -> None:
    mesh = UsdGeom.Mesh.Define(library, path)
    mesh.CreatePointsAttr(points.astype(np.float32).round(5))
    mesh.CreateFaceVertexCountsAttr(np.full(len(faces), 3, np.int32))
    mesh.CreateFaceVertexIndicesAttr(faces.astype(np.int32).ravel())
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateExtentAttr(UsdGeom.Boundable.ComputeExtentFromPlugins(mesh, Usd.TimeCode.Default()))


def _material(source: Usd.Stage, stage: Usd.Stage, prim: Usd.Prim, root: Usd.Prim) -> str:
    """Return the name of the mesh if the robot colors it, otherwise that of its material in the original."""
    path = prim.GetPath().ReplacePrefix(root.GetPath(), source.GetDefaultPrim().GetPath())
    return source.GetPrimAtPath(path).GetRelationship("material:binding").GetTargets()[0].name


def _free(name: str, taken: Any) -> str:
    used = {path.rpartition("/")[2] for path in taken}
    return next(free for free in (name, *(f"{name}_{number}" for number in range(2, 1000))) if free not in used)


# joints and motors


def _finish_joints(root: Usd.Prim, robot: Imported) -> None:
    for prim in _moving_joints(root):
        prismatic = prim.IsA(UsdPhysics.PrismaticJoint)
        kind, unit = ("linear", 1.0) if prismatic else ("angular", math.degrees(1.0))
        value = robot.position(prim.GetName()) * unit
        drive = UsdPhysics.DriveAPI.Apply(prim, kind)
        drive.CreateTypeAttr(UsdPhysics.Tokens.force)
        drive.CreateStiffnessAttr(0.0)
        drive.CreateDampingAttr(0.0)
        drive.CreateTargetPositionAttr(value)
        prim.AddAppliedSchema(f"PhysicsJointStateAPI:{kind}")
        author_float(prim, f"state:{kind}:physics:position", round(value, 6))
        author_float(prim, f"state:{kind}:physics:velocity", 0.0)
        prim.AddAppliedSchema("NewtonJointAPI")
        if (speed := robot.max_speed(prim.GetName())) is not None:
            author_float(prim, "newton:velocityLimit", round(speed * unit, 6))


def _moving_joints(root: Usd.Prim) -> list[Usd.Prim]:
    return [
        prim
        for prim in Usd.PrimRange(root)
        if prim.IsA(UsdPhysics.RevoluteJoint) or prim.IsA(UsdPhysics.PrismaticJoint)
    ]


def _pose(stage: Usd.Stage, root: Usd.Prim, robot: Imported) -> None:
    """Move the links to their joint positions, so that a viewer and physics show the same pose."""
    by_child = {
        prim.GetRelationship("physics:body1").GetTargets()[0]: UsdPhysics.Joint(prim) for prim in _moving_joints(root)
    }
    for prim in Usd.PrimRange(root):
        if prim.HasAPI(UsdPhysics.RigidBodyAPI) and (joint := by_child.get(prim.GetPath())) is not None:
            cache = UsdGeom.XformCache()
            body = stage.GetPrimAtPath(joint.GetBody0Rel().GetTargets()[0])
            world = (
                _frame(joint.GetLocalPos1Attr(), joint.GetLocalRot1Attr()).GetInverse()
                * _motion(joint, robot.position(joint.GetPrim().GetName()))
                * _frame(joint.GetLocalPos0Attr(), joint.GetLocalRot0Attr())
                * cache.GetLocalToWorldTransform(body)
            )
            _place(prim, world * cache.GetParentToWorldTransform(prim).GetInverse())
    if robot.height is not None:
        first = next(prim for prim in Usd.PrimRange(root) if prim.HasAPI(UsdPhysics.RigidBodyAPI))
        _place(first, Gf.Matrix4d().SetTranslate(Gf.Vec3d(0.0, 0.0, robot.height)))


def _frame(position: Usd.Attribute, rotation: Usd.Attribute) -> Gf.Matrix4d:
    turned = Gf.Rotation(Gf.Quatd(rotation.Get()).GetNormalized())
    return Gf.Matrix4d().SetTransform(turned, Gf.Vec3d(position.Get()))


def _motion(joint: UsdPhysics.Joint, value: float) -> Gf.Matrix4d:
    axis = Gf.Vec3d(*(float(name == joint.GetPrim().GetAttribute("physics:axis").Get()) for name in "XYZ"))
    if joint.GetPrim().IsA(UsdPhysics.PrismaticJoint):
        return Gf.Matrix4d().SetTranslate(axis * value)
    return Gf.Matrix4d().SetRotate(Gf.Rotation(axis, math.degrees(value)))


def _place(prim: Usd.Prim, local: Gf.Matrix4d) -> None:
    for name in prim.GetPropertyNames():
        if name.startswith("xformOp"):
            prim.RemoveProperty(name)
    shape = UsdGeom.Xformable(prim)
    shape.AddTranslateOp().Set(Gf.Vec3d([round(part, 7) for part in local.ExtractTranslation()]))
    shape.AddOrientOp().Set(Gf.Quatf(local.ExtractRotationQuat().GetNormalized()))


def _author_motors(stage: Usd.Stage, path: str, robot: Imported) -> None:
    for motor in robot.motors:
        for prim in add_motors(path, {motor.joints: motor.config}, stage=stage):
            classes = prim.GetInherits().GetAllDirectInherits()
            # motors with the same values have the same source
            (stage.GetPrimAtPath(classes[0]) if classes else prim).SetDocumentation(motor.source)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else FOLDER
    for one in ROBOTS:
        print(import_robot(Path(sys.argv[1]), one, target))
