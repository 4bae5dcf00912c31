"""Weights of networks by name: reading, changing, and making a network of them."""

import network_oracle
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.files.networks import safetensors
from isaacsim.core.experimental.actuators.laws.networks.evaluator import core_of
from isaacsim.core.experimental.actuators.laws.networks.program import Program
from isaacsim.core.experimental.actuators.laws.networks.weights import Weights
from small_networks import NETWORKS


@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_are_those_of_the_program(name) -> None:
    network = NETWORKS[name]
    weights = Weights(network)
    np.testing.assert_array_equal(weights.numbers, Program(network).numbers)
    np.testing.assert_array_equal(weights.numbers, Program(network, keep=True).numbers)
    tensors, _ = safetensors.read_tensors(safetensors.write(network, {}))
    for one, shape in weights.shapes.items():
        np.testing.assert_array_equal(weights.of(one, weights.numbers), tensors[one])
        assert shape == tensors[one].shape


@pytest.mark.parametrize("name", ["mlp", "lstm 2", "gru 2"])
def test_changed_network_computes_with_what_was_given(name) -> None:
    network = NETWORKS[name]
    weights = Weights(network)
    before = weights.numbers
    kept = before.copy()
    last = [one for one in weights.shapes if one.endswith("bias")][-1]
    weights.change({last: weights.of(last, before) + 1.5})
    x = np.ones((2, network.inputs))
    scale = 20.0 if network.cells else 1.0
    was, now = (network_oracle.evaluate(one, x)[0] for one in (network, weights.network()))
    np.testing.assert_allclose(now - was, 1.5 * scale, rtol=1e-6)
    np.testing.assert_array_equal(before, kept)


@pytest.mark.skipif(native.core is None, reason="the native core was not built")
@pytest.mark.parametrize("name", ["mlp", "lstm 2", "gru 2"])
def test_core_computes_with_numbers_that_are_set(name) -> None:
    network = NETWORKS[name]
    weights, rng = Weights(network), np.random.default_rng(3)
    weights.change({one: rng.normal(0, 0.5, shape).astype(np.float32) for one, shape in weights.shapes.items()})
    x, found = rng.normal(size=(3, network.inputs)).astype(np.float32), []
    for one, numbers in ((network, weights.numbers), (weights.network(), None)):
        core = core_of(Program(one))
        if numbers is not None:
            core.set(numbers)
        y, shape = np.zeros(3, np.float32), (network.num_layers, 3, network.hidden_size)
        state = [np.zeros(shape, np.float32) for _ in range({"mlp": 0, "gru": 1, "lstm": 2}[network.kind])]
        core.bind(x, y, state, state).run()
        found.append([y, *state])
    np.testing.assert_equal(*found)
    with pytest.raises(ValueError, match="numbers of a network: must be as many as it was made of"):
        core.set(weights.numbers[1:])
