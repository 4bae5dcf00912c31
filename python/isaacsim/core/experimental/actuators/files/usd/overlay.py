"""Overlays: layers that correct a file or replace its motors without changing it, and layers that a robot is given."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from pxr import Pcp, Sdf, Usd

from ...base.saving import whole_file
from ...specs.actuator_spec import ACTUATOR_TYPE
from ...specs.config import Config
from ...specs.fields import parameters_of
from ...specs.transmission import TransmissionConfig, as_stored
from .articulation import articulation_roots, every_prim
from .author import joints_to_drive, write_attribute, write_configs
from .authored import targets
from .axes import is_angular
from .discover import dofs_driven
from .edits import Edit, ParameterEdit, PropertyEdit, SchemaEdit, SplitEdit, StandInEdit
from .joint_properties import axis_of, write_properties
from .schema import TARGETS, applied_schemas, attributes_of, attributes_on, earlier_schemas, is_actuator
from .shared import free_name, own_nodes
from .stage import open_stage
from .supplies import ACTUATORS, also_name, holder_of, supply_prims
from .units import to_stage, units_of
from .usd_errors import reports_usd_errors

ENDINGS = (".usda", ".usd", ".usdc")
"""Endings of overlays."""


def write_overlay(source: Path, overlay: Path, edits: Sequence[Edit]) -> None:
    """Write a layer with some edits and the file as its sublayer; it replaces an existing file.

    Of two edits that lower a parameter, the smaller value applies. A `HostError` names a prim that is part of an
    instance and cannot be edited; other errors are those of `require_overlay` and `export_overlay`.
    """
    stage = require_overlay(source, overlay)
    layer = empty_overlay(stage, f"Corrections of {source.name}, written by `actuators lint --fix`.")
    layer.subLayerPaths.append(os.path.abspath(source))
    corrected = Usd.Stage.Open(layer)
    for edit in edits:
        match edit:
            case PropertyEdit():
                write_properties(corrected, {edit.name: np.array([edit.value])}, [(edit.joint, edit.axis)])
            case ParameterEdit():
                _apply_parameter(corrected, edit)
            case SchemaEdit():
                spec = Sdf.CreatePrimInLayer(corrected.GetRootLayer(), edit.prim)
                applied = applied_schemas(corrected.GetPrimAtPath(edit.prim))
                # all schemas are written: other readers apply limits in this order
                names = [edit.instead if name == edit.schema else name for name in applied]
                _write_schemas(spec, list(dict.fromkeys(names)), [*_deleted_schemas(spec), edit.schema])
            case SplitEdit():
                split(corrected, edit.prim)
            case StandInEdit():
                _apply_stand_ins(corrected, edit)
    # the stage would resolve a relative path elsewhere
    del corrected
    export_overlay(layer, source, overlay)


def require_overlay(source: Path, overlay: Path) -> Usd.Stage:
    """The stage of a file that gets an overlay.

    A `ValueError` says that the overlay has no ending of USD, or is the file itself or a layer of it.
    """
    if overlay.suffix.lower() not in ENDINGS:
        raise ValueError(f"{overlay}: must end in {', '.join(ENDINGS)}. Rename it.")
    stage = open_stage(source)
    used = (layer.realPath for layer in stage.GetUsedLayers())
    if os.path.realpath(overlay) in map(os.path.realpath, filter(None, used)):
        raise ValueError(f"{overlay}: {source} is made of it, and stays as it is. Give another name.")
    return stage


def empty_overlay(stage: Usd.Stage, words: str) -> Sdf.Layer:
    """A layer in memory with the units and default prim of the stage that it will lie over, without sublayers."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    base = stage.GetRootLayer()
    # units, up axis and times are read from the root layer only
    for name in base.pseudoRoot.ListInfoKeys():
        if name not in ("subLayers", "subLayerOffsets", "primChildren"):
            layer.pseudoRoot.SetInfo(name, base.pseudoRoot.GetInfo(name))
    layer.documentation = words
    return layer


def export_overlay(layer: Sdf.Layer, source: Path, overlay: Path) -> None:
    """Write a layer with a file as its only sublayer, by a path relative to the overlay; an `OSError` if it cannot."""
    relative = os.path.relpath(os.path.realpath(source), os.path.realpath(overlay.parent))
    text = f"./{relative}" if not relative.startswith("..") else relative
    layer.subLayerPaths[:] = [text.replace(os.sep, "/")]
    with whole_file(overlay) as written:
        if not layer.Export(str(written)):
            raise OSError(f"{overlay}: cannot be written. Choose another place.")
    if opened := Sdf.Layer.Find(str(overlay)):
        opened.Reload(force=True)


def _apply_parameter(stage: Usd.Stage, edit: ParameterEdit) -> None:
    prim = stage.GetPrimAtPath(edit.prim)
    config, described = _on_stage(stage, prim, edit.config), parameters_of(edit.config)[edit.field]
    if TransmissionConfig.SCHEMA in applied_schemas(prim):
        # a prim has newton's values at the joint
        ratio = prim.GetAttribute(attributes_of(TransmissionConfig)["ratio"]).Get()
        config = as_stored(config, ratio, attributes_on(prim, type(config))) if ratio else config
    prim = holder_of(prim, type(edit.config))
    value, name = getattr(config, edit.field), attributes_on(prim, type(edit.config))[edit.field]
    spec = Sdf.CreatePrimInLayer(stage.GetRootLayer(), prim.GetPath())
    attribute = spec.attributes.get(name)
    if attribute is not None and attribute.default is not None:
        value = min(value, attribute.default)
    write_attribute(spec, name, described, value)


def _deleted_schemas(spec: Sdf.PrimSpec) -> list[str]:
    return list(spec.GetInfo("apiSchemas").deletedItems) if spec.HasInfo("apiSchemas") else []


def _write_schemas(spec: Sdf.PrimSpec, names: Sequence[str], deleted: Sequence[str]) -> None:
    gone = [name for name in dict.fromkeys(deleted) if name not in names]
    spec.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=list(names), deletedItems=gone))


def _apply_stand_ins(stage: Usd.Stage, edit: StandInEdit) -> None:
    prim = stage.GetPrimAtPath(edit.prim)
    # a supply may be a prim of its own
    configs = [_on_stage(stage, prim, config) for config in edit.configs if holder_of(prim, type(config)) == prim]
    # older files hold values under the attributes of the stand-in: they are written under their own names
    stored = {type(config): attributes_on(prim, type(config)) for config in configs}
    moved = [config for config in configs if stored[type(config)] != attributes_of(type(config))]
    spec = Sdf.CreatePrimInLayer(stage.GetRootLayer(), prim.GetPath())
    deleted = [*_deleted_schemas(spec), *(earlier for earlier, _ in earlier_schemas(prim))]
    write_configs(spec, configs, moved)
    _write_schemas(spec, spec.GetInfo("apiSchemas").prependedItems, deleted)
    for name in {name for config in moved for name in stored[type(config)].values()}.difference(spec.attributes.keys()):
        Sdf.AttributeSpec(spec, name, Sdf.ValueTypeNames.Float).default = Sdf.ValueBlock()


def _on_stage(stage: Usd.Stage, prim: Usd.Prim, config: Config) -> Config:
    angular = [is_angular(axis_of(stage, joint, name)) for joint, name in dofs_driven(prim)]
    return to_stage(config, units_of(stage), angular)


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
    _keep_target(Sdf.CreatePrimInLayer(layer, prim.GetPath()), first)
    parent = prim.GetPath().GetParentPath()
    added: list[Sdf.Path] = []
    for target in others:
        joint = target.GetPrimPath().name
        name = free_name(stage, parent, f"{joint}_{target.name}" if target.IsPropertyPath() else joint)
        spec = Sdf.CreatePrimInLayer(layer, parent.AppendChild(name))
        spec.specifier, spec.typeName = Sdf.SpecifierDef, ACTUATOR_TYPE
        spec.inheritPathList.prependedItems = [prim.GetPath()]
        _keep_target(spec, target)
        added.append(spec.path)
    also_name(stage, prim.GetPath(), added)


def _keep_target(spec: Sdf.PrimSpec, target: Sdf.Path) -> None:
    relationship = spec.relationships.get(TARGETS) or Sdf.RelationshipSpec(spec, TARGETS)
    relationship.targetPathList.explicitItems = [target]


@contextmanager
def own_layer(stage: Usd.Stage, joint: str, file: Path) -> Iterator[None]:
    """Make a USD file, new or not, the edit target of a stage with a joint; an error restores the stage.

    A layer that the robot is composed of is used in its place. Any other becomes the strongest sublayer of the layer
    that defines the joint: it is present with the joint, and weaker than that layer. A `ValueError` says that the file
    has no ending of USD, or cannot be edited there.
    """
    if file.suffix.lower() not in ENDINGS:
        raise ValueError(f"layer = {str(file)!r}: must end in {', '.join(ENDINGS)}. Rename it.")
    prim, is_new = stage.GetPrimAtPath(joint), not file.exists()
    layer = None if is_new else Sdf.Layer.FindOrOpen(str(file))
    if layer is not None and (target := _target(stage, joint, layer)) is not None:
        with Usd.EditContext(stage, target):
            yield
        return
    above, _ = _defining(prim)
    if not above.permissionToEdit:
        raise ValueError(f"layer {above.GetDisplayName()} is locked. Unlock it.")
    text = _path_in(above, file)
    layer = layer or Sdf.Layer.CreateNew(str(file))
    above.subLayerPaths.insert(0, text)
    try:
        target = _target(stage, joint, layer)
        assert target is not None
        with Usd.EditContext(stage, target):
            yield
    except BaseException:
        above.subLayerPaths.remove(text)
        if is_new:
            file.unlink(missing_ok=True)
        raise


def _target(stage: Usd.Stage, joint: str, layer: Sdf.Layer) -> Usd.EditTarget | None:
    """The edit target of a layer that the robot is composed of, at the joint; None for another layer."""
    prim = stage.GetPrimAtPath(joint)
    _, place = _defining(prim)
    nodes = [place, *own_nodes(prim.GetPrimIndex().rootNode)]
    node = next((node for node in nodes if layer in node.layerStack.layers), None)
    if node is None:
        return None
    variant = next((path for path in node.path.GetAncestorsRange() if path.IsPrimVariantSelectionPath()), None)
    if variant is None:
        return Usd.EditTarget(layer, node)
    if layer not in stage.GetLayerStack():
        raise ValueError(
            f"joint <{joint}> is in a variant of a file that is referred to, {layer.GetDisplayName()} among its layers:"
            " no stage can edit it there. Open that file, and author into it."
        )
    return Usd.EditTarget.ForLocalDirectVariant(layer, variant)


def _defining(prim: Usd.Prim) -> tuple[Sdf.Layer, Pcp.NodeRef]:
    """The layer that defines a prim with `def`, and the site in it."""
    for node in own_nodes(prim.GetPrimIndex().rootNode):
        for layer in node.layerStack.layers:
            spec = layer.GetPrimAtPath(node.path)
            if spec is not None and spec.specifier == Sdf.SpecifierDef:
                return layer, node
    raise ValueError(f"<{prim.GetPath()}>: no layer defines it. Open the file that does.")


def _path_in(layer: Sdf.Layer, file: Path) -> str:
    """The path of a file relative to a layer; absolute if the layer is no file."""
    path = os.path.realpath(file)
    if not layer.realPath:
        return path.replace(os.sep, "/")
    text = os.path.relpath(path, os.path.dirname(os.path.realpath(layer.realPath)))
    return (text if text.startswith("..") else f"./{text}").replace(os.sep, "/")


def _only_robot(stage: Usd.Stage, source: Path, joints: Collection[str]) -> str:
    roots = [root for root in articulation_roots(stage) if set(joints) <= set(joints_to_drive(stage, root)[0])]
    if len(roots) != 1:
        raise ValueError(
            f"{source}: {len(roots)} robots have the joints {', '.join(joints)}: must be one. Use the file that the "
            "motors were identified with."
        )
    return roots[0]


@contextmanager
def motor_overlay(source: Path, overlay: Path, joints: Collection[str], words: str) -> Iterator[tuple[Usd.Stage, str]]:
    """Give a `with` block a stage of a robot without the motors of some joints, and write what it authors as overlay.

    Actuator prims of the file that drive no other joints are replaced by those that are authored at their path, and
    deactivated where none is. The overlay replaces an existing file and is documented by `words`; the block gets the
    stage, whose edit target it is, and the path of the robot's articulation root. A `ValueError` says that no robot has
    these joints, or more than one; other errors are those of `write_overlay`.
    """
    stage = require_overlay(source, overlay)
    root = _only_robot(stage, source, joints)
    dofs = {(path, name) for name, path in zip(*joints_to_drive(stage, root), strict=True) if name in joints}
    old = {
        prim.GetPath()
        for prim in filter(is_actuator, every_prim(stage.GetPseudoRoot()))
        if dofs.issuperset(dofs_driven(prim))
    }
    # no layer can remove what a weaker one has, so motors are authored over a copy without them
    copy = stage.Flatten()
    scratch = Usd.Stage.Open(copy)
    shared = _supplies_without(stage, old)
    old |= {path for path, named in shared.items() if not named}
    for path in old:
        scratch.RemovePrim(path)
    layer = empty_overlay(stage, words)
    layer.subLayerPaths.append(copy.identifier)
    for path, named in shared.items():
        if named:
            kept = Sdf.RelationshipSpec(Sdf.CreatePrimInLayer(layer, path), ACTUATORS)
            kept.targetPathList.explicitItems = named
    yield Usd.Stage.Open(layer), root
    # the stage of the block goes on with the copy
    written = Sdf.Layer.CreateAnonymous(".usda")
    written.TransferContent(layer)
    _replace_old(written, stage, sorted(old))
    _drop_classes(written, Sdf.Path(root).AppendChild("Actuators"))
    export_overlay(written, source, overlay)


def _supplies_without(stage: Usd.Stage, old: Collection[Sdf.Path]) -> dict[Sdf.Path, list[Sdf.Path]]:
    """The supply prims that name some of the old actuators, with the others that each names."""
    named = {prim.GetPath(): targets(prim, ACTUATORS) for prim in supply_prims(stage.GetPseudoRoot())}
    left = {path: [one for one in paths if one not in old] for path, paths in named.items()}
    return {path: paths for path, paths in left.items() if len(paths) < len(named[path])}


def _replace_old(written: Sdf.Layer, stage: Usd.Stage, paths: Sequence[Sdf.Path]) -> None:
    """Have prims of a layer replace those of a stage at some paths, and deactivate these where it has none."""
    for path in paths:
        spec = written.GetPrimAtPath(path)
        if spec is None:
            Sdf.CreatePrimInLayer(written, path).SetInfo("active", False)
        else:
            _replace(spec, stage.GetPrimAtPath(path))


def _replace(spec: Sdf.PrimSpec, weaker: Usd.Prim) -> None:
    """Hide all that a prim of weaker layers has, but for what a spec has itself."""
    # what the file has at the prim itself is stronger than all that is inherited
    sources = [spec, *(spec.layer.GetPrimAtPath(path) for path in spec.inheritPathList.prependedItems)]
    for attribute in (one for source in sources[1:] for one in source.attributes):
        Sdf.CopySpec(spec.layer, attribute.path, spec.layer, spec.path.AppendProperty(attribute.name))
    schemas = [
        name for one in sources if one.HasInfo("apiSchemas") for name in one.GetInfo("apiSchemas").prependedItems
    ]
    # explicit lists are no additions to those of weaker layers
    spec.SetInfo("apiSchemas", Sdf.TokenListOp.CreateExplicit(schemas))
    spec.inheritPathList.ClearEditsAndMakeExplicit()
    spec.SetInfo("active", True)
    for attribute in weaker.GetAuthoredAttributes():
        if attribute.GetName() not in spec.attributes:
            blocked = Sdf.AttributeSpec(spec, attribute.GetName(), attribute.GetTypeName())
            blocked.custom, blocked.default = attribute.IsCustom(), Sdf.ValueBlock()


def _drop_classes(layer: Sdf.Layer, scope: Sdf.Path) -> None:
    """Remove the class prims of a scope from which no prim of the layer inherits any more."""
    actuators = layer.GetPrimAtPath(scope)
    if actuators is None:
        return
    children = list(actuators.nameChildren)
    used = {path for one in children for path in one.inheritPathList.prependedItems}
    for one in children:
        if one.specifier == Sdf.SpecifierClass and one.path not in used:
            # missing in the stubs of USD
            del actuators.nameChildren[one.name]  # pyright: ignore[reportIndexIssue]
