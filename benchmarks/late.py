"""Benchmark encoders, delays and rates: the step with each of them, against the same motors without.

./python.sh -m benchmarks.late [--quick]

Before timing, each is set to change nothing and its efforts are checked to be those without, bit by bit. Ratios are
medians over rounds, because load affects all candidates of a round; one thread.
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
    CommandLagConfig,
    DelayConfig,
    EffortDelayConfig,
    EffortLagConfig,
    EncoderConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    RateConfig,
    TimedDelayConfig,
    WrapConfig,
)

from .timing import print_ratios

NAMES, DT, STEP = [f"joint_{number}" for number in range(12)], 0.005, 2 * np.pi / 4096
MOTOR = [PDControlConfig(80.0, 2.0), MaxEffortClampingConfig(60.0)]
# each stage, and one of its kind that changes nothing
STAGES: dict[str, tuple[Any, Any]] = {
    "encoder": (EncoderConfig(resolution=STEP, bias=0.01), EncoderConfig(velocity="register")),
    "encoder, 8 ms late": (EncoderConfig(resolution=STEP, latency=0.008), EncoderConfig(velocity="register")),
    "encoder with noise": (EncoderConfig(resolution=STEP, noise=0.001), EncoderConfig(velocity="register")),
    "delay of 2 steps": (DelayConfig(2), DelayConfig(0)),
    "delay of 7.5 ms": (TimedDelayConfig(seconds=0.0075), TimedDelayConfig(max_steps=2)),
    "redrawn delay": (TimedDelayConfig(steps=1, random_steps=3), TimedDelayConfig(max_steps=2)),
    "effort delay": (EffortDelayConfig(steps=1.5), EffortDelayConfig(max_steps=2)),
    "lag of commands": (CommandLagConfig(0.02), CommandLagConfig()),
    "shorter way round": (WrapConfig(), WrapConfig(1e6)),
    "lag of the effort": (EffortLagConfig(0.01), EffortLagConfig()),
    "every 4th step": (RateConfig(decimation=4), RateConfig(decimation=1)),
}


class Candidate:
    """Motors of 12 joints.

    Args:
        stages: What they have besides controller and limit.
        robots: Number of robots.
    """

    def __init__(self, stages: list[Any], robots: int) -> None:
        self.actuated = ActuatedArrays(NAMES, {".*": [*MOTOR, *stages]}, robots)
        numbers = np.random.default_rng(0)
        self.inputs = [numbers.normal(size=(robots, len(NAMES))).astype(np.float32) for _ in range(3)]

    def step(self) -> np.ndarray:
        """Return the efforts of a step."""
        q, qd, target = self.inputs
        return self.actuated.step(q, qd, target, DT)


def candidates(robots: int) -> dict[str, Any]:
    """Return the step of each candidate, none first; each neutral stage changes no effort."""
    plain = Candidate([], robots)
    for name, (_, neutral) in STAGES.items():
        if not np.array_equal(Candidate([neutral], robots).step(), plain.step()):
            raise SystemExit(f"{name}: its neutral stage changes efforts.")
    return {"none": plain.step} | {name: Candidate([stage], robots).step for name, (stage, _) in STAGES.items()}


if __name__ == "__main__":
    print_ratios(__doc__, "stage", candidates)
