"""What only a GPU shows: `./python.sh tests/hardening/gpu.py` on a machine that has one.

Every law of the catalogue steps on the GPU, by Warp on the CPU and by the native core, with the same inputs: efforts,
faults, states, published signals and observed efforts are compared through resets of some robots, parameters that were
read and written, bad inputs, signals of a simulator, arrays with a pitch, tensors of Torch and CUDA graphs. The laws
have to give the same bits on all three. Networks may round otherwise, since each engine has its own functions for them,
and so may efforts of the end of the step.

Prints a table and one line for each thing that went wrong; the exit code is 1 then. Needs NumPy and Warp; Torch and the
core are used where they are there. `benchmarks/on_gpu.py` measures the time of a step.

    ./python.sh tests/hardening/gpu.py --jobs 8              # several pipelines at once: most of the time compiles
    ./python.sh tests/hardening/gpu.py --device cpu          # the trials themselves, where there is no GPU
"""

import argparse
import contextlib
import functools
import multiprocessing
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.specs.configs import Config

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from pair_joints import MODES, Joint, all_joints

JOINTS = [f"{joint}_{leg}" for leg in range(2) for joint in ("haa", "hfe", "kfe")]
Motors = dict[str, list[Any]]
"""Stages by pattern of joint names."""

ROBOTS, DT = 257, 0.005
# of networks, and of implicit efforts, which step with each other, relative to the largest number
TOLERANCE, IMPLICIT_TOLERANCE = 2e-5, 5e-4
# pipelines that step so many robots that a grid has several rows of blocks
MANY, MOST_ROBOTS = ("PDControl", "Linkage(2)", "all kinds"), 70_001
# joints that are also tried with efforts of the end of the step
IMPLICIT = ("PIDControl", "SlewedPIDControl", "MaxEffortClamping", "Friction")
# signals that a simulator may give, and how they are drawn
GIVEN: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "inertia": lambda numbers, shape: numbers.uniform(0.02, 0.2, shape),
    "load": lambda numbers, shape: numbers.normal(0.0, 1.0, shape),
    "load_is_whole": lambda numbers, shape: numbers.integers(0, 2, shape),
}


def pipelines() -> dict[str, Motors]:
    """Motors by name: the joints of `tests.pairs`, with each law and each of its choices, and six that differ."""
    joints = [joint for joint in all_joints() if all(isinstance(one, Config) for axis in joint.axes for one in axis)]
    joints += [joint.in_mode(MODES[1]) for joint in joints if joint.name in IMPLICIT]
    found = {joint.name: motors_of(joint) for joint in joints}
    apart = [joint for joint in joints[:-1:12] if len(joint.axes) == 1]
    return found | {"all kinds": {name: list(one.axes[0]) for name, one in zip(JOINTS, apart, strict=False)}}


def motors_of(joint: Joint) -> Motors:
    stages = joint.motors(JOINTS[: len(joint.axes)], ROBOTS)
    return {".*": stages[0]} if len(stages) == 1 and not joint.is_linkage else dict(zip(JOINTS, stages, strict=False))


@contextlib.contextmanager
def without_core():
    core, native.core = native.core, None
    try:
        yield
    finally:
        native.core = core


@dataclass
class Compared:
    count: int = 0
    unequal: int = 0
    largest: float = 0.0
    scale: float = 1.0
    tolerance: float = TOLERANCE

    def add(self, found: np.ndarray, expected: np.ndarray, what: str, *, same: bool) -> None:
        """Compare float32 arrays."""
        found, expected = (np.ascontiguousarray(one, np.float32) for one in (found, expected))
        assert found.shape == expected.shape, f"{what}: shape {found.shape}, not {expected.shape}"
        nan = np.isnan(expected)
        differ = (found.view(np.int32) != expected.view(np.int32)) & ~(nan & np.isnan(found))
        self.count += differ.size
        self.unequal += int(differ.sum())
        if not differ.any():
            return
        at = tuple(int(one[0]) for one in np.nonzero(differ))
        words = f"{what}: {int(differ.sum())} of {differ.size} differ, {found[at]!r} != {expected[at]!r} at {at}"
        with np.errstate(invalid="ignore"):
            difference = np.abs(found - expected)[differ]
        assert np.isfinite(difference).all() and not same, words
        self.largest = max(self.largest, float(difference.max()))
        self.scale = max(self.scale, float(np.abs(expected[~nan]).max()))
        assert self.largest <= self.tolerance * self.scale, words

    def __str__(self) -> str:
        return "same" if not self.unequal else f"{self.unequal} of {self.count}, by {self.largest:.1e}"


class Engines:
    """The same actuators on the GPU, by Warp on the CPU and by the core."""

    def __init__(self, motors: Motors, device: str, robots: int = ROBOTS) -> None:
        self.device, self.robots = device, robots
        with without_core():
            self.gpu = ActuatedArrays(JOINTS, motors, robots, device=device)
            self.others = {"Warp on the CPU": ActuatedArrays(JOINTS, motors, robots)}
        if native.core is not None:
            self.others["the core"] = ActuatedArrays(JOINTS, motors, robots)
        plans = [step.plan for _, step in self.gpu._assembly.parts]
        implicit = any(law.END is not None for plan in plans for law, _ in plan.laws)
        tolerance = IMPLICIT_TOLERANCE if implicit else TOLERANCE
        self.compared = {name: Compared(tolerance=tolerance) for name in self.others}
        self.shape = robots, len(JOINTS)
        self.inputs = [np.zeros(self.shape, np.float32) for _ in range(5)]
        self.there: list = [wp.zeros(self.shape, dtype=wp.float32, device=device) for _ in range(5)]
        self.numbers = np.random.default_rng(5)
        # engines have functions of their own for networks, and round efforts of the end of the step in other places
        self.same = not implicit and not any(plan.networks for plan in plans)

    @property
    def all(self) -> list[ActuatedArrays]:
        return [self.gpu, *self.others.values()]

    def give(self, bad: bool = False) -> None:
        for array in self.inputs:
            array[:] = 0.6 * self.numbers.normal(size=array.shape)
            if bad:
                array[self.numbers.random(array.shape) < 0.02] = self.numbers.choice([np.nan, np.inf, -np.inf])
        self.hand_over()

    def hand_over(self) -> None:
        for array, there in zip(self.inputs, self.there, strict=True):
            there.assign(array)

    def step_gpu(self):
        q, qd, target, velocity, feedforward = self.there
        return self.gpu.step(q, qd, target, DT, qd_target=velocity, feedforward=feedforward)

    def step_others(self) -> dict[str, np.ndarray]:
        q, qd, target, velocity, feedforward = self.inputs
        given = {"qd_target": velocity, "feedforward": feedforward}
        return {name: one.step(q, qd, target, DT, **given) for name, one in self.others.items()}

    def compare(self, found: np.ndarray, expected: dict[str, np.ndarray], what: str) -> None:
        for name, right in expected.items():
            self.compared[name].add(found, right, f"{what}, {name}", same=self.same)

    def step(self) -> None:
        self.compare(self.step_gpu().numpy(), self.step_others(), "efforts")

    def check(self) -> None:
        found, saved = [str(one) for one in self.gpu.faults], self.gpu.save_state()
        signals = signals_of(self.gpu)
        for name, one in self.others.items():
            assert found == [str(fault) for fault in one.faults], f"faults, {name}"
            right, add = one.save_state(), functools.partial(self.compared[name].add, same=self.same)
            assert {*saved} == {*right}, f"names of states, {name}"
            for key, values in saved.items():
                # a row of a ring that no delay reaches holds what an engine left there
                if ".earlier" in key:
                    continue
                if values.dtype.kind == "f":
                    add(values, right[key], f"state {key}, {name}")
                else:
                    assert np.array_equal(values, right[key]), f"state {key}, {name}"
            for key, values in signals_of(one).items():
                add(signals[key], values, f"signal {key}, {name}")

    def run(self, steps: int = 12, bad: bool = False) -> None:
        for _ in range(steps):
            self.give(bad)
            self.step()
        self.check()

    def reset(self, chosen, there) -> None:
        self.gpu.reset(indices=there)
        for one in self.others.values():
            one.reset(indices=chosen)


def signals_of(made: ActuatedArrays) -> dict[str, np.ndarray]:
    return {
        name: np.concatenate([array.numpy() for _, array in parts], axis=1)
        for name, parts in made._assembly.signals.items()
    }


def components(made: ActuatedArrays):
    for actuator in made.actuators:
        for component in actuator.stages:
            yield from ((component, name) for name in component.PARAMETERS)


def steps(engines: Engines) -> None:
    engines.run(40)


def bad_inputs(engines: Engines) -> None:
    engines.run(8, bad=True)
    engines.run(8)


def resets(engines: Engines) -> None:
    """Some robots by their numbers, some by a mask that stays on the GPU, then all."""
    engines.run(bad=True)
    mask = np.arange(ROBOTS) % 3 == 0
    there = wp.array(mask, dtype=wp.bool, device=engines.device)
    for chosen, on_gpu in (([0, 5, 256], [0, 5, 256]), (mask, there), (None, None)):
        engines.reset(chosen, on_gpu)
        engines.check()
        engines.run()


def written_parameters(engines: Engines) -> None:
    engines.run()
    for every in zip(*map(components, engines.all), strict=True):
        component, name = every[-1]
        before = getattr(component, name).numpy()
        # numbers that stand for a choice stay
        factor = 1.0 if np.isin(before, (0.0, 1.0)).all() else engines.numbers.uniform(0.95, 1.05, len(before))
        for one, _ in every:
            getattr(one, name).assign((before * factor).astype(before.dtype))
    engines.run()


def parameter_at_fault(engines: Engines) -> None:
    """A parameter that is NaN in some robots: effort 0, and the laws remember nothing of the step."""
    engines.run()
    for every in zip(*map(components, engines.all), strict=True):
        values = getattr(*every[-1]).numpy().copy()
        if values.dtype.kind != "f":
            continue
        values[engines.numbers.random(len(values)) < 0.02] = np.nan
        for one, name in every:
            getattr(one, name).assign(values)
    engines.run()


def given_signals(engines: Engines) -> None:
    parts = [one._assembly.signals for one in engines.all]
    for step in range(24):
        for name in [name for name in GIVEN if name in parts[0]]:
            values = GIVEN[name](engines.numbers, engines.shape).astype(np.float32)
            if step >= 16:
                values[engines.numbers.random(values.shape) < 0.02] = np.nan
            for signals in parts:
                for joints, array in signals[name]:
                    array.assign(np.ascontiguousarray(values[:, joints]))
        engines.give()
        engines.step()
    engines.check()


def observed(engines: Engines) -> None:
    for one in engines.all:
        one.observe_efforts()
    for number in range(8):
        engines.give(bad=number > 5)
        engines.step()
        for name in ("computed_efforts", "motor_efforts"):
            others = {key: getattr(one, name) for key, one in engines.others.items()}
            engines.compare(getattr(engines.gpu, name), others, name)
        for key, one in engines.others.items():
            assert engines.gpu.limited_by.tolist() == one.limited_by.tolist() or not engines.same, f"limited_by, {key}"
    for one in engines.all:
        one.observe_efforts(False)
    engines.run()


def graph(engines: Engines) -> None:
    engines.run()
    with wp.ScopedCapture(device=engines.device) as capture:
        efforts = engines.step_gpu()
    for number in range(24):
        engines.give(bad=number % 5 == 4)
        wp.capture_launch(capture.graph)
        engines.compare(efforts.numpy(), engines.step_others(), "efforts")
        if number in (7, 15):
            chosen = [1, 2] if number == 7 else None
            engines.reset(chosen, chosen)
    engines.check()
    engines.run()


def graph_of_an_episode(engines: Engines) -> None:
    """A graph of three steps and a reset by a mask on the GPU, whose values change from replay to replay."""
    engines.run()
    mask = wp.zeros(ROBOTS, dtype=wp.bool, device=engines.device)
    engines.gpu.reset(indices=mask)
    with wp.ScopedCapture(device=engines.device) as capture:
        for _ in range(3):
            efforts = engines.step_gpu()
        engines.gpu.reset(indices=mask)
    for number in range(6):
        engines.give()
        chosen = np.arange(ROBOTS) % (number + 2) == 0
        mask.assign(chosen)
        wp.capture_launch(capture.graph)
        for _ in range(3):
            expected = engines.step_others()
        engines.compare(efforts.numpy(), expected, "efforts")
        for one in engines.others.values():
            one.reset(indices=chosen)
        engines.check()


def moved_state(engines: Engines) -> None:
    engines.run(bad=True)
    for name, one in engines.others.items():
        engines.gpu.restore_state(one.save_state())
        engines.compare(engines.step_gpu().numpy(), engines.step_others(), f"efforts with the state of {name}")
        one.restore_state(engines.gpu.save_state())
        engines.run()


def arrays_with_a_pitch(engines: Engines) -> None:
    """Columns of wider arrays, new ones from time to time, and efforts written into one of the caller's."""
    count = len(JOINTS)
    for _ in range(3):
        size = engines.robots, 7 + count + 3
        wide = [wp.zeros(size, dtype=wp.float32, device=engines.device) for _ in range(5)]
        engines.there = [one[:, 7 : 7 + count] for one in wide]
        out = wp.full(size, 7.0, dtype=wp.float32, device=engines.device)
        for _ in range(4):
            engines.give()
            q, qd, target, velocity, feedforward = engines.there
            given = {"qd_target": velocity, "feedforward": feedforward, "out": out[:, 7 : 7 + count]}
            engines.gpu.step(q, qd, target, DT, **given)
            found, others = out.numpy(), engines.step_others()
            driven = engines.gpu._columns
            engines.compare(found[:, 7 : 7 + count][:, driven], {k: v[:, driven] for k, v in others.items()}, "efforts")
            found[:, np.add(driven, 7)] = 7.0
            assert (found == 7.0).all(), "wrote beside the joints"
    engines.check()


def torch_tensors(engines: Engines) -> None:
    import torch

    device = "cuda" if engines.device.startswith("cuda") else "cpu"
    work = torch.ones(2048, 2048, device=device) / 2048
    for _ in range(6):
        engines.give()
        # a long product, on which each input depends
        one = (work @ work @ work)[0, 0] * 2048
        q, qd, target, velocity, feedforward = (torch.from_numpy(array).to(device) * one for array in engines.inputs)
        efforts = engines.gpu.step(q, qd, target, DT, qd_target=velocity, feedforward=feedforward)
        assert isinstance(efforts, torch.Tensor) and efforts.device == q.device, f"{type(efforts)}"
        engines.compare((efforts * 1.0).cpu().numpy(), engines.step_others(), "efforts")
    engines.check()


def many_robots(engines: Engines) -> None:
    engines.run(2)


TRIALS: tuple[Callable[[Engines], None], ...] = (
    *(steps, bad_inputs, resets, written_parameters, parameter_at_fault, given_signals, observed, graph),
    *(graph_of_an_episode, moved_state, arrays_with_a_pitch, torch_tensors, many_robots),
)


def is_skipped(trial: Callable[[Engines], None], pipeline: str, device: str) -> bool:
    """Return True for what cannot be tried here, or takes long and shows nothing new."""
    if trial is many_robots:
        return pipeline not in MANY
    if trial is graph_of_an_episode:
        # on the CPU a mask is read when it is given
        return device == "cpu"
    if trial is not torch_tensors:
        return False
    with contextlib.suppress(ImportError):
        import torch

        return wp.is_cuda_available() and not torch.cuda.is_available()
    return True


Row = tuple[str, str, list[str], str]
"""Pipeline, trial, what was found against each engine, and the trace of a failure."""


def tried(name: str, motors: Motors, device: str) -> list[Row]:
    rows = []
    for trial in TRIALS:
        if is_skipped(trial, name, device):
            continue
        try:
            engines = Engines(motors, device, MOST_ROBOTS if trial is many_robots else ROBOTS)
            trial(engines)
            rows.append((name, trial.__name__, [str(one) for one in engines.compared.values()], ""))
        except Exception as error:
            last = f"WRONG: {type(error).__name__}: {error}".replace("\n", " ")[:300]
            rows.append((name, trial.__name__, [last], traceback.format_exc()))
    return rows


def refused(device: str) -> list[Row]:
    try:
        with contextlib.suppress(ImportError):
            ActuatedArrays(JOINTS, {".*": [PDControlConfig(60.0, 2.0)]}, device=device, requires_grad=True)
            return [("requires_grad", "refused", ["WRONG: it was not"], "")]
    except NotImplementedError as error:
        assert "must be on the CPU" in str(error)
    return [("requires_grad", "refused", ["by a message"], "")]


def summary(rows: list[Row]) -> list[str]:
    """A line per pipeline: trials, and the largest difference from each engine."""
    found = ["| pipeline | trials | from Warp on the CPU | from the core |", "|---|---|---|---|"]
    for name in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == name]
        good = [row for row in mine if not row[2][0].startswith("WRONG")]
        cells = []
        for column in range(2):
            said = dict.fromkeys(row[2][column] for row in good if len(row[2]) > column)
            cells.append("; ".join(one for one in said if one != "same") or "same bits")
        found.append(f"| {name} | {len(good)} of {len(mine)} | {' | '.join(cells)} |")
    return found


def main() -> int:
    """Print the tables; 1 when something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0", help="the GPU")
    parser.add_argument("--jobs", type=int, default=4, help="number of pipelines at once")
    parser.add_argument("--only", default="", help="part of the names of pipelines")
    options = parser.parse_args()
    wp.init()
    if options.device != "cpu" and not wp.is_cuda_available():
        print("no GPU here: nothing was tried.")
        return 1
    print(f"{wp.get_device(options.device).name}, Warp {wp.config.version}, {len(TRIALS)} trials of each pipeline")
    rows: list[Row] = []
    chosen = {name: one for name, one in pipelines().items() if options.only in name}
    # a process of its own each: a CUDA context does not survive a fork
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for one in [pool.apply_async(tried, (name, one, options.device)) for name, one in chosen.items()]:
            rows += one.get()
    if options.device != "cpu" and not options.only:
        rows += refused(options.device)
    print("\n".join(["", *summary(rows), ""]), flush=True)
    wrong = [row for row in rows if row[2][0].startswith("WRONG")]
    for name, trial, (last, *_), trace in wrong:
        print(f"{name}: {trial}: {last}")
        print(trace, file=sys.stderr)
    print(f"{len(rows)} trials, {len(wrong)} wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
