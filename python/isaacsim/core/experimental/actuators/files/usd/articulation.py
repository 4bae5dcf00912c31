"""Find articulation roots and joints on a stage."""

from __future__ import annotations

import math

from pxr import Sdf, Usd

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
