"""An overlay with other motors: a layer over a robot file, whose actuator prims it replaces without changing it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from pxr import Sdf, Usd

from .articulation import articulation_roots, every_prim
from .author import joints_to_drive
from .authored import targets
from .discover import dofs_driven
from .overlay import empty_overlay, export_overlay, require_overlay
from .schema import is_actuator
from .supplies import ACTUATORS, supply_prims


@contextmanager
def motor_overlay(source: Path, overlay: Path, joints: Collection[str], words: str) -> Iterator[tuple[Usd.Stage, str]]:
    """Give a `with` block a stage of a robot without the motors of some joints, and write what it authors as overlay.

    Actuator prims of the file that drive no other joints are replaced by those that are authored at their path, and
    deactivated where none is.

    Args:
        source: The file of the robot.
        overlay: File to write; an existing one is replaced.
        joints: Names of the joints, all of one robot of the file.
        words: Documentation of the layer.

    Yields:
        The stage, whose edit target is the overlay, and the path of the robot's articulation root.

    Raises:
        ValueError: The overlay has no ending of USD, or is a layer of the file; or no robot has these joints, or more
            than one.
        OSError: The overlay cannot be written.
    """
    stage = require_overlay(source, overlay)
    root = _robot_with(stage, source, joints)
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
    for path in sorted(old):
        spec = written.GetPrimAtPath(path)
        if spec is None:
            Sdf.CreatePrimInLayer(written, path).SetInfo("active", False)
        else:
            _replace(spec, stage.GetPrimAtPath(path))
    _drop_classes(written, Sdf.Path(root).AppendChild("Actuators"))
    export_overlay(written, source, overlay)


def _robot_with(stage: Usd.Stage, source: Path, joints: Collection[str]) -> str:
    """The articulation root of the only robot that has all these joints."""
    roots = [root for root in articulation_roots(stage) if set(joints) <= set(joints_to_drive(stage, root)[0])]
    if len(roots) != 1:
        raise ValueError(
            f"{source}: {len(roots)} robots have the joints {', '.join(joints)}: must be one. Use the file that the "
            "motors were identified with."
        )
    return roots[0]


def _supplies_without(stage: Usd.Stage, old: Collection[Sdf.Path]) -> dict[Sdf.Path, list[Sdf.Path]]:
    """The supply prims that name some of the old actuators, with the others that each names."""
    named = {prim.GetPath(): targets(prim, ACTUATORS) for prim in supply_prims(stage.GetPseudoRoot())}
    left = {path: [one for one in paths if one not in old] for path, paths in named.items()}
    return {path: paths for path, paths in left.items() if len(paths) < len(named[path])}


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
