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
from isaacsim.core.experimental.actuators.engine.plan import array_stages, base_of, compile_plan
from isaacsim.core.experimental.actuators.engine.step.binding import Columns, Indices
from isaacsim.core.experimental.actuators.engine.step.engine import with_array_stages
from isaacsim.core.experimental.actuators.engine.step.fault import SIGNAL_FAULT
from isaacsim.core.experimental.actuators.engine.step.native import NativeStep
from isaacsim.core.experimental.actuators.engine.step.state import restore, save
from isaacsim.core.experimental.actuators.engine.step.warp import WarpStep
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.laws.networks.checkpoint import Checkpoint
from isaacsim.core.experimental.actuators.laws.transmission_gear import gear_effort
from isaacsim.core.experimental.actuators.specs.configs import ClampingConfig, Config, ControlConfig, PassiveConfig
from isaacsim.core.experimental.actuators.specs.stages import parts_of
from neural_twin import random_network
from other_laws import replace_laws
from own_components import OwnController, OwnLimit
from places import REPOSITORY
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
    mixed_plan,
    sensing_entries,
)

# a core of other laws is compiled for all of them
pytestmark = pytest.mark.slow
if native.core is None:
    pytest.skip("the native core was not built", allow_module_level=True)
FLAGS = ["-std=c++17", "-O0", "-fPIC", "-ffp-contract=off", "-fvisibility=hidden"]
JOINTS = list(range(len(NAMES)))


@dataclasses.dataclass
class SlewConfig(ClampingConfig):
    SCHEMA = "SlewAPI"


@dataclasses.dataclass
class LeakyConfig(ControlConfig):
    SCHEMA = "LeakyAPI"


@dataclasses.dataclass
class DroopConfig(Config):
    KIND = "electrical"
    SCHEMA = "DroopAPI"


@dataclasses.dataclass
class DragConfig(PassiveConfig):
    SCHEMA = "DragAPI"


@dataclasses.dataclass
class LagConfig(PassiveConfig):
    SCHEMA = "LagAPI"


@dataclasses.dataclass
class BalancedConfig(ControlConfig):
    SCHEMA = "BalancedAPI"


@dataclasses.dataclass
class LoadedConfig(ClampingConfig):
    SCHEMA = "LoadedAPI"


@dataclasses.dataclass
class StickConfig(PassiveConfig):
    SCHEMA = "StickAPI"


@dataclasses.dataclass
class SkewedConfig(Config):
    KIND = "feedback"
    SCHEMA = "SkewedAPI"


@dataclasses.dataclass
class SoftConfig(Config):
    KIND = "transmission"
    SCHEMA = "SoftAPI"


@dataclasses.dataclass
class FilteredConfig(Config):
    KIND = "feedback"
    SCHEMA = "FilteredAPI"


class OwnDrag(PassiveDrag):
    def modify_forces(self, *args, **kwargs) -> None:
        super().modify_forces(*args, **kwargs)


@dataclasses.dataclass
class CurvedControlConfig(ControlConfig):
    SCHEMA = "CurvedControlAPI"


@dataclasses.dataclass
class PushedConfig(ControlConfig):
    SCHEMA = "PushedAPI"


@dataclasses.dataclass
class CurvedClampingConfig(ClampingConfig):
    SCHEMA = "CurvedClampingAPI"


@dataclasses.dataclass
class FadedConfig(ClampingConfig):
    SCHEMA = "FadedAPI"


@dataclasses.dataclass
class CurvedPassiveConfig(PassiveConfig):
    SCHEMA = "CurvedPassiveAPI"


@dataclasses.dataclass
class CurvedSensorConfig(Config):
    KIND = "feedback"
    SCHEMA = "CurvedSensorAPI"


def lines() -> tuple[catalogue.Law, ...]:
    laws = list(catalogue.LAWS)
    plain = next(at for at, law in enumerate(laws) if law.name == "ClampingMaxEffort")
    laws.insert(plain, catalogue.Law(SlewConfig, "ClampingSlew"))
    laws.insert(plain, catalogue.Law(LoadedConfig, "ClampingLoaded"))
    laws.insert(plain, catalogue.Law(FadedConfig, "ClampingFaded"))
    laws.insert(plain, catalogue.Law(CurvedClampingConfig, "ClampingCurved"))
    laws += [
        catalogue.Law(config, name)
        for config, name in (
            (DragConfig, "PassiveDrag"),
            (LagConfig, "PassiveLag"),
            (StickConfig, "PassiveStick"),
            (DroopConfig, "ElectricalDroop"),
            (SkewedConfig, "FeedbackSkewed"),
            (FilteredConfig, "FeedbackFiltered"),
            (BalancedConfig, "ControllerBalanced"),
            (CurvedControlConfig, "ControllerCurved"),
            (PushedConfig, "ControllerPushed"),
            (CurvedPassiveConfig, "PassiveCurved"),
            (CurvedSensorConfig, "FeedbackCurved"),
            (SoftConfig, "TransmissionSoft"),
        )
    ]
    return (catalogue.Law(LeakyConfig, "ControllerLeaky"), *laws, *heated.lines())


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


def test_core_knows_them(built_in) -> None:
    known = {law.__name__: built_in.laws()[law.__name__] for law in step_bench.MADE_UP}
    assert {name: told["kind"] for name, told in known.items()} == {
        law.__name__: law.KIND for law in step_bench.MADE_UP
    }
    assert [told["states"] for told in known.values()] == [0, 1, 0, 0, 1, 2, 0, 1, 0, 1, 1]
    assert [told["asked"] for told in known.values()] == [0, 0, 1, 1, 3, 0, 0, 0, 0, 0, 1]


@pytest.mark.usefixtures("built_in")
def test_bits_of_warp_and_the_numbers_of_float64(rng) -> None:
    core, warp = NativeStep(mixed_plan()), WarpStep(mixed_plan(), "cpu")
    benches = Bench(core), Bench(warp)
    twins = [Twin(robot) for robot in range(ROBOTS)]
    for step in range(60):
        inputs = draw(rng)
        if step == 30:
            saved = [save([(JOINTS, one)]) for one in (core, warp)]
            assert "/A/toe.clamping.0.last" in saved[0]
            for one, other in zip((core, warp), reversed(saved), strict=True):
                restore([(JOINTS, one)], other)
        if step == 45:
            for one in (core, warp):
                one.reset([1])
            twins[1] = Twin(1)
        found, other = (bench.step(inputs) for bench in benches)
        np.testing.assert_array_equal(found.view(np.int32), other.view(np.int32))
        expected = [twin.step(inputs[:, robot]) for robot, twin in enumerate(twins)]
        np.testing.assert_allclose(found, expected, atol=2e-4, rtol=2e-5)
    assert core.faults() == warp.faults() != []


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("observed", [False, True])
def test_bits_of_warp_across_gaps(observed, monkeypatch, rng) -> None:
    monkeypatch.setattr(step_bench, "COLUMNS", (0, 2, 3, 5))
    shared = [dataclasses.replace(entry, shared=True) for entry in entries()]
    steps = NativeStep(compile_plan(shared, ROBOTS)), WarpStep(compile_plan(shared, ROBOTS), "cpu")
    benches = [Bench(step) for step in steps]
    for step in steps:
        step.observe(observed)
    for _ in range(40):
        inputs = draw(rng)
        found, other = (bench.step(inputs) for bench in benches)
        np.testing.assert_array_equal(found.view(np.int32), other.view(np.int32))
        if observed:
            for one, two in zip(*(step.observed() for step in steps), strict=True):
                np.testing.assert_array_equal(one, numpy_view(two))


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


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("kind", ["columns", "gaps"])
def test_stages_around_the_limits(kind, monkeypatch, rng) -> None:
    """Bits of Warp and numbers of float64, with faults, resets and saved states; a passive joint starts from 0."""
    given = joint_entries()
    if kind == "gaps":
        monkeypatch.setattr(step_bench, "COLUMNS", (0, 2, 3, 5))
        given = [dataclasses.replace(entry, shared=True) for entry in given]
    core, warp = (step(compile_plan(given, ROBOTS)) for step in (NativeStep, lambda plan: WarpStep(plan, "cpu")))
    benches = Bench(core), Bench(warp)
    for one in (core, warp):
        one.observe(True)
    limits = [name.startswith("Clamping") for name in ("", *core.stage_names)]
    seen = set()
    # robots that share all are as the first one
    shared = kind == "gaps"
    twins = [JointTwin(0 if shared else robot) for robot in range(ROBOTS)]
    for step in range(60):
        inputs = draw(rng)
        if step == 20:
            saved = [save([(JOINTS, one)]) for one in (core, warp)]
            assert {"/A/knee.passive.0.slip", "/A/ankle.passive.1.slip", "/A/toe.clamping.0.last"} <= {*saved[0]}
            for name, values in saved[0].items():
                np.testing.assert_array_equal(values, saved[1][name])
            for one, other in zip((core, warp), reversed(saved), strict=True):
                restore([(JOINTS, one)], other)
        if step == 40:
            for one in (core, warp):
                one.reset([1])
            twins[1] = JointTwin(0 if shared else 1)
        found, other = (bench.step(inputs) for bench in benches)
        np.testing.assert_array_equal(found.view(np.int32), other.view(np.int32))
        expected = [twin.step(inputs[:, robot]) for robot, twin in enumerate(twins)]
        np.testing.assert_allclose(found, expected, atol=2e-4, rtol=2e-5)
        (computed, numbers), others = core.observed(), warp.observed()
        np.testing.assert_array_equal(computed, others[0])
        np.testing.assert_array_equal(numbers, others[1])
        motor = core.motor_efforts()
        np.testing.assert_array_equal(motor, warp.motor_efforts())
        expected = [twin.motor for twin in twins]
        np.testing.assert_allclose(motor, expected, atol=2e-4, rtol=2e-5)
        seen |= {*numbers.ravel().tolist()}
    # of the laws that changed an effort, limits only are told
    assert seen == {0, *np.flatnonzero(limits).tolist()} and core.faults() == warp.faults() != []


@pytest.mark.usefixtures("built_in")
def test_stages_around_the_limits_and_components_between(rng) -> None:
    def made(step):
        given = joint_entries()
        given[0].clamping.append(OwnLimit(step_bench.full(8)))
        given[3] = dataclasses.replace(given[3], controller=OwnController(*map(step_bench.full, (30, 20, 2, 0.05))))
        for entry in given:
            for component in entry.stages:
                component.finalize("cpu", ROBOTS)
        plan = compile_plan(given, ROBOTS)
        own = [(entry.label, apart, [n]) for n, entry in enumerate(given) if (apart := array_stages(entry)) is not None]
        return with_array_stages(step(plan), own, "cpu")

    steps = made(NativeStep), made(lambda plan: WarpStep(plan, "cpu"))
    benches = [Bench(step) for step in steps]
    for step in steps:
        step.observe(True)
    for number in range(40):
        inputs = draw(rng)
        if number == 20:
            for step in steps:
                step.reset([2])
        found, other = (bench.step(inputs) for bench in benches)
        np.testing.assert_array_equal(found.view(np.int32), other.view(np.int32))
        (computed, numbers), others = (step.observed() for step in steps)
        np.testing.assert_array_equal(computed, others[0])
        np.testing.assert_array_equal(numbers, others[1])
        hip = np.array(["", *steps[0].stage_names])[numbers[:, 0]]
        np.testing.assert_array_equal(hip, np.where(np.abs(computed[:, 0]) > 8, "OwnLimit", ""))
        motor, other = (step.motor_efforts() for step in steps)
        np.testing.assert_array_equal(motor, other)
        np.testing.assert_allclose(motor[:, 0], np.clip(computed[:, 0], -8, 8))
        assert not motor[:, 2].any()
        np.testing.assert_array_equal(motor[:, 3], found[:, 3])
    one, two = (save([(JOINTS, step)]) for step in steps)
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name])
    assert steps[0].faults() == steps[1].faults() != []


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("engine", [NativeStep, lambda plan: WarpStep(plan, "cpu")])
def test_motor_efforts_before_a_passive_law_that_computes_arrays(engine, rng) -> None:
    entry = joint_entries()[0]
    entry.others[:] = [OwnDrag(step_bench.full(2))]
    plan = compile_plan([entry], ROBOTS)
    apart = array_stages(entry)
    assert apart is not None
    step = with_array_stages(engine(plan), [(entry.label, apart, [0])], "cpu")
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
    apart = array_stages(entry)
    assert apart is not None
    with pytest.raises(TypeError, match=r"ClampingLoaded asks for \('load',\)"):
        with_array_stages(WarpStep(compile_plan([entry], ROBOTS), "cpu"), [(entry.label, apart, [0])], "cpu")
    at = wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu")
    efforts = floats(5.0, -5.0, 0.5)
    ClampingLoaded(step_bench.full(3)).modify_forces(efforts, efforts, efforts, efforts, at, at)
    assert efforts.numpy().tolist() == [3.0, -3.0, 0.5]


def test_unknown_signal_is_named() -> None:
    odd = type("PassiveOdd", (PassiveDrag,), {"ASKS": ("weather",)})
    with pytest.raises(TypeError, match=r"PassiveOdd.ASKS: \['weather'\]: must be some of \['inertia', 'load'"):
        compile_plan([ActuatorEntry("/A/hip", ("hip",), None, [], None, others=[odd(step_bench.full(1))])], ROBOTS)


@pytest.mark.usefixtures("built_in")
def test_networks_see_what_sensors_give(rng) -> None:
    columns = {"input_idx": [0, 1], "effort_scale": 9.0, "pos_scale": 2.0}
    mlp = Checkpoint(random_network("mlp", 4, layers=2), columns, "onnx", "a")
    lstm = Checkpoint(random_network("lstm", 2, layers=1), {"effort_scale": 30.0}, "onnx", "b")
    skewed, filtered = sensing_entries()[1].others[0], sensing_entries()[2].others[0]
    drag = PassiveDrag(step_bench.full(0.5))
    given = [
        ActuatorEntry("/A/hip", ("hip",), aa.ControllerNeuralMLP(mlp), [], None, others=[skewed, drag]),
        ActuatorEntry("/A/knee", ("knee",), aa.ControllerNeuralMLP(mlp), [], None),
        ActuatorEntry("/A/ankle", ("ankle",), aa.ControllerNeuralLSTM(lstm), [], None, others=[filtered]),
        ActuatorEntry("/A/toe", ("toe",), None, [], None, others=[PassiveDrag(step_bench.full(1))]),
    ]
    steps = NativeStep(compile_plan(given, ROBOTS)), WarpStep(compile_plan(given, ROBOTS), "cpu")
    benches = [Bench(step) for step in steps]
    for number in range(20):
        inputs = draw(rng, faults=number > 10)
        # the knee is where the hip seems to be
        inputs[:, :, 1] = inputs[:, :, 0]
        inputs[0, :, 1] += np.array([0.1, 0.2, 0.3], np.float32)
        inputs[1, :, 1] *= np.float32(1.5)
        found, other = (bench.step(inputs) for bench in benches)
        np.testing.assert_allclose(found, other, atol=1e-5, rtol=1e-5)
        seen = np.where(np.isfinite(inputs[:, :, 0]).all(axis=0), found[:, 1] - 0.5 * inputs[1, :, 0], 0)
        np.testing.assert_allclose(found[:, 0], seen, atol=1e-4)
    for one, two in zip(steps[0].now.laws, steps[1].now.laws, strict=True):
        for values, others in zip(one, two, strict=True):
            np.testing.assert_allclose(values, numpy_view(others), atol=1e-5)
    assert steps[0].faults() == steps[1].faults() != []


def test_sensors_without_a_law_are_refused() -> None:
    entry = sensing_entries()[0]
    beside = dataclasses.replace(entry, clamping=[OwnLimit(step_bench.full(8))])
    with pytest.raises(TypeError, match="FeedbackFiltered beside OwnLimit, which computes arrays"):
        compile_plan([beside], ROBOTS)
    lawless = type("FeedbackOdd", (FeedbackFiltered,), {"LAW": None})(step_bench.full(1), step_bench.full(1))
    with pytest.raises(TypeError, match="FeedbackOdd: must have a law"):
        compile_plan([dataclasses.replace(entry, others=[lawless])], ROBOTS)


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("observed", [False, True])
def test_laws_that_change_no_effort_beside_others(observed, rng) -> None:
    def made(engine):
        own = OwnController(*map(step_bench.full, (30, 20, 2, 0.05)))
        given = [heated.entry(name) for name in heated.NAMES]
        given[1] = dataclasses.replace(given[1], controller=own)
        for one in given:
            for component in one.stages:
                component.finalize("cpu", ROBOTS)
        plan = compile_plan(given, ROBOTS)
        apart = [(one.label, cut, [n]) for n, one in enumerate(given) if (cut := array_stages(one)) is not None]
        step = with_array_stages(engine(plan), apart, "cpu")
        step.add_up_totals(True)
        step.observe(observed)
        return step

    steps = made(NativeStep), made(lambda plan: WarpStep(plan, "cpu"))
    benches = [Bench(step) for step in steps]
    for number in range(30):
        inputs = heated.draw(rng)
        if number == 20:
            for step in steps:
                step.reset([2])
        found, other = (bench.step(inputs) for bench in benches)
        np.testing.assert_array_equal(found.view(np.int32), other.view(np.int32))
        for name in steps[0].signals:
            np.testing.assert_array_equal(*(step.signals[name].numpy() for step in steps), err_msg=name)
        if observed:
            for one, two in zip(steps[0].observed(), steps[1].observed(), strict=True):
                np.testing.assert_array_equal(one, two)
            # what changes no effort comes after the limits and limits nothing
            np.testing.assert_array_equal(steps[0].motor_efforts(), found)
            assert {steps[0].stage_names[n - 1] for n in np.unique(steps[0].observed()[1]) if n} <= {
                "ClampingDerated",
                "ClampingSagged",
            }
    one, two = (save([(JOINTS, step)]) for step in steps)
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name])
    assert steps[0].faults() == steps[1].faults() != []


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("volts", [np.nan, -np.inf, np.inf])
def test_infinity_is_no_fault_of_a_signal_without_a_bound(volts) -> None:
    given = [heated.entry(name, supplied=False) for name in heated.NAMES]
    for one in given:
        one.clamping.append(heated.ClampingSagged(step_bench.full(1.0)))
    for step in (NativeStep(compile_plan(given, ROBOTS)), WarpStep(compile_plan(given, ROBOTS), "cpu")):
        bench = Bench(step)
        assert np.isinf(step.signals["supply_voltage"].numpy()).all()
        assert bench.step(np.ones((5, ROBOTS, len(NAMES)), np.float32)).all()
        voltage = step.signals["supply_voltage"].numpy().copy()
        voltage[1, 2] = volts
        step.signals["supply_voltage"].assign(voltage)
        found = bench.step(np.ones((5, ROBOTS, len(NAMES)), np.float32))
        bad = volts != np.inf
        assert [(robot, slot, code) for robot, slot, code, _ in step.faults()] == [(1, 2, SIGNAL_FAULT)] * bad
        assert (found == 0).sum() == bad


@pytest.mark.usefixtures("built_in")
def test_state_that_is_not_finite_is_a_fault() -> None:
    given = [heated.entry(name, supplied=False) for name in heated.NAMES]
    steps = NativeStep(compile_plan(given, ROBOTS)), WarpStep(compile_plan(given, ROBOTS), "cpu")
    inputs = np.zeros((5, ROBOTS, len(NAMES)), np.float32)
    saved = []
    for step in steps:
        bench = Bench(step)
        inputs[4] = 1.0
        assert bench.step(inputs).all()
        # the effort itself is finite, its square is not
        inputs[4, 2, 3] = 3e38
        found = bench.step(inputs)
        assert (found == 0).sum() == 1 and found[2, 3] == 0
        assert [(robot, slot) for robot, slot, *_ in step.faults()] == [(2, 3)]
        saved.append(save([(JOINTS, step)]))
    for name, values in saved[0].items():
        np.testing.assert_array_equal(values, saved[1][name], err_msg=name)


def engines(given: list[ActuatorEntry]) -> list:
    found = []
    for engine in (NativeStep, lambda plan: WarpStep(plan, "cpu")):
        step = engine(compile_plan(given, ROBOTS))
        apart = [(entry.label, one, [n]) for n, entry in enumerate(given) if (one := array_stages(entry)) is not None]
        found.append(with_array_stages(step, apart, "cpu") if apart else step)
    return found


@pytest.mark.usefixtures("built_in")
def test_two_phases_of_motors_have_the_bits_of_one(rng) -> None:
    for engine in (NativeStep, lambda plan: WarpStep(plan, "cpu")):
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


@pytest.mark.usefixtures("built_in")
def test_networks_see_motors(rng) -> None:
    columns = {"input_idx": [0, 1], "effort_scale": 9.0, "pos_scale": 2.0}
    mlp = Checkpoint(random_network("mlp", 4, layers=2), columns, "onnx", "a")
    gear = [TransmissionGear(floats(*step_bench.RATIOS), step_bench.full(0.1), step_bench.full(0))]
    given = [
        ActuatorEntry("/A/hip", ("hip",), aa.ControllerNeuralMLP(mlp), [], None, others=gear),
        ActuatorEntry("/A/knee", ("knee",), aa.ControllerNeuralMLP(mlp), [], None),
        *sensing_entries()[2:],
    ]
    steps = NativeStep(compile_plan(given, ROBOTS)), WarpStep(compile_plan(given, ROBOTS), "cpu")
    benches = [Bench(step) for step in steps]
    ratio = np.array(step_bench.RATIOS, np.float32)
    for number in range(20):
        inputs = draw(rng, faults=number > 10)
        # the knee is where the motor of the hip is
        inputs[:, :, 1] = ratio * inputs[:, :, 0]
        inputs[0, :, 1] += np.float32(0.1)
        inputs[2, :, 1] += np.float32(0.1)
        found, other = (bench.step(inputs) for bench in benches)
        np.testing.assert_allclose(found, other, atol=1e-4, rtol=1e-5)
        np.testing.assert_allclose(found[:, 0], ratio * found[:, 1], atol=1e-3, rtol=1e-4)
    assert steps[0].faults() == steps[1].faults() != []


def test_transmissions_that_cannot_be_are_refused() -> None:
    """By name: without a law, beside what computes arrays of the joint, two of them."""
    entry = geared_entries()[0]
    own: list[tuple[str, dict]] = [
        ("OwnLimit", {"clamping": [OwnLimit(step_bench.full(8))]}),
        ("OwnDrag", {"others": [*entry.others, OwnDrag(step_bench.full(1))]}),
        ("OwnController", {"controller": OwnController(*map(step_bench.full, (30, 20, 2, 0.05)))}),
    ]
    for name, parts in own:
        with pytest.raises(
            TypeError, match=f"TransmissionGear beside {name}, which computes arrays in the coordinates"
        ):
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


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("kind", ["columns", "gaps", "between"])
@pytest.mark.parametrize("sensed", [False, True])
def test_curves_have_the_bits_of_warp_and_the_numbers_of_float64(sensed, kind, monkeypatch, rng) -> None:
    """In laws of every kind, far outside their tables too; the step changes, and acts at once on what is prepared."""
    given = curved_entries(sensed=sensed)
    if kind == "gaps":
        monkeypatch.setattr(step_bench, "COLUMNS", (0, 2, 3, 5))
        given = [dataclasses.replace(entry, shared=True) for entry in given]
    if kind == "between":
        own = OwnController(*map(step_bench.full, (30, 20, 2, 0.05)))
        given[3] = dataclasses.replace(given[3], controller=own)

    def made(engine):
        for entry in given:
            for component in entry.stages:
                component.finalize("cpu", ROBOTS)
        step = engine(compile_plan(given, ROBOTS))
        apart = [(entry.label, one, [n]) for n, entry in enumerate(given) if (one := array_stages(entry)) is not None]
        return with_array_stages(step, apart, "cpu") if apart else step

    steps = made(NativeStep), made(lambda plan: WarpStep(plan, "cpu"))
    benches = [Bench(step) for step in steps]
    twin = CurvedTwin(sensed=sensed, shared=kind == "gaps")
    joints = slice(0, 3) if kind == "between" else slice(None)
    for number in range(60):
        inputs = draw(rng)
        inputs[:2] *= rng.choice([1, 10], size=inputs[:2].shape).astype(np.float32)
        dt = (0.01, 0.01, 0.25)[number % 3]
        if number in (22, 25):
            # all is laid out again while the step stays
            for step in steps:
                step.observe(number == 22)
        if number == 40:
            for step in steps:
                step.reset([1])
            twin.reset(1)
        for bench in benches:
            bench.feed(inputs)
            bench.step_of_plan.step(dt)
        found, other = (bench.efforts() for bench in benches)
        np.testing.assert_array_equal(found.view(np.int32), other.view(np.int32))
        expected = twin.step(inputs, float(np.float32(dt)))
        np.testing.assert_allclose(found[:, joints], expected[:, joints], atol=2e-4, rtol=2e-5)
    assert steps[0].faults() == steps[1].faults() != []


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
    """Those of finite differences, by position and velocity of either sign, and by parameters."""
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
        with pytest.raises(
            ValueError, match="dt = None: must be the physics step in seconds for a law that remembers or"
        ):
            actuator.step(*arrays)
        for dt, expected in ((0.01, 1.0), (0.02, 0.5), (0.01, 1.0)):
            out.zero_()
            actuator.step(*arrays, dt=dt)
            np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)


def test_what_is_prepared_for_the_step_cannot_stand_before_components_of_arrays() -> None:
    entry = curved_entries(sensed=False)[3]
    entry.clamping.append(OwnLimit(step_bench.full(8)))
    apart = array_stages(entry)
    assert apart is not None
    with pytest.raises(TypeError, match="ClampingCurved is prepared for the physics step and stands before a stage"):
        with_array_stages(WarpStep(compile_plan([entry], ROBOTS), "cpu"), [(entry.label, apart, [0])], "cpu")
