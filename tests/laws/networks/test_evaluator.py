"""Networks evaluated in C++ and in Warp: close to float64, with bits that do not depend on other rows."""

import itertools
import os
import sys
import tracemalloc
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.laws.networks.evaluator import Evaluator, NativeEvaluator, make_evaluator
from isaacsim.core.experimental.actuators.laws.networks.network import (
    BINARY,
    UNARY,
    Binary,
    Concatenate,
    Constant,
    GRUCell,
    Linear,
    LSTMCell,
    Network,
    Operation,
    Slice,
    Unary,
)
from isaacsim.core.experimental.actuators.laws.networks.program import Program
from isaacsim.core.experimental.actuators.laws.networks.warp_evaluator import WarpEvaluator
from network_oracle import evaluate
from refusals import cases, refused
from warm_python import warm_python

pytestmark = pytest.mark.usefixtures("optimized_kernels")
ROWS = (1, 2, 31, 32, 33, 1000)
NUMBERS = {"clamp": (-0.3, 0.6), "elu": (1.2,), "leaky_relu": (0.1,), "softplus": (2.0,)}
native_only = pytest.mark.skipif(core is None, reason="the native core was not built")


def make(kind: str, network: Network, rows: int) -> Evaluator:
    if kind == "native":
        return NativeEvaluator(Program(network), rows)
    return WarpEvaluator(Program(network), rows, "cpu")


@pytest.fixture(params=[pytest.param("native", marks=native_only), "warp"])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


class Draw:
    def __init__(self, seed: int = 3) -> None:
        self.rng = np.random.default_rng(seed)

    def floats(self, *shape: int) -> np.ndarray:
        return (self.rng.normal(0, 1, shape) / np.sqrt(shape[-1])).astype(np.float32)

    def linear(self, source: int, inputs: int, outputs: int) -> Linear:
        return Linear(source, self.floats(outputs, inputs), self.floats(outputs) * np.float32(0.3))

    def cells(self, kind: str, source: int, inputs: int, hidden: int, layers: int) -> list[Operation]:
        cells: list[Operation] = []
        for layer in range(layers):
            width = hidden if layer else inputs
            gates = (4 if kind == "lstm" else 3) * hidden
            arrays = self.floats(gates, width), self.floats(gates, hidden), self.floats(gates)
            place = source + layer, layer
            cells.append(LSTMCell(*place, *arrays) if kind == "lstm" else GRUCell(*place, *arrays, self.floats(gates)))
        return cells


def mlp(widths: Sequence[int], activation: str = "softsign", seed: int = 3) -> Network:
    draw, operations = Draw(seed), []
    for number, (inputs, outputs) in enumerate(itertools.pairwise(widths)):
        operations.append(draw.linear(len(operations), inputs, outputs))
        if number < len(widths) - 2:
            operations.append(Unary(activation, len(operations), NUMBERS.get(activation, ())))
    return Network(widths[0], tuple(operations))


def of_unary(function: str) -> Network:
    draw = Draw()
    # 0.3 to 2.3 for functions with a pole
    shift: list[Operation] = [draw.linear(0, 6, 9)]
    if function in ("log", "reciprocal", "sqrt"):
        shift += [Unary("sigmoid", 1), Constant(np.float32([2.0])), Binary("mul", 2, 3), Constant(np.float32([0.3]))]
        shift += [Binary("add", 4, 5)]
    source = len(shift)
    return Network(6, (*shift, Unary(function, source, NUMBERS.get(function, ())), draw.linear(source + 1, 9, 1)))


def of_binary(function: str) -> Network:
    """A function of two equally wide values, and of a wide and a narrow one in both orders; copied, cut and summed."""
    draw = Draw()
    head = (
        draw.linear(0, 6, 9),
        Unary("sigmoid", 1),
        draw.linear(0, 6, 1),
        Unary("softplus", 3, (1.0,)),
        Binary("add", 2, 4),
        Binary(function, 5, 4),
        Binary(function, 4, 5),
        Binary(function, 5, 2),
    )
    return Network(6, (*head, Concatenate((6, 7, 8)), Slice(9, 5, 24), Binary("mul", 10, 4), draw.linear(11, 19, 1)))


def recurrent(kind: str, inputs: int = 2, hidden: int = 8, layers: int = 2) -> Network:
    draw = Draw()
    return Network(inputs, (*draw.cells(kind, 0, inputs, hidden, layers), draw.linear(layers, hidden, 1)))


def between_layers() -> Network:
    draw = Draw()
    first, second = draw.cells("lstm", 1, 5, 7, 2)
    assert isinstance(second, LSTMCell)
    second = LSTMCell(4, 1, draw.floats(28, 10), second.weight_hh, second.bias)
    tail = draw.linear(5, 7, 3), Concatenate((6, 0)), draw.linear(7, 6, 1)
    return Network(3, (draw.linear(0, 3, 5), first, Unary("tanh", 2), Concatenate((3, 0)), second, *tail))


def by_a_part_of_itself() -> Network:
    draw = Draw()
    return Network(6, (draw.linear(0, 6, 4), Slice(1, 2, 3), Binary("mul", 1, 2), draw.linear(3, 4, 1)))


NETWORKS: dict[str, Network] = {
    **{function: of_unary(function) for function in UNARY},
    **{function: of_binary(function) for function in BINARY},
    **{f"mlp {widths}": mlp(widths) for widths in ((1, 1), (6, 32, 32, 32, 1), (3, 5, 1), (9, 17, 40, 7, 8, 1))},
    "mlp wide": mlp((6, 200, 1), "elu"),
    **{f"{kind} {sizes}": recurrent(kind, *sizes) for kind in ("lstm", "gru") for sizes in ((2, 8, 2), (6, 3, 1))},
    "lstm deep": recurrent("lstm", 4, 5, 3),
    "between": between_layers(),
    "by a part of itself": by_a_part_of_itself(),
    "only the input": Network(1, (Slice(0, 0, 1),)),
}


class Rows:
    def __init__(self, kind: str, network: Network, rows: int, in_place: bool = True) -> None:
        self.network, self.evaluator = network, make(kind, network, rows)
        states = {"mlp": 0, "gru": 1, "lstm": 2}[network.kind]
        shape = network.num_layers, rows, network.hidden_size
        self.now = [np.zeros(shape, np.float32) for _ in range(states)]
        self.after = self.now if in_place else [np.full(shape, 7, np.float32) for _ in range(states)]
        self.x, self.y = np.zeros((rows, network.inputs), np.float32), np.zeros(rows, np.float32)

    def step(self, x: np.ndarray) -> np.ndarray:
        self.x[:] = x
        self.evaluator.evaluate(self.x, self.y, self.now, self.after)
        self.now, self.after = self.after, self.now
        return self.y.copy()


def motion(rows: int, inputs: int, step: int) -> np.ndarray:
    phases = np.random.default_rng(11).uniform(0.2, 3, (rows, inputs))
    return (2 * np.sin(phases * (1 + 0.05 * step))).astype(np.float32)


@pytest.mark.parametrize("name", NETWORKS)
def test_agrees_with_float64(name, engine) -> None:
    network, rows = NETWORKS[name], 33
    given, hidden, cell, errors, largest = Rows(engine, network, rows), None, None, [], 0.0
    for step in range(1000 if network.cells else 3):
        x = motion(rows, network.inputs, step)
        y = given.step(x)
        expected, hidden, cell = evaluate(network, x, hidden, cell)
        errors.append(np.abs(y - expected).max())
        largest = max(largest, np.abs(expected).max())
    assert max(errors) <= 1e-5 * largest and largest > 0


@pytest.mark.parametrize("name", NETWORKS)
def test_a_row_does_not_depend_on_the_others(name, engine) -> None:
    network, most = NETWORKS[name], max(ROWS)
    order = np.random.default_rng(2).permutation(most)
    whole, shuffled = Rows(engine, network, most), Rows(engine, network, most, in_place=False)
    few = [Rows(engine, network, rows, in_place=rows % 2 == 0) for rows in ROWS]
    for step in range(4):
        x = motion(most, network.inputs, step)
        expected = whole.step(x)
        np.testing.assert_array_equal(shuffled.step(x[order]), expected[order])
        for each in few:
            np.testing.assert_array_equal(each.step(x[-len(each.y) :]), expected[-len(each.y) :])
    for state, other in zip(whole.now, shuffled.now, strict=True):
        np.testing.assert_array_equal(other, state[:, order])


def everything(engine: str, rows: int) -> bytes:
    """Outputs and states of all networks over some steps, for ordinary and extreme inputs."""
    told = []
    for network in NETWORKS.values():
        given = Rows(engine, network, rows)
        for scale in (1.0, 1.0, 1e-3, 30.0, 1e-40, 1e30):
            told.append(given.step(motion(rows, network.inputs, len(told)) * np.float32(scale)))
        told += given.now
    # the bits of a NaN are not compared
    return b"".join(np.where(np.isnan(array), np.float32(np.nan), array).tobytes() for array in told)


@native_only
@pytest.mark.slow
def test_all_instruction_sets_give_the_same_bits() -> None:
    line = f"import sys; sys.path[:0] = {sys.path!r}\nimport test_evaluator as t, hashlib\n"
    line += "name = t.NativeEvaluator(t.Program(t.mlp((2, 1))), 1).name\n"
    line += "print(name, hashlib.sha256(t.everything('native', 45)).hexdigest())"
    told = {}
    for variant in core.variants():
        environment = os.environ | {"ACTUATORS_ISA": variant, "PYTHONPATH": str(Path(__file__).parent)}
        said = warm_python().run(["-c", line], env=environment).stdout.split()
        assert said[-2] == variant
        told[variant] = said[-1]
    assert len(set(told.values())) == 1, told


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["mlp (6, 32, 32, 32, 1)", "relu", "lstm (2, 8, 2)", "gru (2, 8, 2)", "between"])
def test_a_bad_row_gets_nan_keeps_its_state_and_touches_no_other(name, value, engine) -> None:
    network, rows, bad = NETWORKS[name], 40, 17
    good, spoilt = (Rows(engine, network, rows, in_place) for in_place in (True, False))
    x = motion(rows, network.inputs, 0)
    np.testing.assert_array_equal(good.step(x), spoilt.step(x))
    before = [state.copy() for state in spoilt.now]
    x = motion(rows, network.inputs, 1)
    expected = good.step(x)
    x[bad, -1] = value
    y = spoilt.step(x)
    others = np.arange(rows) != bad
    assert np.isnan(y[bad])
    np.testing.assert_array_equal(y[others], expected[others])
    for old, new, right in zip(before, spoilt.now, good.now, strict=True):
        np.testing.assert_array_equal(new[:, bad], old[:, bad])
        np.testing.assert_array_equal(new[:, others], right[:, others])


@cases(
    "function, limits",
    ("tanh", (-1, 1)),
    ("sigmoid", (0, 1)),
    ("softsign", (-1, 1)),
    ("erf", (-1, 1)),
    ("elu", (-1.2, 1e30)),
    ("relu", (0, 1e30)),
    ("softplus", (0, 1e30)),
    ("clamp", (-0.3, 0.6)),
)
def test_extreme_inputs_saturate(function, limits, engine) -> None:
    given = Rows(engine, Network(1, (Unary(function, 0, NUMBERS.get(function, ())),)), 4)
    low, high, tiny, zero = given.step(np.float32([[-1e30], [1e30], [1e-42], [0]]))
    np.testing.assert_allclose([low, high], limits, rtol=1e-6, atol=1e-37)
    assert abs(tiny - zero) <= 2e-42


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_extreme_inputs_leave_recurrent_layers_bounded(kind, engine) -> None:
    network = recurrent(kind)
    given, hidden, cell = Rows(engine, network, 3), None, None
    for scale in (1e30, -1e30, 1e-42, 1.0):
        x = np.float32([[1, -1], [-1, 1], [0, 1]]) * np.float32(scale)
        expected, hidden, cell = evaluate(network, x, hidden, cell)
        np.testing.assert_allclose(given.step(x), expected, atol=1e-6)


def test_functions_of_numbers_everywhere(engine) -> None:
    x = np.concatenate([np.linspace(-12, 12, 997), np.logspace(-30, 1, 100), -np.logspace(-30, 1, 100)])
    x = x.astype(np.float32)
    tolerances = {"erf": 2e-6, "log": 1e-6, "tanh": 2e-6, "elu": 2e-6}
    for function in UNARY:
        given = Rows(engine, Network(1, (Unary(function, 0, NUMBERS.get(function, ())),)), len(x))
        with np.errstate(all="ignore"):
            expected, _, _ = evaluate(given.network, x[:, None])
            expected[~np.isfinite(expected.astype(np.float32))] = np.nan
        tolerance = tolerances.get(function, 1e-6)
        np.testing.assert_allclose(given.step(x[:, None]), expected, rtol=tolerance, atol=1e-7, err_msg=function)


@native_only
def test_powers_of_all_kinds() -> None:
    some = np.float32([-3, -2.5, -1, -0.5, 0, 0.5, 1, 2, 3, 7.5, 1e20, -1e20])
    pairs = np.array(np.meshgrid(some, np.float32([-3, -2, -0.5, 0, 0.5, 1, 2, 3, 4.7])), np.float32).reshape(2, -1).T
    given = Rows("native", Network(2, (Slice(0, 0, 1), Slice(0, 1, 2), Binary("pow", 1, 2))), len(pairs))
    with np.errstate(all="ignore"):
        expected = np.power(pairs[:, 0].astype(np.float64), pairs[:, 1])
        expected[~np.isfinite(expected.astype(np.float32))] = np.nan
    np.testing.assert_allclose(given.step(pairs), expected, rtol=1e-6, atol=1e-44)


@native_only
@pytest.mark.parametrize("base", ["add", "sub"])
@pytest.mark.parametrize("exponent", ["add", "sub"])
@pytest.mark.parametrize("inverse", [False, True])
def test_powers_of_what_is_not_finite(base, exponent, inverse) -> None:
    operations = [
        *(Unary("log", 0), *(Slice(1, at, at + 1) for at in (2, 3)), *(Slice(0, at, at + 1) for at in (0, 1))),
        *(Binary(base, 4, 2), Binary(exponent, 5, 3), Binary("pow", 6, 7), Unary("reciprocal", 8)),
    ]
    network = Network(4, tuple(operations[: 9 if inverse else 8]))
    numbers, logarithms = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0], [1.0, 0.0, -1.0]
    x = np.array(list(itertools.product(numbers, numbers, logarithms, logarithms)), np.float32)
    with np.errstate(all="ignore"):
        ends = [
            {"add": np.add, "sub": np.subtract}[how](x[:, at], np.log(x[:, at + 2]))
            for at, how in enumerate((base, exponent))
        ]
        expected = np.power(*ends).astype(np.float64)
        expected = 1 / expected if inverse else expected
    expected[~np.isfinite(expected)] = np.nan
    assert 100 < np.isnan(expected).sum() < len(x) - 100
    np.testing.assert_allclose(Rows("native", network, len(x)).step(x), expected, rtol=1e-6)


def test_arrays_may_be_parts_of_larger_ones(engine) -> None:
    network, rows = NETWORKS["lstm (2, 8, 2)"], 37
    own = Rows(engine, network, rows)
    wide_x, wide_y = np.full((rows, 5), 9, np.float32), np.full((rows, 3), 9, np.float32)
    wide_state = [np.full((2, rows, 11), 9, np.float32) for _ in range(2)]
    for state in wide_state:
        state[:, :, :8] = 0
    states = [state[:, :, :8] for state in wide_state]
    given = make(engine, network, rows)
    for step in range(3):
        wide_x[:, 1:3] = motion(rows, 2, step)
        given.evaluate(wide_x[:, 1:3], wide_y[:, 1], states, states)
        np.testing.assert_array_equal(wide_y[:, 1], own.step(wide_x[:, 1:3]))
    assert all((state[:, :, 8:] == 9).all() for state in wide_state) and (wide_y[:, [0, 2]] == 9).all()
    of_warp = wp.zeros(rows, dtype=wp.float32, device="cpu")
    given.evaluate(wp.array(wide_x[:, 1:3].copy(), dtype=wp.float32, device="cpu"), of_warp, states, states)
    np.testing.assert_array_equal(of_warp.numpy(), own.step(wide_x[:, 1:3]))


def test_arrays_that_do_not_fit_are_refused(engine) -> None:
    given = make(engine, recurrent("gru"), 3)
    x, y, state = np.zeros((3, 2), np.float32), np.zeros(3, np.float32), [np.zeros((2, 3, 8), np.float32)]
    wrong: list[tuple[str, tuple]] = [
        ("x is", (x[:2], y, state, state)),
        ("x is", (x.astype(np.float64), y, state, state)),
        ("x must be contiguous", (np.zeros((2, 3), np.float32).T, y, state, state)),
        ("y is", (x, y[:2], state, state)),
        ("y is", (x, [0.0] * 3, state, state)),
        ("state_in has 0", (x, y, [], state)),
        ("state_out is", (x, y, state, [np.zeros((2, 4, 8), np.float32)])),
    ]
    for said, arguments in wrong:
        with pytest.raises(ValueError, match=said):
            given.evaluate(*arguments)
    read_only = state[0].view()
    read_only.flags.writeable = False
    refused(ValueError, lambda: given.evaluate(x, y, state, [read_only]), "state_out must be writeable")


@native_only
@pytest.mark.parametrize("name", ["relu", "between", "lstm (2, 8, 2)", "gru (2, 8, 2)"])
def test_the_core_refuses_lines_that_lead_out_of_their_network(name) -> None:
    program = Program(NETWORKS[name])
    lines = [astuple(one) for one in program.instructions]
    sizes = program.inputs, program.columns, program.output, program.num_layers, program.hidden_size

    def build(sizes: Sequence[int], lines: Sequence[tuple]) -> None:
        core.Network(*sizes, program.num_states, lines, program.numbers)

    build(sizes, lines)
    for at, value in itertools.product(range(5), (-1, (1 << 20) + 1, (1 << 63) - 1)):
        with pytest.raises(ValueError, match="layout of a network"):
            build([*sizes[:at], value, *sizes[at + 1 :]], lines)
    most = max(program.columns, len(program.numbers)) + 1
    for number, at, value in itertools.product(range(len(lines)), range(1, 9), (-1, most, (1 << 63) - 1)):
        line = lines[number]
        if at == 8 and line[0] not in ("lstm", "gru"):
            continue
        changed = *line[:at], value, *line[at + 1 :]
        with pytest.raises(ValueError, match=f"instruction {line[0]}"):
            build(sizes, [*lines[:number], changed, *lines[number + 1 :]])


@pytest.mark.parametrize("name", ["mlp (6, 32, 32, 32, 1)", "lstm (2, 8, 2)"])
def test_a_call_takes_no_memory(name, engine) -> None:
    given = Rows(engine, NETWORKS[name], 12, in_place=False)
    x = motion(12, given.network.inputs, 0)
    for _ in range(4):
        given.step(x)

    def calls() -> None:
        for _ in range(50):
            given.evaluator.evaluate(given.x, given.y, given.now, given.after)
            given.evaluator.evaluate(given.x, given.y, given.after, given.now)

    # Warp makes a tuple per launch, and Python keeps up to 2000 tuples of a length for reuse
    for _ in range(25):
        calls()
    tracemalloc.start()
    try:
        calls()
        tracemalloc.reset_peak()
        start, _ = tracemalloc.get_traced_memory()
        before = sys.getallocatedblocks()
        calls()
        kept = sys.getallocatedblocks() - before
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept <= 4 and peak - start < 2000


def test_the_best_engine_is_taken() -> None:
    assert make_evaluator(mlp((2, 1)), 3).name.startswith("warp" if core is None else "native")
