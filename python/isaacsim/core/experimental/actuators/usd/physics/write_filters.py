"""Which bodies and shapes of a scene do not touch, on a stage."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from pxr import Sdf, Usd, UsdPhysics

from .scene import Scene, Shape
from .tree import WORLD


def write_filters(
    stage: Usd.Stage, scene: Scene, bodies: Sequence[Sdf.Path], robots: Sequence[Sdf.Path], shapes: Sequence[Sdf.Path]
) -> set[frozenset[int]]:
    """Write which bodies and shapes do not touch, and whether robots touch themselves; return the pairs of bodies.

    Pairs that a joint connects are left to the joint.
    """
    of_body: dict[int, list[int]] = {}
    for number, shape in enumerate(scene.shapes):
        if shape.collides:
            of_body.setdefault(shape.body, []).append(number)
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
    told = {frozenset((body.parent, number)) for number, body in enumerate(scene.bodies)}
    for path, robot in zip(robots, scene.articulations, strict=True):
        pairs = {frozenset(pair) for pair in itertools.combinations([one for one in robot.bodies if one in of_body], 2)}
        touches_itself = not pairs <= apart
        _write_self_collision(stage.GetPrimAtPath(path), touches_itself)
        told |= set() if touches_itself else pairs
    # the world is no prim: its shapes are told instead
    between = [sorted(pair) for pair in apart - told if len(pair) == 2 and all(one in of_body for one in pair)]
    _filter(stage, [(bodies[a], bodies[b]) for a, b in sorted(between) if a != WORLD])
    floor = [(bodies[b], shapes[one]) for a, b in sorted(between) if a == WORLD for one in of_body[WORLD]]
    _filter(stage, [*floor, *((shapes[a], shapes[b]) for a, b in single)])
    return apart


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
