"""Which bodies are the links of which robot."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pxr import Sdf, Usd

from ..articulation import articulation_roots
from ..words import listed
from .joints import Joint
from .tree import WORLD, Edge, Groups


@dataclass(frozen=True)
class Robot:
    """An articulation: its root prim, the link that stands for it, and all links."""

    path: str
    root: int
    links: frozenset[int]


def find_robots(stage: Usd.Stage, paths: Sequence[Sdf.Path], joints: Mapping[Sdf.Path, Joint]) -> list[Robot]:
    """The robots of a stage, in the order of their root prims.

    A robot is what joints connect that are not excluded from articulations, as far as no other root prim has it below
    it. Of a root prim below another's, nothing is left to be a robot where joints connect the two. Where several such
    parts are below one root prim, the largest is the robot.

    On a stage without any root prim, whatever has axes is a robot, and its first link stands for it.

    Args:
        stage: Where the root prims are.
        paths: Of the bodies, by number.
        joints: All that act.
    """
    roots = [Sdf.Path(path) for path in articulation_roots(stage)]
    if not roots:
        return _without_roots(paths, joints)
    owners = _owners(paths, roots)
    groups = Groups(range(len(paths)))
    strong = [joint.edge for joint in joints.values() if not joint.edge.weak and not _crosses(joint.edge, owners)]
    for edge in strong:
        if WORLD not in edge.bodies:
            groups.join(*edge.bodies)
    links: dict[int, list[int]] = {}
    for body in range(len(paths)):
        links.setdefault(groups.of(body), []).append(body)
    moving = {
        groups.of(body)
        for edge in strong
        if edge.path in joints and joints[edge.path].axes
        for body in edge.bodies
        if body != WORLD
    }
    robots, taken = [], set()
    for root in roots:
        below = [body for body in range(len(paths)) if paths[body].HasPrefix(root)]
        if root in joints:
            below = [body for body in joints[root].edge.bodies if body != WORLD]
        below = [body for body in below if groups.of(body) not in taken]
        if not below:
            continue
        # a root link that nothing hangs on, with links that float free of it below, is no robot
        if paths[below[0]] == root and (
            groups.of(below[0]) in moving or not moving.intersection(map(groups.of, below))
        ):
            first = below[0]
        else:
            first = max(below, key=lambda body: len(links[groups.of(body)]))
            first = _first(links[groups.of(first)], strong, paths)
        group = groups.of(first)
        taken.add(group)
        robots.append(Robot(str(root), first, frozenset(links[group])))
    return robots


def warn_of_strays(joints: Iterable[str], *, stacklevel: int) -> None:
    """Warn of joints, by their paths, that no robot has.

    Args:
        joints: Those whose links no articulation has.
        stacklevel: Of the warning, from here.
    """
    if strays := list(dict.fromkeys(joints)):
        warnings.warn(
            f"joints belong to no robot, for their links have no articulation root: {listed(strays)}. Their drives act "
            "as they are authored, and no actuator drives them. Apply PhysicsArticulationRootAPI to a prim above their "
            "links.",
            stacklevel=stacklevel + 1,
        )


def _without_roots(paths: Sequence[Sdf.Path], joints: Mapping[Sdf.Path, Joint]) -> list[Robot]:
    groups = Groups(range(len(paths)))
    strong = [joint for joint in joints.values() if not joint.edge.weak]
    for joint in strong:
        if WORLD not in joint.edge.bodies:
            groups.join(*joint.edge.bodies)
    moving = {groups.of(body) for joint in strong if joint.axes for body in joint.edge.bodies if body != WORLD}
    robots = []
    for group in moving:
        links = [body for body in range(len(paths)) if groups.of(body) == group]
        first = _first(links, [joint.edge for joint in strong], paths)
        robots.append(Robot(str(paths[first]), first, frozenset(links)))
    return sorted(robots, key=lambda robot: robot.path)


def separated(joints: Mapping[Sdf.Path, Joint], robots: Sequence[Robot]) -> list[Edge]:
    """The edges of all joints; those between two robots are weak."""
    owners = {body: number for number, robot in enumerate(robots) for body in robot.links}
    return [
        replace(joint.edge, weak=True)
        if len({owners[body] for body in joint.edge.bodies if body in owners}) > 1
        else joint.edge
        for joint in joints.values()
    ]


def _owners(paths: Sequence[Sdf.Path], roots: Sequence[Sdf.Path]) -> list[Sdf.Path | None]:
    """The outermost root prim that each body is below."""
    return [next((root for root in roots if path.HasPrefix(root)), None) for path in paths]


def _crosses(edge: Edge, owners: Sequence[Sdf.Path | None]) -> bool:
    """Whether a joint connects what different root prims have below them."""
    return len({owners[body] for body in edge.bodies if body != WORLD and owners[body] is not None}) > 1


def _first(links: Sequence[int], edges: Sequence[Edge], paths: Sequence[Sdf.Path]) -> int:
    """The link that all others hang on, as it is authored: no joint has it for its second body."""
    carried = {edge.bodies[1] for edge in edges if WORLD not in edge.bodies}
    return min(links, key=lambda body: (body in carried, paths[body]))
