"""The parts of logs: what motors are fitted to, what is held out, and how the whole robot repeats both."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Self

from ...specs.motors import MotorConfig
from .identified import Replay, mean_error
from .log import MotorLog
from .replay import Replaying, replay

# share of a single log that is held out
_HELD_OUT = 0.25


def split(logs: Sequence[MotorLog], held_out: int | None) -> tuple[list[MotorLog], list[MotorLog]]:
    """Return logs to fit to, and logs that are held out."""
    if len(logs) > 1 or held_out is not None:
        count = max(1, len(logs) // 4) if held_out is None else held_out
        if not 0 <= count < len(logs):
            raise ValueError(f"held_out = {count}: must be less than the {len(logs)} logs, and at least 0.")
        return list(logs[: len(logs) - count]), list(logs[len(logs) - count :])
    (log,) = logs
    cut = int(len(log.time) * (1 - _HELD_OUT))

    def part(rows: slice, words: str) -> MotorLog:
        signals = {name: one[rows] for name, one in log.signals.items()}
        return MotorLog(log.time[rows], log.joints, signals, f"{log.source} ({words})", log.settings)

    return [part(slice(0, cut), "first three quarters")], [part(slice(cut, None), "last quarter")]


def replays_of(
    robot: str | os.PathLike[str],
    motors: Mapping[str, MotorConfig],
    logs: Sequence[MotorLog],
    training: Sequence[MotorLog],
    validation: Sequence[MotorLog],
) -> list[Replay]:
    """Return replays of all parts of logs; of a log in two parts, from its start on."""
    if len(logs) == 1 and validation:
        whole = replay(robot, motors, logs[0], held_out=True)
        rows = len(whole.positions) - len(validation[0].time)
        cut = [Replay(one, whole.positions[:rows], False, whole.turns) for one in training]
        return [*cut, Replay(validation[0], whole.positions[rows:], True, whole.turns)]
    return [
        replay(robot, motors, log, held_out=held)
        for part, held in ((training, False), (validation, True))
        for log in part
    ]


class HeldOut:
    """Replays of what is held out, with motors that nothing changes, in a thread beside other work.

    Use it as a context manager. It opens the robots itself, not in its thread: simulations are opened one by one.

    Args:
        robot: Path of the robot file.
        motors: Motors by joint name.
        logs: All logs.
        validation: What is held out of them.
    """

    def __init__(
        self,
        robot: str | os.PathLike[str],
        motors: Mapping[str, MotorConfig],
        logs: Sequence[MotorLog],
        validation: Sequence[MotorLog],
    ) -> None:
        # of a log in two parts, from its start on
        self._from_start = validation if len(logs) == 1 else ()
        self._ended = threading.Event()
        with contextlib.ExitStack() as stack:
            whole = logs if self._from_start else validation
            self._robots = [stack.enter_context(Replaying(robot, motors, log, held_out=True)) for log in whole]
            pool = stack.enter_context(ThreadPoolExecutor(1))
            # before the thread is waited for
            stack.callback(self._ended.set)
            self._replays = pool.submit(self._follow)
            self._close = stack.pop_all().close

    def error(self) -> float:
        """Wait for the end, and return the mean absolute position error [rad or m]; NaN where nothing is held out.

        Raises:
            SimulationDivergedError: The state of a robot is not finite any more.
        """
        return mean_error(self._replays.result())

    def close(self) -> None:
        """End the thread, and close the simulations."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _follow(self) -> list[Replay]:
        found = [one.follow(self._go_on) for one in self._robots]
        if not self._from_start:
            return found
        (whole,), (part,) = found, self._from_start
        return [Replay(part, whole.positions[-len(part.time) :], True, whole.turns)]

    def _go_on(self, _: int) -> None:
        if self._ended.is_set():
            raise CancelledError
