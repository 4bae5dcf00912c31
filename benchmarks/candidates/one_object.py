"""One actuator object for all joints of all robots, with newton's call: flat arrays, indices, two states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp

from ..problem import DT, INPUTS, Problem
from . import Candidate


class OneObject(Candidate):
    """A call of its `step`: efforts accumulate, states are swapped."""

    def __init__(self, problem: Problem, make: Callable[[Problem, slice], Any]) -> None:
        super().__init__(problem)
        (group,) = problem.groups
        self.efforts = problem.zeros()
        state, control = signals(problem, as_flat_warp(self.efforts))
        actuator = make(problem, group.joints)
        now, following = actuator.state(), actuator.state()

        def step() -> None:
            nonlocal now, following
            actuator.step(state, control, now, following, dt=DT)
            now, following = following, now

        self.step = step

    def take_inputs(self) -> None:
        """Zero the efforts, so that they are those of one step when they are read."""
        self.efforts.fill(0)


def signals(
    problem: Problem, efforts: wp.array, flat: Mapping[str, wp.array] | None = None
) -> tuple[SimpleNamespace, SimpleNamespace]:
    """State and control with the problem's inputs, or copies of them elsewhere, and efforts."""
    given = flat or {name: as_flat_warp(problem.inputs[name]) for name in INPUTS}
    q, qd, q_target, qd_target, feedforward = (given[name] for name in INPUTS)
    control = SimpleNamespace(
        joint_target_q=q_target, joint_target_qd=qd_target, joint_act=feedforward, joint_f=efforts
    )
    return SimpleNamespace(joint_q=q, joint_qd=qd), control


def as_flat_warp(array: np.ndarray) -> wp.array:
    """Return a flat Warp array with the same memory."""
    return wp.array(array.reshape(-1), dtype=wp.float32, device="cpu", copy=False)


def as_indices(indices: np.ndarray, device: str = "cpu") -> wp.array:
    """Return indices for actuators."""
    return wp.array(indices, dtype=wp.uint32, device=device)
