"""Frames in double precision and meters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Gf, Usd, UsdGeom


@dataclass(frozen=True)
class Frame:
    """Position and rotation relative to another frame."""

    place: Gf.Vec3d
    turn: Gf.Quatd

    def __matmul__(self, other: Frame) -> Frame:
        """Compose: `other` relative to the parent of this frame."""
        return Frame(self.place + self.turn.Transform(other.place), (self.turn * other.turn).GetNormalized())

    def inverse(self) -> Frame:
        """The parent frame relative to this one."""
        back = self.turn.GetInverse()
        return Frame(-back.Transform(self.place), back)

    @property
    def position(self) -> np.ndarray:
        """The position [m]."""
        return np.array(self.place)

    @property
    def quaternion(self) -> np.ndarray:
        """The rotation, (w, x, y, z)."""
        return np.array([self.turn.GetReal(), *self.turn.GetImaginary()])

    @property
    def is_finite(self) -> bool:
        """True if all numbers are finite."""
        return bool(np.isfinite([*self.place, self.turn.GetReal(), *self.turn.GetImaginary()]).all())

    def distance(self, other: Frame) -> tuple[float, float]:
        """Distance [m] and angle [rad] between two frames."""
        apart = (self.turn.GetInverse() * other.turn).GetNormalized()
        sine = apart.GetImaginary().GetLength()
        return (self.place - other.place).GetLength(), 2 * float(np.arctan2(sine, abs(apart.GetReal())))


HERE = Frame(Gf.Vec3d(0.0), Gf.Quatd(1.0))


def frame_of(position: np.ndarray, quaternion: np.ndarray) -> Frame:
    """The frame of a position [m] and a quaternion (w, x, y, z) of any length but 0."""
    return Frame(Gf.Vec3d(*position.tolist()), Gf.Quatd(*quaternion.tolist()).GetNormalized())


def frame(place: Gf.Vec3f, turn: Gf.Quatf, length: float) -> Frame:
    """A frame of USD's parser; `length` is its unit of length [m]."""
    exact = Gf.Quatd(turn)
    return Frame(Gf.Vec3d(place) * length, exact.GetNormalized() if exact.GetLength() > 0 else Gf.Quatd(1.0))


class Places:
    """Poses of prims in the world, on a stage with this unit of length [m]."""

    def __init__(self, length: float) -> None:
        self._length = length
        self._cache = UsdGeom.XformCache(Usd.TimeCode.Default())

    def matrix(self, prim: Usd.Prim) -> Gf.Matrix4d:
        """The matrix from the prim to the world, in the stage's units; it multiplies row vectors."""
        return self._cache.GetLocalToWorldTransform(prim)

    def of(self, prim: Usd.Prim) -> Frame:
        """The prim's frame, without its scale."""
        matrix = self.matrix(prim).RemoveScaleShear()
        return Frame(matrix.ExtractTranslation() * self._length, matrix.ExtractRotationQuat().GetNormalized())

    def within(self, prim: Usd.Prim, body: Frame) -> np.ndarray:
        """The 4 × 4 matrix from the prim, in the stage's units, to a body, in meters; it multiplies column vectors."""
        matrix = np.array(self.matrix(prim)).T * self._length
        matrix[3] = 0.0, 0.0, 0.0, 1.0
        back = body.inverse()
        turned = np.eye(4)
        turned[:3, :3] = np.array(Gf.Matrix3d(back.turn)).T
        turned[:3, 3] = back.position
        return turned @ matrix
