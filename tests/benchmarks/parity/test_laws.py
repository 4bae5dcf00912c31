"""Our side: limits act on some of the random states and not on others, and states are at their edges."""

import dataclasses
from itertools import islice

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.specs.config import ClampingConfig

from benchmarks.parity.cases import CASES
from benchmarks.parity.laws import DT, Motor, edges_of, names_of, our_step, pid, stage
from benchmarks.parity.signals import Signals, random_signals

ROBOTS, STEPS = 200, 10
LIMITED = list(dict.fromkeys((case.ours, case.commands) for case in CASES))


def efforts(motors: list[Motor], signals: list[Signals]) -> np.ndarray:
    step = our_step(motors, ROBOTS)
    return np.stack([step(given) for given in signals])


@pytest.mark.parametrize(("ours", "commands"), LIMITED)
def test_limits_act_on_some_states(ours, commands, rng) -> None:
    """Without a limit, 3 to 97 % of the efforts are others."""
    motors = [[part(rng) for part in ours] for _ in range(4)]
    signals = list(islice(random_signals(rng, ROBOTS, [edges_of(one) for one in motors], commands), STEPS))
    limited = efforts(motors, signals)
    for kind in [type(one) for one in motors[0] if isinstance(one, ClampingConfig)]:
        free = efforts([[one for one in motor if type(one) is not kind] for motor in motors], signals)
        assert 0.03 < (limited != free).mean() < 0.97, kind


def test_the_integral_reaches_its_limit_and_stays_within(rng) -> None:
    motor = [pid(rng)]
    law = stage(motor, aa.PIDControlConfig)
    signals = list(islice(random_signals(rng, ROBOTS, [edges_of(motor)]), 40))
    errors = np.cumsum([one.position_targets - one.positions for one in signals], axis=0) * DT
    assert 0.1 < (np.abs(errors) > law.integral_max).mean() < 0.9


def test_edges_are_those_of_the_limits() -> None:
    motor = [
        aa.PDControlConfig(1.0, 0.0),
        aa.DCMotorClampingConfig(60.0, 10.0, 30.0),
        aa.PositionBasedClampingConfig([-1.0, 2.0], [3.0, 4.0]),
        aa.MaxEffortClampingConfig(1.0),
    ]
    edges = edges_of(motor)
    assert list(edges.positions) == [-1.0, 2.0] and sorted(edges.velocities) == [-15.0, -10.0, 10.0, 15.0]
    assert edges_of([aa.DCMotorCutoffClampingConfig(60.0, 10.0, 30.0)]).velocities == edges.velocities


def test_stages_by_kind() -> None:
    motor = [aa.DelayConfig(2), aa.PDControlConfig(1.0, 0.0)]
    assert stage(motor, aa.PDControlConfig) is motor[1] and names_of(motor) == ["DelayConfig", "PDControlConfig"]
    with pytest.raises(KeyError, match="PIDControlConfig"):
        stage(motor, aa.PIDControlConfig)


def test_drawn_numbers_are_those_of_float32(rng) -> None:
    """Peers that compute in float64 get the same numbers."""
    for part in dict.fromkeys(part for case in CASES for part in case.ours):
        drawn = part(rng)
        for one in dataclasses.fields(drawn):  # pyright: ignore[reportArgumentType]
            value = getattr(drawn, one.name)
            if value != one.default and isinstance(value, float | list):
                numbers = np.asarray(value, np.float64)
                np.testing.assert_array_equal(numbers.astype(np.float32), numbers, f"{part.__name__}: {one.name}")
