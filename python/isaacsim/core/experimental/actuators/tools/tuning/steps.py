"""Steps of each joint of a robot in simulation, with gravity, from several poses."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ...base.errors import SimulationDivergedError, listed
from ...specs.motors import MotorConfig
from ..plots.step_response import Response
from ..progress import Progress
from ..stability.buzz import buzz
from .plant import by_pattern, opened
from .tuned import TunedJoint, Wish

OVERSHOOT: Final = 0.05
"""Overshoot that a damping ratio of 1 may show, of the step."""
# frequency of the sine that all joints follow together [Hz]
_SINE = 0.5
# share of a step that counts as a motion
_MOVES = 0.3
# settling time that is as asked, of what was asked
_SLOWER = 1.3


def verified(
    robot: str | os.PathLike[str],
    motors: Mapping[str, MotorConfig],
    rows: Sequence[TunedJoint],
    step_of: Sequence[float],
    source: tuple[int, int, float, str],
    report: Progress,
) -> tuple[list[TunedJoint], list[str], dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Return the rows with what steps of each joint show, one joint after the other, warnings, and the steps."""
    poses, seed, dt, engine = source
    joints, settling = zip(*((row.joint, row.settling) for row in rows), strict=True)
    lengths = [round(min(max(2.5 * time, 0.15), 2.0) / dt) for time in settling]
    rest = round(max(1.0, min(4.0, 3.0 * max(settling))) / dt)
    starts = rest + np.cumsum([0, *lengths])
    with opened(robot, by_pattern(motors), dt, poses, seed, engine) as (simulation, robots, actuators):
        columns = list(map(list(robots.dof_names).index, joints))
        targets = robots.get_dof_position_targets().numpy().copy()
        posed, lower = targets[:, columns].copy(), robots.get_dof_limits()[0].numpy()[:, columns]
        upper = robots.get_dof_limits()[1].numpy()[:, columns]
        # towards the limit that is farther away
        sizes = np.where(upper - posed >= posed - lower, step_of, -np.asarray(step_of))
        with actuators.record(["positions", "motor_efforts", "limited_by"]) as log:
            try:
                simulation.step(rest)
                for j, joint in enumerate(joints):
                    report(f"simulating steps of {joint}", 0.4 + 0.6 * j / len(rows))
                    targets[:, columns[j]] += sizes[:, j]
                    robots.set_dof_position_targets(targets)
                    simulation.step(lengths[j])
                simulation.step(rest)
                # then all at once
                middle, wave = targets.copy(), np.sin(2.0 * math.pi * _SINE * np.arange(round(1.0 / (_SINE * dt))) * dt)
                for share in wave:
                    targets[:, columns] = middle[:, columns] + share * sizes
                    robots.set_dof_position_targets(targets)
                    simulation.step()
            except SimulationDivergedError as error:
                return list(rows), [f"The simulation diverges: {error}"], {}
            latched = actuators.faults
            faults = [f"The motors had {len(latched)} faults: {latched[0]}."] if latched else []
        at = list(map(log.joints.index, joints))
        positions, efforts = log.positions[:, :, at].astype(float), log.motor_efforts[:, :, at].astype(float)
        limited = log.limited_by[:, :, at] != ""
    resting, swinging = slice(starts[-1] + rest // 3, starts[-1] + rest), slice(starts[-1] + rest, None)
    chatter = [0.0] * len(rows)
    for pose in range(poses):
        for tone in buzz(positions[resting, pose], dt, threshold=1e-4):
            chatter[tone.joint] = max(chatter[tone.joint], tone.amplitude)
    measured, responses = [], {}
    for j, row in enumerate(rows):
        # with the last position before it
        window = slice(starts[j] - 1, starts[j + 1])
        before = positions[starts[j] - 1, :, j]
        # a motor that gravity overcomes follows nothing
        held = ~limited[starts[j] - 1, :, j] & ~limited[starts[j + 1] - 1, :, j]
        shown, curves = steps_of(positions[window, :, j][:, held] / sizes[held, j], dt)
        swings = (positions[swinging, :, j] - positions[swinging.start - 1, :, j]) / sizes[:, j]
        shown |= {
            "saturated": dt * float(limited[window, :, j].sum(axis=0)[held].max(initial=0.0)),
            "sag": float(np.abs(before - posed[:, j])[held].max(initial=0.0)),
            "chatter": chatter[j],
            "effort_noise": float(efforts[resting, :, j].std(axis=0)[held].max(initial=0.0)),
            "sine_error": float(np.abs(swings[:, held] - wave[:, None]).mean(axis=0).max(initial=0.0)),
            "poses": float(held.sum()),
        }
        measured.append(dataclasses.replace(row, measured=shown))
        responses[row.joint] = np.arange(len(curves)) * dt, curves
    return measured, faults, responses


def steps_of(steps: np.ndarray, dt: float) -> tuple[dict[str, float], np.ndarray]:
    """Return rise time, overshoot and settling time of steps `(samples, poses)`, the worst, and the steps from 0 to 1.

    They are measured against where they come to rest, which gravity lets be below the target.
    """
    time, none = np.arange(len(steps)) * dt, np.zeros(len(steps))
    each = [Response(time, 1.0 * (time > 0.0), step, none) for step in steps.T]
    # what friction or limits hold moves nowhere
    moved = [step for step in each if abs(step.final - step.start) > _MOVES]
    numbers = [
        (step.rise_time or 0.0, step.overshoot or 0.0, time[-1] if step.settling_time is None else step.settling_time)
        for step in moved
    ]
    worst = np.max(numbers, axis=0).tolist() if moved else [math.nan] * 3
    curves = [(step.position - step.start) / (step.final - step.start) for step in moved]
    measured: dict[str, float] = dict(zip(("rise", "overshoot", "settling"), worst, strict=True))
    return measured, np.array(curves).T.reshape(len(steps), -1)


def not_shown(rows: Sequence[TunedJoint], ask: Wish) -> list[str]:
    """Return what steps in simulation miss of what was asked for."""
    overshoot = OVERSHOOT if (ask.ratio() or 0.0) >= 1.0 else math.inf
    settling = math.inf if ask.settle is None else _SLOWER * ask.settle
    hit = [row for row in rows if row.verdict != "missed"]
    slow = f"Settled later than {_SLOWER:g} times what was asked, in simulation"
    said = {
        f"Overshoot above {overshoot:.0%} in simulation": _above(rows, "overshoot", overshoot, "{:.0%}"),
        slow: _above(hit, "settling", settling, "{:.2g} s"),
        "Chatters at rest, in simulation": _above(rows, "chatter", 0.0, "{:.1g}"),
    }
    return [f"{words}: {listed(joints)}." for words, joints in said.items() if joints]


def _above(rows: Sequence[TunedJoint], name: str, most: float, words: str) -> list[str]:
    """Return the joints with a measured number above a bound, and that number in words."""
    numbers = {row.joint: row.measured.get(name, -math.inf) for row in rows}
    return [f"{joint} {words.format(number)}" for joint, number in numbers.items() if number > most]
