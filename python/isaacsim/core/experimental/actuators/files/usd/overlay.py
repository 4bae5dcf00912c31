"""Write an overlay, a layer that corrects a file without changing it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pxr import Sdf, Usd

from ...base.saving import whole_file
from ...specs.config import Config
from ...specs.fields import parameters_of
from ...specs.transmission import TransmissionConfig, as_stored
from .author import write_attribute, write_configs
from .axes import is_angular
from .discover import dofs_driven
from .edits import Edit, ParameterEdit, PropertyEdit, SchemaEdit, SplitEdit, StandInEdit
from .joint_properties import axis_of, write_properties
from .schema import applied_schemas, attributes_of, attributes_on, earlier_schemas
from .split import split
from .stage import open_stage
from .supplies import holder_of
from .units import to_stage, units_of

ENDINGS = (".usda", ".usd", ".usdc")
"""Endings of overlays."""


def write_overlay(source: Path, overlay: Path, edits: Sequence[Edit]) -> None:
    """Write a layer with some edits and the file as its sublayer.

    Args:
        source: The file to be corrected.
        overlay: File to write; an existing one is replaced.
        edits: The corrections; of two that lower a parameter, the smaller value applies.

    Raises:
        ValueError: The overlay has no ending of USD, or is the file itself or a layer of it.
        HostError: A prim is part of an instance and cannot be edited.
        OSError: The overlay cannot be written.
    """
    stage = require_overlay(source, overlay)
    layer = empty_overlay(stage, f"Corrections of {source.name}, written by `actuators lint --fix`.")
    layer.subLayerPaths.append(os.path.abspath(source))
    corrected = Usd.Stage.Open(layer)
    for edit in edits:
        _apply(corrected, edit)
    # the stage would resolve a relative path elsewhere
    del corrected
    export_overlay(layer, source, overlay)


def require_overlay(source: Path, overlay: Path) -> Usd.Stage:
    """Return the stage of a file that gets an overlay.

    Raises:
        ValueError: The overlay has no ending of USD, or is the file itself or a layer of it.
    """
    if overlay.suffix.lower() not in ENDINGS:
        raise ValueError(f"{overlay}: must end in {', '.join(ENDINGS)}. Rename it.")
    stage = open_stage(source)
    used = (layer.realPath for layer in stage.GetUsedLayers())
    if os.path.realpath(overlay) in map(os.path.realpath, filter(None, used)):
        raise ValueError(f"{overlay}: {source} is made of it, and stays as it is. Give another name.")
    return stage


def empty_overlay(stage: Usd.Stage, words: str) -> Sdf.Layer:
    """Return a layer in memory with the units and the default prim of a stage, without sublayers.

    Args:
        stage: The stage that the layer will lie over.
        words: Documentation of the layer.
    """
    layer = Sdf.Layer.CreateAnonymous(".usda")
    base = stage.GetRootLayer()
    # units, up axis and times are read from the root layer only
    for name in base.pseudoRoot.ListInfoKeys():
        if name not in ("subLayers", "subLayerOffsets", "primChildren"):
            layer.pseudoRoot.SetInfo(name, base.pseudoRoot.GetInfo(name))
    layer.documentation = words
    return layer


def export_overlay(layer: Sdf.Layer, source: Path, overlay: Path) -> None:
    """Write a layer with a file as its only sublayer, by a path relative to the overlay.

    Raises:
        OSError: The overlay cannot be written.
    """
    relative = os.path.relpath(os.path.realpath(source), os.path.realpath(overlay.parent))
    text = f"./{relative}" if not relative.startswith("..") else relative
    layer.subLayerPaths[:] = [text.replace(os.sep, "/")]
    with whole_file(overlay) as written:
        if not layer.Export(str(written)):
            raise OSError(f"{overlay}: cannot be written. Choose another place.")
    if opened := Sdf.Layer.Find(str(overlay)):
        opened.Reload(force=True)


def _apply(stage: Usd.Stage, edit: Edit) -> None:
    match edit:
        case PropertyEdit():
            write_properties(stage, {edit.name: np.array([edit.value])}, [(edit.joint, edit.axis)])
        case ParameterEdit():
            _apply_parameter(stage, edit)
        case SchemaEdit():
            _apply_schema(stage, edit)
        case SplitEdit():
            split(stage, edit.prim)
        case StandInEdit():
            _apply_stand_ins(stage, edit)


def _apply_parameter(stage: Usd.Stage, edit: ParameterEdit) -> None:
    prim = stage.GetPrimAtPath(edit.prim)
    config, described = _stored(prim, _on_stage(stage, prim, edit.config)), parameters_of(edit.config)[edit.field]
    prim = holder_of(prim, type(edit.config))
    value, name = getattr(config, edit.field), attributes_on(prim, type(edit.config))[edit.field]
    spec = Sdf.CreatePrimInLayer(stage.GetRootLayer(), prim.GetPath())
    attribute = spec.attributes.get(name)
    if attribute is not None and attribute.default is not None:
        value = min(value, attribute.default)
    write_attribute(spec, name, described, value)


def _stored(prim: Usd.Prim, config: Config) -> Config:
    """A config with the values that a prim has: newton's at the joint, where it has a transmission."""
    if TransmissionConfig.SCHEMA not in applied_schemas(prim):
        return config
    ratio = prim.GetAttribute(attributes_of(TransmissionConfig)["ratio"]).Get()
    return as_stored(config, ratio, attributes_on(prim, type(config))) if ratio else config


def _apply_schema(stage: Usd.Stage, edit: SchemaEdit) -> None:
    spec = Sdf.CreatePrimInLayer(stage.GetRootLayer(), edit.prim)
    # all schemas are written: other readers apply limits in this order
    names = [edit.instead if name == edit.schema else name for name in applied_schemas(stage.GetPrimAtPath(edit.prim))]
    _write_schemas(spec, list(dict.fromkeys(names)), [*_deleted_schemas(spec), edit.schema])


def _deleted_schemas(spec: Sdf.PrimSpec) -> list[str]:
    """Schemas of weaker layers that a spec deletes."""
    return list(spec.GetInfo("apiSchemas").deletedItems) if spec.HasInfo("apiSchemas") else []


def _write_schemas(spec: Sdf.PrimSpec, names: Sequence[str], deleted: Sequence[str]) -> None:
    gone = [name for name in dict.fromkeys(deleted) if name not in names]
    spec.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=list(names), deletedItems=gone))


def _apply_stand_ins(stage: Usd.Stage, edit: StandInEdit) -> None:
    prim = stage.GetPrimAtPath(edit.prim)
    configs = [_on_stage(stage, prim, config) for config in _applied(prim, edit.configs)]
    # older files hold values under the attributes of the stand-in: they are written under their own names
    stored = {type(config): attributes_on(prim, type(config)) for config in configs}
    moved = [config for config in configs if stored[type(config)] != attributes_of(type(config))]
    spec = Sdf.CreatePrimInLayer(stage.GetRootLayer(), prim.GetPath())
    deleted = [*_deleted_schemas(spec), *(earlier for earlier, _ in earlier_schemas(prim))]
    write_configs(spec, configs, moved)
    _write_schemas(spec, spec.GetInfo("apiSchemas").prependedItems, deleted)
    for name in {name for config in moved for name in stored[type(config)].values()}.difference(spec.attributes.keys()):
        Sdf.AttributeSpec(spec, name, Sdf.ValueTypeNames.Float).default = Sdf.ValueBlock()


def _applied(prim: Usd.Prim, configs: Sequence[Config]) -> list[Config]:
    """The configs whose schemas are on the prim itself; a supply may be a prim of its own."""
    return [config for config in configs if holder_of(prim, type(config)) == prim]


def _on_stage(stage: Usd.Stage, prim: Usd.Prim, config: Config) -> Config:
    """A config of a prim with its numbers in the units of the stage."""
    angular = [is_angular(axis_of(stage, joint, name)) for joint, name in dofs_driven(prim)]
    return to_stage(config, units_of(stage), angular)
