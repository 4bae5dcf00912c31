"""Functions for laws: accurate within their documented errors, bit-identical on every engine and in every lane."""

import functools
import itertools
from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.laws.contract import functions
from isaacsim.core.experimental.actuators.laws.contract.law import generated_kernels
from refusals import refused

try:
    from isaacsim.core.experimental.actuators.base.native import core
except ImportError:
    core = None
ORACLES: dict[str, Callable] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "pow": np.power,
    "decay": lambda x: np.exp(-np.where(x >= 0, x, np.nan)),
    "stribeck": lambda x, y: np.exp(-np.power(np.abs(x), y)),
}
# largest error in units in the last place of float32
ULPS = {"exp": 1.0, "log": 0.9, "sqrt": 0.51, "tanh": 1.4, "sin": 2.3, "cos": 2.3, "pow": 2.0, "decay": 2.0}
ULPS["stribeck"] = 1.0
# beyond, floats are 2 rad apart
FARTHEST = 2.0**24
EDGES = [0.0, 0.5, 0.625, 1.0, 2.0, 3.0, 1e-45, 1e-40, 1.1754944e-38, 88.72, 88.73, 87.4, 103.9, 104.0, 1e10, 8388607.5]
EDGES += [16777215.0, 16777216.0, 3.4028235e38, np.inf]
ALL = {function.key: function for function in functions.SLOPES}
each = pytest.mark.parametrize("name", list(ALL))
needs_core = pytest.mark.skipif(core is None, reason="the native core was not built")
pytestmark = pytest.mark.usefixtures("optimized_kernels")


def arguments_of(name: str) -> int:
    return len(ALL[name].input_types)


def columns_of(name: str, rng: np.random.Generator, count: int = 200_001) -> list[np.ndarray]:
    """Floats of all bits, usual ones, and all edges against all; a number that no vector divides."""
    number = arguments_of(name)
    edges = np.array([sign * edge for edge in EDGES for sign in (1, -1)] + [np.nan], np.float32)
    at_edges = np.array(list(itertools.product(edges, repeat=number)), np.float32)
    random = rng.integers(0, 2**32, size=(count, number), dtype=np.uint32).view(np.float32)
    usual = rng.normal(size=(count, number)) * 10.0 ** rng.integers(-4, 3, size=(count, number))
    table = np.concatenate([at_edges, random, usual.astype(np.float32)])
    return [np.ascontiguousarray(column) for column in table.T]


@functools.cache
def kernel_of(name: str) -> wp.Kernel:
    arrays = [f"x{n}" for n in range(arguments_of(name))]
    text = f"""
def call({", ".join(f"{one}: wp.array[float]" for one in arrays)}, out: wp.array[float]):
    i = wp.tid()
    out[i] = function({", ".join(f"{one}[i]" for one in arrays)})
"""
    return generated_kernels({"call": text}, {"function": ALL[name]}, differentiable="call")["call"]


def by_warp(name: str, columns: list[np.ndarray], device: str = "cpu") -> list[np.ndarray]:
    arrays = [wp.array(column, dtype=wp.float32, device=device, requires_grad=True) for column in columns]
    out = wp.zeros(len(columns[0]), dtype=wp.float32, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernel_of(name), len(columns[0]), arrays, [out], device=device)
    tape.backward(grads={out: wp.full(len(columns[0]), 1.0, dtype=wp.float32, device=device)})
    return [out.numpy(), *(array.grad.numpy() for array in arrays)]


def by_oracle(name: str, columns: list[np.ndarray]) -> np.ndarray:
    """The function in float64."""
    # signalling NaNs are among the random bits
    with np.errstate(all="ignore"):
        wide = [column.astype(np.float64) for column in columns]
        found = ORACLES[name](*wide)
        return np.where(np.abs(wide[0]) < FARTHEST, found, np.nan) if name in ("sin", "cos") else found


def assert_same(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    """Require the same bits of values and derivatives, whose zeros have a sign that says nothing."""
    assert_same_bits(found[0], expected[0])
    for one, other in zip(found[1:], expected[1:], strict=True):
        assert_same_bits(one + np.float32(0.0), other + np.float32(0.0))


def assert_same_bits(one: np.ndarray, other: np.ndarray) -> None:
    differ = (one.view(np.int32) != other.view(np.int32)) & ~(np.isnan(one) & np.isnan(other))
    assert not differ.any(), f"{np.flatnonzero(differ)[:5]}: {one[differ][:5]} != {other[differ][:5]}"


@each
def test_function_is_right(name, rng) -> None:
    columns = columns_of(name, rng)
    found, expected = by_warp(name, columns)[0], by_oracle(name, columns)
    with np.errstate(all="ignore"):
        single = expected.astype(np.float32)
        unit = np.spacing(np.maximum(np.abs(single), np.float32(1.1754944e-38))).astype(np.float64)
        good = np.isfinite(single) & np.isfinite(found)
        wrong = ~good & (found != single) & ~(np.isnan(found) & np.isnan(single))
        error = np.where(good, np.abs(found - expected) / unit, 0)
    if name in ("sin", "cos", "decay", "stribeck"):
        # near their zeros the error is an absolute one
        with np.errstate(invalid="ignore"):
            error = np.where(np.abs(found - expected) < 1.2e-7, np.minimum(error, ULPS[name]), error)
    # numbers that float32 rounds to infinity on one side of the last one, and not on the other
    wrong &= ~(np.isinf(single) & (np.abs(found) > 3.40282e38)) & ~(np.isinf(found) & (np.abs(single) > 3.40282e38))
    rows = np.stack(columns, axis=1)
    assert not wrong.any(), f"{rows[wrong][:5]}: {found[wrong][:5]} != {single[wrong][:5]}"
    assert error.max() <= ULPS[name], f"{rows[error.argmax()]}: {error.max()} ulp"


@each
def test_zeros_have_their_sign(name) -> None:
    """An odd function of −0 is −0."""
    if name not in ("sqrt", "tanh", "sin"):
        pytest.skip("not odd")
    assert np.signbit(by_warp(name, [np.array([-0.0], np.float32)])[0]).all()


@needs_core
@each
def test_twin_has_the_bits_of_warp(name, rng) -> None:
    columns = columns_of(name, rng)
    expected = by_warp(name, columns)
    # beside a number that no vector divides
    assert len(columns[0]) % 4
    for variant in core.variants():
        assert_same(core.function(name, columns, variant), expected)


@needs_core
@each
def test_twin_does_not_look_at_its_lane(name, rng) -> None:
    columns = [column[:5001] for column in columns_of(name, rng)]
    expected = by_warp(name, columns)
    for variant, moved in itertools.product(core.variants(), (1, 3, 7, 15)):
        found = core.function(name, [np.ascontiguousarray(column[moved:]) for column in columns], variant)
        assert_same(found, [one[moved:] for one in expected])


@each
def test_derivative_is_that_of_differences(name, rng) -> None:
    columns = [rng.uniform(0.1, 4.0, 2000).astype(np.float32) for _ in range(arguments_of(name))]
    for number, slope in enumerate(by_warp(name, columns)[1:]):
        wide = [column.astype(np.float64) for column in columns]
        above, below = ([x + sign * 1e-6 * (n == number) for n, x in enumerate(wide)] for sign in (1, -1))
        expected = (ORACLES[name](*above) - ORACLES[name](*below)) / 2e-6
        np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6)


def test_core_names_what_it_lacks() -> None:
    if core is None:
        pytest.skip("the native core was not built")
    refused(ValueError, lambda: core.function("sinh", [np.zeros(1, np.float32)], core.variants()[0]), "name = sinh")
    refused(ValueError, lambda: core.function("sin", [np.zeros(1, np.float32)], "sse"), "variant = sse")
