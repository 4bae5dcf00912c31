"""Benchmark a step and its gradients against newton's tape and a reimplementation in Torch, if installed.

./python.sh -m benchmarks.gradients [--quick]

One tape, one step forward and backward: gradients of efforts with respect to positions, velocities, targets,
feedforward, gains, limits and the state. For networks, which newton's tape does not support: with respect to
positions, velocities, targets, limits and the state. A candidate is timed only if all its gradients agree with the
others. Ratios are paired by round, because the load of a round affects all candidates; one thread.
"""

# the peers are separate extras
# pyright: reportMissingImports=false

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import environment

# set before NumPy and Torch are imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

import numpy as np
import warp as wp

from . import networks
from .timing import interleave, steps

JOINTS, DT, LAG, TOLERANCE, GOAL = 12, 0.005, 3, 1e-5, 2.5
PIPELINES = ("PD+max", "PID", "delay+PD+max")
NETWORKS = ("MLP", "LSTM")
SIGNALS = ("joint_q", "joint_qd", "joint_target_q", "joint_target_qd", "joint_act")
Found = dict[str, np.ndarray]


class Problem:
    """Values of a pipeline: inputs, gains, state before the step, and the gradient of the efforts."""

    def __init__(self, pipeline: str, robots: int) -> None:
        self.pipeline, self.count = pipeline, JOINTS * robots
        self.pid, self.delayed = pipeline == "PID", pipeline.startswith("delay")
        rng = np.random.default_rng(7)

        def draw(*shape: int) -> np.ndarray:
            return rng.normal(size=(*shape, self.count)).astype(np.float32)

        self.signals = {name: draw() for name in SIGNALS}
        self.gains = {"kp": 20 + draw(), "kd": 2 + 0.1 * draw()}
        if self.pid:
            self.gains |= {"ki": 5 + draw(), "integral_max": np.full(self.count, 0.4, np.float32)}
        self.gains["const_effort"] = draw()
        self.max_effort = None if self.pid else np.full(self.count, 30.0, np.float32)
        self.integral, self.ring, self.weights = 0.4 * draw(), draw(3, LAG), draw()


class OnTape:
    """Actuators of this package or newton on a Warp tape."""

    def __init__(self, problem: Problem, library: Any, pd: Any, pid: Any) -> None:
        def array(values: Any, grad: bool = True, dtype: Any = wp.float32) -> wp.array:
            return wp.array(values, dtype=dtype, device="cpu", requires_grad=grad)

        self.gains: dict[str, Any] = {name: array(values) for name, values in problem.gains.items()}
        clamping = []
        if problem.max_effort is not None:
            self.gains["max_effort"] = array(problem.max_effort)
            clamping = [library.ClampingMaxEffort(self.gains["max_effort"])]
        law = (pid if problem.pid else pd)(**{name: self.gains[name] for name in problem.gains})
        delay = library.Delay(array(np.full(problem.count, LAG), False, wp.int32), LAG) if problem.delayed else None
        indices = array(np.arange(problem.count), False, wp.uint32)
        self.actuator = library.Actuator(indices, law, delay=delay, clamping=clamping, requires_grad=True)
        self.signals: dict[str, Any] = {name: array(values) for name, values in problem.signals.items()}
        self.efforts: Any = array(np.zeros(problem.count))
        self.weights = array(problem.weights, False)
        self.control = {**self.signals, "joint_f": self.efforts}
        self.states = [self.actuator.state(), self.actuator.state()]
        self.kept: dict[str, Any] = {}
        if problem.delayed:
            ring = self.states[0].delay_state
            for values, name in zip(problem.ring, ("buffer_pos", "buffer_vel", "buffer_act"), strict=True):
                self.kept[name] = getattr(ring, name)
                self.kept[name].assign(values)
            ring.num_pushes.fill_(LAG)
        elif problem.pid:
            state: Any = self.states[0]
            self.kept["integral"] = (state.drive_state if hasattr(state, "drive_state") else state).integral
            self.kept["integral"].assign(problem.integral)
            self.kept["integral"].requires_grad = True

    def step(self) -> None:
        """Run a step forward and backward."""
        self.efforts.zero_()
        tape = wp.Tape()
        with tape:
            self.actuator.step(self.control, self.control, *self.states, dt=DT)
        self.efforts.grad.assign(self.weights)
        tape.backward()
        self.tape = tape

    def forward(self) -> None:
        """Run a step without a tape."""
        self.efforts.zero_()
        self.actuator.step(self.control, self.control, *self.states, dt=DT)

    def found(self) -> Found:
        """Return the gradients of one step, starting from zero."""
        arrays = self.signals | self.gains | self.kept
        for array in arrays.values():
            array.grad.zero_()
        self.step()
        return {"efforts": self.efforts.numpy().copy()} | {
            name: array.grad.numpy().copy() for name, array in arrays.items()
        }


def ours(problem: Problem) -> OnTape:
    """This package."""
    from isaacsim.core.experimental import actuators

    return OnTape(problem, actuators, actuators.ControllerPD, actuators.ControllerPID)


def newtons(problem: Problem) -> OnTape:
    """newton.actuators."""
    from newton import actuators

    return OnTape(problem, actuators, actuators.DrivePD, actuators.DrivePID)


class InTorch:
    """The same formulas in eager Torch."""

    def __init__(self, problem: Problem) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch, self.problem = torch, problem

        def leaf(values: np.ndarray) -> Any:
            return torch.from_numpy(values.copy()).requires_grad_()

        self.signals = {name: leaf(values) for name, values in problem.signals.items()}
        self.gains = {name: leaf(values) for name, values in problem.gains.items()}
        self.kept: dict[str, Any] = {}
        if problem.max_effort is not None:
            self.gains["max_effort"] = leaf(problem.max_effort)
        if problem.pid:
            self.kept["integral"] = leaf(problem.integral)
        if problem.delayed:
            names = ("buffer_pos", "buffer_vel", "buffer_act")
            self.kept |= {name: leaf(values) for name, values in zip(names, problem.ring, strict=True)}
        self.weights = torch.from_numpy(problem.weights)

    def forward(self) -> Any:
        """Return the efforts."""
        torch, gains = self.torch, self.gains
        q, qd, *command = self.signals.values()
        if self.problem.delayed:
            command = [self.kept[name][0] for name in ("buffer_pos", "buffer_vel", "buffer_act")]
        target, target_velocity, feedforward = command
        effort = gains["const_effort"] + feedforward + gains["kp"] * (target - q)
        if self.problem.pid:
            bound = gains["integral_max"]
            integral = torch.minimum(torch.maximum(self.kept["integral"] + (target - q) * DT, -bound), bound)
            effort = effort + gains["ki"] * integral
        effort = effort + gains["kd"] * (target_velocity - qd)
        if "max_effort" in gains:
            effort = torch.minimum(torch.maximum(effort, -gains["max_effort"]), gains["max_effort"])
        return effort

    def step(self) -> None:
        """Run a step forward and backward."""
        self.efforts = self.forward()
        self.efforts.backward(self.weights)

    def found(self) -> Found:
        """Return the gradients of one step."""
        tensors = self.signals | self.gains | self.kept
        for tensor in tensors.values():
            tensor.grad = None
        self.step()
        nothing = {name: self.torch.zeros_like(tensor) for name, tensor in tensors.items()}
        grads = {name: nothing[name] if one.grad is None else one.grad for name, one in tensors.items()}
        return {"efforts": self.efforts.detach().numpy()} | {name: one.numpy().copy() for name, one in grads.items()}


class NetworkProblem:
    """Values of a network with a limit after it: inputs, state before the step, and the gradient of the efforts."""

    def __init__(self, kind: str, robots: int) -> None:
        self.network, self.count = networks.Problem(kind, JOINTS * robots), JOINTS * robots
        rng = np.random.default_rng(7)

        def draw(*shape: int) -> np.ndarray:
            return rng.normal(size=shape).astype(np.float32)

        self.signals = {name: draw(self.count) for name in SIGNALS}
        self.max_effort = np.full(self.count, 0.5, np.float32)
        self.weights = draw(self.count)
        recurrent = len(self.network.cells), self.count, networks.LSTM_HIDDEN
        history = self.network.inputs // 2, self.count
        self.kept = (
            {"hidden": 0.5 * draw(*recurrent), "cell": 0.5 * draw(*recurrent)}
            if self.network.cells
            else {"pos_error_history": draw(*history), "vel_history": draw(*history)}
        )


class NetworkOnTape(OnTape):
    """An actuator of this package with a network, on a Warp tape."""

    def __init__(self, problem: NetworkProblem) -> None:
        from isaacsim.core.experimental import actuators
        from isaacsim.core.experimental.actuators.files.networks.safetensors import write

        def array(values: Any, grad: bool = True, dtype: Any = wp.float32) -> wp.array:
            return wp.array(values, dtype=dtype, device="cpu", requires_grad=grad)

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "network.safetensors")
            recurrent = bool(problem.network.cells)
            metadata = {} if recurrent else {"input_idx": list(range(problem.network.inputs // 2))}
            file.write_bytes(write(networks.network_of(problem.network), metadata))
            law = (actuators.ControllerNeuralLSTM if recurrent else actuators.ControllerNeuralMLP)(file)
        self.gains = {"max_effort": array(problem.max_effort)}
        indices = array(np.arange(problem.count), False, wp.uint32)
        clamping = [actuators.ClampingMaxEffort(self.gains["max_effort"])]
        self.actuator = actuators.Actuator(indices, law, clamping=clamping, requires_grad=True)
        self.signals = {name: array(values) for name, values in problem.signals.items()}
        self.efforts, self.weights = array(np.zeros(problem.count)), array(problem.weights, False)
        self.control = {**self.signals, "joint_f": self.efforts}
        self.states = [self.actuator.state(), self.actuator.state()]
        # a Torch file would return tensors
        state: Any = self.states[0]
        self.kept = {name: vars(state.controller_state)[name] for name in problem.kept}
        for name, values in problem.kept.items():
            self.kept[name].assign(values)


class NetworkInTorch(InTorch):
    """The same network as Torch modules, eager."""

    def __init__(self, problem: NetworkProblem) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch, self.recurrent = torch, bool(problem.network.cells)

        def leaf(values: np.ndarray) -> Any:
            return torch.from_numpy(values.copy()).requires_grad_()

        self.signals = {name: leaf(values) for name, values in problem.signals.items()}
        self.gains = {"max_effort": leaf(problem.max_effort)}
        self.kept = {name: leaf(values) for name, values in problem.kept.items()}
        self.weights = torch.from_numpy(problem.weights)
        self.modules = networks.modules_of(problem.network)
        for module in self.modules:
            # no gradients of weights, as in our candidate
            module.requires_grad_(False)

    def forward(self) -> Any:
        """Return the efforts."""
        torch = self.torch
        q, qd, target, *_ = self.signals.values()
        head, *lstm = self.modules
        first, second = self.kept.values()
        if self.recurrent:
            x, _ = lstm[0](torch.stack([target - q, qd], dim=1)[None], (first, second))
            effort = head(x[0])[:, 0]
        else:
            rows = torch.cat([(target - q)[None], first[:-1], qd[None], second[:-1]])
            effort = head(rows.T)[:, 0]
        limit = self.gains["max_effort"]
        return torch.minimum(torch.maximum(effort, -limit), limit)


NETWORK_CANDIDATES: dict[str, Callable[[NetworkProblem], Any]] = {"ours": NetworkOnTape, "Torch": NetworkInTorch}
CANDIDATES: dict[str, Callable[[Problem], Any]] = {"ours": ours, "newton": newtons, "Torch": InTorch}


def difference(found: Found, right: Found) -> float:
    """Return the largest difference of any gradient, relative to its largest value."""
    return max(
        float(np.abs(found[name] - values).max()) / max(1.0, float(np.abs(values).max()))
        for name, values in right.items()
        if name in found
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 means that candidates differ or the goal is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.gradients", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    options = parser.parse_args(arguments)
    worst: dict[int, list[float]] = {}
    wrong: list[str] = []
    print("CPU time of a step forward and back, and how many times ours that is (median of paired ratios, worst round)")
    print(f"{'':14}{'joints':>12}" + "".join(f"{name:>32}" for name in CANDIDATES))
    for pipeline in (*PIPELINES, *NETWORKS):
        for robots in (1, 1024):
            built: dict[str, Any] = {}
            right: Found = {}
            of_network = pipeline in NETWORKS
            candidates: dict[str, Callable[[Any], Any]] = {**(NETWORK_CANDIDATES if of_network else CANDIDATES)}
            for name, make in candidates.items():
                try:
                    candidate = make((NetworkProblem if of_network else Problem)(pipeline, robots))
                except ModuleNotFoundError as error:
                    wrong.append(f"not timed: {name}: {error.name} is not installed")
                    continue
                found = candidate.found()
                right = right or found
                if (off := difference(found, right)) > TOLERANCE:
                    wrong.append(f"error: {name}, {pipeline} x {robots}: differs by {off:.1e}")
                else:
                    built[name] = candidate
            times = interleave({name: steps(one.step) for name, one in built.items()}, 5 if options.quick else 15, 5e-3)
            cells = []
            for name in CANDIDATES:
                if name not in times:
                    cells.append(f"{'-':>32}")
                    continue
                ratios = times[name] / times["ours"]
                if name == "newton":
                    worst.setdefault(robots, []).append(float(np.median(ratios)))
                cells.append(f"{np.median(times[name]) * 1e6:13,.1f} us {np.median(ratios):6.3g}x {ratios.min():6.3g}x")
            print(f"{pipeline:14}{f'{JOINTS} x {robots}':>12}" + "".join(cells), flush=True)
    for robots, ratios in worst.items():
        mean = float(np.exp(np.mean(np.log(ratios))))
        print(f"newton, {JOINTS} x {robots}: mean {mean:.3g}x, worst {min(ratios):.3g}x")
    for line in dict.fromkeys(wrong):
        print(line)
    print(f"load {environment.load()}")
    return int(any(line.startswith("error") for line in wrong) or min(worst.get(1024, [GOAL])) < GOAL)


if __name__ == "__main__":
    sys.exit(main())
