"""A robot with its motors in a simulation, whose joints follow commands sample by sample."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import Closing
from ...extension.articulation_actuators import ArticulationActuators
from ...simulators.simulation import Simulation
from ...specs.motors import MotorConfig
from .rollout import substeps_of

if TYPE_CHECKING:
    from ...simulators.physics_articulation import PhysicsArticulation

# the motion itself shows whether they matter
_EXPECTED = r".* (will vibrate at dt|may chatter|have no effort limit)"


class CommandedRobot(Closing):
    """A robot whose motors follow commands of some joints, while the others hold their initial position.

    Use it as a context manager, or call `close`. `joints` are the columns of all arrays, `dt` is the time between
    commands [s]. Initial positions [rad or m] are by pattern of joint names; None means those of the file.
    """

    def __init__(
        self,
        robot: str | os.PathLike[str],
        motors: Mapping[str, MotorConfig],
        joints: Sequence[str],
        dt: float,
        *,
        engine: str = "mujoco",
        initial_positions: Mapping[str, float] | None = None,
    ) -> None:
        self.substeps = substeps_of(dt)
        self._has_run = False
        with contextlib.ExitStack() as stack, _quiet():
            self.simulation = stack.enter_context(
                Simulation(robot, dt / self.substeps, engine=engine, initial_positions=initial_positions)
            )
            self.robots: PhysicsArticulation = self.simulation.articulation("/")
            self.actuators = stack.enter_context(ArticulationActuators.from_configs("/", dict(motors)))
            self.simulation.play()
            names = list(self.robots.dof_names)
            self.columns = [names.index(name) for name in joints]
            self._targets = self.robots.get_dof_position_targets().numpy().copy()
            self._close = stack.pop_all().close

    def close(self) -> None:
        """Close the simulation."""
        self._close()

    def run(
        self,
        command: np.ndarray,
        positions: np.ndarray | None = None,
        velocities: np.ndarray | None = None,
        each: Callable[[int], None] | None = None,
    ) -> np.ndarray:
        """Return the positions before each command is sent [rad or m], `(samples, joints)`, from the initial state.

        Each command [rad or m], `(samples, joints)`, is held until the next one. First positions and velocities are
        `(joints,)`; None means the initial ones. `each` is called with the number of a sample, after its physics steps.
        """
        self.begin(positions, velocities)
        return self.follow(command, each)

    def begin(self, positions: np.ndarray | None = None, velocities: np.ndarray | None = None) -> None:
        """Put the robot into its initial state; arguments as for `run`."""
        with _quiet():
            if self._has_run:
                self.simulation.reset()
            self._has_run = True
            there = self.robots.get_dof_positions().numpy().copy()
            moving = self.robots.get_dof_velocities().numpy().copy()
            if positions is not None:
                there[0, self.columns] = positions
            if velocities is not None:
                moving[0, self.columns] = velocities
            self.robots.set_dof_positions(there)
            self.robots.set_dof_velocities(moving)
            # which sets their targets as well
            self.robots.set_dof_velocity_targets(np.zeros_like(moving))

    def follow(self, command: np.ndarray, each: Callable[[int], None] | None = None) -> np.ndarray:
        """Follow commands from the state now, in any thread; arguments, result and errors as for `run`."""
        # the simulator's own arrays, for its physics takes less time than getters and setters
        arrays, columns = self.robots.buffers(), np.array(self.columns)
        positions, targets = arrays.positions[0], arrays.position_targets[0]
        targets[:] = self._targets[0]
        step, substeps = self.simulation.step, self.substeps
        found = np.empty((len(command), len(positions)), np.float32)
        for row, values in enumerate(np.asarray(command, np.float32)):
            found[row] = positions
            targets[columns] = values
            step(substeps)
            if each is not None:
                each(row)
        return found[:, columns].astype(float)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _EXPECTED)
        yield
