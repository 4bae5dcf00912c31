"""Elements of URDF joints: limits and friction."""

from __future__ import annotations

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
