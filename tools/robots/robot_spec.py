"""Robot descriptions: links, joints, shapes, and the kinematics of their authored pose.

All values are SI: m, kg, rad, N·m. Degrees appear only in `write_robots.py`, where USD requires them.
Linear algebra uses `pxr.Gf` instead of NumPy, so the output does not depend on a BLAS and is reproducible.
"""

# the type stubs of USD do not know the element type of vectors
# pyright: reportArgumentType=false, reportOperatorIssue=false

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pxr import Gf

Vec3 = tuple[float, float, float]
Inertia = tuple[float, float, float, float, float, float]
Axis = Literal["X", "-X", "Y", "Z"]

ORIGIN: Vec3 = (0.0, 0.0, 0.0)
UNIT = (Gf.Vec3d(1, 0, 0), Gf.Vec3d(0, 1, 0), Gf.Vec3d(0, 0, 1))
AXIS_DIRECTION: dict[Axis, Gf.Vec3d] = {"X": UNIT[0], "-X": -UNIT[0], "Y": UNIT[1], "Z": UNIT[2]}

WHITE: Vec3 = (0.92, 0.92, 0.90)
DARK_GREY: Vec3 = (0.16, 0.17, 0.19)
STEEL: Vec3 = (0.55, 0.57, 0.60)


@dataclass(frozen=True)
class Rod:
    """A straight bar between two points of the link, drawn only."""

    start: Vec3
    end: Vec3
    radius: float
    color: Vec3
    round_ends: bool = True
    """Capsule; False gives a cylinder, cut flat at both ends."""


@dataclass(frozen=True)
class Ball:
    """A sphere."""

    center: Vec3
    radius: float
    color: Vec3
    collides: bool = False


@dataclass(frozen=True)
class Box:
    """A box along the link's axes."""

    center: Vec3
    size: Vec3
    color: Vec3
    collides: bool = False


Shape = Rod | Ball | Box


@dataclass(frozen=True)
class Link:
    """A rigid body."""

    name: str
    mass: float
    """[kg]."""
    com: Vec3
    """Center of mass in the link frame [m]."""
    inertia: Inertia
    """(ixx, iyy, izz, ixy, ixz, iyz) about the center of mass, along the link's axes [kg·m²]."""
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class Joint:
    """A revolute or prismatic joint; its frame is the child link's frame at joint position zero."""

    name: str
    parent: str
    child: str
    axis: Axis
    """In the child's frame."""
    xyz: Vec3 = ORIGIN
    """Joint origin in the parent's frame [m]."""
    rpy: Vec3 = ORIGIN
    """Joint orientation in the parent's frame: fixed-axis roll, pitch, yaw as in URDF [rad]."""
    prismatic: bool = False
    limits: tuple[float, float] | None = None
    """(lower, upper) [rad or m]; None means unlimited."""
    max_effort: float | None = None
    """Limit of the USD drive [N·m or N]; None means unlimited."""
    max_velocity: float | None = None
    """[rad/s or m/s]."""
    armature: float | None = None
    """Reflected rotor inertia [kg·m² or kg]."""
    position: float = 0.0
    """Authored joint position, and target of the USD drive [rad or m]."""
    stiffness: float = 0.0
    """Of the USD drive, which is not the actuator [N·m/rad or N/m]."""
    damping: float = 0.0
    """Of the USD drive [N·m·s/rad or N·s/m]."""


@dataclass(frozen=True)
class Robot:
    """One file: `<file>.usda` with the robot at `/World/<name>`."""

    file: str
    name: str
    documentation: str
    """Description of the robot and source of its data."""
    links: tuple[Link, ...]
    """The base link first."""
    joints: tuple[Joint, ...]
    """Joints, each after the joint of its parent link."""
    base_position: Vec3 = ORIGIN
    """Of the base link in the world [m]."""
    fixed_base: bool = True
    ground_friction: float | None = None
    """Static and dynamic friction of ground and colliders; None means no ground plane."""


class Pose(NamedTuple):
    """Position [m] and rotation of a frame in another one."""

    position: Gf.Vec3d
    rotation: Gf.Quatd


IDENTITY = Pose(Gf.Vec3d(0.0), Gf.Quatd(1.0))


def turn(axis: Gf.Vec3d, angle: float) -> Gf.Quatd:
    """Return the rotation by `angle` [rad] about a unit vector."""
    return Gf.Quatd(math.cos(angle / 2), axis * math.sin(angle / 2))


def turn_z_to(direction: Gf.Vec3d) -> Gf.Quatd:
    """Return the shortest rotation from +Z to a unit vector."""
    cosine = direction[2]
    if cosine < -1.0 + 1e-9:  # opposite: every half turn about a horizontal axis is shortest
        return turn(UNIT[0], math.pi)
    return Gf.Quatd(1.0 + cosine, Gf.Cross(UNIT[2], direction)).GetNormalized()


def compose(outer: Pose, inner: Pose) -> Pose:
    """Return the composition of the poses `outer` and `inner`."""
    return Pose(outer.position + outer.rotation.Transform(inner.position), outer.rotation * inner.rotation)


def joint_frame(joint: Joint) -> Pose:
    """Return the joint's frame in the parent link."""
    roll, pitch, yaw = joint.rpy
    return Pose(Gf.Vec3d(joint.xyz), turn(UNIT[2], yaw) * turn(UNIT[1], pitch) * turn(UNIT[0], roll))


def link_poses(robot: Robot) -> dict[str, Pose]:
    """Return the world pose of every link at the authored joint positions."""
    poses = {robot.links[0].name: Pose(Gf.Vec3d(robot.base_position), Gf.Quatd(1.0))}
    for joint in robot.joints:
        direction = AXIS_DIRECTION[joint.axis]
        if joint.prismatic:
            motion = Pose(direction * joint.position, Gf.Quatd(1.0))
        else:
            motion = Pose(Gf.Vec3d(0.0), turn(direction, joint.position))
        poses[joint.child] = compose(poses[joint.parent], compose(joint_frame(joint), motion))
    return poses


def stand_on_ground(robot: Robot) -> Robot:
    """Move the base up or down so that the lowest colliding ball just touches z = 0 in the authored pose."""
    poses = link_poses(robot)
    lowest = min(
        compose(poses[link.name], Pose(Gf.Vec3d(ball.center), Gf.Quatd(1.0))).position[2] - ball.radius
        for link in robot.links
        for ball in link.shapes
        if isinstance(ball, Ball) and ball.collides
    )
    x, y, z = robot.base_position
    return dataclasses.replace(robot, base_position=(x, y, z - lowest))


def principal_inertia(inertia: Inertia) -> tuple[Vec3, Gf.Quatd]:
    """Return the moments [kg·m²] about the principal axes, and the rotation from link axes to principal axes.

    Jacobi's method: each rotation zeroes the largest product of inertia. Rotations of at most 45° keep every principal
    axis next to its link axis, which a library routine would not.
    """
    ixx, iyy, izz, ixy, ixz, iyz = inertia
    tensor = Gf.Matrix3d(ixx, ixy, ixz, ixy, iyy, iyz, ixz, iyz, izz)
    rotation = Gf.Quatd(1.0)
    while True:
        axes = [rotation.Transform(unit) for unit in UNIT]
        moment = [[Gf.Dot(a, tensor * b) for b in axes] for a in axes]
        k = max(range(3), key=lambda axis: abs(moment[(axis + 1) % 3][(axis + 2) % 3]))
        i, j = (k + 1) % 3, (k + 2) % 3
        if abs(moment[i][j]) < 1e-12:
            return (moment[0][0], moment[1][1], moment[2][2]), rotation
        difference = moment[i][i] - moment[j][j]
        angle = 0.5 * math.atan2(math.copysign(2.0, difference) * moment[i][j], abs(difference))
        rotation = (rotation * turn(UNIT[k], angle)).GetNormalized()
