"""LSTM networks: comparison with an oracle, masked resets, errors."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import Actuator, ControllerNeuralLSTM
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.laws.networks.checkpoint import Checkpoint
from neural_bench import COUNT, DT, array, largest_difference
from neural_twin import Twin, random_network, write_network
from refusals import cases, refused


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("metadata", [{}, {"pos_scale": 2.0, "vel_scale": 0.25, "torque_scale": 20.0}], ids=str)
@pytest.mark.slow
def test_agrees_with_the_oracle(metadata, layers, tmp_path, rng) -> None:
    network = random_network("lstm", 2, layers=layers)
    path = write_network(tmp_path / "knee.safetensors", network, {"model_type": "lstm", **metadata})
    assert largest_difference(ControllerNeuralLSTM(path), Twin(network, metadata, COUNT), rng) < 1e-5


def test_state_has_the_names_and_shapes_of_newton(tmp_path) -> None:
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


@cases(
    "kind, inputs, metadata, message",
    ("gru", 2, {}, "kind gru, no LSTM: must be lstm"),
    ("lstm", 3, {}, "inputs = 3"),
    ("lstm", 2, {"num_layers": 2}, "num_layers = 2"),
    ("lstm", 2, {"hidden_size": 4}, "hidden_size = 4"),
)
def test_what_cannot_be_used_is_refused(kind, inputs, metadata, message, tmp_path) -> None:
    path = write_network(tmp_path / "knee.safetensors", random_network(kind, inputs), metadata)
    refused(ValueError, lambda: ControllerNeuralLSTM(path), rf"(?=.*knee.safetensors).*{message}")


def test_states_of_files_of_torch_are_tensors_where_torch_is_used() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: there are no tensors")
    network, metadata = random_network("lstm", 2), {"model_type": "lstm"}
    first, second = (ControllerNeuralLSTM(Checkpoint(network, metadata, format, "a")) for format in ("onnx", "pt2"))
    assert isinstance(first.state(COUNT, "cpu").hidden, wp.array)
    found: list[list] = []
    for controller in (first, second):
        with quiet_warp():
            actuator = Actuator(array(range(COUNT), wp.uint32), controller)
        states = [actuator.state(), actuator.state()]
        named = {"joint_q": 0, "joint_qd": 1, "joint_target_q": 2, "joint_target_qd": 0, "joint_f": 0}
        sim = SimpleNamespace(**{name: array(np.full(COUNT, value, np.float32)) for name, value in named.items()})
        for _ in range(3):
            actuator.step(sim, sim, *states, dt=DT)
            states.reverse()
        found.append([sim.joint_f.numpy().copy(), states[0].controller_state.hidden.numpy().copy()])
        if controller is second:
            held = states[0].controller_state.hidden
            assert isinstance(held, torch.Tensor) and not torch.all(held == 0.0).item()
            before = held[:, 0].clone()
            states[0].reset(array([False, True] + [False] * (COUNT - 2), wp.bool))
            assert not held[:, 1].any() and torch.equal(held[:, 0], before)
            states[0].controller_state.hidden = torch.ones_like(held)
            after, fresh = actuator.state(), actuator.state()
            fresh.assign(states[0])  # pyright: ignore
            for state in (states[0], fresh):
                sim.joint_f.zero_()
                actuator.step(sim, sim, state, after, dt=DT)
                found.append([sim.joint_f.numpy().copy()])
    assert all(np.array_equal(one, other) for one, other in zip(found[0], found[1], strict=True))
    assert np.array_equal(found[2][0], found[3][0]) and not np.array_equal(found[2][0], found[0][0] / 3)
