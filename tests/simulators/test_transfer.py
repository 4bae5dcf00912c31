"""Copies between columns of arrays: what hosts keep their mirrors in step with."""

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.simulators.transfer import in_turn, transfer, warp_copy
from refusals import cases, refused

if core is None:
    pytest.skip("the native core was not built", allow_module_level=True)


def test_columns_are_copied_between_float_and_double() -> None:
    source, target = np.array([[1.5, 1e300, 3.0]]), np.zeros((1, 4), np.float32)
    core.Transfer([(source, [2, 1], target, [0, 3])]).run()
    assert target.tolist() == [[3.0, 0.0, 0.0, np.inf]]
    back = np.zeros((1, 3))
    core.Transfer([(target, [0], back, [1])]).run()
    assert back.tolist() == [[0.0, 3.0, 0.0]]


def test_what_is_watched_is_finite_or_not() -> None:
    watched = np.full((3, 8), np.nan)[:, 2:7]
    watched[:] = 1e300
    run = core.Transfer([], watched).run
    assert run() is True
    for value in (np.nan, np.inf, -np.inf):
        for place in np.ndindex(watched.shape):
            watched[place] = value
            assert run() is False
            watched[place] = -0.0
    assert core.Transfer([]).run() is True


def test_what_is_called_in_turn_is_called_before_the_transfer() -> None:
    velocities, copied = np.array([[3.0]]), np.zeros((1, 1))
    limits = core.VelocityLimits(np.ones((1, 1)), [0], [0], [], np.zeros((1, 1)), velocities, 0.1)
    copies = transfer((velocities, [0], copied, [0]), watched=velocities)
    calls: list[str] = []
    for first in ([limits.run, None], [limits.run, lambda: calls.append("python")]):
        velocities[:] = 3.0
        assert in_turn(first, copies)() is True and copied[0, 0] == 1.0
        velocities[:] = np.nan
        assert in_turn(first, copies)() is False
    assert calls == ["python", "python"] and in_turn([None], copies) is copies


@pytest.mark.parametrize(
    ("watched", "words"),
    [(np.zeros((2, 3), np.float32), "float64"), (np.zeros((2, 6))[:, ::2], "contiguous"), (np.zeros(3), "two-dim")],
)
def test_what_cannot_be_watched_is_refused(watched, words) -> None:
    """It would be read as something else."""
    refused(ValueError, lambda: core.Transfer([], watched), words)


def crooked(shape: tuple[int, int], dtype) -> np.ndarray:
    size = np.dtype(dtype).itemsize
    return np.zeros(int(np.prod(shape)) * size + 1, np.uint8)[1:].view(dtype).reshape(shape)


@pytest.mark.parametrize("columns", [([0, 1, 2], [1, 2, 3]), ([2, 0], [0, 3])], ids=["neighbours", "disorder"])
@pytest.mark.parametrize("target", [np.float32, np.float64])
@pytest.mark.parametrize("source", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["plain", "strided", "crooked"])
def test_however_arrays_lie_their_numbers_arrive(kind, source, target, columns) -> None:
    def made(width: int, dtype) -> np.ndarray:
        if kind == "crooked":
            return crooked((3, width), dtype)
        return np.zeros((6, 2 * width), dtype)[::2, ::2] if kind == "strided" else np.zeros((3, width), dtype)

    one, other = made(3, source), made(4, target)
    one[:] = np.random.default_rng(1).normal(size=one.shape)
    expected = other.copy()
    expected[:, columns[1]] = one[:, columns[0]]
    core.Transfer([(one, columns[0], other, columns[1])]).run()
    np.testing.assert_array_equal(other, expected)


def read_only() -> np.ndarray:
    array = np.zeros((2, 3), np.float32)
    array.flags.writeable = False
    return array


@cases(
    "item, words",
    ((np.zeros((1, 2)), [0], np.zeros((1, 2))), "source, columns, target, columns"),
    ((np.zeros((1, 2)), [0], np.zeros((1, 2)), [0, 1]), "as many of the source"),
    ((np.zeros((1, 2)), [0], np.zeros((2, 2)), [0]), "as many rows"),
    ((np.zeros((1, 2)), [2], np.zeros((1, 2)), [0]), "column = 2"),
    ((np.zeros((1, 2)), [0], np.zeros((1, 2)), [-1]), "column = -1"),
    ((np.zeros((1, 2), int), [0], np.zeros((1, 2)), [0]), "float32 or float64"),
    ((np.zeros((1, 2), ">f8"), [0], np.zeros((1, 2)), [0]), "float32 or float64"),
    ((np.zeros(2), [0], np.zeros((1, 2)), [0]), "two-dimensional"),
    (([[0.0]], [0], np.zeros((1, 2)), [0]), "a NumPy array"),
    ((np.zeros((2, 3), np.float32), [0], read_only(), [0]), "writeable"),
)
def test_what_does_not_fit_is_refused(item, words) -> None:
    refused(ValueError, lambda: core.Transfer([item]), words)


@pytest.mark.parametrize(
    "values",
    [np.arange(6.0).reshape(2, 3), np.arange(6, dtype=np.float32).reshape(3, 2).T, np.arange(12, dtype=np.int64)[::2]],
    ids=["float64", "transposed", "every other"],
)
def test_copy_has_the_values_and_its_own_memory(values: np.ndarray) -> None:
    copied = warp_copy(values)
    assert copied.dtype is wp.float32 and copied.is_contiguous and copied.device.is_cpu
    expected = values.astype(np.float32)
    values += 1
    np.testing.assert_array_equal(copied.numpy(), expected)
