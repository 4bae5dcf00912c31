"""Marks of what actuators left on their joints for programs that do not know them.

    customData = {dictionary actuatorFallback = {dictionary <axis> = {…}}}    of the joint

    values     attributes that were written, with the values
    before     what was authored for them before; nothing for those that were not authored
    replaced   those whose earlier value the same layer held
    schemas    schemas that were applied

Another actuator of the joint takes these back first, and with them nothing else: a value that was changed since stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pxr import Sdf, Usd

from .discover import dofs_driven
from .joint_properties import Axis, axis_of
from .schema import applied_schemas, is_actuator

MARK = "actuatorFallback"
"""Key in the custom data of a joint."""
# namespaces of the attributes of schemas; the others have the name of the schema
_NAMESPACES = {"NewtonJointAPI": "newton", "PhysicsDriveAPI": "drive"}


@contextmanager
def marked(stage: Usd.Stage, axis: Axis) -> Iterator[None]:
    """Mark all that the block authors on a joint at the edit target as fallback of the actuator of this axis."""
    prim = stage.GetPrimAtPath(axis[0])
    values, own, schemas = _authored(prim), _own(stage, prim), set(applied_schemas(prim))
    yield
    written = {name: value for name, value in _own(stage, prim).items() if own.get(name) != value}
    applied = [name for name in applied_schemas(prim) if name not in schemas]
    if not written and not applied:
        return
    marks = _marks(stage, prim)
    earlier = marks.get(axis[1], {})
    marks[axis[1]] = {
        "values": {**earlier.get("values", {}), **written},
        "before": {**earlier.get("before", {}), **{name: values[name] for name in written if name in values}},
        "replaced": " ".join([*earlier.get("replaced", "").split(), *(name for name in written if name in own)]),
        "schemas": " ".join([*earlier.get("schemas", "").split(), *applied]),
    }
    prim.SetCustomDataByKey(MARK, marks)


def take_back(stage: Usd.Stage, axes: Iterable[Axis], actuators: Iterable[Sdf.Path] = ()) -> None:
    """Remove the marked fallbacks of axes, and put back what was there before, at the edit target.

    Args:
        stage: Where.
        axes: Path and axis of each joint.
        actuators: Actuator prims, whose joints lose theirs too.
    """
    prims = [prim for path in actuators if (prim := stage.GetPrimAtPath(path)) and is_actuator(prim)]
    driven = [(joint, axis_of(stage, joint, name)) for prim in prims for joint, name in dofs_driven(prim)]
    for joint, axis in dict.fromkeys([*axes, *driven]):
        prim = stage.GetPrimAtPath(joint)
        mark = (prim.GetCustomDataByKey(MARK) or {}).get(axis)
        if mark:
            _take_back(stage, prim, mark)
            _drop(stage, prim, axis)


def _take_back(stage: Usd.Stage, prim: Usd.Prim, mark: Any) -> None:
    before, replaced = mark.get("before", {}), mark.get("replaced", "").split()
    own = _own(stage, prim)
    for name, value in mark.get("values", {}).items():
        attribute = prim.GetAttribute(name)
        if own.get(name) == value and name not in replaced:
            _spec(stage, prim).RemoveProperty(_spec(stage, prim).attributes[name])
        elif own.get(name, attribute.Get()) == value and name in before:
            attribute.Set(before[name])
        elif name not in own and attribute.Get() == value:
            # a weaker layer has it
            attribute.Block()
    for schema in mark.get("schemas", "").split():
        if not _is_used(prim, schema):
            _unapply(stage, prim, schema)


def _drop(stage: Usd.Stage, prim: Usd.Prim, axis: str) -> None:
    """Remove the mark of an axis from the edit target; that of a weaker layer stays, and no longer fits the values."""
    marks = _marks(stage, prim)
    if not marks.pop(axis, None):
        return
    if marks:
        prim.SetCustomDataByKey(MARK, marks)
    else:
        prim.ClearCustomDataByKey(MARK)


def _marks(stage: Usd.Stage, prim: Usd.Prim) -> dict[str, Any]:
    """The marks of a joint in the edit target, by axis."""
    spec = _spec(stage, prim)
    return {} if spec is None else dict(spec.customData.get(MARK, {}))


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
    """Return True if an attribute of an applied schema is authored."""
    name, _, instance = schema.partition(":")
    space = _NAMESPACES.get(name, name[0].lower() + name.removesuffix("API")[1:])
    prefix = f"{space}:{instance}:" if instance else f"{space}:"
    return any(one.startswith(prefix) for one in _authored(prim))


def _authored(prim: Usd.Prim) -> dict[str, Any]:
    """The authored values of a prim, of all layers, by name."""
    return {one.GetName(): one.Get() for one in prim.GetAuthoredAttributes() if one.HasAuthoredValue()}


def _own(stage: Usd.Stage, prim: Usd.Prim) -> dict[str, Any]:
    """The values of a prim in the edit target, by name."""
    spec = _spec(stage, prim)
    attributes: Collection[Any] = () if spec is None else spec.attributes
    return {one.name: one.default for one in attributes if one.default is not None}


def _spec(stage: Usd.Stage, prim: Usd.Prim) -> Any:
    """The spec of a prim in the edit target, or None."""
    target = stage.GetEditTarget()
    path = target.MapToSpecPath(prim.GetPath())
    return None if path.isEmpty else target.GetLayer().GetPrimAtPath(path)
