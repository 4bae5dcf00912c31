import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.motion import motion_of


@pytest.mark.parametrize("dt", [0.0025, 0.005, 0.02])
def test_derivatives_of_a_sine(dt) -> None:
    phase = 2 * np.pi * np.array([1.0, 1.5]) * np.arange(0.0, 2.0, dt)[:, None]
    velocity, acceleration = motion_of(np.sin(phase), dt)
    rate = 2 * np.pi * np.array([1.0, 1.5])
    np.testing.assert_allclose(velocity, rate * np.cos(phase), atol=0.02)
    inner = slice(7, -7)
    np.testing.assert_allclose(acceleration[inner], (-(rate**2) * np.sin(phase))[inner], atol=0.4)


def test_short_logs_have_a_shorter_filter() -> None:
    velocity, acceleration = motion_of(np.linspace(0.0, 0.6, 7)[:, None], 0.1)
    np.testing.assert_allclose(velocity, 1.0)
    np.testing.assert_allclose(acceleration, 0.0, atol=1e-9)


def test_logs_shorter_than_the_filter_are_refused() -> None:
    with pytest.raises(ValueError, match="positions has 6 samples: must be at least 7"):
        motion_of(np.zeros((6, 1)), 0.1)
