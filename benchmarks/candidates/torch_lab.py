"""A reimplementation of Isaac Lab's explicit actuators: eager Torch over `(robots, joints)`, one group per law.

Tensors are views of the shared arrays, which is faster than Isaac Lab's handling of a subset of joints.
"""

from __future__ import annotations

import numpy as np
import torch  # noqa: TID253  # pyright: ignore[reportMissingImports]

from ..problem import DT, INPUTS, Group, Problem
from . import Candidate


class TorchLab(Candidate):
    """All groups of a robot."""

    def __init__(self, problem: Problem, device: str = "cpu") -> None:
        super().__init__(problem)
        torch.set_num_threads(1)
        self._device = device
        self._inputs = [torch.from_numpy(problem.inputs[name]).to(device) for name in INPUTS]
        self._efforts = torch.from_numpy(problem.zeros()).to(device)
        self._groups = [_Group(problem, group, self._inputs, self._efforts) for group in problem.groups]

    @property
    def efforts(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Efforts, on the CPU in place."""
        return self._efforts.cpu().numpy()

    def take_inputs(self) -> None:
        """Copy the inputs to a GPU; on the CPU they are read in place."""
        if self._device != "cpu":
            for name, array in zip(INPUTS, self._inputs, strict=True):
                array.copy_(torch.from_numpy(self.problem.inputs[name]))

    def step(self) -> None:
        """Step every group."""
        for group in self._groups:
            group.step()


class _Group:
    """Joints of one law; every robot has its own parameters, as in Isaac Lab."""

    def __init__(self, problem: Problem, group: Group, inputs: list[torch.Tensor], efforts: torch.Tensor) -> None:
        self._law = group.law
        self._q, self._qd, *self._command = (array[:, group.columns] for array in inputs)
        self._efforts = efforts[:, group.columns]
        shape, device = tuple(self._q.shape), efforts.device
        self._p = {
            name: torch.from_numpy(problem.spread(name, group.joints)).view(shape).to(device)
            for name in problem.parameters
        }
        self._corner = self._p["velocity_limit"] * (1 + self._p["max_motor_effort"] / self._p["saturation_effort"])
        self._positions, self._limits = (torch.tensor(one, device=device) for one in problem.table)
        self._integral = torch.zeros(shape, device=device)
        self._delays = [_Delay(problem.delay, shape, device) for _ in self._command] if self._law.delayed else []

    def step(self) -> None:
        p, law = self._p, self._law
        q_target, qd_target, feedforward = self._command
        if law.delayed:
            pairs = zip(self._delays, self._command, strict=True)
            q_target, qd_target, feedforward = (delay.push(new) for delay, new in pairs)
        error = q_target - self._q
        efforts = p["kp"] * error + p["kd"] * (qd_target - self._qd) + feedforward
        if law.integral:
            limit = p["integral_max"]
            self._integral = torch.clip(self._integral + error * DT, min=-limit, max=limit)
            efforts = efforts + p["ki"] * self._integral
        if law.clamp == "max":
            efforts = torch.clip(efforts, min=-p["max_effort"], max=p["max_effort"])
        elif law.clamp == "dc":
            stall, peak = p["saturation_effort"], p["max_motor_effort"]
            ratio = torch.clip(self._qd, min=-self._corner, max=self._corner) / p["velocity_limit"]
            lower = torch.clip(stall * (-1 - ratio), min=-peak)
            efforts = torch.clip(efforts, min=lower, max=torch.clip(stall * (1 - ratio), max=peak))
        elif law.clamp == "table":
            limit = self._table_limit()
            efforts = torch.clip(efforts, min=-limit, max=limit)
        self._efforts.copy_(efforts)

    def _table_limit(self) -> torch.Tensor:
        row = torch.searchsorted(self._positions, self._q.contiguous()).clamp(1, len(self._positions) - 1)
        before, after = self._positions[row - 1], self._positions[row]
        share = ((self._q - before) / (after - before)).clamp(0, 1)
        return torch.lerp(self._limits[row - 1], self._limits[row], share)


class _Delay:
    """A ring buffer of commands with a lag for every robot; the first command fills it."""

    def __init__(self, lag: int, shape: tuple[int, ...], device: torch.device) -> None:
        self._ring = torch.zeros(lag + 1, *shape, device=device)
        self._newest = 0
        self._count = torch.zeros(shape[0], dtype=torch.long, device=device)
        self._lag = torch.full((shape[0],), lag, dtype=torch.long, device=device)
        self._robots = torch.arange(shape[0], device=device)

    def push(self, command: torch.Tensor) -> torch.Tensor:
        self._newest = (self._newest + 1) % len(self._ring)
        self._ring[self._newest] = command
        row = (self._newest - torch.minimum(self._lag, self._count)) % len(self._ring)
        self._count += 1
        return self._ring[row, self._robots]
