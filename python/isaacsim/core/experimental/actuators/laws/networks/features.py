"""Inputs of a network: measured and commanded signals, now or some steps back, shifted and scaled."""

from __future__ import annotations

from dataclasses import dataclass

COLUMNS: dict[str, tuple[int, int, int, int]] = {
    "position": (1, 0, 0, 0),
    "target_position": (0, 0, 1, 0),
    "position_error": (-1, 0, 1, 0),
    "velocity": (0, 1, 0, 0),
    "target_velocity": (0, 0, 0, 1),
    "velocity_error": (0, -1, 0, 1),
}
"""Factors of position, velocity, position target and velocity target; errors are target minus measurement.

Any other column is an array that the caller gives by its name.
"""


@dataclass(frozen=True)
class Feature:
    """One input of a network: (column − offset) · scale."""

    column: str  # one of `COLUMNS`, or the name of an array of the caller
    scale: float = 1.0
    offset: float = 0.0
    back: int = 0  # steps before the current one
