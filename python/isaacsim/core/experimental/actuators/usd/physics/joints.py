"""Joints of a stage: which bodies they connect, where, and the axes they leave free."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pxr import Gf, Sdf, Usd

from ...errors import UnsupportedSceneError
from .. import articulation
from ..authored import authored as authored_value
from ..authored import authored_number, authored_numbers, other_type
from ..axes import is_angular
from ..instances import misnamed
from ..joint_properties import authored, envelopes
from ..mjc_actuators import joint_bounds
from ..schema import applied_schemas
from .frames import Frame, frame
from .parsed import Parsed
from .scene import FIELDS, Axis, Loop
from .tree import WORLD, Branch, Edge

# constraints of MuJoCo that stand on joint prims; they leave nothing free, whatever the prim is
_CONSTRAINTS = {"MjcEqualityConnectAPI": "ball", "MjcEqualityWeldAPI": "fixed"}
# how far two frames may be apart that are the same, in metres and radians: USD has single precision
_SAME = 1e-4
# below that a pose is at joint zero
_AT_ZERO = 1e-5


@dataclass(frozen=True)
class Joint:
    """A joint prim that acts: its edge, what it leaves free, and its frame in either body, the world's included."""

    edge: Edge
    kind: str
    axes: tuple[tuple[str, str], ...]
    frames: tuple[Frame, Frame]

    def frame_in(self, body: int) -> Frame:
        """Its frame in one of its bodies."""
        return self.frames[0 if body == self.edge.bodies[0] else 1]


def read_joints(
    stage: Usd.Stage, parsed: Parsed, bodies: Mapping[Sdf.Path, int], length: float
) -> dict[Sdf.Path, Joint]:
    """The joints that act, by path; where several are between the same two bodies, in the order of the stage.

    Args:
        stage: Where they are.
        parsed: What USD's parser found.
        bodies: Numbers of the bodies that physics moves; any other stands in the world.
        length: The stage's unit of length [m].

    Raises:
        UnsupportedSceneError: A joint is of a kind that is not simulated here.
    """
    found = {}
    for path, (kind, joint) in parsed.joints.items():
        ends = bodies.get(joint.body0, WORLD), bodies.get(joint.body1, WORLD)
        if not joint.jointEnabled or ends[0] == ends[1]:
            continue
        prim = stage.GetPrimAtPath(path)
        constraint = next((name for name in applied_schemas(prim) if name in _CONSTRAINTS), None)
        if constraint is not None:
            kind = "spherical" if _CONSTRAINTS[constraint] == "ball" else "fixed"
        if kind in ("distance", "custom"):
            raise UnsupportedSceneError(
                f"<{path}> is a {kind} joint: not simulated here. Replace it by a revolute, prismatic, spherical, "
                "fixed or D6 joint, or deactivate the prim."
            )
        weak = bool(joint.excludeFromArticulation) or constraint is not None
        frames = (
            frame(joint.localPose0Position, joint.localPose0Orientation, length),
            frame(joint.localPose1Position, joint.localPose1Orientation, length),
        )
        if not all(one.is_finite for one in frames):
            raise UnsupportedSceneError(
                f"<{path}>: its local positions and rotations must be finite numbers. Correct physics:localPos0, "
                "localRot0, localPos1 and localRot1."
            )
        free = () if constraint is not None else articulation.axes_of(prim)
        axes = tuple((name, name[-1] if kind == "d6" else "XYZ"[int(joint.axis)]) for name in free)
        rank = 0 if kind in ("prismatic", "d6") or _is_driven(prim) else 1
        found[path] = Joint(Edge(path, ends, weak, rank), kind, axes, frames)
    return _in_stage_order(stage, found)


def serial(joints: Sequence[Joint]) -> int:
    """How many joints between the same two bodies are one behind the other, as several axes of one.

    Those of which each leaves an axis free, at joint zero the bodies are in the same place for all of them, and no two
    turn about the same axis: that is no door with two hinges.
    """
    first = joints[0]
    if not first.axes:
        return 1
    pose = _pose(first, *first.edge.bodies)
    turning = [Gf.Vec3d(0.0)]
    for count, joint in enumerate(joints):
        if not joint.axes or joint.edge.weak != first.edge.weak:
            return count
        if any(far > _SAME for far in _pose(joint, *first.edge.bodies).distance(pose)):
            return count
        here = [_direction(joint, first.edge.bodies[1], letter) for name, letter in joint.axes if is_angular(name)]
        if any(abs(Gf.Dot(one, other)) > 1 - _SAME for one in here for other in turning):
            return count
        turning += here
    return len(joints)


def pose_at_zero(branch: Branch, joints: Mapping[Sdf.Path, Joint]) -> Frame:
    """Where a body is in its parent while all positions of its joints are 0."""
    return _pose(joints[branch.joints[0].path], branch.parent, branch.body)


def axes_of(branch: Branch, joints: Mapping[Sdf.Path, Joint]) -> list[Axis]:
    """The axes on which a body moves in its parent, from the parent on; those of a joint with several are named so."""
    carriers = [joints[edge.path] for edge in branch.joints]
    found = []
    for joint in carriers:
        backward = joint.edge.bodies[1] != branch.body
        child = joint.frame_in(branch.body)
        for usd_name, letter in reversed(joint.axes) if backward else joint.axes:
            name = joint.edge.path.name
            direction = _direction(joint, branch.body, letter) * (-1.0 if backward else 1.0)
            found.append(
                Axis(
                    name=f"{name}:{usd_name}" if len(joint.axes) > 1 else name,
                    joint=str(joint.edge.path),
                    usd_name=usd_name,
                    linear=not is_angular(usd_name),
                    anchor=child.position,
                    direction=np.array(direction),
                )
            )
    return found


def read_values(stage: Usd.Stage, axes: Sequence[Axis], degrees: bool) -> None:
    """Fill in what the stage says of axes: limits, drives, friction, armature, springs, the state they begin in.

    Args:
        stage: Where the joints are.
        axes: Of all robots.
        degrees: Whether angles of MuJoCo's attributes are in degrees.

    Raises:
        UnsupportedSceneError: A lower limit lies above its upper one, or a largest velocity is negative.
    """
    if not axes:
        return
    places = [(axis.joint, axis.usd_name) for axis in axes]
    found = {name: authored(stage, name, places) for name in FIELDS}
    for said in (misnamed(stage, [axis.joint for axis in axes]), envelopes(stage, places)):
        if said:
            warnings.warn("\n".join(said), stacklevel=4)
    _warn_of_frictions(axes, found["static_frictions"], found["dynamic_frictions"])
    for name, field in FIELDS.items():
        for axis, value in zip(axes, found[name].tolist(), strict=True):
            if not math.isnan(value):
                setattr(axis, field, value)
    for axis in axes:
        _read_mujoco(stage.GetPrimAtPath(axis.joint), axis, degrees)
        if axis.lower > axis.upper:
            raise UnsupportedSceneError(
                f"<{axis.joint}> has lower limit {axis.lower:g} > upper limit {axis.upper:g} (rad or m): must be <=. "
                "Swap the limits."
            )
        if axis.max_velocity < 0:
            raise UnsupportedSceneError(
                f"<{axis.joint}> has a largest velocity of {axis.max_velocity:g} (rad/s or m/s): must be >= 0. Correct "
                "maxJointVelocity."
            )


def unit_of(axis: Axis, length: float) -> float:
    """The unit of positions on a stage, of which `length` is the unit of length [m], in rad or m."""
    return length if axis.linear else math.radians(1.0)


def read_state(stage: Usd.Stage, axis: Axis, length: float) -> tuple[float | None, float]:
    """Position and velocity that a stage authors for an axis, as PhysX has them; None where no position is.

    Raises:
        UnsupportedSceneError: One is no number, or not finite.
    """
    prim = stage.GetPrimAtPath(axis.joint)
    unit = unit_of(axis, length)
    found = {}
    for what in ("position", "velocity"):
        name = f"state:{axis.usd_name}:physics:{what}"
        found[what] = authored_number(prim, name, 0.0) * unit
        if not math.isfinite(found[what]):
            raise other_type(prim, name, found[what], "a finite number")
    is_there = authored_value(prim, f"state:{axis.usd_name}:physics:position") is not None
    return found["position"] if is_there else None, found["velocity"]


def position_in(axis: Axis, pose: Frame) -> tuple[float, float]:
    """Where a body stands on its only axis, and how far off it.

    Args:
        axis: The axis.
        pose: Of the body, as seen from where it is at joint zero.

    Returns:
        The position [rad or m], and the distance [rad or m] that no position takes away.
    """
    direction, anchor = Gf.Vec3d(*axis.direction.tolist()), Gf.Vec3d(*axis.anchor.tolist())
    if axis.linear:
        position = Gf.Dot(pose.place, direction)
        moved = Frame(direction * position, Gf.Quatd(1.0))
    else:
        position = 2 * math.atan2(Gf.Dot(pose.turn.GetImaginary(), direction), pose.turn.GetReal())
        position = math.remainder(position, 2 * math.pi)
        turn = Gf.Quatd(math.cos(position / 2), direction * math.sin(position / 2))
        moved = Frame(anchor - turn.Transform(anchor), turn)
    return (0.0 if abs(position) < _AT_ZERO else position), max(moved.distance(pose))


def hardness(prim: Usd.Prim, of: str = "") -> dict[str, list[float]]:
    """How hard a constraint is, where MuJoCo's own attributes say so; `of` its "friction", say."""
    sizes = {
        name: size
        for name, size in (("solref", 2), ("solimp", 5))
        if authored_value(prim, f"mjc:{name}{of}") is not None
    }
    return {name: authored_numbers(prim, f"mjc:{name}{of}", (), size) for name, size in sizes.items()}


def loop_of(prim: Usd.Prim, joint: Joint, numbers: Mapping[int, int]) -> Loop:
    """A joint as a constraint between bodies that have other numbers now.

    Raises:
        UnsupportedSceneError: MuJoCo has none such.
    """
    kinds = {"fixed": "fixed", "spherical": "ball", "revolute": "hinge"}
    if joint.kind not in kinds:
        raise UnsupportedSceneError(
            f"<{joint.edge.path}> is a {joint.kind} joint that closes a loop: only fixed, revolute and spherical ones "
            "can here. Set physics:excludeFromArticulation of another joint of the loop."
        )
    frames = joint.frames
    if joint.kind == "revolute":
        ((_, letter),) = joint.axes
        turn = Gf.Quatd(Gf.Rotation(Gf.Vec3d(0, 0, 1), _unit(letter)).GetQuat())
        frames = tuple(Frame(one.place, one.turn * turn) for one in frames)
    return Loop(
        str(joint.edge.path),
        kinds[joint.kind],
        (numbers[joint.edge.bodies[0]], numbers[joint.edge.bodies[1]]),
        tuple((one.position, one.quaternion) for one in frames),  # pyright: ignore[reportArgumentType]
        hardness(prim),
    )


def _in_stage_order(stage: Usd.Stage, joints: dict[Sdf.Path, Joint]) -> dict[Sdf.Path, Joint]:
    """Several joints between two bodies act one behind the other as they are authored."""
    if len({frozenset(joint.edge.bodies) for joint in joints.values()}) == len(joints):
        return joints
    order = {prim.GetPath(): number for number, prim in enumerate(articulation.every_prim(stage.GetPseudoRoot()))}
    return dict(sorted(joints.items(), key=lambda item: order[item[0]]))


def _is_driven(prim: Usd.Prim) -> bool:
    return any(name.startswith("PhysicsDriveAPI:") for name in applied_schemas(prim))


def _pose(joint: Joint, parent: int, child: int) -> Frame:
    return joint.frame_in(parent) @ joint.frame_in(child).inverse()


def _direction(joint: Joint, body: int, letter: str) -> Gf.Vec3d:
    return joint.frame_in(body).turn.Transform(_unit(letter))


def _unit(letter: str) -> Gf.Vec3d:
    return Gf.Vec3d.Axis("XYZ".index(letter))


def _warn_of_frictions(axes: Sequence[Axis], static: np.ndarray, dynamic: np.ndarray) -> None:
    if apart := [axis.joint for axis, gap in zip(axes, np.abs(static - dynamic).tolist(), strict=True) if gap > 0]:
        warnings.warn(
            f"static and dynamic friction of {', '.join(apart)} differ: MuJoCo has one dry friction and takes the "
            "static one. Author the same for both.",
            stacklevel=4,
        )


def _read_mujoco(prim: Usd.Prim, axis: Axis, degrees: bool) -> None:
    """What MuJoCo's own attributes say of an axis, where no others did."""
    angle = math.radians(1.0) if degrees and not axis.linear else 1.0

    def value(name: str) -> float:
        return authored_number(prim, f"mjc:{name}", 0.0)

    axis.armature = axis.armature or value("armature")
    axis.friction = axis.friction or value("frictionloss")
    axis.hardness = hardness(prim, "friction")
    axis.damping = axis.damping or value("damping")
    axis.stiffness, axis.rest = value("stiffness"), value("springref") * angle
    axis.reference = value("ref") * angle
    time_constant, ratio = authored_numbers(prim, "mjc:springdamper", (0.0, 0.0), 2)
    axis.springdamper = time_constant, ratio
    if (efforts := joint_bounds(prim)) and math.isinf(axis.drive_limit):
        axis.drive_limit = max(map(abs, efforts))
