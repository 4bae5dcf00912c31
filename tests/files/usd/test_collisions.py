"""Collisions of a stage are switched off, in no file."""

from isaacsim.core.experimental.actuators.files.usd.collisions import disable_collisions
from pxr import Usd, UsdGeom, UsdPhysics


def box(stage: Usd.Stage, path: str) -> UsdPhysics.CollisionAPI:
    """A shape that collides."""
    return UsdPhysics.CollisionAPI.Apply(UsdGeom.Cube.Define(stage, path).GetPrim())


def test_every_shape_is_switched_off_for_this_stage_alone() -> None:
    """The root layer, which may be a file that others have open, stays as it is."""
    stage = Usd.Stage.CreateInMemory()
    shape = box(stage, "/World/box")
    before = stage.GetRootLayer().ExportToString()
    disable_collisions(stage)
    assert shape.GetCollisionEnabledAttr().Get() is False
    assert stage.GetRootLayer().ExportToString() == before


def test_shapes_in_instances_too() -> None:
    stage = Usd.Stage.CreateInMemory()
    box(stage, "/Prototype/box")
    instance = UsdGeom.Xform.Define(stage, "/World/copy").GetPrim()
    instance.GetReferences().AddInternalReference("/Prototype")
    instance.SetInstanceable(True)
    disable_collisions(stage)
    inside = UsdPhysics.CollisionAPI(stage.GetPrimAtPath("/World/copy/box"))
    assert inside.GetCollisionEnabledAttr().Get() is False
