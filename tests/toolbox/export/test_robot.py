"""The robot to export: joints in DOF order, with what their motors say."""

from __future__ import annotations

import pytest
from isaacsim.core.experimental.actuators import (
    DCMotorClampingConfig,
    DelayConfig,
    EncoderConfig,
    MaxEffortClampingConfig,
    MotorConfig,
    PDControlConfig,
    PIDControlConfig,
)
from isaacsim.core.experimental.actuators.toolbox.export.robot import read_robot
from places import ROBOTS

ARM = ROBOTS / "arm_2dof.usda"


def test_motors_of_the_file() -> None:
    """Joints come in DOF order, with units of their kind."""
    shoulder, extension = read_robot(ARM).joints
    assert (shoulder.name, shoulder.is_linear, extension.name, extension.is_linear) == (
        *("shoulder", False),
        *("extension", True),
    )
    assert (shoulder.features["kp"], shoulder.features["max_effort"]) == (200.0, 60.0)
    assert shoulder.largest_effort == 60.0


def test_features_and_laws() -> None:
    """Values by joint are those of the joint; what has no feature is listed by kind and law."""
    motor = MotorConfig(
        PIDControlConfig({"shoulder": 3.0, "extension": 5.0}, 2.0, 1.0),
        [DCMotorClampingConfig(20.0, 9.0, 15.0), MaxEffortClampingConfig(12.0)],
        DelayConfig(2),
        armature=0.02,
        others=[EncoderConfig()],
    )
    shoulder, extension = read_robot(ARM, {".*": motor}).joints
    assert (shoulder.features["kp"], extension.features["kp"]) == (3.0, 5.0)
    assert shoulder.features["ki"] == 2.0
    assert shoulder.features["dc_motor"] == (20.0, 9.0, 15.0)
    assert shoulder.features["delay_steps"] == 2
    assert shoulder.features["armature"] == pytest.approx(0.02)
    assert shoulder.laws == ("feedback encoder",)
    assert shoulder.largest_effort == 12.0


def test_a_joint_without_a_motor_stays_in_the_list() -> None:
    """It has no gains."""
    robot = read_robot(ARM, {"extension": [PDControlConfig(1.0, 0.1)]})
    assert [joint.motor is None for joint in robot.joints] == [True, False]
    assert not robot.joints[0].has_gains
