"""GRU networks: normalised columns against an oracle, masked resets, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ControllerNeuralGRU
from neural_bench import COUNT, DT, array, largest_difference
from neural_twin import Twin, random_network, write_network

COLUMNS = ["position", "target_position", "position_error", "velocity", "target_velocity", "velocity_error"]


def metadata_of(columns: list[str]) -> dict[str, Any]:
    """Metadata with another mean and deviation for each column."""
    means = {name: 0.1 * number - 0.2 for number, name in enumerate(columns)}
    deviations = {name: 0.5 + 0.3 * number for number, name in enumerate(columns)}
    return {
        "model_type": "gru",
        "input_columns": columns,
        "normalization": {
            "inputs": {"mean": means, "std": deviations},
            "targets": {"mean": {"torque": 1.5}, "std": {"torque": 7.0}},
        },
        "sample_dt_s": DT,
    }


@pytest.mark.parametrize("columns", [COLUMNS, ["velocity", "position_error"], *([name] for name in COLUMNS)], ids=str)
def test_agrees_with_the_oracle(columns: list[str], tmp_path: Path, rng: np.random.Generator) -> None:
    """1000 steps of random motion with masked resets, to 1e-5 of the largest effort."""
    network, metadata = random_network("gru", len(columns), layers=2), metadata_of(columns)
    path = write_network(tmp_path / "knee.safetensors", network, metadata)
    assert largest_difference(ControllerNeuralGRU(path), Twin(network, metadata, COUNT), rng) < 1e-5


def test_state_has_the_name_and_shape_of_newton(tmp_path: Path) -> None:
    """One array `(layers, N, hidden size)`, of which a mask resets the middle axis."""
    path = write_network(tmp_path / "knee.safetensors", random_network("gru", 2, size=4), {})
    state = ControllerNeuralGRU(path).state(3, "cpu")
    state.hidden.fill_(1.0)
    state.reset(array([True, False, False], wp.bool))
    assert state.hidden.numpy().any(axis=2).tolist() == [[False, True, True]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"input_columns": ["position", "dynamic_bias"]}, "input_columns"),
        ({"input_columns": ["velocity"]}, "input_columns"),
        ({"input_columns": ["velocity", "velocity"]}, "input_columns"),
        ({"custom_inputs": ["bias"]}, "custom_inputs"),
        ({"normalization": 3}, "normalization"),
        ({"sample_dt_s": 0}, "sample_dt_s = 0"),
    ],
)
def test_what_cannot_be_used_is_refused(wrong: dict[str, Any], message: str, tmp_path: Path) -> None:
    """One error that names the file and the key."""
    metadata = metadata_of(["velocity", "position_error"]) | wrong
    path = write_network(tmp_path / "knee.safetensors", random_network("gru", 2), metadata)
    with pytest.raises(ValueError, match=rf"knee.safetensors.*{message}"):
        ControllerNeuralGRU(path)
