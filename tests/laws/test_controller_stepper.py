"""Stepper motors: the torque curve, steps that are lost, and detents that hold without current."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from late_reference import on_both

STEP = 2 * np.pi / 200
STEPPER = aa.StepperControlConfig(0.4, steps=200, kd=0.01)


def settled(stages, load, target: float = 0.0, start: float = 0.0) -> np.ndarray:
    """Angles at which shafts of 2e-5 kg·m² come to rest, by load; 0.4 s of steps of 0.2 ms."""
    load = np.atleast_1d(np.asarray(load, float))
    arrays = aa.ActuatedArrays(["j"], {"j": stages}, len(load))
    q, v = np.full(len(load), start), np.zeros(len(load))
    given = np.zeros((3, len(load), 1), np.float32)
    for _ in range(2000):
        given[:, :, 0] = q, v, np.full(len(load), target)
        v = v + 2e-4 * (np.array(arrays.step(*given, 2e-4))[:, 0] + load) / 2e-5
        q = q + 2e-4 * v
    assert (np.abs(v) < 1e-3).all()
    return q


def test_effort_is_the_torque_curve(rng) -> None:
    lag = np.linspace(-4, 4, 81).astype(np.float32) * np.float32(STEP)
    rows = [np.float32([0.0, 0.0, one, 0.02]).reshape(4, 1, 1) for one in lag]
    found = on_both(["j"], {"j": [STEPPER]}, rows, 0.001)[:, 0, 0]
    np.testing.assert_allclose(found, 0.02 + 0.4 * np.sin(np.pi / 2 * lag / STEP), rtol=0, atol=1e-5)
    assert STEPPER.gains_at_joint() == pytest.approx((0.4 * 50, 0.01, 0.0))


def test_shaft_lags_by_its_load_and_loses_steps_beyond() -> None:
    loads = np.array([0.0, 0.1, -0.25])
    np.testing.assert_allclose(settled([STEPPER], loads), np.arcsin(loads / 0.4) / 50, atol=1e-5)
    assert settled([STEPPER], 0.0, start=1.9 * STEP)[0] == pytest.approx(0.0, abs=1e-5)
    assert settled([STEPPER], 0.0, start=2.1 * STEP)[0] == pytest.approx(4 * STEP, abs=1e-5)


def test_detents_hold_what_they_are_given() -> None:
    detents = [aa.PDControlConfig(0.0, 0.005), aa.CoggingConfig.of_detents(24, 0.02, at=0.1)]
    loads = np.array([0.0, 0.01, -0.019])
    np.testing.assert_allclose(settled(detents, loads, start=0.12), 0.1 + np.arcsin(loads / 0.02) / 24, atol=1e-5)
    rest = settled(detents, 0.0, start=0.1 + 0.6 * 2 * np.pi / 24)[0]
    assert rest == pytest.approx(0.1 + 2 * np.pi / 24, abs=1e-5)
    slope = aa.CoggingConfig.of_detents(24, 0.02, at=5.0)
    assert np.sin(24 * 5.0 + slope.phase) == pytest.approx(0.0, abs=1e-9) and np.cos(24 * 5.0 + slope.phase) < 0


def test_bad_values_are_refused() -> None:
    with pytest.raises(ValueError, match=r"controller.steps = 0.0: must be finite and > 0"):
        aa.ActuatedArrays(["j"], {"j": [aa.StepperControlConfig(1.0, 0.0)]})
