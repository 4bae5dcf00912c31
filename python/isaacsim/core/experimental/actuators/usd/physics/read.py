"""Read the physics of a stage."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom

from ..authored import authored, authored_number
from ..instances import instance_for
from ..mjc_actuators import mjc_prims
from ..readable import readable
from ..units import StageUnits, units_of
from ..words import listed
from .beginnings import BEGIN_ELSEWHERE, OFF, begin_at, warn_of_beginnings
from .couplings import read_mimics
from .filters import read_filters
from .frames import HERE, Frame, Places
from .inertias import ROUNDING, SCREW, repaired, tell_of_inertias, warn_of_lost_inertias
from .joints import Joint, axes_of, loop_of, pose_at_zero, position_in, read_joints, read_state, read_values, serial
from .masses import NOTHING, Mass, mass_of, states_inertia
from .parsed import Parsed, parse
from .robots import Robot, find_robots, separated, warn_of_strays
from .scene import Articulation, Axis, Body, Scene, Tendon
from .shapes import Bodies, Collider, read_colliders, read_drawn
from .tree import WORLD, Branch, Edge, grow

# standard gravity as newton and MuJoCo have it [m/s²]
_GRAVITY = 9.81


@readable
def read_scene(
    stage: Usd.Stage, *, strict_inertia: bool = False, initial_positions: Mapping[str, float] | None = None
) -> Scene:
    """Return the physics of `stage`, in SI whatever its units are.

    Joints begin where the links are authored, unless the stage authors a joint state or the joint's limits are in the
    way.

    Args:
        stage: The stage.
        strict_inertia: Whether an inertia that no body can have is refused, and not repaired.
        initial_positions: Where joints begin all the same, by pattern; see `begin_at`.

    Raises:
        UnsupportedSceneError: There is something that MuJoCo cannot simulate; the message names the prims.
        ValueError: `initial_positions` do not fit the joints.

    Warns:
        UserWarning: Something is simulated other than it is authored; one warning for each kind, naming the prims.
    """
    units = units_of(stage)
    places = Places(units.length)
    parsed = parse(stage)
    paths = [path for path, body in parsed.bodies.items() if body.rigidBodyEnabled]
    prims = [stage.GetPrimAtPath(path) for path in paths]
    bodies = Bodies(prims, places)
    joints = read_joints(stage, parsed, bodies.numbers, units.length) | _holding(parsed, bodies)
    robots = find_robots(stage, paths, joints)
    owners = {body: number for number, robot in enumerate(robots) for body in robot.links}
    branches, closing = grow(
        len(paths),
        separated(joints, robots),
        [robot.root for robot in robots],
        [owners.get(body) for body in range(len(paths))],
        lambda edges: serial([joints[edge.path] for edge in edges]),
    )
    axes = {branch.body: axes_of(branch, joints) for branch in branches}
    flat = [axis for found in axes.values() for axis in found]
    alone = [branch for branch in branches if branch.body not in owners and branch.joints and not branch.joints[0].weak]
    warn_of_strays((axis.joint for branch in alone for axis in axes[branch.body]), stacklevel=2)
    read_values(stage, flat, _in_degrees(stage, parsed))
    _warn_of_accelerations(stage, flat)
    _read_states(stage, branches, axes, joints, bodies, units.length)
    begin_at(flat, initial_positions or {})
    begun = [(axis.joint, axis.position, axis.lower, axis.upper) for axis in flat]
    warn_of_beginnings("", begun, BEGIN_ELSEWHERE, stacklevel=2)
    colliders = read_colliders(stage, parsed, bodies, places, units)
    masses = _masses(prims, parsed, colliders, units)
    _warn_of_lost_inertias(prims, branches, axes, joints, masses)
    _require_masses(branches, axes, joints, masses, paths)
    _repair(masses, paths, strict_inertia)
    numbers = {branch.body: number for number, branch in enumerate(branches)} | {WORLD: WORLD}
    of_joint: dict[Sdf.Path, list[Axis]] = {edge.path: [] for branch in branches for edge in branch.joints}
    for axis in flat:
        of_joint[Sdf.Path(axis.joint)].append(axis)
    tendons = _tendons(stage, of_joint, bodies, places)
    filters = read_filters(
        stage, parsed, bodies, joints, {robot.path: sorted(robot.links) for robot in robots}, colliders
    )
    return Scene(
        gravity=_gravity(stage, parsed, units),
        bodies=[
            _body(prims[branch.body], parsed, branch, axes, joints, bodies, masses, numbers, units.length)
            for branch in branches
        ],
        shapes=[replace(one.shape, body=numbers[one.shape.body]) for one in colliders],
        mimics=read_mimics(stage, of_joint, units.length),
        tendons=tendons,
        loops=[loop_of(stage.GetPrimAtPath(edge.path), joints[edge.path], numbers) for edge in closing],
        articulations=[_articulation(robot, branches, axes, numbers) for robot in robots],
        no_contact=[(numbers[a], numbers[b]) for a, b in filters],
    )


@readable
def with_drawn(stage: Usd.Stage, scene: Scene) -> Scene:
    """The scene with all that is to be drawn, which physics has no use for."""
    places = Places(units_of(stage).length)
    bodies = Bodies([stage.GetPrimAtPath(body.path) for body in scene.bodies], places)
    return replace(scene, shapes=read_drawn(stage, bodies, scene.shapes, places))


def _holding(parsed: Parsed, bodies: Bodies) -> dict[Sdf.Path, Joint]:
    """What keeps kinematic bodies where they are: nothing here moves them, and nothing pushes them."""
    return {
        path: Joint(Edge(path, (WORLD, number), False, -1), "fixed", (), (bodies.frame(number), HERE))
        for path, number in bodies.numbers.items()
        if parsed.bodies[path].kinematicBody
    }


def _in_degrees(stage: Usd.Stage, parsed: Parsed) -> bool:
    """Whether angles of MuJoCo's attributes are in degrees."""
    scenes = [stage.GetPrimAtPath(path) for path in parsed.scenes]
    return not any(authored(scene, "mjc:compiler:angle") == "radian" for scene in scenes)


def _warn_of_accelerations(stage: Usd.Stage, axes: Sequence[Axis]) -> None:
    driven = [axis for axis in axes if axis.drive_stiffness or axis.drive_damping]
    prims = [stage.GetPrimAtPath(axis.joint) for axis in driven]
    names = [instance_for(prim, "PhysicsDriveAPI", axis.usd_name) for prim, axis in zip(prims, driven, strict=True)]
    types = [authored(prim, f"drive:{name}:physics:type") for prim, name in zip(prims, names, strict=True)]
    accelerated = [axis.joint for axis, kind in zip(driven, types, strict=True) if kind == "acceleration"]
    if accelerated:
        warnings.warn(
            f"joint drives of type 'acceleration' act as force drives here: {', '.join(dict.fromkeys(accelerated))}. "
            "Author drive type 'force' with gains in N·m.",
            stacklevel=3,
        )


def _gravity(stage: Usd.Stage, parsed: Parsed, units: StageUnits) -> np.ndarray:
    """Gravity [m/s²] of the first scene; Earth's along the up axis where nothing is authored."""
    up = Gf.Vec3d.Axis("XYZ".index(str(UsdGeom.GetStageUpAxis(stage))))
    for path, scene in parsed.scenes.items():
        prim = stage.GetPrimAtPath(path)
        if not authored(prim, "newton:gravityEnabled", True):
            return np.zeros(3)
        direction = Gf.Vec3d(scene.gravityDirection)
        magnitude = authored_number(prim, "physics:gravityMagnitude", math.nan)
        if not (math.isfinite(magnitude) and magnitude >= 0):
            magnitude = _GRAVITY / units.length
        down = direction.GetNormalized() if direction.GetLength() > 0 else -up
        return np.array(down) * magnitude * units.length
    return np.array(-up) * _GRAVITY


def _read_states(
    stage: Usd.Stage,
    branches: Sequence[Branch],
    axes: Mapping[int, list[Axis]],
    joints: Mapping[Sdf.Path, Joint],
    bodies: Bodies,
    length: float,
) -> None:
    """Where joints begin: in the state that is authored for them, else where their links are authored."""
    outside, apart = [], []
    for branch in branches:
        own = axes[branch.body]
        for axis in own:
            position, axis.velocity = read_state(stage, axis, length)
            axis.position = axis.reference if position is None else position
            if position is not None or len(own) > 1:
                continue
            here = bodies.frame(branch.parent).inverse() @ bodies.frame(branch.body)
            found, off = position_in(axis, pose_at_zero(branch, joints).inverse() @ here)
            found += axis.reference
            if off > OFF:
                apart.append(axis.joint)
            elif found == axis.reference or axis.lower - OFF <= found <= axis.upper + OFF:
                axis.position = found
            else:
                outside.append(f"{axis.joint} ({found:.4g}, limits {axis.lower:.4g} … {axis.upper:.4g})")
    if outside:
        warnings.warn(
            f"links are authored where the limits of their joints do not let them be, in rad or m: {listed(outside)}. "
            "These joints begin at 0. Author the links within the limits, or a joint state.",
            stacklevel=3,
        )
    if apart:
        warnings.warn(
            f"links are authored where their joints cannot take them: {listed(apart)}. These joints begin at 0. "
            "Correct the joints' local positions and rotations.",
            stacklevel=3,
        )


def _tendons(stage: Usd.Stage, axes: Mapping[Sdf.Path, list[Axis]], bodies: Bodies, places: Places) -> list[Tendon]:
    """Tendons, and the drives that MuJoCo's actuators are; what is neither is named."""
    of_joints, along = mjc_prims(stage)
    if not of_joints and not along:
        return []
    # most stages have none
    from .mujoco_prims import read_actuators, read_tendons

    actuators = read_actuators(of_joints, axes)
    tendons, others = read_tendons(along, axes, bodies, places)
    if actuators:
        warnings.warn(
            f"MjcActuator prims that no joint drive stands for do not act: {listed(actuators)}. Drive their joints by "
            "actuators.",
            stacklevel=3,
        )
    if others:
        warnings.warn(
            f"MjcTendon prims that wrap around shapes or pulleys are left out: {listed(others)}. Open the MJCF file "
            "itself where they matter.",
            stacklevel=3,
        )
    return tendons


def _masses(prims: Sequence[Usd.Prim], parsed: Parsed, colliders: Sequence[Collider], units: StageUnits) -> list[Mass]:
    found = []
    for number, prim in enumerate(prims):
        own = [(one.prim, one.shape, one.place, one.density) for one in colliders if one.shape.body == number]
        found.append(mass_of(prim, parsed.bodies[prim.GetPath()].scale, own, units))
    return found


def _require_masses(
    branches: Sequence[Branch],
    axes: Mapping[int, list[Axis]],
    joints: Mapping[Sdf.Path, Joint],
    masses: list[Mass],
    paths: Sequence[Sdf.Path],
) -> None:
    """Give what moves and has no mass, not even by what is fixed to it, that of a screw."""
    carried = {branch.body: masses[branch.body].mass for branch in branches}
    light = []
    for branch in reversed(branches):
        moves = _moves(branch, axes, joints)
        if not moves and branch.parent != WORLD:
            carried[branch.parent] += carried[branch.body]
        elif moves and carried[branch.body] <= 0.0:
            light.append(f"<{paths[branch.body]}>")
            masses[branch.body] = Mass(SCREW[0], np.zeros(3), SCREW[1] * np.eye(3))
    if light:
        warnings.warn(
            f"links that move and have no mass get {SCREW[0]:g} kg: {', '.join(light[::-1])}. Author physics:mass or "
            "add a collider to each of them.",
            stacklevel=3,
        )


def _warn_of_lost_inertias(
    prims: Sequence[Usd.Prim],
    branches: Sequence[Branch],
    axes: Mapping[int, list[Axis]],
    joints: Mapping[Sdf.Path, Joint],
    masses: Sequence[Mass],
) -> None:
    """Tell of inertias that links without mass state; those of links that cannot move count for nothing."""
    static, lost = {WORLD}, []
    for branch in branches:
        if branch.parent in static and not _moves(branch, axes, joints):
            static.add(branch.body)
        elif masses[branch.body] is NOTHING and states_inertia(prims[branch.body]):
            lost.append(f"<{prims[branch.body].GetPath()}>")
    warn_of_lost_inertias("", lost, "Author physics:mass, or add a collider to each of them.", stacklevel=3)


def _moves(branch: Branch, axes: Mapping[int, list[Axis]], joints: Mapping[Sdf.Path, Joint]) -> bool:
    """Whether a body can move in its parent."""
    return not branch.joints or bool(axes[branch.body]) or joints[branch.joints[0].path].kind == "spherical"


def _repair(masses: list[Mass], paths: Sequence[Sdf.Path], strict: bool) -> None:
    """Put the nearest inertia that a body can have in the place of one that none can."""
    changed = {}
    for number, mass in enumerate(masses):
        if mass.mass <= 0.0:
            continue
        inertia, change = repaired(mass.inertia)
        masses[number] = replace(mass, inertia=inertia)
        if change > ROUNDING:
            changed[f"<{paths[number]}>"] = change
    tell_of_inertias("", changed, strict, stacklevel=4)


def _body(
    prim: Usd.Prim,
    parsed: Parsed,
    branch: Branch,
    axes: Mapping[int, list[Axis]],
    joints: Mapping[Sdf.Path, Joint],
    bodies: Bodies,
    masses: Sequence[Mass],
    numbers: Mapping[int, int],
    length: float,
) -> Body:
    """A body as it hangs on its parent."""
    path, own, mass = prim.GetPath(), axes[branch.body], masses[branch.body]
    kind, joint, hinge, velocity = "free", f"{path}/freejoint", HERE, np.zeros(6)
    pose, where = bodies.frame(branch.body), prim
    if branch.joints:
        carrier = joints[branch.joints[0].path]
        where = prim.GetStage().GetPrimAtPath(carrier.edge.path)
        joint, hinge = str(carrier.edge.path), carrier.frame_in(branch.body)
        kind = "axes" if own else "ball" if carrier.kind == "spherical" else "fixed"
        # a link that is fixed to the world stays where it is authored, as with PhysX: robots are placed like that
        if kind != "fixed" or branch.parent != WORLD:
            pose = pose_at_zero(branch, joints)
    else:
        velocity = _free_velocity(parsed.bodies[path], pose, mass.com, length)
    return Body(
        path=str(path),
        joint=joint,
        parent=numbers[branch.parent],
        kind=kind,
        position=pose.position,
        quaternion=pose.quaternion,
        anchor=hinge.position,
        turn=hinge.quaternion,
        axes=own,
        mass=mass.mass,
        com=mass.com,
        inertia=mass.inertia,
        weightless=_is_weightless(prim),
        # a free body has no joint to say it
        armature=authored_number(where, "mjc:armature", 0.0) if kind in ("free", "ball") else 0.0,
        velocity=velocity,
    )


def _free_velocity(body: Any, pose: Frame, com: np.ndarray, length: float) -> np.ndarray:
    """Authored velocities, of the centre of mass and in the body's frame, as MuJoCo has them: see `Body.velocity`."""
    spin = Gf.Vec3d(body.angularVelocity) * math.radians(1.0)
    linear = Gf.Vec3d(body.linearVelocity) * length - Gf.Cross(spin, Gf.Vec3d(*com.tolist()))
    return np.array([*pose.turn.Transform(linear), *spin])


def _is_weightless(prim: Usd.Prim) -> float:
    """What part of a body's weight is taken from it."""
    if authored(prim, "physxRigidBody:disableGravity"):
        return 1.0
    return authored_number(prim, "mjc:body:gravcomp", 0.0)


def _articulation(
    robot: Robot, branches: Sequence[Branch], axes: Mapping[int, list[Axis]], numbers: Mapping[int, int]
) -> Articulation:
    """The robot's links and axes in the order of its tree; what hangs on it by a weak joint is none of its own."""
    own = [branch for branch in branches if branch.body in robot.links]
    return Articulation(
        robot.path,
        [numbers[branch.body] for branch in own],
        [axis for branch in own if not (branch.joints and branch.joints[0].weak) for axis in axes[branch.body]],
    )
