"""Rings of results that act late, and their gradients, step by step."""

import numpy as np
from isaacsim.core.experimental.actuators.engine.gradients.late_ring import LateStep
from isaacsim.core.experimental.actuators.laws.contract.late import SPARE_ROWS

DEPTH = 3 + SPARE_ROWS


def step(now: float, newest: float, ring: list[float], lag: float) -> tuple[float, LateStep]:
    """What acts of one joint, and the record."""
    arrays = (np.array([one], np.float32) for one in (now, newest, lag))
    result, row, wanted = arrays
    (acting,), late = LateStep.of([result], row, [np.array(ring, np.float32)[:, None]], wanted)
    return float(acting[0]), late


def back(late: LateStep, by_acting: float, after: list[float]) -> tuple[float, list[float], float]:
    """Gradients by the result of the step, by the ring before it, and by the delay."""
    rows, before = np.array(after, np.float32)[:, None], np.zeros((DEPTH, 1), np.float32)
    by = [np.array([by_acting], np.float32)]
    (now,) = late.back(by, [rows], [before])
    assert not rows.any()
    return float(now[0]), before[:, 0].tolist(), float(late.by_lag(by)[0])


def test_result_between_two_rows() -> None:
    """Row 0 is written; a delay of 1.25 steps takes 3/4 of row 4 and 1/4 of row 3."""
    acting, late = step(7.0, 4.0, [1.0, 2.0, 3.0, 4.0, 5.0], 1.25)
    assert acting == 0.75 * 5 + 0.25 * 4
    # the gradient by what row 0 held before is lost
    assert back(late, 8.0, [100.0, 10.0, 20.0, 30.0, 40.0]) == (100.0, [0.0, 10.0, 20.0, 32.0, 46.0], -8.0)


def test_present_result_acts_in_part() -> None:
    """With a delay of less than a step."""
    acting, late = step(7.0, 1.0, [1.0, 2.0, 3.0, 4.0, 5.0], 0.25)
    assert acting == 0.75 * 7 + 0.25 * 2
    assert back(late, 8.0, [0.0] * DEPTH) == (6.0, [0.0, 2.0, 0.0, 0.0, 0.0], 8.0 * (2 - 7))


def test_first_result_stands_for_the_past() -> None:
    """After a reset; the gradients by all rows are its own, and the delay changes nothing."""
    acting, late = step(7.0, np.nan, [1.0, 2.0, 3.0, 4.0, 5.0], 2.5)
    assert acting == 7.0
    assert back(late, 8.0, [1.0] * DEPTH) == (8.0 + DEPTH, [0.0] * DEPTH, 0.0)


def test_delay_is_cut_to_what_is_kept() -> None:
    """The gradient by the delay is zero there, and just below it that of the rows."""
    acting, late = step(7.0, 4.0, [1.0, 2.0, 3.0, 4.0, 5.0], 3.5)
    assert acting == 3.0 and back(late, 8.0, [0.0] * DEPTH)[2] == 0.0
    acting, late = step(7.0, 4.0, [1.0, 2.0, 3.0, 4.0, 5.0], 2.5)
    assert acting == 3.5 and back(late, 8.0, [0.0] * DEPTH)[2] == -8.0


def test_result_that_is_not_finite_leaves_the_ring() -> None:
    """And its gradients, and has none itself."""
    acting, late = step(np.nan, 4.0, [1.0, 2.0, 3.0, 4.0, 5.0], 1.0)
    assert np.isnan(acting)
    assert back(late, 8.0, [1.0, 2.0, 3.0, 4.0, 5.0]) == (0.0, [1.0, 2.0, 3.0, 4.0, 5.0], 0.0)


def test_without_a_past_the_result_acts() -> None:
    """Of a delay that stays 0 nothing is kept, whatever the rows hold."""
    ring = np.full((SPARE_ROWS, 1), np.nan, np.float32)
    (acting,), _ = LateStep.of([np.ones(1, np.float32)], np.zeros(1, np.float32), [ring], np.zeros(1, np.float32))
    assert acting.tolist() == [1.0]
