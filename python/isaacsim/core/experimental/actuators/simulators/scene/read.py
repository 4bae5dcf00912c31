"""Read the physics of a stage, with the pairs of bodies and of colliders that do not touch."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from ...base.errors import UnsupportedSceneError, listed
from ...base.values import grouped
from ...files.usd.authored import authored, authored_number, instance_for
from ...files.usd.mujoco_properties import mjc_prims
from ...files.usd.units import DEGREE, StageUnits, units_of
from ...files.usd.usd_errors import reports_usd_errors
from .frames import HERE, Places
from .inertias import ROUNDING, SCREW, repaired, report_inertias
from .joints import (
    Joint,
    axes_of,
    loop_of,
    pose_at_zero,
    position_in,
    read_joints,
    read_mimics,
    read_state,
    read_values,
    serial,
)
from .masses import NOTHING, Mass, mass_of
from .parsed import Parsed, parse
from .robots import Robot, find_robots, separated, warn_of_strays
from .scene import BEGIN_ELSEWHERE, OFF, Articulation, Axis, Body, Scene, Tendon, begin_at, warn_of_beginnings
from .shapes import Bodies, Collider, read_colliders, read_drawn
from .tree import WORLD, Branch, Edge, grow

# standard gravity in newton and MuJoCo [m/s²]
_GRAVITY = 9.81


@dataclass(frozen=True)
class _Tree:
    """The bodies of a stage as joints connect them, by number; `joints` include those that hold kinematic bodies."""

    stage: Usd.Stage
    units: StageUnits
    places: Places
    parsed: Parsed
    prims: Sequence[Usd.Prim]
    bodies: Bodies
    joints: Mapping[Sdf.Path, Joint]
    robots: Sequence[Robot]
    branches: Sequence[Branch]
    closing: Sequence[Edge]
    axes: Mapping[int, list[Axis]]

    @property
    def all_axes(self) -> list[Axis]:
        """The axes of all bodies."""
        return [axis for axes in self.axes.values() for axis in axes]

    @property
    def numbers(self) -> dict[int, int]:
        """Numbers of the bodies in the scene, by those here."""
        return {branch.body: number for number, branch in enumerate(self.branches)} | {WORLD: WORLD}

    def axes_by_joint(self) -> dict[Sdf.Path, list[Axis]]:
        """The axes of each joint in the tree."""
        found: dict[Sdf.Path, list[Axis]] = {edge.path: [] for branch in self.branches for edge in branch.joints}
        for axis in self.all_axes:
            found[Sdf.Path(axis.joint)].append(axis)
        return found

    def carrier(self, branch: Branch) -> Joint | None:
        """The first joint that carries a body; None for one that floats."""
        return self.joints[branch.joints[0].path] if branch.joints else None

    def moves(self, branch: Branch) -> bool:
        """Return True if a body can move in its parent."""
        carrier = self.carrier(branch)
        return carrier is None or bool(self.axes[branch.body]) or carrier.kind == "spherical"

    def named(self, body: int) -> str:
        """The path of a body in messages."""
        return f"<{self.prims[body].GetPath()}>"


@reports_usd_errors
def read_scene(
    stage: Usd.Stage,
    *,
    strict_inertia: bool = False,
    initial_positions: Mapping[str, float] | None = None,
    fixed_base: bool = False,
) -> Scene:
    """The physics of `stage` in SI, whatever its units; an `UnsupportedSceneError` names prims that MuJoCo lacks.

    Joints begin where the links are authored, unless the stage authors a joint state or limits exclude the position;
    `initial_positions`, by pattern as for `begin_at`, precede all of these. `strict_inertia` raises for an inertia that
    no body can have instead of repairing it; `fixed_base` holds floating robots where they begin.
    """
    tree = _read_tree(stage)
    _warn_of_strays(tree)
    _read_axes(tree, initial_positions or {})
    colliders = read_colliders(stage, tree.parsed, tree.bodies, tree.places, tree.units)
    masses = _read_masses(tree, colliders, strict_inertia)
    numbers, of_joint = tree.numbers, tree.axes_by_joint()
    filters = _read_filters(tree, colliders)
    bodies = [_body(tree, branch, masses[branch.body], numbers[branch.parent]) for branch in tree.branches]
    tendons = _tendons(tree, of_joint, bodies)
    articulations = [_articulation(tree, robot, numbers) for robot in tree.robots]
    for robot in articulations:
        root = bodies[robot.bodies[0]]
        if fixed_base and root.kind == "free":
            root.kind = "fixed"
    return Scene(
        gravity=_gravity(stage, tree.parsed, tree.units),
        bodies=bodies,
        shapes=[replace(one.shape, body=numbers[one.shape.body]) for one in colliders],
        mimics=read_mimics(stage, of_joint, tree.units.length),
        tendons=tendons,
        loops=[loop_of(stage.GetPrimAtPath(edge.path), tree.joints[edge.path], numbers) for edge in tree.closing],
        articulations=articulations,
        no_contact=[(numbers[a], numbers[b]) for a, b in filters],
    )


@reports_usd_errors
def with_drawn(stage: Usd.Stage, scene: Scene) -> Scene:
    """The scene with all shapes that are drawn, also those that do not collide."""
    places = Places(units_of(stage).length)
    bodies = Bodies([stage.GetPrimAtPath(body.path) for body in scene.bodies], places)
    return replace(scene, shapes=read_drawn(stage, bodies, scene.shapes, places))


def _read_tree(stage: Usd.Stage) -> _Tree:
    units = units_of(stage)
    places = Places(units.length)
    parsed = parse(stage)
    paths = [path for path, body in parsed.bodies.items() if body.rigidBodyEnabled]
    prims = list(map(stage.GetPrimAtPath, paths))
    bodies = Bodies(prims, places)
    # nothing moves kinematic bodies here: fixed joints hold them to the world
    holding = {
        path: Joint(Edge(path, (WORLD, number), False, -1), "fixed", (), (bodies.frame(number), HERE))
        for path, number in bodies.numbers.items()
        if parsed.bodies[path].kinematicBody
    }
    joints = read_joints(stage, parsed, bodies.numbers, units.length) | holding
    robots = find_robots(stage, paths, joints)
    owners = {body: number for number, robot in enumerate(robots) for body in robot.links}
    branches, closing = grow(
        len(paths),
        separated(joints, robots),
        [robot.root for robot in robots],
        list(map(owners.get, range(len(paths)))),
        lambda edges: serial([joints[edge.path] for edge in edges]),
    )
    axes = {branch.body: axes_of(branch, joints) for branch in branches}
    return _Tree(stage, units, places, parsed, prims, bodies, joints, robots, branches, closing, axes)


def _warn_of_strays(tree: _Tree) -> None:
    links = {body for robot in tree.robots for body in robot.links}
    strays = [one for one in tree.branches if one.body not in links and one.joints and not one.joints[0].weak]
    warn_of_strays((axis.joint for branch in strays for axis in tree.axes[branch.body]), stacklevel=3)


def _read_axes(tree: _Tree, initial_positions: Mapping[str, float]) -> None:
    """Read the values of all axes and the positions in which they begin."""
    axes = tree.all_axes
    scenes = map(tree.stage.GetPrimAtPath, tree.parsed.scenes)
    read_values(tree.stage, axes, not any(authored(scene, "mjc:compiler:angle") == "radian" for scene in scenes))
    accelerated: list[str] = []
    for axis in axes:
        prim = tree.stage.GetPrimAtPath(axis.joint)
        drive = f"drive:{instance_for(prim, 'PhysicsDriveAPI', axis.usd_name)}"
        if (axis.drive_stiffness or axis.drive_damping) and authored(prim, f"{drive}:physics:type") == "acceleration":
            accelerated.append(axis.joint)
    if accelerated:
        warnings.warn(
            f"joint drives of type 'acceleration' act as force drives here: {', '.join(dict.fromkeys(accelerated))}. "
            "Author drive type 'force' with gains in N·m.",
            stacklevel=2,
        )
    _read_states(tree)
    begin_at(axes, initial_positions)
    begun = [(axis.joint, axis.position, axis.lower, axis.upper) for axis in axes]
    warn_of_beginnings("", begun, BEGIN_ELSEWHERE, stacklevel=3)


def _gravity(stage: Usd.Stage, parsed: Parsed, units: StageUnits) -> np.ndarray:
    """Gravity [m/s²] of the first scene; standard gravity along the up axis if none is authored."""
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


def _read_states(tree: _Tree) -> None:
    """Read initial positions and velocities: the authored joint state, else the authored poses of the links."""
    outside: list[str] = []
    apart: list[str] = []
    for branch in tree.branches:
        own = tree.axes[branch.body]
        for axis in own:
            position, axis.velocity = read_state(tree.stage, axis, tree.units.length)
            if position is not None:
                axis.position = position
                continue
            axis.position = axis.reference
            if len(own) == 1:
                here = tree.bodies.frame(branch.parent).inverse() @ tree.bodies.frame(branch.body)
                found, off = position_in(axis, pose_at_zero(branch, tree.joints).inverse() @ here)
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
            stacklevel=4,
        )
    if apart:
        warnings.warn(
            f"links are authored where their joints cannot take them: {listed(apart)}. These joints begin at 0. "
            "Correct the joints' local positions and rotations.",
            stacklevel=4,
        )


def _tendons(tree: _Tree, axes: Mapping[Sdf.Path, list[Axis]], bodies: Sequence[Body]) -> list[Tendon]:
    """The tendons; actuators of MuJoCo become drives of the axes. A warning names those that cannot."""
    # most stages have none
    from .physx_tendons import read_physx_tendons

    tendons, others = read_physx_tendons(tree.stage, bodies, tree.units)
    if others:
        warnings.warn(
            f"tendons of PhysX that MuJoCo has not are left out: {listed(others)}. Open the file with engine='physx', "
            "or author MjcTendon prims.",
            stacklevel=3,
        )
    of_joints, along = mjc_prims(tree.stage)
    if not of_joints and not along:
        return tendons
    from .mujoco_prims import read_actuators, read_tendons

    actuators = read_actuators(of_joints, axes)
    of_mujoco, others = read_tendons(along, axes, tree.bodies, tree.places)
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
    return tendons + of_mujoco


def _read_masses(tree: _Tree, colliders: Sequence[Collider], strict_inertia: bool) -> list[Mass]:
    """Masses of all bodies: authored, completed and repaired, with warnings of what changed."""
    masses = []
    for number, prim in enumerate(tree.prims):
        own = [(one.prim, one.shape, one.place, one.density) for one in colliders if one.shape.body == number]
        masses.append(mass_of(prim, tree.parsed.bodies[prim.GetPath()].scale, own, tree.units))
    # links that move and have no mass, not even by links fixed to them, get that of a screw
    carried = {WORLD: 0.0} | {branch.body: masses[branch.body].mass for branch in tree.branches}
    light = []
    for branch in reversed(tree.branches):
        if not tree.moves(branch):
            carried[branch.parent] += carried[branch.body]
        elif carried[branch.body] <= 0.0:
            light.append(tree.named(branch.body))
            of_screw = Mass(SCREW[0], np.zeros(3), SCREW[1] * np.eye(3))
            stated = masses[branch.body]
            masses[branch.body] = of_screw if stated is NOTHING else replace(stated, mass=of_screw.mass)
    if light:
        warnings.warn(
            f"links that move and have no mass get {SCREW[0]:g} kg: {', '.join(light[::-1])}. Author physics:mass or "
            "add a collider to each of them.",
            stacklevel=3,
        )
    _repair(tree, masses, strict_inertia)
    return masses


def _repair(tree: _Tree, masses: list[Mass], strict: bool) -> None:
    """Replace inertias that no body can have by the nearest possible ones."""
    changed = {}
    for number, mass in enumerate(masses):
        if mass is NOTHING:
            continue
        inertia, change = repaired(mass.inertia)
        masses[number] = replace(mass, inertia=inertia)
        if change > ROUNDING:
            changed[tree.named(number)] = change
    report_inertias("", changed, strict, stacklevel=5)


def _body(tree: _Tree, branch: Branch, mass: Mass, parent: int) -> Body:
    prim, own, carrier = tree.prims[branch.body], tree.axes[branch.body], tree.carrier(branch)
    pose, hinge, velocity = tree.bodies.frame(branch.body), HERE, np.zeros(6)
    if carrier is None:
        kind, joint = "free", f"{prim.GetPath()}/freejoint"
        body = tree.parsed.bodies[prim.GetPath()]
        spin = Gf.Vec3d(body.angularVelocity) * DEGREE
        linear = Gf.Vec3d(body.linearVelocity) * tree.units.length - Gf.Cross(spin, Gf.Vec3d(*mass.com.tolist()))
        velocity = np.array([*pose.turn.Transform(linear), *spin])
    else:
        kind = "axes" if own else "ball" if carrier.kind == "spherical" else "fixed"
        joint, hinge = str(carrier.edge.path), carrier.frame_in(branch.body)
        # a link fixed to the world keeps its authored pose, as in PhysX: that is how robots are placed
        if kind != "fixed" or branch.parent != WORLD:
            pose = pose_at_zero(branch, tree.joints)
    # a free body has no joint prim
    holder = prim if carrier is None else tree.stage.GetPrimAtPath(carrier.edge.path)
    is_weightless = authored(prim, "physxRigidBody:disableGravity")
    return Body(
        path=str(prim.GetPath()),
        joint=joint,
        parent=parent,
        kind=kind,
        position=pose.position,
        quaternion=pose.quaternion,
        anchor=hinge.position,
        turn=hinge.quaternion,
        axes=own,
        mass=mass.mass,
        com=mass.com,
        inertia=mass.inertia,
        weightless=1.0 if is_weightless else authored_number(prim, "mjc:body:gravcomp", 0.0),
        armature=authored_number(holder, "mjc:armature", 0.0) if kind in ("free", "ball") else 0.0,
        velocity=velocity,
    )


def _articulation(tree: _Tree, robot: Robot, numbers: Mapping[int, int]) -> Articulation:
    """A robot with its links and axes in the order of its tree, without axes of weak joints."""
    own = [branch for branch in tree.branches if branch.body in robot.links]
    strong = [branch for branch in own if not (branch.joints and branch.joints[0].weak)]
    return Articulation(
        robot.path,
        [numbers[branch.body] for branch in own],
        [axis for branch in strong for axis in tree.axes[branch.body]],
    )


Pair = tuple[int, int]

# bits of a contact mask
_BITS = 31


def _read_filters(tree: _Tree, colliders: Sequence[Collider]) -> list[Pair]:
    """Pairs of bodies without contact, -1 is the world; filters of colliders go into contact masks, if they fit."""
    robots = {robot.path: sorted(robot.links) for robot in tree.robots}
    members = _Members(colliders, tree.bodies, robots)

    def bodies_of(pair: Pair) -> Pair:
        return _pair(*(colliders[number].shape.body for number in pair))

    apart = {*_grouped_apart(tree.stage, tree.parsed, colliders), *_filtered_apart(tree.parsed, members)}
    counts = Counter(map(bodies_of, apart))
    whole = {pair for pair, count in counts.items() if count == math.prod(len(members.of_body[body]) for body in pair)}
    pairs = _joined(tree.parsed, tree.joints) | _of_robots(tree.stage, robots) | whole
    pairs = {(a, b) for a, b in pairs if a != b}
    _set_masks(colliders, [pair for pair in apart if len(set(both := bodies_of(pair))) == 2 and both not in pairs])
    return sorted(pairs)


class _Members:
    """Numbers of the colliders of prims."""

    def __init__(self, colliders: Sequence[Collider], bodies: Bodies, robots: Mapping[str, Sequence[int]]) -> None:
        self._at = {collider.path: number for number, collider in enumerate(colliders)}
        self._bodies, self._robots = bodies, robots
        self.of_body: dict[int, set[int]] = {}
        for number, collider in enumerate(colliders):
            self.of_body.setdefault(collider.shape.body, set()).add(number)

    def of(self, path: Sdf.Path) -> set[int]:
        """The colliders at a prim: itself, those of a body, those of all links of a robot, or those below it."""
        if path in self._at:
            return {self._at[path]}
        if path in self._bodies.numbers:
            return self.of_body.get(self._bodies.numbers[path], set())
        if (links := self._robots.get(str(path))) is not None:
            return set().union(*(self.of_body.get(link, set()) for link in links))
        return {number for there, number in self._at.items() if there.HasPrefix(path)}


def _joined(parsed: Parsed, joints: Mapping[Sdf.Path, Joint]) -> set[Pair]:
    """Pairs of bodies that a joint connects and keeps from touching."""
    found = ((joint, parsed.joints.get(path)) for path, joint in joints.items())
    return {_pair(*joint.edge.bodies) for joint, described in found if described and not described[1].collisionEnabled}


def _of_robots(stage: Usd.Stage, robots: Mapping[str, Sequence[int]]) -> set[Pair]:
    """Pairs of links of robots that do not touch themselves."""
    apart = (links for path, links in robots.items() if not _touches_itself(stage.GetPrimAtPath(path)))
    return {_pair(*pair) for links in apart for pair in itertools.combinations(links, 2)}


def _filtered_apart(parsed: Parsed, members: _Members) -> Iterator[Pair]:
    """Pairs of colliders that a prim filters by name."""
    for kind in (parsed.shapes, parsed.bodies, parsed.articulations):
        for path, described in kind.items():
            for other in described.filteredCollisions:
                yield from (_pair(*pair) for pair in itertools.product(members.of(path), members.of(other)))


def _set_masks(colliders: Sequence[Collider], apart: Iterable[Pair]) -> None:
    """Set MuJoCo's contact masks: colliders with the same filters share a bit."""
    filtered: dict[int, set[int]] = {}
    for a, b in apart:
        filtered.setdefault(a, set()).add(b)
        filtered.setdefault(b, set()).add(a)
    kinds: dict[frozenset[int], int] = {frozenset(): 0}
    for others in filtered.values():
        kinds.setdefault(frozenset(others), len(kinds))
    if len(kinds) > _BITS:
        raise UnsupportedSceneError(
            f"colliders are filtered from each other in {len(kinds)} different ways, such as "
            f"<{colliders[min(filtered)].path}>: must be at most {_BITS}. Filter whole bodies, or use collision groups."
        )
    kind_of = [kinds[frozenset(filtered.get(number, ()))] for number in range(len(colliders))]
    for number, collider in enumerate(colliders):
        mine = {kind_of[other] for other in filtered.get(number, ())}
        collider.shape.touches = 1 << kind_of[number], sum(1 << kind for kind in range(len(kinds)) if kind not in mine)


def _pair(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def _touches_itself(robot: Usd.Prim) -> bool:
    """Return True if links of a robot may touch each other."""
    for name in ("newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions"):
        if (value := authored(robot, name)) is not None:
            return bool(value)
    return True


def _grouped_apart(stage: Usd.Stage, parsed: Parsed, colliders: Sequence[Collider]) -> Iterator[Pair]:
    """Pairs of colliders whose groups are filtered from each other."""
    members = grouped(
        (group, number)
        for number, collider in enumerate(colliders)
        for group in parsed.shapes[collider.path].collisionGroups
    )
    if not members:
        return
    # USD's parser reports every group as inverted
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(stage)
    for one, other in itertools.combinations_with_replacement(members, 2):
        if not table.IsCollisionEnabled(one, other):
            yield from (_pair(a, b) for a, b in itertools.product(members[one], members[other]) if a != b)
