"""Feedforward networks with history: comparison with an oracle, masked resets, errors."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import Actuator, ControllerNeuralLSTM, ControllerNeuralMLP
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint
from neural_bench import COUNT, array, largest_difference
from neural_twin import Twin, random_network, write_network
from refusals import cases, refused

SCALES = {"pos_scale": 2.0, "vel_scale": 0.25, "effort_scale": 20.0}


@cases(
    "metadata",
    {},
    SCALES,
    {"input_idx": [0, 2, 4], **SCALES},
    {"input_idx": [0, 2, 4], "input_order": "vel_pos", **SCALES},
    {"input_idx": [7, 1, 1], "torque_scale": 3.0},
    {"input_idx": [3]},
    {"input_idx": [0, 2, 4], "history_fill": "first", **SCALES},
    {"input_idx": [7, 1, 1], "history_fill": "first", "input_order": "vel_pos"},
    {"history_fill": "first"},
    ids=str,
)
@pytest.mark.slow
def test_history_agrees_with_the_oracle(metadata, tmp_path, rng) -> None:
    network = random_network("mlp", 2 * len(metadata.get("input_idx", [0])), layers=3)
    path = write_network(tmp_path / "knee.safetensors", network, {"model_type": "mlp", **metadata})
    assert largest_difference(ControllerNeuralMLP(path), Twin(network, metadata, COUNT), rng) < 1e-5


def test_state_has_the_names_and_shapes_of_newton(tmp_path) -> None:
    """Two arrays `(H, N)`, H one more than the largest step back."""
    path = write_network(tmp_path / "knee.safetensors", random_network("mlp", 4), {"input_idx": [0, 3]})
    controller = ControllerNeuralMLP(str(path))
    state = controller.state(COUNT, "cpu")
    assert (state.pos_error_history.shape, state.vel_history.shape) == ((4, COUNT), (4, COUNT))
    assert (controller.history_length, controller.SHARED_PARAMS) == (4, {"model_path"})
    assert (controller.is_stateful(), controller.is_graphable()) == (True, True)


def test_masked_reset_clears_the_columns_of_the_mask(tmp_path) -> None:
    path = write_network(tmp_path / "knee.safetensors", random_network("mlp", 4), {"input_idx": [0, 3]})
    state = ControllerNeuralMLP(path).state(3, "cpu")
    for history in vars(state).values():
        history.fill_(1.0)
    state.reset(array([True, False, True], wp.bool))
    assert state.vel_history.numpy().tolist() == [[0.0, 1.0, 0.0]] * 4
    assert state.pos_error_history.numpy().tolist() == [[0.0, 1.0, 0.0]] * 4
    refused(ValueError, lambda: state.reset(array([True, False], wp.bool)), r"mask has length 2: must be 3")
    state.reset()
    assert not state.vel_history.numpy().any()


def test_first_step_fills_though_it_is_at_rest(tmp_path) -> None:
    """A measured zero is no unset value: the step after rest at exactly 0 is not the first one."""
    metadata = {"input_idx": [0, 2, 4], "history_fill": "first"}
    network = random_network("mlp", 6)
    path = write_network(tmp_path / "knee.safetensors", network, metadata)
    twin, controller = Twin(network, metadata, 2), ControllerNeuralMLP(path)
    assert controller.history_fill == "first"
    actuator = Actuator(array([0, 1], wp.uint32), controller)
    states = [actuator.state(), actuator.state()]
    for step in range(12):
        # one begins at rest, the other in motion and comes to rest
        values = np.float32([[0.0, 0.3 if step < 3 else -0.0], [0.0, 0.2 if step < 3 else 0.0], [0.5 * (step > 5), 0]])
        q, qd, target = (array(one) for one in values)
        if step == 8:
            states[0].reset(array([False, True], wp.bool))
            twin.reset(np.array([False, True]))
        effort, none = array([0.0, 0.0]), array([0.0, 0.0])
        control = SimpleNamespace(joint_target_pos=target, joint_target_vel=none, joint_act=none, joint_f=effort)
        actuator.step(SimpleNamespace(joint_q=q, joint_qd=qd), control, *states, dt=0.005)
        states.reverse()
        expected = twin.step(*values, np.zeros(2))
        np.testing.assert_allclose(effort.numpy(), expected, rtol=1e-5, atol=1e-6, err_msg=str(step))


def test_checkpoint_instead_of_a_path(tmp_path) -> None:
    path = write_network(tmp_path / "knee.safetensors", random_network("mlp", 2), {})
    checkpoint = load_checkpoint(path)
    assert ControllerNeuralMLP(checkpoint).network is checkpoint.network
    assert ControllerNeuralMLP(path).network is checkpoint.network


def test_arguments_are_resolved() -> None:
    assert ControllerNeuralMLP.resolve_arguments({"model_path": "a.onnx", "kp": 1}) == {"model_path": "a.onnx"}
    for lacking in ({}, {"model_path": ""}):
        with pytest.raises(ValueError, match="ControllerNeuralMLP requires a non-empty 'model_path'"):
            ControllerNeuralMLP.resolve_arguments(lacking)


@cases(
    "kind, inputs, metadata, message",
    ("lstm", 2, {}, "kind lstm, no MLP: must be mlp"),
    ("mlp", 2, {"input_order": "up"}, "input_order = 'up'"),
    ("mlp", 2, {"input_idx": [-1]}, r"input_idx = \[-1\]"),
    ("mlp", 2, {"input_idx": [10**9]}, "input_idx"),
    ("mlp", 2, {"input_idx": []}, "input_idx"),
    ("mlp", 4, {}, "input_idx.*4"),
    ("mlp", 2, {"pos_scale": 0}, "pos_scale = 0"),
    ("mlp", 2, {"effort_scale": "20"}, "effort_scale = '20'"),
    ("mlp", 2, {"sample_dt": -1}, "sample_dt = -1"),
)
def test_what_cannot_be_used_is_refused(kind, inputs, metadata, message, tmp_path) -> None:
    path = write_network(tmp_path / "knee.safetensors", random_network(kind, inputs), metadata)
    refused(ValueError, lambda: ControllerNeuralMLP(path), rf"(?=.*knee.safetensors).*{message}")


def test_missing_file_is_an_os_error(tmp_path) -> None:
    refused(FileNotFoundError, lambda: ControllerNeuralLSTM(tmp_path / "nothing.onnx"))


def test_step_that_the_network_was_not_trained_for(tmp_path, rng) -> None:
    network, metadata = random_network("mlp", 2), {"sample_dt": 0.005}
    path = write_network(tmp_path / "knee.safetensors", network, metadata)
    with pytest.raises(ValueError, match=r"dt = 0.01 s: must be the step .* 0.005 s"):
        largest_difference(ControllerNeuralMLP(path), Twin(network, metadata, COUNT), rng, dt=0.01)
    twin = Twin(network, metadata, COUNT)
    assert largest_difference(ControllerNeuralMLP(path), twin, rng, dt=float(np.float32(0.005))) < 1e-5


def test_compute_comes_after_finalize(tmp_path) -> None:
    path = write_network(tmp_path / "knee.safetensors", random_network("mlp", 2), {})
    controller, some = ControllerNeuralMLP(path), array([0.0])
    at = array([0], wp.uint32)
    with pytest.raises(RuntimeError, match="compute comes after finalize"):
        controller.compute(some, some, some, some, None, at, at, at, at, some, controller.state(1, "cpu"), 0.01)
