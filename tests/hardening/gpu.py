"""What only a GPU shows: `./python.sh tests/hardening/gpu.py` on a machine that has one, with the native core.

Every pipeline steps on the GPU and on the CPU with the same inputs: efforts, faults and states are compared, through
resets of some robots, a parameter that was read and written, bad inputs, and a CUDA graph. Then the time of a step in a
graph. Prints a table and one line for each thing that went wrong; the exit code is 1 then. Needs NumPy and Warp only.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    ClampingMaxEffort,
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)

GPU, ROBOTS, DT = "cuda:0", 257, 0.005
JOINTS = [f"{joint}_{leg}" for leg in range(2) for joint in ("haa", "hfe", "kfe")]
MOTOR = [DCMotorClampingConfig(40.0, 6.0, 30.0), MaxEffortClampingConfig(20.0)]
TABLE = PositionBasedClampingConfig([-1.0, 0.0, 1.0], [9.0, 25.0, 5.0])
PIPELINES: dict[str, dict[str, list[Any]]] = {
    "PD": {".*": [PDControlConfig(60.0, 2.0)]},
    "PD, motor": {".*": [PDControlConfig(60.0, 2.0), *MOTOR]},
    "PID, table, motor": {".*": [PIDControlConfig(60.0, 20.0, 2.0, 0.3), TABLE, *MOTOR]},
    "delays": {
        "haa_.*": [PDControlConfig(60.0, 2.0), DelayConfig(3)],
        "hfe_.*": [PIDControlConfig(60.0, 20.0, 2.0, 0.3), DelayConfig(1), *MOTOR],
        "kfe_.*": [PDControlConfig(60.0, 2.0), *MOTOR],
    },
    "some joints": {"kfe_.*": [PIDControlConfig(60.0, 20.0, 2.0, 0.3), *MOTOR, DelayConfig(2)]},
}


class Pair:
    """The same actuators on the CPU and on the GPU.

    Args:
        pipeline: Name of the pipeline.
        robots: How many robots.
    """

    def __init__(self, pipeline: str, robots: int = ROBOTS) -> None:
        self.cpu, self.gpu = (ActuatedArrays(JOINTS, PIPELINES[pipeline], robots, device=one) for one in ("cpu", GPU))
        self.inputs = [np.zeros((robots, len(JOINTS)), np.float32) for _ in range(4)]
        self.there = [wp.zeros((robots, len(JOINTS)), dtype=wp.float32, device=GPU) for _ in range(4)]
        self.numbers = np.random.default_rng(5)

    def give(self, bad: bool = False) -> None:
        """Draw inputs for both, with some that are not finite on request."""
        for array, there in zip(self.inputs, self.there, strict=True):
            array[:] = self.numbers.normal(size=array.shape)
            if bad:
                array[self.numbers.random(array.shape) < 0.02] = np.nan
            there.assign(array)

    def step(self) -> float:
        """Step both and return the largest difference of the efforts [N·m]."""
        q, qd, target, ff = self.inputs
        here = self.cpu.step(q, qd, target, DT, feedforward=ff)
        q, qd, target, ff = self.there
        return float(np.abs(here - self.gpu.step(q, qd, target, DT, feedforward=ff).numpy()).max())

    def require_alike(self, steps: int = 12, bad: bool = False) -> float:
        """Step both and return the largest difference.

        Raises:
            AssertionError: Efforts, faults or states differ.
        """
        worst = 0.0
        for _ in range(steps):
            self.give(bad)
            worst = max(worst, self.step())
        assert worst < 1e-3, f"efforts differ by {worst}"
        assert [str(one) for one in self.cpu.faults] == [str(one) for one in self.gpu.faults], "faults differ"
        here, there = self.cpu.save_state(), self.gpu.save_state()
        for name in here:
            if here[name].dtype.kind == "f":
                np.testing.assert_allclose(here[name], there[name], atol=1e-4, err_msg=name)
        return worst


def parameters(made: ActuatedArrays) -> Iterator[tuple[Any, str]]:
    """Every component with the names of its parameters."""
    for actuator in made.actuators:
        for component in (actuator.controller, *actuator.clamping):
            yield from ((component, name) for name in component.PARAMETERS)


def steps(pair: Pair) -> float:
    """One step after the other."""
    return pair.require_alike(40)


def bad_inputs(pair: Pair) -> float:
    """Faults in a fiftieth of the numbers, then none."""
    return max(pair.require_alike(8, bad=True), pair.require_alike(8))


def resets(pair: Pair) -> float:
    """Some robots by their numbers, some by a mask that stays on the GPU, then all."""
    worst = pair.require_alike()
    mask = np.arange(ROBOTS) % 3 == 0
    for chosen, there in (([0, 5, 256], [0, 5, 256]), (mask, wp.array(mask, dtype=wp.bool, device=GPU)), (None, None)):
        pair.cpu.reset(indices=chosen)
        pair.gpu.reset(indices=there)
        worst = max(worst, pair.require_alike())
    return worst


def written_parameters(pair: Pair) -> float:
    """Every parameter read, and scaled robot by robot."""
    worst = pair.require_alike()
    for (here, name), (there, _) in zip(parameters(pair.cpu), parameters(pair.gpu), strict=True):
        values = getattr(here, name).numpy() * pair.numbers.uniform(0.5, 1.5, len(getattr(here, name)))
        for one in (here, there):
            getattr(one, name).assign(values.astype(np.float32))
    return max(worst, pair.require_alike())


def limit_at_fault(pair: Pair) -> float:
    """A limit that is NaN: effort 0, and the law remembers nothing of the step."""
    worst = pair.require_alike()
    for made in (pair.cpu, pair.gpu):
        for clamp in (clamp for actuator in made.actuators for clamp in actuator.clamping):
            if isinstance(clamp, ClampingMaxEffort):
                values = clamp.max_effort.numpy().copy()
                values[:7] = np.nan
                clamp.max_effort.assign(values)
    return max(worst, pair.require_alike())


def graph(pair: Pair) -> float:
    """Steps that a CUDA graph replays."""
    worst = pair.require_alike()
    q, qd, target, ff = pair.there
    pair.gpu.step(q, qd, target, DT, feedforward=ff)
    pair.cpu.step(*pair.inputs[:3], DT, feedforward=pair.inputs[3])
    with wp.ScopedCapture(device=GPU) as capture:
        efforts = pair.gpu.step(q, qd, target, DT, feedforward=ff)
    for _ in range(12):
        pair.give()
        here = pair.cpu.step(*pair.inputs[:3], DT, feedforward=pair.inputs[3])
        wp.capture_launch(capture.graph)
        worst = max(worst, float(np.abs(here - efforts.numpy()).max()))
    assert worst < 1e-3, f"efforts differ by {worst}"
    return worst


def moved_state(pair: Pair) -> float:
    """What the CPU remembers goes on on the GPU, and back."""
    worst = pair.require_alike()
    pair.gpu.restore_state(pair.cpu.save_state())
    worst = max(worst, pair.require_alike())
    pair.cpu.restore_state(pair.gpu.save_state())
    return max(worst, pair.require_alike())


def time_of(pipeline: str, robots: int) -> float:
    """Seconds per step of a graph of a hundred."""
    pair = Pair(pipeline, robots)
    q, qd, target, _ = pair.there
    pair.gpu.step(q, qd, target, DT)
    with wp.ScopedCapture(device=GPU) as capture:
        for _ in range(100):
            pair.gpu.step(q, qd, target, DT)
    times = []
    for _ in range(20):
        wp.synchronize_device(GPU)
        start = time.perf_counter()
        wp.capture_launch(capture.graph)
        wp.synchronize_device(GPU)
        times.append((time.perf_counter() - start) / 100)
    return float(np.median(times))


TRIALS: tuple[Callable[[Pair], float], ...] = (
    *(steps, bad_inputs, resets, written_parameters, limit_at_fault, graph, moved_state),
)


def main() -> int:
    """Print the table; 1 when something differs."""
    wp.init()
    if not wp.is_cuda_available():
        print("no GPU here: nothing was tried.")
        return 1
    print(f"{wp.get_device(GPU).name}, Warp {wp.config.version}, the CPU by {Pair('PD').cpu.engine}")
    wrong = 0
    print("\n| pipeline | trial | largest difference [N·m] |\n|---|---|---|")
    for pipeline in PIPELINES:
        for trial in TRIALS:
            try:
                said = f"{trial(Pair(pipeline)):.1e}"
            except Exception as error:
                wrong += 1
                said = f"WRONG: {type(error).__name__}: {error}".replace("\n", " ")[:300]
                traceback.print_exc()
            print(f"| {pipeline} | {trial.__name__} | {said} |", flush=True)
    print("\n| pipeline | robots x joints | µs per step, in a graph |\n|---|---|---|")
    for pipeline in PIPELINES:
        for robots in (64, 4096, 65536):
            print(f"| {pipeline} | {robots} x {len(JOINTS)} | {1e6 * time_of(pipeline, robots):.2f} |", flush=True)
    print(f"\n{wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
