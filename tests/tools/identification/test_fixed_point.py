import numpy as np
from isaacsim.core.experimental.actuators.tools.identification.fixed_point import fixed_point
from refusals import cases


@cases("largest", 0.5, -1.6, 3.0)
def test_a_linear_function_that_turns_changes_into_larger_ones(largest) -> None:
    """Repeated calls would diverge with the two last ones."""
    draw = np.random.default_rng(0)
    turn = np.linalg.qr(draw.normal(size=(5, 5)))[0]
    matrix = turn @ np.diag([largest, 0.3, 0.1, 0.0, -0.2]) @ turn.T
    wanted = draw.uniform(-0.1, 0.1, 5)
    calls: list[int] = []

    def function(given: np.ndarray) -> np.ndarray:
        calls.append(1)
        return wanted + matrix @ (given - wanted)

    box = np.full(5, 1.0)
    np.testing.assert_allclose(fixed_point(function, np.zeros(5), -box, box, 8, 1e-6), wanted, atol=2e-3)
    assert len(calls) <= 8


def test_it_ends_when_nothing_changes_and_stays_in_its_range() -> None:
    seen: list[np.ndarray] = []

    def function(given: np.ndarray) -> np.ndarray:
        seen.append(given)
        return np.array([5.0])

    fixed_point(function, np.zeros(1), -np.ones(1), np.ones(1), 5, 1e-6)
    assert all(abs(one[0]) <= 1.0 for one in seen) and len(seen) == 5
    seen.clear()
    fixed_point(function, np.zeros(1), -np.ones(1), np.ones(1), 5, 1e-6, inside=True)
    assert len(seen) < 5
    seen.clear()
    assert fixed_point(lambda given: given, np.zeros(1), -np.ones(1), np.ones(1), 5, 1e-6) == 0.0
