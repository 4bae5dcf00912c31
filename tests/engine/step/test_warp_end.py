"""The solver of one law at the end of the step, in Warp; `tests/laws/test_implicit_effort.py` has whole steps."""

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.engine.step.warp_end import (
    ROUNDS,
    acts_at_end,
    bounded_slope,
    improved,
    resolved,
)
from isaacsim.core.experimental.actuators.laws.contract import catalogue


@wp.kernel
def solve(
    stiff: wp.array[float], most: wp.array[float], gain: wp.array[float], found: wp.array[float], rounds: wp.array[int]
):
    """Solve `effort = most clipped line` of a final velocity `gain·effort - 1`."""
    i = wp.tid()
    tried, again, round = wp.float32(0.0), wp.int32(1), wp.int32(0)
    low, high = wp.float32(-wp.inf), wp.float32(wp.inf)
    while again != 0 and round < ROUNDS:
        line = -stiff[i] * (gain[i] * tried - 1.0)
        effort = wp.clamp(line, -most[i], most[i])
        slope = bounded_slope(-stiff[i] if wp.abs(line) < most[i] else 0.0)
        tried, low, high, again = improved(tried, effort, slope, gain[i], low, high)
        round = round + 1
    found[i] = tried
    rounds[i] = round


def test_solver_finds_efforts_of_any_stiffness(rng) -> None:
    count = 4000
    stiff, most, gain = (10.0 ** rng.uniform(*range, count) for range in ((-2, 4), (-1, 3), (-4, 1)))
    arrays = [wp.array(one, dtype=wp.float32, device="cpu") for one in (stiff, most, gain)]
    found, rounds = wp.zeros(count, dtype=float, device="cpu"), wp.zeros(count, dtype=int, device="cpu")
    wp.launch(solve, count, arrays, [found, rounds], device="cpu")
    np.testing.assert_allclose(found.numpy(), np.minimum(stiff / (1 + stiff * gain), most), rtol=1e-4)
    assert rounds.numpy().max() < 24


@wp.kernel
def move(position: wp.array[float], apart: wp.array[float], exact: wp.array[float], moved: wp.array[float]):
    i = wp.tid()
    exact[i] = resolved(position[i], apart[i], 0.005)
    moved[i] = (position[i] + 0.005 * exact[i]) - position[i]


def test_positions_of_secants_are_not_rounded(rng) -> None:
    count = 4000
    position = rng.choice([-1, 1], count) * 10.0 ** rng.uniform(-3, 4, count)
    apart = rng.choice([-1, 1], count) * 10.0 ** rng.uniform(-5, 0, count)
    arrays = [wp.array(values, dtype=wp.float32, device="cpu") for values in (position, apart)]
    exact, moved = (wp.zeros(count, dtype=float, device="cpu") for _ in range(2))
    wp.launch(move, count, arrays, [exact, moved], device="cpu")
    np.testing.assert_allclose(moved.numpy(), 0.005 * exact.numpy(), rtol=1e-5)
    # the nearest multiple of what a number of about twice the size resolves
    unit = np.spacing((2 * np.abs(position) + np.abs(0.005 * apart)).astype(np.float32))
    assert (np.abs(0.005 * (exact.numpy() - apart)) <= 1.01 * unit).all()
    assert 0.05 < (exact.numpy() == 0).mean() < 0.5


def test_stages_at_the_end_are_those_that_change_the_effort_of_a_motor() -> None:
    """Friction steps the joint itself; what publishes signals, converts, delays or holds does not."""
    names = {law.name for law in catalogue.laws() if law.name and acts_at_end(law.component)}
    assert {"ClampingDCMotor", "ClampingMaxEffort", "ElectricalWinding", "PassiveCogging"} <= names
    assert not names & {"PassiveFriction", "ThermalTwoNode", "TransmissionGear", "EffortDelayTimed", "RateHold"}
