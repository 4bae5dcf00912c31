"""Steps of joints, and what of them was missed."""

from types import SimpleNamespace

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.tuning.steps import not_shown, steps_of
from isaacsim.core.experimental.actuators.tools.tuning.tuned import TunedJoint, Wish
from refusals import cases


@cases("ratio", 0.4, 0.7, 0.999)
@cases("rest", 1.0, 0.8)
def test_numbers_of_a_step_are_those_of_its_equation(ratio, rest) -> None:
    """A second-order step that sags and rests below the target; overshoot and times count from where it rests."""
    omega, dt = 12.0, 1e-3
    time = np.arange(0.0, 3.0, dt)
    turning = omega * np.sqrt(1.0 - ratio**2)
    swing = np.cos(turning * time) + ratio * omega / turning * np.sin(turning * time)
    step = rest * (1.0 - np.exp(-ratio * omega * time) * swing)
    found, curves = steps_of(np.stack([step, np.zeros_like(step)], axis=1), dt)
    assert found["overshoot"] == pytest.approx(np.exp(-np.pi * ratio / np.sqrt(1.0 - ratio**2)), abs=2e-3)
    assert found["settling"] == pytest.approx(time[np.flatnonzero(np.abs(step / rest - 1.0) > 0.02)[-1]], abs=2 * dt)
    assert curves.shape[1] == 1


def test_a_step_that_hardly_moves_counts_nowhere_and_an_unsettled_one_to_its_end() -> None:
    time = np.arange(0.0, 1.0, 1e-3)
    swings = 1.0 - np.cos(40.0 * time) * np.exp(-0.05 * time)
    found, curves = steps_of(np.stack([swings, 0.1 * swings], axis=1), 1e-3)
    assert found["settling"] == pytest.approx(time[-1], abs=0.1) and curves.shape[1] == 1


@cases(
    "shown, says",
    ({}, []),
    ({"settling": 0.25}, []),
    ({"settling": 0.27}, ["Settled later than 1.3 times what was asked, in simulation: knee 0.27 s."]),
    ({"overshoot": 0.06}, ["Overshoot above 5% in simulation: knee 6%."]),
    ({"chatter": 2e-4}, ["Chatters at rest, in simulation: knee 0.0002."]),
)
def test_what_steps_miss_is_said(shown, says) -> None:
    measured = {"overshoot": 0.01, "settling": 0.2, "chatter": 0.0} | shown
    three, pair, seven = (1.0,) * 3, (1.0, 1.0), (1.0,) * 7
    row = TunedJoint(
        *("knee", *three, three, 1.0, 1.0, pair, *seven, 1.0, 0.0, 0.0, "delay", "", 1.0, "as asked"), measured=measured
    )
    assert not_shown([row], Wish(None, 0.2, 1.0, None, 0.0, None, None)) == says


def test_a_simulation_that_diverged_shows_nothing() -> None:
    row, ask = SimpleNamespace(joint="hinge", verdict="best", measured={}), Wish(None, 0.2, None, None, 0.0, None, None)
    assert not_shown([row], ask) == []
    row.measured = {"overshoot": 0.5, "settling": 0.5, "chatter": 0.1}
    assert len(not_shown([row], ask)) == 3
