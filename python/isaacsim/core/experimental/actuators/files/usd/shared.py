"""Class prims with the values of several actuator prims, which inherit from them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from pxr import Pcp, Sdf, Usd

from .schema import is_actuator


def classes_of(prim: Usd.Prim) -> list[Sdf.Path]:
    """Paths of the prims that a prim inherits from directly."""
    return list(prim.GetInherits().GetAllDirectInherits())


def own_specs(prim: Usd.Prim) -> list[Sdf.PrimSpec]:
    """The specs of a prim itself, without those of the prims that it inherits from."""
    return [
        spec
        for node in own_nodes(prim.GetPrimIndex().rootNode)
        for layer in node.layerStack.layers
        if (spec := layer.GetPrimAtPath(node.path))
    ]


def own_nodes(node: Pcp.NodeRef) -> Iterator[Pcp.NodeRef]:
    """The sites that a prim is composed of, strongest first, without those of the prims that it inherits from."""
    yield node
    for below in node.children:
        if below.arcType != Pcp.ArcTypeInherit:
            yield from own_nodes(below)


def free_name(stage: Usd.Stage, parent: Sdf.Path, name: str) -> str:
    """The name, with a number appended if a prim below `parent` has it."""
    names = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    return next(one for one in names if not stage.GetPrimAtPath(parent.AppendChild(one)))


def drop_unused(stage: Usd.Stage, classes: Iterable[Sdf.Path]) -> None:
    """Remove class prims from which no actuator prim inherits and that are in the edit target only."""
    left = set(classes)
    if not left:
        return
    for prim in Usd.PrimRange.AllPrims(stage.GetPseudoRoot()):
        if is_actuator(prim):
            left.difference_update(classes_of(prim))
    target = stage.GetEditTarget()
    for path in left:
        prim = stage.GetPrimAtPath(path)
        if prim and prim.IsAbstract() and all(spec.layer == target.GetLayer() for spec in own_specs(prim)):
            stage.RemovePrim(path)
