"""Networks made at test time, and what a controller with one has to compute: float64, history as lists of the past."""

from collections.abc import Mapping
from pathlib import Path

import network_oracle
import numpy as np
from isaacsim.core.experimental.actuators.files.networks import safetensors
from isaacsim.core.experimental.actuators.laws.networks.network import (
    GRUCell,
    Linear,
    LSTMCell,
    Network,
    Operation,
    Unary,
)


def random_network(kind: str, inputs: int, *, layers: int = 1, size: int = 8, seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> np.ndarray:
        return rng.uniform(-0.6, 0.6, shape).astype(np.float32)

    operations: list[Operation] = []
    width = inputs
    for layer in range(layers):
        at = len(operations)
        if kind == "mlp":
            operations += [Linear(at, numbers(size, width), numbers(size)), Unary("softsign", at + 1)]
        elif kind == "lstm":
            operations.append(LSTMCell(at, layer, numbers(4 * size, width), numbers(4 * size, size), numbers(4 * size)))
        else:
            weights = numbers(3 * size, width), numbers(3 * size, size), numbers(3 * size), numbers(3 * size)
            operations.append(GRUCell(at, layer, *weights))
        width = size
    return Network(inputs, (*operations, Linear(len(operations), numbers(1, width), numbers(1))))


def write_network(path: Path, network: Network, metadata: Mapping) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(safetensors.write(network, metadata))
    return path


class Twin:
    """The controllers of `count` actuators with one network, computed from the words of the reference."""

    def __init__(self, network: Network, metadata: Mapping, count: int) -> None:
        self.network, self.metadata = network, metadata
        self.past: list[list[tuple[float, float]]] = [[] for _ in range(count)]
        shape = (network.num_layers, count, network.hidden_size)
        self.hidden, self.cell = np.zeros(shape), np.zeros(shape)

    def reset(self, at) -> None:
        for n in np.flatnonzero(at):
            self.past[n] = []
            self.hidden[:, n] = self.cell[:, n] = 0.0

    def step(self, q, qd, q_target, qd_target, hold=(), custom: dict | None = None) -> np.ndarray:
        """Efforts of one step; the actuators in `hold` remember nothing of it. `custom` are the caller's columns."""
        self.custom = {name: np.asarray(values, np.float64) for name, values in (custom or {}).items()}
        signals = [np.asarray(values, np.float64) for values in (q, qd, q_target, qd_target)]
        x = np.array([self._features(n, *(float(values[n]) for values in signals)) for n in range(len(self.past))])
        y, hidden, cell = network_oracle.evaluate(self.network, x, self.hidden, self.cell)
        for n in range(len(self.past)):
            if n not in hold:
                self.past[n].insert(0, (float(signals[2][n] - signals[0][n]), float(signals[1][n])))
                self.hidden[:, n], self.cell[:, n] = hidden[:, n], cell[:, n]
        said = self.metadata
        effort = y * said.get("effort_scale", said.get("torque_scale", 1.0))
        targets = said.get("normalization", {}).get("targets", {"std": {"torque": 1.0}, "mean": {"torque": 0.0}})
        return effort * targets["std"]["torque"] + targets["mean"]["torque"]

    def _features(self, n: int, q: float, qd: float, q_target: float, qd_target: float) -> list[float]:
        said = self.metadata
        if self.network.kind == "gru":
            values = {
                "position": q,
                "target_position": q_target,
                "position_error": q_target - q,
                "velocity": qd,
                "target_velocity": qd_target,
                "velocity_error": qd_target - qd,
                **{name: float(values[n]) for name, values in self.custom.items()},
            }
            of = said["normalization"]["inputs"]
            return [(values[name] - of["mean"][name]) / of["std"][name] for name in said["input_columns"]]
        # the current sample first, then those before it, zeros before the first, or the first again and again
        samples = [(q_target - q, qd), *self.past[n]]
        before = samples[-1] if said.get("history_fill") == "first" else (0.0, 0.0)
        ago = [samples[i] if i < len(samples) else before for i in said.get("input_idx", [0])]
        errors = [error * said.get("pos_scale", 1.0) for error, _ in ago]
        speeds = [speed * said.get("vel_scale", 1.0) for _, speed in ago]
        return speeds + errors if said.get("input_order") == "vel_pos" else errors + speeds


def random_motion(rng: np.random.Generator, count: int, steps: int) -> np.ndarray:
    """Four signals of smooth random motion and one of feedforward, float32 `(steps, 5, count)`."""
    noise = rng.normal(size=(steps, 5, count))
    motion = np.zeros_like(noise)
    for step in range(1, steps):
        motion[step] = 0.95 * motion[step - 1] + 0.3 * noise[step]
    return motion.astype(np.float32)
