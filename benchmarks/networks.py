"""Benchmark networks against Torch, onnxruntime and NumPy, if installed: forward passes, and whole steps.

./python.sh -m benchmarks.networks [--quick]

Every candidate is compared with float64 first, over some steps; a wrong candidate is not timed. One thread. Whole steps
are history in, network, scale and limit, efforts out, of joints that share a network: ours is the engine with one
actuator per joint, as in a robot file; Torch a reimplementation of Isaac Lab's actuator networks for a group of joints.
"""

# the peers are separate extras
# pyright: reportMissingImports=false

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from . import environment

# set before NumPy and Torch are imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

import numpy as np

from .timing import interleave, steps

TOLERANCE, STEPS = 1e-5, 8
JOINTS, ROBOTS = 12, (1, 64, 4096)
MLP_WIDTHS = (6, 32, 32, 32, 1)
LSTM_INPUTS, LSTM_HIDDEN, LSTM_LAYERS = 2, 8, 2
# of whole steps
DT = 0.005
SCALES = {"pos_scale": 2.0, "vel_scale": 0.25, "effort_scale": 20.0}
LIMIT, STEPS_BACK = 8.0, 3
Step = Callable[[], np.ndarray]


class Problem:
    """Weights and inputs of a network; LSTM weights have Torch's layout for each layer."""

    def __init__(self, name: str, rows: int) -> None:
        self.name, self.rows, self.rng = name, rows, np.random.default_rng(7)
        self.inputs = MLP_WIDTHS[0] if name == "MLP" else LSTM_INPUTS
        self.x = np.zeros((rows, self.inputs), np.float32)
        self.linear: list[tuple[np.ndarray, np.ndarray]] = []
        self.cells: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        if name == "MLP":
            for inputs, outputs in itertools.pairwise(MLP_WIDTHS):
                self.linear.append((self._draw(outputs, inputs), self._draw(outputs)))
            return
        for layer in range(LSTM_LAYERS):
            width = LSTM_HIDDEN if layer else LSTM_INPUTS
            gates = 4 * LSTM_HIDDEN
            self.cells.append((self._draw(gates, width), self._draw(gates, LSTM_HIDDEN), self._draw(gates)))
        self.linear.append((self._draw(1, LSTM_HIDDEN), self._draw(1)))

    def change_inputs(self, step: int) -> None:
        """Draw new inputs for every row and step."""
        self.x[:] = np.random.default_rng(step).normal(0, 1, self.x.shape)

    def _draw(self, *shape: int) -> np.ndarray:
        return (self.rng.normal(0, 1, shape) / np.sqrt(shape[-1])).astype(np.float32)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x)."""
    return 1 / (1 + np.exp(-x))


def with_numpy(problem: Problem, dtype: Any = np.float32) -> Step:
    """A reimplementation in vectorized NumPy; in float64 it is the reference."""
    linear = [(weight.T.astype(dtype), bias.astype(dtype)) for weight, bias in problem.linear]
    cells = [(ih.T.astype(dtype), hh.T.astype(dtype), bias.astype(dtype)) for ih, hh, bias in problem.cells]
    hidden = np.zeros((len(cells), problem.rows, LSTM_HIDDEN), dtype)
    memory = np.zeros_like(hidden)

    def step() -> np.ndarray:
        value = problem.x.astype(dtype, copy=False)
        for layer, (ih, hh, bias) in enumerate(cells):
            i, f, g, o = np.split(value @ ih + hidden[layer] @ hh + bias, 4, axis=1)
            memory[layer] = sigmoid(f) * memory[layer] + sigmoid(i) * np.tanh(g)
            hidden[layer] = value = sigmoid(o) * np.tanh(memory[layer])
        for number, (weight, bias) in enumerate(linear, 1):
            value = value @ weight + bias
            if number < len(linear):
                value = value / (1 + np.abs(value))
        return value[:, 0]

    return step


def network_of(problem: Problem) -> Any:
    """Return the network as the package represents it."""
    from isaacsim.core.experimental.actuators.laws.networks.network import Linear, LSTMCell, Network, Operation, Unary

    operations: list[Operation] = [LSTMCell(layer, layer, *cell) for layer, cell in enumerate(problem.cells)]
    for weight, bias in problem.linear:
        operations.append(Linear(len(operations), weight, bias))
        if len(bias) > 1:
            operations.append(Unary("softsign", len(operations)))
    return Network(problem.inputs, tuple(operations))


def with_ours(problem: Problem) -> Step:
    """The evaluator on NumPy arrays, with state updated in place."""
    from isaacsim.core.experimental.actuators.laws.networks.evaluator import make_evaluator

    network = network_of(problem)
    evaluator = make_evaluator(network, problem.rows)
    shape = network.num_layers, problem.rows, network.hidden_size
    state = [np.zeros(shape, np.float32) for _ in range(2 if problem.cells else 0)]
    y, x = np.zeros(problem.rows, np.float32), problem.x

    def step() -> np.ndarray:
        evaluator.evaluate(x, y, state, state)
        return y

    return step


def modules_of(problem: Problem) -> list[Any]:
    """Return Torch modules as users write them: the feedforward layers, and the recurrent ones if there are any."""
    import torch

    modules: list[Any] = []
    for weight, bias in problem.linear:
        module = torch.nn.Linear(weight.shape[1], weight.shape[0])
        module.load_state_dict({"weight": torch.from_numpy(weight), "bias": torch.from_numpy(bias)})
        modules += [module, torch.nn.Softsign()]
    head = torch.nn.Sequential(*modules[:-1])
    if not problem.cells:
        return [head]
    lstm = torch.nn.LSTM(LSTM_INPUTS, LSTM_HIDDEN, LSTM_LAYERS)
    weights = {}
    for layer, (ih, hh, bias) in enumerate(problem.cells):
        weights |= {f"weight_ih_l{layer}": ih, f"weight_hh_l{layer}": hh, f"bias_ih_l{layer}": bias}
        weights[f"bias_hh_l{layer}"] = np.zeros_like(bias)
    lstm.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    return [head, lstm]


def torch_modules(problem: Problem) -> Callable[[Any], Any]:
    """Return the same as a function of a tensor `(rows, inputs)` that stores its own state."""
    import torch

    head, *lstm = modules_of(problem)
    if not lstm:
        return lambda x: head(x)[:, 0]
    state = [torch.zeros(LSTM_LAYERS, problem.rows, LSTM_HIDDEN) for _ in range(2)]

    def forward(x: Any) -> Any:
        out, after = lstm[0](x[None], tuple(state))
        state[:] = after
        return head(out[0])[:, 0]

    return forward


def with_torch(problem: Problem) -> Step:
    """Eager Torch."""
    import torch

    torch.set_num_threads(1)
    x, forward = torch.from_numpy(problem.x), torch_modules(problem)

    @torch.inference_mode()
    def step() -> np.ndarray:
        return forward(x).numpy()

    return step


def with_onnxruntime(problem: Problem) -> Step:
    """onnxruntime on the CPU, with session and feeds created once."""
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants, inputs, outputs = [], [], [], []

    def constant(name: str, value: np.ndarray) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def described(name: str, *shape: int) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    value, state_shape = "x", (1, problem.rows, LSTM_HIDDEN)
    if problem.cells:
        axis = constant("axis", np.array([0], np.int64))
        nodes.append(helper.make_node("Unsqueeze", ["x", axis], ["sequence"]))
        value = "sequence"
    for layer, (ih, hh, bias) in enumerate(problem.cells):

        def reordered(array: np.ndarray) -> np.ndarray:
            i, f, g, o = np.split(array, 4)
            return np.concatenate([i, o, f, g])[None]

        names = [constant(f"w{layer}", reordered(ih)), constant(f"r{layer}", reordered(hh))]
        both = np.concatenate([reordered(bias), np.zeros_like(bias)[None]], axis=1)
        names += [constant(f"b{layer}", both), "", f"h{layer}", f"c{layer}"]
        made = [f"y{layer}", f"h{layer}_after", f"c{layer}_after"]
        nodes.append(helper.make_node("LSTM", [value, *names], made, hidden_size=LSTM_HIDDEN))
        inputs += [described(f"{which}{layer}", *state_shape) for which in "hc"]
        outputs += [described(f"{which}{layer}_after", *state_shape) for which in "hc"]
        nodes.append(helper.make_node("Squeeze", [f"y{layer}", constant(f"one{layer}", np.array([1]))], [f"s{layer}"]))
        value = f"s{layer}"
    if problem.cells:
        nodes.append(helper.make_node("Squeeze", [value, "axis"], ["last"]))
        value = "last"
    for number, (weight, bias) in enumerate(problem.linear):
        names = [value, constant(f"weight{number}", weight), constant(f"bias{number}", bias)]
        value = f"linear{number}"
        nodes.append(helper.make_node("Gemm", names, [value], transB=1))
        if len(bias) > 1:
            nodes.append(helper.make_node("Softsign", [value], [f"soft{number}"]))
            value = f"soft{number}"
    graph = helper.make_graph(
        nodes,
        problem.name,
        [described("x", problem.rows, problem.inputs), *inputs],
        [described(value, problem.rows, 1), *outputs],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds: dict[str, Any] = {"x": problem.x} | {one.name: np.zeros(state_shape, np.float32) for one in inputs}
    after = [one.name for one in inputs]

    def step() -> np.ndarray:
        found: list[Any] = list(session.run(None, feeds))
        y, *states = found
        feeds.update(zip(after, states, strict=True))
        return y[:, 0]

    return step


CANDIDATES: dict[str, Callable[[Problem], Step]] = {
    "ours": with_ours,
    "Torch": with_torch,
    "onnxruntime": with_onnxruntime,
    "NumPy": with_numpy,
}


class Steps:
    """Signals of some robots, and the network that all their joints share."""

    def __init__(self, name: str, robots: int) -> None:
        self.name, self.shape = name, (robots, JOINTS)
        self.problem = Problem(name, robots * JOINTS)
        self.q, self.qd, self.q_target, self.none = (np.zeros(self.shape, np.float32) for _ in range(4))

    def change_inputs(self, step: int) -> None:
        """Draw new signals for every joint and step."""
        rng = np.random.default_rng(step)
        for array in (self.q, self.qd, self.q_target):
            array[:] = rng.normal(0, 0.5, self.shape)


def whole_with_ours(steps: Steps) -> Step:
    """One actuator per joint."""
    import warp as wp
    from isaacsim.core.experimental.actuators import ClampingMaxEffort, ControllerNeuralLSTM, ControllerNeuralMLP
    from isaacsim.core.experimental.actuators.engine.assembly import Assembly
    from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
    from isaacsim.core.experimental.actuators.laws.networks.checkpoint import Checkpoint

    metadata = {**SCALES, "input_idx": list(range(STEPS_BACK))} if steps.name == "MLP" else SCALES
    checkpoint = Checkpoint(network_of(steps.problem), metadata, "onnx", "0" * 64)
    make = {"MLP": ControllerNeuralMLP, "LSTM": ControllerNeuralLSTM}[steps.name]
    entries = []
    for joint in range(JOINTS):
        clamp = ClampingMaxEffort(wp.full(steps.shape[0], LIMIT, dtype=wp.float32, device="cpu"))
        entries.append(ActuatorEntry(f"/{joint}", (str(joint),), make(checkpoint), [clamp], None, shared=True))
    engine, efforts = Assembly(entries, steps.shape[0], "cpu"), np.zeros(steps.shape, np.float32)
    engine.bind(range(JOINTS), [steps.q, steps.qd, steps.q_target, steps.none, steps.none], efforts)
    step = partial(engine.step, DT)

    def whole() -> np.ndarray:
        step()
        return efforts

    return whole


def whole_with_torch(steps: Steps) -> Step:
    """A group of joints as in Isaac Lab: shifted histories, assembled inputs, the network, scale and clip."""
    import torch

    torch.set_num_threads(1)
    forward = torch_modules(steps.problem)
    q, qd, q_target = map(torch.from_numpy, (steps.q, steps.qd, steps.q_target))
    efforts = torch.zeros(steps.shape)
    rows = steps.problem.rows
    errors, velocities = (torch.zeros(rows, STEPS_BACK) for _ in range(2))
    back = list(range(STEPS_BACK))

    def inputs() -> torch.Tensor:
        if steps.name == "LSTM":
            error = (q_target - q).flatten() * SCALES["pos_scale"]
            return torch.stack([error, qd.flatten() * SCALES["vel_scale"]], dim=1)
        for history, newest in ((errors, q_target - q), (velocities, qd)):
            history.copy_(history.roll(1, 1))
            history[:, 0] = newest.flatten()
        scaled = [errors[:, back] * SCALES["pos_scale"], velocities[:, back] * SCALES["vel_scale"]]
        return torch.cat(scaled, dim=1)

    @torch.inference_mode()
    def whole() -> np.ndarray:
        made = forward(inputs()).reshape(steps.shape) * SCALES["effort_scale"]
        efforts.copy_(torch.clip(made, min=-LIMIT, max=LIMIT))
        return efforts.numpy()

    return whole


def whole_with_numpy(steps: Steps, dtype: Any = np.float64) -> Step:
    """A reimplementation of the whole step."""
    forward, x = with_numpy(steps.problem, dtype), steps.problem.x
    errors, velocities = (np.zeros((steps.problem.rows, STEPS_BACK), np.float32) for _ in range(2))

    def whole() -> np.ndarray:
        error, velocity = (steps.q_target - steps.q).ravel(), steps.qd.ravel()
        if steps.name == "LSTM":
            x[:] = np.stack([error * SCALES["pos_scale"], velocity * SCALES["vel_scale"]], axis=1)
        else:
            for history, newest in ((errors, error), (velocities, velocity)):
                history[:, 1:] = history[:, :-1].copy()
                history[:, 0] = newest
            x[:] = np.concatenate([errors * SCALES["pos_scale"], velocities * SCALES["vel_scale"]], axis=1)
        return np.clip(forward() * SCALES["effort_scale"], -LIMIT, LIMIT).reshape(steps.shape)

    return whole


WHOLE_STEPS: dict[str, Callable[[Steps], Step]] = {
    "ours": whole_with_ours,
    "Torch": whole_with_torch,
    "NumPy": partial(whole_with_numpy, dtype=np.float32),
}


def error_of(problem: Any, step: Step, right: Step) -> float:
    """Return the largest difference from the reference over some steps, relative to the largest output."""
    errors, largest = [0.0], 0.0
    for number in range(STEPS):
        problem.change_inputs(number)
        expected = right()
        errors.append(float(np.abs(step() - expected).max()))
        largest = max(largest, float(np.abs(expected).max()))
    return float(np.max(errors)) / largest


def measure(
    problem: Any,
    candidates: Mapping[str, Callable[[Any], Step]],
    oracle: Callable[[Any], Step],
    rounds: int,
    block_seconds: float,
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the seconds per step of every candidate and round, and the reasons for candidates that were not timed."""
    built: dict[str, Step] = {}
    reasons: dict[str, str] = {}
    for candidate, make in candidates.items():
        try:
            step = make(problem)
        except ModuleNotFoundError as error:
            reasons[candidate] = f"{error.name} is not installed"
            continue
        error = error_of(problem, step, oracle(problem))
        if error <= TOLERANCE:
            built[candidate] = step
        else:
            reasons[candidate] = f"relative error {error:.1e}, must be <= {TOLERANCE:.0e}"
    return interleave({each: steps(step) for each, step in built.items()}, rounds, block_seconds), reasons


def show(
    title: str,
    make: Callable[[str, int], Any],
    candidates: Mapping[str, Callable[[Any], Step]],
    oracle: Callable[[Any], Step],
    options: argparse.Namespace,
) -> set[str]:
    """Measure and print a table; return the reasons for candidates that were not timed."""
    print(f"{title}, and how many times ours that is (median of paired ratios)")
    print(f"{'':8}{'joints':>12}" + "".join(f"{name:>24}" for name in candidates))
    wrong: set[str] = set()
    for name in ("MLP", "LSTM"):
        for robots in ROBOTS[:: 2 if options.quick else 1]:
            times, reasons = measure(make(name, robots), candidates, oracle, 5 if options.quick else 15, 5e-3)
            cells = []
            for candidate in candidates:
                if candidate not in times:
                    cells.append(f"{'-':>24}")
                    continue
                ratio = np.median(times[candidate] / times["ours"]) if "ours" in times else np.nan
                cells.append(f"{np.median(times[candidate]) * 1e6:13,.1f} us {ratio:7.3g}x")
            print(f"{name:8}{f'{JOINTS} x {robots}':>12}" + "".join(cells), flush=True)
            wrong |= {f"{candidate}: {reason}" for candidate, reason in reasons.items()}
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 means that a candidate has wrong results."""
    parser = argparse.ArgumentParser(prog="benchmarks.networks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds")
    options = parser.parse_args(arguments)
    right = partial(with_numpy, dtype=np.float64)
    wrong = show("CPU time of a forward pass", lambda name, n: Problem(name, JOINTS * n), CANDIDATES, right, options)
    print()
    wrong |= show("CPU time of a whole step", Steps, WHOLE_STEPS, whole_with_numpy, options)
    for line in sorted(wrong):
        print(f"not timed: {line}")
    print(f"load {environment.load()}")
    return int(any("error" in line for line in wrong))


if __name__ == "__main__":
    sys.exit(main())
