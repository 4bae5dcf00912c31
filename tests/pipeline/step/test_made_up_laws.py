"""Laws become built-in by their lines: the core is compiled with made-up ones and has the bits of Warp.

No law that ships has two states, and no limit that ships has any, so that this is where the core's ways with them are
tested: a limit that remembers goes by places, whatever the layout.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import laws_header
import numpy as np
import pytest
import step_bench
import warp as wp
from isaacsim.core.experimental.actuators import Actuator, native
from isaacsim.core.experimental.actuators.components import catalogue
from isaacsim.core.experimental.actuators.memory import numpy_view
from isaacsim.core.experimental.actuators.pipeline.plan import base_of, compile_plan
from isaacsim.core.experimental.actuators.pipeline.step.native import NativeStep
from isaacsim.core.experimental.actuators.pipeline.step.state import restore, save
from isaacsim.core.experimental.actuators.pipeline.step.warp import WarpStep
from isaacsim.core.experimental.actuators.specs.configs import ClampingConfig, ControlConfig
from other_laws import replace_laws
from places import REPOSITORY
from step_bench import DT, NAMES, ROBOTS, Bench, Twin, draw, entries, mixed_plan

if native.core is None:
    pytest.skip("the native core was not built", allow_module_level=True)

FLAGS = ["-std=c++17", "-O1", "-fPIC", "-ffp-contract=off", "-fvisibility=hidden"]
JOINTS = list(range(len(NAMES)))


@dataclasses.dataclass
class SlewConfig(ClampingConfig):
    """Of `ClampingSlew`."""

    SCHEMA = "SlewAPI"


@dataclasses.dataclass
class LeakyConfig(ControlConfig):
    """Of `ControllerLeaky`."""

    SCHEMA = "LeakyAPI"


def lines() -> tuple[catalogue.Law, ...]:
    """The catalogue with a controller and a limit more."""
    laws = list(catalogue.LAWS)
    plain = next(at for at, law in enumerate(laws) if law.name == "ClampingMaxEffort")
    laws.insert(plain, catalogue.Law(SlewConfig, "ClampingSlew"))
    return (catalogue.Law(LeakyConfig, "ControllerLeaky"), *laws)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The core with two laws more, for the baseline only."""
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
    variant = ["-DACTUATORS_VARIANT=baseline", "-DACTUATORS_SYMBOL=kBaseline", '-DACTUATORS_NAME="baseline"']

    def build(file: Path) -> str:
        # what is compiled once for each instruction set says so
        own = variant if "namespace ACTUATORS_VARIANT" in file.read_text("utf-8") else [*includes, apart]
        made = folder / f"{file.stem}.o"
        run([compiler, *FLAGS, *own, "-c", str(file), "-o", str(made)])
        return str(made)

    with ThreadPoolExecutor() as pool:
        objects = list(pool.map(build, source.glob("*.cpp")))
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
    for name in ("ControllerLeaky", "ClampingSlew"):
        home = f"{catalogue.PACKAGE}.{catalogue.snake_case(name)}"
        patch.setitem(sys.modules, home, step_bench)
        patch.setattr(getattr(step_bench, name), "__module__", home)
    replace_laws(patch, lines())


@pytest.fixture
def built_in(compiled: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Any:
    """All of it in place."""
    monkeypatch.delenv("ACTUATORS_ISA", raising=False)
    install(monkeypatch)
    monkeypatch.setattr(native, "core", compiled)
    assert base_of(step_bench.ClampingSlew) is step_bench.ClampingSlew
    return compiled


def test_core_knows_them(built_in: Any) -> None:
    """With their kinds and sizes."""
    assert built_in.laws()["ClampingSlew"]["kind"] == "clamping"
    assert [built_in.laws()[name]["states"] for name in ("ClampingSlew", "ControllerLeaky")] == [1, 2]


@pytest.mark.usefixtures("built_in")
def test_bits_of_warp_and_the_numbers_of_float64(rng: np.random.Generator) -> None:
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
def test_bits_of_warp_across_gaps(observed: bool, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
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
def test_public_actuator_runs_them_natively(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
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
        actuator = Actuator(at, step_bench.ControllerLeaky(step_bench.full(20)), clamping=[slew])
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
