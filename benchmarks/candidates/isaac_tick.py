"""Isaac Sim's tick, reimplemented from its documentation with newton 1.8.

Zero the efforts, copy the feedforward, get four arrays from the articulation, step every actuator, set the efforts of
the articulation. Getters return the articulation's own arrays, the lowest possible cost.
"""

# kernels read arrays as numbers
# pyright: reportAssignmentType=false, reportGeneralTypeIssues=false, reportIndexIssue=false

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import warp as wp

from ..problem import DT, INPUTS, Problem
from . import Candidate
from .newton_18 import each_joint, newton_actuator
from .ticks import MujocoPassing


class IsaacTick(Candidate):
    """The tick with some actuators."""

    def __init__(self, problem: Problem, joints: Sequence[slice]) -> None:
        super().__init__(problem)
        shape = problem.num_robots, problem.num_joints
        self.robots = BareArticulation(problem)
        self.efforts = self.robots.efforts.numpy()
        self._feedforward = wp.zeros(problem.inputs["feedforward"].size, dtype=wp.float32, device="cpu")
        self._host_feedforward = _as_warp(problem.inputs["feedforward"])
        self._compact = wp.zeros(shape[0] * shape[1], dtype=wp.float32, device="cpu")
        self._columns = wp.array(list(problem.robot.columns), dtype=wp.int32, device="cpu")
        where = np.arange(shape[0] * shape[1]).reshape(shape)
        self._actuators = [newton_actuator(problem, mine, where[:, mine].ravel()) for mine in joints]
        self._now = [actuator.state() for actuator in self._actuators]
        self._next = [actuator.state() for actuator in self._actuators]

    def step(self) -> None:
        """Run one tick."""
        self._compact.zero_()
        size = self._feedforward.size
        wp.copy(self._feedforward, self._host_feedforward.reshape(size))
        robots = self.robots
        state = SimpleNamespace(
            joint_q=robots.get_dof_positions().reshape(size), joint_qd=robots.get_dof_velocities().reshape(size)
        )
        control = SimpleNamespace(
            joint_target_q=robots.get_dof_position_targets().reshape(size),
            joint_target_qd=robots.get_dof_velocity_targets().reshape(size),
            joint_act=self._feedforward,
            joint_f=self._compact,
        )
        for actuator, now, following in zip(self._actuators, self._now, self._next, strict=True):
            actuator.step(state, control, now, following, dt=DT)
        self._now, self._next = self._next, self._now
        efforts = self._compact.reshape((self.problem.num_robots, self.problem.num_joints))
        robots.set_dof_efforts(efforts, dof_indices=self._columns)


class IsaacPerJoint(IsaacTick):
    """The tick with one actuator per joint, as in Isaac Sim."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, list(each_joint(problem)))


class IsaacPerLaw(IsaacTick):
    """The tick with one actuator per law."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, [group.joints for group in problem.groups])


class MujocoIsaacPerJoint(IsaacPerJoint):
    """The tick between refresh and commit of the embedded physics."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        passing = MujocoPassing(problem)
        self.close = passing.close
        tick = self.step

        def step() -> None:
            passing.step()
            tick()

        self.step = step


class BareArticulation:
    """Arrays with the getters and the setter that a tick uses."""

    def __init__(self, problem: Problem) -> None:
        self._arrays = {name: _as_warp(problem.inputs[name]) for name in INPUTS}
        self.efforts = _as_warp(problem.zeros())

    def get_dof_positions(self) -> wp.array:
        """Positions."""
        return self._arrays["positions"]

    def get_dof_velocities(self) -> wp.array:
        """Velocities."""
        return self._arrays["velocities"]

    def get_dof_position_targets(self) -> wp.array:
        """Position targets."""
        return self._arrays["position_targets"]

    def get_dof_velocity_targets(self) -> wp.array:
        """Velocity targets."""
        return self._arrays["velocity_targets"]

    def set_dof_efforts(self, efforts: wp.array, dof_indices: wp.array) -> None:
        """Write some columns."""
        wp.launch(_write_columns, efforts.shape, [efforts, dof_indices], [self.efforts], device="cpu")


@wp.kernel
def _write_columns(source: wp.array2d[float], columns: wp.array[int], target: wp.array2d[float]):
    robot, joint = wp.tid()
    target[robot, columns[joint]] = source[robot, joint]


def _as_warp(array: np.ndarray) -> wp.array:
    return wp.array(array, dtype=wp.float32, device="cpu", copy=False)
