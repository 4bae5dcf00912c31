"""Whole sequences of steps of encoders, delays and rates in float64, and the two engines side by side."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays
from isaacsim.core.experimental.actuators.base import native

ENGINES = ("native", "warp")
Inputs = Sequence[np.ndarray]
"""Position, velocity, position target and feedforward of a step, each `(robots, joints)`."""


def inputs(rng: np.random.Generator, steps: int, robots: int, joints: int) -> list[Inputs]:
    return [list(rng.normal(size=(4, robots, joints)).astype(np.float32)) for _ in range(steps)]


def arrays_on(engine: str, joints: Sequence[str], motors: Mapping, robots: int = 1) -> ActuatedArrays:
    with pytest.MonkeyPatch.context() as patch:
        if engine == "warp":
            patch.setattr(native, "core", None)
        elif native.core is None:
            pytest.skip("the native core was not built")
        return ActuatedArrays(list(joints), motors, robots, device="cpu")


def stepped(
    arrays: ActuatedArrays, given: Sequence[Inputs], dt: float, before: Callable[[int], None] = lambda step: None
) -> np.ndarray:
    """Efforts of some steps `(steps, robots, joints)`; `before` runs before each step."""
    found = []
    for step, (q, qd, target, feedforward) in enumerate(given):
        before(step)
        found.append(np.array(arrays.step(q, qd, target, dt, feedforward=feedforward)))
    return np.array(found)


def on_both(
    joints: Sequence[str],
    motors: Mapping,
    given: Sequence[Inputs],
    dt: float,
    resets: Mapping[int, Sequence[int]] | None = None,
) -> np.ndarray:
    found = []
    for engine in ENGINES:
        arrays = arrays_on(engine, joints, motors, given[0][0].shape[0])

        def before(step: int, arrays: ActuatedArrays = arrays) -> None:
            if resets and step in resets:
                arrays.reset(indices=list(resets[step]))

        found.append(stepped(arrays, given, dt, before))
    np.testing.assert_array_equal(found[0], found[1])
    return found[0]


class Late:
    """A signal that acts late: linear between steps; a reset fills the past with the first value after it."""

    def __init__(self) -> None:
        self._past: list[np.ndarray] = []

    def __call__(self, value: np.ndarray, lag: float) -> np.ndarray:
        self._past.append(np.asarray(value, float))
        whole = int(lag)
        newer, older = (self._past[max(0, len(self._past) - 1 - back)] for back in (whole, whole + 1))
        return newer + (lag - whole) * (older - newer)
