"""Benchmark a step on a GPU: the laws beside newton and Torch, other laws alone, and worlds of mujoco_warp.

./python.sh -m benchmarks.on_gpu [--quick] [--device cuda:0]

Each side is captured in a CUDA graph of many steps. The graphs of a row are replayed in turn in one process, timed with
events of the GPU; the table has the median time of one step, and its ratio to ours. Each side is compared with float64
first, by eager steps and by its graph. newton, Torch and mujoco_warp are measured where they are installed.
"""

# the peers are separate extras
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    CoggingConfig,
    DCMotorClampingConfig,
    ElectricalConfig,
    FrictionConfig,
    LinkageConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    SupplyConfig,
    ThermalConfig,
    TransmissionConfig,
)
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.engine.assembly import Assembly
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry

from .candidates import Candidate
from .candidates.one_object import signals
from .candidates.ours import components
from .check import TOLERANCE, Check
from .problem import DT, INPUTS, PIPELINES, Problem
from .timing import Block, interleave

# steps of a graph; even, for two states that take turns, and a multiple of the rows of a ring
SPAN = 96
SIZES, QUICK_SIZES = (1, 64, 1024, 4096, 16384, 65536), (1, 4096, 65536)
ROBOT = "12"
Row = tuple[str, str, str, list[tuple[str, np.ndarray]]]
"""Pipeline, robots, why a side is missing, and the times of all sides, ours first."""


# ---- graphs


class WarpGraph:
    """Steps captured by Warp.

    Args:
        step: One step.
        device: Of the GPU.
        span: Number of steps.
    """

    def __init__(self, step: Callable[[], Any], device: str, span: int = SPAN) -> None:
        # with the arrays that the graph uses
        self._step, self._device, self._span = step, device, span
        # modules are loaded before a capture
        for _ in range(2):
            step()
        with wp.ScopedCapture(device=device) as capture:
            for _ in range(span):
                step()
        self._graph: Any = capture.graph
        self._events = [wp.Event(device, enable_timing=True) for _ in range(2)] if device != "cpu" else []

    def replay(self) -> None:
        """Run the captured steps once."""
        wp.capture_launch(self._graph)

    def block(self, count: int) -> float:
        """Return the seconds of a step; see `timing.Block`."""
        replays = math.ceil(count / self._span)
        if not self._events:
            return eager(self.replay, self._device)(replays) / self._span
        wp.record_event(self._events[0])
        for _ in range(replays):
            wp.capture_launch(self._graph)
        wp.record_event(self._events[1])
        first, last = self._events
        return 1e-3 * wp.get_event_elapsed_time(first, last) / (replays * self._span)


class TorchGraph:
    """Steps captured by Torch."""

    def __init__(self, step: Callable[[], Any], span: int = SPAN) -> None:
        import torch

        self._step, self._torch, self._span, self._graph = step, torch, span, torch.cuda.CUDAGraph()
        aside = torch.cuda.Stream()
        with torch.cuda.stream(aside):
            for _ in range(4):
                step()
        torch.cuda.synchronize()
        with torch.cuda.graph(self._graph):
            for _ in range(span):
                step()

    def replay(self) -> None:
        """Run the captured steps once."""
        self._graph.replay()

    def block(self, count: int) -> float:
        """Return the seconds of a step."""
        first, last = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        replays = math.ceil(count / self._span)
        first.record()
        for _ in range(replays):
            self._graph.replay()
        last.record()
        last.synchronize()
        return 1e-3 * first.elapsed_time(last) / (replays * self._span)


def eager(step: Callable[[], Any], device: str) -> Block:
    """Blocks of single calls from Python, until the GPU has done all of them."""

    def block(count: int) -> float:
        wp.synchronize_device(device)
        start = time.perf_counter()
        for _ in range(count):
            step()
        wp.synchronize_device(device)
        return (time.perf_counter() - start) / count

    return block


# ---- sides


class _OnGpu(Candidate):
    """Arrays on a GPU, and a copy of the problem's inputs in them."""

    def __init__(self, problem: Problem, device: str) -> None:
        super().__init__(problem)
        self.device, shape = device, problem.zeros().shape
        self.there = {name: wp.zeros(shape, dtype=wp.float32, device=device) for name in INPUTS}
        self.out = wp.zeros(shape, dtype=wp.float32, device=device)

    @property
    def efforts(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """A copy of the efforts."""
        return self.out.numpy()

    def take_inputs(self) -> None:
        """Copy the inputs."""
        for name, array in self.there.items():
            array.assign(self.problem.inputs[name])


class Ours(_OnGpu):
    """The engine with one actuator per joint, as in a robot file."""

    def __init__(self, problem: Problem, device: str) -> None:
        super().__init__(problem, device)
        entries = []
        for joint in range(problem.num_joints):
            made = components(problem, slice(joint, joint + 1), device)
            parts = made.controller, made.clamping, made.delay
            entries.append(ActuatorEntry(f"/{joint}", (str(joint),), *parts, shared=not problem.per_robot))
        columns = list(problem.robot.columns)
        engine = Assembly(entries, problem.num_robots, device, columns)
        engine.bind(columns, [self.there[name] for name in INPUTS], self.out)
        self.engine = engine

    def step(self) -> None:
        """Step once."""
        self.engine.step(DT)


class Newton(_OnGpu):
    """newton 1.8, one object per law; efforts accumulate in a zeroed array."""

    def __init__(self, problem: Problem, device: str) -> None:
        from .candidates.newton_18 import newton_actuator

        super().__init__(problem, device)
        flat = {name: array.flatten() for name, array in self.there.items()}
        self._flat = self.out.flatten()
        self._signals = signals(problem, self._flat, flat)
        self._actuators = [newton_actuator(problem, group.joints, device=device) for group in problem.groups]
        self._now, self._next = ([one.state() for one in self._actuators] for _ in range(2))

    def step(self) -> None:
        """Zero the efforts, step all actuators, swap the states."""
        self._flat.zero_()
        for actuator, now, following in zip(self._actuators, self._now, self._next, strict=True):
            actuator.step(*self._signals, now, following, dt=DT)
        self._now, self._next = self._next, self._now


def sides(problem: Problem, device: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name of each side that is installed, and what makes it."""
    yield "ours", lambda: Ours(problem, device)
    if find_spec("newton") is not None:
        yield "newton", lambda: Newton(problem, device)
    if find_spec("torch") is not None and device != "cpu":
        from .candidates.torch_lab import TorchLab

        yield "Torch", lambda: TorchLab(problem, device)


def graph_of(name: str, side: Any, device: str) -> WarpGraph | TorchGraph:
    """Capture the steps of a side."""
    return TorchGraph(side.step) if name == "Torch" else WarpGraph(side.step, device)


def check_graph(problem: Problem, side: Any, graph: WarpGraph | TorchGraph, first: Any) -> tuple[float, np.ndarray]:
    """Replay a graph, and compare its efforts with those of the first side.

    Args:
        problem: The problem.
        side: The side.
        graph: Its graph.
        first: Efforts of the first side; None for that side.

    Returns:
        The largest difference relative to the largest effort, and the efforts of the first side.
    """
    problem.change_inputs(0)
    side.take_inputs()
    graph.replay()
    efforts = side.efforts.copy()
    if first is None:
        return 0.0, efforts
    # integrals depend on the number of steps before
    compared = [not problem.laws[joint % len(problem.laws)].integral for joint in range(problem.num_joints)]
    difference = np.abs(efforts - first)[:, compared]
    return float(difference.max(initial=0.0) / np.abs(first).max()), first


def laws(device: str, quick: bool, rounds: int) -> Iterator[Row]:
    """Measure the pipelines of `problem` beside the peers."""
    for pipeline in ("PD+max", "mixed") if quick else PIPELINES:
        for robots in QUICK_SIZES if quick else SIZES:
            problem, blocks, wrong = Problem(ROBOT, robots, pipeline), {}, []
            check, first = Check(problem), None
            for name, make in sides(problem, device):
                try:
                    if (error := check.error(make())) > TOLERANCE:
                        raise ArithmeticError(f"{name} is off by {error:.1e}")
                    side = make()
                    graph = graph_of(name, side, device)
                    off, first = check_graph(problem, side, graph, first)
                    if off > TOLERANCE:
                        raise ArithmeticError(f"the graph of {name} is off by {off:.1e}")
                    blocks[name] = graph.block
                    if name != "Torch":
                        blocks[f"{name}, from Python"] = eager(side.step, device)
                except Exception as error:
                    wrong.append(f"{name}: {type(error).__name__}: {error}")
            yield pipeline, f"{robots} x {problem.num_joints}", "; ".join(wrong), times_of(blocks, rounds)


def times_of(blocks: dict[str, Block], rounds: int) -> list[tuple[str, np.ndarray]]:
    """Times of all sides, in seconds per step."""
    return list(interleave(blocks, rounds, 0.003).items())


# ---- laws that the peers do not have


def stages_of(folder: Path) -> dict[str, list[Any]]:
    """Stages of all joints by the name of the row."""
    from isaacsim.core.experimental.actuators.files.networks import safetensors

    from .networks import Problem as NetworkProblem
    from .networks import network_of

    pd, limit = PDControlConfig(60.0, 2.0), MaxEffortClampingConfig(20.0)
    winding = ElectricalConfig(0.4, 0.5, voltage=24.0, temperature_coefficient=0.004)
    friction: dict[str, Any] = {"coulomb": 0.5, "viscous": 0.05, "static": 0.8, "assumed_inertia": 0.05}
    found: dict[str, list[Any]] = {
        "PD, limit": [pd, limit],
        "PD, DC motor, limit, gear": [pd, DCMotorClampingConfig(40.0, 6.0, 30.0), limit, TransmissionConfig(9.0)],
        "PD, limit, friction": [pd, limit, FrictionConfig(**friction)],
        "PD, limit, friction with loads": [pd, limit, FrictionConfig(**friction, motor_load=0.2, external_load=0.1)],
        "PD, limit, cogging": [pd, limit, CoggingConfig(0.3, 6.0)],
        "PD, winding, heat, battery": [pd, winding, ThermalConfig(3.0, 2.0), SupplyConfig(24.0, resistance=0.02)],
    }
    for name, about in (("MLP", {"input_idx": [0, 1, 2]}), ("LSTM", {})):
        file = folder / f"{name}.safetensors"
        file.write_bytes(safetensors.write(network_of(NetworkProblem(name, 1)), {"effort_scale": 20.0, **about}))
        found[f"network, {name} of Isaac Lab, limit"] = [NeuralControlConfig(str(file)), limit]
    return found


def motors_of(name: str, stages: list[Any], joints: Sequence[str]) -> dict[str, list[Any]]:
    """Motors of all joints; of linked ones in pairs."""
    if name != "ankles":
        return {".*": stages}
    found = {}
    for one, other in zip(joints[::2], joints[1::2], strict=True):
        found |= {joint: [*stages, part] for joint, part in zip((one, other), ankle(one, other), strict=True)}
    return found


def ankle(pitch: str, roll: str) -> tuple[LinkageConfig, LinkageConfig]:
    """Two motors that move an ankle together."""
    sizes: dict[str, Any] = {"crank": 0.05, "rod": 0.3, "anchor": (-0.05, 0.04, -0.02), "motor": (0.0, 0.04, 0.28)}
    return LinkageConfig.parallel_ankle(pitch, roll, **sizes, lower=(-0.6, -0.4), upper=(0.6, 0.4))


def other_laws(device: str, quick: bool, rounds: int) -> Iterator[Row]:
    """Measure laws of ours alone, after a comparison with the CPU."""
    joints, rng = [f"j{n}" for n in range(12)], np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        chosen = stages_of(Path(folder))
        chosen["ankles"] = chosen["PD, limit"]
        for name, stages in chosen.items():
            for robots in (4096,) if quick else (1, 1024, 4096, 16384):
                motors = motors_of(name, stages, joints)
                with quiet_warp():
                    here, there = (ActuatedArrays(joints, motors, robots, device=one) for one in ("cpu", device))
                given = (0.3 * rng.normal(size=(3, robots, 12))).astype(np.float32)
                q, qd, target = (wp.array(one, dtype=wp.float32, device=device) for one in given)
                off = 0.0
                for _ in range(4):
                    expected = here.step(given[0], given[1], given[2], DT)
                    found = there.step(q, qd, target, DT).numpy()
                    off = max(off, float(np.abs(found - expected).max() / np.abs(expected).max()))
                wrong = f"off by {off:.1e}" if off > TOLERANCE else ""

                def step(made: Any = there, q: Any = q, qd: Any = qd, target: Any = target) -> None:
                    made.step(q, qd, target, DT)

                blocks = {"ours": WarpGraph(step, device).block, "ours, from Python": eager(step, device)}
                yield name, f"{robots} x 12", wrong, times_of(blocks, rounds)


# ---- worlds of mujoco_warp


def worlds(device: str, quick: bool, rounds: int, counts: Sequence[int] = (1, 1024, 4096)) -> Iterator[Row]:
    """Measure a step of standing robots with their motors, and the physics alone."""
    import mujoco
    import mujoco_warp
    from isaacsim.core.experimental.actuators import ActuatedWorlds

    from .learning import MOTORS, exported, standing

    with standing(1) as (sim, robot, _):
        host = sim._host
        model = mujoco.MjModel.from_xml_string(exported(sim))
        # it does not reset by itself either
        model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        start, velocity = host.data(0).qpos.copy(), host.data(0).qvel.copy()
        names, goals = list(robot.dof_names), robot.get_dof_position_targets().numpy().copy()
        expected = np.array([_after(sim, host) for _ in range(20)])
    for count in counts[-1:] if quick else counts:
        blocks, off = {}, 0.0
        for with_motors in (True, False):
            with wp.ScopedDevice(device), quiet_warp():
                there, data = mujoco_warp.put_model(model), mujoco_warp.make_data(model, nworld=count)
                data.qpos.assign(np.tile(start, (count, 1)))
                data.qvel.assign(np.tile(velocity, (count, 1)))
                made = ActuatedWorlds(model, there, MOTORS, count)
                order = [names.index(one.rpartition("/")[2]) for one in made.dof_names]
                targets = wp.array(np.tile(goals[:, order], (count, 1)), dtype=wp.float32)

                def step(made: Any = made, there: Any = there, data: Any = data, goals: Any = targets) -> None:
                    made.step(data, goals, DT)
                    mujoco_warp.step(there, data)

                def physics(there: Any = there, data: Any = data) -> None:
                    mujoco_warp.step(there, data)

                def alone(made: Any = made, data: Any = data, goals: Any = targets) -> None:
                    made.step(data, goals, DT)

                if with_motors:
                    for row in expected:
                        step()
                        off = max(off, float(np.abs(data.qpos.numpy() - row).max()))
                    blocks["actuators and physics"] = graph_of_physics(step, there, device).block
                    blocks["actuators"] = WarpGraph(alone, device).block
                else:
                    step()
                    blocks["physics"] = graph_of_physics(physics, there, device).block
        wrong = f"off by {off:.1e} from MuJoCo" if off > 1e-3 else f"within {off:.1e} of MuJoCo"
        yield "mujoco_warp, ANYmal", f"{count} x {len(names)}", wrong, times_of(blocks, rounds)


def graph_of_physics(step: Callable[[], Any], there: Any, device: str) -> WarpGraph:
    """Capture steps of mujoco_warp: with a loop that ends early if the driver takes it, in graphs of 8 or 1 steps.

    Raises:
        RuntimeError: No graph can be made.
    """
    problem: RuntimeError | None = None
    for is_conditional, span in ((True, 8), (True, 1), (False, 8)):
        there.opt.graph_conditional = is_conditional
        try:
            graph = WarpGraph(step, device, span)
            graph.replay()
            wp.synchronize_device(device)
        except RuntimeError as error:
            problem = error
        else:
            print(f"graph of {span} steps, conditional = {is_conditional}", flush=True)
            return graph
    raise RuntimeError(f"mujoco_warp cannot be captured: {problem}") from problem


def _after(sim: Any, host: Any) -> np.ndarray:
    """Positions after one more step."""
    sim.step()
    return host.data(0).qpos.copy()


# ---- output


def printed(row: Row) -> str:
    """A row of a table."""
    pipeline, robots, wrong, times = row
    cells = [f"{pipeline} | {robots}"]
    first = times[0][1] if times else np.ones(1)
    for name, values in times:
        ratio = "" if values is first else f" ({np.median(values / first):.1f}x)"
        cells.append(f"{name} {1e6 * np.median(values):.2f} us{ratio}, from {1e6 * values.min():.2f}")
    return " | ".join(["", *cells, wrong, ""]).strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 where a side was wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks.on_gpu", description=__doc__)
    parser.add_argument("--device", default="cuda:0", help="the GPU, as Warp names it")
    parser.add_argument("--quick", action="store_true", help="fewer pipelines, sizes and rounds")
    parser.add_argument("--parts", nargs="+", default=["laws", "other_laws", "worlds"], help="what is measured")
    options = parser.parse_args(arguments)
    if options.device != "cpu" and not wp.is_cuda_available():
        print("no GPU here: nothing was measured.", file=sys.stderr)
        return 1
    print(f"{wp.get_device(options.device).name}, Warp {wp.config.version}, graphs of {SPAN} steps", flush=True)
    parts = {"laws": laws, "other_laws": other_laws, "worlds": worlds}
    wrong = 0
    for name in options.parts:
        if name == "worlds" and find_spec("mujoco_warp") is None:
            print("mujoco_warp is not installed.")
            continue
        for row in parts[name](options.device, options.quick, 5 if options.quick else 15):
            print(printed(row), flush=True)
            wrong += bool(row[2]) and not row[2].startswith("within")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
