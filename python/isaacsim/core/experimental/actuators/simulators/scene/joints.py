"""Joints of a stage: the bodies they connect, their frames and free axes, and those that follow others."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd

from ...base.errors import UnsupportedSceneError
from ...files.usd import articulation
from ...files.usd.authored import authored as authored_value
from ...files.usd.authored import authored_number, authored_numbers, misnamed, other_type, targets
from ...files.usd.axes import is_angular
from ...files.usd.fallbacks import drives_without_actuator
from ...files.usd.joint_properties import authored
from ...files.usd.mujoco_properties import joint_bounds
from ...files.usd.schema import applied_schemas
from ...files.usd.units import DEGREE
from .frames import Frame, frame
from .parsed import Description, Parsed
from .scene import FIELDS, Axis, Loop, Mimic
from .tree import WORLD, Branch, Edge

# kind of joint of MuJoCo's constraints on joint prims, which have no free axis
_CONSTRAINTS = {"MjcEqualityConnectAPI": "spherical", "MjcEqualityWeldAPI": "fixed"}
# tolerance of equal frames [m and rad], in USD's single precision
_SAME = 1e-4
# positions below are 0 [m or rad]
_AT_ZERO = 1e-5
# impedance of a coupling that is a spring
_SPRING = [1e-3, 1e-3, 1e-3, 0.5, 2.0]


@dataclass(frozen=True)
class Joint:
    """An active joint prim: its edge, its free axes, and its frame in each of its bodies, the world included."""

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
    """Active joints in stage order, by path; an `UnsupportedSceneError` names a kind that is not simulated here."""
    found = {}
    for path, (kind, described) in parsed.joints.items():
        ends = bodies.get(described.body0, WORLD), bodies.get(described.body1, WORLD)
        if described.jointEnabled and ends[0] != ends[1]:
            found[path] = _joint(stage.GetPrimAtPath(path), kind, described, ends, length)
    if len({frozenset(joint.edge.bodies) for joint in found.values()}) == len(found):
        return found
    order = {prim.GetPath(): number for number, prim in enumerate(articulation.every_prim(stage.GetPseudoRoot()))}
    return dict(sorted(found.items(), key=lambda item: order[item[0]]))


def serial(joints: Sequence[Joint]) -> int:
    """Number of joints between the same two bodies that act in series, from the first on, as several axes of one.

    Each has a free axis, all have the same pose at joint zero, and no two turn about the same axis, as two hinges do.
    """
    first = joints[0]
    child = first.edge.bodies[1]
    turning: list[Gf.Vec3d] = []
    for count, joint in enumerate(joints):
        here = [_direction(joint, child, letter) for name, letter in joint.axes if is_angular(name)]
        parallel = any(abs(Gf.Dot(one, other)) > 1 - _SAME for one in here for other in turning)
        if parallel or not _may_follow(first, joint):
            return max(count, 1)
        turning += here
    return len(joints)


def pose_at_zero(branch: Branch, joints: Mapping[Sdf.Path, Joint]) -> Frame:
    """The pose of a body in its parent at joint zero."""
    return _pose(joints[branch.joints[0].path], branch.parent, branch.body)


def axes_of(branch: Branch, joints: Mapping[Sdf.Path, Joint]) -> list[Axis]:
    """The axes on which a body moves in its parent, from the parent on; of a joint with several, `joint:axis`."""
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
    """Fill in the authored values of axes; `degrees` if angles of MuJoCo's attributes are in degrees.

    An `UnsupportedSceneError` names crossed limits, or a negative maximum velocity.
    """
    if not axes:
        return
    joints = [axis.joint for axis in axes]
    places = [(axis.joint, axis.usd_name) for axis in axes]
    found = {name: authored(stage, name, places) for name in FIELDS}
    for lines in filter(None, (misnamed(stage, joints), drives_without_actuator(stage, places))):
        warnings.warn("\n".join(lines), stacklevel=4)
    gaps = np.abs(found["static_frictions"] - found["dynamic_frictions"])
    if apart := [*itertools.compress(joints, gaps > 0)]:
        warnings.warn(
            f"static and dynamic friction of {', '.join(apart)} differ: MuJoCo has one dry friction and takes the "
            "static one. Author the same for both.",
            stacklevel=3,
        )
    for at, axis in enumerate(axes):
        for name, field in FIELDS.items():
            if not math.isnan(value := float(found[name][at])):
                setattr(axis, field, value)
        _read_mujoco(stage.GetPrimAtPath(axis.joint), axis, degrees)
        _check_limits(axis)


def _check_limits(axis: Axis) -> None:
    if axis.lower > axis.upper:
        raise UnsupportedSceneError(
            f"<{axis.joint}> has lower limit {axis.lower:g} > upper limit {axis.upper:g} (rad or m): must be <=. Swap "
            "the limits."
        )
    if axis.max_velocity < 0:
        raise UnsupportedSceneError(
            f"<{axis.joint}> has a largest velocity of {axis.max_velocity:g} (rad/s or m/s): must be >= 0. Correct "
            "maxJointVelocity."
        )


def unit_of(axis: Axis, length: float) -> float:
    """The unit of positions on a stage, of which `length` is the unit of length [m], in rad or m."""
    return length if axis.linear else DEGREE


def read_state(stage: Usd.Stage, axis: Axis, length: float) -> tuple[float | None, float]:
    """Position (None if not authored) and velocity in the joint state of an axis; raises for a value not finite."""
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


def motion(axis: Axis, position: float) -> Frame:
    """The motion of a body along an axis, in the body's own frame."""
    direction, anchor = Gf.Vec3d(*axis.direction.tolist()), Gf.Vec3d(*axis.anchor.tolist())
    if axis.linear:
        return Frame(direction * position, Gf.Quatd(1.0))
    turn = Gf.Quatd(math.cos(position / 2), direction * math.sin(position / 2))
    return Frame(anchor - turn.Transform(anchor), turn)


def position_in(axis: Axis, pose: Frame) -> tuple[float, float]:
    """Position of a body's only axis [rad or m] with this pose relative to joint zero, and how far off the pose is."""
    direction = Gf.Vec3d(*axis.direction.tolist())
    if axis.linear:
        position = Gf.Dot(pose.place, direction)
    else:
        position = 2 * math.atan2(Gf.Dot(pose.turn.GetImaginary(), direction), pose.turn.GetReal())
        position = math.remainder(position, 2 * math.pi)
    return (0.0 if abs(position) < _AT_ZERO else position), max(motion(axis, position).distance(pose))


def hardness(prim: Usd.Prim, of: str = "") -> dict[str, list[float]]:
    """MuJoCo's authored solver parameters of a constraint; `of` is the suffix of the attributes, such as "friction"."""
    return {
        name: authored_numbers(prim, f"mjc:{name}{of}", (), size)
        for name, size in (("solref", 2), ("solimp", 5))
        if authored_value(prim, f"mjc:{name}{of}") is not None
    }


def loop_of(prim: Usd.Prim, joint: Joint, numbers: Mapping[int, int]) -> Loop:
    """A joint as a constraint that closes a loop, by bodies of the scene; raises if MuJoCo has no such constraint."""
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


def _joint(prim: Usd.Prim, kind: str, described: Description, ends: tuple[int, int], length: float) -> Joint:
    path = prim.GetPath()
    constraint = next(filter(None, map(_CONSTRAINTS.get, applied_schemas(prim))), None)
    if constraint is None and kind in ("distance", "custom"):
        raise UnsupportedSceneError(
            f"<{path}> is a {kind} joint: not simulated here. Replace it by a revolute, prismatic, spherical, "
            "fixed or D6 joint, or deactivate the prim."
        )
    is_driven = any(name.startswith("PhysicsDriveAPI:") for name in applied_schemas(prim))
    edge = Edge(
        path,
        ends,
        weak=bool(described.excludeFromArticulation) or constraint is not None,
        rank=int(kind not in ("prismatic", "d6") and not is_driven),
    )
    axes = () if constraint else _free_axes(prim, kind, described)
    frames = (
        frame(described.localPose0Position, described.localPose0Orientation, length),
        frame(described.localPose1Position, described.localPose1Orientation, length),
    )
    if not all(one.is_finite for one in frames):
        raise UnsupportedSceneError(
            f"<{path}>: its local positions and rotations must be finite numbers. Correct physics:localPos0, "
            "localRot0, localPos1 and localRot1."
        )
    return Joint(edge, constraint or kind, axes, frames)


def _free_axes(prim: Usd.Prim, kind: str, described: Description) -> tuple[tuple[str, str], ...]:
    """USD's name and the letter of each free axis."""
    return tuple(
        (name, name[-1] if kind == "d6" else "XYZ"[int(described.axis)]) for name in articulation.axes_of(prim)
    )


def _may_follow(first: Joint, joint: Joint) -> bool:
    """Return True if a joint may act in series with the first one between its bodies: both move, from one pose."""
    if not first.axes or not joint.axes or joint.edge.weak != first.edge.weak:
        return False
    apart = _pose(joint, *first.edge.bodies).distance(_pose(first, *first.edge.bodies))
    return max(apart) <= _SAME


def _pose(joint: Joint, parent: int, child: int) -> Frame:
    return joint.frame_in(parent) @ joint.frame_in(child).inverse()


def _direction(joint: Joint, body: int, letter: str) -> Gf.Vec3d:
    return joint.frame_in(body).turn.Transform(_unit(letter))


def _unit(letter: str) -> Gf.Vec3d:
    return Gf.Vec3d.Axis("XYZ".index(letter))


def _read_mujoco(prim: Usd.Prim, axis: Axis, degrees: bool) -> None:
    """Fill in MuJoCo's own attributes of an axis where no others are authored."""
    angle = DEGREE if degrees and not axis.linear else 1.0

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


def read_mimics(stage: Usd.Stage, axes: Mapping[Sdf.Path, list[Axis]], length: float) -> list[Mimic]:
    """Axes that follow others by `NewtonMimicAPI`, `PhysxMimicJointAPI`, or MuJoCo's joint equality, which adds powers.

    A joint without an axis does not follow; a follower of one keeps its position. An `UnsupportedSceneError` names a
    leader that is not in the tree, or a pair of which one has several axes.
    """
    mimics: list[Mimic] = []
    for path, own in axes.items():
        if not own:
            continue
        prim = stage.GetPrimAtPath(path)
        schemas = applied_schemas(prim)
        for schema in schemas:
            name, _, instance = schema.partition(":")
            is_newton = name == "NewtonMimicAPI" or (name == "MjcEqualityJointAPI" and "NewtonMimicAPI" not in schemas)
            if name == "PhysxMimicJointAPI":
                mimics.append(_physx_mimic(prim, f"physxMimicJoint:{instance}:", own, axes, length))
            elif is_newton and authored_value(prim, "newton:mimicEnabled", True):
                # assets of an older MuJoCo converter have another relationship
                relation = "newton:mimicJoint" if targets(prim, "newton:mimicJoint") else "mjc:target"
                coefficients = _newton_coefficients(prim, unit_of(own[0], length))
                mimics.append(_mimic(prim, relation, own, axes, coefficients))
    return mimics


def _physx_mimic(
    prim: Usd.Prim, prefix: str, own: list[Axis], axes: Mapping[Sdf.Path, list[Axis]], length: float
) -> Mimic:
    """A follower of PhysX: position + gearing · that of the leader + offset = 0, by a spring if it has a frequency."""
    fallbacks = {"gearing": 1.0, "offset": 0.0, "naturalFrequency": 0.0, "dampingRatio": 0.0}
    gearing, offset, frequency, ratio = (
        authored_number(prim, f"{prefix}{name}", fallback) for name, fallback in fallbacks.items()
    )
    coefficients = (-offset * unit_of(own[0], length), -gearing, 0.0, 0.0, 0.0)
    found = _mimic(prim, f"{prefix}referenceJoint", own, axes, coefficients)
    if min(frequency, ratio) > 0.0 and not found.hardness:
        # accelerations per error and its rate, beside which almost all of a load acts
        found.hardness = {"solref": [-(frequency**2), -2.0 * ratio * frequency], "solimp": _SPRING}
    return found


def _mimic(
    prim: Usd.Prim, relation: str, own: list[Axis], axes: Mapping[Sdf.Path, list[Axis]], coefficients: Any
) -> Mimic:
    leading = targets(prim, relation)
    if not leading or leading[0] not in axes:
        leader = f"<{leading[0]}>" if leading else "nothing"
        raise UnsupportedSceneError(
            f"<{prim.GetPath()}> follows {leader} ({relation}): must be a joint that closes no loop. Correct the "
            "relationship, or remove the schema."
        )
    leaders = axes[leading[0]]
    if len(own) > 1 or len(leaders) > 1:
        raise UnsupportedSceneError(
            f"<{prim.GetPath()}> follows <{leading[0]}> and one of them has several axes: not simulated here. Split "
            "the joint."
        )
    return Mimic(own[0], leaders[0] if leaders else None, coefficients, hardness(prim))


def _newton_coefficients(prim: Usd.Prim, unit: float) -> tuple[float, ...]:
    # the older attributes are in radians
    older = authored_value(prim, "newton:mimicCoef0") is None
    first = authored_number(prim, "mjc:coef0", 0.0) if older else authored_number(prim, "newton:mimicCoef0", 0.0) * unit
    second = authored_number(prim, "newton:mimicCoef1", authored_number(prim, "mjc:coef1", 1.0))
    return (first, second, *(authored_number(prim, f"mjc:coef{power}", 0.0) for power in (2, 3, 4)))
