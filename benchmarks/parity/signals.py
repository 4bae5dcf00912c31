"""Random states and commands, with the edges of laws among them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

_LARGEST: Final = {
    "positions": 2.2,
    "velocities": 30.0,
    "position_targets": 2.5,
    "velocity_targets": 10.0,
    "feedforward": 60.0,
}
LARGEST_ERROR: Final = _LARGEST["positions"] + _LARGEST["position_targets"]
"""Largest distance of a target from a position [rad]."""
COMMANDS: Final = ("position_targets", "velocity_targets", "feedforward")
"""Names of the signals that command a motor."""
# share of states at rest, at their target, and at an edge of a limit
_SHARE: Final = 0.1


@dataclass(frozen=True)
class Signals:
    """Inputs of a law in a step; arrays of one shape, float32.

    Args:
        positions: Positions [rad].
        velocities: Velocities [rad/s].
        position_targets: Targets of positions [rad].
        velocity_targets: Targets of velocities [rad/s].
        feedforward: Feedforward efforts [N·m], or what a law takes them for.
    """

    positions: np.ndarray
    velocities: np.ndarray
    position_targets: np.ndarray
    velocity_targets: np.ndarray
    feedforward: np.ndarray

    def column(self, number: int) -> Signals:
        """Return the signals of one motor, of the shape `(robots,)`."""
        return Signals(*(np.ascontiguousarray(getattr(self, one.name)[:, number]) for one in fields(self)))


@dataclass(frozen=True)
class Edges:
    """Positions and velocities at which the limits of a motor have edges.

    Args:
        positions: Positions [rad].
        velocities: Velocities [rad/s].
    """

    positions: Sequence[float] = ()
    velocities: Sequence[float] = ()


def random_signals(
    random: np.random.Generator, robots: int, edges: Sequence[Edges], commands: Collection[str] = COMMANDS
) -> Iterator[Signals]:
    """Yield independent signals, step after step.

    A tenth of all states is at rest, a tenth at its target, and a tenth each at a position and at a velocity where a
    limit has an edge.

    Args:
        random: Source of randomness.
        robots: Number of rows.
        edges: Those of the motor in each column.
        commands: Names of the commands that are not 0.
    """
    shape = robots, len(edges)
    while True:
        drawn = {name: random.uniform(-most, most, shape).astype(np.float32) for name, most in _LARGEST.items()}
        for name in ("positions", "velocities"):
            for column, one in enumerate(edges):
                _put(random, drawn[name][:, column], getattr(one, name))
        is_there = random.random(shape) < _SHARE
        drawn["position_targets"][is_there] = drawn["positions"][is_there]
        drawn["velocities"][random.random(shape) < _SHARE] = 0.0
        for name in set(COMMANDS).difference(commands):
            drawn[name][:] = 0.0
        yield Signals(**drawn)


def _put(random: np.random.Generator, column: np.ndarray, values: Sequence[float]) -> None:
    """Put some of a list's values into some rows of a column."""
    if values:
        rows = np.flatnonzero(random.random(len(column)) < _SHARE)
        column[rows] = random.choice(np.asarray(values, np.float32), len(rows))
