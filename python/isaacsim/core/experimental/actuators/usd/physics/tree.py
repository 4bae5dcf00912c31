"""Which joint carries which body: a tree out of joints that any prim may have authored, either way round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pxr import Sdf

WORLD = -1


@dataclass(frozen=True)
class Edge:
    """A joint between two bodies, by their numbers.

    `weak` is one that robots do without: their tree is the same whether it is there or not. The lower `rank`, the
    rather the joint is part of the tree where there is a loop.
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
    """A body, what carries it, and the joints between the two: none for a root, several where all of them connect."""

    body: int
    parent: int
    joints: list[Edge] = field(default_factory=list)


class Groups:
    """Numbers that belong together, by what connects them."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._above = {number: number for number in numbers}

    def of(self, number: int) -> int:
        """The number that stands for those this one belongs to."""
        while (above := self._above[number]) != number:
            self._above[number] = number = self._above[above]
        return number

    def join(self, one: int, other: int) -> bool:
        """Put two together; whether they were apart."""
        one, other = self.of(one), self.of(other)
        self._above[one] = other
        return one != other


def grow(
    count: int,
    edges: Sequence[Edge],
    roots: Sequence[int],
    owners: Sequence[int | None],
    together: Callable[[Sequence[Edge]], int],
) -> tuple[list[Branch], list[Edge]]:
    """Return bodies with parents before children, breadth-first, and the joints that close loops.

    Args:
        count: Number of bodies.
        edges: The joints; those of one body are followed in the order of their paths.
        roots: Bodies that stand for their robots.
        owners: Of each body the robot that it is a link of, or None.
        together: How many of some joints between the same two bodies, from the first on, are one behind the other.
    """
    groups = Groups(range(-1, count))
    bundles: dict[frozenset[int], list[Edge]] = {}
    for edge in edges:
        bundles.setdefault(frozenset(edge.bodies), []).append(edge)
    loops: list[Edge] = []
    chains: list[list[Edge]] = []
    for bundle in bundles.values():
        strong = sorted(bundle, key=lambda edge: edge.weak)
        kept = together(strong)
        chains.append(strong[:kept])
        loops += strong[kept:]
    carried: dict[int, list[list[Edge]]] = {}
    for chain in sorted(chains, key=lambda chain: (chain[0].weak, chain[0].rank, chain[0].path)):
        first = chain[0]
        # a weak joint carries what no robot owns
        if (first.weak and not _loose(first, owners)) or not groups.join(*first.bodies):
            loops += chain
            continue
        for body in first.bodies:
            carried.setdefault(body, []).append(chain)
    at_world = groups.of(WORLD)
    starts = [body for body in roots if groups.of(body) != at_world]
    starts += [body for body in range(count) if groups.of(body) != at_world]
    branches: list[Branch] = []
    seen: set[int] = {WORLD}
    started: set[int] = set()
    queue = [Branch(WORLD, WORLD)]
    for body in starts:
        if (group := groups.of(body)) not in started:
            started.add(group)
            seen.add(body)
            queue.append(Branch(body, WORLD))
    for branch in queue:
        for chain in sorted(carried.get(branch.body, []), key=lambda chain: chain[0].path):
            child = chain[0].other(branch.body)
            if child not in seen:
                seen.add(child)
                queue.append(Branch(child, branch.body, chain))
    branches = [branch for branch in queue if branch.body != WORLD]
    return branches, sorted(loops, key=lambda edge: edge.path)


def _loose(edge: Edge, owners: Sequence[int | None]) -> bool:
    """Whether a joint carries a body that no robot owns."""
    return any(body != WORLD and owners[body] is None for body in edge.bodies)
