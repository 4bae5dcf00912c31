"""Benchmark policy training: steps of many robots, decimation, environments, random motors, and custom loops.

./python.sh -m benchmarks.learning [--quick] [--mujoco-warp PYTHON]

The robot is the ANYmal C of this repository, standing. The results of candidates are compared before timing; a
different candidate is not timed. CPU time includes all threads of this process; steps per second use the wall clock,
on all cores. mujoco_warp, the simulator of mjlab, pins its own MuJoCo: pass the Python that has it.
"""

# the peers are separate extras
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from isaacsim.core.experimental.actuators import MaxEffortClampingConfig, PDControlConfig
from rich.table import Table

from . import environment
from .report import make_console
from .timing import Block, interleave

ROBOT, ANYMAL = environment.REPOSITORY / "data" / "robots" / "anymal_c.usda", "/World/Anymal"
DT, SETTLED, ROLLED = 1 / 200, 200, 20
ENVS, DECIMATIONS = (1, 64, 1024), (1, 4)
# float32 effort and targets, float64 physics
TOLERANCE = 1e-4
# as in the robot's file
MOTORS: dict[str, Any] = {".*": [PDControlConfig(900.0, 25.0), MaxEffortClampingConfig(80.0)]}
# prefix of a message that replaces a time
WRONG = "wrong: "
Step = Callable[[], Any]


@dataclass
class Candidate:
    """A timed candidate.

    Args:
        step: Runs it once.
        steps: Number of counted steps.
        wrong: Reason for not timing it; empty otherwise.
    """

    step: Step
    steps: int = 1
    wrong: str = ""
    wall: float = 0.0

    def block(self) -> Block:
        """Blocks in CPU time of all threads, which also store the wall clock time."""
        walls = []

        def run(count: int) -> float:
            cpu, wall = time.process_time(), time.perf_counter()
            for _ in range(count):
                self.step()
            walls.append((time.perf_counter() - wall) / count / self.steps)
            # the last blocks are the rounds, earlier ones warm up
            self.wall = float(np.median(walls[-5:]))
            return (time.process_time() - cpu) / count

        return run


def compare(
    table: Table, label: str, candidates: Mapping[str, Candidate], options: argparse.Namespace
) -> dict[str, np.ndarray]:
    """Time candidates and add a row for each; the first one is the reference."""
    right = {name: one for name, one in candidates.items() if not one.wrong}
    blocks = {name: one.block() for name, one in right.items()}
    times = interleave(blocks, 5 if options.quick else 9, 0.02 if options.quick else 0.1)
    times = {name: values / candidates[name].steps for name, values in times.items()}
    first = next(iter(candidates))
    for name, one in candidates.items():
        if one.wrong:
            table.add_row(label, name, f"[red]{WRONG}{one.wrong}", "", "")
            continue
        ratio = f"{np.median(times[name] / times[first]):.2f}x" if first in times else ""
        table.add_row(label, name, f"{np.median(times[name]) * 1e6:,.2f}", f"{1 / one.wall:,.0f}", ratio)
    return times


def close_to(found: Any, expected: Any, tolerance: float = TOLERANCE) -> str:
    """Return the difference of two results as a text; empty if they agree."""
    error = float(np.abs(np.asarray(found, float) - expected).max())
    return "" if error <= tolerance else f"off by {error:.1e}, must be <= {tolerance:.0e}"


@contextlib.contextmanager
def standing(envs: int) -> Iterator[tuple[Any, Any, Any]]:
    """Provide a simulation of settled robots, with the robots and their motors."""
    import isaacsim.core.experimental.actuators as ea

    with ea.Simulation(ROBOT, DT, envs) as sim:
        robots, motors = ea.Articulation(ANYMAL), ea.ArticulationActuators(ANYMAL)
        sim.play()
        sim.step(SETTLED)
        yield sim, robots, motors
        motors.close()


class Plain:
    """The same robots without motors: the efforts of the next steps, and the resulting states."""

    def __init__(self, envs: int, decimation: int) -> None:
        import mujoco

        with standing(1) as (sim, robots, _):
            host = sim._host
            self.model, data = host.model, host.data(0)
            self.data, self.envs, self.decimation = [data, mujoco.MjData(self.model)], envs, decimation
            kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
            self.state = np.empty(mujoco.mj_stateSize(self.model, kind))
            mujoco.mj_getState(self.model, data, self.state, kind)
            self.efforts = np.zeros((ROLLED, self.model.nv))
            for step in range(ROLLED):
                sim.step()
                self.efforts[step, host._address.velocity] = robots.get_dof_efforts().numpy()[0]
                if step == decimation - 1:
                    self.after = host._qpos[0].copy()

    def rollout(self, length: int) -> Step:
        """Calls of `mujoco.rollout`, with one thread per core."""
        import os

        import mujoco
        from mujoco.rollout import Rollout

        # a separate thread for one robot only adds waiting time
        pool = Rollout(nthread=0 if self.envs == 1 else os.cpu_count())
        start = np.tile(self.state, (self.envs, 1))
        efforts = np.tile(self.efforts[:length], (self.envs, 1, 1))
        spec = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        data = self.data[:1] if self.envs == 1 else [mujoco.MjData(self.model) for _ in range(os.cpu_count() or 1)]
        return lambda: pool.rollout(self.model, data, start, efforts, control_spec=spec)

    def candidates(self) -> dict[str, Candidate]:
        """Measure one call per policy step, and one call for many."""
        made = {}
        for name, length in {
            "mujoco.rollout, the same steps per call": self.decimation,
            f"mujoco.rollout, {ROLLED} steps a call": ROLLED,
        }.items():
            step = self.rollout(length)
            state, _ = step()
            positions = state[:, self.decimation - 1, 1 : 1 + self.model.nq]
            made[name] = Candidate(step, self.envs * length, close_to(positions, self.after))
        return made


def steps_of_robots(table: Table, envs: int, decimation: int, options: argparse.Namespace) -> None:
    """Measure the simulation with motors, the physics alone, and the environment of the example."""
    plain = Plain(envs, decimation)
    with contextlib.ExitStack() as stack:
        sim, _, _ = stack.enter_context(standing(envs))
        sim.step(decimation)
        wrong = close_to(sim._host._qpos, plain.after)
        found = {"Simulation + motors": Candidate(lambda: sim.step(decimation), envs * decimation, wrong)}
        found |= plain.candidates()
        label, missing = f"{envs} x {decimation}", ""
        try:
            found |= environment_of(envs, decimation, stack)
        except ModuleNotFoundError as error:
            missing = f"{error.name} is not installed"
        compare(table, label, found, options)
        if missing:
            table.add_row(label, "vector environment", f"[red]{missing}", "", "")


def environment_of(envs: int, decimation: int, stack: contextlib.ExitStack) -> dict[str, Candidate]:
    """Measure the vector environment of the example if its policy steps match."""
    from isaacsim.core.experimental.actuators.tools.environments import quadrupeds

    if decimation != quadrupeds.DECIMATION:
        return {}
    robots = stack.enter_context(contextlib.closing(quadrupeds.Quadrupeds(envs)))
    robots.reset(seed=1)
    nothing = np.zeros((envs, 12), np.float32)
    return {"vector environment, different motors": Candidate(lambda: robots.step(nothing), envs * decimation)}


def with_mujoco_warp(table: Table, python: str, options: argparse.Namespace) -> None:
    """Measure the same physics with mujoco_warp on the CPU, in a separate interpreter: the step of mjlab."""
    plain = Plain(1, 1)
    with standing(1) as (sim, _, _):
        xml = exported(sim)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model.xml").write_text(xml)
        state = plain.state[1 : 1 + plain.model.nq + plain.model.nv]
        np.savez(Path(folder) / "start.npz", state=state, efforts=plain.efforts[0], after=plain.after)
        worker = str(Path(__file__).parent / "mujoco_warp_worker.py")
        for envs in ENVS[:: 2 if options.quick else 1]:
            try:
                done = subprocess.run(
                    [python, worker, folder, str(envs)], capture_output=True, text=True, timeout=300, check=False
                )
            except subprocess.TimeoutExpired:
                table.add_row(f"{envs} x 1", "mujoco_warp on the CPU", "[red]took more than 5 minutes", "", "")
                return
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no output"])[-1]
                table.add_row(f"{envs} x 1", "mujoco_warp on the CPU", f"[red]{last}", "", "")
                return
            told = json.loads(done.stdout.splitlines()[-1])
            wrong = close_to(told["error"], 0.0, 1e-3)
            wrong = wrong and f"[red]{WRONG}{wrong}"
            cpu, rate = f"{told['cpu'] * 1e6:,.2f}", f"{1 / told['wall']:,.0f}"
            table.add_row(f"{envs} x 1", f"mujoco_warp {told['version']} on the CPU", wrong or cpu, rate, "")


def decimated(table: Table, envs: int, options: argparse.Namespace) -> None:
    """Measure four steps at once against four single ones, with and without motors; results are bit-identical."""
    for with_motors in (True, False):
        with standing(envs) as (once, _, motors), standing(envs) as (single, _, others):
            if not with_motors:
                motors.close()
                others.close()
            once.step(4)
            for _ in range(4):
                single.step()
            same = np.array_equal(once._host._qpos, single._host._qpos)
            wrong = "" if same else "differs"

            def four(sim: Any = single) -> None:
                for _ in range(4):
                    sim.step()

            found = {"sim.step(4)": Candidate(lambda sim=once: sim.step(4), envs * 4, wrong)}
            found["sim.step(), four times"] = Candidate(four, envs * 4, wrong)
            compare(table, f"{envs}, {'motors' if with_motors else 'drives alone'}", found, options)


def random_motors(table: Table, options: argparse.Namespace) -> None:
    """Measure the randomization of ten parameters of 1024 robots at a reset, and the cost of armature and friction."""
    import isaacsim.core.experimental.actuators as ea

    motor = [
        ea.PIDControlConfig(80.0, 1.0, 2.0, 1.0),
        ea.DCMotorClampingConfig(120.0, 20.0, 80.0),
        ea.DelayConfig(4),
    ]
    names = ["kp", "ki", "kd", "integral_max", "saturation_effort", "velocity_limit", "max_motor_effort", "strength"]
    ten: dict[str, Any] = {name: ea.Uniform(0.8, 1.2, operation="scale") for name in names}
    ten |= {"const_effort": ea.Uniform(-1.0, 1.0), "delay_steps": ea.Uniform(0, 4)}
    joints = [f"joint{number}" for number in range(12)]
    plain, drawn = (ea.ActuatedArrays(joints, {".*": motor}, num_robots=1024) for _ in range(2))
    drawn.randomize(ten, seed=1)
    before = drawn.actuators[0].controller.kp.numpy().copy()
    drawn.reset()
    wrong = "nothing is drawn" if np.isclose(before, drawn.actuators[0].controller.kp.numpy()).any(0).all() else ""
    found = {
        "reset, nothing drawn": Candidate(plain.reset),
        "reset, 10 parameters": Candidate(drawn.reset, wrong=wrong),
    }
    compare(table, "1024 x 12, arrays", found, options)
    with contextlib.ExitStack() as stack:
        made = {}
        for name, parameters in {
            "sim.reset(), nothing drawn": {},
            "sim.reset(), kp and strength": {"kp": ten["kp"], "strength": ea.Uniform(0.8, 1.0)},
            "sim.reset(), friction": {"friction": ea.Uniform(0.0, 0.2)},
            "sim.reset(), armature": {"armature": ea.Uniform(0.05, 0.1)},
        }.items():
            sim, _, motors = stack.enter_context(standing(1024))
            motors.randomize(parameters, seed=1)
            made[name] = Candidate(sim.reset)
        compare(table, "1024 x 12, simulation", made, options)


def own_loops(table: Table, options: argparse.Namespace) -> None:
    """Measure motors in a custom loop, the wrapper on the same arrays, and a custom MuJoCo model."""
    import isaacsim.core.experimental.actuators as ea
    import mujoco

    with standing(1) as (sim, robots, wrapper):
        buffers = robots.buffers()
        arrays = ea.ActuatedArrays(robots.dof_names, MOTORS)
        q, qd, target = (np.array(one) for one in (buffers.positions, buffers.velocities, buffers.position_targets))
        wrapper.step_actuators(DT)
        wrong = close_to(arrays.step(q, qd, target, DT), buffers.efforts)
        found = {
            "wrapper, efforts alone": Candidate(lambda: wrapper._assembly.step(DT)),
            "wrapper.step_actuators": Candidate(lambda: wrapper.step_actuators(DT)),
            "ActuatedArrays.step": Candidate(lambda: arrays.step(q, qd, target, DT), wrong=wrong),
        }
        on_newton, made = with_newton(target)
        nowhere = arrays.step(np.zeros_like(q), np.zeros_like(q), target, DT)
        found["ActuatedModel.step, newton"] = Candidate(on_newton, wrong=close_to(made(), nowhere[0]))
        compare(table, "12 joints", found, options)

        plain, own = sim._host.data(0), sim._host.data(0)
        model, other = sim._host.model, mujoco.MjModel.from_xml_string(exported(sim))
        with ea.MujocoSimulation(other, own) as mine:
            robot = mine.articulation("world")
            robot.set_dof_position_targets(np.zeros(12))
            for name, value in zip(robots.dof_names, target[0], strict=True):
                column = next(i for i, path in enumerate(robot.dof_names) if path.endswith(name))
                robot.set_dof_position_targets([[value]], dof_indices=[column])
            driven = ea.ArticulationActuators.from_configs("world", MOTORS)
            plain.qfrc_applied[:] = 0.0
            plain.qfrc_applied[sim._host._address.velocity] = buffers.efforts[0]
            mine.step()
            sim.step()
            mujoco.mj_step(model, plain)
            found = {
                "Simulation.step": Candidate(sim.step),
                "MujocoSimulation.step": Candidate(mine.step, wrong=close_to(own.qpos, sim._host._qpos[0])),
                "mj_step, efforts held": Candidate(
                    lambda: mujoco.mj_step(model, plain), wrong=close_to(plain.qpos, sim._host._qpos[0])
                ),
            }
            compare(table, "1 quadruped", found, options)
            driven.close()


def with_newton(target: np.ndarray) -> tuple[Step, Callable[[], np.ndarray]]:
    """Return the step and the efforts of motors on twelve joints of a newton model at position 0."""
    import isaacsim.core.experimental.actuators as ea
    import newton

    builder: Any = newton.ModelBuilder()
    parent, joints = -1, []
    for _ in range(12):
        link = builder.add_link(mass=1.0, inertia=((0.05, 0, 0), (0, 0.05, 0), (0, 0, 0.05)))
        joints.append(builder.add_joint_revolute(parent, link, axis=(0, 0, 1), label=f"joint{len(joints)}"))
        parent = link
    builder.add_articulation(joints, label="chain")
    model: Any = builder.finalize(device="cpu")
    actuated = ea.ActuatedModel(model, MOTORS)
    state, control = model.state(), model.control()
    control.joint_target_q.assign(target[0])

    def step() -> None:
        actuated.step(state, control, DT)

    step()
    return step, control.joint_f.numpy


def exported(sim: Any) -> str:
    """Return the model of a simulation as MJCF."""
    from isaacsim.core.experimental.actuators.simulators.mujoco.model import describe_model
    from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene

    spec, _ = describe_model(read_scene(sim.stage), DT)
    spec.compile()
    return spec.to_xml()


def titled(title: str, what: str, per: str) -> Table:
    """Return an empty table."""
    table = Table(what, "", f"CPU time of {per} \\[us]", f"{per}s per second", "of the first", title=title)
    for column in table.columns[2:]:
        column.justify = "right"
    return table


def wrong_cells(table: Table) -> list[str]:
    """Return the messages of a table about candidates with wrong results."""
    return [str(cell) for cell in table.columns[2].cells if WRONG in str(cell)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 means that a candidate has wrong results."""
    parser = argparse.ArgumentParser(prog="benchmarks.learning", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds")
    parser.add_argument("--mujoco-warp", metavar="PYTHON", help="an interpreter with mujoco_warp, or mjlab")
    options = parser.parse_args(arguments)
    console = make_console()
    sizes = ENVS[:-1] if options.quick else ENVS

    tables = [titled("Robots with motors, and the physics alone", "robots x steps a call", "robot-step")]
    for envs in sizes:
        for decimation in DECIMATIONS:
            steps_of_robots(tables[0], envs, decimation, options)
    with_mujoco_warp(tables[0], options.mujoco_warp or sys.executable, options)
    console.print(tables[0])
    parts = {
        "Several steps at once": ("robots", "robot-step", lambda table: [decimated(table, n, options) for n in sizes]),
        "Random motors": ("robots", "reset", lambda table: random_motors(table, options)),
        "Custom loops": ("", "step", lambda table: own_loops(table, options)),
    }
    for title, (what, per, fill) in parts.items():
        tables.append(titled(title, what, per))
        fill(tables[-1])
        console.print(tables[-1])
    machine = environment.machine()
    console.print(f"{machine['processor']}, {machine['cores']} cores, load {environment.load()}", highlight=False)
    return int(any(wrong_cells(table) for table in tables))


if __name__ == "__main__":
    sys.exit(main())
