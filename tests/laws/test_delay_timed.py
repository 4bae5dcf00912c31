"""Command delays in seconds, between steps and drawn: lags, draws, resets, faults."""

import late_reference
import numpy as np
import oracle
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, DelayConfig, PDControlConfig, TimedDelayConfig
from late_reference import ENGINES, Late, arrays_on, on_both, stepped
from refusals import cases

DT = 0.005
# the efforts are the targets, and the feedforward
OF_TARGETS = PDControlConfig(1.0, 0.0)


def acting(delay, given, dt: float = DT, **options) -> np.ndarray:
    """Targets that act at one joint, with the feedforward, by engines with the same bits, `(steps, robots)`."""
    still = [[np.zeros_like(q), np.zeros_like(qd), target, ff] for q, qd, target, ff in given]
    return on_both(["j"], {"j": [OF_TARGETS, delay]}, still, dt, **options)[:, :, 0].astype(float)


def commanded(given) -> np.ndarray:
    return np.array([one[2][:, 0] + one[3][:, 0] for one in given])


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_whole_steps_are_those_of_the_other_delay(steps, rng) -> None:
    given, resets = late_reference.inputs(rng, 40, 3, 1), {15: [1], 23: [0, 2]}
    timed = acting(TimedDelayConfig(steps=steps), given, resets=resets)
    np.testing.assert_array_equal(timed, acting(DelayConfig(steps), given, resets=resets))


@cases(
    "delay, lag",
    (TimedDelayConfig(steps=0.5), 0.5),
    (TimedDelayConfig(seconds=0.0125), 2.5),
    (TimedDelayConfig(seconds=0.01, steps=1.25), 3.25),
)
def test_commands_between_steps_are_interpolated(delay, lag, rng) -> None:
    given = late_reference.inputs(rng, 40, 2, 1)
    found, all_given = acting(delay, given, resets={19: [1]}), commanded(given)
    for robot, first in ((0, 0), (1, 19)):
        late = Late()
        expected = [late(one, lag) for one in all_given[first:, robot]]
        np.testing.assert_allclose(found[first:, robot], expected, atol=2e-6, rtol=1e-5)


def lags(delay: TimedDelayConfig, robots: int, steps: int, engine: str = "native", joints: int = 1) -> np.ndarray:
    names = [f"j{number}" for number in range(joints)]
    arrays = arrays_on(engine, names, {name: [OF_TARGETS, delay] for name in names}, robots)
    zero = np.zeros((robots, joints), np.float32)
    ramp = [[zero, zero, np.full_like(zero, step), zero] for step in range(steps)]
    return np.arange(steps)[:, None, None] - stepped(arrays, ramp, DT)


def test_draws_are_uniform_and_shared_by_the_joints_of_a_robot() -> None:
    """From 0 to `random_steps`; robots differ, and both engines draw the same."""
    delay = TimedDelayConfig(random_steps=4, seed=2)
    found = lags(delay, 400, 100, joints=2)[4:]
    np.testing.assert_array_equal(found[..., 0], found[..., 1])
    counts = np.bincount(found[..., 0].astype(int).ravel(), minlength=5)
    assert len(counts) == 5 and counts == pytest.approx(found[..., 0].size / 5, rel=0.03)
    assert abs(np.corrcoef(found[:, :-1, 0].ravel(), found[:, 1:, 0].ravel())[0, 1]) < 0.03
    assert abs(np.corrcoef(found[:-1, :, 0].ravel(), found[1:, :, 0].ravel())[0, 1]) < 0.03
    np.testing.assert_array_equal(lags(delay, 30, 20, "warp"), lags(delay, 30, 20))
    assert (lags(TimedDelayConfig(random_steps=4, seed=3), 400, 20)[4:] != found[:16, :, :1]).any()


def test_draws_are_those_of_the_oracle() -> None:
    delay = TimedDelayConfig(steps=1, random_steps=3, redraw_steps=3, hold_probability=0.4, seed=9)
    found, robots = lags(delay, 20, 60)[..., 0], np.arange(20.0)
    state = np.full(20, np.nan), np.zeros(20), np.zeros(20)
    parameters = [np.full(20, float(one)) for one in (0.0, 1.0, 3.0, 3.0, 0.4, 9.0)]
    for step in range(60):
        lag, *state = oracle.timed_delay_law(np.full(20, DT), robots, *state, *parameters)
        np.testing.assert_array_equal(found[step], np.minimum(lag, step), err_msg=str(step))


@pytest.mark.parametrize("hold", [0.0, 0.3, 0.9, 1.0])
def test_draws_are_left_out_with_their_probability(hold) -> None:
    found = lags(TimedDelayConfig(random_steps=40, hold_probability=hold), 500, 90)[45:, :, 0]
    assert (np.diff(found, axis=0) != 0).mean() == pytest.approx((1.0 - hold) * 40 / 41, abs=0.01)


@pytest.mark.parametrize("period", [2, 5])
def test_robots_draw_at_different_steps(period) -> None:
    found = lags(TimedDelayConfig(random_steps=60, redraw_steps=period), 600, 61 + 6 * period)[60:, :, 0]
    changes = np.diff(found, axis=0) != 0
    by_phase = np.array([changes[phase::period] for phase in range(period)]).mean(axis=1)
    own = by_phase.argmax(axis=0)
    # of each robot, in one phase only
    assert ((by_phase > 0).sum(axis=0) <= 1).all()
    assert np.bincount(own[by_phase.max(axis=0) > 0], minlength=period) == pytest.approx(600 / period, rel=0.2)


def mjlab_lags(rng: np.random.Generator, robots: int, steps: int, most: int, hold: float, period: int) -> np.ndarray:
    """Lags of the `DelayBuffer` of mjlab, by its documented rule, from knowledge: no copy of its code.

    Per environment, lag from 0 to `most`, drawn where (step + phase) % period is 0, but kept with the probability
    `hold`; the phase is drawn per environment from 0 to period - 1; the first lag after a reset is drawn.
    """
    phase, lag, found = rng.integers(0, period, robots), rng.integers(0, most + 1, robots), []
    for step in range(steps):
        due = ((step + phase) % period == 0) & (rng.random(robots) >= hold)
        if step:
            lag = np.where(due, rng.integers(0, most + 1, robots), lag)
        found.append(lag)
    return np.array(found)


@pytest.mark.parametrize(("hold", "period"), [(0.0, 1), (0.5, 1), (0.0, 4), (0.25, 3)])
def test_draws_are_distributed_as_those_of_mjlab(hold, period) -> None:
    robots, steps, most = 1500, 80, 5
    delay = TimedDelayConfig(random_steps=most, redraw_steps=period, hold_probability=hold)
    ours = lags(delay, robots, steps)[most:, :, 0].astype(int)
    theirs = mjlab_lags(np.random.default_rng(1), robots, steps, most, hold, period)[most:]
    shares = [np.bincount(one.ravel(), minlength=most + 1) / one.size for one in (ours, theirs)]
    np.testing.assert_allclose(*shares, atol=0.01)
    for apart in (1, 2, period, 2 * period):
        same = [(one[apart:] == one[:-apart]).mean() for one in (ours, theirs)]
        assert same[0] == pytest.approx(same[1], abs=0.012), apart


def drawn_of(arrays: ActuatedArrays) -> np.ndarray:
    return next(values.copy() for key, values in arrays.save_state().items() if key.endswith(".drawn"))


@pytest.mark.parametrize("engine", ENGINES)
def test_draws_go_on_over_a_reset(engine) -> None:
    delay, zero = TimedDelayConfig(random_steps=20, redraw_steps=50), np.zeros((30, 1), np.float32)
    arrays = arrays_on(engine, ["j"], {"j": [OF_TARGETS, delay]}, 30)
    ramp = [[zero, zero, np.full_like(zero, step), zero] for step in range(60)]
    stepped(arrays, ramp[:30], DT)
    before = drawn_of(arrays)
    arrays.reset(indices=list(range(15)))
    stepped(arrays, ramp[30:31], DT)
    after = drawn_of(arrays)
    assert (before[:15] != after[:15]).mean() > 0.7 and (before[15:] == after[15:]).mean() > 0.9


def test_commands_that_are_not_finite_do_not_enter_the_past(rng) -> None:
    given = late_reference.inputs(rng, 20, 2, 1)
    given[6][2][1, 0] = np.nan
    found, all_given = acting(TimedDelayConfig(steps=2), given), commanded(given)
    assert np.isfinite(found).all() and found[6, 1] == 0.0
    np.testing.assert_allclose(found[9:, 1], all_given[7:-2, 1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[2:, 0], all_given[:-2, 0], rtol=1e-5, atol=1e-6)


def test_velocity_targets_are_as_late(rng) -> None:
    arrays = {
        engine: arrays_on(engine, ["j"], {"j": [PDControlConfig(0.0, 1.0), TimedDelayConfig(steps=1.5)]}, 1)
        for engine in ENGINES
    }
    values, zero = rng.normal(size=12).astype(np.float32), np.zeros((1, 1), np.float32)
    found = [
        [float(np.array(one.step(zero, zero, zero, DT, qd_target=np.full((1, 1), value)))[0, 0]) for value in values]
        for one in arrays.values()
    ]
    late = Late()
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], [float(late(value, 1.5)) for value in values], atol=1e-6)


def test_one_delay_per_actuator() -> None:
    with pytest.raises((TypeError, ValueError), match=r"delay"):
        ActuatedArrays(["j"], {"j": [OF_TARGETS, DelayConfig(2), TimedDelayConfig(0.01)]})
