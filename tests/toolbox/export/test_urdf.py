"""Elements of URDF joints: limits and friction."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from isaacsim.core.experimental.actuators import MaxEffortClampingConfig, MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.toolbox.export.robot import read_robot
from isaacsim.core.experimental.actuators.toolbox.export.urdf import urdf_text
from places import ROBOTS


def values(joint: ElementTree.Element, name: str) -> dict[str, float]:
    """Numbers of an element of a joint."""
    found = joint.find(name)
    assert found is not None
    return {key: float(value) for key, value in found.attrib.items()}


def test_limits_and_friction_are_those_of_the_robot() -> None:
    """The joint turns or slides as in the robot, in SI."""
    motor = MotorConfig(PDControlConfig(1.0, 0.1), [MaxEffortClampingConfig(17.3)], friction=0.2, viscous_friction=0.1)
    root = ElementTree.fromstring(urdf_text(read_robot(ROBOTS / "arm_2dof.usda", {".*": motor}), ["a -- loss"]))
    shoulder, extension = root.findall("joint")
    assert (shoulder.get("type"), extension.get("type")) == ("revolute", "prismatic")
    assert values(shoulder, "limit") == pytest.approx({"lower": -2.5, "upper": 2.5, "effort": 17.3}, rel=1e-6)
    assert values(shoulder, "dynamics") == {"damping": 0.1, "friction": 0.2}


def test_a_robot_with_these_attributes_has_them(tmp_path: Path) -> None:
    """Copied into its joints, as the page says; another robot of the same joints had other ones."""
    motor = MotorConfig(PDControlConfig(1.0, 0.1), [MaxEffortClampingConfig(17.3)], friction=0.2, viscous_friction=0.1)
    exported = read_robot(ROBOTS / "arm_2dof.usda", {".*": motor})
    root = ElementTree.fromstring(
        """<robot name="arm"><link name="base"/>
        <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
        <limit lower="-1" upper="1" effort="1" velocity="9"/></joint>
        <joint name="extension" type="prismatic"><parent link="upper"/><child link="lower"/><axis xyz="0 0 1"/>
        <limit lower="0" upper="1" effort="1" velocity="9"/></joint></robot>"""
    )
    for name in ("upper", "lower"):
        link = ElementTree.SubElement(root, "link", name=name)
        inertial = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(inertial, "mass", value="1")
        ElementTree.SubElement(inertial, "inertia", ixx="1", iyy="1", izz="1", ixy="0", ixz="0", iyz="0")
    for said in ElementTree.fromstring(urdf_text(exported, [])).findall("joint"):
        joint = root.find(f"joint[@name='{said.get('name')}']")
        assert joint is not None
        for part in said:
            own = joint.find(part.tag)
            (ElementTree.SubElement(joint, part.tag) if own is None else own).attrib.update(part.attrib)
    (file := tmp_path / "arm.urdf").write_text(ElementTree.tostring(root, "unicode"))
    read = read_robot(file, {".*": [PDControlConfig(1.0, 0.1), MaxEffortClampingConfig("joint")]})
    for one, other in zip(read.joints, exported.joints, strict=True):
        assert one.name == other.name and one.is_linear == other.is_linear
        for name in ("max_effort", "friction", "viscous_friction", "position_limits"):
            assert one.features[name] == pytest.approx(other.features[name], rel=1e-6), name
        # not in the export: that of the robot stays
        assert one.features["velocity_limit"] == 9.0
