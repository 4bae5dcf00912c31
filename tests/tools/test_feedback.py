"""Gains and largest efforts of actuators at the joint."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.tools import feedback
from own_components import OwnController
from refusals import cases


def gains(*configs) -> np.ndarray:
    motor = aa.ActuatedArrays(["hip", "knee"], {".*": list(configs)}, num_robots=2)
    return np.concatenate([feedback.feedback_gains(actuator, 2) for actuator in motor.actuators], axis=2)


@cases(
    "config, expected",
    (aa.PDControlConfig(80.0, 2.0), [80, 2, 0]),
    (aa.PIDControlConfig(80.0, 3.0, 2.0), [80, 2, 3]),
    # an integral that may not grow does nothing
    (aa.PIDControlConfig(80.0, 3.0, 2.0, integral_max=0.0), [80, 2, 0]),
    (aa.GearedPDControlConfig(80.0, 2.0, gear=-3.0), [720, 18, 0]),
    (aa.GearedPIDControlConfig(80.0, 3.0, 2.0, gear=2.0), [320, 8, 12]),
)
def test_gains_are_those_at_the_joint(config, expected) -> None:
    found = gains(config, aa.DelayConfig(3), aa.MaxEffortClampingConfig(5.0))
    assert found.shape == (3, 2, 2) and (found == np.array(expected, float)[:, None, None]).all()


def test_a_law_of_ones_own_has_no_gains() -> None:
    """Though it has parameters of these names."""
    ones = [wp.ones(2, dtype=wp.float32, device="cpu") for _ in range(5)]
    actuator = aa.Actuator(wp.array([0, 1], dtype=wp.uint32, device="cpu"), OwnController(*ones), dof_names=["hip"])
    assert feedback.feedback_gains(actuator, 2).shape == (3, 2, 1)
    assert np.isnan(feedback.feedback_gains(actuator, 2)).all()


@wp.func
def own_effort(effort: float, position: float, velocity: float, ratio: float, offset: float, of_motor: float):
    return ratio * effort


class TransmissionOwn(aa.TransmissionGear):
    LAW = own_effort


def test_behind_a_gear_they_are_those_of_the_motor_times_the_ratio() -> None:
    gear = aa.TransmissionConfig({"hip": -10.0, "knee": 4.0})
    found = gains(aa.PIDControlConfig(80.0, 3.0, 2.0), gear)
    np.testing.assert_allclose(found[:, 0], [[8000, 1280], [200, 32], [300, 48]], rtol=1e-6)
    winding = aa.ElectricalConfig(0.02, 1.5, voltage=12.0, command="voltage")
    servo = [aa.ServoControlConfig(32.0, 0.1, 12.0), winding, gear]
    stiffness, damping = 32.0 * 0.1 * 12.0 * 0.02 / 1.5, 0.02**2 / 1.5
    np.testing.assert_allclose(gains(*servo)[:2, 0, 0], [100 * stiffness, 100 * damping], rtol=1e-6)
    table = aa.PositionBasedClampingConfig([0.0], [25.0])
    most = aa.MaxEffortClampingConfig(3.0)
    for limits, expected in (([most], [30, 12]), ([most, table], [25, 12])):
        motor = [aa.PDControlConfig(8.0, 2.0), *limits, gear]
        (actuator,) = aa.ActuatedArrays(["hip", "knee"], {".*": motor}).actuators
        np.testing.assert_allclose(feedback.largest_efforts(actuator, 1), [expected], rtol=1e-6)


@cases("own", True, False)
def test_before_a_transmission_of_ones_own_nothing_is_known(own) -> None:
    law = TransmissionOwn if own else aa.TransmissionGear
    gear = law(*(wp.full(2, value, dtype=wp.float32, device="cpu") for value in (2.0, 0.0, 0.0)))
    full = [wp.full(2, value, dtype=wp.float32, device="cpu") for value in (80.0, 2.0, 9.0)]
    at = wp.array([0, 1], dtype=wp.uint32, device="cpu")
    limits = [aa.ClampingMaxEffort(full[2])]
    actuator = aa.Actuator(at, aa.ControllerPD(*full[:2]), clamping=limits, others=[gear], dof_names=["hip", "knee"])
    assert np.isnan(feedback.feedback_gains(actuator, 1)).all() == own
    assert feedback.largest_efforts(actuator, 1).tolist() == [[np.inf if own else 18.0] * 2]


@cases(
    "limits, expected",
    ([], [np.inf, np.inf]),
    ([aa.MaxEffortClampingConfig({"hip": 5.0, "knee": 7.0}), aa.DCMotorClampingConfig(6.0, 9.0, 8.0)], [5, 6]),
    ([aa.PositionBasedClampingConfig([0.0, 1.0], [3.0, 4.0])], [4, 4]),
)
def test_largest_effort_is_the_least_of_all_bounds(limits, expected) -> None:
    motor = aa.ActuatedArrays(["hip", "knee"], {".*": [aa.PDControlConfig(80.0, 2.0), *limits]}, num_robots=2)
    (actuator,) = motor.actuators
    assert feedback.largest_efforts(actuator, 2).tolist() == [expected] * 2
    if len(limits) == 2:
        actuator.clamping[-1].max_effort = wp.array([1.0, 7.0, 5.0, 2.0], dtype=wp.float32, device="cpu")
        assert feedback.largest_efforts(actuator, 2).tolist() == [[1, 6], [5, 2]]


def test_largest_speed_is_that_without_load_at_the_joint() -> None:
    fast = aa.DCMotorClampingConfig({"hip": 6.0, "knee": 6.0}, {"hip": 9.0, "knee": 12.0}, 8.0)
    (actuator,) = aa.ActuatedArrays(["hip", "knee"], {".*": [aa.PDControlConfig(8.0, 2.0), fast]}).actuators
    assert feedback.largest_speeds(actuator, 1).tolist() == [[9, 12]]
    geared = [aa.PDControlConfig(8.0, 2.0), fast, aa.TransmissionConfig(ratio=-3.0)]
    (actuator,) = aa.ActuatedArrays(["hip", "knee"], {".*": geared}).actuators
    assert feedback.largest_speeds(actuator, 1).tolist() == [[3, 4]]
    motor = [aa.PDControlConfig(8.0, 2.0), aa.MaxEffortClampingConfig(3.0)]
    (actuator,) = aa.ActuatedArrays(["hip"], {".*": motor}).actuators
    assert feedback.largest_speeds(actuator, 1).tolist() == [[np.inf]]


def test_a_bias_that_is_not_given_does_not_matter() -> None:
    controller = aa.ControllerPD(*(wp.ones(2, dtype=wp.float32, device="cpu") for _ in range(2)))
    actuator = aa.Actuator(wp.array([0, 1], dtype=wp.uint32, device="cpu"), controller, dof_names=["hip"])
    assert feedback.feedback_gains(actuator, 2)[:, 0, 0].tolist() == [1, 1, 0]


def test_friction_of_a_table_is_dry() -> None:
    frictions = {
        "a": aa.FrictionCurveConfig([0.0, 1.0], [0.6, 0.4]),
        "b": aa.FrictionConfig(coulomb=0.1),
        "c": aa.FrictionConfig(viscous=0.1),
        "d": aa.CoggingConfig(0.1, 6.0),
    }
    arrays = aa.ActuatedArrays([*frictions], {name: [one] for name, one in frictions.items()})
    found = [feedback.has_dry_friction(actuator, 1).item() for actuator in arrays.actuators]
    assert found == [True, True, False, False]
