"""Motions and their differences."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.comparison.motion import Motion, Parting, difference


def motion(positions: np.ndarray, dt: float = 0.1) -> Motion:
    nothing = np.full_like(positions, np.nan)
    return Motion(("a", "b"), dt * np.arange(len(positions)), nothing, positions, nothing, nothing)


def test_where_motions_part() -> None:
    first = np.zeros((5, 2))
    found = difference(motion(first), motion(first + [[0, 0], [0, 5e-4], [2e-3, 3e-3], [9e-3, 0], [0, 0]]))
    assert found.parting(1e-3) == Parting(pytest.approx(0.2), "b") and found.parting(1e-2) is None
    assert found.largest == pytest.approx(9e-3) and found.mean == pytest.approx((5e-4 + 2e-3 + 3e-3 + 9e-3) / 10)
    assert found.by_joint == {"a": pytest.approx(2.2e-3), "b": pytest.approx(7e-4)}


def test_other_steps_are_interpolated() -> None:
    first = motion(np.linspace([0, 0], [1, -1], 11))
    second = motion(np.linspace([0, 0], [1, -1], 6), dt=0.2)
    assert difference(first, second).largest == pytest.approx(0.0, abs=1e-12)
    assert difference(second, first).largest == pytest.approx(0.0, abs=1e-12)


def test_what_diverged_differs_by_no_more_than_half_a_turn() -> None:
    """Neither infinite nor unknown, so that means can be compared."""
    found = difference(motion(np.zeros((3, 2))), motion(np.array([[0.0, 0.0], [1e12, 0.0], [np.nan, np.nan]])))
    assert found.errors.tolist() == [[0.0, 0.0], [np.pi, 0.0], [np.pi, np.pi]]
