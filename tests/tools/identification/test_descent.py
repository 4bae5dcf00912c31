import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.descent import Box, Evaluated, least_squares

pytest.importorskip("scipy")
BOX = Box(np.array([-5.0, -5.0]), np.array([5.0, 5.0]), np.ones(2))


class Valley:
    """Rosenbrock's valley, least at (1, 1), with a residual that stays, and waves that its slopes leave out."""

    def __init__(self, rest: float = 0.0, waves: float = 0.0, steepness: float = 10.0) -> None:
        self._rest, self._waves, self._steepness = rest, waves, steepness
        self.calls: list[np.ndarray] = []

    def __call__(self, x: np.ndarray) -> Evaluated:
        self.calls.append(x.copy())
        waves = self._waves * np.cos(1e6 * x.sum())
        steep = self._steepness
        residuals = np.array([steep * (x[1] - x[0] ** 2), 1.0 - x[0], self._rest + waves])
        return residuals, np.array([[-2.0 * steep * x[0], steep], [-1.0, 0.0], [0.0, 0.0]])


def test_the_least_is_found() -> None:
    least = least_squares(Valley(), np.array([-1.2, 1.0]), BOX, 1e-6)
    np.testing.assert_allclose(least.x, 1.0, atol=1e-6)
    np.testing.assert_allclose(least.residuals, 0.0, atol=1e-6)
    assert least.jacobian.shape == (3, 2)


def test_it_ends_before_a_step_that_does_not_matter_and_takes_it() -> None:
    valley = Valley(rest=1.0)
    least = least_squares(valley, np.array([1.0, 1.0 + 1e-4]), BOX, 1e-3)
    assert len(valley.calls) == 1
    np.testing.assert_allclose(least.x, 1.0, atol=1e-5)
    np.testing.assert_allclose(least.residuals, [0.0, 0.0, 1.0], atol=1e-5)


@pytest.mark.parametrize("waves", [-1e-3, 1e-3])
def test_it_ends_after_a_small_promise_that_was_broken(waves) -> None:
    """Waves are larger than what is left to gain: whether the step is better or not, no shorter one is tried."""
    valley = Valley(rest=1.0, waves=waves)
    least = least_squares(valley, np.array([1.0, 1.0 + 1e-3]), BOX, 1e-9)
    assert len(valley.calls) == 2
    np.testing.assert_allclose(least.x, 1.0, atol=2e-3)


@pytest.mark.parametrize("start", [(0.9, 4.0), (9.0, -9.0)])
def test_parameters_stay_in_range(start) -> None:
    valley = Valley()
    box = Box(np.array([-5.0, -5.0]), np.array([0.5, 5.0]), np.ones(2))
    np.testing.assert_allclose(least_squares(valley, np.array(start), box, 1e-9).x, [0.5, 0.25], atol=1e-3)
    assert all((call >= box.lower).all() and (call <= box.upper).all() for call in valley.calls)


def test_without_residuals_it_stays() -> None:
    least = least_squares(lambda _: (np.zeros(2), np.eye(2)), np.array([0.3, 0.4]), BOX, 1e-6)
    np.testing.assert_allclose(least.x, [0.3, 0.4])


@pytest.mark.parametrize("start", [(-2.0, 3.0), (1.0, -3.0), (1.0, -1.0), (4.0, -3.0)])
def test_a_step_that_fails_far_from_the_end_is_no_roughness(start) -> None:
    """In a steep valley long steps fail, and the short ones after them promise little, while the best promises much."""
    rest = 10.0
    least = least_squares(Valley(rest, steepness=30.0), np.array(start), BOX, 1e-6)
    assert least.residuals @ least.residuals < 1.002 * rest**2
