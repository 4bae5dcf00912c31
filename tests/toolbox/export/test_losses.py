"""Properties that a target cannot store, by joint."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from isaacsim.core.experimental.actuators import (
    DelayConfig,
    EncoderConfig,
    GearedPDControlConfig,
    MaxEffortClampingConfig,
    MotorConfig,
    PDControlConfig,
    TransmissionConfig,
)
from isaacsim.core.experimental.actuators.toolbox.export.losses import losses_of, on_one_side, said_together
from isaacsim.core.experimental.actuators.toolbox.export.robot import read_robot
from isaacsim.core.experimental.actuators.toolbox.export.targets import export
from places import ROBOTS


def test_each_stage_that_is_not_said_is_named() -> None:
    """With its value, and the joints that have it."""
    motor = MotorConfig(PDControlConfig(3.0, 1.0), delay=DelayConfig(2), others=[EncoderConfig()])
    robot = read_robot(ROBOTS / "arm_2dof.usda", {".*": motor})
    said = said_together(losses_of(robot, {"kp", "kd", "position_limits"}))
    assert said == [
        "Not said: law feedback encoder, of shoulder, extension.",
        "Not said: command delay (delay_steps = 2), of shoulder, extension.",
    ]


def test_a_joint_without_a_motor_is_named() -> None:
    """It is not silently left out."""
    robot = read_robot(ROBOTS / "arm_2dof.usda", {"extension": [PDControlConfig(3.0, 1.0)]})
    assert said_together(losses_of(robot, {"kp", "kd", "position_limits"})) == ["No motor: shoulder."]


def test_a_position_limit_on_one_side_is_named(tmp_path: Path) -> None:
    """URDF and ROS have both or none; nothing is written in its place."""
    text = (ROBOTS / "arm_2dof.usda").read_text()
    (file := tmp_path / "arm.usda").write_text(re.sub(r"float physics:lowerLimit = -143.*\n", "", text))
    robot = read_robot(file)
    assert said_together(on_one_side(robot)) == [
        "Not said: position limit on one side (position_limits = -inf, 2.5), of shoulder."
    ]
    for target in ("urdf", "ros2"):
        out = tmp_path / target
        assert said_together(on_one_side(robot))[0] in export(robot, target, out)
    shoulder, extension = ElementTree.parse(tmp_path / "urdf").getroot().findall("joint/limit")
    assert "upper" not in shoulder.attrib and "upper" in extension.attrib


def test_gains_before_a_gear_are_lost() -> None:
    """A target that can say those of a joint would say them in other coordinates."""
    motor = MotorConfig(PDControlConfig(3.0, 1.0), others=[TransmissionConfig(9.0)], viscous_friction=0.5)
    robot = read_robot(ROBOTS / "arm_2dof.usda", {".*": motor})
    assert said_together(losses_of(robot, {"kp", "kd", "viscous_friction", "position_limits"})) == [
        "Not said: law transmission transmission, of shoulder, extension.",
        "Not said: proportional gain (kp = 3), of shoulder, extension.",
        "Not said: derivative gain (kd = 1), of shoulder, extension.",
    ]


def test_what_needs_gains_is_lost_without_them() -> None:
    """A target that lacks the control law lacks its limits, too; a joint without a motor has none to lose."""
    geared = MotorConfig(GearedPDControlConfig(3.0, 1.0, 2.0), [MaxEffortClampingConfig(5.0)], armature=0.1)
    robot = read_robot(ROBOTS / "arm_2dof.usda", {"shoulder": geared})
    assert said_together(losses_of(robot, {"max_effort", "armature", "position_limits"}, {"max_effort"})) == [
        "Not said: law controller geared_pd, of shoulder.",
        "Not said: largest effort (max_effort = 5), of shoulder.",
        "No motor: extension.",
    ]
