"""What setters accept, and what they say about the rest."""

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.base.values import as_numpy, broadcast, grouped, resolve_indices, shortest
from refusals import cases, refused


@cases(
    "values, expected",
    (2, 2),
    (1.5, 1.5),
    ([1, 2], [1, 2]),
    ((1.0, 2.0), [1.0, 2.0]),
    (np.array([[3.0]]), [[3.0]]),
    (wp.array([1.0, 2.0], dtype=wp.float32, device="cpu"), [1.0, 2.0]),
)
def test_as_numpy_takes_every_kind(values: object, expected: object) -> None:
    np.testing.assert_array_equal(as_numpy(values), expected)


@cases(
    "value, expected",
    (float(np.float32(2.94)), 2.94),
    (2.94, 2.94),
    (0.1 + 1e-12, 0.1),
    (1e-60, 1e-60),
    (1e300, 1e300),
    (np.inf, np.inf),
)
def test_shortest_is_the_same_in_single_precision(value: float, expected: float) -> None:
    assert shortest(value) == expected


@cases(
    "indices, expected",
    (None, [0, 1, 2, 3]),
    (2, [2]),
    (np.int32(3), [3]),
    ([0, 3], [0, 3]),
    ([3, 0], [3, 0]),
    ((1,), [1]),
    (range(2), [0, 1]),
    (np.array([1, 2], np.uint8), [1, 2]),
    (wp.array([2, 1], dtype=wp.int32, device="cpu"), [2, 1]),
    ([True, False, True, False], [0, 2]),
    (np.zeros(4, bool), []),
    (wp.array([False, True, False, False], dtype=wp.bool, device="cpu"), [1]),
    ([], []),
    (np.zeros(0), []),
)
def test_indices_are_resolved(indices: object, expected: list[int]) -> None:
    assert resolve_indices(indices, 4, "robot").tolist() == expected


@cases(
    "indices, message",
    (4, r"robot index 4: must be in 0 … 3\. There are 4\."),
    (-1, "robot index -1: must be in 0 … 3"),
    ([0, 9, 8], "robot index 9"),
    ([0.5], "must be integers"),
    (1.0, "must be integers"),
    ("hip", "must be integers"),
    ([[0, 1]], "must be integers"),
    ([True, False], r"robot mask has shape \(2,\): must be \(4,\)"),
    (True, r"robot mask has shape \(1,\): must be \(4,\)"),
    ([[True] * 4], r"robot mask has shape \(1, 4\)"),
)
def test_wrong_indices_are_named(indices, message) -> None:
    refused(ValueError, lambda: resolve_indices(indices, 4, "robot"), message)


@cases(
    "values, expected",
    (1, [[1, 1, 1], [1, 1, 1]]),
    ([1, 2, 3], [[1, 2, 3], [1, 2, 3]]),
    ([[1], [2]], [[1, 1, 1], [2, 2, 2]]),
    (np.arange(6.0).reshape(2, 3), [[0, 1, 2], [3, 4, 5]]),
    (wp.array([[1.0, 2.0, 3.0]], dtype=wp.float32, device="cpu"), [[1, 2, 3], [1, 2, 3]]),
    (np.float64(0.1), np.full((2, 3), np.float32(0.1))),
    (True, np.ones((2, 3))),
)
def test_values_broadcast_as_numpy_does(values: object, expected: object) -> None:
    np.testing.assert_array_equal(broadcast(values, (2, 3), "targets"), expected)


def test_values_become_float32() -> None:
    assert broadcast(np.arange(3, dtype=np.int64), (2, 3), "targets").dtype == np.float32


@cases("values", [1, 2], [[1, 2, 3]] * 3, np.zeros((1, 2, 3)), np.zeros((2, 2)), [], ids=lambda v: str(np.shape(v)))
def test_wrong_shape_is_told_with_the_right_one(values) -> None:
    refused(ValueError, lambda: broadcast(values, (2, 3), "targets"), r"targets has shape .*: must fit \(2, 3\)")


@cases(
    "values, where",
    (np.nan, r"targets\[0, 0\] = nan"),
    ([0, np.inf, 0], r"targets\[0, 1\] = inf"),
    ([[0, 0, 0], [0, 0, -np.inf]], r"targets\[1, 2\] = -inf"),
    (1e39, r"targets\[0, 0\] = 1e\+39"),
)
def test_value_that_is_not_finite_is_located(values, where) -> None:
    refused(ValueError, lambda: broadcast(values, (2, 3), "targets"), where)


def test_text_is_no_value() -> None:
    refused(ValueError, lambda: broadcast("fast", (2, 3), "targets"), "targets")


def test_values_are_grouped_by_key_in_order() -> None:
    assert list(grouped([("b", 1), ("a", 2), ("b", 3)]).items()) == [("b", [1, 3]), ("a", [2])]
