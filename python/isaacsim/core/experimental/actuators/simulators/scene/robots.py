"""The robots of a stage and their links."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pxr import Sdf, Usd

from ...base.errors import listed
from ...base.values import grouped
from ...files.usd.articulation import articulation_roots
from .joints import Joint
from .tree import WORLD, Edge, Groups


@dataclass(frozen=True)
class Robot:
    """An articulation: its root prim, its root link, and all links."""

    path: str
    root: int
    links: frozenset[int]


def find_robots(stage: Usd.Stage, paths: Sequence[Sdf.Path], joints: Mapping[Sdf.Path, Joint]) -> list[Robot]:
    """The robots of a stage, in the order of their root prims; `paths` are those of the bodies, by number.

    The links of a robot are bodies that joints connect, without joints that are excluded from articulations or that
    connect bodies below two root prims. The largest such part below a root prim is its robot; a root prim below another
    one, to which joints connect it, has none. On a stage without root prims, each part with an axis is a robot.
    """
    roots = [Sdf.Path(path) for path in articulation_roots(stage)]
    parts = _parts(paths, joints, roots)
    if not roots:
        firsts = ((part, parts.first(part)) for part in parts.moving)
        found = [Robot(str(paths[first]), first, frozenset(parts.links[part])) for part, first in firsts]
        return sorted(found, key=lambda robot: robot.path)
    robots, taken = [], set[int]()
    for root in roots:
        below = [body for body in _bodies_below(root, paths, joints) if parts.of(body) not in taken]
        if below:
            first = parts.root_link(root, below)
            taken.add(parts.of(first))
            robots.append(Robot(str(root), first, frozenset(parts.links[parts.of(first)])))
    return robots


def warn_of_strays(joints: Iterable[str], *, stacklevel: int) -> None:
    """Warn of joints, by path, whose links are part of no articulation; `stacklevel` is that of the caller."""
    if strays := list(dict.fromkeys(joints)):
        warnings.warn(
            f"joints belong to no robot, for their links have no articulation root: {listed(strays)}. Their drives act "
            "as they are authored, and no actuator drives them. Apply PhysicsArticulationRootAPI to a prim above their "
            "links.",
            stacklevel=stacklevel + 1,
        )


class _Parts:
    """Bodies that joints connect, without the world."""

    def __init__(self, paths: Sequence[Sdf.Path], joints: Sequence[Joint]) -> None:
        groups = Groups(range(len(paths)))
        inner = [joint.edge for joint in joints if WORLD not in joint.edge.bodies]
        for edge in inner:
            groups.join(*edge.bodies)
        self.of = groups.of
        self.links = grouped((self.of(body), body) for body in range(len(paths)))
        self.moving = {self.of(body) for joint in joints if joint.axes for body in joint.edge.bodies if body != WORLD}
        self._paths = paths
        self._carried = {edge.bodies[1] for edge in inner}

    def first(self, part: int) -> int:
        """The first link of a part: the one that is the second body of no joint."""
        return min(self.links[part], key=lambda body: (body in self._carried, self._paths[body]))

    def root_link(self, root: Sdf.Path, below: Sequence[int]) -> int:
        """The root link of the robot of a root prim, of the bodies below it."""
        # a root prim that is a link without joints is no robot if other parts below it move
        moving = self.moving.intersection(map(self.of, below))
        if self._paths[below[0]] == root and (self.of(below[0]) in moving or not moving):
            return below[0]
        largest = max(below, key=lambda body: len(self.links[self.of(body)]))
        return self.first(self.of(largest))


def _parts(paths: Sequence[Sdf.Path], joints: Mapping[Sdf.Path, Joint], roots: Sequence[Sdf.Path]) -> _Parts:
    """What joints connect, without weak joints and those between two robots."""
    owners = [next((root for root in roots if path.HasPrefix(root)), None) for path in paths]

    def is_inside(edge: Edge) -> bool:
        return len({owners[body] for body in edge.bodies if body != WORLD} - {None}) < 2

    return _Parts(paths, [joint for joint in joints.values() if not joint.edge.weak and is_inside(joint.edge)])


def _bodies_below(root: Sdf.Path, paths: Sequence[Sdf.Path], joints: Mapping[Sdf.Path, Joint]) -> list[int]:
    """The bodies below a root prim, or those that it connects if it is a joint."""
    if root in joints:
        return [body for body in joints[root].edge.bodies if body != WORLD]
    return [body for body, path in enumerate(paths) if path.HasPrefix(root)]


def separated(joints: Mapping[Sdf.Path, Joint], robots: Sequence[Robot]) -> list[Edge]:
    """The edges of all joints; those between two robots are weak."""
    owners = {body: number for number, robot in enumerate(robots) for body in robot.links}
    return [
        replace(joint.edge, weak=True)
        if len({owners[body] for body in joint.edge.bodies if body in owners}) > 1
        else joint.edge
        for joint in joints.values()
    ]
