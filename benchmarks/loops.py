"""Benchmark whole loops, including physics and reads, against plain MuJoCo and NumPy.

./python.sh -m benchmarks.loops [--quick]

Both sides of a line run alternately in one process, from the same state; the table has the median and the worst ratio
over rounds. Their results are compared first. One thread, CPU time; `record` also has the worst step.
"""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from . import environment

# set before NumPy is imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

import numpy as np
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    ArticulationActuators,
    PDControlConfig,
    PositionBasedClampingConfig,
    Simulation,
)
from rich.table import Table

from . import new_arrays
from .report import make_console
from .timing import Block, interleave, steps

DATA = environment.REPOSITORY / "data" / "robots"
ROBOTS = {"Franka": "franka_panda.usda", "ANYmal": "anymal_c.usda", "Go1": "unitree_go1.usda", "G1": "unitree_g1.usda"}
# steps from the same state, before it is restored
SPAN = 20
# number of robots in cases with many robots
MANY = 1024
KP, KD, LIMIT = 20.0, 0.5, 23.7
TOLERANCE = 1e-4
Row = tuple[str, str, str, str, str]


@contextlib.contextmanager
def opened(file: str, motors: bool = True, **options: Any) -> Iterator[tuple[Simulation, Any]]:
    """Provide a running simulation, and its robot with the motors of its file."""
    with Simulation(DATA / file, **options) as sim:
        path = sim._host.robots()[0].prototype[0]
        actuators = ArticulationActuators(path) if motors else None
        sim.play()
        sim.step(50)
        yield sim, sim.articulation(path)
        if actuators is not None:
            actuators.close()


def from_state(sim: Simulation, step: Callable[[], Any], taken: int = 1) -> Block:
    """Return blocks of a function with `taken` steps per call, always from the current state of the simulation."""
    state, begun = sim._host._batch.state, sim._host._batch.state.copy()

    def block(count: int) -> float:
        spent, spans = 0.0, max(1, count // SPAN)
        for _ in range(spans):
            state[:] = begun
            start = time.thread_time()
            for _ in range(SPAN // taken):
                step()
            spent += time.thread_time() - start
        return spent / (spans * SPAN)

    return block


def line(name: str, goal: str, ours: np.ndarray, theirs: np.ndarray) -> Row:
    """Return names, times [µs], and our speed relative to theirs (100 %): the median, and the worst round."""
    ratios = 100 * theirs / ours
    times = f"{1e6 * np.median(ours):.1f}", f"{1e6 * np.median(theirs):.1f}"
    return name, *times, f"{np.median(ratios):.0f} % (worst {ratios.min():.0f} %)", goal


def single_steps(rounds: int) -> Iterator[Row]:
    """Measure `Simulation.step` of one robot with its motors against `batch.step` of the same simulation."""
    for (name, file), goal in zip(ROBOTS.items(), (85, 90, 95, 95), strict=True):
        with opened(file) as (sim, _):
            batch = sim._host._batch
            blocks = {"ours": from_state(sim, sim.step), "plain": from_state(sim, batch.step)}
            found = interleave(blocks, rounds, 0.02)
        yield line(f"step, {name}, with motors", f"{goal} %", found["ours"], found["plain"])


def many_steps(rounds: int) -> Iterator[Row]:
    """Measure `step(20)` against twenty steps."""
    for motors in (True, False):
        with opened(ROBOTS["Franka"], motors) as (sim, _):
            blocks = {"ours": from_state(sim, lambda: sim.step(20), 20), "single": from_state(sim, sim.step)}
            found = interleave(blocks, rounds, 0.02)
        yield line(
            f"step(20), Franka, {'with motors' if motors else 'drives'}", "130 %", found["ours"], found["single"]
        )


class Script:
    """A loop written by hand with MuJoCo and NumPy: a PD with effort limits, a step, and the state for a policy."""

    def __init__(self, sim: Simulation) -> None:
        import mujoco

        self._step, self._model, self._data = mujoco.mj_step, sim.model, sim.data()
        self._model.actuator_gainprm[:], self._model.actuator_biasprm[:] = 0.0, 0.0
        self._start = self._data.qpos.copy(), self._data.qvel.copy()
        self._columns = sim._host._address
        self._down = np.array([0.0, 0.0, -1.0])

    def begin(self) -> None:
        """Reset the loop."""
        self._data.qpos[:], self._data.qvel[:] = self._start

    def tick(self, targets: np.ndarray) -> list[np.ndarray]:
        """Run one step and read the state."""
        data, at = self._data, self._columns
        efforts = KP * (targets - data.qpos[at.position]) - KD * data.qvel[at.velocity]
        data.qfrc_applied[at.velocity] = np.clip(efforts, -LIMIT, LIMIT)
        self._step(self._model, data)
        turn = data.xmat[1].reshape(3, 3)
        return [
            *(data.qpos[at.position], data.qvel[at.velocity], data.qpos[:7].copy()),
            *(data.qvel[:6].copy(), turn.T @ self._down),
        ]


def jobs(rounds: int) -> Iterator[Row]:
    """Measure a policy loop with one Go1: set targets, step, read joints, base and gravity."""
    from isaacsim.core.experimental.actuators import MaxEffortClampingConfig

    with Simulation(DATA / ROBOTS["Go1"]) as sim:
        path = sim._host.robots()[0].prototype[0]
        motors = {".*": [PDControlConfig(KP, KD), MaxEffortClampingConfig(LIMIT)]}
        with ArticulationActuators.from_configs(path, motors):
            sim.play()
            robot, script = sim.articulation(path), Script(sim)
            targets = robot.get_dof_positions().numpy().copy()
            begun, state = sim._host._batch.state.copy(), robot.buffers()

            def by_arrays() -> list[np.ndarray]:
                state.position_targets[:] = targets
                sim.step()
                read = state.positions, state.velocities, state.root_poses, state.root_velocities
                return [array.copy() for array in (*read, state.projected_gravity)]

            def by_getters() -> list[np.ndarray]:
                robot.set_dof_position_targets(targets)
                sim.step()
                read = robot.get_dof_positions(), robot.get_dof_velocities(), *robot.get_world_poses()
                return [array.numpy() for array in (*read, *robot.get_velocities(), robot.get_projected_gravity())]

            found = []
            for tick in (by_arrays, lambda: script.tick(targets[0])):
                sim._host._batch.state[:] = begun
                script.begin()
                found.append([tick() for _ in range(SPAN)][-1])
            np.testing.assert_allclose(found[0][0][0], found[1][0], atol=TOLERANCE)
            np.testing.assert_allclose(found[0][2][0], found[1][2], atol=TOLERANCE)

            def restarted(block: Block) -> Block:
                def run(count: int) -> float:
                    script.begin()
                    return block(count)

                return run

            blocks = {
                "arrays": from_state(sim, by_arrays),
                "getters": from_state(sim, by_getters),
                "script": restarted(from_state(sim, lambda: script.tick(targets[0]))),
            }
            times = interleave(blocks, rounds, 0.02)
        yield line("a policy's loop, Go1, buffers()", "60 %", times["arrays"], times["script"])
        yield line("a policy's loop, Go1, getters", "", times["getters"], times["script"])


def wrappers(rounds: int) -> Iterator[Row]:
    """Measure the cost of each wrapper in a stage."""
    times = {}
    for count in (2, 200):
        with opened(ROBOTS["Franka"], False, num_envs=count) as (sim, _):
            added = [ArticulationActuators(robot.path) for robot in sim._host.robots()]
            found = interleave({"emit": steps(lambda: sim._host.bus.emit_pre_step(sim.dt))}, rounds, 0.02)["emit"]
            times[count] = f"{1e6 * np.median(found) / count:.2f}"
            del added
    yield "each of 2 | of 200 wrappers", times[2], times[200], "", "1.2 µs, flat"


def recording(rounds: int) -> Iterator[Row]:
    """Measure `record()` of many robots: the slowest and the median step, wall clock."""
    with opened(ROBOTS["Go1"], False, num_envs=MANY) as (sim, robot):
        with ArticulationActuators(robot.paths) as actuators, actuators.record():
            spent = []
            for _ in range(100 * rounds):
                start = time.perf_counter()
                actuators.step_actuators(sim.dt)
                spent.append(time.perf_counter() - start)
    worst, median = max(spent), float(np.median(spent))
    name = "record, many Go1: median | worst"
    yield name, f"{1e6 * median:.0f}", f"{1e6 * worst:.0f}", f"{worst / median:.1f} x", "5 x"


def tables(rounds: int) -> Iterator[Row]:
    """Measure position tables of 1000 points and of 2 points, 12 joints x 1024 robots."""
    names, blocks = [f"joint_{k}" for k in range(12)], {}
    rng = np.random.default_rng(0)
    q, qd, target = rng.uniform(-1, 1, (3, MANY, 12)).astype(np.float32)
    for points in (2, 1000):
        angles = np.linspace(-1.0, 1.0, points)
        table = PositionBasedClampingConfig(angles.tolist(), (10.0 + angles**2).tolist())
        actuated = ActuatedArrays(names, {".*": [PDControlConfig(KP, KD), table]}, MANY)
        blocks[points] = steps(lambda actuated=actuated: actuated.step(q, qd, target, 0.005))
    found = interleave({str(points): block for points, block in blocks.items()}, rounds, 0.02)
    many, few = (f"{1e6 * np.median(found[points]):.0f}" for points in ("1000", "2"))
    yield "position tables, 12 x 1024, 1000 points | 2 points", many, few, "", "40 µs"


def dynamics(rounds: int) -> Iterator[Row]:
    """Measure masses, inertias and matrices of many robots."""
    getters = ["get_link_masses", "get_link_inertias", "get_link_coms", "get_jacobian_matrices", "get_mass_matrices"]
    getters.append("get_dof_coriolis_and_centrifugal_compensation_forces")
    with opened(ROBOTS["Go1"], False, num_envs=MANY) as (_, robot):
        for name in getters:
            spent = []
            for _ in range(rounds):
                start = time.perf_counter()
                getattr(robot, name)()
                spent.append(time.perf_counter() - start)
            yield f"{name}, many Go1", f"{1e6 * np.median(spent):.0f}", "", "", "5000 µs"


def arrays(rounds: int) -> Iterator[Row]:
    """Measure `ActuatedArrays` with new arrays at each step against six lines of NumPy; see `new_arrays`."""
    for row in new_arrays.rows(["numpy", "torch"], [1, MANY], rounds, 0.02):
        ratio = f"{row.ratio:.2f} x (worst {row.worst:.2f} x)"
        yield f"new arrays, {row.name}", f"{row.ours:.1f}", f"{row.theirs:.1f}", ratio, "1.5 x alone, 0.7 x"


def physx(rounds: int) -> Iterator[Row]:
    """Measure steps on PhysX if its wheel is installed; see `physx_loop`."""
    if importlib.util.find_spec("ovphysx") is not None:
        from .physx_loop import physx_rows

        for row in physx_rows(100 * rounds):
            yield (
                f"PhysX, {row.name}: median | worst",
                f"{row.median:.0f}",
                f"{row.worst:.0f}",
                "",
                "250, Franka 350 µs",
            )


PARTS = [single_steps, many_steps, jobs, wrappers, arrays, tables, dynamics, recording, physx]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 7 if parser.parse_args().quick else 31
    console, table = make_console(), Table("loop", "ours [µs]", "theirs [µs]", "ours, of theirs", "goal")
    for row in (row for part in PARTS for row in part(rounds)):
        table.add_row(*row)
    console.print(table)
    machine = environment.machine()
    console.print(f"{machine['processor']}, {machine['cores']} cores, load {machine['load']} at the start")


if __name__ == "__main__":
    main()
