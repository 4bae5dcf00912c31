"""Stages with the joints of a robot and nothing between them."""

from collections.abc import Sequence

from pxr import Usd, UsdPhysics


def bare_robot(names: Sequence[str], root: str = "/Robot") -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(root, "Xform"))
    for name in names:
        UsdPhysics.RevoluteJoint.Define(stage, f"{root}/joints/{name}")
    return stage
