"""What controllers measure, as wrappers show it."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest

JOINTS, DT = ["hip", "knee", "ankle"], 0.005
CODE = 0.01


def moved(motors: dict, robots: int = 2, steps: int = 5) -> tuple[aa.ActuatedArrays, list[np.ndarray]]:
    arrays, numbers = aa.ActuatedArrays(JOINTS, motors, robots), np.random.default_rng(2)
    positions = []
    for _ in range(steps):
        positions.append(numbers.normal(size=(robots, len(JOINTS))).astype(np.float32))
        arrays.step(positions[-1], np.zeros_like(positions[-1]), np.zeros_like(positions[-1]), DT)
    return arrays, positions


def test_an_encoder_shows_what_it_measures_and_others_the_truth() -> None:
    motor = [aa.PDControlConfig(10.0, 1.0)]
    encoder = aa.EncoderConfig(resolution=CODE, bias=0.1, latency_steps=2)
    arrays, positions = moved({"knee": [*motor, encoder], "(hip|ankle)": motor})
    seen = arrays.measured_positions
    np.testing.assert_array_equal(seen[:, [0, 2]], positions[-1][:, [0, 2]])
    np.testing.assert_allclose(seen[:, 1], np.round((positions[-3][:, 1] + 0.1) / CODE) * CODE, atol=1e-5)
    velocities = arrays.measured_velocities
    steps = [np.round((one[:, 1] + 0.1) / CODE) * CODE for one in positions[-4:-2]]
    np.testing.assert_allclose(velocities[:, 1], (steps[1] - steps[0]) / DT, atol=1e-2)


def test_a_robot_that_was_reset_shows_the_truth_until_its_next_step() -> None:
    arrays, positions = moved({".*": [aa.PDControlConfig(10.0, 1.0), aa.EncoderConfig(bias=0.5)]})
    arrays.reset(indices=[1])
    np.testing.assert_allclose(arrays.measured_positions - positions[-1], [[0.5] * 3, [0.0] * 3], atol=1e-6)


ELASTIC = aa.ElasticTransmissionConfig(-20.0, rotor_inertia=1e-4, stiffness=500.0, assumed_inertia=0.1)


@pytest.mark.parametrize("gear", [aa.TransmissionConfig(-20.0, offset=0.3), ELASTIC])
def test_an_encoder_of_a_motor_shows_its_joint(gear) -> None:
    """Divided by the ratio, so that a resolution is finer there."""
    motor = [aa.PDControlConfig(0.01, 0.0), aa.EncoderConfig(resolution=CODE, side="motor"), gear]
    arrays = aa.ActuatedArrays(JOINTS, {".*": motor})
    q = np.array([0.1234, -0.5, 0.77], np.float32)
    arrays.step(q, np.zeros(3, np.float32), q, DT)
    np.testing.assert_allclose(arrays.measured_positions[0], q, atol=0.51 * CODE / 20.0)
    assert np.abs(arrays.measured_positions[0] - q).max() > 1e-6


def test_it_needs_a_step() -> None:
    arrays = aa.ActuatedArrays(JOINTS, {".*": [aa.PDControlConfig(10.0, 1.0)]})
    with pytest.raises(RuntimeError, match="no arrays yet"):
        _ = arrays.measured_positions
    arrays.close()
    with pytest.raises(RuntimeError, match="closed"):
        _ = arrays.measured_velocities
