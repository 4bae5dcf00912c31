"""Benchmark whole steps on PhysX: actuators, transfers to and from PhysX, and PhysX's own step.

./python.sh -m benchmarks.physx_loop [--quick]

One robot on the CPU, with constant targets and with new targets before every step. Times are those of this thread, on
which PhysX also runs. Requires the extra `physx`.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import NamedTuple

from . import environment

# set before NumPy is imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

import numpy as np
from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation

DT, WARM_UP = 1 / 240, 50
ROBOTS = {"arm": ("arm_2dof", "/World/Arm"), "Franka": ("franka_panda", "/World/Panda")}


class Row(NamedTuple):
    """Step times of one case.

    Args:
        name: Robot and case.
        median: Of a step [µs].
        worst: Of all steps [µs].
    """

    name: str
    median: float
    worst: float


def physx_rows(steps: int = 2000) -> list[Row]:
    """Return the times of `steps` steps of each robot and case, each row from a separate simulation.

    Raises:
        HostError: PhysX is not installed.
    """
    cases = {"": _step, ", new targets": _step_to_targets, ", PhysX alone": _step_of_physx}
    return [
        _measured(f"{robot}{name}", *place, make, steps)
        for robot, place in ROBOTS.items()
        for name, make in cases.items()
    ]


def _step(sim: Simulation, path: str) -> Callable[[], None]:
    """A step that holds the pose."""
    return sim.step


def _step_to_targets(sim: Simulation, path: str) -> Callable[[], None]:
    """A step toward targets that change each time."""
    targets, way = sim.articulation(path).buffers().position_targets, np.float32(1e-4)

    def step() -> None:
        np.add(targets, way, targets)
        sim.step()

    return step


def _step_of_physx(sim: Simulation, path: str) -> Callable[[], None]:
    """A step of PhysX, with the efforts of the previous one."""
    scene = sim._host._scene
    return lambda: scene.step(DT)


def _measured(
    name: str, file: str, path: str, make: Callable[[Simulation, str], Callable[[], None]], steps: int
) -> Row:
    robots = environment.REPOSITORY / "data" / "robots"
    with Simulation(robots / f"{file}.usda", DT, engine="physx") as sim:
        actuators = ArticulationActuators(path)
        sim.play()
        sim.step(WARM_UP)
        assert sim.articulation(path).get_dof_efforts().numpy().any(), f"{actuators} does nothing"
        step = make(sim, path)
        times = np.array([_seconds(step) for _ in range(steps)])
    return Row(name, 1e6 * float(np.median(times)), 1e6 * float(times.max()))


def _seconds(step: Callable[[], None]) -> float:
    start = time.thread_time()
    step()
    return time.thread_time() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()
    print("| step of | median µs | worst µs |\n|---|---|---|")
    for row in physx_rows(200 if options.quick else 2000):
        print(f"| {row.name} | {row.median:.0f} | {row.worst:.0f} |", flush=True)


if __name__ == "__main__":
    main()
