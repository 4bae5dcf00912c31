"""Steps of joints, and what of them was missed."""

from types import SimpleNamespace

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.tuning.steps import not_shown, steps_of
from isaacsim.core.experimental.actuators.tools.tuning.tuned import Wish


@pytest.mark.parametrize("ratio", [0.4, 0.7, 0.999])
@pytest.mark.parametrize("rest", [1.0, 0.8])
def test_numbers_of_a_step_are_those_of_its_equation(ratio, rest) -> None:
    """A second-order step that sags and rests below the target; overshoot and times count from where it rests."""
    omega, dt = 12.0, 1e-3
    time = np.arange(0.0, 3.0, dt)
    turning = omega * np.sqrt(1.0 - ratio**2)
    swing = np.cos(turning * time) + ratio * omega / turning * np.sin(turning * time)
    step = rest * (1.0 - np.exp(-ratio * omega * time) * swing)
    still = np.zeros_like(step)
    found, curves = steps_of(np.stack([step, still], axis=1), dt)
    assert found["overshoot"] == pytest.approx(np.exp(-np.pi * ratio / np.sqrt(1.0 - ratio**2)), abs=2e-3)
    assert found["settling"] == pytest.approx(time[np.flatnonzero(np.abs(step / rest - 1.0) > 0.02)[-1]], abs=2 * dt)
    assert curves.shape[1] == 1


def test_a_simulation_that_diverged_shows_nothing() -> None:
    row, ask = SimpleNamespace(joint="hinge", verdict="best", measured={}), Wish(None, 0.2, None, None, 0.0, None, None)
    assert not_shown([row], ask) == []
    row.measured = {"overshoot": 0.5, "settling": 0.5, "chatter": 0.1}
    assert len(not_shown([row], ask)) == 3
