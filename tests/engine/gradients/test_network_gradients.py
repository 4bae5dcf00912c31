"""Gradients of a law with a network: which arrays are zeroed and added to. Tests of the pipeline check the values."""

from pathlib import Path

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ControllerNeuralLSTM, ControllerNeuralMLP
from isaacsim.core.experimental.actuators.engine.gradients import network_gradients
from isaacsim.core.experimental.actuators.engine.gradients.network_gradients import NetworkGradients
from neural_twin import random_network, write_network
from warp_arrays import floats

N = 5


def made(kind: str, folder: Path) -> tuple[NetworkGradients, list[wp.array]]:
    """A network whose state goes two steps back, or over two layers, and a state."""
    controller = ControllerNeuralMLP if kind == "mlp" else ControllerNeuralLSTM
    metadata = {"input_idx": [0, 1, 2]} if kind == "mlp" else {}
    network = random_network(kind, 6 if kind == "mlp" else 2, layers=2)
    law = controller(write_network(folder / "knee.safetensors", network, metadata)).law
    rng = np.random.default_rng(2)
    return NetworkGradients(law, N, "cpu"), [floats(rng.normal(size=law.state_shape(N))) for _ in law.STATE]


@pytest.mark.parametrize("kind", ["mlp", "lstm"])
def test_gradients_of_states_are_taken_and_left(kind, tmp_path) -> None:
    back, state = made(kind, tmp_path)
    signals = floats(np.random.default_rng(1).normal(size=(5, N)))
    signals[4, 2:3].fill_(np.nan)
    found = []
    for apart in (True, False):
        after = [floats(np.random.default_rng(k).normal(size=one.shape)) for k, one in enumerate(state)]
        given = [one.numpy().copy() for one in after]
        before = [wp.zeros_like(one) for one in after] if apart else after
        by_signals = wp.zeros_like(signals)
        efforts = back.compute(signals, state)
        back.back(signals, floats(np.ones(N)), after, before, by_signals)
        found.append([one.numpy().copy() for one in (by_signals, *before)])
        assert np.isfinite(efforts.numpy()).all()
        if apart:
            assert not any(one.numpy().any() for one in after)
        for one, right in zip(before, given, strict=True):
            np.testing.assert_array_equal(one.numpy()[:, 2], right[:, 2])
    np.testing.assert_equal(*found)
    by_signals = found[0][0]
    assert not by_signals[:, 2].any() and by_signals[0].any() and not by_signals[4].any()


@pytest.mark.parametrize("kind", ["mlp", "lstm"])
def test_states_without_gradients_are_left_alone(kind, tmp_path) -> None:
    back, state = made(kind, tmp_path)
    signals, found = floats(np.random.default_rng(1).normal(size=(5, N))), []
    for none in (True, False):
        by_signals, both = wp.zeros_like(signals), [[None if none else wp.zeros_like(one) for one in state]] * 2
        back.compute(signals, state)
        back.back(signals, floats(np.ones(N)), *both, by_signals)
        found.append(by_signals.numpy())
    np.testing.assert_array_equal(*found)
    assert found[0].any()


@pytest.mark.slow
@pytest.mark.usefixtures("optimized_kernels")
def test_compiles_for_cuda(tmp_path) -> None:
    module = wp.get_module(network_gradients.__name__)
    (file, *_) = wp.compile_aot_module(module, arch=90, module_dir=tmp_path, use_ptx=True)
    assert ".visible .entry" in Path(file).read_text().replace("\0", "")
