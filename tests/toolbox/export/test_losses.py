"""Properties that a target cannot store, by joint."""

from __future__ import annotations

from isaacsim.core.experimental.actuators import DelayConfig, EncoderConfig, MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.toolbox.export.losses import losses_of, said_together
from isaacsim.core.experimental.actuators.toolbox.export.robot import read_robot
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
    assert said_together(losses_of(robot, {"kp", "kd", "position_limits"})) == [
        "Not said: no motor: nothing is written for it, of shoulder."
    ]
