"""Text attributes of prims, and atomic edits of a stage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pxr import Sdf, Usd

from ...specs.arguments import require_type
from .articulation import articulation_roots


def write_text(stage: Usd.Stage, path: str, name: str, text: str) -> None:
    """Author a text as a custom attribute of a prim at the stage's edit target."""
    stage.GetPrimAtPath(path).CreateAttribute(name, Sdf.ValueTypeNames.String, custom=True).Set(text)


def read_text(stage: Usd.Stage, path: str, name: str) -> str | None:
    """The text of a prim's attribute; None if there is no such prim or text.

    Raises:
        TypeError: An argument is no stage or no path.
    """
    require_type("stage", stage, Usd.Stage, "a USD stage")
    require_type("path", path, str, "the path of a prim")
    prim = stage.GetPrimAtPath(path)
    value = prim.GetAttribute(name).Get() if prim and prim.HasAttribute(name) else None
    return value if isinstance(value, str) else None


def text_of_robot(stage: Usd.Stage, root: str, name: str) -> str | None:
    """The text of the robot at its articulation root or at a prim above it; None if there is none.

    The text of the prim itself precedes that of the nearest prim above, which precedes that of the articulation root
    below. A prim above several robots has no text of one of them.

    Raises:
        TypeError: An argument is no stage or no path.
    """
    text = read_text(stage, root, name)
    if text is not None or not stage.GetPrimAtPath(root):
        return text
    roots = [Sdf.Path(path) for path in articulation_roots(stage)]

    def below(at: Sdf.Path) -> list[Sdf.Path]:
        return [one for one in roots if one.HasPrefix(at)]

    own = below(Sdf.Path(root))
    if len(own) != 1:
        return None
    places = [at for at in Sdf.Path(root).GetAncestorsRange() if below(at) == own]
    texts = (read_text(stage, str(at), name) for at in (*places, *own))
    return next((text for text in texts if text is not None), None)


@contextmanager
def undo_on_error(stage: Usd.Stage) -> Iterator[None]:
    """Restore the edit target after an error."""
    layer, before = stage.GetEditTarget().GetLayer(), Sdf.Layer.CreateAnonymous("before")
    before.TransferContent(layer)
    try:
        yield
    except BaseException:
        layer.TransferContent(before)
        raise
