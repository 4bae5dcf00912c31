"""Marks on joints of the values that actuators author there for programs that do not know them, as fallbacks.

    customData = {dictionary actuatorFallback = {dictionary <axis> = {…}}}    of the joint

    values     attributes that were written, with the values
    before     what was authored for them before; nothing for those that were not authored
    replaced   those whose earlier value the same layer held
    schemas    schemas that were applied

Authoring another actuator of the joint takes exactly these back first; a value that was changed since stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pxr import Sdf, Usd

from .discover import dofs_driven
from .joint_properties import Axis, axis_of
from .schema import applied_schemas, is_actuator

_UNITS = "metersPerUnit", "kilogramsPerUnit"
MARK = "actuatorFallback"
"""Key in the custom data of a joint."""


@contextmanager
def marked(stage: Usd.Stage, axis: Axis) -> Iterator[None]:
    """Mark what a `with` block authors on a joint, at the edit target, as fallback of the actuator of an axis."""
    prim = stage.GetPrimAtPath(axis[0])
    values, own, schemas = _authored(prim), _own(stage, prim), applied_schemas(prim)
    yield
    written = {name: value for name, value in _own(stage, prim).items() if own.get(name) != value}
    applied = [name for name in applied_schemas(prim) if name not in schemas]
    if written or applied:
        mark = {
            "values": written,
            "before": {name: values[name] for name in written if name in values},
            "replaced": " ".join(filter(own.__contains__, written)),
            "schemas": " ".join(applied),
        }
        prim.SetCustomDataByKey(_key(axis), mark)


def take_back(stage: Usd.Stage, axes: Iterable[Axis], actuators: Iterable[Sdf.Path] = ()) -> None:
    """Remove the marked fallbacks of axes, and put back what was there before, at the edit target.

    Args:
        stage: Where.
        axes: Path and axis of each joint.
        actuators: Actuator prims, whose joints lose theirs too.
    """
    prims = [prim for path in actuators if (prim := stage.GetPrimAtPath(path)) and is_actuator(prim)]
    driven = [(joint, axis_of(stage, joint, name)) for prim in prims for joint, name in dofs_driven(prim)]
    for axis in dict.fromkeys([*axes, *driven]):
        if mark := _mark(stage, axis):
            prim = stage.GetPrimAtPath(axis[0])
            _take_back(stage, prim, mark)
            # the mark of a weaker layer stays, and no longer fits the values
            prim.ClearCustomDataByKey(_key(axis))


def without_fallbacks(stage: Usd.Stage, axes: Iterable[Axis]) -> Usd.Stage:
    """Return a stage to read from, without the marked fallbacks of axes: the stage itself where there are none."""
    # instances have no values of their own
    found = [axis for axis in axes if _mark(stage, axis) and not stage.GetPrimAtPath(axis[0]).IsInstanceProxy()]
    if not found:
        return stage
    layer = Sdf.Layer.CreateAnonymous()
    for one in filter(None, (stage.GetSessionLayer(), stage.GetRootLayer())):
        layer.subLayerPaths.append(one.identifier)
    over = Usd.Stage.Open(layer)
    # those of layers below the root are not the stage's
    for name in filter(stage.HasAuthoredMetadata, _UNITS):
        over.SetMetadata(name, stage.GetMetadata(name))
    take_back(over, found)
    return over


def is_marked(stage: Usd.Stage, axis: Axis) -> bool:
    """Return True if an axis has marked fallbacks; files of version 0.9 and before have no marks."""
    return bool(_mark(stage, axis))


def _key(axis: Axis) -> str:
    return f"{MARK}:{axis[1]}"


def _mark(stage: Usd.Stage, axis: Axis) -> dict[str, Any]:
    return stage.GetPrimAtPath(axis[0]).GetCustomDataByKey(_key(axis)) or {}


def _take_back(stage: Usd.Stage, prim: Usd.Prim, mark: dict[str, Any]) -> None:
    before, replaced, own = mark.get("before", {}), mark.get("replaced", "").split(), _own(stage, prim)
    for name, value in mark.get("values", {}).items():
        attribute = prim.GetAttribute(name)
        if own.get(name, attribute.Get()) != value:
            # changed since
            continue
        if name in own and name not in replaced:
            spec = _spec(stage, prim)
            spec.RemoveProperty(spec.attributes[name])
        elif name in before:
            attribute.Set(before[name])
        else:
            # a weaker layer has it
            attribute.Block()
    for schema in mark.get("schemas", "").split():
        if not _is_used(prim, schema):
            _unapply(stage, prim, schema)


def _unapply(stage: Usd.Stage, prim: Usd.Prim, schema: str) -> None:
    """Remove an applied schema; of one that the edit target has, no deletion is left behind."""
    spec = _spec(stage, prim)
    if spec is not None and schema in (listed := spec.GetInfo("apiSchemas")).prependedItems:
        listed.prependedItems = [name for name in listed.prependedItems if name != schema]
        if listed == Sdf.TokenListOp():
            spec.ClearInfo("apiSchemas")
        else:
            spec.SetInfo("apiSchemas", listed)
    if schema in applied_schemas(prim):
        prim.RemoveAppliedSchema(schema)


def _is_used(prim: Usd.Prim, schema: str) -> bool:
    """Return True if an attribute of an applied schema is authored: `physxJointAxis:angular:…`."""
    name, _, instance = schema.partition(":")
    space = "newton" if name == "NewtonJointAPI" else name[0].lower() + name.removesuffix("API")[1:]
    prefix = f"{space}:{instance}:" if instance else f"{space}:"
    return any(one.startswith(prefix) for one in _authored(prim))


def _authored(prim: Usd.Prim) -> dict[str, object]:
    """Authored values of a prim, of all layers, by name."""
    return {one.GetName(): one.Get() for one in prim.GetAuthoredAttributes() if one.HasAuthoredValue()}


def _own(stage: Usd.Stage, prim: Usd.Prim) -> dict[str, object]:
    """Values of a prim in the edit target, by name."""
    attributes = getattr(_spec(stage, prim), "attributes", ())
    return {one.name: one.default for one in attributes if one.default is not None}


def _spec(stage: Usd.Stage, prim: Usd.Prim) -> Any:
    """Spec of a prim in the edit target, or None."""
    target = stage.GetEditTarget()
    path = target.MapToSpecPath(prim.GetPath())
    return None if path.isEmpty else target.GetLayer().GetPrimAtPath(path)
