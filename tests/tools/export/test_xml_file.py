"""XML files of robots that get motors: what is not changed stays."""

from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.tools.export import xml_file
from isaacsim.core.experimental.actuators.tools.export.robot import ExportedJoint, ExportedRobot

TEXT = """<!-- license -->
<robot name="a">
  <gazebo:plugin x="1"/><!-- inside -->
  <joint name="b"/>
</robot>
<!-- end -->
"""


def written(folder: Path, text: str = TEXT) -> Path:
    (file := folder / "robot.xml").write_text(text)
    return file


def test_all_that_is_not_changed_stays(tmp_path) -> None:
    assert xml_file.xml_text(xml_file.read_xml(written(tmp_path), "robot")) == TEXT


def test_elements_are_added_on_lines_of_their_own(tmp_path) -> None:
    document = xml_file.read_xml(written(tmp_path), "robot")
    (joint,) = xml_file.children(xml_file.root_of(document), "joint")
    xml_file.update(xml_file.child(joint, "limit"), {"effort": "3"})
    xml_file.update(xml_file.child(joint, "limit"), {"lower": "-1"})
    lines = ['  <joint name="b">', '    <limit effort="3" lower="-1"/>', "  </joint>"]
    assert xml_file.xml_text(document) == TEXT.replace('  <joint name="b"/>', "\n".join(lines))


def test_equal_numbers_keep_their_digits_and_further_ones_stay(tmp_path) -> None:
    text = '<joint range="1.0471975511965976" damping="1 2 3" limited="true"/>'
    element = xml_file.root_of(xml_file.read_xml(written(tmp_path, text), "joint"))
    xml_file.update(element, {"range": "1.0471976", "damping": "4", "limited": "false"})
    assert element.toxml() == '<joint range="1.0471975511965976" damping="4 2 3" limited="false"/>'


def test_comments_are_first_and_not_doubled(tmp_path) -> None:
    document = xml_file.read_xml(written(tmp_path), "robot")
    for _ in range(2):
        xml_file.add_comments(document, ["one -- more", "two"])
    first = '<robot name="a">\n  <!-- one - - more -->\n  <!-- two -->\n  <gazebo:plugin'
    assert first in xml_file.xml_text(document) and xml_file.xml_text(document).count("two") == 1


def test_other_files_are_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"robot\.xml: must be XML \(.*\)\. Correct the file\."):
        xml_file.read_xml(written(tmp_path, "#usda 1.0"), "robot")
    with pytest.raises(ValueError, match=r"its outermost element is <robot>: must be <mujoco>\. Give a file of that"):
        xml_file.read_xml(written(tmp_path), "mujoco")


def test_joints_that_the_file_lacks_are_refused() -> None:
    motor = MotorConfig(PDControlConfig(1.0, 0.1))
    joints = [ExportedJoint(name, False, None if name == "free" else motor, {}, ()) for name in ("hip", "free", "xyz")]
    robot = ExportedRobot("dog", "/dog", tuple(joints))
    with pytest.raises(ValueError, match=r"has no joints hip \(FR_hip or FL_hip\?\), xyz: must have each joint of dog"):
        xml_file.driven(robot, Path("go1.xml"), ["FR_hip", "FL_hip"])
    assert [joint.name for joint in xml_file.driven(robot, Path("go1.xml"), ["hip", "xyz", "other"])] == ["hip", "xyz"]
