"""The tree of bodies: which joint carries which body, whichever of its bodies a joint names first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pxr import Sdf

WORLD = -1


@dataclass(frozen=True)
class Edge:
    """A joint between two bodies, given by their numbers.

    A `weak` joint does not change the tree of a robot. Where joints form a loop, those of lower `rank` are part of the
    tree.
    """

    path: Sdf.Path
    bodies: tuple[int, int]
    weak: bool
    rank: int

    def other(self, body: int) -> int:
        """The body at its other end."""
        return self.bodies[1] if body == self.bodies[0] else self.bodies[0]


@dataclass
class Branch:
    """A body, its parent, and the joints between the two: none for a root, several where they act in series."""

    body: int
    parent: int
    joints: list[Edge] = field(default_factory=list)


class Groups:
    """Disjoint sets of numbers."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._above = {number: number for number in numbers}

    def of(self, number: int) -> int:
        """The representative of the set that a number is in."""
        while (above := self._above[number]) != number:
            self._above[number] = number = self._above[above]
        return number

    def join(self, one: int, other: int) -> bool:
        """Merge the sets of two numbers; return True if they were two."""
        one, other = self.of(one), self.of(other)
        self._above[one] = other
        return one != other


def grow(
    count: int,
    edges: Sequence[Edge],
    roots: Sequence[int],
    owners: Sequence[int | None],
    in_series: Callable[[Sequence[Edge]], int],
) -> tuple[list[Branch], list[Edge]]:
    """Bodies with parents before children, breadth-first, and the joints that close loops.

    Joints of one body are followed in the order of their paths. `owners` has the robot that each body is a link of, or
    None; `in_series` counts how many of some joints between the same two bodies, from the first on, act in series.
    """
    # the joints in series between each two bodies, and the others between them
    between: dict[frozenset[int], list[Edge]] = {}
    for edge in edges:
        between.setdefault(frozenset(edge.bodies), []).append(edge)
    chains, parallel = list[_Chain](), list[Edge]()
    for joining in between.values():
        strong_first = sorted(joining, key=lambda edge: edge.weak)
        kept = in_series(strong_first)
        chains.append(strong_first[:kept])
        parallel += strong_first[kept:]
    groups = Groups(range(-1, count))
    carried, closing = _spanning_tree(chains, owners, groups)
    starts: dict[int, int] = {}
    for body in (WORLD, *roots, *range(count)):
        starts.setdefault(groups.of(body), body)
    branches = _breadth_first(list(starts.values()), carried)
    return [branch for branch in branches if branch.body != WORLD], sorted(
        parallel + closing, key=lambda edge: edge.path
    )


_Chain = list[Edge]


def _spanning_tree(
    chains: Iterable[_Chain], owners: Sequence[int | None], groups: Groups
) -> tuple[dict[int, list[_Chain]], list[Edge]]:
    """The chains in the tree, by body, and the joints that close loops; `groups` are the parts of the tree."""
    carried: dict[int, list[_Chain]] = {}
    closing: list[Edge] = []
    for chain in sorted(chains, key=lambda chain: (chain[0].weak, chain[0].rank, chain[0].path)):
        first = chain[0]
        # a weak joint carries only bodies of no robot
        is_loose = any(body != WORLD and owners[body] is None for body in first.bodies)
        if (first.weak and not is_loose) or not groups.join(*first.bodies):
            closing += chain
            continue
        for body in first.bodies:
            carried.setdefault(body, []).append(chain)
    return carried, closing


def _breadth_first(starts: Iterable[int], carried: dict[int, list[_Chain]]) -> list[Branch]:
    branches = [Branch(body, WORLD) for body in starts]
    seen = {branch.body for branch in branches}
    for branch in branches:
        for chain in sorted(carried.get(branch.body, []), key=lambda chain: chain[0].path):
            child = chain[0].other(branch.body)
            if child not in seen:
                seen.add(child)
                branches.append(Branch(child, branch.body, chain))
    return branches
