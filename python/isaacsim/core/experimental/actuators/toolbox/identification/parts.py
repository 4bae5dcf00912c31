"""The parts of logs: what motors are fitted to, what is held out, and how the whole robot repeats both."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ...specs.motors import MotorConfig
from .identified import Replay
from .log import MotorLog
from .replay import replay

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
