"""Benchmark `ActuatedArrays` in a loop that creates new arrays at each step against the same law written by hand.

./python.sh -m benchmarks.new_arrays [--quick]

Both sides create the arrays with `q = q + dt * qd`; the hand-written side is six lines of NumPy or Torch, a PD with a
clip. Efforts are compared first. Ratios are medians over rounds, because load affects both of a round; one thread.
"""

# the peers are separate extras
# pyright: reportMissingImports=false

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import environment

# set before NumPy is imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

import numpy as np
from isaacsim.core.experimental.actuators import ActuatedArrays, MaxEffortClampingConfig, PDControlConfig

from .timing import interleave, steps

NAMES = [f"joint_{number}" for number in range(12)]
KP, KD, MOST, DT = 80.0, 2.0, 60.0, 0.005
LIBRARIES = ("numpy", "torch", "jax")


class Row(NamedTuple):
    """Times of a step in one case, without the creation of its arrays."""

    name: str
    ours: float
    """Median [µs]."""
    theirs: float
    """Median [µs]."""
    ratio: float
    """Median over rounds."""
    worst: float
    """Largest of all rounds."""
    whole: float
    """Median ratio including the creation of the arrays, which is the same on both sides."""


def library(name: str) -> tuple[Callable[[np.ndarray], Any], Callable[..., Any]] | None:
    """Return the functions that convert a NumPy array and clip; None if the library is not installed."""
    if name == "numpy":
        return np.array, np.clip
    try:
        if name == "torch":
            import torch

            torch.set_num_threads(1)
            return torch.tensor, torch.clip
        import jax.numpy

        return jax.numpy.asarray, jax.numpy.clip
    except ModuleNotFoundError:
        return None


class Loop:
    """Twelve moving joints, in new arrays at each step."""

    def __init__(self, make: Callable[[np.ndarray], Any], robots: int) -> None:
        numbers = np.random.default_rng(0).normal(size=(3, robots, len(NAMES))).astype(np.float32)
        self.q, self.qd, self.target = map(make, numbers)

    def move(self) -> None:
        """Create the arrays of a step."""
        self.q = self.q + DT * self.qd
        self.qd = -self.qd


class Ours(Loop):
    """Efforts from `ActuatedArrays`."""

    def __init__(self, make: Callable[[np.ndarray], Any], robots: int) -> None:
        super().__init__(make, robots)
        self.actuated = ActuatedArrays(NAMES, {".*": [PDControlConfig(KP, KD), MaxEffortClampingConfig(MOST)]}, robots)

    def step(self) -> Any:
        """Advance the positions and compute the efforts."""
        self.move()
        return self.actuated.step(self.q, self.qd, self.target, DT)


class Theirs(Loop):
    """Efforts from hand-written lines."""

    def __init__(self, make: Callable[[np.ndarray], Any], robots: int, clip: Callable[..., Any]) -> None:
        super().__init__(make, robots)
        self.clip = clip

    def step(self) -> Any:
        """Advance the positions and compute the efforts."""
        self.move()
        error = self.target - self.q
        stiffness = KP * error
        damping = KD * self.qd
        effort = stiffness - damping
        return self.clip(effort, -MOST, MOST)


def require_equal(ours: Ours, theirs: Theirs) -> None:
    """Check that both loops compute the same.

    Raises:
        AssertionError: With the numbers.
    """
    for _ in range(5):
        np.testing.assert_allclose(np.asarray(ours.step()), np.asarray(theirs.step()), rtol=1e-5, atol=1e-4)


def rows(libraries: list[str], robots: list[int], rounds: int, seconds: float) -> Iterator[Row]:
    """Return a row of results per library and number of robots."""
    for name in libraries:
        if (found := library(name)) is None:
            continue
        make, clip = found
        for count in robots:
            ours, theirs, moving = Ours(make, count), Theirs(make, count, clip), Loop(make, count)
            require_equal(ours, theirs)
            blocks = {"ours": steps(ours.step), "theirs": steps(theirs.step), "moving": steps(moving.move)}
            times = interleave(blocks, rounds, seconds)
            alone = {each: 1e6 * (times[each] - np.median(times["moving"])) for each in ("ours", "theirs")}
            ratios = alone["ours"] / alone["theirs"]
            yield Row(
                f"{name}, 12 x {count}",
                float(np.median(alone["ours"])),
                float(np.median(alone["theirs"])),
                float(np.median(ratios)),
                float(ratios.max()),
                float(np.median(times["ours"] / times["theirs"])),
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer robots and rounds")
    options = parser.parse_args()
    print("| | ours µs | by hand µs | ratio | worst | with making arrays |\n|---|---|---|---|---|---|")
    for one in rows(list(LIBRARIES), [1, 1024] if options.quick else [1, 64, 1024, 4096], 30, 2e-3):
        print(
            f"| {one.name} | {one.ours:.2f} | {one.theirs:.2f} | {one.ratio:.2f} | {one.worst:.2f} | {one.whole:.2f} |"
        )


if __name__ == "__main__":
    main()
