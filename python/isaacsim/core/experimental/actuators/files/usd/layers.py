"""The layer of a stage that holds a value, by the name of its file."""

from __future__ import annotations

from pxr import Usd

from .joint_properties import Axis, attribute_of
from .schema import opinion
from .usd_errors import reports_usd_errors


@reports_usd_errors
def layer_of_parameter(stage: Usd.Stage, prim: str, attribute: str) -> str | None:
    """The layer that holds an attribute of an actuator prim; None for none."""
    found = stage.GetPrimAtPath(prim).GetAttribute(attribute)
    return _name_of(found) if found and found.HasAuthoredValue() else None


@reports_usd_errors
def layer_of_property(stage: Usd.Stage, name: str, axis: Axis) -> str | None:
    """The layer that holds a property of a joint's axis, see `joint_properties`; None for none."""
    found = attribute_of(stage, name, axis)
    return None if found is None else _name_of(found)


def _name_of(attribute: Usd.Attribute) -> str:
    return opinion(attribute).layer.GetDisplayName()
