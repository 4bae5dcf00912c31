"""The laws in NumPy over `(robots, joints)`, one group per law."""

from __future__ import annotations

import numpy as np

from ..problem import DT, INPUTS, Group, Problem
from . import Candidate


class NumpyVectorised(Candidate):
    """All groups of a robot."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.efforts = problem.zeros()
        self._groups = [_Group(problem, group, self.efforts) for group in problem.groups]

    def step(self) -> None:
        """Step every group."""
        for group in self._groups:
            group.step()


class _Group:
    """Joints of one law; parameters repeated per robot are faster than broadcasting."""

    def __init__(self, problem: Problem, group: Group, efforts: np.ndarray) -> None:
        self._law = group.law
        self._q, self._qd, *self._command = (problem.inputs[name][:, group.columns] for name in INPUTS)
        self._efforts = efforts[:, group.columns]
        shape = self._q.shape
        self._p = {name: problem.spread(name, group.joints).reshape(shape) for name in problem.parameters}
        self._integral = np.zeros_like(self._q)
        self._newest, self._ring = 0, None
        self._depth, self._table = problem.delay + 1, problem.table

    def step(self) -> None:
        p, law = self._p, self._law
        q_target, qd_target, feedforward = self._delayed() if law.delayed else self._command
        error = q_target - self._q
        efforts = feedforward + p["kp"] * error + p["kd"] * (qd_target - self._qd)
        if law.integral:
            limit = p["integral_max"]
            self._integral = np.clip(self._integral + error * np.float32(DT), -limit, limit)
            efforts += p["ki"] * self._integral
        if law.clamp == "max":
            np.clip(efforts, -p["max_effort"], p["max_effort"], out=efforts)
        elif law.clamp == "dc":
            stall, ratio, peak = p["saturation_effort"], self._qd / p["velocity_limit"], p["max_motor_effort"]
            lower, upper = stall * (-1 - ratio), stall * (1 - ratio)
            np.clip(efforts, np.clip(lower, -peak, peak), np.clip(upper, -peak, peak), out=efforts)
        elif law.clamp == "table":
            limit = np.interp(self._q, *self._table).astype(np.float32)
            np.clip(efforts, -limit, limit, out=efforts)
        self._efforts[:] = efforts

    def _delayed(self) -> np.ndarray:
        if self._ring is None:
            self._ring = np.repeat(np.stack(self._command)[None], self._depth, axis=0)
        self._newest = (self._newest + 1) % self._depth
        for row, command in zip(self._ring[self._newest], self._command, strict=True):
            row[:] = command
        return self._ring[(self._newest + 1) % self._depth]
