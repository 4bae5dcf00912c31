"""Gradients through delays in seconds or between steps, compared with central differences in float64."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig, TimedDelayConfig
from isaacsim.core.experimental.actuators.engine.gradients.gradient_recorder import OuterGradients
from isaacsim.core.experimental.actuators.engine.gradients.late_gradients import LateStep
from isaacsim.core.experimental.actuators.laws.contract.late import SPARE_ROWS
from isaacsim.core.experimental.actuators.laws.delay_timed import DelayTimed
from late_rollout import LateRollout, assert_same, in_place, one_each, swapped

DEPTH = 3 + SPARE_ROWS
JOINTS, ROBOTS, STEPS, DT = ["hip", "knee"], 3, 14, 0.005
SIZE = ROBOTS, len(JOINTS)
GAINS = {"kp": (5.0, 20.0), "ki": (5.0, 20.0), "kd": (0.5, 2.0), "integral_max": (0.02, 2.0)}
# a part that is drawn has no gradient
DRAWING = ("random_steps", "redraw_steps", "hold_probability", "seed")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("states", [swapped, in_place, one_each])
@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.slow("Warp")
def test_every_gradient_is_that_of_central_differences(drawn, states) -> None:
    ranges = GAINS | {"seconds": (0.001, 0.03), "DelayTimed steps": (0.1, 1.4)}
    ranges |= {"random_steps": (0.6, 2.4), "redraw_steps": (1.0, 3.0), "hold_probability": (0.0, 0.5)} if drawn else {}
    whole = "random_steps", "redraw_steps", "seed"
    rollout = LateRollout(["DelayTimed", "ControllerPID"], ranges | {"seed": (0, 99)}, seed=1, whole=whole)
    expected = rollout.differences()
    assert np.abs(expected["DelayTimed seconds"]).min() > 1e-3
    efforts, found = rollout.on_tape(states)
    np.testing.assert_allclose(efforts, rollout.acting, atol=1e-4)
    assert_same(found, expected, DRAWING)


def loss_of(values: dict, targets):
    """A weighted sum of the efforts of a motion, in which the controller squares nothing: it is linear in targets."""
    torch = pytest.importorskip("torch")
    motors = {".*": [PDControlConfig(20.0, 1.0), TimedDelayConfig(seconds=0.0075, steps=0.5, max_steps=8)]}
    arrays = ActuatedArrays(JOINTS, motors, ROBOTS, requires_grad=True)
    numbers = np.random.default_rng(3)
    loss = torch.zeros((), dtype=torch.float64)
    for step in range(STEPS):
        q, qd, weight = (torch.tensor(numbers.normal(size=SIZE).astype(np.float32)) for _ in range(3))
        loss = loss + (arrays.step(q, qd, targets[step], DT, parameters=values) * weight).double().sum()
    return loss


@pytest.mark.parametrize(("name", "value"), [("seconds", 0.0081), ("seconds", 0.0002), ("steps", 1.3)])
def test_by_the_delay_as_by_differences(name, value) -> None:
    torch = pytest.importorskip("torch")
    targets = torch.tensor(np.random.default_rng(4).normal(size=(STEPS, *SIZE)).astype(np.float32))
    delay = torch.full(SIZE, value, requires_grad=True)
    loss_of({name: delay}, targets).backward()
    change = 0.02 * (DT if name == "seconds" else 1.0)
    ends = [loss_of({name: torch.full(SIZE, value + sign * change)}, targets) for sign in (1.0, -1.0)]
    expected = float(ends[0] - ends[1]) / (2.0 * change)
    assert float(delay.grad.sum()) == pytest.approx(expected, rel=1e-4)


def test_by_commands_as_by_differences() -> None:
    torch = pytest.importorskip("torch")
    given = np.random.default_rng(5).normal(size=(STEPS, *SIZE)).astype(np.float32)
    targets = torch.tensor(given, requires_grad=True)
    loss_of({}, targets).backward()
    for at in ((0, 1, 0), (5, 0, 1), (STEPS - 2, 2, 1), (STEPS - 1, 0, 0)):
        changed = torch.tensor(given)
        changed[at] += 1.0
        difference = float(loss_of({}, changed) - loss_of({}, torch.tensor(given)))
        assert float(targets.grad[at]) == pytest.approx(difference, abs=2e-4)


def step(now: float, newest: float, ring: list[float], lag: float) -> tuple[float, LateStep]:
    result, row, steps, seconds = (np.array([one], np.float32) for one in (now, newest, lag, 0.0))
    rows = np.array(ring, np.float32)[:, None]
    (acting,), late = LateStep.of(DelayTimed, [result], [row, rows], {"steps": steps, "seconds": seconds}, DT)
    return float(acting[0]), late


def back(late: LateStep, by_acting: float, after: list[float]) -> tuple[float, list[float], float]:
    rows, before = np.array(after, np.float32)[:, None], np.zeros((DEPTH, 1), np.float32)
    by_steps, by_seconds = np.zeros((2, 1), np.float32)
    own = OuterGradients({"steps": by_steps, "seconds": by_seconds}, [rows], [before])
    (now,) = late.back([np.array([by_acting], np.float32)], own)
    assert not rows.any()
    np.testing.assert_allclose(by_seconds * DT, by_steps, rtol=1e-6)
    return float(now[0]), before[:, 0].tolist(), float(by_steps[0])


def test_result_between_two_rows() -> None:
    """Row 0 is written; a delay of 1.25 steps takes 3/4 of row 4 and 1/4 of row 3."""
    acting, late = step(7.0, 4.0, [1.0, 2.0, 3.0, 4.0, 5.0], 1.25)
    assert acting == 0.75 * 5 + 0.25 * 4
    # the gradient by what row 0 held before is lost
    assert back(late, 8.0, [100.0, 10.0, 20.0, 30.0, 40.0]) == (100.0, [0.0, 10.0, 20.0, 32.0, 46.0], -8.0)


def test_present_result_acts_in_part() -> None:
    acting, late = step(7.0, 1.0, [1.0, 2.0, 3.0, 4.0, 5.0], 0.25)
    assert acting == 0.75 * 7 + 0.25 * 2
    assert back(late, 8.0, [0.0] * DEPTH) == (6.0, [0.0, 2.0, 0.0, 0.0, 0.0], 8.0 * (2 - 7))


def test_first_result_stands_for_the_past() -> None:
    acting, late = step(7.0, np.nan, [1.0, 2.0, 3.0, 4.0, 5.0], 2.5)
    assert acting == 7.0 and back(late, 8.0, [1.0] * DEPTH) == (8.0 + DEPTH, [0.0] * DEPTH, 0.0)


def test_delay_is_cut_to_what_is_kept() -> None:
    acting, late = step(7.0, 4.0, [1.0, 2.0, 3.0, 4.0, 5.0], 3.5)
    assert acting == 3.0 and back(late, 8.0, [0.0] * DEPTH)[2] == 0.0
    acting, late = step(7.0, 4.0, [1.0, 2.0, 3.0, 4.0, 5.0], 2.5)
    assert acting == 3.5 and back(late, 8.0, [0.0] * DEPTH)[2] == -8.0


def test_result_that_is_not_finite_leaves_the_ring() -> None:
    acting, late = step(np.nan, 4.0, [1.0, 2.0, 3.0, 4.0, 5.0], 1.0)
    assert np.isnan(acting) and back(late, 8.0, [1.0, 2.0, 3.0, 4.0, 5.0]) == (0.0, [1.0, 2.0, 3.0, 4.0, 5.0], 0.0)


def test_without_a_past_the_result_acts() -> None:
    """Of a delay that stays 0 nothing is kept, whatever the rows hold."""
    ring = np.full((SPARE_ROWS, 1), np.nan, np.float32)
    zero = np.zeros(1, np.float32)
    (acting,), _ = LateStep.of(DelayTimed, [zero + 1.0], [zero, ring], {"steps": zero, "seconds": zero}, DT)
    assert acting.tolist() == [1.0]
