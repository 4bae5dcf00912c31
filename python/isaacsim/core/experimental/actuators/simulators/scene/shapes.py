"""Colliders of bodies and the shapes that are drawn: half extents, radii and half heights along z, or a mesh."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade

from ...base.errors import UnsupportedSceneError
from ...files.usd.articulation import every_prim
from ...files.usd.authored import authored, other_type
from ...files.usd.units import StageUnits
from .frames import HERE, Frame, Places
from .parsed import Parsed
from .scene import Shape
from .tree import WORLD

# corners around a solid of revolution without a primitive
_CORNERS = 32
# relative thickness below which a mesh is flat
_FLAT = 1e-5


@dataclass(frozen=True)
class Geometry:
    """The geometry of a prim in the frame of its body; a mesh has its vertices there."""

    kind: str
    size: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    vertices: np.ndarray | None = None
    faces: np.ndarray | None = None


def geometry_of(prim: Usd.Prim, matrix: np.ndarray) -> Geometry | None:
    """The geometry of a prim, by its matrix to its body; None for those unknown to simulators, as points and curves."""
    kind = str(prim.GetTypeName())
    if kind == "Mesh":
        return _mesh(*_triangles(UsdGeom.Mesh(prim)), matrix)
    if kind in ("Cone", "Capsule_1", "Cylinder_1") or (kind == "Cylinder" and _is_oval(prim, matrix)):
        return _mesh(*_turned(prim, kind), matrix)
    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    if kind not in ("Cube", "Sphere", "Capsule", "Cylinder", "Plane") or not scale.all():
        return None
    rotation = matrix[:3, :3] / scale
    if np.linalg.det(rotation) < 0:
        # a mirrored primitive is the same primitive
        rotation = rotation * [1, 1, -1]
    primitive, size = _primitive(prim, kind, scale)
    along = 2 if kind in ("Cube", "Sphere") else _along(prim)
    return _placed(primitive, size, matrix, np.roll(rotation, 2 - along, axis=1))


def is_flat(vertices: np.ndarray) -> bool:
    """Return True if points span no volume."""
    if len(vertices) < 4:
        return True
    spread = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False, full_matrices=False)
    return bool(spread[-1] <= _FLAT * spread[0])


def box_around(geometry: Geometry) -> Geometry:
    """The box around a mesh, along the axes of its body."""
    assert geometry.vertices is not None
    low, high = geometry.vertices.min(axis=0), geometry.vertices.max(axis=0)
    return Geometry("BOX", (high - low) / 2, (low + high) / 2, geometry.quaternion)


def sphere_around(geometry: Geometry) -> Geometry:
    """A sphere around a mesh, centered in its box."""
    assert geometry.vertices is not None
    middle = (geometry.vertices.min(axis=0) + geometry.vertices.max(axis=0)) / 2
    radius = float(np.linalg.norm(geometry.vertices - middle, axis=1).max())
    return Geometry("SPHERE", np.array([radius, 0.0, 0.0]), middle, geometry.quaternion)


def is_convex(vertices: np.ndarray, faces: np.ndarray) -> bool:
    """Return True if no vertex is in front of a face, within a thousandth of the mesh's size."""
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    keep = lengths > 0
    normals = normals[keep] / lengths[keep, None]
    tolerance = 1e-3 * np.ptp(vertices, axis=0).max()
    starts = np.einsum("ij,ij->i", normals, corners[keep, 0])
    # a hundred faces at a time: a large mesh fits into memory
    for first in range(0, len(normals), 100):
        some = slice(first, first + 100)
        heights = vertices @ normals[some].T - starts[some]
        # faces may be wound either way
        if not ((heights <= tolerance).all(axis=0) | (heights >= -tolerance).all(axis=0)).all():
            return False
    return True


def _primitive(prim: Usd.Prim, kind: str, scale: np.ndarray) -> tuple[str, np.ndarray]:
    """Kind and size of a primitive by the name of its schema."""
    match kind:
        case "Cube":
            return "BOX", scale * _number(prim, "size", 2.0) / 2
        case "Sphere":
            radii = scale * _number(prim, "radius", 1.0)
            return ("SPHERE" if np.ptp(radii) <= 1e-6 * radii.max() else "ELLIPSOID"), radii
        case "Plane":
            return "PLANE", np.zeros(3)
    along = _along(prim)
    radius = np.delete(scale, along).max() * _number(prim, "radius", 0.5)
    return kind.upper(), np.array([radius, scale[along] * _number(prim, "height", 1.0) / 2, 0.0])


def _is_oval(prim: Usd.Prim, matrix: np.ndarray) -> bool:
    """Return True if a prim is scaled unevenly across its axis."""
    across = np.delete(np.linalg.norm(matrix[:3, :3], axis=0), _along(prim))
    return bool(np.ptp(across) > 1e-6 * across.max())


def _placed(kind: str, size: np.ndarray, matrix: np.ndarray, rotation: np.ndarray) -> Geometry:
    turn = Gf.Matrix3d(*rotation.T.ravel().tolist()).GetOrthonormalized(False).ExtractRotation().GetQuat()
    return Geometry(kind, size, matrix[:3, 3].copy(), np.array([turn.GetReal(), *turn.GetImaginary()]))


def _mesh(points: np.ndarray, faces: np.ndarray, matrix: np.ndarray) -> Geometry | None:
    if not len(faces) or not np.isfinite(points).all() or faces.min() < 0 or faces.max() >= len(points):
        return None
    vertices = points @ matrix[:3, :3].T + matrix[:3, 3]
    return Geometry("MESH", np.zeros(3), np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), vertices, faces)


def _triangles(mesh: UsdGeom.Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of a polygon mesh: each face as a fan."""
    attributes = mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()
    points, counts, corners = (_array(attribute) for attribute in attributes)
    for attribute, found, shape in zip(attributes, (points, counts, corners), ((3,), (), ()), strict=True):
        if found.size and found.shape[1:] != shape:
            raise other_type(mesh.GetPrim(), attribute.GetName(), attribute.Get(), "an array of numbers or points")
    points, counts, corners = points.reshape(-1, 3).astype(float), counts.astype(np.int64), corners.astype(np.int32)
    if int(counts.sum()) != len(corners) or (counts < 0).any():
        return points, np.zeros((0, 3), np.int32)
    if (counts == 3).all():
        return points, corners.reshape(-1, 3)
    fans = np.maximum(counts - 2, 0)
    first = np.repeat(np.cumsum(counts) - counts, fans)
    step = np.arange(int(fans.sum())) - np.repeat(np.cumsum(fans) - fans, fans)
    return points, corners[np.stack([first, first + step + 1, first + step + 2], axis=1)]


def _turned(prim: Usd.Prim, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of a solid of revolution."""
    height = _number(prim, "height", 2.0 if kind == "Cone" else 1.0)
    bottom = _number(prim, "radiusBottom", 0.5) if kind.endswith("_1") else _number(prim, "radius", 1.0)
    top = _number(prim, "radiusTop", 0.5) if kind.endswith("_1") else (0.0 if kind == "Cone" else bottom)
    outline = [(bottom, -height / 2), (top, height / 2)]
    if kind == "Capsule_1":
        arc = np.linspace(0, math.pi / 2, 8)[1:]
        outline = [
            *[(bottom * math.cos(a), -height / 2 - bottom * math.sin(a)) for a in arc[::-1]],
            *outline,
            *[(top * math.cos(a), height / 2 + top * math.sin(a)) for a in arc],
        ]
    angles = np.linspace(0, 2 * math.pi, _CORNERS, endpoint=False)
    rings = [np.stack([r * np.cos(angles), r * np.sin(angles), np.full(_CORNERS, z)], axis=1) for r, z in outline]
    points = np.concatenate([*rings, [[0, 0, outline[0][1]], [0, 0, outline[-1][1]]]])
    at = np.arange(_CORNERS)
    after, faces = np.roll(at, -1), []
    for ring in range(len(rings) - 1):
        low, high = ring * _CORNERS, (ring + 1) * _CORNERS
        faces += [np.stack([low + at, low + after, high + after], 1), np.stack([low + at, high + after, high + at], 1)]
    last, (down, up) = (len(rings) - 1) * _CORNERS, (len(points) - 2, len(points) - 1)
    faces += [np.stack([np.full(_CORNERS, down), after, at], 1)]
    faces += [np.stack([np.full(_CORNERS, up), last + at, last + after], 1)]
    return np.roll(points, _along(prim) - 2, axis=1), np.concatenate(faces).astype(np.int32)


def _array(attribute: Usd.Attribute) -> np.ndarray:
    """Numbers of an attribute."""
    value = attribute.Get()
    found = np.zeros(0) if value is None else np.asarray(value)
    if found.dtype.kind not in "biuf" or not found.ndim:
        raise other_type(attribute.GetPrim(), attribute.GetName(), value, "an array of numbers")
    return found


def _along(prim: Usd.Prim) -> int:
    """Index of the axis of a solid of revolution or the normal of a plane."""
    axis = authored(prim, "axis", "Z")
    if axis not in ("X", "Y", "Z"):
        raise other_type(prim, "axis", axis, "X, Y or Z")
    return "XYZ".index(axis)


def _number(prim: Usd.Prim, name: str, fallback: float) -> float:
    attribute = prim.GetAttribute(name)
    value = attribute.Get() if attribute else None
    if not isinstance(value, int | float | None):
        raise other_type(prim, name, value, "a number")
    return fallback if value is None else float(value)


# friction of a collider without a material
_FRICTION = 1.0
_GREY = (0.5, 0.5, 0.5)
# inputs of shaders that hold the color
_COLORS = ("diffuseColor", "diffuse_color_constant", "baseColor", "base_color")


# approximations of meshes other than their hull
_AROUND = {"boundingCube": box_around, "boundingSphere": sphere_around}


@dataclass(frozen=True)
class Collider:
    """A shape, its prim, the matrix from the prim to the body, and the material's density [kg/m³], 0 for none."""

    path: Sdf.Path
    prim: Usd.Prim
    shape: Shape
    place: np.ndarray
    density: float


class Bodies:
    """The bodies that physics moves: their numbers by path, and their frames in the world."""

    def __init__(self, prims: Sequence[Usd.Prim], places: Places) -> None:
        self.numbers = {prim.GetPath(): number for number, prim in enumerate(prims)}
        self.frames = [places.of(prim) for prim in prims]
        if lost := [str(path) for path, number in self.numbers.items() if not self.frames[number].is_finite]:
            raise UnsupportedSceneError(
                f"rigid bodies {lost} are nowhere: their places in the world must be finite numbers. Correct the "
                "xformOps of these prims, or of those above them."
            )

    def above(self, path: Sdf.Path) -> int:
        """The body that a prim is part of, or the world."""
        while not path.isEmpty and path != Sdf.Path.absoluteRootPath:
            if (number := self.numbers.get(path)) is not None:
                return number
            path = path.GetParentPath()
        return WORLD

    def frame(self, number: int) -> Frame:
        """The frame of a body or of the world."""
        return self.frames[number] if number >= 0 else HERE


def read_colliders(
    stage: Usd.Stage, parsed: Parsed, bodies: Bodies, places: Places, units: StageUnits
) -> list[Collider]:
    """The enabled colliders; an `UnsupportedSceneError` names one of a kind that MuJoCo lacks.

    Warnings name meshes that collide as their hull, or that span no volume and do not collide at all.
    """
    notes = _Notes()
    enabled = ((path, described) for path, described in parsed.shapes.items() if described.collisionEnabled)
    found: list[Collider] = []
    for path, described in enabled:
        prim = stage.GetPrimAtPath(path)
        body = bodies.above(path if described.rigidBody.isEmpty else described.rigidBody)
        place = places.within(prim, bodies.frame(body))
        geometry = _collision_geometry(prim, place, str(getattr(described, "approximation", "convexHull")), notes)
        if geometry is not None:
            # of the first material with physics
            known = [parsed.materials[path] for path in described.materials if path in parsed.materials]
            friction = float(known[0].dynamicFriction) if known else _FRICTION
            density = float(known[0].density) * units.mass / units.length**3 if known else 0.0
            found.append(Collider(path, prim, _shape(prim, body, geometry, friction), place, density))
    notes.report()
    return found


@dataclass
class _Notes:
    """Colliders that are refused, or that collide other than they are authored."""

    refused: list[str] = field(default_factory=list)
    hulls: list[str] = field(default_factory=list)
    flat: list[str] = field(default_factory=list)

    def report(self) -> None:
        """Raise an error of the refused ones, and warn of the others."""
        if self.refused:
            raise UnsupportedSceneError(
                f"collision shapes MuJoCo lacks: {', '.join(self.refused)}. Use a capsule, cylinder, box, sphere or "
                "mesh."
            )
        if self.hulls:
            warnings.warn(
                f"meshes that are not convex collide as their convex hull: {', '.join(self.hulls)}. "
                "Split them into convex parts where that matters.",
                stacklevel=5,
            )
        if self.flat:
            warnings.warn(
                f"collision meshes that span no volume do not collide: {', '.join(self.flat)}. Give them thickness, or "
                "use a plane or box.",
                stacklevel=5,
            )


def _collision_geometry(prim: Usd.Prim, place: np.ndarray, approximation: str, notes: _Notes) -> Geometry | None:
    geometry = geometry_of(prim, place)
    path = prim.GetPath()
    if geometry is None:
        notes.refused.append(f"<{path}> ({prim.GetTypeName() or 'no geometry'})")
        return None
    if geometry.vertices is None or geometry.faces is None:
        return geometry
    if is_flat(geometry.vertices):
        notes.flat.append(f"<{path}>")
        return None
    if approximation in _AROUND:
        return _AROUND[approximation](geometry)
    if approximation != "convexHull" and not is_convex(geometry.vertices, geometry.faces):
        notes.hulls.append(str(path))
    return geometry


def read_drawn(stage: Usd.Stage, bodies: Bodies, colliders: Sequence[Shape], places: Places) -> list[Shape]:
    """Drawn shapes and colliders; an invisible collider is hidden if another shape of its body is not."""
    touching = {shape.path for shape in colliders}
    visible = {str(prim.GetPath()): prim for prim in every_prim(stage.GetPseudoRoot()) if _is_visible(prim)}
    others = [_drawn(prim, bodies, places) for path, prim in visible.items() if path not in touching]
    drawn = [shape for shape in others if shape is not None]
    shown = {shape.body for shape in (*drawn, *colliders) if shape.path in visible}

    def finished(shape: Shape) -> Shape:
        hidden = shape.path not in visible and shape.body in shown
        return replace(shape, hidden=hidden, color=_color(stage.GetPrimAtPath(shape.path)))

    return [*map(finished, colliders), *drawn]


def _drawn(prim: Usd.Prim, bodies: Bodies, places: Places) -> Shape | None:
    """The shape of a prim that does not collide; None without a geometry that MuJoCo draws."""
    body = bodies.above(prim.GetPath())
    geometry = geometry_of(prim, places.within(prim, bodies.frame(body)))
    # MuJoCo's meshes have at least four points
    if geometry is None or (geometry.vertices is not None and len(geometry.vertices) < 4):
        return None
    return replace(_shape(prim, body, geometry, _FRICTION), collides=False, color=_color(prim))


def _shape(prim: Usd.Prim, body: int, geometry: Geometry, friction: float) -> Shape:
    return Shape(path=str(prim.GetPath()), body=body, collides=True, friction=friction, **vars(geometry))


def _is_visible(prim: Usd.Prim) -> bool:
    """Return True if a prim is a geometry that is drawn."""
    image = UsdGeom.Imageable(prim)
    return (
        prim.IsA("Gprim")
        and image.ComputePurpose() in (UsdGeom.Tokens.default_, UsdGeom.Tokens.render)
        and image.ComputeVisibility() != UsdGeom.Tokens.invisible
    )


def _color(prim: Usd.Prim) -> tuple[float, float, float, float]:
    """The sRGB color of a prim: its own, else that of its material."""
    primvar = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance("displayColor")
    colors = primvar.Get() if primvar else None
    color = colors[0] if colors else _material_color(prim) or _GREY
    encoded = (1.055 * value ** (1 / 2.4) - 0.055 if value > 0.0031308 else 12.92 * value for value in color)
    red, green, blue = (min(max(float(value), 0.0), 1.0) for value in encoded)
    return red, green, blue, 1.0


def _material_color(prim: Usd.Prim) -> Sequence[float] | None:
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    if not material:
        return None
    for shader in (UsdShade.Shader(one) for one in Usd.PrimRange(material.GetPrim())):
        for name in _COLORS if shader else ():
            if (given := shader.GetInput(name)) and (value := given.Get()) is not None:
                return value
    return None
