"""Targets: start, range, and files of targets."""

from pathlib import Path

import numpy as np
from isaacsim.core.experimental.actuators.tools.trials.targets import Room, clipped, from_csv, hold, sine, step
from refusals import cases, refused

# in the middle, at a limit, in a narrow range, without limits
ROOM = Room(
    np.array([[0.0, -1.0, 0.01, 5.0]]), np.array([[-1.0, -1.0, 0.0, -np.inf]]), np.array([[1.0, 1.0, 0.1, np.inf]])
)
TIMES = np.linspace(0.0, 4.0, 801)


def test_hold_stays() -> None:
    np.testing.assert_array_equal(hold(ROOM)(3.0), ROOM.initial)


def test_a_joint_that_begins_outside_its_limits_goes_to_the_nearest(tmp_path) -> None:
    room = Room(np.array([[-2.0, 0.1]]), np.array([[-1.0, -0.15]]), np.array([[1.0, 0.15]]))
    path = write(tmp_path, "time,b\n0,0\n")
    for targets in (hold(room), sine(room, 0.2, 0.5), step(room, 0.4), from_csv(path, "ab", room)[0]):
        curve = np.array([targets(time)[0, 0] for time in TIMES])
        assert curve[0] == -1.0 == curve.min() and curve.max() <= 1.0
    assert clipped(room, "ab", (step(room, 0.4), 0.4)) == [
        "Beginning outside their limits, with targets at the nearest limit: a.",
        "Steps shorter than asked for, which keeps targets within the limits: b.",
    ]
    assert clipped(ROOM, "abcd", (step(ROOM, 0.05), 0.05)) == []


def test_sine_begins_in_the_pose_and_stays_inside() -> None:
    curve = np.array([sine(ROOM, 0.2, 0.5)(time)[0] for time in TIMES])
    np.testing.assert_allclose(curve[0], ROOM.initial[0], atol=1e-9)
    assert (curve >= ROOM.lower - 1e-9).all() and (curve <= ROOM.upper + 1e-9).all()
    np.testing.assert_allclose(np.ptp(curve, axis=0), [0.4, 0.4, 0.09, 0.4], atol=1e-3)
    assert np.abs(np.diff(curve, axis=0)).max() < 0.2 * np.pi * 0.005 * 1.01
    np.testing.assert_allclose(curve[400], curve[0], atol=1e-9)


def test_step_goes_to_where_there_is_room() -> None:
    target = step(ROOM, 0.2)
    np.testing.assert_array_equal(target(0.24), ROOM.initial)
    np.testing.assert_allclose(target(0.25)[0], [0.2, -0.8, 0.095, 5.2])
    high = Room(np.full((1, 4), 0.09), ROOM.lower, np.full((1, 4), 0.1))
    np.testing.assert_allclose(step(high, 0.2)(1.0)[0], [-0.11, -0.11, 0.005, -0.11])


def write(folder: Path, text: str) -> Path:
    path = folder / "targets.csv"
    path.write_text(text)
    return path


def test_file_is_interpolated_and_others_hold(tmp_path) -> None:
    target, last = from_csv(write(tmp_path, "time [s], d, b\n0, 5, -1\n\n2, 6, 0\n"), "abcd", ROOM)
    assert last == 2.0
    np.testing.assert_allclose(target(1.0)[0], [0.0, -0.5, 0.01, 5.5])
    np.testing.assert_allclose(target(9.0)[0], [0.0, 0.0, 0.01, 6.0])


def test_file_of_excite_is_one_of_targets(tmp_path) -> None:
    path = write(tmp_path, "time,d/command,b/command\n0,5,-1\n2,6,0\n")
    np.testing.assert_allclose(from_csv(path, "abcd", ROOM)[0](1.0)[0], [0.0, -0.5, 0.01, 5.5])
    np.testing.assert_allclose(from_csv(path, ["a", "b", "d", "d/command"], ROOM)[0](1.0)[0], [0.0, -0.5, 0.01, 5.5])


@cases(
    "text, message",
    ("", "begins with nothing: must have a column `time .s.` first"),
    ("a,b\n0,1\n", "begins with a, b"),
    ("time,a\n", "and a line at least"),
    ("time,e\n0,1\n", "column 'e': must be a joint"),
    ("time,a\n0,x\n", "could not convert string to float: 'x'"),
    ("time,a\n0,1\n1\n", "inhomogeneous"),
    ("time,a\n0\n1\n", "finite numbers"),
    ("time,a\n0,nan\n", "finite numbers"),
    ("time,a\n1,0\n1,0\n", "times that rise"),
)
def test_file_that_holds_something_else_is_an_error(text, message, tmp_path) -> None:
    refused(ValueError, lambda: from_csv(write(tmp_path, text), "abcd", ROOM), message)
