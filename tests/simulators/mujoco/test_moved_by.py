"""Joints of a file that other actuators or equalities move."""

import pytest
from isaacsim.core.experimental.actuators import inspect_robots

pytest.importorskip("mujoco", reason="the embedded simulator is not installed")
_ARM = """<mujoco><worldbody><body name="arm"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>
<joint name="a"/><body name="b1"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/><joint name="b"/>
<body name="c1"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/><joint name="c"/></body></body></body></worldbody>
<actuator><intvelocity name="servo" joint="a" kp="5" actrange="-1 1"/></actuator>
<equality><joint joint1="b" joint2="a"{}/></equality></mujoco>"""


@pytest.mark.parametrize(("active", "follows"), [("", "another joint"), (' active="false"', "nothing")])
def test_actuators_without_a_motor_and_followers(active, follows, tmp_path) -> None:
    """An actuator with a state of its own drives its joint too, and is remarked upon."""
    file = tmp_path / "arm.xml"
    file.write_text(_ARM.format(active))
    (robot,) = inspect_robots(file)
    assert [joint.driven_by for joint in robot.joints] == ["MJCF actuator", follows, "nothing"]
    assert robot.joint("a").driver == "servo" and robot.actuators == ()
    assert "'servo'" in robot.remarks[0]
