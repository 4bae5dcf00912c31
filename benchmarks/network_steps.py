"""Whole steps with networks: history in, network, scale and limit, efforts out; all joints of a robot share a network.

Ours is the engine with one actuator per joint, as in a robot file. Torch is a reimplementation of Isaac Lab's actuator
networks for a group of joints in eager Torch; NumPy in float64 is the reference.
"""

# the peers are separate extras
# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .networks import JOINTS, Problem, Step, network_of, torch_modules, with_numpy

DT = 0.005
SCALES = {"pos_scale": 2.0, "vel_scale": 0.25, "effort_scale": 20.0}
LIMIT, STEPS_BACK = 8.0, 3


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


def with_ours(steps: Steps) -> Step:
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


def with_torch(steps: Steps) -> Step:
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


def with_numpy_steps(steps: Steps, dtype: Any = np.float64) -> Step:
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


CANDIDATES: dict[str, Callable[[Steps], Step]] = {
    "ours": with_ours,
    "Torch": with_torch,
    "NumPy": partial(with_numpy_steps, dtype=np.float32),
}
