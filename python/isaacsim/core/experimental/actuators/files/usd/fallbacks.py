"""Fallbacks: what actuators author on their joints for programs that do not know their schemas.

    newton:friction = coulomb        [N·m or N]                         of newton and Isaac Lab
    newton:damping  = viscous        [N·m·s/rad or N·s/m], per degree on angular axes of a stage

    physxDrivePerformanceEnvelope:<axis>:velocityDependentResistance, maxActuatorVelocity, speedEffortGradient
    drive:<axis>:physics:maxForce    effort at rest

The friction stage is the whole friction of the joint, and replaces newton's attributes while actuators are attached.
PhysX limits drives by envelopes where no actuator drives the joint; an actuator computes its own limit, and silences
the drive. Only drives have an envelope, and only those that `EnvelopeClampingConfig.to_physx` can say; `lint` names
others.

Marks on the joints keep what was there before:

    customData = {dictionary actuatorFallback = {dictionary <axis> = {…}}}    of the joint

    values     attributes that were written, with the values
    before     what was authored for them before; nothing for those that were not authored
    replaced   those whose earlier value the same layer held
    schemas    schemas that were applied

Authoring another actuator of the joint takes exactly these back first; a value that was changed since stays.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from pxr import Sdf, Usd

from ...base.errors import HostError
from ...specs.configs import Config, EnvelopeClampingConfig
from ...specs.engine_friction import is_friction, portable_levels
from ...specs.envelope import physx_limits
from ...specs.transmission import at_joint, transmission_among
from .articulation import every_prim
from .discover import dofs_driven
from .joint_properties import PROPERTIES, Axis, authored, axis_of, envelopes, read_property, unlike, write_properties
from .schema import applied_schemas, is_actuator
from .units import units_of

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

    The joints of `actuators`, prims, lose theirs too.
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
    return {one.GetName(): one.Get() for one in prim.GetAuthoredAttributes() if one.HasAuthoredValue()}


def _own(stage: Usd.Stage, prim: Usd.Prim) -> dict[str, object]:
    attributes = getattr(_spec(stage, prim), "attributes", ())
    return {one.name: one.default for one in attributes if one.default is not None}


def _spec(stage: Usd.Stage, prim: Usd.Prim) -> Any:
    target = stage.GetEditTarget()
    path = target.MapToSpecPath(prim.GetPath())
    return None if path.isEmpty else target.GetLayer().GetPrimAtPath(path)


_SCHEMA = "NewtonJointAPI"
_ATTRIBUTES = {"dynamic_frictions": "newton:friction", "viscous_frictions": "newton:damping"}


def write_fallback(stage: Usd.Stage, axes: Sequence[tuple[str, str]], configs: Iterable[object]) -> None:
    """Author the friction of an actuator on its joints, at the edit target; no-op without a friction stage.

    Configs are in SI. A warning says that a stronger layer has other friction, which stays.
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


_NAMES = ("max_efforts", "velocity_dependent_resistances", "max_actuator_velocities", "speed_effort_gradients")


def write_envelope(stage: Usd.Stage, axes: Sequence[Axis], configs: Sequence[Config]) -> None:
    """Author the envelope of an actuator on the drives of its joints, at the edit target; no-op without either.

    Configs are in SI. A warning says that a stronger layer has another envelope, which stays.
    """
    limits = _limits(configs)
    if limits is None:
        return
    for axis in axes:
        gains = [authored(stage, name, [axis])[0] for name in ("stiffnesses", "dampings")]
        if not any(gain > 0.0 for gain in gains):
            continue
        try:
            write_properties(stage, unlike(stage, dict(zip(_NAMES, limits, strict=True)), axis), [axis])
        except HostError as error:
            warnings.warn(f"{error} Drives of PhysX have that envelope in place of that of the actuator.", stacklevel=5)


def drives_without_actuator(stage: Usd.Stage, axes: Sequence[Axis]) -> list[str]:
    """One message per drive with a performance envelope that neither MuJoCo nor an actuator of the joint has."""
    if not envelopes(stage, axes):
        return []
    computed = {
        (joint, axis_of(stage, joint, name))
        for prim in every_prim(stage.GetPseudoRoot())
        if is_actuator(prim) and EnvelopeClampingConfig.SCHEMA in applied_schemas(prim)
        for joint, name in dofs_driven(prim)
    }
    return envelopes(stage, [axis for axis in axes if tuple(axis) not in computed])


def _limits(configs: Sequence[Config]) -> tuple[float, float, float, float] | None:
    """Return the numbers of `to_physx` at the joint; None without an envelope, or without one that PhysX has."""
    found = next((one for one in configs if isinstance(one, EnvelopeClampingConfig)), None)
    if found is None:
        return None
    gear = transmission_among(configs)
    return physx_limits(found if gear is None else at_joint(found, gear.ratio))
