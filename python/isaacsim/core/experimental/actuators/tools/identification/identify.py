"""`identify`: from logs of a robot to its motors."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ...specs.motors import MotorConfig
from ..progress import Progress
from ..training.train import require_torch
from .checks import noises_of, time_problem
from .choice import Choice
from .decoupling import Decoupled, Links
from .effects import with_effects
from .fit import Fit
from .given_motors import given_motors
from .identified import Identified, Replay, mean_error
from .impossible import impossible
from .intervals import find_intervals
from .joints import Joints
from .learned import Learning, with_networks
from .log import MotorLog
from .models import FIRST
from .options import FitOptions
from .parts import Shipped, replays_of, split, where_moving
from .shafts import Shafts
from .supply import require_volts

# largest ratio of time steps of logs that are one
_SAME_RATE = 1.01
# distance from a position limit, of the range of a joint, and share of a log that may be so near
_NEAR, _OFTEN = 0.002, 0.01


def identify(
    robot: str | os.PathLike[str],
    logs: Sequence[MotorLog],
    motors: Mapping[str, MotorConfig] | None = None,
    options: FitOptions | None = None,
    progress: Progress | None = None,
) -> Identified:
    """Identify the motors of a robot from logs of its commands and positions.

    Efforts, currents, supply voltages and duties in the logs are fitted as well, where the motors simulate them:
    `Identified.columns`.

    Each joint is simulated alone with the package's own step, along the log of the other joints, and a motor that moves
    several at its shaft, under the name of the joint that has it. Friction models are
    tried from simple to rich; the simplest one that no richer one beats clearly is kept. Its fit is refined by the
    effects of the joints on each other. At the end, the whole robot is simulated under the commands of each log, which
    shows whether the motors can be used: `Identified.error` and `Identified.disagrees`.

    Args:
        robot: Path of a USD, MJCF or URDF file of a robot with a fixed base.
        logs: Logs, all of the same joints. The other joints of the robot keep still and keep their motors.
        motors: Motors to start from, by pattern of joint names; None means those of the file.
        options: Parameters to fit, and the method; None means `FitOptions()`: friction, armature, delay and encoder
            bias.
        progress: Called with a description and the share of finished work, 0 … 1; None means no call.

    Returns:
        The motors, the fitted values with their standard errors, and the errors of the simulated positions.

    Raises:
        ValueError: No log, a log that lacks a joint of the first one, times that are no seconds, a robot with a
            floating base, a joint without a motor, a linkage whose shaft logs do not tell, or a parameter that a motor
            cannot have.
        ModuleNotFoundError: The extra `identify` is not installed, or Torch if networks are to be learned.
    """
    began = time.monotonic()
    options, progress = options or FitOptions(), progress or (lambda _words, _share: None)
    every, even, training, validation = _prepared(logs, options)
    given = given_motors(robot, motors, every)
    shafts = Shafts(given, every)
    options, names, whole = shafts.options(options), shafts.names, (training, validation)
    noise = noises_of([shafts.of_log(log.columns(every)) for log in logs], names)
    training, validation = (list(map(shafts.of_log, part)) for part in whole)
    with contextlib.closing(Links(robot, every, shafts)) as links:
        joints = Joints(shafts.bare(), options, links.armatures, [*training, *validation], progress)
        joints = joints.holding(dict.fromkeys(map(names.index, shafts.linkages), ("encoder_bias",)))
        limited = _at_limits(even, links.limits)
        # its replays are independent of all fits
        with Shipped(robot, given, whole[1] or whole[0], shafts.of_replay) as shipped:
            choice = Choice(joints, links, training, noise).made()
            cases = choice.cases
            tried, best = choice.joints.ladder(choice.fits, cases)
            chosen = best.score.name
            joints, fits = best.joints, best.fits
            if FIRST in options.models and not shafts.linkages:
                # what other models are chosen for has no friction that effects would be told from
                joints, fits = with_effects(best, tried, noise)
            joints = joints.on_all()
            fits = joints.fit(chosen, cases, fits, way="near")
            joints, fits, untold = joints.settled(chosen, fits, cases)
            progress("finding intervals", 0.75)
            intervals = find_intervals(joints, chosen, fits, cases, options.mass_error)
            errors_before = shipped.errors()
    rounds = options.refine * (len(names) > 1)
    shares = iter(np.linspace(0.75, 1.0, rounds + 3))

    def replays(motors: Mapping[str, MotorConfig]) -> list[Replay]:
        progress("simulating the whole robot", float(next(shares)))
        return [shafts.of_replay(one) for one in replays_of(robot, shafts.whole(motors), *whole)]

    fits, found = refined(joints, lambda fits: replays(joints.motors(fits, cases)), chosen, fits, cases, rounds)
    fitted, estimates = joints.motors_and_estimates(fits, cases)
    intervals = intervals.around(fits)
    warnings = [*impossible(fitted, [*training, *validation], links.speeds), *limited, *joints.warnings(fits)]
    warnings += [*_kept_words(untold), *intervals.warnings()]
    result = Identified(
        os.fspath(robot),
        names,
        shafts.whole(intervals.of_motors(fitted)),
        intervals.of_estimates(estimates),
        [rung.score for rung in tried],
        chosen,
        found,
        float(errors_before.mean()),
        warnings,
        time.monotonic() - began,
        joints.columns(fits),
        errors_before=where_moving(errors_before, validation or training),
        noise=tuple(noise.tolist()),
    )
    if options.residual is not None:
        progress("learning networks", float(next(shares)))
        learning = Learning(joints.benches, cases, Path(options.residual), options.seed)
        result = with_networks(result, learning, fits, replays)
        result = dataclasses.replace(result, seconds=time.monotonic() - began)
    progress("done", 1.0)
    return result


def _prepared(
    logs: Sequence[MotorLog], options: FitOptions
) -> tuple[tuple[str, ...], list[MotorLog], list[MotorLog], list[MotorLog]]:
    """Return the joints of logs, the logs in even steps, and those to fit and those held out."""
    if not logs:
        raise ValueError("logs = []: must be at least one log. Give one.")
    if options.residual is not None:
        require_torch()
    require_volts(logs)
    # steps of hours are simulated for ever
    if problems := [problem for log in logs if (problem := time_problem(log))]:
        raise ValueError("\n".join(problems))
    names = tuple(logs[0].joints)
    even = [log.columns(names).evenly(dt) for log, dt in zip(logs, _even_steps(logs), strict=True)]
    training, validation = split(even, options.held_out)
    if not any(log.moves(j) for log in training for j in range(len(names))):
        raise ValueError(
            f"logs of {', '.join(names)}: no joint moves: must move for its motor to be seen. Log a motion."
        )
    return names, even, training, validation


def _even_steps(logs: Sequence[MotorLog]) -> list[float]:
    """Return the time step of each log [s], which it shares with those whose rate is the same up to their clocks."""
    steps = list[float]()
    for dt in sorted(log.dt for log in logs):
        if not steps or dt > _SAME_RATE * steps[-1]:
            steps.append(dt)
    return [max(step for step in steps if step <= log.dt) for log in logs]


def _kept_words(untold: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence on what logs do not tell and so stays as it was, by parameter."""
    joints: dict[str, list[str]] = {}
    for joint, names in untold.items():
        for name in names:
            joints.setdefault(name, []).append(joint)
    said = "; ".join(f"{name} of {', '.join(those)}" for name, those in joints.items())
    return [f"Kept as in the file, for the logs do not tell: {said}."] if said else []


def _at_limits(logs: Sequence[MotorLog], limits: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return a warning for each joint that rests against a position limit, which a fit does not know."""
    found = []
    for j, (joint, (low, high)) in enumerate(limits.items()):
        near = _NEAR * (high - low)
        shares = [np.mean((log.position[:, j] < low + near) | (log.position[:, j] > high - near)) for log in logs]
        if np.isfinite(near) and max(shares) > _OFTEN:
            found.append(
                f"{joint}: it is at a position limit in {max(shares):.0%} of a log, and a fit knows no limits. Log "
                "motions within them."
            )
    return found


# refinement: fits to what the joints do together

# a round has to make the error smaller by this share
_BETTER = 0.97


def refined(
    joints: Joints,
    replays_of: Callable[[Sequence[Fit]], list[Replay]],
    model: str,
    fits: list[Fit],
    cases: Sequence[Decoupled],
    rounds: int,
) -> tuple[list[Fit], list[Replay]]:
    """Return fits whose whole robot has the smallest error on the logs that they are fitted to, and its replays."""
    best, least = (fits, list[Replay]()), float("inf")
    for count in range(rounds + 1):
        replays = replays_of(fits)
        training = [one for one in replays if not one.held_out]
        error = mean_error(training)
        if not count or error < least:
            best = fits, replays
        if count == rounds or error > _BETTER * least:
            break
        least = error
        alone = joints.alone(fits, cases)
        rows = zip(cases, training, alone, strict=True)
        cases = [dataclasses.replace(case, defect=replayed.positions - positions) for case, replayed, positions in rows]
        fits = joints.fit(model, cases, fits, way="near")
    return best
