"""`MotorLog`: arrays in, arrays out, and logs that are none."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from motor_logs import JOINTS, following
from refusals import cases, refused

NAN = float("nan")


def made(time=(0.0, 0.1, 0.3), **given) -> MotorLog:
    """A log of three samples of two joints, with some changes; None leaves a signal out."""
    signals = {"command": np.ones((3, 2)), "position": np.zeros((3, 2)), **given}
    return MotorLog(time, ["hip", "knee"], {name: one for name, one in signals.items() if one is not None}, "a.csv")


def test_signals_are_copies_and_read_only() -> None:
    given = np.zeros((3, 2), np.float32)
    log = made(position=given)
    given[:] = 7.0
    assert log.joints == ("hip", "knee") and log.position.dtype == np.float64
    np.testing.assert_array_equal(log.position, np.zeros((3, 2)))
    with pytest.raises(ValueError, match="read-only"):
        log.command[0, 0] = 2.0


def test_time() -> None:
    assert made([0.5, 0.51, 0.55]).duration == pytest.approx(0.05) and following(dt=0.002).dt == pytest.approx(0.002)


@cases(
    "given, said",
    ({"time": [0.0, 0.2, 0.1]}, r"a\.csv: time\[2\] = 0\.1: must rise from row to row"),
    ({"time": [0.0, 0.2, 0.2]}, r"time\[2\] = 0\.2: must rise"),
    ({"time": [0.0, NAN, 0.2]}, r"time\[1\] = nan: must rise"),
    ({"time": [0.0]}, r"time has shape \(1,\): must be \(samples,\), at least 2"),
    ({"position": None}, r"a\.csv: position: missing\. A log must have command and position"),
    ({"torque": np.zeros((3, 2))}, "torque: must be one of command, position"),
    ({"velocity": np.zeros((3, 1))}, r"velocity has shape \(3, 1\): must be \(3, 2\)"),
    ({"position": [[0, 0], [0, NAN], [0, 0]]}, "position of knee, row 1 = nan: must be finite"),
    ({"effort": [["a", "b"]] * 3}, "effort = .* must be numbers"),
)
def test_refused(given, said) -> None:
    refused(ValueError, lambda: made(**given), said)


def test_columns_are_those_of_joints_in_their_order() -> None:
    log = following()
    some = log.columns(["ankle", "hip"])
    assert some.joints == ("ankle", "hip")
    np.testing.assert_array_equal(some.position, log.position[:, [2, 0]])
    refused(ValueError, lambda: log.columns(["hip", "toe"]), "it lacks toe: must have a column for each joint")


def test_evenly_interpolates() -> None:
    log = made([1.0, 1.1, 1.3], position=[[0, 0], [1, -1], [3, -3]]).evenly(0.05)
    np.testing.assert_allclose(log.time, np.arange(7) * 0.05)
    np.testing.assert_allclose(log.position[:, 0], np.arange(7) * 0.5)
    np.testing.assert_allclose(log.position[:, 1], -np.arange(7) * 0.5)
    assert following().evenly(0.01).joints == JOINTS
