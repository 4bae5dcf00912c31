"""Differences between two files."""

import math
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import inspect_robots
from isaacsim.core.experimental.actuators.tools.inspection.compare import Difference, differences
from places import ROBOTS
from pxr import Sdf, Usd
from robot_files import ARM, EXTENSION, OF_EXTENSION, OF_SHOULDER, SHOULDER, edited, number, schema, without


def between(first: Path, second: Path) -> list[Difference]:
    return differences(inspect_robots(first), inspect_robots(second))


def test_a_file_does_not_differ_from_itself() -> None:
    arm = ROBOTS / "arm_2dof.usda"
    assert between(arm, arm) == []
    found = between(arm, ROBOTS / "arm_2dof.xml")
    assert [(one.joint, one.property) for one in found] == [("shoulder", "driven by"), ("extension", "driven by")]
    assert (found[0].robot, found[0].first, found[0].second) == (ARM, "actuator", "MJCF actuator")


def test_numbers_that_differ_are_told_in_si(tmp_path) -> None:
    other = edited(
        tmp_path,
        number(SHOULDER, "physics:upperLimit", 90.0),
        number(OF_SHOULDER, "newton:kp", 210.0),
        schema(OF_EXTENSION, "NewtonActuatorDelayAPI"),
    )
    found = {(one.joint, one.property): one for one in between(ROBOTS / "arm_2dof.usda", other)}
    assert found.keys() == {*(("shoulder", "upper_limit"), ("shoulder", "PD.kp"), ("extension", "delay.delay_steps"))}
    limit, gain, delay = found.values()
    assert (limit.unit, limit.first, limit.second) == ("rad", pytest.approx(2.5), pytest.approx(math.pi / 2))
    assert (gain.unit, gain.first, gain.second) == ("N·m/rad", 200.0, 210.0)
    assert (delay.unit, delay.first, delay.second) == ("physics steps", None, 1)


def test_joints_and_actuators_of_one_side_only(tmp_path) -> None:
    bare = edited(tmp_path, without(OF_SHOULDER), without(EXTENSION), without(OF_EXTENSION))
    found = between(bare, ROBOTS / "arm_2dof.usda")
    (there,) = (one for one in found if one.joint == "extension")
    assert (there.property, there.first, there.second) == ("joint", None, "there")
    names = {one.property for one in found if one.joint == "shoulder"}
    assert names == {"driven by", "PD.kp", "PD.kd", "PD.const_effort", "max effort.max_effort"}


def test_robots_are_the_same_by_path(tmp_path) -> None:
    two = Usd.Stage.CreateNew(str(tmp_path / "two.usda"))
    for name in ("Left", "Right"):
        two.DefinePrim(f"/World/{name}").GetReferences().AddReference(str(ROBOTS / "arm_2dof.usda"), ARM)
    two.GetRootLayer().Save()
    one = edited(tmp_path, number(OF_SHOULDER, "newton:kp", 210.0), name="one.usda")
    layer = Sdf.Layer.CreateNew(str(tmp_path / "left.usda"))
    left = Usd.Stage.Open(layer)
    left.DefinePrim("/World/Left").GetReferences().AddReference(str(one), ARM)
    layer.Save()
    found = between(tmp_path / "two.usda", tmp_path / "left.usda")
    assert [(one.robot, one.property, one.first, one.second) for one in found] == [
        ("/World/Left", "PD.kp", 200.0, 210.0),
        ("/World/Right", "robot", "there", None),
    ]
