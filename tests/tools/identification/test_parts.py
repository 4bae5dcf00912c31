import time
from concurrent.futures import CancelledError

import numpy as np
import pytest
from hidden_motors import PENDULUM, known_motor
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.parts import Shipped, replays_of, split


def log_of(source: str, samples: int = 41) -> MotorLog:
    still = np.full((samples, 1), 0.1)
    return MotorLog(np.arange(samples) * 0.01, ["hinge"], {"command": still, "position": still}, source, {"kp": 3.0})


@pytest.mark.parametrize(("count", "held_out"), [(2, 0), (3, 2)])
def test_the_last_logs_are_held_out(count, held_out) -> None:
    logs = [log_of(str(number)) for number in range(count)]
    training, validation = split(logs, held_out)
    assert [one.source for one in (*training, *validation)] == [one.source for one in logs]
    assert len(validation) == held_out
    with pytest.raises(ValueError, match=f"held_out = {count}: must be less than the {count} logs"):
        split(logs, count)


@pytest.mark.parametrize("count", [1, 5])
def test_replays_beside_other_work_are_the_same(count) -> None:
    pytest.importorskip("scipy")
    motors, logs = {"hinge": known_motor()}, [log_of(str(number)) for number in range(count)]
    wanted = replays_of(PENDULUM, motors, [], logs)
    with Shipped(PENDULUM, motors, logs) as shipped:
        np.testing.assert_array_equal(shipped.errors(), np.mean([one.errors for one in wanted], axis=0))


def test_what_is_not_waited_for_ends_early() -> None:
    pytest.importorskip("scipy")
    log = log_of("a.csv", 100_000)
    with Shipped(PENDULUM, {"hinge": known_motor()}, [log]) as shipped:
        began = time.monotonic()
    assert time.monotonic() - began < 1.0
    with pytest.raises(CancelledError):
        shipped.errors()
