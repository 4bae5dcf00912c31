"""Rigid body dynamics read from USD and computed in float64 NumPy, with neither newton nor MuJoCo: the second opinion.

Equations of motion `M(q) · q̈ + c(q, q̇) = τ` of all bodies on a stage. Free bodies have six coordinates as in MuJoCo:
position and velocity of the origin in the world, angular velocity in the body.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdPhysics

_STEP = 1e-5
_AXES = {"X": np.array([1.0, 0, 0]), "Y": np.array([0, 1.0, 0]), "Z": np.array([0, 0, 1.0])}


@dataclass
class Frame:
    turn: np.ndarray = field(default_factory=lambda: np.eye(3))
    origin: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: Frame) -> Frame:
        return Frame(self.turn @ other.turn, self.turn @ other.origin + self.origin)

    def inverse(self) -> Frame:
        return Frame(self.turn.T, -self.turn.T @ self.origin)


@dataclass
class Link:
    """One body and the joint that carries it; a joint is a row of axes `(name, linear, direction)`."""

    path: str
    rest: Frame
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    joint: str | None = None
    parent: Link | None = None
    in_parent: Frame = field(default_factory=Frame)
    in_child: Frame = field(default_factory=Frame)
    axes: list[tuple[str, bool, np.ndarray]] = field(default_factory=list)
    armature: float = 0.0


class Dynamics:
    """Bodies of a stage, breadth-first by joint path; `coordinates` are (joint path, axis), (body path, "free") × 6."""

    def __init__(self, stage: Usd.Stage, gravity: tuple[float, float, float] = (0, 0, -9.81)) -> None:
        self.gravity = np.array(gravity, float)
        links = {str(p.GetPath()): _link(p) for p in stage.Traverse() if p.HasAPI(UsdPhysics.RigidBodyAPI)}
        children: dict[str, list[Link]] = {}
        for prim in sorted((p for p in stage.Traverse() if p.IsA(UsdPhysics.Joint)), key=lambda p: str(p.GetPath())):
            _hang(prim, links, children)
        self.links = [link for link in links.values() if link.joint is None or link.parent is None]
        for link in self.links:
            self.links += children.get(link.path, [])
        self.coordinates: list[tuple[str, str]] = []
        for link in self.links:
            self.coordinates += [(link.path, "free")] * 6 if link.joint is None else []
            self.coordinates += [(link.joint, name) for name, _, _ in link.axes]

    def equations(self, bases: dict[str, Frame], q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M and c with `bases`, poses of free bodies, and joint positions `q` [rad or m], by `coordinates`."""
        poses, jacobians = self._kinematics(bases, q)
        _, jacobians_later = self._kinematics(*self._moved(bases, q, qd, _STEP))
        _, jacobians_earlier = self._kinematics(*self._moved(bases, q, qd, -_STEP))
        mass_matrix, bias = np.zeros((len(q), len(q))), np.zeros(len(q))
        for n, link in enumerate(self.links):
            linear, angular = jacobians[n]
            # accelerations at zero q̈
            drift = [(a - b) @ qd / (2 * _STEP) for a, b in zip(jacobians_later[n], jacobians_earlier[n], strict=True)]
            inertia = poses[n].turn @ link.inertia @ poses[n].turn.T
            spin = angular @ qd
            mass_matrix += link.mass * linear.T @ linear + angular.T @ inertia @ angular
            bias += linear.T @ (link.mass * (drift[0] - self.gravity))
            bias += angular.T @ (inertia @ drift[1] + np.cross(spin, inertia @ spin))
        armature = {link.joint: link.armature for link in self.links}
        mass_matrix += np.diag([0.0 if kind == "free" else armature[path] for path, kind in self.coordinates])
        return mass_matrix, bias

    def _moved(self, bases: dict[str, Frame], q: np.ndarray, qd: np.ndarray, dt: float) -> tuple[dict, np.ndarray]:
        moved = {}
        for path, frame in bases.items():
            start = self.coordinates.index((path, "free"))
            velocity, spin = qd[start : start + 3], qd[start + 3 : start + 6]
            moved[path] = Frame(frame.turn @ rotation(spin * dt), frame.origin + velocity * dt)
        return moved, q + qd * dt

    def _kinematics(self, bases: dict[str, Frame], q: np.ndarray) -> tuple[list[Frame], list]:
        frames: dict[str, Frame] = {}
        # columns that move a body: coordinate, linear, direction, a point on the axis
        columns: dict[str, list[tuple[int, bool, np.ndarray, np.ndarray]]] = {}
        jacobians, at = [], 0
        for link in self.links:
            if link.joint is None:
                frame = bases[link.path]
                own = [(at + k, True, axis, frame.origin) for k, axis in enumerate(np.eye(3))]
                own += [(at + 3 + k, False, frame.turn[:, k], frame.origin) for k in range(3)]
                at += 6
            else:
                inherited = columns[link.parent.path] if link.parent else []
                frame = (frames[link.parent.path] if link.parent else Frame()) @ link.in_parent
                own = list(inherited)
                for _, linear, direction in link.axes:
                    own.append((at, linear, frame.turn @ direction, frame.origin))
                    motion = Frame(origin=direction * q[at]) if linear else Frame(rotation(direction * q[at]))
                    frame = frame @ motion
                    at += 1
                frame = frame @ link.in_child.inverse()
            frames[link.path], columns[link.path] = frame, own
            centre = frame.turn @ link.com + frame.origin
            moving, turning = np.zeros((3, len(q))), np.zeros((3, len(q)))
            for column, linear, direction, point in own:
                moving[:, column] = direction if linear else np.cross(direction, centre - point)
                turning[:, column] = 0.0 if linear else direction
            jacobians.append((moving, turning))
        return list(frames.values()), jacobians


def rotation(vector: np.ndarray) -> np.ndarray:
    """The rotation about a vector by its length [rad]."""
    angle = np.linalg.norm(vector)
    if angle == 0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def _link(prim: Usd.Prim) -> Link:
    properties = UsdPhysics.MassAPI(prim)
    principal = _matrix(properties.GetPrincipalAxesAttr().Get())
    # (0, 0, 0, 0) means that none are authored
    principal = principal if np.any(principal) else np.eye(3)
    inertia = principal @ np.diag(np.array(properties.GetDiagonalInertiaAttr().Get(), float)) @ principal.T
    world = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(Usd.TimeCode.Default())
    rest = Frame(np.array(world.ExtractRotationMatrix()).T, np.array(world.ExtractTranslation()))
    com = np.array(properties.GetCenterOfMassAttr().Get(), float)
    return Link(str(prim.GetPath()), rest, float(properties.GetMassAttr().Get()), com, inertia)


def _hang(prim: Usd.Prim, links: dict[str, Link], children: dict[str, list[Link]]) -> None:
    joint = UsdPhysics.Joint(prim)
    parent, child = (
        str(rel.GetTargets()[0]) if rel.GetTargets() else "" for rel in (joint.GetBody0Rel(), joint.GetBody1Rel())
    )
    link = links[child]
    link.joint, link.parent = str(prim.GetPath()), links.get(parent)
    link.in_parent = Frame(_matrix(joint.GetLocalRot0Attr().Get()), np.array(joint.GetLocalPos0Attr().Get(), float))
    link.in_child = Frame(_matrix(joint.GetLocalRot1Attr().Get()), np.array(joint.GetLocalPos1Attr().Get(), float))
    link.axes = _axes(prim)
    armature = prim.GetAttribute("newton:armature") or prim.GetAttribute("physxJoint:armature")
    link.armature = float(armature.Get()) if armature else 0.0
    children.setdefault(parent, []).append(link)


def _axes(prim: Usd.Prim) -> list[tuple[str, bool, np.ndarray]]:
    if prim.IsA(UsdPhysics.FixedJoint):
        return []
    for kind, linear in ((UsdPhysics.RevoluteJoint, False), (UsdPhysics.PrismaticJoint, True)):
        if prim.IsA(kind):
            return [("", linear, _AXES[kind(prim).GetAxisAttr().Get()])]
    axes = []
    for group in ("trans", "rot"):
        for letter, direction in _AXES.items():
            limit = UsdPhysics.LimitAPI.Get(prim, group + letter)
            if not limit or limit.GetLowAttr().Get() < limit.GetHighAttr().Get():
                axes.append((group + letter, group == "trans", direction))
    return axes


def _matrix(quaternion: Gf.Quatf) -> np.ndarray:
    w, (x, y, z) = quaternion.GetReal(), quaternion.GetImaginary()
    v = np.array([w, x, y, z], float)
    length = np.linalg.norm(v)
    if length == 0:
        return np.zeros((3, 3))
    w, x, y, z = v / length
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross
