"""Configs of transmissions: fields, conflicts, several stages, and conversion of values."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.specs import transmission
from isaacsim.core.experimental.actuators.specs.fields import conflicts, parameters_of, violations
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from places import ROBOTS
from played import played_robot
from refusals import cases, refused

PENDULUM = "/World/Pendulum"


@cases(
    "values, words",
    ({"ratio": 0.0}, "ratio = 0.0: must not be 0"),
    ({"ratio": {"hip": 3.0, "knee": 0.0}}, "must not be 0"),
    ({"ratio": np.array([2.0, 0.0])}, "must not be 0"),
    ({"ratio": math.inf}, "ratio = inf: must be finite"),
    ({"rotor_inertia": -1e-5}, "rotor_inertia = -1e-05: must be"),
    ({"efficiency": 0.0}, "efficiency = 0.0: must be"),
    ({"efficiency": 1.1}, "efficiency = 1.1: must be"),
    ({"backdriving_efficiency": -0.1}, "backdriving_efficiency = -0.1: must be"),
    ({"targets": "shaft"}, "targets = 'shaft': must be one of 'joint', 'motor'"),
)
def test_values_out_of_range_are_refused(values, words) -> None:
    with pytest.raises(ValueError, match=words):
        aa.ActuatedArrays(
            ["hip", "knee"], {".*": [aa.PDControlConfig(1.0, 0.1), aa.TransmissionConfig(**{"ratio": 10.0} | values)]}
        )


@cases(
    "efficiency, backdriving, fits",
    (1.0, 1.0, True),
    (0.8, 0.8, True),
    (0.9, 0.89, True),
    (0.6, 0.3, True),
    (0.6, 1e-6, True),
    (0.9, 0.5, False),
    (0.5, 0.9, False),
    (0.8, 1.0, False),
)
def test_efficiencies_may_not_differ_too_much(efficiency, backdriving, fits) -> None:
    both = aa.TransmissionConfig(10.0, efficiency=efficiency, backdriving_efficiency=backdriving)
    problems = conflicts(both, "gear")
    assert (not problems) == fits, problems
    assert fits or "must not differ so much" in problems[0]


def test_a_gear_does_nothing_by_default() -> None:
    gear = aa.TransmissionConfig(1.0)
    assert not violations(gear, "gear") and not conflicts(gear, "gear")
    assert [name for name, one in parameters_of(gear).items() if one.fallback is None] == ["ratio"]
    motor = motor_of([aa.PDControlConfig(1.0, 0.1), gear])
    assert transmission.transmission_of(motor) is gear and transmission.armature(motor) is None


def test_stages_in_a_row_are_one() -> None:
    ratios, inertias = [4.5, -3.0], [2e-5, 8e-6, 1e-6]
    gear = aa.TransmissionConfig.from_stages(ratios, inertias, offset=0.1)
    expected = 2e-5 + 8e-6 / 4.5**2 + 1e-6 / (4.5 * 3.0) ** 2
    assert (gear.ratio, gear.offset) == (-13.5, 0.1) and gear.rotor_inertia == pytest.approx(expected, rel=1e-12)
    # the energy of the shafts at 1 rad/s of the joint
    speeds = np.array([13.5, 3.0, 1.0])
    motor = motor_of([aa.PDControlConfig(1.0, 0.1), gear])
    assert transmission.armature(motor) == pytest.approx(speeds**2 @ inertias, rel=1e-12)
    without = aa.TransmissionConfig.from_stages(ratios, inertias[:2])
    assert without.rotor_inertia == pytest.approx(2e-5 + 8e-6 / 4.5**2, rel=1e-12)


@cases(
    "ratios, inertias, words",
    ([], [], "ratios has 0 values, inertias 0: must be at least one ratio"),
    ([3.0], [1e-5, 1e-5, 1e-5], "ratios has 1 values, inertias 3"),
    ([3.0, 2.0], [1e-5], "ratios has 2 values, inertias 1"),
    ([3.0], [-1e-5], r"inertias\[0\] = -1e-05: must be"),
    ([3.0, math.inf], [1e-5, 1e-5], r"ratios\[1\] = inf: must be"),
)
def test_stages_that_do_not_fit_are_refused(ratios, inertias, words) -> None:
    refused(ValueError, lambda: aa.TransmissionConfig.from_stages(ratios, inertias), words)


TABLE = aa.PositionBasedClampingConfig([0.0, 1.0], [2.0, 3.0])


@cases(
    "config, expected",
    (aa.PIDControlConfig(1.0, 2.0, 3.0, 4.0, 5.0), aa.PIDControlConfig(100.0, 200.0, 300.0, 0.4, -50.0)),
    (aa.DCMotorClampingConfig(1.0, 20.0, 0.5), aa.DCMotorClampingConfig(10.0, 2.0, 5.0)),
    (aa.MaxEffortClampingConfig(math.inf), aa.MaxEffortClampingConfig(math.inf)),
    (aa.MaxEffortClampingConfig("joint"), aa.MaxEffortClampingConfig("joint")),
    (aa.EnvelopeClampingConfig([-20.0, 20.0], [2.0, 1.0]), aa.EnvelopeClampingConfig([-2.0, 2.0], [20.0, 10.0])),
    (aa.ElectricalConfig(0.05, 0.3, 1e-4), aa.ElectricalConfig(0.5, 0.3, 1e-4)),
    (TABLE, TABLE),
    (aa.CoggingConfig(1.0, 2.0, 3.0), aa.CoggingConfig(1.0, 2.0, 3.0)),
    (aa.DelayConfig(3), aa.DelayConfig(3)),
    ids=lambda config: type(config).__name__,
)
def test_values_at_the_joint(config, expected) -> None:
    found = transmission.at_joint(config, -10.0)
    assert plain(found) == pytest.approx(plain(expected), rel=1e-12) and type(found) is type(config)


def plain(config):
    values = [value for value in vars(config).values() if not isinstance(value, str)]
    return np.hstack([[], *values]).astype(float)


def test_files_have_newtons_values_at_the_joint() -> None:
    for config in (aa.PIDControlConfig(1.0, 2.0, 3.0, 4.0, 5.0), aa.DCMotorClampingConfig(1.0, 20.0, 0.5)):
        stored = transmission.as_stored(config, -7.0)
        assert plain(stored) == pytest.approx(plain(transmission.at_joint(config, -7.0)))
        assert plain(transmission.as_read(stored, -7.0)) == pytest.approx(plain(config))
    winding = aa.ElectricalConfig(0.05, 0.3)
    assert transmission.as_stored(winding, -7.0) == winding == transmission.as_read(winding, -7.0)


def test_values_and_ratios_may_be_arrays() -> None:
    ratio = np.array([[2.0, -3.0]])
    found = transmission.at_joint(aa.PDControlConfig(np.array([1.0, 2.0]), 0.5, 0.1), ratio)  # pyright: ignore[reportArgumentType]
    np.testing.assert_allclose(found.kp, [[4.0, 18.0]])
    np.testing.assert_allclose(found.kd, [[2.0, 4.5]])
    np.testing.assert_allclose(found.const_effort, [[0.2, -0.3]])


def test_armature_is_that_of_the_rotor_while_attached() -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(0.1, 0.01), others=[aa.TransmissionConfig(-20.0, rotor_inertia=1e-4)])
    with played_robot(PENDULUM, ROBOTS / "pendulum.usda") as (_, robot):
        before = robot.get_dof_armatures().numpy().copy()
        bare = robot.get_mass_matrices().numpy()[0, 0, 0] - before[0, 0]
        with aa.ArticulationActuators.from_configs(PENDULUM, {".*": motor}):
            np.testing.assert_allclose(robot.get_dof_armatures().numpy(), 0.04, rtol=1e-6)
            np.testing.assert_allclose(robot.get_mass_matrices().numpy()[0, 0, 0], bare + 0.04, rtol=1e-5)
        np.testing.assert_array_equal(robot.get_dof_armatures().numpy(), before)
        # without a rotor inertia the armature of the file stays
        with aa.ArticulationActuators.from_configs(
            PENDULUM, {".*": [aa.PDControlConfig(0.1, 0.01), aa.TransmissionConfig(20.0)]}
        ):
            np.testing.assert_array_equal(robot.get_dof_armatures().numpy(), before)


def test_joint_properties_have_the_armature() -> None:
    geared = [aa.PDControlConfig(1.0, 0.1), aa.TransmissionConfig({"hip": 3.0, "knee": -10.0}, rotor_inertia=1e-3)]
    arrays = aa.ActuatedArrays(["hip", "knee", "toe"], {"hip|knee": geared, "toe": geared[:1]}, num_robots=2)
    np.testing.assert_allclose(arrays.joint_properties["armature"], [[9e-3, 0.1, np.nan]] * 2, rtol=1e-6)
    motor = motor_of([aa.PDControlConfig(1.0, 0.1), aa.TransmissionConfig(3.0, rotor_inertia=1e-3)])
    assert transmission.armature_while_attached(motor) == transmission.armature(motor) == pytest.approx(9e-3)


def test_rotors_and_losses_of_configs_by_joint() -> None:
    gear = aa.TransmissionConfig(10.0, rotor_inertia=1e-3, efficiency=0.8, backdriving_efficiency=0.8)
    pairs = [(aa.ActuatorConfig(aa.PDControlConfig(1.0, 0.1), others=[gear]), "hinge")]
    with played_robot(PENDULUM, ROBOTS / "pendulum.usda") as (_, robot):
        before = robot.get_dof_armatures().numpy().copy()
        with aa.ArticulationActuators.from_actuators(PENDULUM, pairs) as made:
            np.testing.assert_allclose(robot.get_dof_armatures().numpy(), 0.1, rtol=1e-6)
            (friction,) = [one for one in made.actuators[0].stages if isinstance(one, aa.PassiveFriction)]
            np.testing.assert_allclose(friction.read("motor_load"), 0.2 / 1.8, rtol=1e-6)
        np.testing.assert_array_equal(robot.get_dof_armatures().numpy(), before)
    arrays = aa.ActuatedArrays(["hinge"], pairs, num_robots=2)
    np.testing.assert_allclose(arrays.joint_properties["armature"], [[0.1], [0.1]], rtol=1e-6)
    component = aa.PassiveFriction.from_config(aa.FrictionConfig(0.1), 2, "cpu")
    with pytest.raises(ValueError, match="PassiveFriction and a transmission with losses: must have a FrictionConfig"):
        aa.ActuatedArrays(
            ["hinge"],
            [(aa.ActuatorConfig(aa.PDControlConfig(1.0, 0.1), others=[gear, component]), "hinge")],
            num_robots=2,
        )
