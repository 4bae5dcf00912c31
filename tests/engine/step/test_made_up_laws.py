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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import curved_laws
import heated
import isaacsim.core.experimental.actuators as aa
import laws_header
import numpy as np
import oracle
import pytest
import step_bench
import warp as wp
from curved_laws import CurvedTwin, curved_entries
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.base.memory import numpy_view
from isaacsim.core.experimental.actuators.engine.assembly import Assembly
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import array_stages, base_of, compile_plan
from isaacsim.core.experimental.actuators.engine.step.binding import Columns, Indices
from isaacsim.core.experimental.actuators.engine.step.engine import with_array_stages
from isaacsim.core.experimental.actuators.engine.step.fault import EFFORT_FAULT, SIGNAL_FAULT
from isaacsim.core.experimental.actuators.engine.step.native import NativeStep
from isaacsim.core.experimental.actuators.engine.step.state import restore, save
from isaacsim.core.experimental.actuators.engine.step.warp import WarpStep
from isaacsim.core.experimental.actuators.engine.totals import share_totals
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.laws.networks.checkpoint import Checkpoint
from isaacsim.core.experimental.actuators.laws.transmission_gear import gear_effort
from isaacsim.core.experimental.actuators.specs.configs import ClampingConfig, Config, ControlConfig, PassiveConfig
from isaacsim.core.experimental.actuators.specs.stages import parts_of
from isaacsim.core.experimental.actuators.tools.recording.recorder import Recorder
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
    ControllerBalanced,
    FeedbackFiltered,
    GearedTwin,
    JointTwin,
    PassiveDrag,
    PassiveLag,
    PassiveStick,
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
    """Of `ClampingSlew`."""

    SCHEMA = "SlewAPI"


@dataclasses.dataclass
class LeakyConfig(ControlConfig):
    """Of `ControllerLeaky`."""

    SCHEMA = "LeakyAPI"


@dataclasses.dataclass
class DroopConfig(Config):
    """Of `ElectricalDroop`."""

    KIND = "electrical"
    SCHEMA = "DroopAPI"


@dataclasses.dataclass
class DragConfig(PassiveConfig):
    """Of `PassiveDrag`."""

    SCHEMA = "DragAPI"


@dataclasses.dataclass
class LagConfig(PassiveConfig):
    """Of `PassiveLag`."""

    SCHEMA = "LagAPI"


@dataclasses.dataclass
class BalancedConfig(ControlConfig):
    """Of `ControllerBalanced`."""

    SCHEMA = "BalancedAPI"


@dataclasses.dataclass
class LoadedConfig(ClampingConfig):
    """Of `ClampingLoaded`."""

    SCHEMA = "LoadedAPI"


@dataclasses.dataclass
class StickConfig(PassiveConfig):
    """Of `PassiveStick`."""

    SCHEMA = "StickAPI"


@dataclasses.dataclass
class SkewedConfig(Config):
    """Of `FeedbackSkewed`."""

    KIND = "feedback"
    SCHEMA = "SkewedAPI"


@dataclasses.dataclass
class SoftConfig(Config):
    """Of `TransmissionSoft`."""

    KIND = "transmission"
    SCHEMA = "SoftAPI"


@dataclasses.dataclass
class FilteredConfig(Config):
    """Of `FeedbackFiltered`."""

    KIND = "feedback"
    SCHEMA = "FilteredAPI"


class OwnDrag(PassiveDrag):
    """A passive law computed by a method."""

    def modify_forces(self, *args, **kwargs) -> None:
        super().modify_forces(*args, **kwargs)


@dataclasses.dataclass
class CurvedControlConfig(ControlConfig):
    """Of `ControllerCurved`."""

    SCHEMA = "CurvedControlAPI"


@dataclasses.dataclass
class PushedConfig(ControlConfig):
    """Of `ControllerPushed`."""

    SCHEMA = "PushedAPI"


@dataclasses.dataclass
class CurvedClampingConfig(ClampingConfig):
    """Of `ClampingCurved`."""

    SCHEMA = "CurvedClampingAPI"


@dataclasses.dataclass
class FadedConfig(ClampingConfig):
    """Of `ClampingFaded`."""

    SCHEMA = "FadedAPI"


@dataclasses.dataclass
class CurvedPassiveConfig(PassiveConfig):
    """Of `PassiveCurved`."""

    SCHEMA = "CurvedPassiveAPI"


@dataclasses.dataclass
class CurvedSensorConfig(Config):
    """Of `FeedbackCurved`."""

    KIND = "feedback"
    SCHEMA = "CurvedSensorAPI"


def lines() -> tuple[catalogue.Law, ...]:
    """The catalogue with a law more of each kind."""
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
    """All of it in place."""
    monkeypatch.delenv("ACTUATORS_ISA", raising=False)
    install(monkeypatch)
    monkeypatch.setattr(native, "core", compiled)
    assert base_of(step_bench.ClampingSlew) is step_bench.ClampingSlew
    return compiled


def test_core_knows_them(built_in) -> None:
    """With their kinds and sizes."""
    known = {law.__name__: built_in.laws()[law.__name__] for law in step_bench.MADE_UP}
    assert {name: told["kind"] for name, told in known.items()} == {
        law.__name__: law.KIND for law in step_bench.MADE_UP
    }
    assert [told["states"] for told in known.values()] == [0, 1, 0, 0, 1, 2, 0, 1, 0, 1, 1]
    assert [told["asked"] for told in known.values()] == [0, 0, 1, 1, 3, 0, 0, 0, 0, 0, 1]


@pytest.mark.usefixtures("built_in")
def test_bits_of_warp_and_the_numbers_of_float64(rng) -> None:
    """With inputs that are not finite, through resets and an exchange of saved states; robots differ."""
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
    """Where robots share all parameters, and their columns are read along with what lies between."""
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
    """State in and state out by pointer, the limit's beside the controller's."""
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
    assert seen == {0, *np.flatnonzero(limits).tolist()}
    assert core.faults() == warp.faults() != []


@pytest.mark.usefixtures("built_in")
def test_stages_around_the_limits_and_components_between(rng) -> None:
    """A limit that computes arrays stands before a passive law; so does a controller of the same kind."""

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
    """They come from between the phases then, limits included; a fault has none."""
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


@pytest.mark.usefixtures("built_in")
def test_wrapper_runs_them_natively(rng) -> None:
    """One step of the core for all joints, the passive one among them, and what it observes and records."""
    assembly = Assembly(joint_entries(), ROBOTS, "cpu")
    assert [type(step) for _, step in assembly.parts] == [NativeStep]
    alone = Bench(NativeStep(compile_plan(joint_entries(), ROBOTS)))
    arrays = [np.zeros((ROBOTS, step_bench.WIDTH), np.float32) for _ in range(6)]
    assembly.bind(step_bench.COLUMNS, arrays[:5], arrays[5])
    signals = ["motor_efforts", "applied_efforts"]
    for observer in (assembly, alone.step_of_plan):
        observer.observe(True)
    noted = []
    with Recorder(assembly, ["A", "B", "C"], signals, None, range(ROBOTS), JOINTS) as log:
        for _ in range(10):
            inputs = draw(rng)
            for array, values in zip(arrays, inputs, strict=False):
                array[:, step_bench.COLUMNS] = values
            assembly.step(DT)
            np.testing.assert_array_equal(arrays[5][:, step_bench.COLUMNS], alone.step(inputs))
            np.testing.assert_array_equal(assembly.motor_efforts(), alone.step_of_plan.motor_efforts())
            noted.append(assembly.motor_efforts())
    np.testing.assert_array_equal(log.motor_efforts, noted)
    changed = log.motor_efforts != log.applied_efforts
    assert changed[:, :, :3].any(axis=(0, 1)).all() and not changed[:, :, 3].any()


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("controlled", [True, False])
@pytest.mark.parametrize("on_core", [True, False])
def test_public_actuator_with_passive_laws(controlled, on_core, built_in, monkeypatch, rng) -> None:
    """Efforts and gradients, with a controller or without one; those of the core and of Warp agree."""
    monkeypatch.setattr(native, "core", built_in if on_core else None)
    q, qd, target, ff, out = (wp.zeros(ROBOTS, dtype=wp.float32, device="cpu", requires_grad=True) for _ in range(5))
    zero = wp.zeros_like(q)
    velocities = rng.normal(size=ROBOTS).astype(np.float32)
    qd.assign(velocities)
    drag = PassiveDrag(wp.full(ROBOTS, 0.5, dtype=wp.float32, device="cpu", requires_grad=True))
    lag = PassiveLag(step_bench.full(3), step_bench.full(40))
    law = aa.ControllerPD(step_bench.full(10), step_bench.full(2)) if controlled else None
    at = wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu")
    actuator = aa.Actuator(at, law, others=[drag, lag], requires_grad=True)
    assert isinstance(actuator.compiled(), NativeStep) == on_core
    states = [actuator.state(), actuator.state()]
    control = {"joint_target_q": target, "joint_target_qd": zero, "joint_act": ff, "joint_f": out}
    with wp.Tape() as tape:
        actuator.step({"joint_q": q, "joint_qd": qd}, control, *states, dt=0.01)
    kd = 2.0 if controlled else 0.0
    # the spring is stretched by the way of the step
    np.testing.assert_allclose(out.numpy(), -(kd + 0.5 + 40 * 0.01) * velocities, rtol=1e-5)
    out.grad.fill_(1.0)
    tape.backward()
    np.testing.assert_allclose(qd.grad.numpy(), -(kd + 0.5 + 40 * 0.01), rtol=1e-5)
    np.testing.assert_allclose(drag.drag.grad.numpy(), -velocities, rtol=1e-5)
    np.testing.assert_allclose(ff.grad.numpy(), 1.0 if controlled else 0.0)


# ---- signals that laws ask for


def draw_signals(rng: np.random.Generator, faults: bool = True) -> dict[str, np.ndarray]:
    """Values of all signals `(robots, joints)`, some of them not finite."""
    found = {name: rng.normal(size=(ROBOTS, len(NAMES))).astype(np.float32) for name in ("inertia", "load")}
    found["load_is_whole"] = rng.integers(0, 2, size=(ROBOTS, len(NAMES))).astype(np.float32)
    for values in found.values() if faults else ():
        bad = rng.random(values.shape) < 0.05
        values[bad] = rng.choice([np.nan, np.inf, -np.inf], size=bad.sum())
    return found


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("kind", ["columns", "gaps"])
def test_signals_have_the_bits_of_warp(kind, monkeypatch, rng) -> None:
    """With faults of signals, inputs and both; a signal that no law of a joint asks for is no fault of it."""
    given = asking_entries()
    if kind == "gaps":
        monkeypatch.setattr(step_bench, "COLUMNS", (0, 2, 3, 5))
        given = [dataclasses.replace(entry, shared=True) for entry in given]
    steps = NativeStep(compile_plan(given, ROBOTS)), WarpStep(compile_plan(given, ROBOTS), "cpu")
    benches = [Bench(step) for step in steps]
    assert [list(step.signals) for step in steps] == [["inertia", "load", "load_is_whole"]] * 2
    for number in range(60):
        inputs, signals = draw(rng), draw_signals(rng)
        if number == 30:
            for step in steps:
                step.observe(True)
        for step in steps:
            for name, values in signals.items():
                step.signals[name].assign(values)
        found, other = (bench.step(inputs) for bench in benches)
        np.testing.assert_array_equal(found.view(np.int32), other.view(np.int32))
        # toe: no signal stops it
        good = np.isfinite(inputs[:, :, 3]).all(axis=0)
        q, _, target, _, ff = inputs[:, :, 3].astype(np.float64)
        expected = np.where(good, np.clip(5 * (target - q) + ff, -4, 4), 0)
        np.testing.assert_allclose(found[:, 3], expected, atol=1e-5)
        # the knee asks for the load only, the others for all
        asked = [[*signals], ["load"], [*signals], []]
        for joint, names in enumerate(asked):
            bad = [~np.isfinite(signals[name][:, joint]) for name in names]
            assert not found[np.any([*bad, np.zeros(ROBOTS, bool)], axis=0), joint].any()
    one, two = (save([(JOINTS, step)]) for step in steps)
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name])
    faults = steps[0].faults()
    assert faults == steps[1].faults()
    assert any(code & SIGNAL_FAULT for _, _, code, _ in faults)


@pytest.mark.usefixtures("built_in")
def test_signals_have_the_numbers_of_float64(rng) -> None:
    """Neutral ones at first, those that a host writes from then on."""
    assembly = Assembly(asking_entries(), ROBOTS, "cpu")
    arrays = [np.zeros((ROBOTS, len(NAMES)), np.float32) for _ in range(6)]
    assembly.bind(JOINTS, arrays[:5], arrays[5])
    momentum = np.zeros((ROBOTS, len(NAMES)))
    targets = []
    for number in range(20):
        for array in arrays[:5]:
            array[:] = rng.normal(size=array.shape)
        signals = {name: np.zeros((ROBOTS, len(NAMES))) for name in assembly.signals}
        if number > 5:
            signals = {name: values.astype(np.float64) for name, values in draw_signals(rng, faults=False).items()}
            for name, places in assembly.signals.items():
                for joints, array in places:
                    array.assign(signals[name][:, joints].astype(np.float32))
        assembly.step(DT)
        q, qd, target, target_velocity, ff = (array.astype(np.float64) for array in arrays[:5])
        targets.append((target, ff))
        acting, forward = targets[max(number - 2, 0)]
        load = signals["load"]
        momentum = 0.5 * momentum + signals["inertia"] * qd
        hip = 10 * (target - q) + target_velocity - qd + ff
        hip = np.clip(np.clip(hip, -3 - np.abs(load), 3 + np.abs(load)), -9, 9)
        knee = np.clip(20 * (acting - q) + forward - load, -12, 12)
        whole = signals["load_is_whole"] > 0.5
        expected = [
            hip - np.where(whole, 0.5 * load, momentum),
            knee,
            -np.where(whole, 0.25 * load, momentum),
            np.clip(5 * (target - q) + ff, -4, 4),
        ]
        np.testing.assert_allclose(arrays[5], np.stack([one[:, n] for n, one in enumerate(expected)], 1), atol=1e-4)


@pytest.mark.parametrize("on_core", [True, False])
def test_public_actuator_asks_for_signals(on_core, built_in, monkeypatch, rng) -> None:
    """Neutral without a host; a program writes them, and gradients flow into them."""
    monkeypatch.setattr(native, "core", built_in if on_core else None)
    zero, out = (wp.zeros(ROBOTS, dtype=wp.float32, device="cpu", requires_grad=True) for _ in range(2))
    qd = floats(1.0, 2.0, 3.0)
    at = wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu")
    stages = [ClampingLoaded(step_bench.full(100))], [PassiveStick(step_bench.full(0.5))]
    actuator = aa.Actuator(
        at, ControllerBalanced(step_bench.full(1)), None, stages[0], others=stages[1], requires_grad=True
    )
    assert isinstance(actuator.compiled(), NativeStep) == on_core
    states = [actuator.state(), actuator.state()]
    arrays = {"joint_q": zero, "joint_qd": qd}, {"joint_target_q": zero, "joint_target_qd": zero, "joint_f": out}
    actuator.step(*arrays, *states, dt=0.01)
    assert not out.numpy().any()
    load, inertia = rng.normal(size=(2, ROBOTS)).astype(np.float32)
    whole = np.array([1, 0, 0], np.float32)
    for name, values in (("load", load), ("inertia", inertia), ("load_is_whole", whole)):
        actuator.signals[name].assign(values)
    with wp.Tape() as tape:
        actuator.step(*arrays, *states, dt=0.01)
    expected = -load - np.where(whole, 0.5 * load, inertia * qd.numpy())
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5)
    out.grad.fill_(1.0)
    tape.backward()
    np.testing.assert_allclose(actuator.signals["load"].grad.numpy(), -1 - 0.5 * whole, rtol=1e-5)
    np.testing.assert_allclose(actuator.signals["inertia"].grad.numpy(), np.where(whole, 0, -qd.numpy()), rtol=1e-5)
    assert not actuator.signals["load_is_whole"].grad.numpy().any()
    # a part is exchanged: what the host wrote stays, and one that is not finite is a fault
    actuator.clamping[0] = ClampingLoaded(step_bench.full(50))
    np.testing.assert_array_equal(actuator.signals["load"].numpy(), load)
    actuator.signals["load"].fill_(np.nan)
    out.zero_()
    actuator.step(*arrays, *states, dt=0.01)
    assert not out.numpy().any()
    assert [fault.inputs for fault in actuator.faults] == [("signal",)] * ROBOTS


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
    """With those that there are."""
    odd = type("PassiveOdd", (PassiveDrag,), {"ASKS": ("weather",)})
    with pytest.raises(TypeError, match=r"PassiveOdd.ASKS: \['weather'\]: must be some of \['inertia', 'load'"):
        compile_plan([ActuatorEntry("/A/hip", ("hip",), None, [], None, others=[odd(step_bench.full(1))])], ROBOTS)


# ---- what controllers see


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("kind", ["columns", "gaps", "between"])
def test_sensors_have_the_bits_of_warp(kind, monkeypatch, rng) -> None:
    """With faults, sensors that fail, resets and saved states; a controller that computes arrays sees the same."""

    def made(engine):
        given = sensing_entries()
        if kind == "gaps":
            given = [dataclasses.replace(entry, shared=True) for entry in given]
        if kind == "between":
            own = OwnController(*map(step_bench.full, (30, 20, 2, 0.05)))
            given[0] = dataclasses.replace(given[0], controller=own)
        for entry in given:
            for component in entry.stages:
                component.finalize("cpu", ROBOTS)
        step = engine(compile_plan(given, ROBOTS))
        apart = [(entry.label, one, [n]) for n, entry in enumerate(given) if (one := array_stages(entry)) is not None]
        return with_array_stages(step, apart, "cpu") if apart else step

    if kind == "gaps":
        monkeypatch.setattr(step_bench, "COLUMNS", (0, 2, 3, 5))
    steps = made(NativeStep), made(lambda plan: WarpStep(plan, "cpu"))
    benches = [Bench(step) for step in steps]
    for number in range(60):
        inputs = draw(rng)
        if number == 20:
            saved = [save([(JOINTS, step)]) for step in steps]
            assert "/A/hip.feedback.seen" in saved[0]
            for name, values in saved[0].items():
                np.testing.assert_array_equal(values, saved[1][name])
            for step, other in zip(steps, reversed(saved), strict=True):
                restore([(JOINTS, step)], other)
        if number == 40:
            for step in steps:
                step.reset([1])
        found, other = (bench.step(inputs) for bench in benches)
        np.testing.assert_array_equal(found.view(np.int32), other.view(np.int32))
        # too far out for the sensor
        assert not found[inputs[0, :, 0] >= 1.5, 0].any()
    assert steps[0].faults() == steps[1].faults() != []


@pytest.mark.usefixtures("built_in")
def test_sensors_have_the_numbers_of_float64(rng) -> None:
    """The controller sees what they give, limits and passive laws the joint as it is; a failure keeps all state."""
    assembly = Assembly(sensing_entries(), ROBOTS, "cpu")
    arrays = [np.zeros((ROBOTS, len(NAMES)), np.float32) for _ in range(6)]
    assembly.bind(JOINTS, arrays[:5], arrays[5])
    seen, level, last = np.zeros((ROBOTS, 4)), np.zeros(ROBOTS), np.zeros(ROBOTS)
    commands = []
    for number in range(30):
        for array in arrays[:5]:
            array[:] = rng.normal(size=array.shape)
        assembly.step(DT)
        q, qd, target, target_velocity, ff = (array.astype(np.float64) for array in arrays[:5])
        commands.append((target, target_velocity, ff))
        acting = commands[max(number - 2, 0)]
        good = q < [1.5, np.inf, 2, np.inf]
        seen = np.where(good, seen + [0.5, 0, 0.25, 0] * (qd - seen), seen)
        before = q - DT * qd
        hip = 10 * (target - before) + target_velocity - seen + ff
        knee_q, knee_qd = q + np.array([[0.1], [0.2], [0.3]]), 1.5 * qd
        knee = (30 * (acting[0] - knee_q) + 2 * (acting[1] - knee_qd) + acting[2])[:, 1]
        knee = [oracle.dc_motor_clamp(effort, v, 25, 2, 20) for effort, v in zip(knee, qd[:, 1], strict=True)]
        level = np.where(good[:, 2], 0.9 * level + 20 * (target - before)[:, 2], level)
        ankle = np.clip(np.clip(level + ff[:, 2], last - 300 * DT, last + 300 * DT), -8, 8)
        last = np.where(good[:, 2], ankle, last)
        toe = 5 * (target - q) + target_velocity - qd + ff
        expected = [np.clip(hip, -9, 9)[:, 0] - 0.5 * qd[:, 0], knee, ankle, np.clip(toe, -4, 4)[:, 3]]
        np.testing.assert_allclose(arrays[5], np.where(good, np.stack(expected, 1), 0), atol=2e-4)


@pytest.mark.usefixtures("built_in")
def test_networks_see_what_sensors_give(rng) -> None:
    """With and without a history; the core and Warp agree, and a network behind a skewed sensor sees a skewed joint."""
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


def test_public_actuator_with_a_sensor(built_in, monkeypatch, rng) -> None:
    """Its state is among those of other kinds; the core and Warp agree."""
    at = wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu")
    made = []
    for core in (built_in, None):
        monkeypatch.setattr(native, "core", core)
        sensor = FeedbackFiltered(step_bench.full(0.5), step_bench.full(1))
        actuator = aa.Actuator(at, aa.ControllerPD(step_bench.full(10), step_bench.full(2)), others=[sensor])
        assert isinstance(actuator.compiled(), NativeStep) == (core is not None)
        made.append((core, actuator, [actuator.state(), actuator.state()]))
    zero = wp.zeros(ROBOTS, dtype=wp.float32, device="cpu")
    seen = np.zeros(ROBOTS)
    for _ in range(10):
        q, qd = rng.normal(size=(2, ROBOTS)).astype(np.float32)
        seen = np.where(q < 1, seen + 0.5 * (qd - seen), seen)
        found = []
        for core, actuator, states in made:
            monkeypatch.setattr(native, "core", core)
            out = wp.zeros_like(zero)
            control = {"joint_target_q": zero, "joint_target_qd": zero, "joint_f": out}
            actuator.step({"joint_q": floats(*q), "joint_qd": floats(*qd)}, control, *states, dt=DT)
            states.reverse()
            found += [out.numpy(), states[0].other_states["feedback"][0].seen.numpy()]
        np.testing.assert_array_equal(found[:2], found[2:])
        np.testing.assert_allclose(found[0], np.where(q < 1, -10 * (q - DT * qd) - 2 * seen, 0), atol=1e-5)
        np.testing.assert_allclose(found[1], seen, atol=1e-6)


def test_sensors_without_a_law_are_refused() -> None:
    entry = sensing_entries()[0]
    beside = dataclasses.replace(entry, clamping=[OwnLimit(step_bench.full(8))])
    with pytest.raises(TypeError, match="FeedbackFiltered beside OwnLimit, which computes arrays"):
        compile_plan([beside], ROBOTS)
    lawless = type("FeedbackOdd", (FeedbackFiltered,), {"LAW": None})(step_bench.full(1), step_bench.full(1))
    with pytest.raises(TypeError, match="FeedbackOdd: must have a law"):
        compile_plan([dataclasses.replace(entry, others=[lawless])], ROBOTS)


# ---- signals that laws publish


class Robots:
    """Joints of the same robots, spread over several wrappers, and the arrays they read.

    Args:
        spread: Names of the joints of each wrapper.
        supplied: Joints that have a supply.
        device: Where.
    """

    def __init__(self, *spread: Sequence[str], supplied: Sequence[str] = heated.NAMES) -> None:
        self.arrays = [np.zeros((ROBOTS, len(heated.NAMES)), np.float32) for _ in range(6)]
        self.assemblies: list[Assembly] = []
        for names in spread:
            given = [heated.entry(name, supplied=name in supplied) for name in names]
            columns = [heated.NAMES.index(name) for name in names]
            self.assemblies.append(Assembly(given, ROBOTS, "cpu", columns))
            self.assemblies[-1].bind(columns, self.arrays[:5], self.arrays[5])
        share_totals([(one, [f"/World/{robot}" for robot in range(ROBOTS)]) for one in self.assemblies])

    def step(self, inputs: np.ndarray, order: Sequence[int]) -> np.ndarray:
        """Efforts after a step of each wrapper, in this order."""
        for array, values in zip(self.arrays, inputs, strict=False):
            array[:] = values
        for at in order:
            self.assemblies[at].step(heated.DT)
        return self.arrays[5].copy()

    def reset(self, robot: int) -> None:
        for one in self.assemblies:
            one.reset([robot])

    def save(self) -> dict[str, np.ndarray]:
        """The state of all of them, without faults."""
        saved = [one.save() for one in self.assemblies]
        return {name: values for one in saved for name, values in one.items() if name.startswith("/A/")}


SPREADS = {
    "one": ([heated.NAMES], [0]),
    "two": ([("hip", "ankle"), ("toe", "knee")], [0, 1]),
    "two, the other first": ([("hip", "ankle"), ("toe", "knee")], [1, 0]),
    "three": ([("toe",), ("hip", "knee"), ("ankle",)], [2, 0, 1]),
}


@pytest.mark.parametrize("supplied", [heated.NAMES, ("hip", "toe"), ("knee",)], ids=["all", "some", "one"])
def test_what_laws_publish_acts_in_the_next_step(supplied, built_in, monkeypatch, rng) -> None:
    """Numbers of float64; the same bits on both engines, over however many wrappers and in whichever order."""
    made: list[tuple] = []
    for core in (built_in, None):
        monkeypatch.setattr(native, "core", core)
        for name, (spread, order) in SPREADS.items():
            robots = Robots(*spread, supplied=supplied)
            steps = [step for one in robots.assemblies for _, step in one.parts]
            assert {type(step) for step in steps} == {NativeStep if core else WarpStep}
            made.append((f"{name}, {'native' if core else 'warp'}", core, robots, order))
    twins = [heated.Oracle(supplied) for _ in range(ROBOTS)]
    limited = 0
    for number in range(60):
        inputs = heated.draw(rng)
        if number == 25:
            # of all but the first one, states go on in others, of the other engine too
            saved = [[one.save() for one in robots.assemblies] for _, _, robots, _ in made]
            for at, (name, core, _, order) in enumerate(made[1:], 1):
                monkeypatch.setattr(native, "core", None if core else built_in)
                fresh = Robots(*SPREADS[name.rpartition(",")[0]][0], supplied=supplied)
                for one, state in zip(fresh.assemblies, saved[at], strict=True):
                    one.restore(state)
                made[at] = name, None if core else built_in, fresh, order
        if number == 40:
            for _, _, robots, _ in made:
                robots.reset(1)
            twins[1].start()
        found = [robots.step(inputs, order) for _, _, robots, order in made]
        for (name, *_), other in zip(made, found, strict=True):
            np.testing.assert_array_equal(found[0].view(np.int32), other.view(np.int32), err_msg=f"{name}, {number}")
        expected = [twin.step(inputs[:, robot]) for robot, twin in enumerate(twins)]
        np.testing.assert_allclose(found[0], expected, atol=1e-4, rtol=1e-4)
        limited += sum(twin.share["toe"] < 0.9 for twin in twins)
        states = [robots.save() for _, _, robots, _ in made]
        for (name, *_), other in zip(made, states, strict=True):
            assert states[0].keys() == other.keys()
            for key, values in states[0].items():
                np.testing.assert_array_equal(values, other[key], err_msg=f"{name}, {number}, {key}")
    assert limited > 20
    for robot, twin in enumerate(twins):
        heat = [states[0][f"/A/{name}.thermal.heat"][robot] for name in heated.NAMES]
        np.testing.assert_allclose(heat, [twin.heat[name] for name in heated.NAMES], rtol=1e-4)


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("observed", [False, True])
def test_laws_that_change_no_effort_beside_others(observed, rng) -> None:
    """Bits of Warp where components compute arrays, where efforts are observed, and where a controller is a network."""

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


@pytest.mark.parametrize("on_core", [True, False])
def test_public_actuator_publishes(on_core, built_in, monkeypatch, rng) -> None:
    """Of states that take turns; a total is what the program writes, and gradients are refused by name."""
    monkeypatch.setattr(native, "core", built_in if on_core else None)
    at = wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu")
    given = heated.entry("hip")
    actuator = aa.Actuator(at, given.controller, None, given.clamping, others=given.others)
    assert isinstance(actuator.compiled(), NativeStep) == on_core
    states, twin = [actuator.state(), actuator.state()], heated.Oracle(["hip"])
    total = 0.0
    for number in range(30):
        inputs = heated.draw(rng, faults=False)
        q, qd, target, target_velocity, ff = (floats(*([value] * ROBOTS)) for value in inputs[:, 0, 0])
        out = floats(0.0, 0.0, 0.0)
        control = {"joint_target_q": target, "joint_target_qd": target_velocity, "joint_act": ff, "joint_f": out}
        # as if the knee drew this
        twin.drawn["knee"] = 100.0 * number
        actuator.signals["robot_power"].fill_(total + 100.0 * number)
        actuator.step({"joint_q": q, "joint_qd": qd}, control, *states, dt=heated.DT)
        states.reverse()
        inputs = np.concatenate([inputs[:, 0, :1], np.full((5, 3), np.nan, np.float32)], axis=1)
        np.testing.assert_allclose(out.numpy(), twin.step(inputs)[0], rtol=1e-4, atol=1e-4)
        total = twin.drawn["hip"]
    np.testing.assert_allclose(states[0].other_states["thermal"][0].heat.numpy(), twin.heat["hip"], rtol=1e-4)
    # a part is exchanged: what was published by the one before is gone, what a program wrote stays
    assert (actuator.signals["derating"].numpy() < 1).all()
    actuator.others = [one for one in actuator.others if not isinstance(one, heated.ThermalWinding)]
    assert (actuator.signals["derating"].numpy() == 1).all() and actuator.signals["robot_power"].numpy().all()
    refused = "publishes, or leaves besides efforts .*ElectricalMetered, ThermalWinding, SupplyDrained"
    with pytest.raises(NotImplementedError, match=refused):
        aa.Actuator(at, given.controller, None, given.clamping, others=given.others, requires_grad=True)


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("volts", [np.nan, -np.inf, np.inf])
def test_infinity_is_no_fault_of_a_signal_without_a_bound(volts) -> None:
    """A voltage without a supply is infinite, and nothing else that is not finite; of the power it is a fault."""
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
    """Of a law that changes no effort, and of a limit whose effort is finite; the state stays on both engines."""
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


# ---- between motor and joint


def engines(given: list[ActuatorEntry]) -> list:
    """Both of them, with what computes arrays between the phases."""
    found = []
    for engine in (NativeStep, lambda plan: WarpStep(plan, "cpu")):
        step = engine(compile_plan(given, ROBOTS))
        apart = [(entry.label, one, [n]) for n, entry in enumerate(given) if (one := array_stages(entry)) is not None]
        found.append(with_array_stages(step, apart, "cpu") if apart else step)
    return found


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("kind", ["columns", "gaps", "between"])
@pytest.mark.parametrize("observed", [True, False])
def test_transmissions(kind, observed, monkeypatch, rng) -> None:
    """Bits of Warp and numbers of float64, with faults, resets and saved states; in one go and in two phases."""
    soft = kind != "gaps"
    given = geared_entries(soft=soft)
    if kind == "gaps":
        monkeypatch.setattr(step_bench, "COLUMNS", (0, 2, 3, 5))
        given = [dataclasses.replace(entry, shared=True) for entry in given]
    if kind == "between":
        given[3].clamping[:] = [OwnLimit(step_bench.full(4))]
        given[3].clamping[0].finalize("cpu", ROBOTS)
    steps = engines(given)
    benches = [Bench(step) for step in steps]
    for step in steps:
        step.observe(observed)
    if not observed and kind == "gaps":
        assert steps[0].core.layout == "gaps"
    twins = [GearedTwin(0 if kind == "gaps" else robot, soft=soft) for robot in range(ROBOTS)]
    seen = set()
    for number in range(60):
        inputs, load = draw(rng), draw_signals(rng)["load"]
        for step in steps if soft else ():
            step.signals["load"].assign(load)
        if number == 20:
            saved = [save([(JOINTS, step)]) for step in steps]
            assert not soft or saved[0]["/A/ankle.transmission.twist"].any()
            for name, values in saved[0].items():
                np.testing.assert_array_equal(values, saved[1][name], err_msg=name)
            for step, other in zip(steps, reversed(saved), strict=True):
                restore([(JOINTS, step)], other)
        if number == 40:
            for step in steps:
                step.reset([1])
            twins[1] = GearedTwin(0 if kind == "gaps" else 1, soft=soft)
        found, other = (bench.step(inputs) for bench in benches)
        np.testing.assert_array_equal(found.view(np.int32), other.view(np.int32))
        expected = [twin.step(inputs[:, robot], load[robot, 2]) for robot, twin in enumerate(twins)]
        np.testing.assert_allclose(found, expected, atol=5e-4, rtol=5e-5)
        if not observed:
            continue
        (computed, numbers), others = (step.observed() for step in steps)
        np.testing.assert_array_equal(computed, others[0])
        np.testing.assert_array_equal(numbers, others[1])
        # before the limits those of motors, behind them those at joints
        np.testing.assert_allclose(computed, np.where(found != 0, [t.computed for t in twins], 0), atol=5e-4, rtol=5e-5)
        motor, other = (step.motor_efforts() for step in steps)
        np.testing.assert_array_equal(motor, other)
        np.testing.assert_allclose(motor, [twin.motor for twin in twins], atol=5e-4, rtol=5e-5)
        seen |= set(np.array(["", *steps[0].stage_names])[numbers].ravel())
    if observed:
        limits = {"ClampingMaxEffort", "ClampingDCMotor", "ClampingPositionBased", "ClampingSlew"}
        assert seen <= {"", *limits, "OwnLimit"} and {"ClampingMaxEffort", "ClampingPositionBased"} < seen
    assert steps[0].faults() == steps[1].faults() != []


@pytest.mark.usefixtures("built_in")
def test_two_phases_of_motors_have_the_bits_of_one(rng) -> None:
    """Arrays between the phases are those of the motor; written efforts are those at the joint."""
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


@pytest.mark.parametrize("on_core", [True, False])
@pytest.mark.parametrize("rubs", [True, False])
def test_gear_agrees_with_the_law_that_has_one(on_core, rubs, built_in, monkeypatch, rng) -> None:
    """PD, limit and gear are `ControllerGearedPD` with the limit times the ratio, and friction acts on the joint.

    Targets and feedforward are the motor's; the bias of that law has no counterpart. Bound by indices.
    """
    monkeypatch.setattr(native, "core", built_in if on_core else None)
    ratio, places = np.array(step_bench.RATIOS), [4, 0, 2]
    gear = TransmissionGear(floats(*ratio), step_bench.full(0), step_bench.full(1))
    geared = aa.ControllerGearedPD(step_bench.full(30), step_bench.full(2), floats(*ratio))
    made = []
    for law, most, others in (
        (aa.ControllerPD(step_bench.full(30), step_bench.full(2)), step_bench.full(20), [gear]),
        (geared, floats(*np.abs(20 * ratio)), []),
    ):
        friction = [aa.PassiveFriction(*map(step_bench.full, (15, 2, 20, 0.1, 2, 0.05, *[0.1] * 6, 0)))] if rubs else []
        at = wp.array(places, dtype=wp.uint32, device="cpu")
        actuator = aa.Actuator(
            at,
            law,
            clamping=[aa.ClampingMaxEffort(most)],
            others=[*others, *friction],
            control_computed_output_attr="joint_computed",
        )
        assert isinstance(actuator.compiled(), NativeStep) == on_core
        made.append((actuator, [actuator.state(), actuator.state()]))
    names = ["joint_q", "joint_qd", "joint_target_q", "joint_target_qd", "joint_act", "joint_f", "joint_computed"]
    for number in range(20):
        given = 0.3 * rng.normal(size=(5, 5)).astype(np.float32)
        if number > 15:
            given[:, 0] = np.nan
        found = []
        for actuator, states in made:
            arrays = {name: floats(*values) for name, values in zip(names, [*given, *np.zeros((2, 5))], strict=True)}
            actuator.step(arrays, arrays, *states, dt=DT)
            states.reverse()
            found += [arrays[name].numpy()[places].astype(float) for name in ("joint_f", "joint_computed")]
        effort, computed, expected, of_joint = found
        np.testing.assert_allclose(effort, expected, rtol=2e-5, atol=2e-4)
        # before the limits it is the motor's
        np.testing.assert_allclose(ratio * computed, of_joint, rtol=2e-5, atol=1e-4)
        if not rubs:
            # power goes in as it comes out; efforts are of float32
            velocity = np.nan_to_num(given[1, places].astype(float))
            np.testing.assert_allclose(velocity * effort, ratio * velocity * np.clip(computed, -20, 20), rtol=1e-6)
    assert [fault.robot for fault in made[0][0].faults] == [1]


@pytest.mark.usefixtures("built_in")
@pytest.mark.parametrize("engine", [0, 1], ids=["core", "warp"])
def test_fault_of_a_motor_is_that_of_its_joint_alone(engine, rng) -> None:
    """Of a signal or of the transmission; the state is kept, and all others have the bits that they had."""
    good, bad = (Bench(engines(geared_entries())[engine]) for _ in range(2))
    kept = ("/A/ankle.transmission.twist", "/A/ankle.clamping.0.last", "/A/ankle.controller.level")
    for number in range(5):
        inputs = draw(rng, faults=False)
        # not so far out that the soft gear slips
        inputs[0] = np.clip(inputs[0], -1, 1)
        wrong = inputs.copy()
        lost = np.zeros((ROBOTS, len(NAMES)), bool)
        if number == 4:
            wrong[0, 0, 0], wrong[4, 2, 1], wrong[0, 1, 2] = np.nan, np.inf, 1.75
            lost[[0, 2, 1], [0, 1, 2]] = True
        before = save([(JOINTS, bad.step_of_plan)])
        found, other = good.step(inputs), bad.step(wrong)
        np.testing.assert_array_equal(other, np.where(lost, 0, found))
        assert found[lost].all()
    after = save([(JOINTS, bad.step_of_plan)])
    for name in kept:
        assert after[name][1] == before[name][1] != 0 and (after[name] != before[name]).any(), name
    assert good.step_of_plan.faults() == []
    assert [fault[:3] for fault in bad.step_of_plan.faults()] == [(0, 0, 1), (2, 1, 16), (1, 2, EFFORT_FAULT)]


@pytest.mark.usefixtures("built_in")
def test_networks_see_motors(rng) -> None:
    """With and without a history, in one phase of the core and two of Warp."""
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


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("on_core", [True, False])
def test_gradients_go_through_sensors_and_transmissions(on_core, in_place, built_in, monkeypatch, rng) -> None:
    """Those of finite differences: by what each remembers, and by the load; sensor or gear of two joints fail."""
    monkeypatch.setattr(native, "core", built_in if on_core else None)
    count, steps = 40, 6
    signals = [f"{name} {k}" for k in range(steps) for name in ("q", "qd", "target", "target_qd", "ff")]
    values = {name: rng.normal(0, 0.5, count) for name in (*signals, "seen", "twist", "slip", "load")}
    ranges = {"kp": (5, 9), "kd": (0.5, 2), "share": (0.2, 0.8), "ratio": (1, 3), "stiffness": (20, 60)}
    ranges |= {"saturation": (9, 12), "fastest": (2, 4), "most": (5, 8), "rate": (1, 4), "spring": (1, 4)}
    values |= {name: rng.uniform(*ends, count) for name, ends in ranges.items()}
    values["ratio"][::3] *= -1
    # where the sensor fails, and where the gear does
    values["q 3"][0], values["q 2"][1] = 6.0, -6.0
    values = {name: value.astype(np.float32).astype(np.float64) for name, value in values.items()}
    weights = rng.normal(size=(steps, count))

    def loss(values: dict[str, np.ndarray]) -> np.ndarray:
        v, ratio, total = values, values["ratio"], np.zeros(count)
        seen, twist, slip = v["seen"], v["twist"], v["slip"]
        for k in range(steps):
            q, qd, target, target_qd, ff = (v[f"{name} {k}"] for name in ("q", "qd", "target", "target_qd", "ff"))
            good = np.abs(q) < 5
            now = seen + v["share"] * (qd - seen)
            motor_q, motor_qd = ratio * (q - DT * qd) + twist, ratio * now
            effort = v["kp"] * (ratio * target - motor_q) + v["kd"] * (ratio * target_qd - motor_qd)
            effort += (ff - v["load"]) / ratio
            bounds = v["saturation"], v["fastest"], v["most"]
            # the limit knows the true velocity
            (effort,) = oracle.LAWS["ClampingDCMotor"](effort, q, ratio * qd, DT, *bounds)
            stretched = slip + DT * (qd - v["rate"] * slip)
            total += weights[k] * np.where(good, ratio * effort - v["spring"] * stretched, 0)
            after = now, 0.5 * twist + 0.5 / v["stiffness"] * effort, stretched
            seen, twist, slip = (np.where(good, *pair) for pair in zip(after, (seen, twist, slip), strict=True))
        return total

    given = {name: floats(*value) for name, value in values.items()}
    for one in given.values():
        one.requires_grad = True
    far = floats(*[5.0] * count)
    actuator = aa.Actuator(
        wp.array(np.arange(count), dtype=wp.uint32, device="cpu"),
        aa.ControllerPD(given["kp"], given["kd"]),
        clamping=[aa.ClampingDCMotor(given["saturation"], given["fastest"], given["most"])],
        others=[
            FeedbackFiltered(given["share"], far),
            TransmissionSoft(given["ratio"], given["stiffness"], far),
            PassiveLag(given["rate"], given["spring"]),
        ],
        requires_grad=True,
    )
    actuator.signals["load"].assign(given["load"])
    states = [actuator.state(), actuator.state()]
    remembered = {
        name: getattr(states[0].other_states[kind][0], name)
        for name, kind in (("seen", "feedback"), ("twist", "transmission"), ("slip", "passive"))
    }
    for name, one in remembered.items():
        one.assign(given[name])
    efforts = [wp.zeros(count, dtype=wp.float32, device="cpu", requires_grad=True) for _ in range(steps)]
    names = {"q": "joint_q", "qd": "joint_qd", "target": "joint_target_q", "target_qd": "joint_target_qd"}
    with wp.Tape() as tape:
        for k, effort in enumerate(efforts):
            arrays = {to: given[f"{name} {k}"] for name, to in (names | {"ff": "joint_act"}).items()}
            now, after = (states[0], states[0]) if in_place else (states[k % 2], states[1 - k % 2])
            actuator.step(arrays, arrays | {"joint_f": effort}, now, after, DT)
    assert isinstance(actuator.compiled(), NativeStep) == on_core
    for effort, by in zip(efforts, weights, strict=True):
        effort.grad.assign(by.astype(np.float32))
    tape.backward()
    found = given | remembered | {"load": actuator.signals["load"]}
    assert found["q 3"].grad.numpy()[0] == found["q 2"].grad.numpy()[1] == 0
    small = 1e-6
    for name in values:
        ends = [loss(values | {name: values[name] + sign * small}) for sign in (1, -1)]
        expected = (ends[0] - ends[1]) / (2 * small)
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(found[name].grad.numpy(), expected, atol=2e-4 * scale, err_msg=name)
        assert expected.any(), name


# ---- curves, and what is prepared for the step


def test_core_knows_their_curves(built_in) -> None:
    """How many they are, and what is prepared for the step."""
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
    """Each joint alone, as public actuators are run."""
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
    """On both engines, in an actuator without a state."""
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
    """`modify_forces` has no place for it."""
    entry = curved_entries(sensed=False)[3]
    entry.clamping.append(OwnLimit(step_bench.full(8)))
    apart = array_stages(entry)
    assert apart is not None
    with pytest.raises(TypeError, match="ClampingCurved is prepared for the physics step and stands before a stage"):
        with_array_stages(WarpStep(compile_plan([entry], ROBOTS), "cpu"), [(entry.label, apart, [0])], "cpu")
