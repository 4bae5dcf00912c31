"""Transmissions of URDF files: gears and linkages of motors, and the others are named."""

import xml.etree.ElementTree as ET

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.simulators.mujoco.urdf_transmissions import (
    UrdfTransmission,
    stages_of,
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


def coupled(kind: str, second: float = 2.0) -> str:
    """A transmission of two joints."""
    return (
        f"<transmission><plugin>transmission_interface/{kind}</plugin>"
        f"<actuator name='b' role='actuator2'>{reduction(-50)}</actuator>"
        f"<actuator name='a' role='actuator1'>{reduction(40)}</actuator>"
        f"<joint name='k'><role>joint2</role>{reduction(second)}<offset>0.25</offset></joint>"
        f"<joint name='j'><role>joint1</role>{reduction(1.5)}</joint></transmission>"
    )


def reduction(value: object, tag: str = "mechanicalReduction") -> str:
    return f"<{tag}>{value}</{tag}>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (simple(actuator=reduction(50)), aa.TransmissionConfig(50.0)),
        (simple(reduction(-50)), aa.TransmissionConfig(-50.0)),
        (simple(reduction(50), reduction(50)), aa.TransmissionConfig(50.0)),
        (simple(reduction(50), reduction(1)), aa.TransmissionConfig(50.0)),
        (simple(reduction(" 4 ") + "<offset>0.5</offset>"), aa.TransmissionConfig(4.0, -2.0)),
        (simple("<offset>-0.5</offset>"), aa.TransmissionConfig(1.0, 0.5)),
        (simple(reduction(1.0) + "<offset>0</offset>"), None),
        (simple(), None),
        # of ros2_control, and of the first ROS
        (
            f"<ros2_control><transmission><plugin>{SIMPLE}</plugin><actuator name='m' role='actuator1'/>"
            f"<joint name='j' role='joint1'>{reduction(30, 'mechanical_reduction')}</joint>"
            "</transmission></ros2_control>",
            aa.TransmissionConfig(30.0),
        ),
        (
            f'<transmission type="pr2_mechanism_model/SimpleTransmission"><actuator name="m"/><joint name="j"/>'
            f"{reduction(20)}</transmission>",
            aa.TransmissionConfig(20.0),
        ),
    ],
)
def test_simple_transmission_is_a_gear(text, expected) -> None:
    """Its reduction is that of the actuator or that of the joint; without effect there is none."""
    gears, problems = stages_of(read(text), ["j"])
    assert gears.get("j", []) == ([] if expected is None else [expected]) and not problems


def test_offset_is_where_the_joint_is_when_its_actuator_is_at_zero() -> None:
    """j = a/n + o, so that the angle of the motor n·j + θ₀ is a."""
    (gear,) = stages_of(read(simple(reduction(-4) + "<offset>0.5</offset>")), ["j"])[0]["j"]
    assert isinstance(gear, aa.TransmissionConfig)
    actuator = np.linspace(-3.0, 3.0, 7)
    np.testing.assert_allclose(gear.ratio * (actuator / -4.0 + 0.5) + gear.offset, actuator, atol=1e-15)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (simple(reduction(50), reduction(2)), "its reductions 2 and 50, of which one must be a number other than 0"),
        (simple(reduction(0)), "its reductions 1 and 0, of which one"),
        (simple(reduction("50:1")), "its reductions 1 and nan, of which one"),
        (simple("<offset>zero</offset>"), "its offset is no number"),
        (simple(name="other"), "no motor at joint 'other'"),
        (simple(kind=""), "no type"),
        (simple(reduction(50)) + simple(reduction(2)), "2 transmissions"),
        (simple().replace("<actuator", '<joint name="k"/><actuator'), "SimpleTransmission of 2 joints and 1 actuators"),
        (coupled("DifferentialTransmission", 0.0), "its reductions 40 and -50 and 1.5 and 0, of which each must be"),
        (
            coupled("FourBarLinkageTransmission").replace("actuator name='b'", "a").replace("/actuator>", "/a>", 1),
            "of 2 joints and 1 actuators",
        ),
        (coupled("DifferentialTransmission") + simple(name="j"), "2 transmissions"),
        (simple(kind="my_robot/Belt"), "Belt"),
    ],
)
def test_other_transmissions_are_named(text, why) -> None:
    """By joint, with the reason, each once."""
    gears, problems = stages_of(read(text), ["j", "k"])
    assert not gears and why in problems[0] and len(problems) == len(set(problems))


def test_order_of_roles() -> None:
    """Joints and actuators are in that of their roles, not in that of the file."""
    assert read(coupled("Any")) == [UrdfTransmission("Any", ("j", "k"), (40.0, -50.0), (1.5, 2.0), (0.0, 0.25))]


def joints_of(kind: str, a1, a2):
    """Positions of the joints of `coupled`, as ros2_control computes them."""
    if kind == "DifferentialTransmission":
        return (a1 / 40.0 + a2 / -50.0) / (2 * 1.5), (a1 / 40.0 - a2 / -50.0) / (2 * 2.0) + 0.25
    return a1 / (40.0 * 1.5), (a2 / -50.0 - a1 / (40.0 * 1.5)) / 2.0 + 0.25


@pytest.mark.parametrize("kind", ["DifferentialTransmission", "FourBarLinkageTransmission"])
def test_transmission_that_couples_joints(kind, rng) -> None:
    """Motors are where the actuators are, and their power arrives at the joints."""
    stages, problems = stages_of(read(coupled(kind)), ["j", "k"])
    assert not problems
    actuators = rng.normal(size=2) * 20
    joints = np.array(joints_of(kind, *actuators))
    angles = [gear.ratio * (shaft.coefficients @ joints + shaft.offset) for gear, shaft in map(stages.get, "jk")]
    np.testing.assert_allclose(angles, actuators, rtol=1e-12)
    motors = {name: [aa.PDControlConfig(0.03, 0.0), *stages[name]] for name in "jk"}
    targets = actuators + rng.normal(size=2)
    goal = np.array(joints_of(kind, *targets))
    # slopes of the joints over the actuators
    slopes = np.array([np.subtract(joints_of(kind, *one), joints_of(kind, 0, 0)) for one in np.eye(2)]).T
    expected = np.linalg.solve(slopes.T, 0.03 * (targets - actuators))
    arrays = aa.ActuatedArrays(["j", "k"], motors)
    q, none, target = (np.array([one], np.float32) for one in (joints, [0.0, 0.0], goal))
    np.testing.assert_allclose(arrays.step(q, none, target, 0.01)[0], expected, rtol=1e-3)


def test_limits_behind_a_linkage(tmp_path) -> None:
    """Those of the joints are no motor's, which a warning says."""
    text = ARM + coupled("DifferentialTransmission").replace("'j'", "'shoulder'").replace("'k'", "'elbow'")
    file = tmp_path / "arm.urdf"
    file.write_text(f'<robot name="arm">{text}</robot>')
    with aa.Simulation(file) as sim:
        with pytest.warns(
            UserWarning, match="joints 'shoulder', 'elbow' have effort limits, and their motors have none"
        ):
            motors = aa.motors_of(sim)
        assert [type(one) for one in motors["elbow"].others] == [aa.TransmissionConfig, aa.LinkageConfig]
        assert not motors["elbow"].clamping
        for motor in motors.values():
            motor.clamping = [aa.MaxEffortClampingConfig(0.2)]
        actuators = aa.ArticulationActuators.from_configs("base", motors)
        sim.play()
        sim.step(10)
        assert actuators.actuated_dof_indices == [0, 1]


def test_motors_of_a_file(tmp_path) -> None:
    """The limit of the joint is that of the motor times the reduction, and a motor moves the joint as before."""
    text = ARM + simple(reduction(-20), name="shoulder") + simple(name="elbow", kind="my_robot/Belt")
    file = tmp_path / "arm.urdf"
    file.write_text(f'<robot name="arm">{text}</robot>')
    with aa.Simulation(file) as sim:
        with pytest.warns(UserWarning, match=r"that motors do not have: 'elbow' \(Belt\). The motors of") as caught:
            motors = aa.motors_of(sim)
        assert caught[0].filename == __file__
        shoulder = motors["shoulder"]
        assert shoulder.clamping == [aa.MaxEffortClampingConfig(0.25)] and shoulder.others == [
            aa.TransmissionConfig(-20.0)
        ]
        assert motors["elbow"].clamping == [aa.MaxEffortClampingConfig(5.0)] and not motors["elbow"].others
    # gains of the motor, and the same at the joint
    shoulder.controller = aa.PDControlConfig(0.05, 0.005)
    arrays = aa.ActuatedArrays(["shoulder"], {"shoulder": shoulder})
    position, velocity, target = (np.full((1, 1), value, np.float32) for value in (0.1, 0.2, 0.3))
    expected = 20.0 * (0.3 - 0.1) - 2.0 * 0.2
    np.testing.assert_allclose(arrays.step(position, velocity, target, 0.01), [[expected]], rtol=1e-5)
    np.testing.assert_allclose(arrays.step(position, velocity, target + 1.0, 0.01), [[5.0]], rtol=1e-6)
