"""Masses, centers of mass and inertias of bodies: authored, or those of their colliders.

Authored values of a body precede the sum of its colliders. A mass precedes a density; the density of a collider
precedes that of its body, which precedes that of its material.
Source: USD, UsdPhysicsMassAPI and UsdPhysicsRigidBodyAPI::ComputeMassProperties.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from pxr import Gf, Usd

from ...base.errors import UnsupportedSceneError
from ...files.usd.authored import authored_number, authored_numbers, quaternion
from ...files.usd.units import StageUnits
from .scene import Shape

# [kg/m³], that of water
_DENSITY = 1000.0
# radius [m] of the sphere in place of a mass without a shape
_RADIUS = 0.1


@dataclass(frozen=True)
class Mass:
    """Mass [kg], center of mass [m] in the body's frame, and inertia [kg·m²] about it, along the axes of that frame."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


NOTHING = Mass(0.0, np.zeros(3), np.zeros((3, 3)))


def mass_of(
    prim: Usd.Prim,
    scale: Sequence[float],
    colliders: Iterable[tuple[Usd.Prim, Shape, np.ndarray, float]],
    units: StageUnits,
) -> Mass:
    """The mass of a body with points of this scale and these colliders.

    They are prim, shape, matrix to the body, and density of the material [kg/m³], 0 for none.
    """
    given = _positive(prim, "mass", units.mass)
    density = _positive(prim, "density", units.mass / units.length**3)
    inertia, com = _inertia(prim, units.mass * units.length**2), _vector(prim, "centerOfMass")
    if com is not None:
        com = com * np.array(scale, float) * units.length
    if given and inertia is not None and com is not None:
        return Mass(given, com, inertia)
    total = _sum(_collider_mass(*collider, density, units) for collider in colliders)
    mass = given or total.mass
    if mass > 0.0:
        return _complete(mass, com, inertia, total)
    return NOTHING if inertia is None else Mass(0.0, np.zeros(3) if com is None else com, inertia)


def _complete(mass: float, com: np.ndarray | None, inertia: np.ndarray | None, total: Mass) -> Mass:
    """A mass with its authored parts, completed from the sum of its colliders."""
    if total.mass <= 0.0:
        total = Mass(mass, np.zeros(3) if com is None else com, 0.4 * mass * _RADIUS**2 * np.eye(3))
    if com is None:
        com = total.com
    if inertia is None:
        inertia = total.inertia * (mass / total.mass) + mass * _parallel_axis(com - total.com)
    return Mass(mass, com, inertia)


def _collider_mass(
    prim: Usd.Prim, shape: Shape, place: np.ndarray, material: float, body: float, units: StageUnits
) -> Mass:
    solid = _solid(shape)
    if solid.mass <= 0.0:
        return NOTHING
    mass = _positive(prim, "mass", units.mass)
    if not mass:
        mass = solid.mass * (_positive(prim, "density", units.mass / units.length**3) or body or material or _DENSITY)
    com, inertia = _vector(prim, "centerOfMass"), _inertia(prim, units.mass * units.length**2)
    com = solid.com if com is None else place[:3, :3] @ com + place[:3, 3]
    if inertia is None:
        inertia = solid.inertia * (mass / solid.mass) + mass * _parallel_axis(com - solid.com)
    else:
        turn = place[:3, :3] / np.linalg.norm(place[:3, :3], axis=0)
        inertia = turn @ inertia @ turn.T
    return Mass(mass, com, inertia)


def _sum(parts: Iterable[Mass]) -> Mass:
    """The sum of several masses."""
    parts = [part for part in parts if part.mass > 0.0]
    if not parts:
        return NOTHING
    mass = sum(part.mass for part in parts)
    com = np.sum([part.mass * part.com for part in parts], axis=0) / mass
    return Mass(
        mass, com, np.sum([part.inertia + part.mass * _parallel_axis(part.com - com) for part in parts], axis=0)
    )


def _parallel_axis(offset: np.ndarray) -> np.ndarray:
    """Inertia of a point of unit mass at an offset (parallel axis theorem)."""
    return float(offset @ offset) * np.eye(3) - np.outer(offset, offset)


def _solid(shape: Shape) -> Mass:
    """The shape at unit density, in the frame of its body."""
    if shape.kind == "MESH":
        assert shape.vertices is not None and shape.faces is not None
        solid = _mesh(shape.vertices, shape.faces)
    else:
        volume, diagonal = _primitive(shape.kind, *shape.size)
        solid = Mass(volume, np.zeros(3), volume * np.diag(diagonal))
    turn = np.array(Gf.Matrix3d(Gf.Quatd(*shape.quaternion.tolist()))).T
    return Mass(solid.mass, shape.position + turn @ solid.com, turn @ solid.inertia @ turn.T)


def _primitive(kind: str, a: float, b: float = 0.0, c: float = 0.0) -> tuple[float, list[float]]:
    """Volume, and inertia per mass, of a shape of this kind and size."""
    if kind == "SPHERE":
        return 4 / 3 * math.pi * a**3, [0.4 * a**2] * 3
    if kind == "ELLIPSOID":
        return 4 / 3 * math.pi * a * b * c, [(b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5]
    if kind == "BOX":
        return 8 * a * b * c, [(b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3]
    if kind == "CYLINDER":
        side = a * a / 4 + b * b / 3
        return 2 * math.pi * a * a * b, [side, side, a * a / 2]
    if kind == "CAPSULE":
        tube, caps = 2 * math.pi * a * a * b, 4 / 3 * math.pi * a**3
        # the center of mass of a half sphere is 3/8 of its radius from its middle
        side = tube * (a * a / 4 + b * b / 3) + caps * (0.4 * a * a + b * b + 0.75 * a * b)
        along = tube * a * a / 2 + caps * 0.4 * a * a
        return tube + caps, [side / (tube + caps), side / (tube + caps), along / (tube + caps)]
    return 0.0, [0.0] * 3


def _mesh(vertices: np.ndarray, faces: np.ndarray) -> Mass:
    """A closed mesh, however its faces are wound."""
    if not len(faces):
        return NOTHING
    middle = vertices.mean(axis=0)
    a, b, c = (vertices[faces[:, corner]] - middle for corner in range(3))
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = float(parts.sum())
    if abs(volume) <= 1e-9 * float(np.ptp(vertices, axis=0).max()) ** 3:
        return NOTHING
    com = np.einsum("i,ij->j", parts, a + b + c) / (4 * volume)
    corners = a + b + c
    moments = sum(np.einsum("i,ij,ik->jk", parts, one, one) for one in (a, b, c, corners)) / 20
    moments = moments - volume * np.outer(com, com)
    inertia = np.trace(moments) * np.eye(3) - moments
    return Mass(abs(volume), middle + com, inertia * math.copysign(1.0, volume))


def _positive(prim: Usd.Prim, name: str, unit: float) -> float:
    """An authored mass or density; 0 is none, as in USD."""
    value = authored_number(prim, f"physics:{name}", 0.0)
    if not (math.isfinite(value) and value >= 0.0):
        raise UnsupportedSceneError(
            f"<{prim.GetPath()}>.physics:{name} = {value:g}: must be a finite number >= 0. Correct it."
        )
    return value * unit


def _vector(prim: Usd.Prim, name: str) -> np.ndarray | None:
    value = authored_numbers(prim, f"physics:{name}", [math.nan] * 3, 3)
    return np.array(value) if all(map(math.isfinite, value)) else None


def _inertia(prim: Usd.Prim, unit: float) -> np.ndarray | None:
    """The authored inertia."""
    return next((inertia for _, inertia in authored_inertias(prim, unit)), None)


def authored_inertias(prim: Usd.Prim, unit: float) -> Iterator[tuple[str, np.ndarray]]:
    """Authored inertias [kg·m²] by attribute, the first is read; `unit` is that of the stage [kg·m²]."""
    compact = authored_numbers(prim, "newton:inertia", ())
    if len(compact) == 6 and np.isfinite(compact).all() and np.any(compact):
        xx, yy, zz, xy, xz, yz = compact
        yield "newton:inertia", np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) * unit
    diagonal = _vector(prim, "diagonalInertia")
    if diagonal is not None and diagonal.any():
        frame = np.array(Gf.Matrix3d(quaternion(prim, "physics:principalAxes"))).T
        yield "physics:diagonalInertia", frame @ np.diag(diagonal) @ frame.T * unit
