"""GRU networks: normalized columns compared with an oracle, masked resets, errors."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import Actuator, ControllerNeuralGRU, Delay
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from neural_bench import COUNT, DT, array, largest_difference
from neural_twin import Twin, random_motion, random_network, write_network
from refusals import cases, refused

COLUMNS = ["position", "target_position", "position_error", "velocity", "target_velocity", "velocity_error"]


def metadata_of(columns: list[str]) -> dict:
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
@pytest.mark.slow
def test_agrees_with_the_oracle(columns, tmp_path, rng) -> None:
    network, metadata = random_network("gru", len(columns), layers=2), metadata_of(columns)
    path = write_network(tmp_path / "knee.safetensors", network, metadata)
    steps = 200 if len(columns) == 1 else 1000
    assert largest_difference(ControllerNeuralGRU(path), Twin(network, metadata, COUNT), rng, steps=steps) < 1e-5


def test_state_has_the_name_and_shape_of_newton(tmp_path) -> None:
    """One array `(layers, N, hidden size)`, of which a mask resets the middle axis."""
    path = write_network(tmp_path / "knee.safetensors", random_network("gru", 2, size=4), {})
    state = ControllerNeuralGRU(path).state(3, "cpu")
    state.hidden.fill_(1.0)
    state.reset(array([True, False, False], wp.bool))
    assert state.hidden.numpy().any(axis=2).tolist() == [[False, True, True]]


def with_load(tmp_path: Path) -> tuple[ControllerNeuralGRU, Twin]:
    metadata = metadata_of(["velocity", "load", "position_error"]) | {"custom_inputs": ["load"]}
    network = random_network("gru", 3, layers=2)
    return ControllerNeuralGRU(write_network(tmp_path / "knee.safetensors", network, metadata)), Twin(
        network, metadata, COUNT
    )


def flat(values, *, step: int = 1) -> wp.array:
    held = np.zeros((len(values), step), np.float32)
    held[:, 0] = values
    return array(held)[:, 0] if step > 1 else array(values)


@pytest.mark.parametrize("pitch", [1, 3])
def test_column_of_the_caller_agrees_with_the_oracle(backend, pitch, tmp_path, rng) -> None:
    controller, twin = with_load(tmp_path)
    assert controller.custom_inputs == ("load",) and controller.network_law is None
    places = [rng.permutation(2 * COUNT)[:COUNT].astype(np.uint32) for _ in range(2)]
    indices, positions = (array(place, wp.uint32) for place in places)
    lag = Delay(array([1] * COUNT, wp.int32), 1)
    with quiet_warp():
        actuator = Actuator(indices, controller, lag, pos_indices=positions, target_pos_indices=positions)
        states = [actuator.state(), actuator.state()]
    worst, before = 0.0, None
    for number, values in enumerate(random_motion(rng, 2 * COUNT, 60)):
        q, qd, q_target, _, load = values
        if number == 20:
            mask = np.array([n % 2 == 0 for n in range(COUNT)])
            states[0].reset(array(mask, wp.bool))
            twin.reset(mask)
            before = np.where(np.isin(np.arange(2 * COUNT), places[1][mask]), q_target, before)
        ill = {20: np.nan, 31: np.inf, 32: -np.inf}.get(number)
        if ill is not None:
            load[places[0][1]] = ill
        late, before = q_target if before is None else before, q_target
        named = {"joint_q": q, "joint_qd": qd, "joint_target_q": q_target, "joint_target_qd": 0 * q}
        sim = SimpleNamespace(**{name: array(one) for name, one in named.items()}, load=flat(load, step=pitch))
        sim.joint_f = wp.zeros(2 * COUNT, dtype=wp.float32, device="cpu")
        actuator.step(sim, sim if number % 2 else vars(sim), *states, dt=DT)
        states.reverse()
        finite = np.nan_to_num(load, posinf=0.0, neginf=0.0)
        here = (q[places[1]], qd[places[0]], late[places[1]], 0 * q[places[0]])
        expected = twin.step(*here, hold=[1] if ill else [], custom={"load": finite[places[0]]})
        if ill is not None:
            expected[1] = 0.0
        worst = max(worst, np.abs(sim.joint_f.numpy()[places[0]] - expected).max())
    assert worst < 1e-4
    assert [(fault.robot, fault.step, fault.inputs) for fault in actuator.faults] == [(1, 20, ("effort",))]


def test_column_of_the_caller_has_to_be_there_and_fit(tmp_path) -> None:
    controller, _ = with_load(tmp_path)
    with quiet_warp():
        actuator = Actuator(array(range(COUNT), wp.uint32), controller)
    state = actuator.state()
    sim = actuator.sim_control()
    assert sorted(type(sim).__slots__) == ["joint_act", "joint_f", "joint_target_q", "joint_target_qd", "load"]
    there = actuator.sim_state()
    for of, name in ((there, "joint_q"), (there, "joint_qd"), (sim, "joint_target_q"), (sim, "joint_target_qd")):
        setattr(of, name, wp.ones(COUNT, dtype=wp.float32, device="cpu"))
    refused(ValueError, lambda: actuator.step(there, sim, state, state, dt=DT), "'joint_f' is None: must be an array")
    sim.joint_f = wp.zeros(COUNT, dtype=wp.float32, device="cpu")
    wrong: list[tuple] = [
        (None, RuntimeError, "knee.safetensors.*no array was supplied for input column 'load'"),
        ([0.0] * COUNT, ValueError, "load is a list: must be a Warp array"),
        (array([1.0]), ValueError, "load has length 1; expected 5, as joint_qd has"),
        (array([1] * COUNT, wp.int32), ValueError, "load has dtype int32: must be float32"),
    ]
    for given, error, told in wrong:
        sim.load = given
        refused(error, lambda: actuator.step(there, sim, state, state, dt=DT), told)
        assert state is not None and not state.controller_state.hidden.numpy().any() and not sim.joint_f.numpy().any()
    sim.load = array([1.0] * COUNT)
    actuator.step(there, sim, state, state, dt=DT)
    assert sim.joint_f.numpy().all()


@cases(
    "wrong, message",
    ({"input_columns": ["position", "dynamic_bias"]}, "input_columns"),
    ({"input_columns": ["velocity"]}, "input_columns"),
    ({"input_columns": ["velocity", "velocity"]}, "input_columns"),
    ({"custom_inputs": ["bias"]}, "custom_inputs must name columns in input_columns: bias"),
    ({"custom_inputs": ["velocity"]}, "may not reuse built-in feature names"),
    ({"custom_inputs": ["bias", "load"]}, "at most one custom input"),
    ({"custom_inputs": ["the load"]}, "valid names"),
    ({"custom_inputs": ["class"]}, "valid names"),
    ({"custom_inputs": "bias"}, "valid names"),
    ({"normalization": 3}, "normalization"),
    ({"sample_dt_s": 0}, "sample_dt_s = 0"),
)
def test_what_cannot_be_used_is_refused(wrong, message, tmp_path) -> None:
    metadata = metadata_of(["velocity", "position_error"]) | wrong
    path = write_network(tmp_path / "knee.safetensors", random_network("gru", 2), metadata)
    refused(ValueError, lambda: ControllerNeuralGRU(path), rf"(?=.*knee.safetensors).*{message}")
