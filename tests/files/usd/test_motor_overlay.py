"""An overlay with other motors: those of the file have no effect left, whatever their prims are called."""

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.files.usd.motor_overlay import motor_overlay
from isaacsim.core.experimental.actuators.files.usd.supplies import ACTUATORS, supply_prims
from places import ROBOTS
from pxr import Sdf, Usd


@pytest.mark.parametrize("name", ["shoulder", "old"])
def test_motors_of_any_name_and_shared_supplies_are_replaced(tmp_path, name) -> None:
    """An actuator prim of another name than its joint is deactivated; a shared supply keeps its other actuator."""
    stage = Usd.Stage.Open(str(ROBOTS / "arm_2dof.usda"))
    robot = tmp_path / "arm.usda"
    battery = aa.SupplyConfig(voltage=24.0)
    motors = {
        one: [aa.PDControlConfig(5.0, 1.0), aa.ElectricalConfig(0.1, 1.0), battery] for one in ("shoulder", "extension")
    }
    aa.add_motors("/World/Arm", motors, stage=stage, overwrite_existing=True)
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
    assert read["shoulder"] == motor
    assert read["extension"] == aa.motors_of(robot)["extension"]
    assert Usd.Stage.Open(str(file)).GetPrimAtPath(f"{scope}/{name}").IsActive() == (name == "shoulder")


def test_nothing_is_written_after_an_error(tmp_path) -> None:
    """An error in the block leaves no file."""
    file = tmp_path / "overlay.usda"
    with (
        pytest.raises(ValueError, match="matches no joint"),
        motor_overlay(ROBOTS / "pendulum.usda", file, ["hinge"], "Other motors.") as (stage, root),
    ):
        aa.add_motors(root, {"elbow": aa.MotorConfig(aa.PDControlConfig(16.0, 0.5))}, stage=stage)
    assert not file.exists()


def test_equal_motors_replace_those_that_inherit(tmp_path) -> None:
    """Motors of a pattern act where those of the file inherit; an overlay of the overlay replaces them once more."""
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
