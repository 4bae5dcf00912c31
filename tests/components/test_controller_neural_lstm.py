"""LSTM networks: against an oracle, masked resets, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ControllerNeuralLSTM
from neural_bench import COUNT, array, largest_difference
from neural_twin import Twin, random_network, write_network


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("metadata", [{}, {"pos_scale": 2.0, "vel_scale": 0.25, "torque_scale": 20.0}], ids=str)
def test_agrees_with_the_oracle(
    metadata: dict[str, Any], layers: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    """1000 steps of random motion with masked resets, to 1e-5 of the largest effort."""
    network = random_network("lstm", 2, layers=layers)
    path = write_network(tmp_path / "knee.safetensors", network, {"model_type": "lstm", **metadata})
    assert largest_difference(ControllerNeuralLSTM(path), Twin(network, metadata, COUNT), rng) < 1e-5


def test_state_has_the_names_and_shapes_of_newton(tmp_path: Path) -> None:
    """Two arrays `(layers, N, hidden size)`, of which a mask resets the middle axis."""
    path = write_network(tmp_path / "knee.safetensors", random_network("lstm", 2, layers=2, size=4), {})
    controller = ControllerNeuralLSTM(path)
    state = controller.state(3, "cpu")
    assert (state.hidden.shape, state.cell.shape, controller.STATE_AXIS) == ((2, 3, 4), (2, 3, 4), 1)
    for held in (state.hidden, state.cell):
        held.fill_(1.0)
    state.reset(array([False, True, False], wp.bool))
    for held in (state.hidden, state.cell):
        assert held.numpy().any(axis=2).tolist() == [[True, False, True]] * 2


@pytest.mark.parametrize(
    ("kind", "inputs", "metadata", "message"),
    [
        ("gru", 2, {}, "kind gru, no LSTM: must be lstm"),
        ("lstm", 3, {}, "inputs = 3"),
        ("lstm", 2, {"num_layers": 2}, "num_layers = 2"),
        ("lstm", 2, {"hidden_size": 4}, "hidden_size = 4"),
    ],
)
def test_what_cannot_be_used_is_refused(
    kind: str, inputs: int, metadata: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """One error that names the file and the key."""
    path = write_network(tmp_path / "knee.safetensors", random_network(kind, inputs), metadata)
    with pytest.raises(ValueError, match=rf"knee.safetensors.*{message}"):
        ControllerNeuralLSTM(path)
