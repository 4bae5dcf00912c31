"""`excitation`: motions of a robot that identify its motors and stay within its limits."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...specs.motors import MotorConfig
from ...specs.patterns import matched
from ..progress import Progress
from .commanded import CommandedRobot
from .decoupling import require_fixed_base
from .draft import Draft, Part
from .excitation_plan import ExcitationPlan
from .given_motors import given_motors
from .safety import Contacts, Limits, Motion, limits_of, moved

# largest speeds of joints without a limit [rad/s], [m/s]
_SPEEDS = (3.0, 0.3)
# share of the range of its commands that a joint moves through at least
_FOLLOWS = 0.1


@dataclass(frozen=True, eq=False)
class Excitation:
    """Commands whose log identifies the motors of a robot, and its predicted motion; a row per sample.

    Args:
        robot: Path of the robot file.
        time: Time of each command [s], shape `(samples,)`.
        joints: Names of the joints, one per column.
        command: Position targets [rad or m], shape `(samples, joints)`, each held until the next one.
        positions: Predicted positions [rad or m], same shape.
        velocities: Predicted velocities [rad/s or m/s], same shape; the largest in size until the next command.
        efforts: Predicted efforts of the motors [N·m or N], same shape; the largest in size until the next command.
        limits: Limits of the joints.
        parts: Its parts in order.
        notes: Reductions with their reasons, and limits that are unknown, each a sentence.
    """

    robot: str
    time: np.ndarray
    joints: tuple[str, ...]
    command: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    efforts: np.ndarray
    limits: Limits
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()


def excitation(
    robot: str | os.PathLike[str],
    motors: Mapping[str, MotorConfig] | None = None,
    plan: ExcitationPlan | None = None,
    *,
    progress: Progress | None = None,
) -> Excitation:
    """Return commands for a robot whose log identifies its motors, within the limits of its joints.

    The robot begins and ends at rest in its initial pose. All joints move at the same time, with different motions. The
    robot with its motors is simulated in MuJoCo under the commands. Motions that exceed a limit of position, speed or
    effort, or that make links touch, are reduced or slowed down until none does. Commands keep 5 % of the range away
    from position limits, and positions 2.5 %; speeds and efforts stay below 90 % of their limits.

    Args:
        robot: Path of a USD, MJCF or URDF file of a robot with a fixed base.
        motors: Motors by pattern of joint names, as they are known so far; None means those of the file.
        plan: Joints, motions, duration and sizes; None means `ExcitationPlan()`.
        progress: Called with a description and the share of finished work, 0 … 1; None means no call.

    Returns:
        The commands, with the predicted motion and notes.

    Raises:
        ValueError: A robot with a floating base, a joint without a motor, no joint, too few seconds, a joint
            that does not follow its commands, or a limit that even the smallest motion exceeds.

    Example:
        >>> found = excitation("data/robots/pendulum.usda", plan=ExcitationPlan(seconds=8.0, kinds=["steps"]))
        >>> found.joints, found.command.shape, [part.kind for part in found.parts]
        (('hinge',), (1600, 1), ['ramp', 'steps', 'ramp'])
    """
    plan, told = plan or ExcitationPlan(), progress or (lambda _words, _share: None)
    known = given_motors(robot, motors, ())
    joints = _joints_of(robot, plan.joints, {name: one for name, one in known.items() if one.controller is not None})
    told("simulating the robot", 0.0)
    with CommandedRobot(robot, known, joints, 1.0 / plan.rate, initial_positions=plan.initial_positions) as commanded:
        require_fixed_base(robot, commanded.robots)
        limits, notes = _complete(limits_of(commanded, joints), plan)
        if not Contacts(commanded.simulation).there_are:
            notes.append("The file has no links that collide: collisions were not looked for. Clear the space.")
        draft = Draft(robot, plan, limits)
        command, motion = _held(commanded, draft, joints, told)
    follows = np.ptp(motion.positions, axis=0) >= _FOLLOWS * np.ptp(command, axis=0)
    if still := [name for name, one in zip(joints, follows, strict=True) if not one]:
        raise ValueError(
            f"{robot}: {', '.join(still)}: moves less than a tenth as far as its commands: its motor must follow them. "
            "Give it gains in a file of motors, or leave it out."
        )
    told("done", 1.0)
    time, moved = np.arange(len(command)) / plan.rate, (motion.positions, motion.velocities, motion.efforts)
    return Excitation(os.fspath(robot), time, joints, command, *moved, limits, draft.parts, (*draft.notes(), *notes))


def _held(commanded: CommandedRobot, draft: Draft, joints: Sequence[str], told: Progress) -> tuple[np.ndarray, Motion]:
    """Return commands under which no limit breaks, and the motion; the draft is reduced until there are."""
    left = 1.0
    command = draft.command()
    motion = moved(commanded, command, joints)
    draft.require_rest(motion)
    # ends, for each reduction changes something, down to a smallest
    while breaks := draft.broken(motion):
        left *= 0.8
        told("reducing what breaks a limit", 1.0 - left)
        draft.reduce(breaks)
        command = draft.command()
        motion = moved(commanded, command, joints)
    return command, motion


def _joints_of(
    robot: str | os.PathLike[str], patterns: Sequence[str], motors: Mapping[str, MotorConfig]
) -> tuple[str, ...]:
    """Return the joints that move."""
    for pattern in patterns:
        if not matched([pattern], motors):
            raise ValueError(
                f"{robot}: joints = {pattern}: must match a joint with a motor that has a control law, of "
                f"{', '.join(motors) or 'none'}. Correct it, or describe the motor in a file and give it."
            )
    found = tuple(matched(patterns, motors) if patterns else motors)
    if not found:
        raise ValueError(
            f"{robot}: no motor with a control law: must have one, for it makes the robot follow commands. Describe "
            "the motors in a file, and give it."
        )
    return found


def _complete(limits: Limits, plan: ExcitationPlan) -> tuple[Limits, list[str]]:
    """Return limits with a speed for each joint, and notes on limits that there are not."""
    notes = []

    def listed(mask: np.ndarray) -> str:
        return ", ".join(name for name, one in zip(limits.joints, mask, strict=True) if one)

    if plan.speed is None:
        speed = np.where(np.isfinite(limits.speed), limits.speed, np.where(limits.turns, *_SPEEDS))
        if names := listed(~np.isfinite(limits.speed)):
            notes.append(f"No speed limit in file and motors, taken as 3 rad/s or 0.3 m/s: {names}.")
    else:
        speed = np.minimum(limits.speed, plan.speed)
    if plan.amplitude is None and (names := listed(limits.span == 0.0)):
        notes.append(f"No two position limits, amplitude taken as 0.5 rad or 0.05 m: {names}.")
    if names := listed(~np.isfinite(limits.effort)):
        notes.append(f"No effort limit in file and motors, none was checked: {names}.")
    return dataclasses.replace(limits, speed=speed), notes
