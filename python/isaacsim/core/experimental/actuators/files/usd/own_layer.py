"""Author into a separate layer that is composed with the joints of a robot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pxr import Pcp, Sdf, Usd

from .overlay import ENDINGS
from .shared import own_nodes


@contextmanager
def own_layer(stage: Usd.Stage, joint: str, file: Path) -> Iterator[None]:
    """Make a file the edit target of a stage; an error restores the stage.

    A layer that the robot is composed of is used in its place. Any other becomes the strongest sublayer of the layer
    that defines the joint: it is present with the joint, and weaker than that layer.

    Args:
        stage: The stage of the robot.
        joint: Path of one of its joints.
        file: A USD file; it is created if it does not exist.

    Raises:
        ValueError: The file has no ending of USD, or cannot be edited there.
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
