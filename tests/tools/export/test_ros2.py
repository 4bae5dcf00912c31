"""The folder for ROS 2: what is read back has the same efforts."""

from xml.etree import ElementTree

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.export.robot import read_robot
from isaacsim.core.experimental.actuators.tools.export.ros2 import read_ros2, write_ros2
from places import ROBOTS

ARM = ROBOTS / "arm_2dof.usda"
MOTORS = {
    "shoulder": [aa.PIDControlConfig(80.3, 7.0, 2.1, 0.03), aa.MaxEffortClampingConfig(17.0)],
    "extension": [aa.PDControlConfig(900.0, 20.0)],
}


def test_what_is_read_back_has_the_same_efforts(tmp_path) -> None:
    write_ros2(read_robot(ARM, MOTORS), tmp_path / "arm", ["a loss"])
    names, random = ["shoulder", "extension"], np.random.default_rng(2)
    ours, read = aa.ActuatedArrays(names, MOTORS), aa.ActuatedArrays(names, read_ros2(tmp_path / "arm"))
    for _ in range(100):
        q, v, t = random.normal(size=(3, 2)).astype(np.float32) * np.float32(0.2)
        efforts = np.array(ours.step(q, v, t, 0.01))
        np.testing.assert_allclose(np.asarray(read.step(q, v, t, 0.01)), efforts, rtol=1e-6, atol=1e-6)


def test_a_message_changes_gains_and_nan_keeps_them(tmp_path) -> None:
    write_ros2(read_robot(ARM, MOTORS), tmp_path, [])
    text = "name: [shoulder, extension]\nposition: [.nan, 5.0]\nvelocity: [1.5, .nan]\neffort: []\n"
    (tmp_path / "gains.yaml").write_text(text)
    found = read_ros2(tmp_path)
    assert (found["shoulder"].controller.kp, found["shoulder"].controller.kd) == (80.3, 1.5)
    assert found["extension"].controller == aa.PDControlConfig(5.0, 20.0)


def test_the_system_has_the_joints_in_order(tmp_path) -> None:
    write_ros2(read_robot(ARM, MOTORS), tmp_path, ["a -- loss"])
    joints = ElementTree.parse(tmp_path / "ros2_control.xacro").findall("ros2_control/joint")
    assert [joint.get("name") for joint in joints] == ["shoulder", "extension"]
    assert [one.text for one in joints[0].findall("command_interface/param")] == ["-17", "17"]


@pytest.mark.parametrize("text", ["[]", "joint_trajectory_controller: {ros__parameters: {gains: {shoulder: 3}}}"])
def test_another_file_is_refused(text, tmp_path) -> None:
    write_ros2(read_robot(ARM, MOTORS), tmp_path, [])
    (tmp_path / "controllers.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"controllers\.yaml: must have joint_trajectory_controller/ros__param"):
        read_ros2(tmp_path)
