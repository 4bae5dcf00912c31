import pytest
from hidden_motors import ARM, known_motor
from isaacsim.core.experimental.actuators import (
    FrictionConfig,
    LinkageConfig,
    MaxEffortClampingConfig,
    MotorConfig,
    PDControlConfig,
)
from isaacsim.core.experimental.actuators.tools.identification.given_motors import given_motors


def test_motors_of_the_file() -> None:
    found = given_motors(ARM, None, ["shoulder"])
    assert set(found) == {"shoulder", "extension"} and found["shoulder"].controller == PDControlConfig(200.0, 20.0)


def test_the_first_pattern_counts_and_friction_is_a_stage() -> None:
    stiff = MotorConfig(PDControlConfig(90.0, 1.0), friction=0.5)
    found = given_motors(ARM, {"sh.*": stiff, ".*": known_motor()}, ["shoulder", "extension"])
    assert found["shoulder"].controller == stiff.controller
    assert any(isinstance(one, FrictionConfig) and one.coulomb == 0.5 for one in found["shoulder"].others)
    assert found["extension"].controller == known_motor().controller


def test_a_joint_without_a_control_law_is_refused() -> None:
    with pytest.raises(ValueError, match="extension: no motor with a control law"):
        given_motors(ARM, {"shoulder": known_motor(), "extension": MotorConfig()}, ["shoulder", "extension"])


def test_joints_that_a_shaft_moves_need_no_motor() -> None:
    tendon = MotorConfig(PDControlConfig(9.0, 1.0), others=[LinkageConfig.tendon({"shoulder": 1.0, "extension": 2.0})])
    joints = ["shoulder", "extension"]
    assert set(given_motors(ARM, {"shoulder": tendon}, joints)) == {"shoulder"}
    passive = MotorConfig(others=[FrictionConfig(0.1)])
    assert given_motors(ARM, {"shoulder": tendon, "extension": passive}, joints)["extension"] == passive


def test_values_are_those_of_the_joint() -> None:
    law = PDControlConfig({"s.*": 9.0, "ext.*": 4.0}, 1.0)  # pyright: ignore[reportArgumentType]
    assert given_motors(ARM, {".*": MotorConfig(law, [MaxEffortClampingConfig("joint")])}, ["shoulder"]) == {
        "shoulder": MotorConfig(PDControlConfig(9.0, 1.0), [MaxEffortClampingConfig(60.0)]),
        "extension": MotorConfig(PDControlConfig(4.0, 1.0), [MaxEffortClampingConfig(100.0)]),
    }
