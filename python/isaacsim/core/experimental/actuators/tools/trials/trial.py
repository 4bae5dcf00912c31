"""Trials: robots that follow targets, and how well they do."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import SimulationDivergedError
from ...base.values import as_numpy
from ...engine.faults import in_words
from ...extension.articulation_actuators import ArticulationActuators
from ...simulators.port import ArticulationPort
from ...simulators.simulation import Simulation
from ..recording.files import Subject
from ..recording.recording import Recording
from ..stability.buzz import Buzz, buzz
from .targets import Room, Targets

if TYPE_CHECKING:
    from ...simulators.physics_articulation import PhysicsArticulation

MOST_STEPS = 1e9
"""Physics steps of a trial at most."""
# tolerance of limits, which are soft in simulators, of the range of a joint
_BEYOND = 0.02
# smallest number of steps in which vibrations are detected
_FEWEST = 40
# relative tolerance of the frequency of equal tones
_SAME = 0.2
# smallest amplitude of a vibration that is felt [rad or m], and of that of a joint that shakes others with its tone
_FELT, _SHAKEN = 1e-4, 0.1


@dataclass(frozen=True)
class JointTrial:
    """The result of one joint of one robot; None without that part: actuator, passive stages, winding or heat.

    Positions and errors are [rad or m], efforts [N·m or N], that of a drive unknown (None). Shares are of time, 0 … 1:
    `limited` by `clamps`, the largest share first, `sticking`, and `at_voltage_limit` of the supply. `beyond` is the
    largest distance outside position limits, 0 up to 2 % of their range. The largest current is [A], `hottest` that of
    the winding [°C].
    """

    robot: str
    joint: str
    target: float
    position: float
    largest_error: float
    rms_error: float
    largest_effort: float | None
    limited: float | None
    clamps: tuple[str, ...]
    beyond: float
    largest_friction: float | None = None
    sticking: float | None = None
    largest_current: float | None = None
    at_voltage_limit: float | None = None
    hottest: float | None = None


@dataclass(frozen=True)
class Trial:
    """Results of joints of robots that followed targets, and a recording: of all joints without actuators.

    `buzzing` joints vibrate on their own, by robot and joint; `faults` name what was not finite, `diverged` why physics
    stopped early, if it did.
    """

    joints: tuple[JointTrial, ...]
    recording: Recording
    buzzing: dict[tuple[str, str], Buzz]
    faults: tuple[str, ...]
    diverged: str | None

    @property
    def is_wrong(self) -> bool:
        """True if physics diverged, an actuator had a fault, or a joint left its limits."""
        return bool(self.diverged or self.faults or any(joint.beyond for joint in self.joints))


def room_of(robots: PhysicsArticulation) -> Room:
    """Return positions and limits of the joints of robots."""
    lower, upper = (np.array(limits.numpy(), float) for limits in robots.get_dof_limits())
    return Room(np.array(robots.get_dof_positions().numpy(), float), lower, upper)


def steps_in(seconds: float, dt: float) -> int:
    """Return the number of physics steps in a duration [s]."""
    if not seconds / dt <= MOST_STEPS:
        raise ValueError(f"seconds = {seconds:g}: must be at most {MOST_STEPS:g} steps of {dt:g} s. Give less.")
    return round(seconds / dt)


def follow(
    simulation: Simulation,
    robots: PhysicsArticulation,
    actuators: ArticulationActuators | None,
    targets: Targets,
    steps: Iterable[int],
    after_step: Callable[[], None] | None = None,
) -> Trial:
    """Step robots that follow targets by the time since the start, and return the results."""
    room, rows, diverged, last = room_of(robots), [], None, None
    with contextlib.nullcontext() if actuators is None else actuators.record() as log:
        for count in steps:
            target = targets(count * simulation.dt)
            if last is None or not np.array_equal(target, last):
                # others may set targets between changes, as a live view does
                robots.set_dof_position_targets(target)
                last = target
            rows.append([*_state(robots), robots.get_dof_position_targets().numpy().copy()])
            try:
                simulation.step()
            except SimulationDivergedError as error:
                diverged = str(error)
                break
            if after_step is not None:
                after_step()
    positions, velocities, wanted = np.array(rows, float).reshape(-1, 3, *room.initial.shape).transpose(1, 0, 2, 3)
    final = _state(robots)[0] if diverged is None else positions[-1]
    recording = _recording(simulation, robots, positions, velocities, wanted) if log is None else log
    joints = tuple(_joints(robots, room, np.concatenate([positions, final[None]]), wanted, log))
    faults = () if actuators is None else tuple(map(in_words, actuators.faults))
    buzzing = _buzzing(robots, _driven(robots, actuators), positions, wanted, simulation.dt)
    return Trial(joints, recording, buzzing, faults, diverged)


def _driven(robots: ArticulationPort, actuators: ArticulationActuators | None) -> np.ndarray:
    """Return the mask of joints that an actuator moves, or a drive with gains."""
    driven = np.any([as_numpy(gains) for gains in robots.get_dof_gains()], axis=0)
    if actuators is not None:
        driven[:, actuators.commanded_dof_indices] = True
    return driven


def _state(robots: ArticulationPort) -> tuple[np.ndarray, np.ndarray]:
    return as_numpy(robots.get_dof_positions()).copy(), as_numpy(robots.get_dof_velocities()).copy()


def _recording(simulation: Simulation, robots: ArticulationPort, *signals: np.ndarray) -> Recording:
    """Return a recording of robots without actuators."""
    names = ("positions", "velocities", "position_targets")
    kept: dict[str, np.ndarray] = {"dt": np.full(len(signals[0]), simulation.dt)}
    kept |= {name: signal.astype(np.float32) for name, signal in zip(names, signals, strict=True)}
    shape = len(robots.paths), robots.num_dofs
    subject = Subject(tuple(robots.paths), tuple(robots.dof_names), ("",), np.full(shape, np.nan, np.float32))
    return Recording(subject, names, lambda name: kept[name].copy())


def _joints(
    robots: ArticulationPort, room: Room, positions: np.ndarray, targets: np.ndarray, log: Recording | None
) -> list[JointTrial]:
    """Return how well each joint followed its targets; positions are those before each step, and the final ones."""
    errors = np.abs(targets - positions[: len(targets)])
    last = targets[-1] if len(targets) else room.initial
    rms = np.sqrt(np.mean(errors**2, axis=0)) if len(errors) else np.zeros(errors.shape[1:])
    span = np.where(np.isfinite(room.upper - room.lower), room.upper - room.lower, 0.0)
    beyond = np.maximum(room.lower - positions, positions - room.upper).max(axis=0)
    beyond = np.where(beyond > _BEYOND * span, np.maximum(beyond, 0.0), 0.0)
    of_motors = _Motors(log)
    joints: list[JointTrial] = []
    for row, robot in enumerate(robots.paths):
        for column, joint in enumerate(robots.dof_names):
            at = row, column
            largest, limited, clamps = of_motors.joint(row, robot, joint)
            joints.append(
                JointTrial(
                    robot,
                    joint,
                    target=float(last[at]),
                    position=float(positions[-1][at]),
                    largest_error=float(errors[:, row, column].max(initial=0.0)),
                    rms_error=float(rms[at]),
                    largest_effort=largest,
                    limited=limited,
                    clamps=clamps,
                    beyond=float(beyond[at]),
                    **of_motors.friction(row, joint),
                    **of_motors.electrical(row, joint),
                )
            )
    return joints


class _Motors:
    """The motors of a recording, if there is one."""

    def __init__(self, log: Recording | None) -> None:
        self._saturation = [] if log is None else log.saturation()
        self._efforts = None if log is None or not len(log) else np.abs(log.motor_efforts).max(axis=0)
        self._joints = [] if log is None else log.joints
        self._log = log

    def joint(self, row: int, robot: str, joint: str) -> tuple[float | None, float | None, tuple[str, ...]]:
        """Return largest effort, share of limited time and clamps of a joint; Nones if it has no actuator."""
        clamps = [one for one in self._saturation if (one.robot, one.joint) == (robot, joint)]
        if self._efforts is None or joint not in self._joints:
            return None, None, tuple(one.clamp for one in clamps)
        effort = float(self._efforts[row, self._joints.index(joint)])
        return effort, sum(one.share for one in clamps), tuple(one.clamp for one in clamps)

    def friction(self, row: int, joint: str) -> dict[str, float]:
        """Return the fields of a joint on friction; none if it has no passive stages."""
        log = self._log
        if log is None or not len(log) or joint not in self._joints or "sticking" not in log.signals:
            return {}
        column = self._joints.index(joint)
        efforts, sticking = log.passive_efforts[:, row, column], log.sticking[:, row, column]
        if not (efforts.any() or sticking.any()):
            return {}
        return {"largest_friction": float(np.abs(efforts).max()), "sticking": float(sticking.mean())}

    def electrical(self, row: int, joint: str) -> dict[str, float]:
        """Return the fields of a joint on its winding and its heat; none of laws that it does not have."""
        log = self._log
        if log is None or not len(log) or joint not in self._joints:
            return {}
        column, found = self._joints.index(joint), dict[str, float]()
        if "currents" in log.signals and log.terminal_voltages[:, row, column].any():
            found["largest_current"] = float(np.abs(log.currents[:, row, column]).max())
            found["at_voltage_limit"] = float(log.at_voltage_limit[:, row, column].mean())
        if "winding_temperatures" in log.signals and log.winding_temperatures[:, row, column].any():
            found["hottest"] = float(log.winding_temperatures[:, row, column].max())
        return found


def _buzzing(
    robots: ArticulationPort, driven: np.ndarray, positions: np.ndarray, targets: np.ndarray, dt: float
) -> dict[tuple[str, str], Buzz]:
    """Return the tones of the second half that targets do not have, and that other joints do not shake."""
    late = slice(len(positions) // 2, None)
    found: dict[tuple[str, str], Buzz] = {}
    if len(positions[late]) < _FEWEST or not np.isfinite(positions).all():
        return found
    for row, robot in enumerate(robots.paths):
        wanted = {one.joint: one.frequency for one in buzz(targets[late, row], dt)}
        # the largest first
        tones = list[Buzz]()
        for one in buzz(positions[late, row], dt, threshold=_FELT):
            alike = (other for other in tones if abs(one.frequency - other.frequency) <= _SAME * one.frequency)
            loudest = next(alike, one)
            tones.append(one)
            is_own = abs(one.frequency - wanted.get(one.joint, 0.0)) > _SAME * one.frequency
            if all((driven[row, one.joint], is_own, one.amplitude >= _SHAKEN * loudest.amplitude)):
                found[robot, robots.dof_names[one.joint]] = one
    return found
