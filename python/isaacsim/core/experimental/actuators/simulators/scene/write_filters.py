"""Write which bodies and shapes of a scene do not touch."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence, Set

from pxr import Sdf, Usd, UsdPhysics

from .scene import Scene, Shape
from .tree import WORLD


def write_filters(
    stage: Usd.Stage, scene: Scene, bodies: Sequence[Sdf.Path], robots: Sequence[Sdf.Path], shapes: Sequence[Sdf.Path]
) -> set[frozenset[int]]:
    """Write which bodies and shapes do not touch, and whether robots touch themselves; return the pairs of bodies.

    Pairs that a joint connects are authored with the joint.
    """
    of_body = _colliding(scene)
    apart, single = _apart(scene, of_body)
    known = _joined(scene) | _write_self_collisions(stage, scene, robots, apart, of_body.keys())
    pairs = sorted(sorted(pair) for pair in apart - known if len(pair) == 2 and pair <= of_body.keys())
    _filter(stage, [(bodies[a], bodies[b]) for a, b in pairs if a != WORLD])
    # the world is no prim: its shapes are filtered instead
    floor = [shapes[one] for one in of_body.get(WORLD, ())]
    on_floor = [bodies[b] for a, b in pairs if a == WORLD]
    _filter(stage, [*itertools.product(on_floor, floor), *((shapes[a], shapes[b]) for a, b in single)])
    return apart


def _colliding(scene: Scene) -> dict[int, list[int]]:
    """Numbers of the colliding shapes of each body."""
    found: dict[int, list[int]] = {}
    for number, shape in enumerate(scene.shapes):
        if shape.collides:
            found.setdefault(shape.body, []).append(number)
    return found


def _joined(scene: Scene) -> set[frozenset[int]]:
    """Pairs of bodies that a joint connects."""
    return {frozenset((body.parent, number)) for number, body in enumerate(scene.bodies)}


def _apart(scene: Scene, of_body: Mapping[int, Sequence[int]]) -> tuple[set[frozenset[int]], list[tuple[int, int]]]:
    """Pairs of bodies that do not touch, and pairs of shapes that do not touch while their bodies do."""
    apart = {frozenset(pair) for pair in scene.no_contact}
    single: list[tuple[int, int]] = []
    for a, b in itertools.combinations(sorted(of_body), 2):
        if frozenset((a, b)) in apart:
            continue
        pairs = [*itertools.product(of_body[a], of_body[b])]
        filtered = [pair for pair in pairs if not _touch(*(scene.shapes[one] for one in pair))]
        if len(filtered) == len(pairs):
            apart.add(frozenset((a, b)))
        else:
            single += filtered
    return apart, single


def _write_self_collisions(
    stage: Usd.Stage, scene: Scene, robots: Sequence[Sdf.Path], apart: Set[frozenset[int]], colliding: Set[int]
) -> set[frozenset[int]]:
    """Write whether robots touch themselves; return the pairs of bodies that follow from it."""
    known: set[frozenset[int]] = set()
    for path, robot in zip(robots, scene.articulations, strict=True):
        links = [body for body in robot.bodies if body in colliding]
        pairs = {frozenset(pair) for pair in itertools.combinations(links, 2)}
        is_apart = pairs <= apart
        _write_self_collision(stage.GetPrimAtPath(path), not is_apart)
        if is_apart:
            known |= pairs
    return known


def _touch(one: Shape, other: Shape) -> bool:
    return bool(one.touches[0] & other.touches[1] or other.touches[0] & one.touches[1])


def _filter(stage: Usd.Stage, pairs: Iterable[tuple[Sdf.Path, Sdf.Path]]) -> None:
    others: dict[Sdf.Path, list[Sdf.Path]] = {}
    for one, other in pairs:
        others.setdefault(one, []).append(other)
    for path, targets in others.items():
        api = UsdPhysics.FilteredPairsAPI.Apply(stage.GetPrimAtPath(path))
        api.CreateFilteredPairsRel().SetTargets(targets)


def _write_self_collision(robot: Usd.Prim, touches: bool) -> None:
    for schema, name in (
        ("NewtonArticulationRootAPI", "newton:selfCollisionEnabled"),
        ("PhysxArticulationAPI", "physxArticulation:enabledSelfCollisions"),
    ):
        robot.AddAppliedSchema(schema)
        robot.CreateAttribute(name, Sdf.ValueTypeNames.Bool).Set(touches)
