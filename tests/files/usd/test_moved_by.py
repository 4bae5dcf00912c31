"""Joints that move without an actuator and a drive."""

import pytest
from isaacsim.core.experimental.actuators.files.usd.moved_by import follows, mujoco_actuators
from small_stages import pendulum

HINGE = "/World/Robot/hinge"


@pytest.mark.parametrize("schema", ["NewtonMimicAPI", "MjcEqualityJointAPI", "PhysxMimicJointAPI:rotX"])
def test_joints_that_follow(schema) -> None:
    """By each of the schemas, unless it is disabled."""
    made = pendulum()
    assert not follows(made.stage, HINGE)
    made.stage.GetPrimAtPath(HINGE).AddAppliedSchema(schema)
    assert follows(made.stage, HINGE)
    made.attribute(HINGE, "newton:mimicEnabled", False)
    assert not follows(made.stage, HINGE)


def test_actuators_of_mujoco_by_what_they_act_on() -> None:
    """One without a target acts on nothing."""
    made = pendulum()
    made.stage.DefinePrim("/World/idle", "MjcActuator")
    made.stage.DefinePrim("/World/motor", "MjcActuator").CreateRelationship("mjc:target").SetTargets([HINGE])
    assert mujoco_actuators(made.stage) == {HINGE: "/World/motor"}
