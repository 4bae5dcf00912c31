"""Write the shapes of a scene: geometry, colliders, materials; shapes with one mesh share its prim."""

from __future__ import annotations

from functools import partial

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade, Vt

from .frames import frame_of
from .prim_names import Names
from .scene import Scene, Shape
from .write_joints import placed

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
        _paint(geometry, shape)
        if shape.collides:
            UsdPhysics.CollisionAPI.Apply(geometry.GetPrim())
            if shape.kind == "MESH":
                UsdPhysics.MeshCollisionAPI.Apply(geometry.GetPrim()).CreateApproximationAttr("convexHull")
            if shape.friction not in materials:
                path = names.below(scope, f"friction_{shape.friction:g}", noted=False)
                materials[shape.friction] = _write_material(stage, path, shape.friction)
            binding = UsdShade.MaterialBindingAPI.Apply(geometry.GetPrim())
            binding.Bind(materials[shape.friction], UsdShade.Tokens.weakerThanDescendants, "physics")
    return paths


def _geometry(stage: Usd.Stage, path: Sdf.Path, shape: Shape) -> UsdGeom.Gprim:
    """The prim of a shape, in its place."""
    size = shape.size.tolist()
    geometry = _DEFINE[shape.kind](stage, path, size)
    if shape.kind not in ("MESH", "PLANE"):
        geometry.CreateExtentAttr(UsdGeom.Boundable.ComputeExtentFromPlugins(geometry, Usd.TimeCode.Default()))
    placed(geometry, frame_of(shape.position, shape.quaternion))
    if shape.kind in ("BOX", "ELLIPSOID"):
        geometry.AddScaleOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*size))
    return geometry


def _mesh(stage: Usd.Stage, path: Sdf.Path, _size: list[float]) -> UsdGeom.Mesh:
    return UsdGeom.Mesh.Define(stage, path)


def _plane(stage: Usd.Stage, path: Sdf.Path, size: list[float]) -> UsdGeom.Plane:
    geometry = UsdGeom.Plane.Define(stage, path)
    geometry.CreateAxisAttr("Z")
    # half sizes for drawing; 0 is infinite
    for attribute, half in ((geometry.CreateWidthAttr, size[0]), (geometry.CreateLengthAttr, size[1])):
        attribute(2 * half if half > 0 else 100.0)
    return geometry


def _cube(stage: Usd.Stage, path: Sdf.Path, _size: list[float]) -> UsdGeom.Cube:
    geometry = UsdGeom.Cube.Define(stage, path)
    geometry.CreateSizeAttr(2.0)
    return geometry


def _sphere(stage: Usd.Stage, path: Sdf.Path, size: list[float]) -> UsdGeom.Sphere:
    geometry = UsdGeom.Sphere.Define(stage, path)
    geometry.CreateRadiusAttr(size[0])
    return geometry


def _ellipsoid(stage: Usd.Stage, path: Sdf.Path, _size: list[float]) -> UsdGeom.Sphere:
    return _sphere(stage, path, [1.0])


def _tube(
    schema: type[UsdGeom.Capsule | UsdGeom.Cylinder], stage: Usd.Stage, path: Sdf.Path, size: list[float]
) -> UsdGeom.Gprim:
    geometry = schema.Define(stage, path)
    geometry.CreateAxisAttr("Z")
    geometry.CreateRadiusAttr(size[0])
    geometry.CreateHeightAttr(2 * size[1])
    return geometry


# what defines the prim of each kind of shape, before it is placed and scaled
_DEFINE = {
    "MESH": _mesh,
    "PLANE": _plane,
    "BOX": _cube,
    "SPHERE": _sphere,
    "ELLIPSOID": _ellipsoid,
    "CAPSULE": partial(_tube, UsdGeom.Capsule),
    "CYLINDER": partial(_tube, UsdGeom.Cylinder),
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
    mesh.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(points))
    return path


def _write_material(stage: Usd.Stage, path: Sdf.Path, friction: float) -> UsdShade.Material:
    material = UsdShade.Material.Define(stage, path)
    api = UsdPhysics.MaterialAPI.Apply(material.GetPrim())
    api.CreateStaticFrictionAttr(friction)
    api.CreateDynamicFrictionAttr(friction)
    return material


def _paint(geometry: UsdGeom.Gprim, shape: Shape) -> None:
    """Write the color, which is linear in USD, and the visibility."""
    linear = [((one + 0.055) / 1.055) ** 2.4 if one > 0.04045 else one / 12.92 for one in shape.color[:3]]
    geometry.CreateDisplayColorAttr([Gf.Vec3f(*linear)])
    if shape.color[3] < 1.0:
        geometry.CreateDisplayOpacityAttr([shape.color[3]])
    if shape.hidden:
        geometry.CreatePurposeAttr(UsdGeom.Tokens.guide)
