"""The time that nodes see."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """The time of one evaluation of a graph.

    Args:
        time: Simulated time since play [s].
        delta: Duration of an evaluation: a frame, or a physics step [s].
        frame: Frames since play.
        total_time: Simulated time of this play and those before it [s].
    """

    time: float = 0.0
    delta: float = 0.0
    frame: float = 0.0
    total_time: float = 0.0
