"""Split an actuator prim into a prim for each target, in an overlay."""

from __future__ import annotations

from pxr import Sdf, Usd

from ...specs.actuator_spec import ACTUATOR_TYPE
from .authored import targets
from .schema import TARGETS
from .shared import free_name
from .supplies import also_name
from .usd_errors import reports_usd_errors


@reports_usd_errors
def split_problem(stage: Usd.Stage, path: str) -> str:
    """Why a prim cannot be split, a subordinate clause; empty if it can."""
    prim = stage.GetPrimAtPath(path)
    if prim.IsInstanceProxy() or prim.IsInPrototype():
        return "it is part of an instance"
    if prim.GetAllChildren():
        return "it has prims below it"
    if prim.IsInstanceable():
        return "it is instanceable"
    return ""


def split(stage: Usd.Stage, path: str) -> None:
    """Keep the first target of a prim; a prim in the root layer for each other target inherits the rest from it."""
    prim, layer = stage.GetPrimAtPath(path), stage.GetRootLayer()
    first, *others = targets(prim, TARGETS)
    _target(Sdf.CreatePrimInLayer(layer, prim.GetPath()), first)
    parent = prim.GetPath().GetParentPath()
    added: list[Sdf.Path] = []
    for target in others:
        joint = target.GetPrimPath().name
        name = free_name(stage, parent, f"{joint}_{target.name}" if target.IsPropertyPath() else joint)
        spec = Sdf.CreatePrimInLayer(layer, parent.AppendChild(name))
        spec.specifier, spec.typeName = Sdf.SpecifierDef, ACTUATOR_TYPE
        spec.inheritPathList.prependedItems = [prim.GetPath()]
        _target(spec, target)
        added.append(spec.path)
    also_name(stage, prim.GetPath(), added)


def _target(spec: Sdf.PrimSpec, target: Sdf.Path) -> None:
    relationship = spec.relationships.get(TARGETS) or Sdf.RelationshipSpec(spec, TARGETS)
    relationship.targetPathList.explicitItems = [target]
