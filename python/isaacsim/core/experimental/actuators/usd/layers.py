"""Which layer of a stage says a value: the name of its file."""

from __future__ import annotations

from pxr import Usd

from .joint_properties import Axis, attribute_of
from .readable import readable
from .schema import opinion


@readable
def layer_of_parameter(stage: Usd.Stage, prim: str, attribute: str) -> str | None:
    """The layer that says an attribute of an actuator prim, or None where none does."""
    found = stage.GetPrimAtPath(prim).GetAttribute(attribute)
    return _name_of(found) if found and found.HasAuthoredValue() else None


@readable
def layer_of_property(stage: Usd.Stage, name: str, axis: Axis) -> str | None:
    """The layer that says a property of a joint's axis, or None where none does; see `joint_properties`."""
    found = attribute_of(stage, name, axis)
    return None if found is None else _name_of(found)


def _name_of(attribute: Usd.Attribute) -> str:
    return opinion(attribute).layer.GetDisplayName()
