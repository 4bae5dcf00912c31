"""Layers over files: what is edited, and what is refused."""

from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators import MaxEffortClampingConfig, MotorConfig, PDControlConfig, add_motors
from isaacsim.core.experimental.actuators import motors_of as motors_in
from isaacsim.core.experimental.actuators.files.usd.discover import actuator_paths
from isaacsim.core.experimental.actuators.files.usd.edits import ParameterEdit, PropertyEdit, SchemaEdit
from isaacsim.core.experimental.actuators.files.usd.overlay import motor_overlay, write_overlay
from isaacsim.core.experimental.actuators.files.usd.schema import TARGETS, applied_schemas
from isaacsim.core.experimental.actuators.files.usd.supplies import ACTUATORS, supply_prims
from isaacsim.core.experimental.actuators.tools.inspection.lint import fix
from places import ROBOTS
from pxr import Sdf, Usd
from refusals import cases, refused
from robot_files import OF_SHOULDER, SHOULDER, Edit, edited
from small_stages import pendulum


def test_each_kind_of_edit(tmp_path: Path) -> None:
    file, overlay = edited(tmp_path), tmp_path / "sub" / "over.usda"
    overlay.parent.mkdir()
    edits = [
        ParameterEdit(OF_SHOULDER, MaxEffortClampingConfig(20.0), "max_effort"),
        ParameterEdit(OF_SHOULDER, MaxEffortClampingConfig(30.0), "max_effort"),
        PropertyEdit(SHOULDER, "angular", "upper_limits", 1.0),
        SchemaEdit(OF_SHOULDER, "NewtonPDControlAPI", "NewtonPIDControlAPI"),
    ]
    write_overlay(file, overlay, edits)
    stage = Usd.Stage.Open(str(overlay))
    assert stage.GetRootLayer().subLayerPaths == ["../robot.usda"]
    prim = stage.GetPrimAtPath(OF_SHOULDER)
    assert prim.GetAttribute("newton:maxEffort").Get() == 20.0
    assert prim.GetPrimTypeInfo().GetAppliedAPISchemas() == ["NewtonPIDControlAPI", "NewtonMaxEffortClampingAPI"]
    assert stage.GetPrimAtPath(SHOULDER).GetAttribute("physics:upperLimit").Get() == pytest.approx(57.29578)


def test_several_schemas_of_a_prim(tmp_path: Path) -> None:
    file, overlay = edited(tmp_path), tmp_path / "over.usda"
    pairs = [("NewtonPDControlAPI", "A"), ("NewtonMaxEffortClampingAPI", "B")]
    write_overlay(file, overlay, [SchemaEdit(OF_SHOULDER, *pair) for pair in pairs])
    stage = Usd.Stage.Open(str(overlay))
    assert stage.GetPrimAtPath(OF_SHOULDER).GetPrimTypeInfo().GetAppliedAPISchemas() == ["A", "B"]


def test_a_layer_of_the_file_is_not_replaced(tmp_path: Path) -> None:
    below = edited(tmp_path, name="below.usda")
    above = Sdf.Layer.CreateNew(str(tmp_path / "above.usda"))
    above.subLayerPaths.append("below.usda")
    above.Save()
    before = below.read_bytes()
    for place in ("above.usda", "below.usda"):
        with pytest.raises(ValueError, match="stays as it is"):
            write_overlay(tmp_path / "above.usda", tmp_path / place, [])
    assert below.read_bytes() == before


ANYMAL = "/World/Anymal"
LEGS = f"{ANYMAL}/Actuators/legs"
NAMES = ["LF_HAA", "RF_HAA", "LH_HAA", "RH_HAA"]


def four_at_once(stage: Any) -> None:
    for name in NAMES:
        stage.RemovePrim(f"{ANYMAL}/Actuators/{name}")
    prim = aa.add_actuator(
        ANYMAL,
        NAMES,
        "legs",
        aa.PDControlConfig(60.0, 4.0),
        clamping=[aa.MaxEffortClampingConfig(30.0)],
        delay=aa.DelayConfig(2),
        stage=stage,
    )
    prim.SetDocumentation("from a bench")
    prim.CreateAttribute("maker:batch", Sdf.ValueTypeNames.Int).Set(7)


def broken(folder: Path, *edits: Edit) -> Path:
    return edited(folder, four_at_once, *edits, robot="anymal_c.usda")


def split_into(file: Path, overlay: Path) -> Any:
    fixed, left = fix(file, overlay)
    assert [one.rule for one in fixed] == ["several-targets"] and left == []
    return Usd.Stage.Open(str(overlay))


def test_each_target_gets_a_prim(tmp_path: Path) -> None:
    file = broken(tmp_path)
    stage = split_into(file, tmp_path / "fixed.usda")
    for path, joint in zip([LEGS, *(f"{ANYMAL}/Actuators/{name}" for name in NAMES[1:])], NAMES, strict=True):
        prim = stage.GetPrimAtPath(path)
        assert prim.GetRelationship(TARGETS).GetTargets() == [f"{ANYMAL}/joints/{joint}"]
        assert applied_schemas(prim) == applied_schemas(stage.GetPrimAtPath(LEGS))
        assert (prim.GetAttribute("newton:kp").Get(), prim.GetAttribute("maker:batch").Get()) == (60.0, 7)
        assert prim.GetDocumentation() == "from a bench"
    assert aa.motors_of(stage) == aa.motors_of(file)


def test_what_the_file_says_later_holds_for_all(tmp_path: Path) -> None:
    file = broken(tmp_path)
    split_into(file, tmp_path / "fixed.usda")
    layer = Sdf.Layer.FindOrOpen(str(file))
    layer.GetAttributeAtPath(f"{LEGS}.newton:kp").default = 50.0
    layer.Save()
    (robot,) = aa.inspect_robots(tmp_path / "fixed.usda")
    assert [one.controller.kp for one in robot.actuators if one.joints[0] in NAMES] == [50.0] * 4


def test_a_robot_that_is_referred_to(tmp_path: Path) -> None:
    broken(tmp_path)
    scene: Any = Usd.Stage.CreateNew(str(tmp_path / "scene.usda"))
    scene.DefinePrim("/Yard/Dog").GetReferences().AddReference("./robot.usda", ANYMAL)
    scene.OverridePrim("/Yard/Dog/Actuators/RF_HAA")
    scene.Save()
    stage = split_into(tmp_path / "scene.usda", tmp_path / "fixed.usda")
    other = stage.GetPrimAtPath("/Yard/Dog/Actuators/RF_HAA_2")
    assert other.GetRelationship(TARGETS).GetTargets() == ["/Yard/Dog/joints/RF_HAA"]
    assert other.GetAttribute("newton:kp").Get() == 60.0


@cases(
    "edit, why",
    (lambda stage: stage.DefinePrim(f"{LEGS}/notes"), "it has prims below it"),
    (lambda stage: stage.GetPrimAtPath(LEGS).SetInstanceable(True), "it is instanceable"),
)
def test_what_cannot_be_split_is_said(edit: Edit, why: str, tmp_path: Path) -> None:
    (finding,) = aa.lint(broken(tmp_path, edit))
    assert finding.rule == "several-targets" and why in finding.remedy and not finding.edits


def test_a_robot_of_an_instance_is_not_split(tmp_path: Path) -> None:
    broken(tmp_path)
    scene: Any = Usd.Stage.CreateNew(str(tmp_path / "scene.usda"))
    robot = scene.DefinePrim("/Dog")
    robot.GetReferences().AddReference("./robot.usda", "/World")
    robot.SetInstanceable(True)
    scene.Save()
    (finding,) = (one for one in aa.lint(tmp_path / "scene.usda") if one.rule == "several-targets")
    assert "it is part of an instance" in finding.remedy and not finding.edits


def test_limits_that_are_lowered_hold_for_each(tmp_path: Path) -> None:
    limits: list[Edit] = [
        lambda stage, joint=joint: stage.GetAttributeAtPath(
            f"{ANYMAL}/joints/{joint}.drive:angular:physics:maxForce"
        ).Set(20.0)
        for joint in NAMES
    ]
    fixed, left = fix(broken(tmp_path, *limits), tmp_path / "fixed.usda")
    assert {one.rule for one in fixed} == {"several-targets", "limit-above-joint"} and left == []
    (robot,) = aa.inspect_robots(tmp_path / "fixed.usda")
    pipelines = {one.pipeline for one in robot.actuators if one.joints[0] in NAMES}
    assert pipelines == {"delay 2 → PD(kp=60, kd=4) → max effort 20"}


def test_shipped_robots_need_none() -> None:
    for file in ROBOTS.glob("*.usda"):
        (robot,) = aa.inspect_robots(file)
        assert all(len(one.joints) == 1 for one in robot.actuators)


ROOT = "/World/Robot"
MOTORS = {"hinge": MotorConfig(PDControlConfig(20.0, 2.0), [MaxEffortClampingConfig(5.0)], armature=0.25)}


def robot_file(folder: Path, name: str = "robot.usda") -> Path:
    made = pendulum()
    made.stage.GetRootLayer().Export(str(folder / name))
    return folder / name


def asset(folder: Path) -> Path:
    """A robot with its physics in a layer behind a variant, as in assets for several simulators."""
    robot_file(folder, "physics.usda")
    stage: Any = Usd.Stage.CreateNew(str(folder / "robot.usda"))
    robot = stage.DefinePrim("/Robot")
    physics = robot.GetVariantSets().AddVariantSet("Physics")
    for name in ("none", "newton"):
        physics.AddVariant(name)
    physics.SetVariantSelection("newton")
    with physics.GetVariantEditContext():
        robot.GetPayloads().AddPayload("./physics.usda", ROOT)
    stage.Save()
    return folder / "robot.usda"


def test_a_new_file_becomes_a_sublayer(tmp_path: Path) -> None:
    file = robot_file(tmp_path)
    before = file.read_text()
    stage: Any = Usd.Stage.Open(str(file))
    (prim,) = add_motors(ROOT, MOTORS, stage=stage, layer=tmp_path / "parts" / ".." / "motors.usda")
    assert prim.GetAttribute("newton:kp").Get() == 20.0
    stage.Save()
    assert stage.GetRootLayer().subLayerPaths == ["./motors.usda"]
    stage.GetRootLayer().subLayerPaths.clear()
    assert stage.GetRootLayer().ExportToString().strip() == before.strip() and motors_in(stage) == {}
    stage.Reload()
    assert motors_in(stage) == MOTORS


def test_motors_come_with_the_variant_that_has_the_joints(tmp_path: Path) -> None:
    stage: Any = Usd.Stage.Open(str(asset(tmp_path)))
    add_motors("/Robot", MOTORS, stage=stage, layer=tmp_path / "motors.usda")
    stage.Save()
    assert not stage.GetRootLayer().subLayerPaths and motors_in(stage) == MOTORS
    physics = Sdf.Layer.FindOrOpen(str(tmp_path / "physics.usda"))
    assert physics.subLayerPaths == ["./motors.usda"] and physics.GetPrimAtPath(f"{ROOT}/Actuators") is None
    stage.GetPrimAtPath("/Robot").GetVariantSet("Physics").SetVariantSelection("none")
    assert actuator_paths(stage) == []


@cases("layer", "physics.usda", "motors.usda")
def test_a_layer_of_the_robot_is_edited_where_it_is(layer: str, tmp_path: Path) -> None:
    stage: Any = Usd.Stage.Open(str(asset(tmp_path)))
    for kp in (1.0, 20.0):
        motors = {"hinge": [PDControlConfig(kp, 2.0)]}
        add_motors("/Robot", motors, stage=stage, layer=tmp_path / layer, overwrite_existing=True)
    stage.Save()
    assert Sdf.Layer.FindOrOpen(str(tmp_path / layer)).GetPrimAtPath(f"{ROOT}/Actuators/hinge")
    assert motors_in(stage)["hinge"].controller == PDControlConfig(20.0, 2.0)


def test_joints_in_a_variant_of_the_file_itself(tmp_path: Path) -> None:
    stage: Any = Usd.Stage.CreateNew(str(tmp_path / "robot.usda"))
    physics = stage.DefinePrim("/Robot").GetVariantSets().AddVariantSet("Physics")
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


def test_a_stage_in_memory_names_the_file_in_full(tmp_path: Path) -> None:
    stage: Any = pendulum().stage
    add_motors(ROOT, MOTORS, stage=stage, layer=tmp_path / "motors.usda")
    assert stage.GetRootLayer().subLayerPaths == [str(tmp_path / "motors.usda")] and motors_in(stage) == MOTORS


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    stage: Any = Usd.Stage.Open(str(robot_file(tmp_path)))
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


@cases("name", "shoulder", "old")
def test_motors_of_any_name_and_shared_supplies_are_replaced(tmp_path: Path, name: str) -> None:
    stage = Usd.Stage.Open(str(ROBOTS / "arm_2dof.usda"))
    robot = tmp_path / "arm.usda"
    motor = [aa.PDControlConfig(5.0, 1.0), aa.ElectricalConfig(0.1, 1.0), aa.SupplyConfig(voltage=24.0)]
    aa.add_motors("/World/Arm", {"shoulder": motor, "extension": motor}, stage=stage, overwrite_existing=True)
    scope = "/World/Arm/Actuators"
    if name == "old":
        Sdf.CopySpec(stage.GetRootLayer(), f"{scope}/shoulder", stage.GetRootLayer(), f"{scope}/old")
        stage.RemovePrim(f"{scope}/shoulder")
    (supply,) = supply_prims(stage.GetPseudoRoot())
    supply.GetRelationship(ACTUATORS).SetTargets([f"{scope}/{name}", f"{scope}/extension"])
    stage.Export(str(robot))
    motor = aa.MotorConfig(aa.PDControlConfig(16.0, 0.5))
    file = tmp_path / "overlay.usda"
    with motor_overlay(robot, file, ["shoulder"], "Other motors.") as (authored, root):
        aa.add_motors(root, {"shoulder": motor}, stage=authored)
    read = aa.motors_of(file)
    assert read["shoulder"] == motor and read["extension"] == aa.motors_of(robot)["extension"]
    assert Usd.Stage.Open(str(file)).GetPrimAtPath(f"{scope}/{name}").IsActive() == (name == "shoulder")


def test_nothing_is_written_after_an_error(tmp_path: Path) -> None:
    file = tmp_path / "overlay.usda"
    with (
        pytest.raises(ValueError, match="matches no joint"),
        motor_overlay(ROBOTS / "pendulum.usda", file, ["hinge"], "Other motors.") as (stage, root),
    ):
        aa.add_motors(root, {"elbow": aa.MotorConfig(aa.PDControlConfig(16.0, 0.5))}, stage=stage)
    assert not file.exists()


def test_equal_motors_replace_those_that_inherit(tmp_path: Path) -> None:
    file, joints, kp = ROBOTS / "so101.usda", ["shoulder_pan", "shoulder_lift"], 3.0
    for name in ("first.usda", "second.usda"):
        overlay, kp = tmp_path / name, kp + 1.0
        motor = aa.MotorConfig(aa.PDControlConfig(kp, 0.5))
        with motor_overlay(file, overlay, joints, "Other motors.") as (authored, root):
            aa.add_motors(root, {"shoulder_.*": motor}, stage=authored)
        file, read = overlay, aa.motors_of(overlay)
        found = [one for pattern, one in read.items() if pattern.startswith("shoulder")]
        assert found and all((one.controller, one.clamping) == (motor.controller, []) for one in found)
    stages = [Usd.Stage.Open(str(one)) for one in (ROBOTS / "so101.usda", file)]
    before, after = ([str(prim.GetPath()) for prim in stage.Traverse()] for stage in stages)
    assert after == before
