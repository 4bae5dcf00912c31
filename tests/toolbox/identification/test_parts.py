from __future__ import annotations

import time
from concurrent.futures import CancelledError

import numpy as np
import pytest
from hidden_motors import PENDULUM, known_motor
from isaacsim.core.experimental.actuators.toolbox.identification.identified import mean_error
from isaacsim.core.experimental.actuators.toolbox.identification.log import MotorLog
from isaacsim.core.experimental.actuators.toolbox.identification.parts import HeldOut, replays_of, split


def log_of(source: str, samples: int = 41) -> MotorLog:
    still = np.full((samples, 1), 0.1)
    return MotorLog(np.arange(samples) * 0.01, ["hinge"], {"command": still, "position": still}, source, {"kp": 3.0})


@pytest.mark.parametrize(
    ("count", "held_out", "wanted"), [(2, None, 1), (4, None, 1), (8, None, 2), (3, 2, 2), (2, 0, 0)]
)
def test_the_last_logs_are_held_out(count: int, held_out: int | None, wanted: int) -> None:
    logs = [log_of(str(number)) for number in range(count)]
    training, validation = split(logs, held_out)
    assert [one.source for one in (*training, *validation)] == [one.source for one in logs]
    assert len(validation) == wanted


def test_a_single_log_is_cut() -> None:
    training, validation = split([log_of("a.csv")], None)
    assert [one.source for one in training] == ["a.csv (first three quarters)"]
    assert [one.source for one in validation] == ["a.csv (last quarter)"]
    assert len(training[0].time) + len(validation[0].time) == 41
    assert validation[0].settings == {"kp": 3.0}
    with pytest.raises(ValueError, match="held_out = 1: must be less than the 1 logs"):
        split([log_of("a.csv")], 1)


def test_the_second_part_of_a_log_is_repeated_from_its_start_on() -> None:
    pytest.importorskip("scipy")
    motors, log = {"hinge": known_motor()}, log_of("a.csv")
    training, validation = split([log], None)
    whole, first, second = (
        *replays_of(PENDULUM, motors, [log], [log], []),
        *replays_of(PENDULUM, motors, [log], training, validation),
    )
    assert [one.held_out for one in (first, second)] == [False, True]
    np.testing.assert_array_equal(np.r_[first.positions, second.positions], whole.positions)


@pytest.mark.parametrize("count", [1, 5])
def test_replays_beside_other_work_are_the_same(count: int) -> None:
    pytest.importorskip("scipy")
    motors, logs = {"hinge": known_motor()}, [log_of(str(number)) for number in range(count)]
    training, validation = split(logs, None)
    wanted = [one for one in replays_of(PENDULUM, motors, logs, training, validation) if one.held_out]
    with HeldOut(PENDULUM, motors, logs, validation) as held_out:
        assert held_out.error() == mean_error(wanted)


def test_without_anything_held_out_there_is_no_error() -> None:
    with HeldOut(PENDULUM, {"hinge": known_motor()}, [log_of("a.csv")], []) as held_out:
        assert np.isnan(held_out.error())


def test_what_is_not_waited_for_ends_early() -> None:
    pytest.importorskip("scipy")
    log = log_of("a.csv", 100_000)
    with HeldOut(PENDULUM, {"hinge": known_motor()}, [log], [log]) as held_out:
        began = time.monotonic()
    assert time.monotonic() - began < 1.0
    with pytest.raises(CancelledError):
        held_out.error()
