"""Gradients of networks in Warp: evaluation is the same, kinks have Torch's slopes, and the code compiles for CUDA."""

from pathlib import Path

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.laws.networks.network import (
    UNARY,
    Binary,
    Constant,
    Linear,
    Network,
    Slice,
    Unary,
)
from isaacsim.core.experimental.actuators.laws.networks.program import Program
from isaacsim.core.experimental.actuators.laws.networks.warp_evaluator import WarpEvaluator
from isaacsim.core.experimental.actuators.laws.networks.warp_gradients import (
    DifferentiableEvaluator,
    differentiable_kernel,
)
from refusals import cases
from small_networks import NETWORKS
from warp_arrays import floats

ROWS = 7


@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_and_states_are_those_of_the_evaluator(name) -> None:
    network, rng = NETWORKS[name], np.random.default_rng(3)
    program, x = Program(network), rng.normal(size=(ROWS, network.inputs)).astype(np.float32)
    x[2, 0] = np.nan
    shape = program.num_layers, ROWS, program.hidden_size
    before = [floats(rng.normal(size=shape)) for _ in range(program.num_states)]
    found = []
    for evaluator in (WarpEvaluator(program, ROWS, "cpu"), DifferentiableEvaluator(network, ROWS, "cpu")):
        y, after = floats(np.zeros(ROWS)), [floats(np.zeros(shape)) for _ in before]
        evaluator.evaluate(floats(x), y, before, after)
        found.append([one.numpy() for one in (y, *after)])
    np.testing.assert_equal(*found)
    assert np.isnan(found[0][0]).tolist() == [row == 2 for row in range(ROWS)]


def slopes(network: Network, points) -> np.ndarray:
    x = floats(np.reshape(points, (-1, network.inputs)))
    rows = len(x)
    evaluator, by_x = DifferentiableEvaluator(network, rows, "cpu"), wp.zeros_like(x)
    evaluator.evaluate(x, floats(np.zeros(rows)))
    evaluator.back(by_x, floats(np.ones(rows)))
    return by_x.numpy()


@cases(
    "function, points, expected",
    ("abs", [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]),
    ("relu", [-2.0, 0.0, 2.0], [0.0, 0.0, 1.0]),
    ("leaky_relu", [-2.0, 0.0, 2.0], [0.25, 0.25, 1.0]),
    ("clamp", [-0.3, 0.25, 0.5, 1.0, 1.1], [0.0, 1.0, 1.0, 1.0, 0.0]),
    ("elu", [0.0, 1.0], [0.25, 1.0]),
    ("sign", [-2.0, 0.0, 2.0], [0.0, 0.0, 0.0]),
    ("sigmoid", [-200.0, 0.0, 200.0], [0.0, 0.25, 0.0]),
    ("softplus", [-200.0, 0.0, 200.0], [0.0, 0.5, 1.0]),
)
def test_kinks_and_far_ends_have_the_slopes_of_torch(function, points, expected) -> None:
    taken = {"alpha": 0.25, "beta": 1.0, "slope": 0.25, "lower": 0.25, "upper": 1.0}
    network = Network(1, (Unary(function, 0, tuple(taken[name] for name in UNARY[function])),))
    np.testing.assert_allclose(slopes(network, points).ravel(), expected, atol=1e-6)


@pytest.mark.parametrize("function", ["minimum", "maximum"])
def test_two_equal_numbers_have_half_each(function) -> None:
    network = Network(2, (Slice(0, 0, 1), Slice(0, 1, 2), Binary(function, 1, 2)))
    found = slopes(network, [[1.0, 1.0], [1.0, 2.0], [3.0, 2.0]])
    first = [0.5, 1.0, 0.0] if function == "minimum" else [0.5, 0.0, 1.0]
    np.testing.assert_array_equal(found, np.stack([first, 1 - np.array(first)], axis=1))


def test_power_of_zero() -> None:
    """A constant exponent has no gradient; exponent 0 has slope 0."""
    for exponent, expected in ((2.0, 0.0), (1.0, 1.0), (0.0, 0.0)):
        network = Network(1, (Constant(np.array([exponent], np.float32)), Binary("pow", 0, 1)))
        assert slopes(network, [0.0]).item() == expected


def test_gradients_are_added_up_and_gone_back_twice() -> None:
    network = Network(1, (Linear(0, np.array([[3.0]], np.float32), np.zeros(1, np.float32)),))
    evaluator, by_x = DifferentiableEvaluator(network, 2, "cpu"), floats([[1.0], [0.0]])
    evaluator.evaluate(floats([[1.0], [1.0]]), floats(np.zeros(2)))
    for _ in range(2):
        evaluator.back(by_x, floats([1.0, 2.0]))
    assert by_x.numpy().ravel().tolist() == [7.0, 12.0]


@pytest.mark.slow
@pytest.mark.usefixtures("optimized_kernels")
def test_compiles_for_cuda(tmp_path) -> None:
    module = differentiable_kernel().module
    (file, *_) = wp.compile_aot_module(module, arch=90, module_dir=tmp_path, use_ptx=True)
    text = Path(file).read_text().replace("\0", "")
    assert "backward" in text and ".visible .entry" in text
