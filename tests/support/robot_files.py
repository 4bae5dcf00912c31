"""Files of robots with something else in them than what ships."""

from collections.abc import Callable
from pathlib import Path

from isaacsim.core.experimental.actuators import add_actuator
from places import ROBOTS
from pxr import Sdf, Usd

ARM = "/World/Arm"
SHOULDER, EXTENSION = f"{ARM}/joints/shoulder", f"{ARM}/joints/extension"
OF_SHOULDER, OF_EXTENSION = f"{ARM}/Actuators/shoulder", f"{ARM}/Actuators/extension"
Edit = Callable[[Usd.Stage], object]


def edited(folder: Path, *edits: Edit, robot: str = "arm_2dof.usda", name: str = "robot.usda") -> Path:
    layer = Sdf.Layer.CreateNew(str(folder / name))
    layer.TransferContent(Sdf.Layer.FindOrOpen(str(ROBOTS / robot)))
    stage = Usd.Stage.Open(layer)
    for edit in edits:
        edit(stage)
    layer.Save()
    return folder / name


def number(prim: str, name: str, value: float) -> Edit:
    return lambda stage: stage.GetPrimAtPath(prim).CreateAttribute(name, Sdf.ValueTypeNames.Float).Set(value)


def integer(prim: str, name: str, value: int) -> Edit:
    return lambda stage: stage.GetPrimAtPath(prim).CreateAttribute(name, Sdf.ValueTypeNames.Int).Set(value)


def schema(prim: str, name: str) -> Edit:
    return lambda stage: stage.GetPrimAtPath(prim).AddAppliedSchema(name)


def renamed(prim: str, *names: tuple[str, str]) -> Edit:
    def rename(stage: Usd.Stage) -> None:
        others, found = dict(names), stage.GetPrimAtPath(prim)
        applied = [others.get(name, name) for name in found.GetPrimTypeInfo().GetAppliedAPISchemas()]
        found.SetMetadata("apiSchemas", Sdf.TokenListOp.Create(prependedItems=applied))

    return rename


def target(prim: str, joint: str) -> Edit:
    return lambda stage: stage.GetPrimAtPath(prim).GetRelationship("newton:targets").AddTarget(joint)


def motor(joint: str, controller, *clamping) -> Edit:
    return lambda stage: add_actuator(
        ARM, joint, joint, controller, clamping=clamping, overwrite_existing=True, stage=stage
    )


def without(path: str) -> Edit:
    def remove(stage: Usd.Stage) -> None:
        found = Sdf.Path(path)
        if found.IsPropertyPath():
            stage.GetPrimAtPath(found.GetPrimPath()).RemoveProperty(found.name)
        else:
            stage.RemovePrim(found)

    return remove
