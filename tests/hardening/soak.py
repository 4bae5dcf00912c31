"""A long run: memory, open files and threads stay as they are, and efforts are the oracle's to the end.

    ./python.sh tests/hardening/soak.py --quick         # minutes: 10^6 steps on arrays, 2·10^5 on MuJoCo, …
    ./python.sh tests/hardening/soak.py                 # ten times that
    ./python.sh tests/hardening/soak.py --times 0.1     # a tenth

The robot on arrays has every law in every place, networks that remember inputs and those that remember a state too,
with delays and limits; all of its efforts are compared with `oracle.py` and `network_oracle.py` of `tests/support` in
float64, from signals whose integrals run into their bounds and out again. Midway its state is saved and restored into
another one, which must go on to the bit. Then a robot on MuJoCo; one whose physics and actuators are saved and restored
midway; wrappers made and closed on a playing simulation, and stages opened, played and closed. Exits with 1 when
something grew, drifted or differed.
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import gc
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import mujoco  # noqa: TID253
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
import isaacsim.core.experimental.actuators as aa
import network_oracle
import oracle
from isaacsim.core.experimental.actuators.specs.configs import (
    DCMotorCutoffClampingConfig,
    GearedPDControlConfig,
    GearedPIDControlConfig,
)
from neural_twin import random_network, write_network

ROOT = Path(__file__).parents[2]
STEPS, PHYSICS_STEPS, WRAPPERS, STAGES = 1_000_000, 200_000, 2_000, 1_500
TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)
# exact in single precision
DT = 2.0**-9
CHUNK, ROBOTS = 2_000, 2
TABLE = aa.PositionBasedClampingConfig([-1.0, 0.0, 1.0], [2.0, 20.0, 5.0])
JOINTS: dict[str, list] = {
    "hip": [aa.PDControlConfig(40.0, 2.0, 1.0), aa.MaxEffortClampingConfig(25.0)],
    "knee": [aa.PIDControlConfig(30.0, 200.0, 1.0, 0.05), aa.DelayConfig(2), aa.MaxEffortClampingConfig(30.0)],
    "ankle": [aa.PDControlConfig(60, 1), aa.DCMotorClampingConfig(30.0, 1.5, 20.0), aa.MaxEffortClampingConfig(15)],
    "toe": [aa.PIDControlConfig(50.0, 10.0, 0.0, 1.0), TABLE],
    "finger": [aa.PDControlConfig(50.0, 1.0), aa.DelayConfig(1), aa.DCMotorClampingConfig(30.0, 2.0, 25.0), TABLE],
    "wheel": [GearedPDControlConfig(2, 0.1, gear=5), aa.DelayConfig(7), DCMotorCutoffClampingConfig(40.0, 3.0, 30.0)],
    "track": [GearedPIDControlConfig(2.0, 3.0, 0.1, 0.5, gear=4.0), aa.MaxEffortClampingConfig(35.0)],
}
# the errors and velocities that a network sees, so many steps back, and its recurrent state
AGO = [0, 1, 3]
NETWORKS = {
    "mlp": (random_network("mlp", 2 * len(AGO), layers=2), {"model_type": "mlp", "input_idx": AGO, "effort_scale": 40}),
    "lstm": (random_network("lstm", 2), {"model_type": "lstm", "torque_scale": 40.0}),
}
FILES = tempfile.TemporaryDirectory(prefix="soak")
NEURAL = {
    name: aa.NeuralControlConfig(write_network(Path(FILES.name) / f"{name}.safetensors", *network))
    for name, network in NETWORKS.items()
}
JOINTS["neck"] = [NEURAL["mlp"], aa.DelayConfig(3), aa.MaxEffortClampingConfig(30.0)]
JOINTS["jaw"] = [NEURAL["lstm"], aa.DelayConfig(1), aa.DCMotorClampingConfig(30.0, 3.0, 20.0)]
COMPONENTS = {
    aa.PDControlConfig: "ControllerPD",
    aa.PIDControlConfig: "ControllerPID",
    GearedPDControlConfig: "ControllerGearedPD",
    GearedPIDControlConfig: "ControllerGearedPID",
    aa.MaxEffortClampingConfig: "ClampingMaxEffort",
    aa.DCMotorClampingConfig: "ClampingDCMotor",
    DCMotorCutoffClampingConfig: "ClampingDCMotorCutoff",
}
# efforts are some tens of N·m: so far may single precision be off, and so much further at the end than at the start
CLOSE, DRIFT = 5e-3, 2.0
# what may be added after the first tenth of a part [MiB]; files and threads may not
GROWTH = 8.0


class Part:
    """Watches memory, open files and threads from the first tenth of a part on, and says so at its end."""

    bad: ClassVar[list[str]] = []

    def __init__(self, name: str, count: int) -> None:
        self.name, self.count, self.began = name, count, time.perf_counter()

    def __iter__(self) -> Iterator[int]:
        first = None
        for number in range(self.count):
            if number == self.count // 10:
                first = usage()
            yield number
        last = usage()
        assert first is not None, f"{self.count} is too few to tell"
        seconds = time.perf_counter() - self.began
        print(f"{self.name}: {self.count} in {seconds:.0f} s")
        print(f"  after a tenth {words(first)}; at the end {words(last)}", flush=True)
        if last[0] - first[0] > GROWTH or any(now > then for now, then in zip(last[1:], first[1:], strict=True)):
            self.bad.append(f"{self.name} grew")


def usage() -> tuple[float, int, int]:
    gc.collect()
    if TRIM is not None:
        # what is free again and only not given back is no growth
        TRIM(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files, threads = (len(os.listdir(f"/proc/self/{kind}")) for kind in ("fd", "task"))
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20, files, threads


def words(used: tuple[float, int, int]) -> str:
    return "{:.1f} MiB, {} files, {} threads".format(*used)


class Signals:
    """Slow and fast waves for each robot and joint, some of them far beyond what motors give."""

    def __init__(self, rng: np.random.Generator) -> None:
        shape = 5, 3, ROBOTS, len(JOINTS)
        # [rad/s] from one turn in minutes to ten in a second
        self.rates = 2 * np.pi * 10 ** rng.uniform(-2.0, 1.0, shape)
        self.phases = rng.uniform(0, 2 * np.pi, shape)
        self.sizes = rng.uniform(0.2, 0.6, shape) * np.array([1.0, 3.0, 1.0, 1.0, 4.0])[:, None, None, None]

    def at(self, start: int, count: int) -> np.ndarray:
        """Positions, velocities, their targets and feedforward of some steps, `(5, steps, robots, joints)`."""
        t = DT * np.arange(start, start + count)[:, None, None]
        waves = [(size * np.sin(rate * t + phase)) for size, rate, phase in self._waves()]
        return np.array([sum(waves[3 * row : 3 * row + 3]) for row in range(5)]).astype(np.float32)

    def _waves(self) -> Iterator:
        flat = (-1, ROBOTS, len(JOINTS))
        return zip(*(values.reshape(flat) for values in (self.sizes, self.rates, self.phases)), strict=True)


class Twin:
    """A joint of all robots in float64, many steps at a time; signals and efforts are `(…, steps, robots)`."""

    def __init__(self, configs: list) -> None:
        self.law, self.clamps = configs[0], [one for one in configs[1:] if not isinstance(one, aa.DelayConfig)]
        self.lag = next((one.delay_steps for one in configs if isinstance(one, aa.DelayConfig)), 0)
        self.integral, self.commands = [0.0] * ROBOTS, None
        # what networks remember: inputs of the last steps, and a recurrent state
        self.past = np.zeros((2, max(AGO), ROBOTS))
        self.hidden = self.cell = None

    def run(self, signals: np.ndarray) -> np.ndarray:
        """Efforts of the next steps, from signals `(5, steps, robots)`."""
        q, qd, *command = signals.astype(np.float64)
        new = np.array(command)
        # before there is one that old, the first command acts
        before = np.repeat(new[:, :1], self.lag, axis=1) if self.commands is None else self.commands
        line = np.concatenate([before, new], axis=1)
        self.commands = line[:, line.shape[1] - self.lag :]
        effort = self._command(q, qd, line[:, : new.shape[1]])
        for clamp in self.clamps:
            flat = effort.ravel(), q.ravel(), qd.ravel()
            if clamp is TABLE:
                limit = [oracle.table_limit(place, clamp.lookup_positions, clamp.lookup_efforts) for place in flat[1]]
                limited = oracle.max_effort_clamp(flat[0], np.array(limit))
            else:
                values = {name: np.full(q.size, value) for name, value in vars(clamp).items()}
                limited = oracle.LAWS[COMPONENTS[type(clamp)]](*flat, DT, **values)[0]
            effort = limited.reshape(q.shape)
        return effort

    def _command(self, q: np.ndarray, qd: np.ndarray, acting: np.ndarray) -> np.ndarray:
        if isinstance(self.law, aa.NeuralControlConfig):
            return self._network(acting[0] - q, qd)
        said = vars(self.law)
        law = oracle.LAWS[COMPONENTS[type(self.law)]]
        if "ki" not in said:
            return law(q, qd, *acting, DT, **said)[0]
        gear = said.get("gear", 1.0)
        past = np.empty(q.shape)
        for robot in range(ROBOTS):
            integral = self.integral[robot]
            numbers = zip(acting[0, :, robot].tolist(), q[:, robot].tolist(), strict=True)
            for step, (target, position) in enumerate(numbers):
                past[step, robot] = integral
                integral = float(oracle_integral(integral, gear * position, target, said["integral_max"]))
            self.integral[robot] = integral
        return law(q, qd, *acting, DT, past, **said)[0]

    def _network(self, error: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        kind = next(name for name, config in NEURAL.items() if config is self.law)
        network, steps = NETWORKS[kind][0], len(error)
        line = np.concatenate([self.past, [error, velocity]], axis=1)
        self.past = line[:, steps:]
        if kind == "mlp":
            ago = [line[:, max(AGO) - back : max(AGO) - back + steps] for back in AGO]
            x = np.stack([one for which in (0, 1) for one in (each[which] for each in ago)], axis=-1)
            return 40.0 * network_oracle.evaluate(network, x.reshape(-1, 2 * len(AGO)))[0].reshape(error.shape)
        effort = np.empty(error.shape)
        for step, x in enumerate(np.stack([error, velocity], axis=-1)):
            effort[step], self.hidden, self.cell = network_oracle.evaluate(network, x, self.hidden, self.cell)
        return 40.0 * effort


def oracle_integral(integral: float, position: float, target: float, most: float) -> float:
    """As `oracle.pid_integral`, for plain numbers, at a tenth of its time."""
    return min(max(integral + (target - position) * DT, -most), most)


def on_arrays(steps: int, rng: np.random.Generator) -> None:
    """Compare all efforts with the oracle, and those after a restored state with those without."""
    signals, names = Signals(rng), list(JOINTS)
    motors = JOINTS
    robot = aa.ActuatedArrays(names, motors, ROBOTS)
    twins = [Twin(configs) for configs in JOINTS.values()]
    worst, second = [], None
    for number in Part("steps on arrays, chunks of 2000", max(20, steps // CHUNK)):
        given = signals.at(number * CHUNK, CHUNK)
        if number == steps // CHUNK // 2:
            second = aa.ActuatedArrays(names, motors, ROBOTS)
            second.restore_state(robot.save_state())
        efforts = run(robot, given)
        if second is not None:
            if not np.array_equal(run(second, given), efforts):
                Part.bad.append(f"a restored state differs in chunk {number}")
                break
        expected = np.stack([twin.run(given[..., column]) for column, twin in enumerate(twins)], axis=-1)
        worst.append(float(np.abs(efforts - expected).max()))
    tenth = max(1, len(worst) // 10)
    first, last = max(worst[:tenth]), max(worst[-tenth:])
    print(f"  from the oracle by {first:.2g} N·m in the first tenth, {last:.2g} in the last, {max(worst):.2g} at most")
    print(f"  restored midway: {'not the same' if Part.bad else 'the same bits'}")
    if max(worst) > CLOSE or last > DRIFT * first:
        Part.bad.append("efforts drift from the oracle")


def run(robot: aa.ActuatedArrays, given: np.ndarray) -> np.ndarray:
    q, qd, target, speed, feedforward = (np.empty(given.shape[2:], np.float32) for _ in range(5))
    out = np.empty(given.shape[1:], np.float32)
    for step in range(given.shape[1]):
        q[:], qd[:], target[:], speed[:], feedforward[:] = given[:, step]
        out[step] = robot.step(q, qd, target, DT, qd_target=speed, feedforward=feedforward)
    return out


def on_physics(steps: int) -> None:
    """A robot that follows waves, never beyond what its motors give."""
    hundred = 100
    with aa.Simulation(ROOT / "data" / "robots" / "unitree_go1.usda") as simulation:
        (path,) = simulation.articulation("/").paths
        robot, actuators = simulation.articulation(path), aa.ArticulationActuators(path)
        simulation.play()
        rest = robot.get_dof_positions().numpy()
        for number in Part("hundreds of steps on MuJoCo", max(20, steps // hundred)):
            robot.set_dof_position_targets(rest + 0.3 * np.sin(0.7 * number))
            simulation.step(hundred)
            if not np.isfinite(robot.get_dof_positions().numpy()).all() or actuators.faults:
                Part.bad.append(f"physics went wrong in chunk {number}: {actuators.faults}")
                break
        actuators.close()


class OwnGo1:
    """The robot in a MuJoCo model and data of one's own, with a network, an integral and delays."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self.simulation = aa.MujocoSimulation(model, self.data)
        path = "/World/Go1/Geometry/trunk"
        motors = {".*hip_joint": JOINTS["knee"], ".*thigh_joint": JOINTS["neck"], ".*calf_joint": JOINTS["jaw"]}
        self.robot = self.simulation.articulation(path)
        self.actuators = aa.ArticulationActuators.from_configs(path, motors)

    def follow(self, number: int) -> None:
        self.robot.set_dof_position_targets(np.full(self.robot.num_dofs, 0.3 * np.sin(0.7 * number), np.float32))
        self.simulation.step(100)

    def saved(self, spec: mujoco.mjtState) -> np.ndarray:
        state = np.empty(mujoco.mj_stateSize(self.model, spec))
        mujoco.mj_getState(self.model, self.data, state, spec)
        return state

    def restore(self, other: OwnGo1, spec: mujoco.mjtState) -> None:
        mujoco.mj_setState(self.model, self.data, other.saved(spec), spec)
        self.actuators.restore_state(other.actuators.save_state())

    def close(self) -> None:
        self.actuators.close()
        self.simulation.close()


def restored_on_physics(steps: int) -> None:
    """Physics and actuators restored midway have the same bits with all that MuJoCo integrates; without, it prints."""
    with aa.Simulation(ROOT / "data" / "robots" / "unitree_go1.usda") as simulation:
        simulation.play()
        model = copy.copy(simulation.model)
    every, physics = mujoco.mjtState.mjSTATE_INTEGRATION, mujoco.mjtState.mjSTATE_FULLPHYSICS
    count = max(20, steps // 100)
    first, others, off = OwnGo1(model), dict[Any, OwnGo1](), list[float]()
    for number in Part("hundreds of steps on MuJoCo, restored midway", count):
        if number == count // 2:
            for spec in (every, physics):
                # models hold what actuators switch off
                others[spec] = OwnGo1(copy.copy(model))
                others[spec].restore(first, spec)
        for robot in (first, *others.values()):
            robot.follow(number)
        if not np.isfinite(first.data.qpos).all() or first.actuators.faults:
            Part.bad.append(f"physics went wrong in chunk {number}: {first.actuators.faults}")
            break
        if others:
            if not np.array_equal(others[every].saved(every), first.saved(every)):
                Part.bad.append(f"restored physics differs in chunk {number}")
                break
            off.append(float(np.abs(others[physics].data.qpos - first.data.qpos).max()))
    print(f"  restored midway: {'not the same' if Part.bad else 'the same bits'}")
    if off:
        print(f"  without the warm start off by {off[0]:.2g} rad or m after 100 steps, by {off[-1]:.2g} at the end")
    for robot in (first, *others.values()):
        robot.close()


def wrappers(count: int) -> None:
    """Actuators made, stepped and closed while physics runs."""
    with aa.Simulation(ROOT / "data" / "robots" / "franka_panda.usda") as simulation:
        simulation.play()
        for _ in Part("wrappers made and closed", max(20, count)):
            with aa.ArticulationActuators("/World/Panda"):
                simulation.step()


def stages(count: int) -> None:
    files = [ROOT / "data" / "robots" / name for name in ("pendulum.usda", "arm_2dof.usda", "arm_2dof.xml")]
    for number in Part("stages opened and closed", max(20, count)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with aa.Simulation(files[number % len(files)]) as simulation:
                path = simulation.articulation("/").paths[0]
                actuators = aa.ArticulationActuators(path) if simulation.stage is not None else None
                simulation.play()
                simulation.step(2)
                if actuators is not None:
                    actuators.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="minutes: the same as --times 1")
    parser.add_argument("--times", type=float, default=10.0, help="how many times the figures of --quick")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["arrays", "physics", "restored", "wrappers", "stages"])
    arguments = parser.parse_args()
    times = 1.0 if arguments.quick else arguments.times
    print(f"seed {arguments.seed}", flush=True)
    parts: dict[str, Callable[[], None]] = {
        "arrays": lambda: on_arrays(round(times * STEPS), np.random.default_rng(arguments.seed)),
        "physics": lambda: on_physics(round(times * PHYSICS_STEPS)),
        "restored": lambda: restored_on_physics(round(times * PHYSICS_STEPS / 10)),
        "wrappers": lambda: wrappers(round(times * WRAPPERS)),
        "stages": lambda: stages(round(times * STAGES)),
    }
    for name, part in parts.items():
        if arguments.only in (None, name):
            part()
    for line in Part.bad:
        print(f"BAD: {line}")
    return bool(Part.bad)


if __name__ == "__main__":
    raise SystemExit(main())
