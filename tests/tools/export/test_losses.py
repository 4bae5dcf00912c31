"""Properties that a target cannot store, by joint."""

import re
from xml.etree import ElementTree

import isaacsim.core.experimental.actuators as aa
from isaacsim.core.experimental.actuators.tools.export import losses
from isaacsim.core.experimental.actuators.tools.export.robot import read_robot
from isaacsim.core.experimental.actuators.tools.export.targets import export
from places import ROBOTS
from pxr import Usd


def test_each_stage_that_is_not_said_is_named() -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(3.0, 1.0), delay=aa.DelayConfig(2), others=[aa.EncoderConfig()])
    robot = read_robot(ROBOTS / "arm_2dof.usda", {".*": motor})
    assert losses.said_together(losses.losses_of(robot, {"kp", "kd", "position_limits"})) == [
        "Lost: law feedback encoder of 2 joints: shoulder, extension.",
        "Lost: command delay of 2 joints (2 physics steps): shoulder, extension.",
    ]


def test_a_constant_delay_is_said_whole_whatever_its_seed_and_memory() -> None:
    motor = [aa.PDControlConfig(3.0, 1.0), aa.TimedDelayConfig(0.01, seed=3, max_steps=200)]
    robot = read_robot(ROBOTS / "arm_2dof.usda", {".*": motor})
    assert losses.losses_of(robot, {"kp", "kd", "delay_steps", "position_limits"}) == []


def test_one_step_is_no_steps() -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(3.0, 1.0), delay=aa.DelayConfig(1))
    robot = read_robot(ROBOTS / "arm_2dof.usda", {".*": motor})
    (said,) = losses.said_together(losses.losses_of(robot, {"kp", "kd", "position_limits"}))
    assert said == "Lost: command delay of 2 joints (1 physics step): shoulder, extension."


def test_ends_of_a_range_that_print_alike_are_one() -> None:
    joint = read_robot(ROBOTS / "pendulum.usda").joints[0]
    almost = [losses.Loss(joint, "friction", {"": size}) for size in (1e-5, 1.0000001e-5)]
    assert losses.said_together(almost) == ["Lost: friction of 1 joint (1e-05): hinge."]


def test_a_shaft_that_nothing_turns_is_nobodys(tmp_path) -> None:
    """It is made of those of motors, also where a stage has it in single precision."""
    tendon = aa.LinkageConfig.tendon({"shoulder": 1.0, "extension": 0.8})
    (file := tmp_path / "arm.usda").write_text((ROBOTS / "arm_2dof.usda").read_text())
    motors = {"shoulder": aa.MotorConfig(aa.PDControlConfig(3.0, 1.0), others=[tendon])}
    aa.add_motors("/World/Arm", motors, stage=(stage := Usd.Stage.Open(str(file))), overwrite_existing=True)
    stage.Save()
    robot = read_robot(file)
    said = losses.said_together(losses.losses_of(robot, {"kp", "kd", "position_limits"}))
    assert said[0] == "Lost: law linkage of 1 joint (joints shoulder, extension, coefficients 1, 0.8): shoulder."
    export(robot, "yaml", tmp_path / "motors.yaml")
    assert aa.load_motors(tmp_path / "motors.yaml") == motors
    (shown,) = aa.inspect_robots(file)
    names = [name for one in shown.actuators for law, name in one.values if law == "linkage"]
    assert names == ["joints", "coefficients", "offset", "rows", "unilateral"]


def test_a_joint_without_a_motor_is_named() -> None:
    robot = read_robot(ROBOTS / "arm_2dof.usda", {"extension": [aa.PDControlConfig(3.0, 1.0)]})
    assert losses.without_motor(robot) == ["No motor: shoulder."]
    assert losses.losses_of(robot, {"kp", "kd", "position_limits"}) == []


def test_a_position_limit_on_one_side_is_named(tmp_path) -> None:
    text = (ROBOTS / "arm_2dof.usda").read_text()
    (file := tmp_path / "arm.usda").write_text(re.sub(r"float physics:lowerLimit = -143.*\n", "", text))
    robot = read_robot(file)
    said = "Lost: position limit on one side of 1 joint (lower -inf rad, upper 2.5 rad): shoulder."
    assert losses.said_together(losses.on_one_side(robot)) == [said]
    for target in ("urdf", "ros2"):
        out = tmp_path / target
        assert losses.said_together(losses.on_one_side(robot))[0] in export(robot, target, out, lossy=True)
    shoulder, extension = ElementTree.parse(tmp_path / "urdf").getroot().findall("joint/limit")
    assert "upper" not in shoulder.attrib and "upper" in extension.attrib


def test_gains_before_a_gear_are_lost() -> None:
    """A target that can say those of a joint would say them in other coordinates."""
    motor = aa.MotorConfig(aa.PDControlConfig(3.0, 1.0), others=[aa.TransmissionConfig(9.0)], viscous_friction=0.5)
    robot = read_robot(ROBOTS / "arm_2dof.usda", {".*": motor})
    assert losses.said_together(losses.losses_of(robot, {"kp", "kd", "viscous_friction", "position_limits"})) == [
        "Lost: law transmission of 2 joints (ratio 9): shoulder, extension.",
        "Lost: proportional gain of 2 joints (3 N·m/rad or N/m): shoulder, extension.",
        "Lost: derivative gain of 2 joints (1 N·m·s/rad or N·s/m): shoulder, extension.",
    ]


def test_what_needs_gains_is_lost_without_them() -> None:
    geared = aa.MotorConfig(aa.GearedPDControlConfig(3.0, 1.0, 2.0), [aa.MaxEffortClampingConfig(5.0)], armature=0.1)
    robot = read_robot(ROBOTS / "arm_2dof.usda", {"shoulder": geared})
    assert losses.said_together(
        losses.losses_of(robot, {"max_effort", "armature", "position_limits"}, {"max_effort"})
    ) == [
        "Lost: law controller geared_pd of 1 joint (kp 3 N·m/rad, kd 1 N·m·s/rad, gear 2): shoulder.",
        "Lost: largest effort of 1 joint (5 N·m): shoulder.",
    ]
