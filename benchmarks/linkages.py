"""Benchmark linkages: the step of twelve joints with four of them, against the same motors without.

./python.sh -m benchmarks.linkages [--quick]

Before timing, the efforts of each are checked to be those of the formula in float64, and each robot's to be those it
has alone, bit by bit. Ratios are medians over rounds, because load affects all candidates of a round; one thread.
"""

from __future__ import annotations

import os
from typing import Any

from . import environment

# set before NumPy is imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

import numpy as np
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    LinkageConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    TransmissionConfig,
)

from .timing import print_ratios

NAMES, DT, KP, KD, MOST = [f"joint_{number}" for number in range(12)], 0.005, 80.0, 2.0, 60.0
MOTOR = [PDControlConfig(KP, KD), MaxEffortClampingConfig(MOST)]
Shafts = dict[str, LinkageConfig]


def tendons(reach: int) -> Shafts:
    """Four motors, each of which pulls some joints in a row."""
    return {
        name: LinkageConfig.tendon(dict.fromkeys(NAMES[3 * at : 3 * at + reach], 1.0))
        for at, name in enumerate(NAMES[::3])
    }


def differentials() -> Shafts:
    """Four wrists with two motors each."""
    pairs = [LinkageConfig.differential(NAMES[3 * at], NAMES[3 * at + 1]) for at in range(4)]
    return {shaft.joints[row]: shaft for pair in pairs for row, shaft in enumerate(pair)}


def bars() -> Shafts:
    """Four knees behind four-bar linkages."""
    return {name: LinkageConfig.four_bar(name, 0.05, 0.2, 0.06, 0.2, 0.7, 2.5) for name in NAMES[::3]}


def ankles() -> Shafts:
    """Four ankles with two motors each."""
    sizes: dict[str, Any] = {"crank": 0.05, "rod": 0.3, "anchor": (-0.05, 0.04, -0.02), "motor": (0.0, 0.04, 0.28)}
    ends: dict[str, Any] = {"lower": (-0.6, -0.4), "upper": (0.6, 0.4)}
    pairs = [LinkageConfig.parallel_ankle(*NAMES[3 * at : 3 * at + 2], **sizes, **ends) for at in range(4)]
    return {shaft.joints[row]: shaft for pair in pairs for row, shaft in enumerate(pair)}


LINKAGES = {
    "tendons of two joints": tendons(2),
    "tendons of three joints": tendons(3),
    "differentials": differentials(),
    "four-bar linkages": bars(),
    "parallel ankles": ankles(),
}


class Candidate:
    """Motors of 12 joints.

    Args:
        shafts: Linkages, by joint.
        robots: Number of robots.
        stages: What all motors have besides.
    """

    def __init__(self, shafts: Shafts, robots: int, *stages: Any) -> None:
        self.shafts = shafts
        moved = {joint for shaft in shafts.values() for joint in shaft.joints}
        self.motors: dict[str, Any] = {name: [*MOTOR, *stages] for name in NAMES if name not in moved}
        self.motors |= {name: [*MOTOR, *stages, shaft] for name, shaft in shafts.items()}
        self.actuated = ActuatedArrays(NAMES, self.motors, robots)
        numbers = np.random.default_rng(0)
        self.inputs = [numbers.normal(size=(robots, len(NAMES))).astype(np.float32) for _ in range(3)]

    def step(self) -> np.ndarray:
        """Return the efforts of a step."""
        q, qd, target = self.inputs
        return self.actuated.step(q, qd, target, DT)

    def check(self, name: str) -> None:
        """Compare the efforts of linear linkages with the formula, and those of the first and last robot alone."""
        efforts = np.array(self.step())
        q, qd, target = self.inputs
        for robot in (0, len(q) - 1):
            alone = ActuatedArrays(NAMES, self.motors, 1)
            one = alone.step(q[[robot]], qd[[robot]], target[[robot]], DT)
            if not np.array_equal(one[0], efforts[robot]):
                raise SystemExit(f"{name}: efforts of robot {robot} depend on the others.")
        if any(shaft.is_table for shaft in self.shafts.values()):
            return
        expected = np.zeros(efforts.shape)
        for at, joint in enumerate(NAMES):
            row = np.eye(len(NAMES))[at]
            if joint in self.shafts:
                row = np.zeros(len(NAMES))
                row[[NAMES.index(linked) for linked in self.shafts[joint].joints]] = self.shafts[joint].coefficients
            elif any(joint in shaft.joints for shaft in self.shafts.values()):
                continue
            effort = KP * ((target - q).astype(float) @ row) - KD * (qd.astype(float) @ row)
            expected += np.clip(effort, -MOST, MOST)[:, None] * row
        if not np.allclose(efforts, expected, rtol=1e-5, atol=1e-3):
            raise SystemExit(f"{name}: efforts differ from the formula.")


def candidates(robots: int) -> dict[str, Any]:
    """Return the step of each candidate, none first; each linkage is checked."""
    found = {"none": Candidate({}, robots), "gears": Candidate({}, robots, TransmissionConfig(ratio=2.0))}
    for name, shafts in LINKAGES.items():
        found[name] = Candidate(shafts, robots)
        found[name].check(name)
    return {name: candidate.step for name, candidate in found.items()}


if __name__ == "__main__":
    print_ratios(__doc__, "linkages", candidates)
