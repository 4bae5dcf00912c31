"""Colliders of bodies, and the shapes that are drawn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdShade

from ...base.errors import UnsupportedSceneError
from ...files.usd.articulation import every_prim
from ...files.usd.units import StageUnits
from .frames import HERE, Frame, Places
from .geometry import Geometry, box_around, geometry_of, is_convex, is_flat, sphere_around
from .parsed import Parsed
from .scene import Shape
from .tree import WORLD

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
    """The enabled colliders.

    Raises:
        UnsupportedSceneError: One is of a kind that MuJoCo lacks.

    Warns:
        UserWarning: Meshes that collide as their hull, or that span no volume and do not collide at all.
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
            friction, density = _material(parsed, described.materials, units)
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
    """All shapes that are drawn, and the colliders.

    A collider is hidden if its prim is not visible and another shape of its body is.
    """
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
    return Shape(
        path=str(prim.GetPath()),
        body=body,
        kind=geometry.kind,
        size=geometry.size,
        position=geometry.position,
        quaternion=geometry.quaternion,
        collides=True,
        friction=friction,
        vertices=geometry.vertices,
        faces=geometry.faces,
    )


def _material(parsed: Parsed, paths: Sequence[Sdf.Path], units: StageUnits) -> tuple[float, float]:
    """Friction and density [kg/m³] of the first material with physics."""
    for path in paths:
        if (material := parsed.materials.get(path)) is not None:
            return float(material.dynamicFriction), float(material.density) * units.mass / units.length**3
    return _FRICTION, 0.0


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
