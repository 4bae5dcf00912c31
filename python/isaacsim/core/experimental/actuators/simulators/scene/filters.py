"""Pairs of bodies and of colliders that do not touch."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pxr import Sdf, Usd, UsdPhysics

from ...base.errors import UnsupportedSceneError
from ...files.usd.authored import authored
from .joints import Joint
from .parsed import Parsed
from .shapes import Bodies, Collider

Pair = tuple[int, int]

# bits of a contact mask
_BITS = 31


def read_filters(
    stage: Usd.Stage,
    parsed: Parsed,
    bodies: Bodies,
    joints: Mapping[Sdf.Path, Joint],
    robots: Mapping[str, Sequence[int]],
    colliders: Sequence[Collider],
) -> list[Pair]:
    """Pairs of bodies that do not touch; -1 is the world. Filters of single colliders go into their contact masks.

    Args:
        stage: Where they are.
        parsed: Result of USD's parser.
        bodies: The bodies.
        joints: By path; the bodies of most joints do not touch.
        robots: The links of each articulation, by its path.
        colliders: Those of all bodies.

    Raises:
        UnsupportedSceneError: Single colliders are filtered in more ways than MuJoCo has bits for.
    """
    members = _Members(colliders, bodies, robots)

    def bodies_of(pair: Pair) -> Pair:
        return _pair(*(colliders[number].shape.body for number in pair))

    apart = {*_grouped_apart(stage, parsed, colliders), *_filtered_apart(parsed, members)}
    counts = Counter(map(bodies_of, apart))
    whole = {pair for pair, count in counts.items() if count == math.prod(len(members.of_body[body]) for body in pair)}
    pairs = _joined(parsed, joints) | _of_robots(stage, robots) | whole
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
    members: dict[Sdf.Path, list[int]] = {}
    for number, collider in enumerate(colliders):
        for group in parsed.shapes[collider.path].collisionGroups:
            members.setdefault(group, []).append(number)
    if not members:
        return
    # USD's parser reports every group as inverted
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(stage)
    for one, other in itertools.combinations_with_replacement(members, 2):
        if not table.IsCollisionEnabled(one, other):
            yield from (_pair(a, b) for a, b in itertools.product(members[one], members[other]) if a != b)
