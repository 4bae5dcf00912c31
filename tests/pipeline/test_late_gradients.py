"""Gradients through delays in seconds or between steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    EncoderConfig,
    PDControlConfig,
    RateConfig,
    TimedDelayConfig,
)

JOINTS, ROBOTS, STEPS, DT = ["hip", "knee"], 3, 14, 0.005
SIZE = ROBOTS, len(JOINTS)
torch = pytest.importorskip("torch")


def loss_of(values: dict[str, Any], targets: Any) -> Any:
    """A weighted sum of the efforts of a motion, in which the controller squares nothing: it is linear in targets."""
    motors = {".*": [PDControlConfig(20.0, 1.0), TimedDelayConfig(seconds=0.0075, steps=0.5, max_steps=8)]}
    arrays = ActuatedArrays(JOINTS, motors, ROBOTS, requires_grad=True)
    numbers = np.random.default_rng(3)
    loss = torch.zeros((), dtype=torch.float64)
    for step in range(STEPS):
        q, qd, weight = (torch.tensor(numbers.normal(size=SIZE).astype(np.float32)) for _ in range(3))
        loss = loss + (arrays.step(q, qd, targets[step], DT, parameters=values) * weight).double().sum()
    return loss


@pytest.mark.parametrize(("name", "value"), [("seconds", 0.0081), ("seconds", 0.0002), ("steps", 1.3)])
def test_by_the_delay_as_by_differences(name: str, value: float) -> None:
    """Within a step the acting command is linear in the delay, so a difference of any size within it is exact."""
    targets = torch.tensor(np.random.default_rng(4).normal(size=(STEPS, *SIZE)).astype(np.float32))
    delay = torch.full(SIZE, value, requires_grad=True)
    loss_of({name: delay}, targets).backward()
    change = 0.02 * (DT if name == "seconds" else 1.0)
    ends = [loss_of({name: torch.full(SIZE, value + sign * change)}, targets) for sign in (1.0, -1.0)]
    expected = float(ends[0] - ends[1]) / (2.0 * change)
    assert float(delay.grad.sum()) == pytest.approx(expected, rel=1e-4)


def test_by_commands_as_by_differences() -> None:
    """Of each step, also of those that only the first command of a reset stands for."""
    given = np.random.default_rng(5).normal(size=(STEPS, *SIZE)).astype(np.float32)
    targets = torch.tensor(given, requires_grad=True)
    loss_of({}, targets).backward()
    for at in ((0, 1, 0), (5, 0, 1), (STEPS - 2, 2, 1), (STEPS - 1, 0, 0)):
        changed = torch.tensor(given)
        changed[at] += 1.0
        difference = float(loss_of({}, changed) - loss_of({}, torch.tensor(given)))
        assert float(targets.grad[at]) == pytest.approx(difference, abs=2e-4)


@pytest.mark.parametrize(
    "stage", [TimedDelayConfig(steps=1, random_steps=2), EncoderConfig(latency_steps=1), RateConfig(decimation=2)]
)
def test_what_has_none_is_refused(stage: Any) -> None:
    """By name."""
    with pytest.raises(NotImplementedError, match=r"requires_grad = True: .*(drawn anew|acts late|rate)"):
        arrays = ActuatedArrays(JOINTS, {".*": [PDControlConfig(20.0, 1.0), stage]}, ROBOTS, requires_grad=True)
        q = torch.zeros(SIZE)
        arrays.step(q, q, torch.zeros(SIZE, requires_grad=True), DT)
