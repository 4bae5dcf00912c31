"""Switch off the collisions of a stage."""

from __future__ import annotations

from pxr import Usd, UsdPhysics


def disable_collisions(stage: Usd.Stage) -> None:
    """Let no shape of a stage collide; the opinion is in the session layer, which is in no file."""
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        # shapes in an instance cannot be edited
        while instances := [prim for prim in stage.Traverse() if prim.IsInstance()]:
            for prim in instances:
                prim.SetInstanceable(False)
        for prim in stage.Traverse():
            if shape := UsdPhysics.CollisionAPI(prim):
                shape.CreateCollisionEnabledAttr(False)
