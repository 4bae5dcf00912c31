"""What bodies touch with, and what is drawn of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdShade

from ...errors import UnsupportedSceneError
from ..articulation import every_prim
from ..units import StageUnits
from .frames import HERE, Frame, Places
from .geometry import Geometry, box_around, geometry_of, is_convex, is_flat, sphere_around
from .parsed import Parsed
from .scene import Shape
from .tree import WORLD

# of a collider without a material
_FRICTION = 1.0
_GREY = (0.5, 0.5, 0.5)
# where materials have their colour
_COLORS = ("diffuseColor", "diffuse_color_constant", "baseColor", "base_color")


@dataclass(frozen=True)
class Collider:
    """A shape, its prim, from that to the body, and the density of its material [kg/m³], 0 where it has none."""

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
        """The body that a prim belongs to, or the world."""
        while not path.isEmpty and path != Sdf.Path.absoluteRootPath:
            if (number := self.numbers.get(path)) is not None:
                return number
            path = path.GetParentPath()
        return WORLD

    def frame(self, number: int) -> Frame:
        """Where a body is; the world is at its own origin."""
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
    found, refused, hulls, flat = [], [], [], []
    for path, description in parsed.shapes.items():
        if not description.collisionEnabled:
            continue
        prim = stage.GetPrimAtPath(path)
        body = bodies.above(description.rigidBody) if not description.rigidBody.isEmpty else bodies.above(path)
        place = places.within(prim, bodies.frame(body))
        geometry = geometry_of(prim, place)
        if geometry is None:
            refused.append(f"<{path}> ({prim.GetTypeName() or 'no geometry'})")
            continue
        if geometry.vertices is not None and geometry.faces is not None:
            if is_flat(geometry.vertices):
                flat.append(f"<{path}>")
                continue
            approximation = str(getattr(description, "approximation", "convexHull"))
            if approximation == "boundingCube":
                geometry = box_around(geometry)
            elif approximation == "boundingSphere":
                geometry = sphere_around(geometry)
            elif approximation != "convexHull" and not is_convex(geometry.vertices, geometry.faces):
                hulls.append(str(path))
        friction, density = _material(parsed, description.materials, units)
        shape = _shape(prim, body, geometry, friction)
        found.append(Collider(path, prim, shape, place, density))
    if refused:
        raise UnsupportedSceneError(
            f"collision shapes MuJoCo lacks: {', '.join(refused)}. Use a capsule, cylinder, box, sphere or mesh."
        )
    if hulls:
        warnings.warn(
            f"meshes that are not convex collide as their convex hull: {', '.join(hulls)}. "
            "Split them into convex parts where that matters.",
            stacklevel=4,
        )
    if flat:
        warnings.warn(
            f"collision meshes that span no volume do not collide: {', '.join(flat)}. Give them thickness, or use a "
            "plane or box.",
            stacklevel=4,
        )
    return found


def read_drawn(stage: Usd.Stage, bodies: Bodies, colliders: Sequence[Shape], places: Places) -> list[Shape]:
    """Everything that is to be drawn, colliders included; those that are not to be seen are hidden.

    The colliders of a body of which nothing else is to be seen are drawn.
    """
    touching = {shape.path: shape for shape in colliders}
    drawn = []
    seen: set[str] = set()
    for prim in every_prim(stage.GetPseudoRoot()):
        if not prim.IsA("Gprim") or not _is_seen(prim):
            continue
        path = str(prim.GetPath())
        if path in touching:
            seen.add(path)
            continue
        body = bodies.above(prim.GetPath())
        geometry = geometry_of(prim, places.within(prim, bodies.frame(body)))
        # MuJoCo's meshes have four points at least
        if geometry is not None and (geometry.vertices is None or len(geometry.vertices) > 3):
            drawn.append(replace(_shape(prim, body, geometry, _FRICTION), collides=False, color=_color(prim)))
    shown = {shape.body for shape in drawn} | {touching[path].body for path in seen}
    return [
        replace(
            shape,
            hidden=shape.path not in seen and shape.body in shown,
            color=_color(stage.GetPrimAtPath(shape.path)),
        )
        for shape in colliders
    ] + drawn


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
    """Friction and density of the first of some materials that has physics."""
    for path in paths:
        if (material := parsed.materials.get(path)) is not None:
            return float(material.dynamicFriction), float(material.density) * units.mass / units.length**3
    return _FRICTION, 0.0


def _is_seen(prim: Usd.Prim) -> bool:
    image = UsdGeom.Imageable(prim)
    purpose = image.ComputePurpose()
    return purpose in (UsdGeom.Tokens.default_, UsdGeom.Tokens.render) and (
        image.ComputeVisibility() != UsdGeom.Tokens.invisible
    )


def _color(prim: Usd.Prim) -> tuple[float, float, float, float]:
    """The colour of a prim as screens show it: its own, else that of its material."""
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
