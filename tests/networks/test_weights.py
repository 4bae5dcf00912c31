"""Weights of networks by name: read, changed, and a network of them."""

from __future__ import annotations

import network_oracle
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.networks import safetensors
from isaacsim.core.experimental.actuators.networks.program import Program
from isaacsim.core.experimental.actuators.networks.weights import Weights
from small_networks import NETWORKS


@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_are_those_of_the_program(name: str) -> None:
    """In their order, and names are those of tensors in a file."""
    network = NETWORKS[name]
    weights = Weights(network)
    np.testing.assert_array_equal(weights.numbers, Program(network).numbers)
    np.testing.assert_array_equal(weights.numbers, Program(network, keep=True).numbers)
    tensors, _ = safetensors.read_tensors(safetensors.write(network, {}))
    for one, shape in weights.shapes.items():
        np.testing.assert_array_equal(weights.of(one, weights.numbers), tensors[one])
        assert shape == tensors[one].shape


@pytest.mark.parametrize("name", ["mlp", "lstm 2", "gru 2"])
def test_changed_network_computes_with_what_was_given(name: str) -> None:
    """The one it was made of does not change, nor do numbers that somebody keeps."""
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
