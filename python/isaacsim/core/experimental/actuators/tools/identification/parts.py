"""The parts of logs: what motors are fitted to, what is held out, and how the whole robot repeats both."""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor

import numpy as np

from ...base.errors import Closing
from ...simulators.port import turning
from ...specs.motors import MotorConfig
from .commanded import CommandedRobot
from .identified import Replay
from .log import MotorLog
from .motion import motion_of
from .parameters import value_of, with_values
from .rollout import settings_of


def split(logs: Sequence[MotorLog], held_out: int) -> tuple[list[MotorLog], list[MotorLog]]:
    """Return logs to fit to, and the last ones, which only judge motors."""
    if not 0 <= held_out < len(logs):
        raise ValueError(f"held_out = {held_out}: must be less than the {len(logs)} logs, and at least 0.")
    return list(logs[: len(logs) - held_out]), list(logs[len(logs) - held_out :])


def replays_of(
    robot: str | os.PathLike[str],
    motors: Mapping[str, MotorConfig],
    training: Sequence[MotorLog],
    validation: Sequence[MotorLog],
) -> list[Replay]:
    """Return replays of logs: of those that motors are fitted to, and of those that are held out."""
    parts = (training, False), (validation, True)
    return [replay(robot, motors, log, held_out=held) for part, held in parts for log in part]


class Shipped(Closing):
    """Replays of the logs that judge motors, with motors that nothing changes, in a thread beside other work.

    Use it as a context manager. It opens the robots itself, not in its thread: simulations are opened one by one.
    Errors are those of what `seen` makes of a replay.
    """

    def __init__(
        self,
        robot: str | os.PathLike[str],
        motors: Mapping[str, MotorConfig],
        logs: Sequence[MotorLog],
        seen: Callable[[Replay], Replay] = lambda replay: replay,
    ) -> None:
        self._seen = seen
        self._ended = threading.Event()
        with contextlib.ExitStack() as stack:
            self._robots = [stack.enter_context(Replaying(robot, motors, log, held_out=True)) for log in logs]
            pool = stack.enter_context(ThreadPoolExecutor(1))
            # before the thread is waited for
            stack.callback(self._ended.set)
            self._replays = pool.submit(lambda: [robot.follow(self._go_on) for robot in self._robots])
            self._close = stack.pop_all().close

    def errors(self) -> np.ndarray:
        """Wait for the end, and return the mean absolute position errors [rad or m], `(logs, joints)`."""
        return np.array([self._seen(one).errors for one in self._replays.result()])

    def close(self) -> None:
        """End the thread, and close the simulations."""
        self._close()

    def _go_on(self, _: int) -> None:
        if self._ended.is_set():
            raise CancelledError


def where_moving(errors: np.ndarray, logs: Sequence[MotorLog]) -> tuple[float, ...]:
    """Return the mean of errors `(logs, joints)` of each joint over logs in which it moves; NaN without one."""
    moving = [[log.moves(j) for log in logs] for j in range(errors.shape[1])]
    each = zip(errors.T, moving, strict=True)
    return tuple(float(one[where].mean()) if any(where) else math.nan for one, where in each)


# replays: the whole robot, simulated under the commands of a log


class Replaying(Closing):
    """A whole robot at the first sample of an evenly sampled log, whose commands it will follow.

    Use it as a context manager, or call `close`. Joints without a column hold their initial position; motors were not
    fitted to a log that is `held_out`.
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
        own = [motors.get(name, MotorConfig()) for name in log.joints]
        self._bias = np.array([np.nan_to_num(value_of(motor, "encoder_bias")) for motor in own])
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
