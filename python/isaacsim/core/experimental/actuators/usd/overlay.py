"""Write a layer that lies over a file and corrects it; the file itself stays as it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pxr import Sdf, Usd

from ..saving import whole_file
from ..specs.fields import parameters_of
from .axes import is_angular
from .discover import dofs_driven
from .edits import Edit, ParameterEdit, PropertyEdit
from .joint_properties import axis_of, write_properties
from .stage import open_stage
from .units import to_stage, units_of

ENDINGS = (".usda", ".usd", ".usdc")
"""Of files an overlay can be written to."""


def write_overlay(source: Path, overlay: Path, edits: Sequence[Edit]) -> None:
    """Write a layer with some edits and the file as its sublayer.

    Args:
        source: The file to be corrected.
        overlay: Where to; a file that is there is replaced.
        edits: What to say otherwise; of a parameter that two of them lower, the smaller value holds.

    Raises:
        ValueError: The overlay has no ending of USD, or is the file itself or a layer of it.
        HostError: A prim is part of an instance and cannot be edited.
        OSError: It cannot be written.
    """
    if overlay.suffix.lower() not in ENDINGS:
        raise ValueError(f"{overlay}: must end in {', '.join(ENDINGS)}. Rename it.")
    stage = open_stage(source)
    used = (layer.realPath for layer in stage.GetUsedLayers())
    if os.path.realpath(overlay) in map(os.path.realpath, filter(None, used)):
        raise ValueError(f"{overlay}: {source} is made of it, and stays as it is. Give another name.")
    layer = Sdf.Layer.CreateAnonymous(".usda")
    base = stage.GetRootLayer()
    # units, up axis and times are read from the topmost layer alone
    for name in base.pseudoRoot.ListInfoKeys():
        if name not in ("subLayers", "subLayerOffsets", "primChildren"):
            layer.pseudoRoot.SetInfo(name, base.pseudoRoot.GetInfo(name))
    layer.documentation = f"Corrections of {source.name}, written by `actuators lint --fix`."
    layer.subLayerPaths.append(os.path.abspath(source))
    corrected = Usd.Stage.Open(layer)
    for edit in edits:
        _apply(corrected, edit)
    # the stage would look for it elsewhere
    del corrected
    # a file of the same folder is named without it
    relative = os.path.relpath(os.path.realpath(source), os.path.realpath(overlay.parent))
    text = f"./{relative}" if not relative.startswith("..") else relative
    layer.subLayerPaths[0] = text.replace(os.sep, "/")
    with whole_file(overlay) as written:
        if not layer.Export(str(written)):
            raise OSError(f"{overlay}: cannot be written. Choose another place.")
    if opened := Sdf.Layer.Find(str(overlay)):
        opened.Reload(force=True)


def _apply(stage: Usd.Stage, edit: Edit) -> None:
    if isinstance(edit, PropertyEdit):
        write_properties(stage, {edit.name: np.array([edit.value])}, [(edit.joint, edit.axis)])
        return
    prim = stage.GetPrimAtPath(edit.prim)
    if isinstance(edit, ParameterEdit):
        angular = [is_angular(axis_of(stage, joint, name)) for joint, name in dofs_driven(prim)]
        value = getattr(to_stage(edit.config, units_of(stage), angular), edit.field)
        described = parameters_of(edit.config)[edit.field]
        spec = Sdf.CreatePrimInLayer(stage.GetRootLayer(), prim.GetPath())
        attribute = spec.attributes.get(described.attribute)
        if attribute is None:
            attribute = Sdf.AttributeSpec(spec, described.attribute, Sdf.ValueTypeNames.Float)
            attribute.custom = True
        elif attribute.default is not None:
            value = min(value, attribute.default)
        attribute.default = value
        return
    spec = Sdf.CreatePrimInLayer(stage.GetRootLayer(), prim.GetPath())
    applied, before = Sdf.TokenListOp(), spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else None
    applied.prependedItems = [*(before.prependedItems if before else ()), edit.instead]
    applied.deletedItems = [*(before.deletedItems if before else ()), edit.schema]
    spec.SetInfo("apiSchemas", applied)
