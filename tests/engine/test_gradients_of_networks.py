"""Gradients of actuators with networks on a tape, compared with float64 finite differences of an oracle."""

import itertools
from collections.abc import Callable
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.engine.calls import Calls
from isaacsim.core.experimental.actuators.engine.gradients.gradient_recorder import StepGradients
from isaacsim.core.experimental.actuators.laws.networks.network import Linear, Network, Slice, Unary
from isaacsim.core.experimental.actuators.laws.networks.weights import Weights
from late_rollout import array, in_place, one_each, swapped
from neural_twin import Twin, random_network, write_network
from refusals import cases
from small_networks import NETWORKS, numbers
from step_bench import FeedbackSkewed

# a whole block of the core, and one with room left
N, DT = 45, 0.02
SIGNALS = ("joint_q", "joint_qd", "joint_target_q", "joint_target_qd", "joint_act")
CONTROLLERS = {"mlp": aa.ControllerNeuralMLP, "lstm": aa.ControllerNeuralLSTM, "gru": aa.ControllerNeuralGRU}
COLUMNS = ["velocity_error", "position", "target_velocity", "position_error", "target_position", "velocity"]


def gru_metadata(columns: list[str]) -> dict:
    mean = {name: 0.1 * k for k, name in enumerate(columns)}
    std = {name: 0.5 + 0.2 * k for k, name in enumerate(columns)}
    targets = {"mean": {"torque": 0.5}, "std": {"torque": 20.0}}
    return {"input_columns": columns, "normalization": {"inputs": {"mean": mean, "std": std}, "targets": targets}}


METADATA: dict[str, dict] = {
    "mlp": {"input_order": "vel_pos", "input_idx": [0, 3, 1], "pos_scale": 1.5, "vel_scale": 0.5, "effort_scale": 8.0},
    "filled": {"input_idx": [0, 3, 1], "pos_scale": 1.5, "effort_scale": 8.0, "history_fill": "first"},
    "lstm": {"pos_scale": 1.5, "vel_scale": 0.5, "effort_scale": 30.0},
    "gru": gru_metadata(COLUMNS),
}
MODELS = {
    "mlp": random_network("mlp", 6, layers=2),
    "filled": random_network("mlp", 6, layers=2),
    "lstm": random_network("lstm", 2, layers=2),
    "gru": random_network("gru", 6, layers=2, size=5),
}
# rows that fill up a block have zeros for inputs, where the slope has no end
FIRST, LAST = Linear(0, numbers(4, 6), np.zeros(4, np.float32)), Linear(3, numbers(1, 4), np.zeros(1, np.float32))
ROOT = Network(6, (FIRST, Unary("abs", 1), Unary("sqrt", 2), LAST))
Values = dict[str, np.ndarray]
# gradients by central differences, how often the limit acted, and the network
KNOWN: dict[tuple, tuple[Values, int, Network]] = {}
pytestmark = pytest.mark.usefixtures("backend")


class Rollout:
    """Steps of a network in float64 and on a tape; the loss is a weighted sum of efforts and of what is remembered."""

    is_geared = is_sensed = False

    def __init__(
        self, folder: Path, network: Network, metadata: dict, steps: int, depth: int = 0, seed: int = 0
    ) -> None:
        rng = np.random.default_rng(seed)
        self.network, self.metadata, self.steps, self.depth = network, metadata, steps, depth
        file = write_network(folder / "knee.safetensors", network, metadata)
        self.controller = CONTROLLERS[network.kind](file)
        self.lag = rng.integers(0, depth + 1, N) if depth else np.zeros(N, int)
        self.values: Values = {
            f"{name} {k}": rng.normal(0, 1, N).astype(np.float32) for k in range(steps) for name in SIGNALS
        }
        self.values["max_effort"] = rng.uniform(1.0, 12.0, N).astype(np.float32)
        # of numbers of their own: the others are those of a network alone
        before = np.random.default_rng(seed + 1000)
        for name, ends in {"ratio": (0.5, 2.0), "offset": (-1.0, 1.0), "bias": (-0.5, 0.5), "gain": (0.5, 2.0)}.items():
            self.values[name] = before.uniform(*ends, N).astype(np.float32)
        law = self.controller.law
        self.remembered = law.STATE
        for name in law.STATE:
            self.values[f"before: {name}"] = rng.normal(0, 0.5, law.state_shape(N)).astype(np.float32)
        # some begin after a reset where that is not the same as after a rest
        self.fresh = np.arange(N) % 3 == 0 if law.first_fills else np.zeros(N, bool)
        for name in law.STATE if law.first_fills else ():
            self.values[f"before: {name}"][:, self.fresh] = 0.0
        self.weights = rng.normal(0, 1, (steps, N)).astype(np.float32)
        self.weights_after = {name: rng.normal(0, 1, law.state_shape(N)).astype(np.float32) for name in law.STATE}
        self.limited = 0

    def loss(self, values: Values) -> np.ndarray:
        """Of each joint, in float64; joints do not know of each other."""
        twin = Twin(self.network, self.metadata, N)
        before = [values[f"before: {name}"] for name in self.remembered]
        if self.network.kind == "mlp":
            twin.past = [
                [(float(e), float(v)) for e, v in zip(*(one[:, n] for one in before), strict=True) if not self.fresh[n]]
                for n in range(N)
            ]
        else:
            twin.hidden, twin.cell = before[0].astype(np.float64), before[-1].astype(np.float64)
        total = np.zeros(N)
        self.limited = 0
        for k in range(self.steps):
            source = np.maximum(k - self.lag, 0)
            command = [np.choose(source, [values[f"{name} {n}"] for n in range(self.steps)]) for name in SIGNALS[2:4]]
            signals = [values[f"joint_q {k}"], values[f"joint_qd {k}"], *command]
            if self.is_sensed:
                signals[:2] = signals[0] + values["bias"], values["gain"] * signals[1]
            ratio, offset = (values["ratio"], values["offset"]) if self.is_geared else (1.0, 0.0)
            effort = twin.step(*(ratio * one + more for one, more in zip(signals, 2 * [offset, 0.0], strict=True)))
            limited = np.minimum(np.maximum(effort, -values["max_effort"]), values["max_effort"])
            self.limited += int((limited != effort).sum())
            total += self.weights[k] * ratio * limited
        after = [twin.hidden, twin.cell]
        if self.network.kind == "mlp":
            rows = before[0].shape[0]
            filled = [[past[min(s, len(past) - 1)] for past in twin.past] for s in range(rows)]
            after = [np.array(filled)[:, :, which] for which in range(2)]
        for weights, one in zip(self.weights_after.values(), after, strict=False):
            total += np.moveaxis(weights * one, 1, 0).reshape(N, -1).sum(axis=1)
        return total

    def differences(self) -> Values:
        """The gradients by central differences, computed once for both engines and all ways to hold states."""
        flags = self.steps, self.is_geared, self.is_sensed, repr(self.metadata)
        arrays = *self.values.values(), *self.weights_after.values(), self.weights, self.lag, self.fresh
        key = id(self.network), *flags, *(values.tobytes() for values in arrays)
        if key not in KNOWN:
            # that network has the id for itself as long as it is kept
            KNOWN[key] = self._differences(), self.limited, self.network
        found, self.limited, _ = KNOWN[key]
        return found

    def _differences(self) -> Values:
        exact = {name: value.astype(np.float64) for name, value in self.values.items()}
        found: Values = {name: np.zeros_like(value) for name, value in exact.items()}
        width = 1e-6
        for name, value in exact.items():
            # one number of each joint at a time
            others = [range(size) if axis != 1 else [slice(None)] for axis, size in enumerate(value.shape)]
            for at in itertools.product(*others) if value.ndim > 1 else [slice(None)]:
                ends = []
                for sign in (1, -1):
                    moved = value.copy()
                    moved[at] += sign * width
                    ends.append(self.loss(exact | {name: moved}))
                found[name][at] = (ends[0] - ends[1]) / (2 * width)
        return found

    def on_tape(self, states: Callable[[aa.Actuator, int], list[tuple]]) -> Values:
        """The gradients on a tape of Warp; `states` gives those before and after each step."""
        given = {name: array(self.values[name]) for name in ("max_effort", "ratio", "offset", "bias", "gain")}
        others = []
        if self.is_geared:
            others.append(aa.TransmissionGear(given["ratio"], given["offset"], array(np.zeros(N), False)))
        if self.is_sensed:
            others.append(FeedbackSkewed(given["bias"], given["gain"]))
        delay = aa.Delay(array(self.lag, False, wp.int32), self.depth) if self.depth else None
        indices = array(np.arange(N), False, wp.uint32)
        clamping = [aa.ClampingMaxEffort(given["max_effort"])]
        actuator = aa.Actuator(indices, self.controller, delay, clamping, others=others, requires_grad=True)
        pairs = states(actuator, self.steps)
        first, last = (
            {name: vars(one.controller_state)[name] for name in self.remembered} for one in (pairs[0][0], pairs[-1][1])
        )
        for name, one in first.items():
            one.assign(self.values[f"before: {name}"])
        signals = {name: array(value) for name, value in self.values.items() if name.split()[0] in SIGNALS}
        efforts = [array(np.zeros(N)) for _ in range(self.steps)]
        with wp.Tape() as tape:
            for k, (now, after) in enumerate(pairs):
                control = {name: signals[f"{name} {k}"] for name in SIGNALS} | {"joint_f": efforts[k]}
                actuator.step(control, control, now, after, DT)
        for effort, weights in zip(efforts, self.weights, strict=True):
            effort.grad.assign(weights)
        for name, one in last.items():
            one.grad.assign(self.weights_after[name])
        tape.backward()
        found = {name: one.grad.numpy().copy() for name, one in (signals | given).items()}
        return found | {f"before: {name}": one.grad.numpy().copy() for name, one in first.items() if one.grad}


def assert_same(found: Values, expected: Values, tolerance: float = 1e-4) -> None:
    for name, values in expected.items():
        scale = max(1.0, float(np.abs(values).max()))
        np.testing.assert_allclose(found[name], values, atol=tolerance * scale, rtol=0, err_msg=name)


@pytest.mark.parametrize("states", [swapped, in_place, one_each])
@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("kind", MODELS)
def test_gradients_are_those_of_finite_differences(kind, depth, states, tmp_path) -> None:
    rollout = Rollout(tmp_path, MODELS[kind], METADATA[kind], 5, depth)
    expected = rollout.differences()
    assert 0 < rollout.limited < 5 * N
    others = "joint_act", "target_qd", "ratio", "offset", "bias", "gain"
    assert all(expected[name].any() for name in expected if not any(map(name.__contains__, others)))
    assert_same(rollout.on_tape(states), expected)


@pytest.mark.parametrize("is_sensed", [False, True])
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.slow("Warp")
def test_network_of_a_motor_before_its_gear(kind, is_sensed, tmp_path) -> None:
    rollout = Rollout(tmp_path, MODELS[kind], METADATA[kind], 3, 2, seed=6)
    rollout.is_geared, rollout.is_sensed = True, is_sensed
    expected = rollout.differences()
    assert expected["ratio"].all() and expected["offset"].any() and expected["gain"].any() == is_sensed
    assert_same(rollout.on_tape(swapped), expected)
    # a fault has none
    rollout.values["joint_q 2"][5] = np.nan
    found = rollout.on_tape(in_place)
    assert all(np.isfinite(values).all() for values in found.values()) and found["joint_qd 2"][5] == 0


@pytest.mark.parametrize("kind", MODELS)
def test_states_without_gradients_are_let_be(kind, tmp_path) -> None:
    def first_without(actuator: aa.Actuator, steps: int) -> list[tuple]:
        pairs = one_each(actuator, steps)
        for one in vars(pairs[0][0].controller_state).values():
            one.requires_grad = False
        return pairs

    rollout = Rollout(tmp_path, MODELS[kind], METADATA[kind], 3)
    expected = rollout.on_tape(one_each)
    found = rollout.on_tape(first_without)
    assert {*expected} - {*found} == {f"before: {name}" for name in rollout.remembered}
    np.testing.assert_equal(found, {name: expected[name] for name in found})


@pytest.mark.parametrize("name", NETWORKS)
def test_every_operation(name, tmp_path) -> None:
    network = NETWORKS[name]
    metadata = {"effort_scale": 3.0}
    if network.kind == "mlp":
        metadata["input_idx"] = [0, 1, 2]
    elif network.kind == "gru":
        metadata = gru_metadata(["position_error", "velocity"])
    rollout = Rollout(tmp_path, network, metadata, 2, seed=4)
    rollout.values["max_effort"][:] = 1000.0
    assert_same(rollout.on_tape(swapped), rollout.differences())


@cases(
    "function, taken, place, slope",
    ("abs", (), 0.0, 0.0),
    ("sign", (), 0.0, 0.0),
    ("relu", (), 0.0, 0.0),
    ("leaky_relu", (0.125,), 0.0, 0.125),
    ("elu", (0.75,), 0.0, 0.75),
    ("clamp", (-0.5, 0.25), -0.5, 1.0),
    ("clamp", (-0.5, 0.25), 0.25, 1.0),
)
def test_where_a_function_has_two_slopes_it_is_that_of_torch(function, taken, place, slope, tmp_path) -> None:
    network = Network(2, (Slice(0, 0, 1), Unary(function, 1, taken)))
    file = write_network(tmp_path / "knee.safetensors", network, {"input_idx": [0]})
    actuator = aa.Actuator(array([0], False, wp.uint32), aa.ControllerNeuralMLP(file), requires_grad=True)
    signals = {name: array([0.0]) for name in SIGNALS}
    signals["joint_target_q"].assign([place])
    state, effort = actuator.state(), array([0.0])
    with wp.Tape() as tape:
        actuator.step(signals, signals | {"joint_f": effort}, state, state, DT)
    effort.grad.fill_(1.0)
    tape.backward()
    assert signals["joint_target_q"].grad.numpy().tolist() == [slope]


@pytest.mark.parametrize("backend", ["core"], indirect=True)
@pytest.mark.parametrize("isa", native.core.variants() if native.core else [])
@pytest.mark.parametrize("kind", MODELS)
def test_every_instruction_set(kind, isa, tmp_path, monkeypatch) -> None:
    rollout = Rollout(tmp_path, MODELS[kind], METADATA[kind], 2)
    expected = rollout.on_tape(swapped)
    monkeypatch.setenv("ACTUATORS_ISA", isa)
    assert_same(rollout.on_tape(swapped), expected, 1e-5)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("states", [swapped, in_place])
def test_fault_has_no_gradient(kind, states, tmp_path) -> None:
    found: list[Values] = []
    for bad in (False, True):
        rollout = Rollout(tmp_path, MODELS[kind], METADATA[kind], 3)
        rollout.values["max_effort"][5] = 1000.0
        if bad:
            rollout.values["joint_qd 1"][5] = np.nan
        found.append(rollout.on_tape(states))
    # without the step that was a fault, the other two
    rollout.steps, rollout.weights = 2, rollout.weights[[0, 2]]
    for name in SIGNALS:
        rollout.values[f"{name} 1"] = rollout.values.pop(f"{name} 2")
    without = rollout.differences()
    others = np.arange(N) != 5
    for name, values in found[1].items():
        assert np.isfinite(values).all(), name
        axis = int(values.ndim > 1)
        np.testing.assert_array_equal(*(one[name].compress(others, axis) for one in found), err_msg=name)
        if name.endswith(" 1"):
            assert values[5] == 0, name
        elif name != "max_effort":
            right = without[name.replace(" 2", " 1")]
            np.testing.assert_allclose(values.take(5, axis), right.take(5, axis), atol=2e-3, rtol=1e-3, err_msg=name)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", MODELS)
def test_reset_ends_what_goes_back(kind, whole, tmp_path) -> None:
    rollout = Rollout(tmp_path, MODELS[kind], METADATA[kind], 2)
    actuator = aa.Actuator(array(np.arange(N), False, wp.uint32), rollout.controller, requires_grad=True)
    state, mask = actuator.state(), np.arange(N) % 2 == 0
    assert state is not None
    steps = [{name: array(rollout.values[f"{name} {k}"]) for name in SIGNALS} for k in range(2)]
    efforts = [array(np.zeros(N)) for _ in range(2)]
    with wp.Tape() as tape:
        actuator.step(steps[0], {**steps[0], "joint_f": efforts[0]}, state, state, DT)
        state.reset(None if whole else array(mask, False, wp.bool))
        actuator.step(steps[1], {**steps[1], "joint_f": efforts[1]}, state, state, DT)
    assert all(callable(one) for one in tape.launches)
    efforts[1].grad.fill_(1.0)
    tape.backward()
    gone = np.ones(N, bool) if whole else mask
    before = steps[0]["joint_q"].grad.numpy()
    assert not before[gone].any() and (whole or before[~gone].all()) and steps[1]["joint_q"].grad.numpy().all()


def test_efforts_and_states_are_those_without_gradients(tmp_path) -> None:
    found = []
    for grad, on_tape in ((False, False), (True, False), (True, True)):
        rollout = Rollout(tmp_path, MODELS["gru"], METADATA["gru"], 1)
        actuator = aa.Actuator(array(np.arange(N), False, wp.uint32), rollout.controller, requires_grad=grad)
        state = actuator.state()
        assert state is not None
        arrays = {name: array(rollout.values[f"{name} 0"]) for name in SIGNALS} | {"joint_f": array(np.zeros(N))}
        tape = wp.Tape()
        if on_tape:
            with tape:
                actuator.step(arrays, arrays, state, state, DT)
        else:
            actuator.step(arrays, arrays, state, state, DT)
        found.append([arrays["joint_f"].numpy(), state.controller_state.hidden.numpy()])
    for one in found[1:]:
        np.testing.assert_equal(one, found[0])


@pytest.mark.parametrize("backend", ["core"], indirect=True)
@pytest.mark.parametrize("network", [*MODELS.values(), ROOT], ids=[*MODELS, "root"])
def test_gradients_by_weights_are_those_of_finite_differences(network, tmp_path) -> None:
    rollout = Rollout(tmp_path, network, METADATA[network.kind], 1)
    limit = aa.ClampingMaxEffort(array(rollout.values["max_effort"], False))
    indices = array(np.arange(N), False, wp.uint32)
    actuator = aa.Actuator(indices, rollout.controller, clamping=[limit], requires_grad=True)
    now, after = actuator.state(), actuator.state()
    assert now is not None
    for name in rollout.remembered:
        vars(now.controller_state)[name].assign(rollout.values[f"before: {name}"])
    signals = {name: array(rollout.values[f"{name} 0"], False) for name in SIGNALS}
    control = signals | {"joint_f": array(np.zeros(N), False)}
    calls = Calls([actuator])
    binding, before, _, seconds = calls.bound(control, control, now, after, DT)
    on_tape, places = actuator._compiled.on_tape, np.arange(N, dtype=np.uint32)
    noted = on_tape.note(binding, before, seconds)
    weights = Weights(network)
    found = np.zeros_like(weights.numbers)
    states = [rollout.weights_after[name].copy() for name in rollout.remembered]
    on_tape._pipeline.recorder.back(
        noted,
        StepGradients(
            efforts=[rollout.weights[0].copy(), None],
            effort_index=places,
            signals=[None] * 5,
            indices=[places] * 5,
            parameters=[None],
            after=states,
            before=[None] * len(states),
            numbers=found,
        ),
    )
    rng = np.random.default_rng(3)
    exact = {name: value.astype(np.float64) for name, value in rollout.values.items()}
    for name, shape in weights.shapes.items():
        for _ in range(6):
            at = tuple(rng.integers(0, shape))
            value, ends, losses = weights.of(name, weights.numbers)[at], [], []
            for width in (1e-5, -1e-5):
                moved = Weights(network)
                changed = moved.of(name, moved.numbers).copy()
                changed[at] = value + np.float32(width)
                moved.change({name: changed})
                rollout.network = moved.network()
                ends.append(float(changed[at]))
                losses.append(rollout.loss(exact).sum())
            expected = (losses[0] - losses[1]) / (ends[0] - ends[1])
            assert weights.of(name, found)[at] == pytest.approx(expected, rel=2e-3, abs=2e-3), (name, at)
    assert found.all()
