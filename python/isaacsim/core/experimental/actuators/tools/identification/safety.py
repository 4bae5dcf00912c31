"""Limits of the joints of a robot, and whether a simulated motion stays within them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import SimulationDivergedError
from ...base.values import SupportsNumpy
from ...simulators.dof_properties import DofType
from ..feedback import largest_efforts, largest_speeds
from ..plots.units import Units, units_of
from .commanded import CommandedRobot

if TYPE_CHECKING:
    from ...simulators.simulation import Simulation

SAFE = 0.9
"""Share of speed and effort limits that may be used."""
MARGIN = 0.05
"""Distance of commands from position limits, of the range of a joint; positions keep half of it."""

# time between two looks for collisions [s]
_EVERY = 0.04
# limits of positions are soft in simulators, of the range of a joint
_SOFT = 0.002
# what a joint is reduced by where nothing says how much is too much
_OVER = 1.25


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits and initial positions of joints; arrays have the shape `(joints,)`, and infinite values mean no limit.

    Args:
        joints: Names of the joints.
        start: Initial positions [rad or m].
        lower: Lowest positions [rad or m].
        upper: Highest positions [rad or m].
        speed: Largest speeds [rad/s or m/s].
        effort: Largest efforts of the motors [N·m or N].
        turns: True for joints that turn, False for joints that slide.
    """

    joints: tuple[str, ...]
    start: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    speed: np.ndarray
    effort: np.ndarray
    turns: np.ndarray

    @property
    def span(self) -> np.ndarray:
        """Range of positions [rad or m], 0 for a joint without two limits."""
        both = np.isfinite(self.lower) & np.isfinite(self.upper)
        return np.where(both, np.subtract(self.upper, self.lower, where=both, out=np.zeros_like(self.lower)), 0.0)

    def within(self, margin: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and highest positions [rad or m] with a share of the range as margin, or initial ones."""
        away = margin * self.span
        return np.minimum(self.lower + away, self.start), np.maximum(self.upper - away, self.start)


def limits_of(commanded: CommandedRobot, joints: Sequence[str]) -> Limits:
    """Return the limits of the joints that get commands: the smaller ones of robot file and motors."""
    robots, at = commanded.robots, commanded.columns

    def read(array: SupportsNumpy) -> np.ndarray:
        return array.numpy()[0, at].astype(float)

    names = list(robots.dof_names)
    speed, effort = np.full((2, len(names)), np.inf)
    for actuator in commanded.actuators.actuators:
        columns = [names.index(name) for name in actuator.dof_names]
        speed[columns] = largest_speeds(actuator, 1)[0]
        effort[columns] = largest_efforts(actuator, 1)[0]
    lower, upper = map(read, robots.get_dof_limits())
    speed = np.fmin(speed[at], read(robots.get_dof_max_velocities()))
    effort = np.fmin(effort[at], read(robots.get_dof_max_efforts()))
    turns = np.array([robots.dof_types[column] is DofType.Rotation for column in at])
    return Limits(tuple(joints), read(robots.get_dof_positions()), lower, upper, speed, effort, turns)


@dataclass(frozen=True, eq=False)
class Motion:
    """How joints move under commands; arrays have the shape `(samples, joints)`."""

    # when each command is sent [rad or m]
    positions: np.ndarray
    # of the largest size until the next command [rad/s or m/s], as are efforts of the motors [N·m or N]
    velocities: np.ndarray
    efforts: np.ndarray
    # whether a motor was, until the next command
    limited: np.ndarray
    # two links that touch and did not at first, by the number of the sample
    touching: dict[int, tuple[str, str]]
    # number of the sample at which the simulation diverged
    diverged: int | None = None


def moved(commanded: CommandedRobot, command: np.ndarray, joints: Sequence[str]) -> Motion:
    """Return how a robot moves under commands `(samples, joints)` [rad or m], from its initial state on."""
    every = max(1, round(_EVERY / (commanded.simulation.dt * commanded.substeps)))
    touching: dict[int, tuple[str, str]] = {}
    last = 0
    contacts = Contacts(commanded.simulation)

    def look(row: int) -> None:
        nonlocal last
        last = row + 1
        if row % every == 0 and (found := contacts.found()):
            touching[row] = found[0]

    signals = ["velocities", "motor_efforts", "limited_by"]
    with commanded.actuators.record(signals) as log:
        try:
            positions, diverged = commanded.run(command, each=look), None
        except SimulationDivergedError:
            positions, diverged = command.copy(), last
    columns = [log.joints.index(name) for name in joints]
    # the samples that were simulated in full
    shape = last, commanded.substeps, len(joints)
    velocities, efforts, limits = (
        getattr(log, name)[: last * commanded.substeps, 0, columns].reshape(shape) for name in signals
    )
    simulated = _largest(velocities), _largest(efforts), (limits != "").any(axis=1)
    velocities, efforts, limited = (_complete(one, len(command)) for one in simulated)
    return Motion(positions, velocities, efforts, limited, touching, diverged)


@dataclass(frozen=True)
class Break:
    """A limit of a joint, None for the robot, that a motion breaks: its name, by which factor, and in words."""

    joint: int | None
    limit: str
    over: float
    words: str


def broken(motion: Motion, limits: Limits, rows: slice, middle: np.ndarray, margin: float) -> list[Break]:
    """Return the limits that a part of a motion breaks, with a share of the range as distance from position limits."""
    found: list[Break] = []
    soft = _SOFT * limits.span
    low, high = limits.within(margin)
    for j in range(len(limits.joints)):
        found += _positions(limits, j, motion.positions[rows, j], (low[j] - soft[j], high[j] + soft[j]), middle)
        found += _speeds(limits, j, motion.velocities[rows, j])
        found += _efforts(limits, j, motion.efforts[rows, j], bool(motion.limited[rows, j].any()))
    if pairs := [pair for row, pair in motion.touching.items() if rows.start <= row < rows.stop]:
        found.append(Break(None, "collision", _OVER, f"{' and '.join(pairs[0])} touch"))
    if motion.diverged is not None and rows.start <= motion.diverged < rows.stop:
        found.append(Break(None, "stability", 2.0, "the simulation diverges"))
    return found


def _positions(
    limits: Limits, joint: int, positions: np.ndarray, bounds: tuple[float, float], middle: np.ndarray
) -> list[Break]:
    found, name, unit = [], limits.joints[joint], _units(limits, joint).position
    for side, bound in zip((-1.0, 1.0), bounds, strict=True):
        far = side * float((side * positions).max())
        if side * (far - bound) > 0.0:
            over = float(abs(far - middle[joint]) / max(abs(bound - middle[joint]), 1e-9))
            words = f"{name} comes to {far:.4g} {unit}, and its position limit with the margin is {bound:.4g}"
            found.append(Break(joint, "position", max(over, 1.0), words))
    return found


def _speeds(limits: Limits, joint: int, velocities: np.ndarray) -> list[Break]:
    fast, most = float(np.abs(velocities).max()), SAFE * float(limits.speed[joint])
    if fast <= most:
        return []
    unit = _units(limits, joint).velocity
    words = f"{limits.joints[joint]} has {fast:.3g} {unit}, and {SAFE:.0%} of its speed limit are {most:.3g}"
    return [Break(joint, "speed", fast / most, words)]


def _efforts(limits: Limits, joint: int, efforts: np.ndarray, limited: bool) -> list[Break]:
    strong, most = float(np.abs(efforts).max()), SAFE * float(limits.effort[joint])
    if strong <= most and not limited:
        return []
    unit = _units(limits, joint).effort
    words = f"{limits.joints[joint]} needs {strong:.3g} {unit}, and {SAFE:.0%} of its effort limit are {most:.3g}"
    if strong <= most:
        words = f"{limits.joints[joint]} is at the limit of its motor, at {strong:.3g} {unit}"
    return [Break(joint, "effort", max(strong / most, _OVER if limited else 1.0), words)]


def _units(limits: Limits, joint: int) -> Units:
    return units_of([bool(limits.turns[joint])])


def _largest(values: np.ndarray) -> np.ndarray:
    """Return the value of the largest size in each sample, `(samples, joints)`, of all its steps."""
    at = np.abs(values).argmax(axis=1)
    return np.take_along_axis(values, at[:, None], axis=1)[:, 0].astype(float)


def _complete(values: np.ndarray, count: int) -> np.ndarray:
    """Return values of all samples, 0 after those that were simulated."""
    return np.concatenate([values, np.zeros((count - len(values), values.shape[1]), values.dtype)])


class Contacts:
    """Links that touch each other and did not at first."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation, self._model = simulation, simulation.model
        model = self._model
        colliding = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
        self.there_are: bool = len(set(model.geom_bodyid[colliding].tolist())) > 1
        """Whether the file has shapes of two links or more that collide."""
        self._first = self._pairs() if self.there_are else set()

    def found(self) -> list[tuple[str, str]]:
        """Return the names of the links of each pair that touches now."""
        return sorted(self._pairs() - self._first) if self.there_are else []

    def _pairs(self) -> set[tuple[str, str]]:
        touching = [one for one in self._simulation.data().contact if one.dist <= 0.0]
        bodies = [sorted(int(self._model.geom_bodyid[geom]) for geom in (one.geom1, one.geom2)) for one in touching]
        return {(self._model.body(one).name, self._model.body(other).name) for one, other in bodies}
