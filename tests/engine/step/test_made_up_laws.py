"""Laws with a line in the table are built in: a core compiled with test laws is bit-identical to Warp.

No shipped law has two states, and no shipped limit has a state. These tests cover both in the core, where stateful
limits use gather and scatter in every layout.
"""

import dataclasses
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import curved_laws
import heated
import isaacsim.core.experimental.actuators as aa
import laws_header
import numpy as np
import pytest
import step_bench
import warp as wp
from curved_laws import CurvedTwin, curved_entries
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.base.memory import numpy_view
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import Plan, array_stages, base_of, compile_plan
from isaacsim.core.experimental.actuators.engine.step.binding import Columns, Indices
from isaacsim.core.experimental.actuators.engine.step.engine import with_array_stages
from isaacsim.core.experimental.actuators.engine.step.fault import SIGNAL_FAULT
from isaacsim.core.experimental.actuators.engine.step.native import NativeStep
from isaacsim.core.experimental.actuators.engine.step.state import restore, save
from isaacsim.core.experimental.actuators.engine.step.warp import WarpStep
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.laws.networks.checkpoint import Checkpoint
from isaacsim.core.experimental.actuators.laws.transmission_gear import gear_effort
from isaacsim.core.experimental.actuators.specs.configs import Config
from isaacsim.core.experimental.actuators.specs.stages import parts_of
from neural_twin import random_network
from other_laws import replace_laws
from own_components import OwnController, OwnLimit
from places import REPOSITORY
from refusals import refused
from step_bench import (
    DT,
    NAMES,
    ROBOTS,
    Bench,
    ClampingLoaded,
    FeedbackFiltered,
    JointTwin,
    PassiveDrag,
    TransmissionGear,
    TransmissionSoft,
    Twin,
    asking_entries,
    draw,
    entries,
    floats,
    geared_entries,
    joint_entries,
    sensing_entries,
)

# a core of other laws is compiled for all of them
pytestmark = pytest.mark.slow
if native.core is None:
    pytest.skip("the native core was not built", allow_module_level=True)
FLAGS = ["-std=c++17", "-O0", "-fPIC", "-ffp-contract=off", "-fvisibility=hidden"]
JOINTS = list(range(len(NAMES)))


class OwnDrag(PassiveDrag):
    def modify_forces(self, *args, **kwargs) -> None:
        super().modify_forces(*args, **kwargs)


def line(law: type) -> catalogue.Law:
    said = {"KIND": law.KIND, "SCHEMA": f"{law.__name__}API"}
    config = dataclasses.make_dataclass(f"{law.__name__}Config", [], bases=(Config,), namespace=said)
    return catalogue.Law(config, law.__name__)


def lines() -> tuple[catalogue.Law, ...]:
    """The catalogue with a controller before all others, limits before a shipped one, and the rest behind."""
    own = {law.__name__: line(law) for law in (*step_bench.MADE_UP, *curved_laws.CURVED)}
    leaky = own.pop("ControllerLeaky")
    limits = [own.pop(f"Clamping{name}") for name in ("Curved", "Faded", "Loaded", "Slew")]
    laws = list(catalogue.LAWS)
    plain = next(at for at, law in enumerate(laws) if law.name == "ClampingMaxEffort")
    return (leaky, *laws[:plain], *limits, *laws[plain:], *own.values(), *heated.lines())


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The core with these laws more, for the baseline only."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    pybind11 = pytest.importorskip("pybind11", reason="pybind11 is not installed")
    if compiler is None or sys.platform != "linux":
        pytest.skip("there is no C++ compiler that takes these flags")
    folder: Path = tmp_path_factory.mktemp("core")
    source = shutil.copytree(REPOSITORY / "native", folder / "native")
    with pytest.MonkeyPatch.context() as patch:
        install(patch)
        (source / "generated_laws.h").write_text(laws_header.header(), encoding="utf-8")
    # types of its own, beside those of the core that is there
    apart = "-DPYBIND11_INTERNALS_VERSION=1000"
    includes = [f"-I{path}" for path in (pybind11.get_include(), sysconfig.get_path("include"))]
    has = "-DACTUATORS_HAS_BASELINE"
    variant = ["-DACTUATORS_VARIANT=baseline", "-DACTUATORS_SYMBOL=kBaseline", '-DACTUATORS_NAME="baseline"']

    def build(file: Path) -> str:
        # what is compiled once for each instruction set says so
        own = variant if "namespace ACTUATORS_VARIANT" in file.read_text("utf-8") else [*includes, apart]
        made = folder / f"{file.stem}.o"
        run([compiler, *FLAGS, has, *own, "-c", str(file), "-o", str(made)])
        return str(made)

    with ThreadPoolExecutor() as pool:
        # the longest first, so that the other cores are not idle at the end
        files = sorted(source.glob("*.cpp"), key=lambda file: file.stat().st_size, reverse=True)
        objects = list(pool.map(build, files))
    run([compiler, "-shared", *objects, "-o", str(folder / "core.so"), "-lpthread"])
    spec = importlib.util.spec_from_file_location("core", folder / "core.so")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def install(patch: pytest.MonkeyPatch) -> None:
    """Make the made-up laws built-in ones, each in a file of its name."""
    for law in (*step_bench.MADE_UP, *heated.LAWS, *curved_laws.CURVED):
        home = f"{catalogue.PACKAGE}.{catalogue.snake_case(law.__name__)}"
        patch.setitem(sys.modules, home, sys.modules[law.__module__])
        patch.setattr(law, "__module__", home)
    replace_laws(patch, lines())


@pytest.fixture
def built_in(compiled: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ACTUATORS_ISA", raising=False)
    install(monkeypatch)
    monkeypatch.setattr(native, "core", compiled)
    assert base_of(step_bench.ClampingSlew) is step_bench.ClampingSlew
    return compiled


def on_warp(plan: Plan) -> WarpStep:
    return WarpStep(plan, "cpu")


def stepped_by(engine: Callable, given: list[ActuatorEntry]):
    """The step of entries, with what computes arrays of them."""
    for entry in given:
        for component in entry.stages:
            component.finalize("cpu", ROBOTS)
    apart = [(entry.label, cut, [n]) for n, entry in enumerate(given) if (cut := array_stages(entry)) is not None]
    step = engine(compile_plan(given, ROBOTS))
    return with_array_stages(step, apart, "cpu") if apart else step


class Both:
    """The core and Warp with the same joints, and what they say while it is the same of both."""

    def __init__(self, given: list[ActuatorEntry], observed: bool = False) -> None:
        self.core, self.warp = self.steps = stepped_by(NativeStep, given), stepped_by(on_warp, given)
        self.benches = [Bench(step) for step in self.steps]
        self.observe(observed)

    def observe(self, observed: bool) -> None:
        for step in self.steps:
            step.observe(observed)

    def efforts(self, inputs: np.ndarray, dt: float = DT) -> list[np.ndarray]:
        for bench in self.benches:
            bench.feed(inputs)
            bench.step_of_plan.step(dt)
        return [bench.efforts() for bench in self.benches]

    def step(self, inputs: np.ndarray, dt: float = DT) -> np.ndarray:
        core, warp = self.efforts(inputs, dt)
        np.testing.assert_array_equal(core.view(np.int32), warp.view(np.int32))
        return core

    def observed(self) -> list[np.ndarray]:
        """Efforts before the limits, numbers of the laws that changed them, and efforts of the motors."""
        seen = [[numpy_view(array) for array in (*step.observed(), step.motor_efforts())] for step in self.steps]
        np.testing.assert_equal(*seen)
        return seen[0]

    def saved(self) -> dict[str, np.ndarray]:
        core, warp = (save([(JOINTS, step)]) for step in self.steps)
        np.testing.assert_equal(warp, core)
        return core

    def swap(self) -> None:
        """Let each go on from the state of the other."""
        saved = [save([(JOINTS, step)]) for step in self.steps]
        for step, other in zip(self.steps, reversed(saved), strict=True):
            restore([(JOINTS, step)], other)

    def reset(self, robot: int) -> None:
        for step in self.steps:
            step.reset([robot])

    def had_faults(self) -> bool:
        return self.core.faults() == self.warp.faults() != []


@pytest.fixture
def both(built_in: ModuleType) -> type[Both]:
    return Both


def test_core_knows_them(built_in) -> None:
    known = {law.__name__: built_in.laws()[law.__name__] for law in step_bench.MADE_UP}
    assert {name: told["kind"] for name, told in known.items()} == {
        law.__name__: law.KIND for law in step_bench.MADE_UP
    }
    assert [told["states"] for told in known.values()] == [0, 1, 0, 0, 1, 2, 0, 1, 0, 1, 1]
    assert [told["asked"] for told in known.values()] == [0, 0, 1, 1, 3, 0, 0, 0, 0, 0, 1]


def test_bits_of_warp_and_the_numbers_of_float64(both, rng) -> None:
    pair = both(entries())
    twins = [Twin(robot) for robot in range(ROBOTS)]
    for step in range(60):
        inputs = draw(rng)
        if step == 30:
            assert "/A/toe.clamping.0.last" in pair.saved()
            pair.swap()
        if step == 45:
            pair.reset(1)
            twins[1] = Twin(1)
        expected = [twin.step(inputs[:, robot]) for robot, twin in enumerate(twins)]
        np.testing.assert_allclose(pair.step(inputs), expected, atol=2e-4, rtol=2e-5)
    assert pair.had_faults()


def across_gaps(given: list[ActuatorEntry], monkeypatch) -> list[ActuatorEntry]:
    """Entries whose robots share all, in columns with gaps between them."""
    monkeypatch.setattr(step_bench, "COLUMNS", (0, 2, 3, 5))
    return [dataclasses.replace(entry, shared=True) for entry in given]


@pytest.mark.parametrize("observed", [False, True])
def test_bits_of_warp_across_gaps(observed, both, monkeypatch, rng) -> None:
    pair = both(across_gaps(entries(), monkeypatch), observed)
    for _ in range(40):
        pair.step(draw(rng))
        if observed:
            pair.observed()


@pytest.mark.usefixtures("built_in")
def test_public_actuator_runs_them_natively(monkeypatch, rng) -> None:
    count = 3
    floats = {name: wp.zeros(count, dtype=wp.float32, device="cpu") for name in ("q", "v", "tq", "tv", "ff", "f")}
    at = wp.array(np.arange(count), dtype=wp.uint32, device="cpu")
    sim = {"joint_q": floats["q"], "joint_qd": floats["v"]}
    control = {"joint_target_pos": floats["tq"], "joint_target_vel": floats["tv"]}
    control |= {"joint_act": floats["ff"], "joint_f": floats["f"]}
    made = []
    for core in (native.core, None):
        monkeypatch.setattr(native, "core", core)
        slew = step_bench.ClampingSlew(step_bench.full(300), step_bench.full(8))
        actuator = aa.Actuator(at, step_bench.ControllerLeaky(step_bench.full(20)), clamping=[slew])
        assert isinstance(actuator.compiled(), NativeStep) == (core is not None)
        made.append((actuator, [actuator.state(), actuator.state()], core))
    for _ in range(30):
        inputs = rng.normal(size=(5, count)).astype(np.float32)
        inputs[rng.random(inputs.shape) < 0.03] = np.nan
        for name, values in zip(floats, inputs, strict=False):
            floats[name].assign(values)
        results = []
        for actuator, states, core in made:
            monkeypatch.setattr(native, "core", core)
            floats["f"].zero_()
            actuator.step(sim, control, *states, dt=DT)
            states.reverse()
            results.append((floats["f"].numpy().copy(), states[0].clamping_states[0].last.numpy().copy()))
        np.testing.assert_array_equal(*results)
    assert any(results[0][1])


# ---- before and after the limits, and without a controller


@pytest.mark.parametrize("kind", ["columns", "gaps"])
def test_stages_around_the_limits(kind, both, monkeypatch, rng) -> None:
    # robots that share all are as the first one
    shared = kind == "gaps"
    pair = both(across_gaps(joint_entries(), monkeypatch) if shared else joint_entries(), True)
    limits = [name.startswith("Clamping") for name in ("", *pair.core.stage_names)]
    seen = set()
    twins = [JointTwin(0 if shared else robot) for robot in range(ROBOTS)]
    for step in range(60):
        inputs = draw(rng)
        if step == 20:
            named = {"/A/knee.passive.0.slip", "/A/ankle.passive.1.slip", "/A/toe.clamping.0.last"}
            assert named <= {*pair.saved()}
            pair.swap()
        if step == 40:
            pair.reset(1)
            twins[1] = JointTwin(0 if shared else 1)
        expected = [twin.step(inputs[:, robot]) for robot, twin in enumerate(twins)]
        np.testing.assert_allclose(pair.step(inputs), expected, atol=2e-4, rtol=2e-5)
        _, numbers, motor = pair.observed()
        np.testing.assert_allclose(motor, [twin.motor for twin in twins], atol=2e-4, rtol=2e-5)
        seen |= {*numbers.ravel().tolist()}
    # of the laws that changed an effort, limits only are told
    assert seen == {0, *np.flatnonzero(limits).tolist()} and pair.had_faults()


def own_controller() -> OwnController:
    return OwnController(*map(step_bench.full, (30, 20, 2, 0.05)))


def test_stages_around_the_limits_and_components_between(both, rng) -> None:
    given = joint_entries()
    given[0].clamping.append(OwnLimit(step_bench.full(8)))
    given[3] = dataclasses.replace(given[3], controller=own_controller())
    pair = both(given, True)
    for number in range(40):
        if number == 20:
            pair.reset(2)
        efforts = pair.step(draw(rng))
        computed, numbers, motor = pair.observed()
        hip = np.array(["", *pair.core.stage_names])[numbers[:, 0]]
        np.testing.assert_array_equal(hip, np.where(np.abs(computed[:, 0]) > 8, "OwnLimit", ""))
        np.testing.assert_allclose(motor[:, 0], np.clip(computed[:, 0], -8, 8))
        assert not motor[:, 2].any()
        np.testing.assert_array_equal(motor[:, 3], efforts[:, 3])
    assert pair.saved() and pair.had_faults()


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("engine", [NativeStep, on_warp])
def test_motor_efforts_before_a_passive_law_that_computes_arrays(engine, rng) -> None:
    entry = joint_entries()[0]
    entry.others[:] = [OwnDrag(step_bench.full(2))]
    step = stepped_by(engine, [entry])
    arrays = [np.zeros((ROBOTS, 1), np.float32) for _ in range(6)]
    step.bind(Columns([0], arrays[:5], arrays[5]))
    step.observe(True)
    for _ in range(10):
        for array in arrays[:5]:
            array[:] = 3 * rng.normal(size=array.shape)
        arrays[0][1] = np.nan
        step.step(DT)
        q, qd, target, target_velocity, ff = (array.astype(np.float64) for array in arrays[:5])
        wanted = np.clip(10 * (target - q) + target_velocity - qd + ff, -9, 9)
        wanted[1] = 0
        np.testing.assert_allclose(step.motor_efforts(), wanted, atol=1e-5)
        np.testing.assert_allclose(arrays[5], np.where(wanted != 0, wanted - 2 * qd, 0), atol=1e-5)
        numbers = step.observed()[1]
        np.testing.assert_array_equal(np.array(["", *step.stage_names])[numbers] != "", np.abs(wanted) == 9)


def test_what_asks_cannot_stand_beside_components_of_arrays() -> None:
    """In a wrapper it would silently get neutral signals; outside a plan it does."""
    entry = asking_entries()[0]
    entry.clamping.append(OwnLimit(step_bench.full(8)))
    refused(TypeError, lambda: stepped_by(on_warp, [entry]), r"ClampingLoaded asks for \('load',\)")
    at = wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu")
    efforts = floats(5.0, -5.0, 0.5)
    ClampingLoaded(step_bench.full(3)).modify_forces(efforts, efforts, efforts, efforts, at, at)
    assert efforts.numpy().tolist() == [3.0, -3.0, 0.5]


def test_unknown_signal_is_named() -> None:
    odd = type("PassiveOdd", (PassiveDrag,), {"ASKS": ("weather",)})
    with pytest.raises(TypeError, match=r"PassiveOdd.ASKS: \['weather'\]: must be some of \['inertia', 'load'"):
        compile_plan([ActuatorEntry("/A/hip", ("hip",), None, [], None, others=[odd(step_bench.full(1))])], ROBOTS)


def mlp() -> aa.ControllerNeuralMLP:
    columns = {"input_idx": [0, 1], "effort_scale": 9.0, "pos_scale": 2.0}
    return aa.ControllerNeuralMLP(Checkpoint(random_network("mlp", 4, layers=2), columns, "onnx", "a"))


def test_networks_see_what_sensors_give(both, rng) -> None:
    lstm = Checkpoint(random_network("lstm", 2, layers=1), {"effort_scale": 30.0}, "onnx", "b")
    skewed, filtered = sensing_entries()[1].others[0], sensing_entries()[2].others[0]
    drag = PassiveDrag(step_bench.full(0.5))
    pair = both(
        [
            ActuatorEntry("/A/hip", ("hip",), mlp(), [], None, others=[skewed, drag]),
            ActuatorEntry("/A/knee", ("knee",), mlp(), [], None),
            ActuatorEntry("/A/ankle", ("ankle",), aa.ControllerNeuralLSTM(lstm), [], None, others=[filtered]),
            ActuatorEntry("/A/toe", ("toe",), None, [], None, others=[PassiveDrag(step_bench.full(1))]),
        ]
    )
    for number in range(20):
        inputs = draw(rng, faults=number > 10)
        # the knee is where the hip seems to be
        inputs[:, :, 1] = inputs[:, :, 0]
        inputs[0, :, 1] += np.array([0.1, 0.2, 0.3], np.float32)
        inputs[1, :, 1] *= np.float32(1.5)
        efforts, of_warp = pair.efforts(inputs)
        np.testing.assert_allclose(efforts, of_warp, atol=1e-5, rtol=1e-5)
        seen = np.where(np.isfinite(inputs[:, :, 0]).all(axis=0), efforts[:, 1] - 0.5 * inputs[1, :, 0], 0)
        np.testing.assert_allclose(efforts[:, 0], seen, atol=1e-4)
    for core, warp in zip(pair.core.now.laws, pair.warp.now.laws, strict=True):
        for values, others in zip(core, warp, strict=True):
            np.testing.assert_allclose(values, numpy_view(others), atol=1e-5)
    assert pair.had_faults()


def test_sensors_without_a_law_are_refused() -> None:
    entry = sensing_entries()[0]
    beside = dataclasses.replace(entry, clamping=[OwnLimit(step_bench.full(8))])
    with pytest.raises(TypeError, match="FeedbackFiltered beside OwnLimit, which computes arrays"):
        compile_plan([beside], ROBOTS)
    lawless = type("FeedbackOdd", (FeedbackFiltered,), {"LAW": None})(step_bench.full(1), step_bench.full(1))
    with pytest.raises(TypeError, match="FeedbackOdd: must have a law"):
        compile_plan([dataclasses.replace(entry, others=[lawless])], ROBOTS)


@pytest.mark.parametrize("observed", [False, True])
def test_laws_that_change_no_effort_beside_others(observed, both, rng) -> None:
    given = [heated.entry(name) for name in heated.NAMES]
    given[1] = dataclasses.replace(given[1], controller=own_controller())
    pair = both(given, observed)
    for step in pair.steps:
        step.add_up_totals(True)
    for number in range(30):
        if number == 20:
            pair.reset(2)
        efforts = pair.step(heated.draw(rng))
        for name in pair.core.signals:
            np.testing.assert_array_equal(*(step.signals[name].numpy() for step in pair.steps), err_msg=name)
        if observed:
            # what changes no effort comes after the limits and limits nothing
            _, numbers, motor = pair.observed()
            np.testing.assert_array_equal(motor, efforts)
            changed = {pair.core.stage_names[n - 1] for n in np.unique(numbers) if n}
            assert changed <= {"ClampingDerated", "ClampingSagged"}
    assert pair.saved() and pair.had_faults()


@pytest.mark.parametrize("volts", [np.nan, -np.inf, np.inf])
def test_infinity_is_no_fault_of_a_signal_without_a_bound(volts, both) -> None:
    given = [heated.entry(name, supplied=False) for name in heated.NAMES]
    for entry in given:
        entry.clamping.append(heated.ClampingSagged(step_bench.full(1.0)))
    pair, ones = both(given), np.ones((5, ROBOTS, len(NAMES)), np.float32)
    assert pair.step(ones).all()
    for step in pair.steps:
        voltage = step.signals["supply_voltage"].numpy().copy()
        assert np.isinf(voltage).all()
        voltage[1, 2] = volts
        step.signals["supply_voltage"].assign(voltage)
    bad = volts != np.inf
    assert (pair.step(ones) == 0).sum() == bad
    for step in pair.steps:
        assert [(robot, slot, code) for robot, slot, code, _ in step.faults()] == [(1, 2, SIGNAL_FAULT)] * bad


def test_state_that_is_not_finite_is_a_fault(both) -> None:
    pair = both([heated.entry(name, supplied=False) for name in heated.NAMES])
    inputs = np.zeros((5, ROBOTS, len(NAMES)), np.float32)
    inputs[4] = 1.0
    assert pair.step(inputs).all()
    # the effort itself is finite, its square is not
    inputs[4, 2, 3] = 3e38
    efforts = pair.step(inputs)
    assert (efforts == 0).sum() == 1 and efforts[2, 3] == 0
    assert [[fault[:2] for fault in step.faults()] for step in pair.steps] == [[(2, 3)]] * 2
    assert pair.saved()


@pytest.mark.usefixtures("built_in")
def test_two_phases_of_motors_have_the_bits_of_one(rng) -> None:
    for engine in (NativeStep, on_warp):
        whole, halves = (engine(compile_plan(geared_entries(), ROBOTS)) for _ in range(2))
        signals = [wp.zeros((ROBOTS, len(NAMES)), dtype=wp.float32, device="cpu") for _ in range(7)]
        bad = wp.zeros((ROBOTS, len(NAMES)), dtype=wp.int32, device="cpu")
        halves.hand_over(signals[:5], bad, *signals[5:])
        benches = [Bench(step) for step in (whole, halves)]
        # a step in two phases in place does not bring back what a fault of a limit lets go
        ends = [[step.new_state(), step.new_state()] for step in (whole, halves)]
        for number in range(30):
            inputs = draw(rng)
            for step, states in zip((whole, halves), ends, strict=True):
                step.use(*(states if number % 2 == 0 else states[::-1]))
            found = benches[0].step(inputs)
            benches[1].feed(inputs)
            halves.command(DT)
            q = inputs[0, :, 1]
            good = np.isfinite(inputs[:, :, 1]).all(axis=0)
            np.testing.assert_allclose(signals[0].numpy()[good, 1], 0.5 * q[good] - 0.2, rtol=1e-6)
            assert (bad.numpy()[:, 1] == 0).tolist() == good.tolist()
            halves.limit()
            np.testing.assert_array_equal(found.view(np.int32), benches[1].efforts().view(np.int32))
        assert whole.faults() == halves.faults() != []


def test_networks_see_motors(both, rng) -> None:
    gear = [TransmissionGear(floats(*step_bench.RATIOS), step_bench.full(0.1), step_bench.full(0))]
    motors = [
        ActuatorEntry("/A/hip", ("hip",), mlp(), [], None, others=gear),
        ActuatorEntry("/A/knee", ("knee",), mlp(), [], None),
    ]
    pair = both([*motors, *sensing_entries()[2:]])
    ratio = np.array(step_bench.RATIOS, np.float32)
    for number in range(20):
        inputs = draw(rng, faults=number > 10)
        # the knee is where the motor of the hip is
        inputs[:, :, 1] = ratio * inputs[:, :, 0]
        inputs[[0, 2], :, 1] += np.float32(0.1)
        efforts, of_warp = pair.efforts(inputs)
        np.testing.assert_allclose(efforts, of_warp, atol=1e-4, rtol=1e-5)
        np.testing.assert_allclose(efforts[:, 0], ratio * efforts[:, 1], atol=1e-3, rtol=1e-4)
    assert pair.had_faults()


def test_transmissions_that_cannot_be_are_refused() -> None:
    entry = geared_entries()[0]
    own: list[tuple[str, dict]] = [
        ("OwnLimit", {"clamping": [OwnLimit(step_bench.full(8))]}),
        ("OwnDrag", {"others": [*entry.others, OwnDrag(step_bench.full(1))]}),
        ("OwnController", {"controller": own_controller()}),
    ]
    for name, parts in own:
        words = f"TransmissionGear beside {name}, which computes arrays in the coordinates"
        with pytest.raises(TypeError, match=words):
            compile_plan([dataclasses.replace(entry, **parts)], ROBOTS)
    values = [step_bench.full(1)] * 3
    for name, words in (("LAW", "TransmissionOdd: must have a law"), ("MOTOR", r"TransmissionOdd.MOTOR = None: must")):
        odd = type("TransmissionOdd", (TransmissionGear,), {name: None})(*values)
        with pytest.raises(TypeError, match=words):
            compile_plan([dataclasses.replace(entry, others=[odd])], ROBOTS)
    short = type("TransmissionOdd", (TransmissionGear,), {"MOTOR": gear_effort})(*values)
    with pytest.raises(TypeError, match=r"TransmissionOdd.MOTOR takes 6 arguments .*: must take 8 \(position, "):
        compile_plan([dataclasses.replace(entry, others=[short])], ROBOTS)
    with pytest.raises(ValueError, match="2 transmissions, TransmissionGear and TransmissionSoft"):
        parts_of([entry.controller, TransmissionGear(*values), TransmissionSoft(*values)])


# ---- curves, and what is prepared for the step


def test_core_knows_their_curves(built_in) -> None:
    known = [built_in.laws()[law.__name__] for law in curved_laws.CURVED]
    assert [(told["kind"], told["curves"], told["timed"]) for told in known] == [
        ("feedback", 2, False),
        ("controller", 2, True),
        ("controller", 1, True),
        ("clamping", 2, True),
        ("clamping", 1, False),
        ("passive", 2, True),
    ]


def test_preparation_alone_takes_the_step(built_in) -> None:
    """Behind the parameters, in the core as in Warp; a law without it looks at none."""
    one = np.array([2.0, 3.0], np.float32)
    dt = np.array([0.5, 0.25], np.float32)
    np.testing.assert_array_equal(built_in.prepare("ControllerCurved", [one, dt]), [[20, 15], [2, 3]])
    np.testing.assert_array_equal(built_in.prepare("ControllerPushed", [dt])[0], np.float32(0.01) / dt)
    np.testing.assert_array_equal(built_in.prepare("ClampingMaxEffort", [one, dt]), [one])


@pytest.mark.parametrize("kind", ["columns", "gaps", "between"])
@pytest.mark.parametrize("sensed", [False, True])
def test_curves_have_the_bits_of_warp_and_the_numbers_of_float64(sensed, kind, both, monkeypatch, rng) -> None:
    given = curved_entries(sensed=sensed)
    if kind == "gaps":
        given = across_gaps(given, monkeypatch)
    if kind == "between":
        given[3] = dataclasses.replace(given[3], controller=own_controller())
    pair, twin = both(given), CurvedTwin(sensed=sensed, shared=kind == "gaps")
    joints = slice(0, 3) if kind == "between" else slice(None)
    for number in range(60):
        inputs = draw(rng)
        inputs[:2] *= rng.choice([1, 10], size=inputs[:2].shape).astype(np.float32)
        dt = (0.01, 0.01, 0.25)[number % 3]
        if number in (22, 25):
            # all is laid out again while the step stays
            pair.observe(number == 22)
        if number == 40:
            pair.reset(1)
            twin.reset(1)
        efforts, expected = pair.step(inputs, dt), twin.step(inputs, float(np.float32(dt)))
        np.testing.assert_allclose(efforts[:, joints], expected[:, joints], atol=2e-4, rtol=2e-5)
    assert pair.had_faults()


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("sensed", [False, True])
def test_curves_of_joints_that_are_found_by_index(sensed, rng) -> None:
    given = curved_entries(sensed=sensed)
    plans = [[compile_plan([entry], ROBOTS) for entry in given] for _ in range(2)]
    steps = [[NativeStep(plan) for plan in plans[0]], [WarpStep(plan, "cpu") for plan in plans[1]]]
    arrays = [wp.zeros(ROBOTS * len(NAMES), dtype=wp.float32, device="cpu") for _ in range(6)]
    for engine in steps:
        for joint, step in enumerate(engine):
            at = wp.array(np.arange(ROBOTS) * len(NAMES) + joint, dtype=wp.uint32, device="cpu")
            step.bind(Indices(arrays[:5], [at] * 5, arrays[5], at, None))
    twin = CurvedTwin(sensed=sensed)
    for number in range(30):
        inputs, dt = draw(rng), (0.01, 0.25)[number % 2]
        for array, values in zip(arrays, inputs, strict=False):
            array.assign(values.ravel())
        found = []
        for engine in steps:
            arrays[5].zero_()
            for step in engine:
                step.step(dt)
            found.append(arrays[5].numpy().reshape(ROBOTS, -1).copy())
        np.testing.assert_array_equal(found[0].view(np.int32), found[1].view(np.int32))
        np.testing.assert_allclose(found[0], twin.step(inputs, dt), atol=2e-4, rtol=2e-5)


@pytest.mark.parametrize("on_core", [True, False])
def test_gradients_go_through_curves_and_what_is_prepared(on_core, built_in, monkeypatch, rng) -> None:
    monkeypatch.setattr(native, "core", built_in if on_core else None)
    count, dt = 40, 0.05
    tables = curved_laws.STIFF, curved_laws.DROOP, curved_laws.LONG, curved_laws.FADE
    stiffness, droop, share, fade = map(curved_laws.table, tables)
    cogging, viscous = map(curved_laws.table, (curved_laws.COGS, curved_laws.VISCOUS))
    values = {name: rng.normal(size=count) for name in ("q", "qd", "target")}
    values |= {
        name: rng.uniform(*ends, count) for name, ends in {"gain": (3, 9), "most": (3, 6), "scale": (1, 2)}.items()
    }
    values = {name: value.astype(np.float32).astype(np.float64) for name, value in values.items()}

    def effort(q, qd, target, gain, most, scale) -> np.ndarray:
        found = gain * stiffness(q) * (target - q) - droop(np.abs(qd)) * qd + 20 * gain * dt
        bound = (most - 4 * dt) * share(q) - fade(np.abs(qd))
        return np.clip(found, -bound, bound) - (scale + 10 * dt) * cogging(q) - 0.5 * viscous(qd)

    given = {
        name: wp.array(value, dtype=wp.float32, device="cpu", requires_grad=True) for name, value in values.items()
    }
    controller = curved_laws.ControllerCurved(given["gain"], stiffness=curved_laws.STIFF, droop=curved_laws.DROOP)
    clamp = curved_laws.ClampingCurved(given["most"], share=curved_laws.LONG, fade=curved_laws.FADE)
    drag = curved_laws.PassiveCurved(given["scale"], cogging=curved_laws.COGS, viscous=curved_laws.VISCOUS)
    at = wp.array(np.arange(count), dtype=wp.uint32, device="cpu")
    actuator = aa.Actuator(at, controller, clamping=[clamp], others=[drag], requires_grad=True)
    assert isinstance(actuator.compiled(), NativeStep) == on_core
    out = wp.zeros(count, dtype=wp.float32, device="cpu", requires_grad=True)
    rest = wp.zeros_like(out, requires_grad=False)
    arrays = {"joint_q": given["q"], "joint_qd": given["qd"]}, {"joint_target_q": given["target"], "joint_f": out}
    arrays[1]["joint_target_qd"] = rest
    with wp.Tape() as tape:
        actuator.step(*arrays, actuator.state(), actuator.state(), dt=dt)
    np.testing.assert_allclose(out.numpy(), effort(**values), atol=1e-4)
    out.grad.fill_(1.0)
    tape.backward()
    small = 1e-6
    for name in values:
        ends = [effort(**values | {name: values[name] + sign * small}) for sign in (1, -1)]
        expected = (ends[0] - ends[1]) / (2 * small)
        np.testing.assert_allclose(given[name].grad.numpy(), expected, atol=2e-4, rtol=1e-4, err_msg=name)


def test_without_the_step_what_is_prepared_for_it_is_refused(built_in, monkeypatch) -> None:
    at = wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu")
    zero, out = (wp.zeros(ROBOTS, dtype=wp.float32, device="cpu") for _ in range(2))
    arrays = {"joint_q": zero, "joint_qd": zero}, {"joint_target_q": zero, "joint_target_qd": zero, "joint_f": out}
    for core in (built_in, None):
        monkeypatch.setattr(native, "core", core)
        actuator = aa.Actuator(at, curved_laws.ControllerPushed(push=curved_laws.VISCOUS))
        with pytest.raises(ValueError, match="dt = None: must be the physics step in seconds for a law that remembers"):
            actuator.step(*arrays)
        for dt, expected in ((0.01, 1.0), (0.02, 0.5), (0.01, 1.0)):
            out.zero_()
            actuator.step(*arrays, dt=dt)
            np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)


def test_what_is_prepared_for_the_step_cannot_stand_before_components_of_arrays() -> None:
    entry = curved_entries(sensed=False)[3]
    entry.clamping.append(OwnLimit(step_bench.full(8)))
    words = "ClampingCurved is prepared for the physics step and stands before a stage"
    refused(TypeError, lambda: stepped_by(on_warp, [entry]), words)
