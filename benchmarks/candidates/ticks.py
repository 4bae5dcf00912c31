"""Whole ticks of this project's wrapper, from the articulation's arrays to its efforts, on arrays and on MuJoCo."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation, use_host
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost

from ..problem import DT, INPUTS, Problem
from ..stage import ROOT, joint_names, make_stage
from . import Candidate
from .ours import components


class OurTick(Candidate):
    """`ArticulationActuators.step_actuators` for the robots of a host, their actuators authored in USD.

    Parameters that differ between robots are set in Python, because USD has one value for all.
    """

    def __init__(self, problem: Problem, host: Any) -> None:
        super().__init__(problem)
        with use_host(host):
            if problem.per_robot:
                names = joint_names(problem)[problem.robot.first :]
                pairs = [(components(problem, slice(joint, joint + 1)), name) for joint, name in enumerate(names)]
                self.actuators = ArticulationActuators.from_actuators(ROOT, pairs, auto_step_pre_physics=False)
            else:
                self.actuators = ArticulationActuators(ROOT, auto_step_pre_physics=False)
        host.play()
        self.robots: Any = self.actuators.articulation
        self.buffers = self.robots.buffers()
        self.efforts = np.asarray(self.buffers.efforts)
        self.step = partial(self.actuators.step_actuators, DT)

    def take_inputs(self) -> None:
        """Write the inputs to the host."""
        for name in INPUTS[:-1]:
            np.copyto(getattr(self.buffers, name), self.problem.inputs[name])
        self.actuators.set_dof_feedforward_effort_targets(self.problem.inputs["feedforward"])

    def close(self) -> None:
        """Detach."""
        self.actuators.close()


class ArraysTick(OurTick):
    """The tick on a host of arrays."""

    def __init__(self, problem: Problem) -> None:
        stage = None if problem.per_robot else make_stage(problem)
        host = ArraysHost(joint_names(problem), problem.num_robots, path=ROOT, stage=stage)
        super().__init__(problem, host)

    def memory(self) -> int:
        """Return the bytes of the wrapper in addition to the articulation's arrays: steps and feedforward."""
        attached = self.actuators._attachment
        feedforward = [attached.feedforward, attached.feedforward_on_device.numpy()]
        if np.shares_memory(*feedforward):
            feedforward.pop()
        parts: list[tuple[list[int], Any]] = self.actuators._assembly.parts
        steps = sum(step.bytes_held for _, step in parts)
        return steps + sum(array.nbytes for array in feedforward)


class MujocoTick(OurTick):
    """Refresh, tick and commit on embedded physics, without a physics step."""

    def __init__(self, problem: Problem) -> None:
        self._simulation = Simulation(make_stage(problem), DT, problem.num_robots)
        super().__init__(problem, self._simulation)
        host, tick = self._simulation._host, self.step

        def step() -> None:
            host._refresh()
            tick()
            host._commit()

        self.step = step

    def take_inputs(self) -> None:
        """Also set positions and velocities in MuJoCo, from which the refresh reads them."""
        self.robots.set_dof_positions(self.problem.inputs["positions"])
        self.robots.set_dof_velocities(self.problem.inputs["velocities"])
        super().take_inputs()

    def close(self) -> None:
        """Detach and end the simulation."""
        super().close()
        self._simulation.close()


class MujocoPassing(MujocoTick):
    """Refresh and commit without a tick."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        host = self._simulation._host

        def step() -> None:
            host._refresh()
            host._commit()

        self.step = step

    def comparable(self, step: int) -> bool:
        """Return False, because it computes no efforts."""
        return False
