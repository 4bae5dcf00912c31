"""Articulation roots, joints in the order of the tree or of the stage, and texts of robots on a stage."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pxr import Sdf, Usd

from ...specs.arguments import require_type
from .authored import authored_number, targets
from .axes import MANY
from .usd_errors import reports_usd_errors

# active, loaded, defined and not abstract, instances included
on_stage = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)


def every_prim(root: Usd.Prim) -> Usd.PrimRange:
    """`root` and everything active and loaded below it, instances included."""
    return Usd.PrimRange(root, on_stage)


def axes_of(joint: Usd.Prim) -> tuple[str, ...]:
    """USD's names of the axes that can be driven: `angular`, `linear`, or the free ones of a generic joint."""
    kind = joint.GetTypeName() if joint else ""
    if kind == "PhysicsJoint":
        limits = {axis: [f"limit:{axis}:physics:{side}" for side in ("low", "high")] for axis in MANY}
        bounds = {axis: [authored_number(joint, name, math.nan) for name in names] for axis, names in limits.items()}
        # a range without values locks an axis
        return tuple(axis for axis, (low, high) in bounds.items() if not low > high)
    return {"PhysicsRevoluteJoint": ("angular",), "PhysicsPrismaticJoint": ("linear",)}.get(kind, ())


def unloaded_payloads(stage: Usd.Stage) -> list[str]:
    """Paths of the prims whose payloads are not loaded."""
    return sorted(str(path) for path in set(stage.FindLoadable()) - set(stage.GetLoadSet()))


def unloaded_at(stage: Usd.Stage, path: str | Sdf.Path) -> list[str]:
    """Paths of the prims at, above or below a path whose payloads are not loaded."""
    at, found = Sdf.Path(str(path)), map(Sdf.Path, unloaded_payloads(stage))
    return [str(one) for one in found if one.HasPrefix(at) or at.HasPrefix(one)]


@reports_usd_errors
def articulation_roots(stage: Usd.Stage) -> list[str]:
    """Paths of every prim with `PhysicsArticulationRootAPI`, in stage order."""
    return [
        str(prim.GetPath()) for prim in every_prim(stage.GetPseudoRoot()) if prim.HasAPI("PhysicsArticulationRootAPI")
    ]


def bodies_of(stage: Usd.Stage, joint: str) -> list[Sdf.Path]:
    """Paths of the bodies that a joint names; none if it is not on the stage."""
    prim = stage.GetPrimAtPath(joint)
    return [path for side in (0, 1) for path in targets(prim, f"physics:body{side}")] if prim else []


def write_text(stage: Usd.Stage, path: str, name: str, text: str) -> None:
    """Author a text as a custom attribute of a prim at the stage's edit target."""
    stage.GetPrimAtPath(path).CreateAttribute(name, Sdf.ValueTypeNames.String, custom=True).Set(text)


def read_text(stage: Usd.Stage, path: str, name: str) -> str | None:
    """The text of a prim's attribute, None without such a prim or text; a `TypeError` if there is no stage or path."""
    require_type("stage", stage, Usd.Stage, "a USD stage")
    require_type("path", path, str, "the path of a prim")
    prim = stage.GetPrimAtPath(path)
    value = prim.GetAttribute(name).Get() if prim and prim.HasAttribute(name) else None
    return value if isinstance(value, str) else None


def text_of_robot(stage: Usd.Stage, root: str, name: str) -> str | None:
    """The text of the robot at its articulation root or at a prim above it; None if there is none.

    The text of the prim itself precedes that of the nearest prim above, which precedes that of the articulation root
    below. A prim above several robots has no text of one of them. A `TypeError` names what is no stage or no path.
    """
    text = read_text(stage, root, name)
    if text is not None or not stage.GetPrimAtPath(root):
        return text
    roots = [Sdf.Path(path) for path in articulation_roots(stage)]

    def below(at: Sdf.Path) -> list[Sdf.Path]:
        return [one for one in roots if one.HasPrefix(at)]

    own = below(Sdf.Path(root))
    if len(own) != 1:
        return None
    places = [at for at in Sdf.Path(root).GetAncestorsRange() if below(at) == own]
    texts = (read_text(stage, str(at), name) for at in (*places, *own))
    return next((text for text in texts if text is not None), None)


@contextmanager
def undo_on_error(stage: Usd.Stage) -> Iterator[None]:
    """Restore the edit target after an error."""
    layer, before = stage.GetEditTarget().GetLayer(), Sdf.Layer.CreateAnonymous("before")
    before.TransferContent(layer)
    try:
        yield
    except BaseException:
        layer.TransferContent(before)
        raise


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
