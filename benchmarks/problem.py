"""Benchmark problems: robots, pipelines, parameters and inputs, with reference results in float64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

DT = 1 / 200
DELAY = 3
CACHE_LINE, PAGE = 16, 1024
"""In numbers."""
TABLE_POSITIONS = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
TABLE_EFFORTS = (14.0, 21.0, 28.0, 33.0, 35.0, 33.0, 28.0, 21.0, 14.0)

INPUTS = ("positions", "velocities", "position_targets", "velocity_targets", "feedforward")
# lowest and highest value of each parameter: with the inputs below, limits act on some joints and not on others, and
# motors run on both sides of their no-load speed
RANGES = {
    "kp": (5, 20),
    "kd": (0.2, 1),
    "ki": (50, 150),
    "integral_max": (0.02, 0.05),
    "max_effort": (10, 40),
    "saturation_effort": (60, 100),
    "velocity_limit": (10, 20),
    "max_motor_effort": (20, 40),
}


@dataclass(frozen=True)
class Robot:
    """Columns of the articulation's arrays, of which those from `first` on are driven."""

    num_columns: int
    first: int = 0
    floating: bool = False

    @property
    def columns(self) -> range:
        """Columns of the driven joints."""
        return range(self.first, self.num_columns)


ROBOTS = {
    "7": Robot(7),
    "12": Robot(12),
    "29": Robot(29),
    "12of19": Robot(19, first=7),
    "12free": Robot(12, floating=True),
}
SIZES = (1, 64, 1024, 4096, 16384)


@dataclass(frozen=True)
class Law:
    """The pipeline of one joint: a PD law and further stages."""

    clamp: Literal["none", "max", "dc", "table"] = "none"
    integral: bool = False
    delayed: bool = False


# the laws alternate from joint to joint
PIPELINES = {
    "PD": (Law(),),
    "PD+max": (Law("max"),),
    "PID+max": (Law("max", integral=True),),
    "PD+DC": (Law("dc"),),
    "delay+PD+max": (Law("max", delayed=True),),
    "PD+table": (Law("table"),),
    "mixed": (Law("dc"), Law("max", integral=True), Law("max", delayed=True), Law("table")),
}


@dataclass(frozen=True)
class Group:
    """The joints of one law: their indices among the driven joints, and their columns in the arrays."""

    law: Law
    joints: slice
    columns: slice


class Problem:
    """A robot, a number of robots and a pipeline: parameters, and the float32 arrays that every candidate reads.

    Args:
        robot: Name in `ROBOTS`.
        num_robots: Rows of the arrays.
        pipeline: Name in `PIPELINES`.
        per_robot: True if robots differ in their parameters.
        seed: Of parameters and inputs.
    """

    def __init__(self, robot: str, num_robots: int, pipeline: str, per_robot: bool = False, seed: int = 1) -> None:
        self.robot, self.num_robots, self.pipeline, self.per_robot = ROBOTS[robot], num_robots, pipeline, per_robot
        self.laws = PIPELINES[pipeline]
        self.num_joints = len(self.robot.columns)
        self._seed, self._num_arrays = seed, 0
        random = np.random.default_rng(seed)
        shape = (num_robots if per_robot else 1, self.num_joints)
        self.parameters = {
            name: random.uniform(low, high, shape).astype(np.float32) for name, (low, high) in RANGES.items()
        }
        self.delay = DELAY
        self.table = TABLE_POSITIONS, TABLE_EFFORTS
        self.inputs = {name: self.zeros() for name in INPUTS}

    def zeros(self) -> np.ndarray:
        """Return an array like the inputs, aligned to a cache line and five lines further in a page than the last one.

        Where the heap happens to put arrays changes the time of a step by a fifth: a store delays loads at the same
        place in another page.
        """
        size, place = self.num_robots * self.robot.num_columns, 5 * CACHE_LINE * self._num_arrays
        self._num_arrays += 1
        memory = np.zeros(size + PAGE, np.float32)
        start = (place - memory.ctypes.data // memory.itemsize) % PAGE
        return memory[start : start + size].reshape(self.num_robots, self.robot.num_columns)

    @property
    def groups(self) -> list[Group]:
        """Return the joints by law."""
        count, first = len(self.laws), self.robot.first
        return [
            Group(law, slice(turn, None, count), slice(first + turn, None, count))
            for turn, law in enumerate(self.laws)
            if turn < self.num_joints
        ]

    def spread(self, name: str, joints: slice) -> np.ndarray:
        """Return a parameter of some joints with a value for every robot, robot-major and flat."""
        picked = self.parameters[name][:, joints]
        return np.broadcast_to(picked, (self.num_robots, picked.shape[1])).flatten()

    def flat_indices(self, joints: slice) -> np.ndarray:
        """Return the indices of some joints of all robots in the flattened arrays, robot-major."""
        columns = np.asarray(self.robot.columns)[joints]
        return (np.arange(self.num_robots)[:, None] * self.robot.num_columns + columns).ravel().astype(np.uint32)

    @staticmethod
    def holds_command(step: int) -> bool:
        """Return True if the command of a step equals that of the previous step."""
        return step % 2 == 1

    def change_inputs(self, step: int) -> None:
        """Draw the inputs of a step: measurements change at every step, commands at every second step."""
        random = np.random.default_rng([self._seed, step])
        largest = {"positions": 2.2, "velocities": 25.0}
        if not self.holds_command(step):
            largest |= {"position_targets": 2.5, "velocity_targets": 1.0, "feedforward": 2.0}
        for name, limit in largest.items():
            array = self.inputs[name]
            random.random(array.shape, dtype=np.float32, out=array)
            array -= np.float32(0.5)
            array *= np.float32(2 * limit)


class Oracle:
    """The efforts of a problem in float64, from the formulas alone."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._commands: list[Sequence[np.ndarray]] = []
        self._integral = np.zeros((problem.num_robots, problem.num_joints))

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the efforts of the current inputs, and the largest summand of each; `(robots, joints)`."""
        columns = slice(self._problem.robot.first, None)
        q, qd, *command = (self._problem.inputs[name][:, columns].astype(np.float64) for name in INPUTS)
        self._commands = [*self._commands, command][-self._problem.delay - 1 :]
        efforts, scale = np.empty_like(q), np.empty_like(q)
        for group in self._problem.groups:
            efforts[:, group.joints], scale[:, group.joints] = self._law(group, q, qd)
        return efforts, scale

    def _law(self, group: Group, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        law, joints = group.law, group.joints
        p = {name: values[:, joints].astype(np.float64) for name, values in self._problem.parameters.items()}
        q, qd = q[:, joints], qd[:, joints]
        # until the delay buffer is full, the oldest command applies
        q_target, qd_target, feedforward = (x[:, joints] for x in self._commands[0 if law.delayed else -1])
        error = q_target - q
        efforts = feedforward + p["kp"] * error + p["kd"] * (qd_target - qd)
        reach = np.abs(q_target) + np.abs(q)
        summands = [np.abs(feedforward), p["kp"] * reach, p["kd"] * (np.abs(qd_target) + np.abs(qd))]
        if law.integral:
            integral = self._integral[:, joints]
            integral[:] = np.clip(integral + error * DT, -p["integral_max"], p["integral_max"])
            efforts += p["ki"] * integral
            summands.append(p["ki"] * (np.abs(integral) + reach * DT))
        if law.clamp == "max":
            efforts = np.clip(efforts, -p["max_effort"], p["max_effort"])
        elif law.clamp == "dc":
            stall, ratio, peak = p["saturation_effort"], qd / p["velocity_limit"], p["max_motor_effort"]
            efforts = np.clip(
                efforts, np.clip(stall * (-1 - ratio), -peak, peak), np.clip(stall * (1 - ratio), -peak, peak)
            )
            summands.append(stall * (1 + np.abs(ratio)))
        elif law.clamp == "table":
            limit = np.interp(q, *self._problem.table)
            efforts = np.clip(efforts, -limit, limit)
        return efforts, np.maximum.reduce(summands)
