"""Prims with several targets become one for each, in a layer over the file, and nothing else changes."""

from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.files.usd.schema import TARGETS, applied_schemas
from isaacsim.core.experimental.actuators.tools.inspection.fix import fix
from places import ROBOTS
from pxr import Sdf, Usd
from robot_files import Edit, edited

ANYMAL = "/World/Anymal"
LEGS = f"{ANYMAL}/Actuators/legs"
NAMES = ["LF_HAA", "RF_HAA", "LH_HAA", "RH_HAA"]


def four_at_once(stage) -> None:
    """One actuator for four joints."""
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


def split_into(file: Path, overlay: Path):
    """The stage of a file that was corrected in full."""
    fixed, left = fix(file, overlay)
    assert [one.rule for one in fixed] == ["several-targets"] and left == []
    return Usd.Stage.Open(str(overlay))


def test_each_target_gets_a_prim(tmp_path) -> None:
    """Called after its joint, with all that the first one has."""
    file = broken(tmp_path)
    stage = split_into(file, tmp_path / "fixed.usda")
    for path, joint in zip([LEGS, *(f"{ANYMAL}/Actuators/{name}" for name in NAMES[1:])], NAMES, strict=True):
        prim = stage.GetPrimAtPath(path)
        assert prim.GetRelationship(TARGETS).GetTargets() == [f"{ANYMAL}/joints/{joint}"]
        assert applied_schemas(prim) == applied_schemas(stage.GetPrimAtPath(LEGS))
        assert (prim.GetAttribute("newton:kp").Get(), prim.GetAttribute("maker:batch").Get()) == (60.0, 7)
        assert prim.GetDocumentation() == "from a bench"
    assert aa.motors_of(stage) == aa.motors_of(file)


def test_what_the_file_says_later_holds_for_all(tmp_path) -> None:
    """The new prims hold no copies."""
    file = broken(tmp_path)
    split_into(file, tmp_path / "fixed.usda")
    layer = Sdf.Layer.FindOrOpen(str(file))
    layer.GetAttributeAtPath(f"{LEGS}.newton:kp").default = 50.0
    layer.Save()
    (robot,) = aa.inspect_robots(tmp_path / "fixed.usda")
    assert [one.controller.kp for one in robot.actuators if one.joints[0] in NAMES] == [50.0] * 4


def test_a_robot_that_is_referred_to(tmp_path) -> None:
    """Inside a scene, its prims become several too; the last of a name that is taken has a number."""
    broken(tmp_path)
    scene = Usd.Stage.CreateNew(str(tmp_path / "scene.usda"))
    robot = scene.DefinePrim("/Yard/Dog")
    robot.GetReferences().AddReference("./robot.usda", ANYMAL)
    scene.OverridePrim("/Yard/Dog/Actuators/RF_HAA")
    scene.Save()
    stage = split_into(tmp_path / "scene.usda", tmp_path / "fixed.usda")
    other = stage.GetPrimAtPath("/Yard/Dog/Actuators/RF_HAA_2")
    assert other.GetRelationship(TARGETS).GetTargets() == ["/Yard/Dog/joints/RF_HAA"]
    assert other.GetAttribute("newton:kp").Get() == 60.0


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda stage: stage.DefinePrim(f"{LEGS}/notes"), "it has prims below it"),
        (lambda stage: stage.GetPrimAtPath(LEGS).SetInstanceable(True), "it is instanceable"),
    ],
)
def test_what_cannot_be_split_is_said(edit, why, tmp_path) -> None:
    """And is left, with the reason."""
    (finding,) = aa.lint(broken(tmp_path, edit))
    assert finding.rule == "several-targets" and why in finding.remedy and not finding.edits


def test_a_robot_of_an_instance_is_not_split(tmp_path) -> None:
    """It can be in the file that the instance refers to."""
    broken(tmp_path)
    scene = Usd.Stage.CreateNew(str(tmp_path / "scene.usda"))
    robot = scene.DefinePrim("/Dog")
    robot.GetReferences().AddReference("./robot.usda", "/World")
    robot.SetInstanceable(True)
    scene.Save()
    (finding,) = (one for one in aa.lint(tmp_path / "scene.usda") if one.rule == "several-targets")
    assert "it is part of an instance" in finding.remedy and not finding.edits


def test_limits_that_are_lowered_hold_for_each(tmp_path) -> None:
    """An edit of the prim itself is one of those that inherit from it."""
    limits: list[Edit] = [
        lambda stage, joint=joint: stage.GetAttributeAtPath(
            f"{ANYMAL}/joints/{joint}.drive:angular:physics:maxForce"
        ).Set(20.0)
        for joint in NAMES
    ]
    fixed, left = fix(broken(tmp_path, *limits), tmp_path / "fixed.usda")
    assert {one.rule for one in fixed} == {"several-targets", "limit-above-joint"} and left == []
    (robot,) = aa.inspect_robots(tmp_path / "fixed.usda")
    assert {one.pipeline for one in robot.actuators if one.joints[0] in NAMES} == {
        "delay 2 → PD(kp=60, kd=4) → max effort 20"
    }


def test_shipped_robots_need_none() -> None:
    """Each of their joints has its prim."""
    for file in ROBOTS.glob("*.usda"):
        (robot,) = aa.inspect_robots(file)
        assert all(len(one.joints) == 1 for one in robot.actuators)
