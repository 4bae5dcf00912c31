"""Transmissions of URDF files: simple ones are gears of motors, the others are read and named."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    MaxEffortClampingConfig,
    PDControlConfig,
    Simulation,
    TransmissionConfig,
    motors_of,
)
from isaacsim.core.experimental.actuators.hosts.mujoco.urdf_transmissions import (
    UrdfTransmission,
    gears_of,
    transmissions_of,
)

SIMPLE = "transmission_interface/SimpleTransmission"


def link(name: str) -> str:
    """A link of one kilogram."""
    inertia = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>'
    return f'<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial></link>'


def joint(name: str, parent: str, child: str) -> str:
    """A hinge about y with an effort limit."""
    ends = f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>'
    return f'<joint name="{name}" type="revolute">{ends}<limit lower="-9" upper="9" effort="5" velocity="2"/></joint>'


ARM = "".join(map(link, ("base", "upper", "lower"))) + joint("shoulder", "base", "upper")
ARM += joint("elbow", "upper", "lower")


def read(text: str) -> list[UrdfTransmission]:
    """The transmissions of a robot."""
    return transmissions_of(ET.fromstring(f"<robot>{text}</robot>"))


def simple(joint: str = "", actuator: str = "", name: str = "j", kind: str = SIMPLE) -> str:
    """A simple transmission of one joint."""
    return (
        f'<transmission name="t"><type>{kind}</type><joint name="{name}">{joint}</joint>'
        f'<actuator name="m">{actuator}</actuator></transmission>'
    )


def reduction(value: object, tag: str = "mechanicalReduction") -> str:
    return f"<{tag}>{value}</{tag}>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (simple(actuator=reduction(50)), TransmissionConfig(50.0)),
        (simple(reduction(-50)), TransmissionConfig(-50.0)),
        (simple(reduction(50), reduction(50)), TransmissionConfig(50.0)),
        (simple(reduction(50), reduction(1)), TransmissionConfig(50.0)),
        (simple(reduction(" 4 ") + "<offset>0.5</offset>"), TransmissionConfig(4.0, -2.0)),
        (simple("<offset>-0.5</offset>"), TransmissionConfig(1.0, 0.5)),
        (simple(reduction(1.0) + "<offset>0</offset>"), None),
        (simple(), None),
        # of ros2_control, and of the first ROS
        (
            f"<ros2_control><transmission><plugin>{SIMPLE}</plugin><actuator name='m' role='actuator1'/>"
            f"<joint name='j' role='joint1'>{reduction(30, 'mechanical_reduction')}</joint>"
            "</transmission></ros2_control>",
            TransmissionConfig(30.0),
        ),
        (
            f'<transmission type="pr2_mechanism_model/SimpleTransmission"><actuator name="m"/><joint name="j"/>'
            f"{reduction(20)}</transmission>",
            TransmissionConfig(20.0),
        ),
    ],
)
def test_simple_transmission_is_a_gear(text: str, expected: TransmissionConfig | None) -> None:
    """Its reduction is that of the actuator or that of the joint; without effect there is none."""
    gears, problems = gears_of(read(text), ["j"])
    assert gears.get("j") == expected and not problems


def test_offset_is_where_the_joint_is_when_its_actuator_is_at_zero() -> None:
    """j = a/n + o, so that the angle of the motor n·j + θ₀ is a."""
    ((_, gear),) = gears_of(read(simple(reduction(-4) + "<offset>0.5</offset>")), ["j"])[0].items()
    actuator = np.linspace(-3.0, 3.0, 7)
    np.testing.assert_allclose(gear.ratio * (actuator / -4.0 + 0.5) + gear.offset, actuator, atol=1e-15)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (simple(reduction(50), reduction(2)), "its reductions 2 and 50 are no single number other than 0"),
        (simple(reduction(0)), "its reductions 1 and 0 are no"),
        (simple(reduction("50:1")), "its reductions 1 and nan are no"),
        (simple("<offset>zero</offset>"), "its offset is no number"),
        (simple(name="other"), "no joint with a motor"),
        (simple(kind=""), "no type"),
        (simple(reduction(50)) + simple(reduction(2)), "2 transmissions"),
        (simple().replace("<actuator", '<joint name="k"/><actuator'), "SimpleTransmission of 2 joints"),
        (simple(kind="my_robot/Belt"), "Belt"),
    ],
)
def test_other_transmissions_are_named(text: str, why: str) -> None:
    """By joint, with the reason, each once."""
    gears, problems = gears_of(read(text), ["j", "k"])
    assert not gears and why in problems[0] and len(problems) == len(set(problems))


@pytest.mark.parametrize("kind", ["DifferentialTransmission", "FourBarLinkageTransmission"])
def test_transmission_that_couples_joints(kind: str) -> None:
    """Its numbers are read in the order of the roles; its joints are named."""
    text = (
        f"<transmission><plugin>transmission_interface/{kind}</plugin>"
        f"<actuator name='b' role='actuator2'>{reduction(-50)}</actuator>"
        f"<actuator name='a' role='actuator1'>{reduction(40)}</actuator>"
        f"<joint name='roll'><role>joint2</role>{reduction(2)}<offset>0.25</offset></joint>"
        "<joint name='pitch'><role>joint1</role></joint></transmission>"
    )
    found = read(text)
    assert found == [UrdfTransmission(kind, ("pitch", "roll"), (40.0, -50.0), (1.0, 2.0), (0.0, 0.25))]
    assert gears_of(found, ["pitch", "roll"]) == ({}, [f"'pitch' ({kind})", f"'roll' ({kind})"])


def test_motors_of_a_file(tmp_path: Path) -> None:
    """The limit of the joint is that of the motor times the reduction, and a motor moves the joint as before."""
    text = ARM + simple(reduction(-20), name="shoulder") + simple(name="elbow", kind="my_robot/Belt")
    file = tmp_path / "arm.urdf"
    file.write_text(f'<robot name="arm">{text}</robot>')
    with Simulation(file) as sim:
        with pytest.warns(UserWarning, match=r"that motors do not have: 'elbow' \(Belt\). The motors of") as caught:
            motors = motors_of(sim)
        assert caught[0].filename == __file__
        shoulder = motors["shoulder"]
        assert shoulder.clamping == [MaxEffortClampingConfig(0.25)] and shoulder.others == [TransmissionConfig(-20.0)]
        assert motors["elbow"].clamping == [MaxEffortClampingConfig(5.0)] and not motors["elbow"].others
    # gains of the motor, and the same at the joint
    shoulder.controller = PDControlConfig(0.05, 0.005)
    arrays = ActuatedArrays(["shoulder"], {"shoulder": shoulder})
    position, velocity, target = (np.full((1, 1), value, np.float32) for value in (0.1, 0.2, 0.3))
    expected = 20.0 * (0.3 - 0.1) - 2.0 * 0.2
    np.testing.assert_allclose(arrays.step(position, velocity, target, 0.01), [[expected]], rtol=1e-5)
    np.testing.assert_allclose(arrays.step(position, velocity, target + 1.0, 0.01), [[5.0]], rtol=1e-6)
