"""Texts that a prim carries for those who know their names, and edits of a stage that are made whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pxr import Sdf, Usd

from ..specs.arguments import require_type


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
