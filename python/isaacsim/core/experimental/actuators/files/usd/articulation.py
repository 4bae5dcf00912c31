"""Find articulation roots and joints on a stage."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from pxr import Sdf, Usd

from ...specs.arguments import require_type
from .authored import authored_number, targets
from .axes import MANY
from .usd_errors import reports_usd_errors

# active, loaded, defined and not abstract, instances included
on_stage = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)


def every_prim(root: Usd.Prim) -> Usd.PrimRange:
    """`root` and everything active and loaded below it, instances included."""
    return Usd.PrimRange(root, on_stage)


def axes_of(joint: Usd.Prim) -> tuple[str, ...]:
    """USD's names of the axes that can be driven: `angular`, `linear`, or the free ones of a generic joint."""
    kind = joint.GetTypeName() if joint else ""
    if kind == "PhysicsJoint":
        return tuple(axis for axis in MANY if not _is_locked(joint, axis))
    return {"PhysicsRevoluteJoint": ("angular",), "PhysicsPrismaticJoint": ("linear",)}.get(kind, ())


def _is_locked(joint: Usd.Prim, axis: str) -> bool:
    low, high = (authored_number(joint, f"limit:{axis}:physics:{side}", math.nan) for side in ("low", "high"))
    return low > high


def unloaded_payloads(stage: Usd.Stage) -> list[str]:
    """Paths of the prims whose payloads are not loaded."""
    return sorted(str(path) for path in set(stage.FindLoadable()) - set(stage.GetLoadSet()))


def unloaded_at(stage: Usd.Stage, path: str | Sdf.Path) -> list[str]:
    """Paths of the prims at, above or below a path whose payloads are not loaded."""
    at, found = Sdf.Path(str(path)), map(Sdf.Path, unloaded_payloads(stage))
    return [str(one) for one in found if one.HasPrefix(at) or at.HasPrefix(one)]


@reports_usd_errors
def articulation_roots(stage: Usd.Stage) -> list[str]:
    """Paths of every prim with `PhysicsArticulationRootAPI`, in stage order."""
    return [
        str(prim.GetPath()) for prim in every_prim(stage.GetPseudoRoot()) if prim.HasAPI("PhysicsArticulationRootAPI")
    ]


def bodies_of(stage: Usd.Stage, joint: str) -> list[Sdf.Path]:
    """Paths of the bodies that a joint names; none if it is not on the stage."""
    prim = stage.GetPrimAtPath(joint)
    return [path for side in (0, 1) for path in targets(prim, f"physics:body{side}")] if prim else []


def write_text(stage: Usd.Stage, path: str, name: str, text: str) -> None:
    """Author a text as a custom attribute of a prim at the stage's edit target."""
    stage.GetPrimAtPath(path).CreateAttribute(name, Sdf.ValueTypeNames.String, custom=True).Set(text)


def read_text(stage: Usd.Stage, path: str, name: str) -> str | None:
    """The text of a prim's attribute, None without such a prim or text; a `TypeError` if there is no stage or path."""
    require_type("stage", stage, Usd.Stage, "a USD stage")
    require_type("path", path, str, "the path of a prim")
    prim = stage.GetPrimAtPath(path)
    value = prim.GetAttribute(name).Get() if prim and prim.HasAttribute(name) else None
    return value if isinstance(value, str) else None


def text_of_robot(stage: Usd.Stage, root: str, name: str) -> str | None:
    """The text of the robot at its articulation root or at a prim above it; None if there is none.

    The text of the prim itself precedes that of the nearest prim above, which precedes that of the articulation root
    below. A prim above several robots has no text of one of them. A `TypeError` names what is no stage or no path.
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
