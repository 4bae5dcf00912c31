"""Recordings of joints that vibrate, and of joints that do not."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from places import ROBOTS
from refusals import cases, refused

DT = 0.005
TIME = np.arange(0.0, 2.0, DT)


@cases("frequency", 12.3, 31.0, 77.7, 100.0)
@cases("count", 400, 377)
def test_tone_is_measured_in_spite_of_motion(frequency, count, rng) -> None:
    """Up to half the rate, within 1 %; the second joint moves and does not vibrate."""
    time = TIME[:count]
    moves = 0.3 * np.sin(2 * np.pi * 0.6 * time) + 1e-4 * rng.normal(size=count)
    (found,) = aa.buzz(np.stack([moves, moves + 0.01 * np.cos(2 * np.pi * frequency * time)], axis=1), DT)
    assert found.joint == 1 and found.frequency == pytest.approx(frequency, rel=0.01)
    assert found.amplitude == pytest.approx(0.01, rel=0.03)


@cases(
    "calm",
    np.zeros_like(TIME),
    0.3 * TIME + 0.1 * TIME**2,
    0.5 - 0.5 * np.exp(-4 * TIME) * np.cos(2 * np.pi * 8 * TIME),
    # steps from target to target
    0.2 * np.sign(np.sin(2 * np.pi * TIME)),
    np.random.default_rng(0).normal(size=len(TIME)),
    1e-7 * np.sin(2 * np.pi * 40 * TIME),
    ids=["rest", "ramp", "ringing", "jumps", "noise", "tiny"],
)
def test_what_is_no_tone_is_no_buzz(calm) -> None:
    assert aa.buzz(calm, DT) == []


def test_strongest_comes_first_and_threshold_counts() -> None:
    tone = np.sin(2 * np.pi * 40 * TIME)
    both = np.stack([0.01 * tone, 0.03 * tone], axis=1)
    assert [one.joint for one in aa.buzz(both, DT)] == [1, 0]
    assert [one.joint for one in aa.buzz(both, DT, threshold=0.02)] == [1]


def recorded(kd: float, dt: float) -> np.ndarray:
    """Positions of a pendulum held by its motor, after a second to arrive."""
    with aa.Simulation(ROBOTS / "pendulum.usda", dt) as sim:
        motor = {"hinge": [aa.PDControlConfig(100.0, kd), aa.MaxEffortClampingConfig(10.0)]}
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", motor)
        sim.play()
        robot = actuators.articulation
        robot.set_dof_position_targets(0.1)
        positions = []
        for step in range(3 * round(1 / dt)):
            sim.step()
            if step * dt >= 1.0:
                positions.append(robot.get_dof_positions().numpy()[0].copy())
        return np.array(positions)


@cases("dt", 1 / 60, 1 / 240)
@pytest.mark.filterwarnings("ignore:.*will vibrate")
def test_simulation_that_is_told_to_vibrate_buzzes(dt) -> None:
    limit = 2 * 0.26 / dt
    (found,) = aa.buzz(recorded(2 * limit, dt), dt)
    assert found.frequency == pytest.approx(0.5 / dt, rel=0.02)
    # the clamp's effort over a step: half the speed that it removes, over half a step
    assert found.amplitude == pytest.approx(10.0 / 0.26 * dt**2 / 4, rel=0.3)
    assert aa.buzz(recorded(limit / 2, dt), dt) == []


@cases(
    "positions, dt, words",
    (np.zeros(39), DT, "with 40 steps or more"),
    (np.zeros((2, 50, 1)), DT, r"must be \(steps, joints\)"),
    (np.full(50, np.nan), DT, "finite"),
    (np.zeros(50), 0.0, "dt = 0.0: must be"),
)
def test_recordings_that_cannot_be_read_are_refused(positions, dt, words) -> None:
    refused(ValueError, lambda: aa.buzz(positions, dt), words)
