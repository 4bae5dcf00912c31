"""Benchmark steps after reads of parameters, against untouched actuators and actuators with values per robot.

./python.sh -m benchmarks.parameters [--quick]

Every candidate has separate actuators, whose efforts are first checked to be bit-identical. Ratios are medians over
rounds, because load affects all candidates of a round; one thread.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

from . import environment

# set before NumPy is imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

import numpy as np
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    DCMotorClampingConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
)

from .timing import interleave, steps

LEGS, DT = 4, 0.005
NAMES = [f"{joint}_{leg}" for joint in ("haa", "hfe", "kfe") for leg in range(LEGS)]
MOTOR = [DCMotorClampingConfig(120.0, 7.5, 80.0), MaxEffortClampingConfig(60.0)]
PIPELINES = {
    "PD+dc+max": [PDControlConfig(80.0, 2.0), *MOTOR],
    "PID+dc+max": [PIDControlConfig(80.0, 5.0, 2.0), *MOTOR],
}
# patterns of the actuators; the joints of a leg have one stride, those of a pair of legs have several
GROUPS = {
    "one of 12 joints": [".*"],
    "3 of 4 neighbors": ["haa_.*", "hfe_.*", "kfe_.*"],
    "4 of 3 joints": [".*_0", ".*_1", ".*_2", ".*_3"],
    "2 of 6 joints": [".*_[03]", ".*_[12]"],
}


class Candidate:
    """Actuators of 12 joints.

    Args:
        pipeline: Of all joints.
        patterns: Joints of each actuator.
        robots: Number of robots.
    """

    def __init__(self, pipeline: str, patterns: list[str], robots: int) -> None:
        self.actuated = ActuatedArrays(NAMES, dict.fromkeys(patterns, PIPELINES[pipeline]), robots)
        numbers = np.random.default_rng(0)
        self.inputs = [numbers.normal(size=(robots, len(NAMES))).astype(np.float32) for _ in range(3)]

    def parameters(self) -> Iterator[tuple[Any, str]]:
        """Return every component with the names of its parameters."""
        for actuator in self.actuated.actuators:
            for component in (actuator.controller, *actuator.clamping):
                yield from ((component, name) for name in component.PARAMETERS)

    def read(self, most: int | None = None) -> Candidate:
        """Read up to `most` parameters, all by default, as users do."""
        for component, name in list(self.parameters())[:most]:
            getattr(component, name)
        return self

    def step(self) -> np.ndarray:
        """Step once."""
        q, qd, target = self.inputs
        return self.actuated.step(q, qd, target, DT)


def candidates(pipeline: str, group: str, robots: int) -> dict[str, Candidate]:
    """Return the candidates: the first is the reference; in the second every joint has its own actuator and values."""
    alike = pipeline, GROUPS[group], robots
    return {
        "untouched": Candidate(*alike),
        "given per robot": Candidate(pipeline, NAMES, robots).read(),
        "a gain read": Candidate(*alike).read(1),
        "all read": Candidate(*alike).read(),
    }


def require_equal(found: dict[str, Candidate]) -> None:
    """Check that all candidates compute the same.

    Raises:
        AssertionError: By name.
    """
    for step in range(5):
        values = np.random.default_rng(step).normal(size=(3, *found["untouched"].inputs[0].shape)).astype(np.float32)
        for one in found.values():
            for array, value in zip(one.inputs, values, strict=True):
                array[:] = value
        efforts = {name: one.step().copy() for name, one in found.items()}
        for name, got in efforts.items():
            np.testing.assert_array_equal(got, efforts["untouched"], err_msg=name)


def rows(robots: list[int], rounds: int, seconds: float) -> Iterator[str]:
    """Return the lines of a table: the median time of a step, and the median of the ratios to two candidates."""
    yield "| pipeline | actuators | robots | parameters | µs per step | to untouched | to given per robot |"
    yield "|---|---|---|---|---|---|---|"
    for pipeline in PIPELINES:
        for group in GROUPS:
            for count in robots:
                found = candidates(pipeline, group, count)
                require_equal(found)
                times = interleave({name: steps(one.step) for name, one in found.items()}, rounds, seconds)
                for name, values in times.items():
                    ratios = [np.median(values / times[base]) for base in ("untouched", "given per robot")]
                    yield (
                        f"| {pipeline} | {group} | {count} | {name} | {1e6 * np.median(values):.3f} "
                        f"| {ratios[0]:.2f} | {ratios[1]:.2f} |"
                    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer robots and rounds")
    options = parser.parse_args()
    for line in rows([1, 1024] if options.quick else [1, 1024, 16384], 20 if options.quick else 60, 2e-3):
        print(line, flush=True)


if __name__ == "__main__":
    main()
