"""Benchmark `tune`: what gains do in simulation, beside other plants, and beside a search over gains.

./python.sh -m benchmarks.tuning [--quick] [--engine physx] [--grid]

For each robot that is shipped, base held: the largest overshoot, the longest settling time by what was asked, of the
joints that can have it, and chatter, from 20 random poses; and how many of 100 other poses are unstable with all
inertias 20 % larger or smaller and efforts one step later. With `--grid`, the best gains, without a wish, beside all
pairs of gains around them that are as safe: they keep the margins, stay stable with such inertias one step later, and
do not saturate with the step either. Shown are the integral of time times error of a step of each joint in simulation,
and how much less it is with the best of the pairs.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import environment

# set before NumPy is imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

import numpy as np
from isaacsim.core.experimental.actuators import Tuned, tune
from isaacsim.core.experimental.actuators.tools.stability.frequency import closed_margins
from isaacsim.core.experimental.actuators.tools.stability.loop import Loop
from isaacsim.core.experimental.actuators.tools.tuning.plant import default_step, opened
from isaacsim.core.experimental.actuators.tools.tuning.steps import OVERSHOOT
from isaacsim.core.experimental.actuators.tools.tuning.tune import GAIN_MARGIN, PHASE_MARGIN
from isaacsim.core.experimental.actuators.tools.tuning.tuned import TunedJoint

ROBOTS = Path(__file__).resolve().parents[1] / "data" / "robots"
NAMES = ("pendulum", "arm_2dof", "so101", "franka_panda", "i2rt_yam", "anymal_c", "unitree_go1", "unitree_g1")
SEARCHED = ("arm_2dof", "so101", "franka_panda")
# asked [s], and poses and their seed that `tune` has not seen
SETTLE, POSES, SEED = 0.6, 20, 7
OTHERS, HEAVIER, SECONDS = 100, (0.8, 1.0, 1.2), 1.5
FACTORS = np.geomspace(0.5, 2.0, 7)


def shown(tuned: Tuned) -> dict[str, float]:
    """Return what simulated steps show of gains."""
    asked = [row for row in tuned.joints if row.verdict == "as asked"]
    return {
        "joints": len(tuned.joints),
        "asked": len(asked),
        "overshoot": max(row.measured["overshoot"] for row in tuned.joints),
        "settling": max((row.measured["settling"] / SETTLE for row in asked), default=np.nan),
        "chatter": max(row.measured["chatter"] for row in tuned.joints),
    }


def loops_of(robot: Path, motors: Any, count: int, seed: int) -> tuple[list[Loop], float]:
    """Return the closed loops of a robot in random poses, and the physics step."""
    with opened(robot, motors, None, count, seed) as (simulation, _, actuators):
        return actuators._loops().loops(np.arange(count)), simulation.dt


def unstable(robot: Path, tuned: Tuned) -> int:
    """Return the number of other poses in which gains are unstable for some inertias, one step later."""
    loops, dt = loops_of(robot, tuned.motors, OTHERS, SEED)
    return sum(not is_stable_later(loop, dt) for loop in loops)


def is_stable_later(loop: Loop, dt: float) -> bool:
    """Return True if a loop is stable one step later, whatever the inertias."""
    # efforts of the end of the step are not late
    late = loop.timing.later(np.where(loop.implicit.mask, 0.0, dt))
    rest = loop.gains, loop.weight, late, loop.implicit, loop.viscous, loop.springs
    return all(Loop(loop.inverse / heavier, *rest).is_stable(dt) for heavier in HEAVIER)


def itae(robot: Path, motors: Any, joint: str, step: float) -> float:
    """Return the integral of time times error of a step of a joint, against where it comes to rest, over poses."""
    with opened(robot, motors, None, POSES, SEED) as (simulation, robots, _):
        column = list(robots.dof_names).index(joint)
        targets = robots.get_dof_position_targets().numpy().copy()
        count = round(SECONDS / simulation.dt)
        simulation.step(count)
        middle = robots.get_dof_limits()[0].numpy()[:, column] + robots.get_dof_limits()[1].numpy()[:, column]
        targets[:, column] += np.where(targets[:, column] < np.nan_to_num(middle / 2), step, -step)
        robots.set_dof_position_targets(targets)
        positions = []
        for _ in range(count):
            simulation.step()
            positions.append(robots.get_dof_positions().numpy()[:, column].copy())
    errors = np.abs(np.array(positions) - positions[-1]) / step
    return float((errors * np.arange(1, count + 1)[:, None]).sum(axis=0).mean()) * simulation.dt**2


def pairs_of(robot: Path, tuned: Tuned, row: TunedJoint) -> list[dict[str, Any]]:
    """Return motors with gains around those of a joint, of all pairs of factors that are as safe as `tune`'s."""
    loops, dt = loops_of(robot, tuned.motors, POSES, SEED)
    at, found = tuned.joints.index(row), []
    # in these poses, those of `tune` may have a little less
    margins = np.minimum(_margins(loops, dt), [[GAIN_MARGIN], [PHASE_MARGIN]])
    for stiffer in FACTORS:
        if stiffer * row.kp * default_step(bool(row.turns)) > row.effort_limit - row.gravity:
            continue
        for damped in FACTORS:
            gains = loops[0].gains.copy()
            gains[:2, at] *= stiffer, damped
            changed = [loop.changed(gains) for loop in loops]
            if not all(is_stable_later(loop, dt) for loop in changed):
                continue
            if (_margins(changed, dt) >= margins).all():
                found.append(_changed(tuned, row.joint, stiffer, damped))
    return found


def _margins(loops: Sequence[Loop], dt: float) -> np.ndarray:
    """Return the smallest gain and phase margin of each joint over poses, `(2, J)`."""
    return np.array([closed_margins(loop, dt) for loop in loops]).min(axis=0)


def _changed(tuned: Tuned, joint: str, stiffer: float, damped: float) -> dict[str, Any]:
    """Return the motors of all joints, one joint with other gains."""
    motors = {}
    for pattern, motor in tuned.motors.items():
        names = pattern.split("|")
        motors |= dict.fromkeys(names, motor)
        if joint in names:
            law: Any = motor.controller
            law = dataclasses.replace(law, kp=law.kp * stiffer, kd=law.kd * damped)
            motors[joint] = dataclasses.replace(motor, controller=law)
    return motors


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the two smallest robots")
    parser.add_argument("--engine", choices=("mujoco", "physx"), default="mujoco", help="simulator of the steps")
    parser.add_argument("--grid", action="store_true", help="beside a search over gains, which takes minutes")
    asked = parser.parse_args(arguments)
    if asked.grid:
        print(f"{'robot':14}{'joint':16}{'pairs':>8}{'tune [s²]':>12}{'best of all':>14}")
        for name in SEARCHED[: 1 if asked.quick else None]:
            path = ROBOTS / f"{name}.usda"
            tuned = tune(path, verify=False)
            for row in tuned.joints:
                each = [
                    itae(path, motors, row.joint, default_step(bool(row.turns)))
                    for motors in (tuned.motors, *pairs_of(path, tuned, row))
                ]
                mine, least = each[0], min(each)
                print(
                    f"{name:14}{row.joint:16}{len(each) - 1:8}{mine:12.4g}{100 * (1 - least / mine):12.1f} %",
                    flush=True,
                )
        return 0
    heads = ("joints", "as asked", "overshoot", "settling", "chatter", "unstable", "CPU [s]")
    print(f"{'robot':14}" + "".join(f"{head:>11}" for head in heads))
    for name in NAMES[: 2 if asked.quick else None]:
        path, began = ROBOTS / f"{name}.usda", time.process_time()
        try:
            tuned = tune(path, settle=SETTLE, engine=asked.engine)
        except ValueError as error:
            print(f"{name:14} {error}")
            continue
        seconds, seen = time.process_time() - began, shown(tuned)
        verdict = f"{seen['overshoot']:11.1%}{seen['settling']:11.2f}{seen['chatter']:11.1g}"
        print(
            f"{name:14}{seen['joints']:11}{seen['asked']:11}{verdict}{unstable(path, tuned):11}{seconds:11.1f}",
            flush=True,
        )
    print(f"Bars: overshoot {OVERSHOOT:.0%}, settling 1.3 of what was asked, no chatter, none unstable.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
