"""Which bodies, and which of their colliders, do not touch each other."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pxr import Sdf, Usd, UsdPhysics

from ...errors import UnsupportedSceneError
from ..authored import authored
from .joints import Joint
from .parsed import Parsed
from .shapes import Bodies, Collider

Pair = tuple[int, int]

# of the bits that say what touches what
_BITS = 31


def read_filters(
    stage: Usd.Stage,
    parsed: Parsed,
    bodies: Bodies,
    joints: Mapping[Sdf.Path, Joint],
    robots: Mapping[str, Sequence[int]],
    colliders: Sequence[Collider],
) -> list[Pair]:
    """Pairs of bodies that do not touch; -1 is the world.

    Args:
        stage: Where they are.
        parsed: What USD's parser found.
        bodies: The bodies.
        joints: By path; most keep their bodies from touching.
        robots: The links of each articulation, by its path.
        colliders: Of all of them.

    Raises:
        UnsupportedSceneError: Single colliders are filtered in more ways than MuJoCo has bits for.
    """
    ends = {path: joint.edge.bodies for path, joint in joints.items() if path in parsed.joints}
    pairs = {_pair(*end) for path, end in ends.items() if not parsed.joints[path][1].collisionEnabled}
    for path, links in robots.items():
        if not _touches_itself(stage.GetPrimAtPath(path)):
            pairs |= {_pair(*pair) for pair in itertools.combinations(links, 2)}
    at = {collider.path: number for number, collider in enumerate(colliders)}
    of_body: dict[int, set[int]] = {}
    for number, collider in enumerate(colliders):
        of_body.setdefault(collider.shape.body, set()).add(number)

    def members(path: Sdf.Path) -> set[int]:
        """Numbers of the colliders at a prim: itself, those of a body, or those of all links of a robot."""
        if path in at:
            return {at[path]}
        if path in bodies.numbers:
            return of_body.get(bodies.numbers[path], set())
        if (links := robots.get(str(path))) is not None:
            return set().union(*(of_body.get(link, set()) for link in links))
        return {number for there, number in at.items() if there.HasPrefix(path)}

    apart = set(_grouped_apart(stage, parsed, colliders))
    for path, one in _filtering(parsed):
        for other in one.filteredCollisions:
            apart |= {_pair(*pair) for pair in itertools.product(members(path), members(other))}
    counts = Counter(_pair(colliders[a].shape.body, colliders[b].shape.body) for a, b in apart)
    whole = {pair for pair, count in counts.items() if count == math.prod(len(of_body[body]) for body in pair)}
    pairs |= {pair for pair in whole if pair[0] != pair[1]}
    rest = [(a, b) for a, b in apart if _pair(colliders[a].shape.body, colliders[b].shape.body) not in pairs]
    _set_bits(colliders, [(a, b) for a, b in rest if colliders[a].shape.body != colliders[b].shape.body])
    return sorted((a, b) for a, b in pairs if a != b)


def _set_bits(colliders: Sequence[Collider], apart: Iterable[Pair]) -> None:
    """Keep single colliders apart by MuJoCo's bits: those that touch the same others share one."""
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


def _filtering(parsed: Parsed) -> Iterable[tuple[Sdf.Path, Any]]:
    for kind in (parsed.shapes, parsed.bodies, parsed.articulations):
        for path, one in kind.items():
            if one.filteredCollisions:
                yield path, one


def _touches_itself(robot: Usd.Prim) -> bool:
    """Whether links of a robot may touch each other."""
    for name in ("newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions"):
        if (value := authored(robot, name)) is not None:
            return bool(value)
    return True


def _grouped_apart(stage: Usd.Stage, parsed: Parsed, colliders: Sequence[Collider]) -> Iterable[Pair]:
    """Pairs of colliders whose groups are filtered from each other."""
    members: dict[Sdf.Path, list[int]] = {}
    for number, collider in enumerate(colliders):
        for group in parsed.shapes[collider.path].collisionGroups:
            members.setdefault(group, []).append(number)
    if not members:
        return
    # the parser's own word on what is inverted is always yes
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(stage)
    for one, other in itertools.combinations_with_replacement(members, 2):
        if not table.IsCollisionEnabled(one, other):
            yield from (_pair(a, b) for a, b in itertools.product(members[one], members[other]) if a != b)
