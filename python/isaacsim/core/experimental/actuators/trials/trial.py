"""A robot that follows targets, and what came of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..articulation_actuators import ArticulationActuators
from ..errors import SimulationDivergedError
from ..pipeline.step.fault import Fault
from ..recording.recording import Recording, Subject
from ..simulation import Simulation
from ..stability.buzz import Buzz, buzz
from .targets import Room, Targets

# how far a joint may be beyond its limit, of its range: limits of simulators are soft
_BEYOND = 0.02
# what a recording needs for its tones to be told
_FEWEST = 40
# two tones are the same where their frequencies differ by less than this share
_SAME = 0.2


@dataclass(frozen=True)
class JointTrial:
    """How one joint of one robot fared.

    Args:
        robot: Path of the robot.
        joint: Name of the joint.
        target: Last target [rad or m].
        position: Position at the end [rad or m].
        largest_error: Largest distance from the target [rad or m].
        rms_error: Root mean square of it [rad or m].
        largest_effort: Largest effort of its actuator [N·m or N]; None where a drive moves it, which does not tell.
        limited: Share of time in which clamps limited it, 0 … 1; None without an actuator.
        clamps: Which clamps did, the one with the largest share first.
        beyond: How far it was outside its limits [rad or m]; 0 when it was not, or by no more than 2 % of its range.
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


@dataclass(frozen=True)
class Trial:
    """Robots that followed targets.

    Args:
        joints: How each joint fared.
        recording: What actuators did; positions, velocities and targets of all joints where there are none.
        buzzing: Joints that buzz on their own, by robot and joint.
        faults: Inputs or efforts that were not finite, in words.
        diverged: Why physics stopped early, or None.
    """

    joints: tuple[JointTrial, ...]
    recording: Recording
    buzzing: dict[tuple[str, str], Buzz]
    faults: tuple[str, ...]
    diverged: str | None

    @property
    def is_wrong(self) -> bool:
        """Whether physics diverged, an actuator had a fault, or a joint left its limits."""
        return bool(self.diverged or self.faults or any(joint.beyond for joint in self.joints))


def room_of(robots: Any) -> Room:
    """Where the joints of robots are, and how far they may go."""
    lower, upper = (np.array(limits.numpy(), float) for limits in robots.get_dof_limits())
    return Room(np.array(robots.get_dof_positions().numpy(), float), lower, upper)


def follow(
    simulation: Simulation,
    robots: Any,
    actuators: ArticulationActuators | None,
    targets: Targets,
    steps: Iterable[int],
    after_step: Callable[[], None] | None = None,
) -> Trial:
    """Let robots follow targets.

    Args:
        simulation: It plays.
        robots: The articulation.
        actuators: Those of the robots, or None where drives move them.
        targets: Where to, by the time since now.
        steps: Counts physics steps.
        after_step: Called after each of them.
    """
    room, rows, diverged, last = room_of(robots), [], None, None
    with contextlib.nullcontext() if actuators is None else actuators.record() as log:
        for count in steps:
            target = targets(count * simulation.dt)
            if last is None or not np.array_equal(target, last):
                # between changes somebody else may set them, in a live view
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
    joints = _joints(robots, room, np.concatenate([positions, final[None]]), wanted, log)
    faults = () if actuators is None else tuple(map(_said, actuators.faults))
    buzzing = _buzzing(robots, _driven(robots, actuators), positions, wanted, simulation.dt)
    return Trial(tuple(joints), recording, buzzing, faults, diverged)


def _driven(robots: Any, actuators: ArticulationActuators | None) -> np.ndarray:
    """Which joints of each robot a control law or a drive moves: one that swings freely does not buzz."""
    driven = np.any([gains.numpy() for gains in robots.get_dof_gains()], axis=0)
    if actuators is not None:
        driven[:, actuators.commanded_dof_indices] = True
    return driven


def _state(robots: Any) -> tuple[np.ndarray, np.ndarray]:
    return robots.get_dof_positions().numpy().copy(), robots.get_dof_velocities().numpy().copy()


def _said(fault: Fault) -> str:
    return (
        f"<{fault.robot_path}>: {fault.dof_name}: {', '.join(fault.inputs)} not finite in step {fault.step}: it got "
        "no effort then."
    )


def _recording(simulation: Simulation, robots: Any, *signals: np.ndarray) -> Recording:
    """What there is to record where drives move the joints."""
    names = ("positions", "velocities", "position_targets")
    kept: dict[str, np.ndarray] = {"dt": np.full(len(signals[0]), simulation.dt)}
    kept |= {name: signal.astype(np.float32) for name, signal in zip(names, signals, strict=True)}
    shape = len(robots.paths), robots.num_dofs
    subject = Subject(tuple(robots.paths), tuple(robots.dof_names), ("",), np.full(shape, np.nan, np.float32))
    return Recording(subject, names, lambda name: kept[name].copy())


def _joints(
    robots: Any, room: Room, positions: np.ndarray, targets: np.ndarray, log: Recording | None
) -> Iterable[JointTrial]:
    errors = np.abs(targets - positions[: len(targets)])
    span = np.where(np.isfinite(room.upper - room.lower), room.upper - room.lower, 0.0)
    beyond = np.maximum(room.lower - positions, positions - room.upper).max(axis=0)
    limited = [] if log is None else log.saturation()
    for row, robot in enumerate(robots.paths):
        for column, joint in enumerate(robots.dof_names):
            clamps = [one for one in limited if (one.robot, one.joint) == (robot, joint)]
            driven = log is not None and joint in log.joints and len(log) > 0
            yield JointTrial(
                robot,
                joint,
                float(targets[-1, row, column]) if len(targets) else float(room.initial[row, column]),
                float(positions[-1, row, column]),
                float(errors[:, row, column].max(initial=0.0)),
                float(np.sqrt(np.mean(errors[:, row, column] ** 2))) if len(errors) else 0.0,
                float(np.abs(log.applied_efforts[:, row, log.joints.index(joint)]).max()) if log and driven else None,
                sum(one.share for one in clamps) if driven else None,
                tuple(one.clamp for one in clamps),
                max(0.0, float(beyond[row, column])) if beyond[row, column] > _BEYOND * span[row, column] else 0.0,
            )


def _buzzing(
    robots: Any, driven: np.ndarray, positions: np.ndarray, targets: np.ndarray, dt: float
) -> dict[tuple[str, str], Buzz]:
    """Tones of the second half that targets do not have."""
    late = slice(len(positions) // 2, None)
    found: dict[tuple[str, str], Buzz] = {}
    if len(positions[late]) < _FEWEST or not np.isfinite(positions).all():
        return found
    for row, robot in enumerate(robots.paths):
        asked = {one.joint: one.frequency for one in buzz(targets[late, row], dt)}
        for one in buzz(positions[late, row], dt):
            if driven[row, one.joint] and abs(one.frequency - asked.get(one.joint, 0.0)) > _SAME * one.frequency:
                found[robot, robots.dof_names[one.joint]] = one
    return found
