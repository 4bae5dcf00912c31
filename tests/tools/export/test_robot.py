"""The robot to export: joints in DOF order, with what their motors say."""

import dataclasses
import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.laws.contract.catalogue import LAWS
from isaacsim.core.experimental.actuators.specs.configs import ForeignConfig
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.specs.stages import parts_of
from isaacsim.core.experimental.actuators.tools.export import robot as robot_module
from places import ROBOTS
from pxr import Sdf, Usd
from valid_configs import numbered

ARM = ROBOTS / "arm_2dof.usda"


def test_motors_of_the_file() -> None:
    shoulder, extension = robot_module.read_robot(ARM).joints
    assert (shoulder.name, shoulder.is_linear) == ("shoulder", False)
    assert (extension.name, extension.is_linear) == ("extension", True)
    assert (shoulder.features["kp"], shoulder.features["max_effort"]) == (200.0, 60.0)
    # in the file in degrees, in single precision
    assert shoulder.largest_effort == 60.0 and shoulder.position_limits == (-2.5, 2.5)


def test_features_and_laws() -> None:
    motor = aa.MotorConfig(
        aa.PIDControlConfig({"shoulder": 3.0, "extension": 5.0}, 2.0, 1.0),
        [aa.DCMotorClampingConfig(20.0, 9.0, 15.0), aa.MaxEffortClampingConfig(12.0)],
        aa.DelayConfig(2),
        armature=0.02,
        others=[aa.EncoderConfig()],
    )
    shoulder, extension = robot_module.read_robot(ARM, {".*": motor}).joints
    assert (shoulder.features["kp"], extension.features["kp"]) == (3.0, 5.0) and shoulder.features["ki"] == 2.0
    assert shoulder.features["dc_motor"] == (20.0, 9.0, 15.0) and shoulder.features["delay_steps"] == 2
    assert shoulder.features["armature"] == pytest.approx(0.02) and shoulder.laws == ("feedback encoder",)
    assert shoulder.largest_effort == 12.0


def test_motor_of_a_configuration_does_not_have_the_fallback_of_the_one_in_the_file(tmp_path) -> None:
    # a copy, for layers are shared in a process
    stage = Usd.Stage.Open(Usd.Stage.Open(str(ARM)).Flatten())
    pd, rotor = aa.PDControlConfig(200.0, 20.0), aa.TransmissionConfig(10.0, rotor_inertia=1e-4)
    joint = stage.GetPrimAtPath("/World/Arm/joints/extension")
    joint.CreateAttribute("newton:friction", Sdf.ValueTypeNames.Float).Set(0.25)
    motor = [pd, rotor, aa.FrictionConfig(0.5, 0.25)]
    aa.add_motors("/World/Arm", {".*": motor}, stage=stage, overwrite_existing=True)
    stage.Export(str(file := tmp_path / "arm.usda"))
    shoulder, extension = robot_module.read_robot(file, {".*": [pd]}).joints
    assert {"armature", "friction", "viscous_friction"}.isdisjoint(shoulder.features)
    assert extension.features["friction"] == pytest.approx(0.25) and "armature" not in extension.features


BASES = {
    "PDControlConfig": aa.PDControlConfig(3.0, 2.0, 1.0),
    "PIDControlConfig": aa.PIDControlConfig(3.0, 2.0, 1.0, 4.0, 5.0),
    "MaxEffortClampingConfig": aa.MaxEffortClampingConfig(12.0),
    "DCMotorClampingConfig": aa.DCMotorClampingConfig(20.0, 9.0, 15.0),
    "DelayConfig": aa.DelayConfig(2),
}
PROPERTIES = {"armature": 0.02, "friction": 0.3, "viscous_friction": 0.4}


def exported(base, **properties: float) -> robot_module.ExportedJoint:
    """The joint of a motor with a stage, beside a PD law if it is none itself."""
    stages = [base] if base.KIND == "controller" else [aa.PDControlConfig(1.0, 0.1), base]
    return robot_module.read_robot(ARM, {".*": aa.MotorConfig(**parts_of(stages), **properties)}).joints[0]


def test_each_attribute_is_a_feature() -> None:
    for base in BASES.values():
        before = exported(base)
        assert before.laws == ()
        for name in parameters_of(base):
            changed = dataclasses.replace(base, **{name: getattr(base, name) + 1})
            assert exported(changed).features != before.features, (base, name)
    before = exported(BASES["PDControlConfig"], **PROPERTIES)
    for name, value in PROPERTIES.items():
        changed = exported(BASES["PDControlConfig"], **PROPERTIES | {name: 2 * value})
        assert changed.features != before.features, name
    assert {name for name, one in parameters_of(aa.MotorConfig).items() if one.unit} == PROPERTIES.keys()


def test_each_other_stage_is_a_law() -> None:
    # the kind of a foreign stage is that of its registration; a slewed PID has the features of a PID, and its rate; a
    # lag of commands is one
    left = {law.config.__name__ for law in LAWS} - BASES.keys()
    left -= {"ForeignConfig", "SlewedPIDControlConfig", "CommandLagConfig"}
    assert {"EncoderConfig", "ServoControlConfig", "FrictionConfig", "ImplicitConfig"} <= left
    for law in LAWS:
        if law.config.__name__ in left:
            assert robot_module.unsaid(numbered(law.config)) is not None, law.config


FRICTION = aa.FrictionConfig(0.12, 0.25)


def test_friction_of_a_stage_has_the_levels_of_joints() -> None:
    """Coulomb, static and viscous friction are features; only what shapes them otherwise is a law."""
    levels = {"friction": 0.12, "viscous_friction": 0.25}
    for stage, static, rest in (
        (FRICTION, {}, None),
        (aa.FrictionConfig(0.12, 0.25, 0.12), {}, None),
        (aa.FrictionConfig(0.12, 0.25, 0.2, in_engine=True), {"static_friction": 0.2}, None),
        (
            aa.FrictionConfig(0.12, 0.25, 0.2),
            {"static_friction": 0.2},
            {"stribeck_velocity": 0.1, "stribeck_exponent": 2},
        ),
        (aa.FrictionConfig(0.12, 0.25, motor_load=0.1), {}, {"motor_load": 0.1}),
        (aa.LuGreFrictionConfig(9.0, viscous=0.25, coulomb=0.12), {}, {"bristle_stiffness": 9.0}),
    ):
        joint = exported(stage)
        found = {name: joint.features[name] for name in robot_module.OF_JOINT & joint.features.keys()}
        assert found == levels | static and robot_module.unsaid(stage) == rest
        assert joint.laws == (() if rest is None else (robot_module.name_of(stage),))


def test_a_delay_in_seconds_is_rounded_up_to_steps() -> None:
    for delay, rate, steps, seconds in (
        (aa.TimedDelayConfig(0.0103), None, 6, 0.0103),
        (aa.TimedDelayConfig(0.01), None, 5, 0.01),
        (aa.TimedDelayConfig(steps=2.0), None, 2, 0.0),
        (aa.TimedDelayConfig(0.001, 2.5), None, 3, 0.006),
        (aa.DelayConfig(2), aa.RateConfig(4), 8, 0.016),
        (aa.DelayConfig(2), aa.RateConfig(frequency=100.0), 10, 0.02),
    ):
        motor = aa.MotorConfig(aa.PDControlConfig(1.0, 0.1), delay=delay, others=[] if rate is None else [rate])
        joint = robot_module.read_robot(ARM, {".*": motor}, dt=0.002).joints[0]
        assert joint.features["delay_steps"] == steps and joint.delay == pytest.approx(seconds)
    robot = robot_module.read_robot(ARM, {".*": [aa.PDControlConfig(1.0, 0.1), aa.TimedDelayConfig(0.0103)]})
    assert robot.dt == pytest.approx(1 / 240) and robot.joints[0].features["delay_steps"] == 3


def test_the_rotor_of_a_transmission_is_an_armature() -> None:
    for rotor, given, armature in ((1e-3, {}, 0.081), (0.0, {"armature": 0.5}, 0.5)):
        joint = exported(aa.TransmissionConfig(9.0, rotor_inertia=rotor), **given)
        assert joint.value("armature") == pytest.approx(armature) and "armature" not in joint.zeros


def test_a_joint_without_a_motor_stays_in_the_list() -> None:
    robot = robot_module.read_robot(ARM, {"extension": [aa.PDControlConfig(1.0, 0.1)]})
    assert [joint.motor is None for joint in robot.joints] == [True, False] and not robot.joints[0].has_gains


def test_friction_of_a_stage_replaces_that_of_the_joint() -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(1.0, 0.1), others=[aa.FrictionConfig(0.3)])
    joints = robot_module.read_robot(ROBOTS / "unitree_go1.usda", {".*": motor}).joints
    assert all(joint.laws == () and joint.zeros == ("viscous_friction",) for joint in joints)
    assert all(joint.motor is not None and joint.motor.friction is None for joint in joints)
    assert all(joint.value("friction") == 0.3 and "viscous_friction" not in joint.features for joint in joints)
    assert all(joint.features["armature"] > 0.0 for joint in joints)


def test_a_geared_joint_has_the_gains_of_its_motor() -> None:
    law, limit = aa.PDControlConfig(3.0, 1.0), aa.MaxEffortClampingConfig(5.0)
    motor = aa.MotorConfig(law, [limit], others=[aa.TransmissionConfig(9.0)])
    joint = robot_module.read_robot(ARM, {".*": motor}).joints[0]
    assert joint.is_geared and not joint.has_gains and joint.largest_effort == math.inf
    assert joint.value("kp") == 3.0 and joint.value("max_effort") == 5.0


def test_zeros_are_those_of_given_motors() -> None:
    motors = {"shoulder": aa.MotorConfig(aa.PDControlConfig(1.0, 0.1), friction=0.0, armature=0.5)}
    joint = robot_module.read_robot(ARM, motors).joints[0]
    assert joint.zeros == ("friction",) and "friction" not in joint.features
    assert joint.stated({"armature": "a", "friction": "f", "viscous_friction": "v"}) == {"a": "0.5", "f": "0"}
    assert robot_module.read_robot(ARM).joints[0].zeros == ()


def test_the_peak_of_a_dc_motor_is_a_limit() -> None:
    for peak, most in ((15.0, 15.0), (40.0, 40.0), (math.inf, 20.0)):
        motor = [aa.PDControlConfig(1.0, 0.1), aa.DCMotorClampingConfig(20.0, 9.0, peak)]
        assert robot_module.read_robot(ARM, {".*": motor}).joints[0].largest_effort == most


@pytest.mark.parametrize("value", [0.1, -80.0, 2.1, 1e-7, 3.4e38, 1 / 3, 123456789.0])
def test_the_same_float_comes_back(value: float) -> None:
    assert np.float32(robot_module.text_of(value)) == np.float32(value)
    assert [robot_module.text_of(one) for one in (0.1, -80.0)] == ["0.1", "-80"]


def test_a_law_of_ones_own_is_named_by_its_schema() -> None:
    assert robot_module.name_of(ForeignConfig("AcmeCubicAPI", "controller", {})) == "controller AcmeCubicAPI"
