"""Motors in a separate layer are composed with the joints, and with nothing else."""

from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import MaxEffortClampingConfig, MotorConfig, PDControlConfig, add_motors
from isaacsim.core.experimental.actuators import motors_of as motors_in
from isaacsim.core.experimental.actuators.files.usd.discover import actuator_paths
from pxr import Sdf, Usd
from refusals import refused
from small_stages import pendulum

ROOT = "/World/Robot"
MOTORS = {"hinge": MotorConfig(PDControlConfig(20.0, 2.0), [MaxEffortClampingConfig(5.0)], armature=0.25)}


def robot_file(folder: Path, name: str = "robot.usda") -> Path:
    """A pendulum without actuators."""
    made = pendulum()
    made.stage.GetRootLayer().Export(str(folder / name))
    return folder / name


def asset(folder: Path) -> Path:
    """A robot with its physics in a layer behind a variant, as in assets for several simulators."""
    robot_file(folder, "physics.usda")
    stage = Usd.Stage.CreateNew(str(folder / "robot.usda"))
    robot = stage.DefinePrim("/Robot")
    physics = robot.GetVariantSets().AddVariantSet("Physics")
    for name in ("none", "newton"):
        physics.AddVariant(name)
    physics.SetVariantSelection("newton")
    with physics.GetVariantEditContext():
        robot.GetPayloads().AddPayload("./physics.usda", ROOT)
    stage.Save()
    return folder / "robot.usda"


def test_a_new_file_becomes_a_sublayer(tmp_path) -> None:
    """Prims and joint properties are in it; the robot's file gets its path only."""
    file = robot_file(tmp_path)
    before = file.read_text()
    stage = Usd.Stage.Open(str(file))
    (prim,) = add_motors(ROOT, MOTORS, stage=stage, layer=tmp_path / "parts" / ".." / "motors.usda")
    assert prim.GetAttribute("newton:kp").Get() == 20.0
    stage.Save()
    assert stage.GetRootLayer().subLayerPaths == ["./motors.usda"]
    stage.GetRootLayer().subLayerPaths.clear()
    assert stage.GetRootLayer().ExportToString().strip() == before.strip() and motors_in(stage) == {}
    stage.Reload()
    assert motors_in(stage) == MOTORS


def test_motors_come_with_the_variant_that_has_the_joints(tmp_path) -> None:
    """A robot without physics has no motors."""
    stage = Usd.Stage.Open(str(asset(tmp_path)))
    add_motors("/Robot", MOTORS, stage=stage, layer=tmp_path / "motors.usda")
    stage.Save()
    assert not stage.GetRootLayer().subLayerPaths and motors_in(stage) == MOTORS
    physics = Sdf.Layer.FindOrOpen(str(tmp_path / "physics.usda"))
    assert physics.subLayerPaths == ["./motors.usda"]
    assert physics.GetPrimAtPath(f"{ROOT}/Actuators") is None
    stage.GetPrimAtPath("/Robot").GetVariantSet("Physics").SetVariantSelection("none")
    assert actuator_paths(stage) == []


@pytest.mark.parametrize("layer", ["physics.usda", "motors.usda"])
def test_a_layer_of_the_robot_is_edited_where_it_is(layer, tmp_path) -> None:
    """Behind variant and payload; a second time as well."""
    stage = Usd.Stage.Open(str(asset(tmp_path)))
    for kp in (1.0, 20.0):
        motors = {"hinge": [PDControlConfig(kp, 2.0)]}
        add_motors("/Robot", motors, stage=stage, layer=tmp_path / layer, overwrite_existing=True)
    stage.Save()
    assert Sdf.Layer.FindOrOpen(str(tmp_path / layer)).GetPrimAtPath(f"{ROOT}/Actuators/hinge")
    assert motors_in(stage)["hinge"].controller == PDControlConfig(20.0, 2.0)


def test_joints_in_a_variant_of_the_file_itself(tmp_path) -> None:
    """The motors are in the same variant."""
    stage = Usd.Stage.CreateNew(str(tmp_path / "robot.usda"))
    robot = stage.DefinePrim("/Robot")
    physics = robot.GetVariantSets().AddVariantSet("Physics")
    physics.AddVariant("newton")
    physics.SetVariantSelection("newton")
    spec = stage.GetRootLayer().GetPrimAtPath("/Robot").variantSets["Physics"].variants["newton"].primSpec
    made = pendulum()
    Sdf.CopySpec(made.stage.GetRootLayer(), ROOT, stage.GetRootLayer(), spec.path)
    add_motors("/Robot", MOTORS, stage=stage, layer=tmp_path / "motors.usda")
    layer = Sdf.Layer.FindOrOpen(str(tmp_path / "motors.usda"))
    assert layer.GetPrimAtPath("/Robot{Physics=newton}Actuators/hinge") and not layer.GetPrimAtPath("/Robot/Actuators")
    assert motors_in(stage) == MOTORS
    physics.ClearVariantSelection()
    assert actuator_paths(stage) == []


def test_a_stage_in_memory_names_the_file_in_full(tmp_path) -> None:
    """For it has no folder of its own."""
    stage = pendulum().stage
    add_motors(ROOT, MOTORS, stage=stage, layer=tmp_path / "motors.usda")
    assert stage.GetRootLayer().subLayerPaths == [str(tmp_path / "motors.usda")]
    assert motors_in(stage) == MOTORS


def test_an_error_leaves_nothing_behind(tmp_path) -> None:
    """No file, no sublayer; a file that was there is as it was."""
    stage = Usd.Stage.Open(str(robot_file(tmp_path)))
    file = tmp_path / "motors.usda"
    wrong = {"hinge": [PDControlConfig(1.0, 1.0), MaxEffortClampingConfig("joint")]}
    refused(ValueError, lambda: add_motors(ROOT, wrong, stage=stage, layer=file), "hinge have no effort limit")
    stage.GetPrimAtPath(f"{ROOT}/hinge").CreateAttribute("physxJointAxis:angular:armature", Sdf.ValueTypeNames.Float)
    add_motors(ROOT, {"hinge": MotorConfig(armature=1.0)}, stage=stage)
    refused(Exception, lambda: add_motors(ROOT, MOTORS, stage=stage, layer=file), "a stronger layer authors it")
    assert not stage.GetRootLayer().subLayerPaths and not file.exists()
    with pytest.raises(ValueError, match=r"layer = '.*motors.txt': must end in \.usda"):
        add_motors(ROOT, MOTORS, stage=stage, layer=tmp_path / "motors.txt")
    stage.GetRootLayer().SetPermissionToEdit(False)
    refused(ValueError, lambda: add_motors(ROOT, MOTORS, stage=stage, layer=file), r"layer robot\.usda is locked")
    assert not file.exists()
