"""Benchmark efforts at the end of the step, against the same motors with explicit efforts.

./python.sh -m benchmarks.implicit [--quick]

The inertia is given once. Before timing, efforts are checked: with a small step both modes give nearly the same, and an
implicit effort is the law at the end of the step to which it leads. Ratios are medians over rounds, because load
affects all candidates of a round; one thread. Beside them is the ratio of the bytes that a step has to move: signals,
efforts, and what the mode remembers and is told.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from . import environment

# set before NumPy is imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

import numpy as np
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    DCMotorClampingConfig,
    FrictionConfig,
    ImplicitConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
)
from isaacsim.core.experimental.actuators.laws.implicit_effort import ImplicitEffort

from .timing import interleave, steps

NAMES, DT, INERTIA = [f"joint_{number}" for number in range(12)], 0.005, 0.1
KP, KD, MOST = 80.0, 2.0, 60.0
MOTORS: dict[str, list[Any]] = {
    "PD": [PDControlConfig(KP, KD)],
    "PD, limit": [PDControlConfig(KP, KD), MaxEffortClampingConfig(MOST)],
    "PID, DC motor, limit": [
        PIDControlConfig(KP, 10.0, KD),
        DCMotorClampingConfig(120.0, 20.0, 80.0),
        MaxEffortClampingConfig(MOST),
    ],
    "PD, limit, friction": [
        PDControlConfig(KP, KD),
        MaxEffortClampingConfig(MOST),
        FrictionConfig(coulomb=0.5, viscous=0.05, assumed_inertia=INERTIA),
    ],
}
# five signals and efforts; the mode reads its signals, and reads and writes its states
EXPLICIT_ARRAYS = 4 + 1
IMPLICIT_ARRAYS = EXPLICIT_ARRAYS + len(ImplicitEffort.ASKS) + 2 * len(ImplicitEffort.STATE)


class Candidate:
    """Motors of 12 joints.

    Args:
        motor: Their stages.
        robots: Number of robots.
    """

    def __init__(self, motor: list[Any], robots: int) -> None:
        self.actuated = ActuatedArrays(NAMES, {".*": motor}, robots)
        self.actuated.set_mass_matrix(np.eye(len(NAMES)) * INERTIA)
        numbers = np.random.default_rng(0)
        self.inputs = [numbers.normal(size=(robots, len(NAMES))).astype(np.float32) * 0.3 for _ in range(3)]

    def step(self, dt: float = DT) -> np.ndarray:
        """Return the efforts of a step."""
        q, qd, target = self.inputs
        return self.actuated.step(q, qd, target, dt)


def check(explicit: Candidate, implicit: Candidate) -> None:
    """Refuse motors whose two modes do not do what they say."""
    if not np.allclose(implicit.step(1e-6), explicit.step(1e-6), rtol=1e-3, atol=1e-2):
        raise SystemExit("With a step of 1 µs the modes differ.")
    explicit.actuated.reset()
    implicit.actuated.reset()


def check_end(implicit: Candidate) -> None:
    """Refuse a PD controller with a limit whose effort is not that of the end of the step."""
    q, qd, target = (one.astype(float) for one in implicit.inputs)
    effort = implicit.step().astype(float)
    after = qd + DT * effort / INERTIA
    wanted = np.clip(KP * (target - q - DT * after) - KD * after, -MOST, MOST)
    if not np.allclose(effort, wanted, rtol=1e-4, atol=1e-3):
        raise SystemExit("The effort is not that of the end of the step.")
    implicit.actuated.reset()


def main() -> None:
    """Print a table: microseconds per step, and the ratio to explicit efforts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick = parser.parse_args().quick
    sizes = (1, 1024, 16384)
    print("| motor | " + " | ".join(f"{robots} x 12 | ratio" for robots in sizes) + " |\n" + "|---" * 7 + "|")
    for name, motor in MOTORS.items():
        cells = []
        for robots in sizes:
            modes = {"explicit": Candidate(motor, robots), "implicit": Candidate([*motor, ImplicitConfig()], robots)}
            if "friction" not in name:
                # at the first step explicit friction does not know what else acts
                check(*modes.values())
            if name == "PD, limit":
                check_end(modes["implicit"])
            blocks = {mode: steps(one.step) for mode, one in modes.items()}
            seconds = interleave(blocks, 5 if quick else 21, 0.005)
            ratio = float(np.median(seconds["implicit"] / seconds["explicit"]))
            both = " → ".join(f"{np.median(seconds[mode]) * 1e6:.3g}" for mode in modes)
            cells.append(f"{both} µs | {ratio:.3g}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print(f"\nbytes moved, without friction: {IMPLICIT_ARRAYS / EXPLICIT_ARRAYS:.3g} times")


if __name__ == "__main__":
    main()
