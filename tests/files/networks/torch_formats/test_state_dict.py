"""State dicts made without PyTorch: a network only if names, shapes and metadata determine it."""

from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks.torch_formats import state_dict as reader
from isaacsim.core.experimental.actuators.laws.networks.network import Linear
from network_oracle import evaluate, unary
from refusals import cases, refused
from torch_archives import Object, state_dict

RNG = np.random.default_rng(8)
X = RNG.normal(size=(5, 6))


def array(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def mlp(prefix: str = "") -> dict[str, np.ndarray]:
    shapes = {"0.weight": (8, 6), "0.bias": (8,), "2.weight": (4, 8), "2.bias": (4,), "10.weight": (1, 4)}
    return {f"{prefix}{name}": array(*shape) for name, shape in shapes.items()}


def recurrent(gates: int, layers: int = 2) -> dict[str, np.ndarray]:
    found = {}
    for layer in range(layers):
        found[f"rnn.weight_ih_l{layer}"] = array(gates * 4, 4 if layer else 6)
        found[f"rnn.weight_hh_l{layer}"] = array(gates * 4, 4)
        found[f"rnn.bias_ih_l{layer}"] = array(gates * 4)
        found[f"rnn.bias_hh_l{layer}"] = array(gates * 4)
    return found | {"head.weight": array(1, 4), "head.bias": array(1)}


@cases("prefix", "", "net.", "actor.net.")
@cases("activation", "softsign", "elu", "ReLU", "tanh")
def test_a_sequence_of_linear_layers(prefix, activation) -> None:
    tensors = mlp(prefix)
    data = state_dict({"model": tensors, "metadata": {"activation": activation, "input_idx": [0, 1, 2]}})
    assert reader.matches(data)
    network, metadata = reader.read(data)
    assert metadata == {"activation": activation, "input_idx": [0, 1, 2]}
    a, a_bias, b, b_bias, c = (one.astype(np.float64) for one in tensors.values())
    name, numbers = activation.lower(), (1.0,) if activation == "elu" else ()
    y = unary(name, numbers, unary(name, numbers, X @ a.T + a_bias) @ b.T + b_bias) @ c.T
    np.testing.assert_allclose(evaluate(network, X)[0], y[:, 0], rtol=1e-6, atol=1e-6)


def test_metadata_from_outside_goes_first() -> None:
    data = state_dict({"state_dict": mlp(), "metadata": {"activation": "elu", "effort_scale": 2.0}})
    network, metadata = reader.read(data, {"activation": "identity", "output_activation": "tanh"})
    assert metadata == {"activation": "identity", "output_activation": "tanh", "effort_scale": 2.0}
    assert [type(one).__name__ for one in network.operations] == ["Linear", "Linear", "Linear", "Unary"]


@cases("kind, gates", ("lstm", 4), ("gru", 3))
def test_recurrent_layers_and_a_head(kind, gates) -> None:
    tensors = recurrent(gates)
    network, metadata = reader.read(state_dict(tensors))
    assert (network.kind, network.inputs, network.num_layers, network.hidden_size, metadata) == (kind, 6, 2, 4, {})
    cell = network.cells[1]
    np.testing.assert_array_equal(cell.weight_ih, tensors["rnn.weight_ih_l1"])
    np.testing.assert_array_equal(cell.weight_hh, tensors["rnn.weight_hh_l1"])
    last = network.operations[-1]
    assert isinstance(last, Linear)
    np.testing.assert_array_equal(last.weight, tensors["head.weight"])


def without(tensors: dict[str, np.ndarray], *names: str) -> dict[str, np.ndarray]:
    return {name: one for name, one in tensors.items() if name not in names}


DOUBTFUL: dict[str, tuple] = {
    "no activation": (mlp(), r"activation = nothing: .*metadata="),
    "an unknown activation": ({"model": mlp(), "metadata": {"activation": "sin"}}, "'sin': must be one of"),
    "an activation that is none": ({"model": mlp(), "metadata": {"activation": 3}}, "'3': must be one of"),
    "no order": ({"first.weight": array(2, 2), "second.weight": array(1, 2)}, "must tell their order"),
    "two sequences": ({"a.0.weight": array(2, 2), "b.0.weight": array(1, 2)}, "must tell their order"),
    "a buffer": ({"0.weight": array(1, 2), "scale": array(2)}, "has 'scale', which no layer"),
    "normalising": ({"0.weight": array(1, 2), "1.weight": array(2), "1.bias": array(2)}, "'1.weight', which no layer"),
    "two directions": (recurrent(4) | {"rnn.weight_ih_l0_reverse": array(16, 6)}, "plain layers of one direction"),
    "a projection": (recurrent(4) | {"rnn.weight_hr_l0": array(2, 4)}, "plain layers of one direction"),
    "half of the biases": (without(recurrent(4), "rnn.bias_hh_l1"), "plain layers of one direction"),
    "two recurrent networks": (recurrent(4) | {"b.weight_ih_l0": array(16, 6)}, "several recurrent networks"),
    "an RNN": (recurrent(1), "1.0 gates"),
    "no head": (without(recurrent(4), "head.weight", "head.bias"), "no linear layer"),
    "nothing": ({}, "no linear layer"),
    "layers that do not fit": ({"0.weight": array(2, 2), "1.weight": array(1, 3)}, "activation = nothing"),
    "no dict": ([1, 2], "file holds list"),
    "no tensors": ({"0.weight": array(1, 2), "epoch": 3}, "'epoch' = int"),
    "an object": (Object("__torch__.M"), "file holds Record"),
    "metadata that is none": ({"model": mlp(), "metadata": [1]}, "no dict"),
    "two outputs": ({"0.weight": array(2, 2)}, "must be one scalar"),
}


@cases("doubt", *DOUBTFUL)
def test_what_leaves_doubt_is_refused(doubt) -> None:
    value, told = DOUBTFUL[doubt]
    refused(NetworkError, lambda: reader.read(state_dict(value)), told)


def test_layers_that_do_not_fit() -> None:
    with pytest.raises(NetworkError, match="does not fit"):
        reader.read(state_dict({"0.weight": array(2, 2), "1.weight": array(1, 3)}), {"activation": "elu"})


def test_files_of_before_are_told_so() -> None:
    assert reader.matches(reader.LEGACY + b"rest") and not reader.matches(b"") and not reader.matches(b"PK\3\4")
    refused(NetworkError, lambda: reader.read(reader.LEGACY + b"rest"), r"before PyTorch 1\.6")


BARE = {"0.weight": array(8, 2), "0.bias": array(8), "2.weight": array(1, 8), "2.bias": array(1)}


def effort(law) -> float:
    leg = aa.ActuatedArrays(["knee"], [(aa.ActuatorConfig(law), "knee")])
    q, qd, target = np.zeros((3, 1), np.float32)
    target[:] = 1.0
    return leg.step(q, qd, target, 0.005).item()


@pytest.fixture
def bare(tmp_path: Path) -> tuple:
    path = tmp_path / "knee.pt"
    path.write_bytes(state_dict(BARE))
    hidden = unary("elu", (1.0,), BARE["0.weight"][:, 0] + BARE["0.bias"])
    expected = (BARE["2.weight"] @ hidden + BARE["2.bias"]).item()
    with pytest.raises(
        ValueError, match=r'\{"activation": "elu"\} or another of .*: in a JSON file .* or as metadata='
    ):
        effort(aa.NeuralControlConfig(path))
    return path, pytest.approx(expected, rel=1e-5)


def test_metadata_may_be_in_a_json_file_beside(bare) -> None:
    path, expected = bare
    path.with_suffix(".json").write_text('{"activation": "elu"}')
    assert effort(aa.NeuralControlConfig(path)) == expected


def test_metadata_may_be_given_to_the_class_of_the_controller(bare) -> None:
    path, expected = bare
    path.with_suffix(".json").write_text('{"activation": "tanh", "effort_scale": 2.0}')
    law = aa.ControllerNeuralMLP(path, metadata={"activation": "elu", "effort_scale": 1.0})
    with pytest.raises(ValueError, match=r"metadata = .*: must be None, for the network was read already"):
        aa.ControllerNeuralMLP(law.checkpoint, metadata={"effort_scale": 3.0})
    assert effort(law) == expected


def test_metadata_may_be_given_to_convert_checkpoint(bare) -> None:
    path, expected = bare
    aa.convert_checkpoint(path, path.with_suffix(".safetensors"), metadata={"activation": "elu"})
    assert effort(aa.NeuralControlConfig(path.with_suffix(".safetensors"))) == expected
