"""The friction of an actuator, as near as joints can have it, for readers that do not know our schema.

    newton:friction = coulomb        [N·m or N]
    newton:damping  = viscous        [N·m·s/rad or N·s/m], per degree on angular axes of a stage

newton and Isaac Lab read these attributes of the joint. Here the friction stage is the whole friction of the joint, and
replaces them while actuators are attached.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from pxr import Sdf, Usd

from ...base.errors import HostError
from ...specs.engine_friction import is_friction, portable_levels
from .joint_properties import PROPERTIES, axis_of, read_property, unlike, write_properties
from .units import units_of

_SCHEMA = "NewtonJointAPI"
_ATTRIBUTES = {"dynamic_frictions": "newton:friction", "viscous_frictions": "newton:damping"}


def write_fallback(stage: Usd.Stage, axes: Sequence[tuple[str, str]], configs: Iterable[object]) -> None:
    """Author the friction of an actuator on its joints, at the edit target; no-op without a friction stage.

    Args:
        stage: Where.
        axes: Path and axis of each joint.
        configs: Stages of the actuator, in SI.

    Warns:
        UserWarning: A stronger layer has other friction, which stays.
    """
    for friction in filter(is_friction, configs):
        coulomb, _, viscous = portable_levels(friction)
        levels = {"static_frictions": coulomb, "dynamic_frictions": coulomb, "viscous_frictions": viscous}
        for joint, axis in axes:
            if problem := _write(stage, joint, axis, levels):
                warnings.warn(
                    f"{problem} Other simulators have that friction in place of coulomb = {coulomb:g}, viscous = "
                    f"{viscous:g}.",
                    stacklevel=5,
                )


def with_friction(stage: Usd.Stage, dofs: Sequence[tuple[str, str]]) -> list[str]:
    """Names of the DOFs, given by path of the joint and name, that have friction on the stage."""
    axes = [(joint, axis_of(stage, joint, name)) for joint, name in dofs]
    rubs = np.any(
        [read_property(stage, f"{which}_frictions", axes) for which in ("static", "dynamic", "viscous")], axis=0
    )
    return [name for (_, name), has_friction in zip(dofs, rubs, strict=True) if has_friction]


def _write(stage: Usd.Stage, joint: str, axis: str, levels: Mapping[str, float]) -> str:
    """Author levels on one axis; return why they have no effect, empty if they have."""
    prim, hidden = stage.GetPrimAtPath(joint), ""
    # newton's attributes are of the whole joint
    if axis in ("angular", "linear"):
        if _SCHEMA not in prim.GetPrimTypeInfo().GetAppliedAPISchemas():
            prim.AddAppliedSchema(_SCHEMA)
        for name, attribute in _ATTRIBUTES.items():
            scaled = levels[name] * PROPERTIES[name].scale(axis, units_of(stage))
            written = prim.CreateAttribute(attribute, Sdf.ValueTypeNames.Float, custom=False)
            written.Set(scaled)
            if not np.isclose(written.Get(), scaled, rtol=1e-5, atol=1e-30):
                hidden = f"<{joint}>.{attribute} = {written.Get():g} is authored in a stronger layer."
    # what else is authored is stronger than newton's attributes
    others = unlike(stage, levels, (joint, axis))
    try:
        if others and not hidden:
            write_properties(stage, others, [(joint, axis)])
    except HostError as error:
        hidden = str(error)
    return hidden
