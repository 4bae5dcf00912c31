"""Elements of URDF joints: limits and friction."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    MaxEffortClampingConfig,
    MotorConfig,
    PDControlConfig,
    TransmissionConfig,
)
from isaacsim.core.experimental.actuators.tools.export import export
from isaacsim.core.experimental.actuators.tools.export.robot import read_robot
from isaacsim.core.experimental.actuators.tools.export.urdf import urdf_text
from places import ROBOTS

LINK = """<link name="{}"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
SHOULDER = """<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
  <axis xyz="0 1 0"/></joint>"""
EXTENSION = """<joint name="extension" type="prismatic"><parent link="upper"/><child link="lower"/><axis xyz="0 0 1"/>
  <limit lower="0" upper="1.0471975511965976" effort="1" velocity="9"/><dynamics damping="0.5"/></joint>"""
ARM = (
    "\n".join(
        ["<!-- license -->", '<robot name="arm">', *map(LINK.format, ("base", "upper", "lower")), SHOULDER, EXTENSION]
    )
    + "\n<!-- end --></robot>\n"
)
MOTOR = MotorConfig(PDControlConfig(40.3, 1.1), [MaxEffortClampingConfig(17.3)], friction=0.2)


def urdf(folder: Path, text: str = ARM) -> Path:
    (file := folder / "arm.urdf").write_text(text)
    return file


def values(joint: ElementTree.Element, name: str) -> dict[str, float]:
    found = joint.find(name)
    assert found is not None
    return {key: float(value) for key, value in found.attrib.items()}


def test_limits_and_friction_are_those_of_the_robot() -> None:
    motor = MotorConfig(PDControlConfig(1.0, 0.1), [MaxEffortClampingConfig(17.3)], friction=0.2, viscous_friction=0.1)
    root = ElementTree.fromstring(urdf_text(read_robot(ROBOTS / "arm_2dof.usda", {".*": motor}), ["a -- loss"]))
    shoulder, extension = root.findall("joint")
    assert (shoulder.get("type"), extension.get("type")) == ("revolute", "prismatic")
    assert values(shoulder, "limit") == pytest.approx({"lower": -2.5, "upper": 2.5, "effort": 17.3}, rel=1e-6)
    assert values(shoulder, "dynamics") == {"damping": 0.1, "friction": 0.2}


def test_a_robot_with_these_attributes_has_them(tmp_path) -> None:
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
        inertial = ElementTree.SubElement(ElementTree.SubElement(root, "link", name=name), "inertial")
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


@pytest.mark.parametrize("robot", ["arm_2dof.usda", "arm.urdf"])
def test_a_whole_robot_has_the_limits(robot, tmp_path) -> None:
    file = urdf(tmp_path)
    is_other = robot.endswith(".usda")
    exported = read_robot(ROBOTS / robot if is_other else file, {".*": MOTOR})
    export(exported, "urdf", tmp_path / "out.urdf", into=file if is_other else None, lossy=True)
    back = read_robot(tmp_path / "out.urdf", {".*": [PDControlConfig(40.3, 1.1), MaxEffortClampingConfig("joint")]})
    names = ["shoulder", "extension"]
    ours, theirs = (ActuatedArrays(names, one.motors) for one in (exported, back))
    random, limited = np.random.default_rng(6), 0
    for _ in range(200):
        inputs = random.normal(size=(3, 2)).astype(np.float32) * np.float32(0.5)
        expected = np.array(ours.step(*inputs, 0.002))
        assert np.array(theirs.step(*inputs, 0.002)) == pytest.approx(expected, rel=1e-6)
        limited += abs(expected[0]) == np.float32(17.3)
    assert 20 < limited < 180
    for joint, other in zip(exported.joints, back.joints, strict=True):
        for name in ("max_effort", "friction", "viscous_friction", "position_limits"):
            one = joint.features.get(name)
            assert one is None or other.features[name] == pytest.approx(one, rel=1e-6), name
    # not a value of the motor: that of the file stays
    assert back.joints[1].value("velocity_limit") == 9.0


def test_all_else_of_the_robot_stays(tmp_path) -> None:
    export(read_robot(urdf(tmp_path), {"extension": MOTOR}), "urdf", tmp_path / "out.urdf", lossy=True)
    text = (tmp_path / "out.urdf").read_text()
    told = [line for line in text.splitlines() if "Lost" in line or "No motor" in line]
    assert len(told) == 3
    bare = "\n".join(line for line in text.splitlines() if line not in told) + "\n"
    changed = ARM.replace('effort="1"', 'effort="17.3"').replace('damping="0.5"', 'damping="0.5" friction="0.2"')
    assert [line.strip() for line in bare.splitlines()] == [line.strip() for line in changed.splitlines()]


def test_a_limit_stays_where_motors_have_none(tmp_path) -> None:
    geared = MotorConfig(PDControlConfig(1.0, 0.1), [MaxEffortClampingConfig(3.0)], others=[TransmissionConfig(9.0)])
    for motor in (MotorConfig(PDControlConfig(1.0, 0.1)), geared):
        said = export(read_robot(urdf(tmp_path), {".*": motor}), "urdf", tmp_path / "out.urdf", lossy=True)
        assert "Effort limits of the robot stay where motors have none: extension." in said
        assert 'effort="1"' in (tmp_path / "out.urdf").read_text()
    assert "Lost: largest effort of 2 joints (3 N·m or N): shoulder, extension." in said


def test_a_joint_of_another_kind_is_refused(tmp_path) -> None:
    into = urdf(tmp_path, ARM.replace('"prismatic"', '"revolute"'))
    with pytest.raises(ValueError, match=r"joint 'extension' turns: must be one that slides, as that of the motor\."):
        robot = read_robot(ROBOTS / "arm_2dof.usda", {".*": MOTOR})
        export(robot, "urdf", tmp_path / "out.urdf", into=into, lossy=True)
    assert not (tmp_path / "out.urdf").exists()


def test_meshes_beside_the_file_are_said(tmp_path) -> None:
    (tmp_path / "other").mkdir()
    visual = '<visual><geometry><mesh filename="{}m.obj"/></geometry></visual></link>'
    for place, out, is_said in (("", "other", True), ("", ".", False), ("package://arm/", "other", False)):
        into = urdf(tmp_path, ARM.replace("</link>", visual.format(place), 1))
        robot = read_robot(ROBOTS / "arm_2dof.usda", {".*": MOTOR})
        said = export(robot, "urdf", tmp_path / out / "out.urdf", into=into, lossy=True)
        assert any(one.startswith("Meshes are looked for") for one in said) is is_said
        assert f'filename="{place}m.obj"' in (tmp_path / out / "out.urdf").read_text()
