"""Intervals of a mask, and tables as text."""

import numpy as np
from isaacsim.core.experimental.actuators.tools.recording.intervals import intervals, longest, text_table


def test_intervals_at_the_ends_and_between() -> None:
    """First step, and the step after the last."""
    assert intervals(np.array([True, True, False, True, False, True])) == [(0, 2), (3, 4), (5, 6)]
    assert intervals(np.zeros(3, bool)) == intervals(np.zeros(0, bool)) == []


def test_longest_is_in_seconds() -> None:
    """A single long step is longer than two short ones."""
    durations = np.array([0.01, 0.01, 0.01, 0.05])
    assert np.isclose(longest(np.array([True, True, False, True]), durations), 0.05)
    assert longest(np.zeros(4, bool), durations) == 0.0


def test_names_are_left_and_numbers_right() -> None:
    """All lines have the same length."""
    assert text_table([("joint", "share"), ("knee_left", "5%")], 1) == "joint      share\nknee_left     5%"
