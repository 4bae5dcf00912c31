"""Replays: the whole robot, simulated under the commands of a log."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Self

import numpy as np

from ...simulators.port import turning
from ...specs.motors import MotorConfig
from .commanded import CommandedRobot
from .identified import Replay
from .log import MotorLog
from .motion import motion_of
from .parameters import value_of, with_values
from .rollout import settings_of


class Replaying:
    """A whole robot at the first sample of a log, whose commands it will follow.

    Use it as a context manager, or call `close`. Joints without a column in the log hold their initial position.

    Args:
        robot: Path of the robot file.
        motors: Motors by joint name.
        log: The log, evenly sampled.
        held_out: Whether motors were not fitted to it.
        engine: Simulator, as `Simulation` names it.
    """

    def __init__(
        self,
        robot: str | os.PathLike[str],
        motors: Mapping[str, MotorConfig],
        log: MotorLog,
        *,
        held_out: bool,
        engine: str = "mujoco",
    ) -> None:
        settings = settings_of(log)
        motors = {name: with_values(one, settings) if name in log.joints else one for name, one in motors.items()}
        self._log, self._held_out = log, held_out
        self._bias = np.array([np.nan_to_num(value_of(motors[name], "encoder_bias")) for name in log.joints])
        velocity = motion_of(log.position, log.dt)[0][0]
        self._commanded = CommandedRobot(robot, motors, log.joints, log.dt, engine=engine)
        kinds, columns = turning(self._commanded.robots), self._commanded.columns
        self._turns = None if kinds is None else [kinds[column] for column in columns]
        self._commanded.begin(log.position[0] - self._bias, velocity)

    def follow(self, each: Callable[[int], None] | None = None) -> Replay:
        """Follow the commands of the log, once and in any thread."""
        positions = self._commanded.follow(self._log.command, each)
        return Replay(self._log, positions + self._bias, self._held_out, self._turns)

    def close(self) -> None:
        """Close the simulation."""
        self._commanded.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def replay(
    robot: str | os.PathLike[str],
    motors: Mapping[str, MotorConfig],
    log: MotorLog,
    *,
    held_out: bool,
    engine: str = "mujoco",
) -> Replay:
    """Simulate a whole robot under the commands of a log, from its first sample on; arguments as for `Replaying`."""
    with Replaying(robot, motors, log, held_out=held_out, engine=engine) as one:
        return one.follow()
