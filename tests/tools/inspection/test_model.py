"""Robots of MJCF and URDF files: values that mean the same and differ."""

from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.tools.inspection.model import robots_of_model

MJCF = """<mujoco><compiler inertiafromgeom="{}"/><worldbody><body name="arm"><joint name="hinge"/>
<inertial pos="0 0 0" mass="{}" diaginertia="1 1 1"/><geom size="0.1" mass="2"/></body></worldbody></mujoco>"""
URDF = """<robot name="arm"><link name="base"/><link name="arm"/>
<joint name="hinge" type="{}"><parent link="base"/><child link="arm"/>
<limit lower="-1" upper="1.5" effort="{}" velocity="0"/></joint>
<ros2_control name="arm" type="system"><joint name="hinge"><command_interface name="{}">
<param name="min">{}</param><param name="max">{}</param></command_interface></joint></ros2_control></robot>"""


def found(folder: Path, text: str, ending: str) -> tuple[str, ...]:
    """What differs in a file."""
    (file := folder / f"arm.{ending}").write_text(text)
    (robot,) = robots_of_model(file)
    return robot.two_values


@pytest.mark.parametrize(("option", "mass", "count"), [("true", 3.0, 1), ("true", 2.0, 0), ("auto", 3.0, 0)])
def test_masses_that_those_of_shapes_replace(option, mass, count, tmp_path) -> None:
    """MuJoCo does so without a word; as a rule `<inertial>` counts, and nothing is replaced."""
    lines = found(tmp_path, MJCF.format(option, mass), "xml")
    assert len(lines) == count
    expected = "<arm>: its mass by shapes = 2, as inertiafromgeom has it, and that of its <inertial> = 3 (SI) mean the"
    assert all(line.startswith(expected) for line in lines)


@pytest.mark.parametrize(
    ("command", "low", "high", "told"),
    [
        ("position", -1.0, 1.5, []),
        ("position", -0.5, 0.5, []),
        ("position", -57.2957795, 1.5, ["min of its position command = -57.2958 (SI) mean the same and differ, by a"]),
        ("effort", -9.0, 9.0, []),
        ("effort", -9.0, 12.0, ["max of its effort command = 12 (SI) mean the same and differ."]),
        ("effort", "", "${most}", []),
        # a velocity of 0 is no limit
        ("velocity", -12.0, 12.0, []),
        ("stiffness", -12.0, 12.0, []),
    ],
)
def test_commands_of_ros2_control_beyond_the_limits_of_the_joint(command, low, high, told, tmp_path) -> None:
    """Less is a choice; degrees are told as such."""
    lines = found(tmp_path, URDF.format("revolute", 9.0, command, low, high).replace("${most}", "most"), "urdf")
    assert len(lines) == len(told)
    assert all(
        line.startswith("<hinge>: its <limit ") and words in line for line, words in zip(lines, told, strict=True)
    )
