"""Benchmark the cost of recording against the same actuators without recording.

./python.sh -m benchmarks.recorder [--quick]

Every candidate has separate actuators, which are compared first: bit-identical efforts, and each recording must match
the values read and written. Ratios are paired by round, because load affects all candidates of a round; one thread.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from . import environment

# set before NumPy is imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

import numpy as np
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    DelayConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    Recording,
)

from .timing import interleave, steps

JOINTS, DT, CAPACITY = 12, 0.005, 1000
STATE = ("positions", "velocities", "position_targets", "applied_efforts")
PIPELINES = {
    "PD+max": [PDControlConfig(80.0, 2.0), MaxEffortClampingConfig(30.0)],
    "delay+PD+max": [PDControlConfig(80.0, 2.0), MaxEffortClampingConfig(30.0), DelayConfig(delay_steps=3)],
}


class Candidate:
    """Actuators with a recording setting.

    Args:
        pipeline: Of all joints.
        robots: Number of robots.
        observed: True if efforts before the clamps are stored.
        recorder: Arguments of the recorder; None means no recording.
    """

    def __init__(
        self, pipeline: str, robots: int, observed: bool = False, recorder: dict[str, Any] | None = None
    ) -> None:
        names = [f"joint_{joint}" for joint in range(JOINTS)]
        self.actuated = ActuatedArrays(names, {".*": PIPELINES[pipeline]}, robots)
        numbers = np.random.default_rng(0)
        self.inputs = [numbers.normal(size=(robots, JOINTS)).astype(np.float32) for _ in range(3)]
        self.stack = ExitStack()
        self.logs: list[Recording] = []
        if observed:
            self.actuated.observe_efforts()
        self.recorder = recorder

    def record(self) -> None:
        """Start."""
        if self.recorder is not None:
            self.logs.append(self.stack.enter_context(self.actuated.record(**self.recorder)))

    def step(self) -> np.ndarray:
        """Step once."""
        q, qd, target = self.inputs
        return self.actuated.step(q, qd, target, DT)


def candidates(pipeline: str, robots: int) -> dict[str, Candidate]:
    """Return the candidates; the first one is the reference."""
    return {
        "off": Candidate(pipeline, robots),
        "off, repeated": Candidate(pipeline, robots),
        "state, targets, efforts": Candidate(pipeline, robots, recorder={"signals": STATE, "capacity": CAPACITY}),
        "everything": Candidate(pipeline, robots, recorder={"capacity": CAPACITY}),
        "efforts observed": Candidate(pipeline, robots, observed=True),
        "efforts observed, everything": Candidate(pipeline, robots, observed=True, recorder={"capacity": CAPACITY}),
    }


def require_equal(found: dict[str, Candidate]) -> None:
    """Check that all candidates compute the same and that their recordings are correct.

    Raises:
        AssertionError: By name.
    """
    for one in found.values():
        one.record()
    for step in range(20):
        numbers = np.random.default_rng(step)
        values = [numbers.normal(size=one.shape).astype(np.float32) for one in found["off"].inputs]
        efforts = {}
        for name, one in found.items():
            for array, value in zip(one.inputs, values, strict=True):
                array[:] = value
            efforts[name] = one.step().copy()
        for name, one in found.items():
            np.testing.assert_array_equal(efforts[name], efforts["off"], err_msg=name)
            for log in one.logs:
                np.testing.assert_array_equal(log.applied_efforts[-1], efforts["off"], err_msg=name)
                np.testing.assert_array_equal(log.positions[-1], values[0], err_msg=name)


def rows(robots: list[int], rounds: int, seconds: float) -> Iterator[str]:
    """Return the lines of a table: the median time of a step, and the median of the ratios to the first candidate."""
    yield "| pipeline | robots | recorded | µs per step | ratio | 10 … 90 % |"
    yield "|---|---|---|---|---|---|"
    for pipeline in PIPELINES:
        for count in robots:
            found = candidates(pipeline, count)
            require_equal(found)
            times = interleave({name: steps(one.step) for name, one in found.items()}, rounds, seconds)
            for name, values in times.items():
                base = times["efforts observed" if name.startswith("efforts observed") else "off"]
                low, middle, high = np.percentile(values / base, [10, 50, 90])
                yield (
                    f"| {pipeline} | {count} | {name} | {1e6 * np.median(values):.3f} | {middle:.2f} "
                    f"| {low:.2f} … {high:.2f} |"
                )
            for one in found.values():
                one.stack.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one robot, fewer rounds")
    options = parser.parse_args()
    for line in rows([1] if options.quick else [1, 64, 4096], 40 if options.quick else 200, 2e-3):
        print(line, flush=True)


if __name__ == "__main__":
    main()
