"""Texts that a prim carries for those who know their names, and edits of a stage that are made whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pxr import Sdf, Usd

from ..specs.arguments import require_type
from .articulation import articulation_roots


def write_text(stage: Usd.Stage, path: str, name: str, text: str) -> None:
    """Author a text as a custom attribute of a prim, at the stage's edit target."""
    stage.GetPrimAtPath(path).CreateAttribute(name, Sdf.ValueTypeNames.String, custom=True).Set(text)


def read_text(stage: Usd.Stage, path: str, name: str) -> str | None:
    """The text of a prim's attribute; None where there is no such prim or text.

    Raises:
        TypeError: It is no stage, or no path.
    """
    require_type("stage", stage, Usd.Stage, "a USD stage")
    require_type("path", path, str, "the path of a prim")
    prim = stage.GetPrimAtPath(path)
    value = prim.GetAttribute(name).Get() if prim and prim.HasAttribute(name) else None
    return value if isinstance(value, str) else None


def text_of_robot(stage: Usd.Stage, root: str, name: str) -> str | None:
    """The text of a robot, asked for by its articulation root or a prim above it; None where there is none.

    The robot carries it at either: at the prim itself, else at the nearest prim above it, else at the articulation root
    below it. A prim above several robots says nothing of one of them.

    Raises:
        TypeError: It is no stage, or no path.
    """
    text = read_text(stage, root, name)
    if text is not None or not stage.GetPrimAtPath(root):
        return text
    roots = [Sdf.Path(path) for path in articulation_roots(stage)]
    below = {at: [one for one in roots if one.HasPrefix(at)] for at in Sdf.Path(root).GetAncestorsRange()}
    own = below[Sdf.Path(root)]
    if len(own) != 1:
        return None
    places = [*(at for at, found in below.items() if found == own), *own]
    return next((text for at in places if (text := read_text(stage, str(at), name)) is not None), None)


@contextmanager
def whole(stage: Usd.Stage) -> Iterator[None]:
    """Take back what was written to the edit target, when something fails."""
    layer, before = stage.GetEditTarget().GetLayer(), Sdf.Layer.CreateAnonymous("before")
    before.TransferContent(layer)
    try:
        yield
    except BaseException:
        layer.TransferContent(before)
        raise
