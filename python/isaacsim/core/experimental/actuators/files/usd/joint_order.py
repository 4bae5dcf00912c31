"""Joints of an articulation in the order of its tree, and joints of a robot in stage order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pxr import Sdf, Usd

from .articulation import axes_of, bodies_of, every_prim
from .authored import targets
from .usd_errors import reports_usd_errors

# relationship of Isaac Sim's robot schema to the joints of a robot
_LISTED = "isaac:physics:robotJoints"

# the joints of each body, and the bodies that each connects
_JointsOfBodies = dict[Sdf.Path, list[tuple[str, list[Sdf.Path]]]]


@reports_usd_errors
def joint_orders(stage: Usd.Stage, roots: Sequence[str]) -> list[list[str]]:
    """The joint of each DOF of each articulation, breadth-first from its root: a path for each axis of a joint.

    Joints of one link are sorted by name, as in PhysX. Joints that are disabled or excluded from articulations are
    omitted.
    """
    joints = _joints_of_bodies(stage)
    orders = [_breadth_first(stage, Sdf.Path(root), joints) for root in roots]
    return [[path for path in order for _ in axes_of(stage.GetPrimAtPath(path))] for order in orders]


@reports_usd_errors
def dof_names(stage: Usd.Stage, joints: Sequence[str]) -> list[str]:
    """Names of DOFs from the joint of each: that of the joint, or `joint:axis` if the joint has several axes."""
    names, seen = [], Counter[str]()
    for path in joints:
        name, axes = path.rsplit("/", 1)[-1], axes_of(stage.GetPrimAtPath(path))
        # with fewer DOFs than free axes, PhysX has locked the linear ones, which come first
        of_it = axes[len(axes) - joints.count(path) :]
        names.append(name if len(of_it) < 2 else f"{name}:{of_it[seen[path]]}")
        seen[path] += 1
    return names


def joints_of(robot: Usd.Prim) -> list[Usd.Prim]:
    """The joints of all kinds of the robot at a prim, in stage order.

    These are the joints below the prim or, if none of them moves, those that connect its links, breadth-first. An
    articulation root that is a link or a joint itself has no moving joint below it. Joints listed by Isaac Sim's robot
    schema come first, in that order; a list at the prim itself adds joints elsewhere, one above it only sorts.
    """
    found = {joint.GetPath(): joint for joint in _joints_of(robot)}
    listing = robot
    while listing and not targets(listing, _LISTED):
        listing = listing.GetParent()
    listed = {joint.GetPath(): joint for joint in _listed(listing)} if listing else {}
    ahead = listed if listing == robot else {path: joint for path, joint in listed.items() if path in found}
    return list((ahead | found).values())


def is_part(joint: Usd.Prim) -> bool:
    """Return True if the joint connects links of an articulation."""
    enabled, excluded = (joint.GetAttribute(f"physics:{name}") for name in ("jointEnabled", "excludeFromArticulation"))
    return (not enabled or enabled.Get() is not False) and not (excluded and excluded.Get())


def _joints_of(robot: Usd.Prim) -> list[Usd.Prim]:
    """Joints below a prim; if none of them moves, those that connect its links."""
    stage = robot.GetStage()
    below = [prim for prim in every_prim(robot) if prim != robot and prim.IsA("PhysicsJoint")]
    if any(axes_of(joint) for joint in below):
        return below
    connected = _breadth_first(stage, robot.GetPath(), _joints_of_bodies(stage))
    return [stage.GetPrimAtPath(path) for path in connected] or below


def _listed(robot: Usd.Prim) -> Iterator[Usd.Prim]:
    """The joints that the robot schema lists at a prim, and those of the lists of robots in it."""
    seen, waiting = set[Sdf.Path](), [robot.GetPath()]
    while waiting:
        path = waiting.pop()
        prim = robot.GetStage().GetPrimAtPath(path)
        if prim and prim.IsA("PhysicsJoint"):
            yield prim
        elif prim and path not in seen:
            # robots may list each other
            seen.add(path)
            waiting += reversed(targets(prim, _LISTED))


def _joints_of_bodies(stage: Usd.Stage) -> _JointsOfBodies:
    joints: _JointsOfBodies = {}
    for prim in every_prim(stage.GetPseudoRoot()):
        if prim.IsA("PhysicsJoint") and is_part(prim):
            path = str(prim.GetPath())
            bodies = bodies_of(stage, path)
            for body in bodies:
                joints.setdefault(body, []).append((path, bodies))
    return joints


def _breadth_first(stage: Usd.Stage, root: Sdf.Path, joints: _JointsOfBodies) -> list[str]:
    below = [body for body in joints if body.HasPrefix(root)] or bodies_of(stage, str(root))
    # the root link is the root prim, else fixed to the world, else the topmost or the first
    below.sort(key=lambda body: (body != root, not _is_fixed(joints, body), body.pathElementCount))
    found: list[str] = []
    links = below[:1]
    for link in links:
        for path, bodies in sorted(joints.get(link, []), key=lambda joint: joint[0]):
            if path not in found:
                found.append(path)
                links += [body for body in bodies if body not in links]
    return found


def _is_fixed(joints: _JointsOfBodies, body: Sdf.Path) -> bool:
    return any(len(bodies) < 2 for _, bodies in joints.get(body, []))
