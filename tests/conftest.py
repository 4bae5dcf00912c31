"""What every test shares: the robot files, a random generator, and no traces left behind."""

import gc
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import use_host
from isaacsim.core.experimental.actuators.laws.contract import catalogue

# chooses how MuJoCo draws, which has to be before anybody imports it
from isaacsim.core.experimental.actuators.simulators import mujoco as mujoco  # noqa: PLC0414
from isaacsim.core.experimental.actuators.simulators import opened
from leg import Leg
from parts_of_tests import is_in_part, part_of
from places import ROBOTS
from quick_kernels import compile_quickly, optimized

# a minute or so in few tests: they begin, so that nobody waits for one of them at the end
LONG = {
    *("test_attachment_property.py", "test_benchmarks.py", "test_contract.py", "test_docs.py", "test_docs_build.py"),
    *("test_examples.py", "test_gradients.py", "test_hostile_prims.py", "test_made_up_laws.py", "test_malicious.py"),
    *("test_pairs.py", "test_properties.py", "test_scripts_in_kit.py", "test_simulation.py", "test_table.py"),
    *("test_untrusted.py", "test_web.py"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "slow tests: 'all', 'none' or a part, '0/3' to '2/3'; all where a test or folder is named, else none"
    parser.addoption("--slow", metavar="WHICH", type=part_of, help=words)
    words = "a part of the files, '0/3' to '2/3'; all by default"
    parser.addoption("--files", metavar="PART", type=part_of, default="all", help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Collect tests without garbage, in our order with pytest-xdist, and with tables as wide as in a file."""
    if config.option.slow is None:
        # before pytest-xdist copies the options to other processes
        is_named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
        config.option.slow = part_of("all" if is_named else "none")
    os.environ.pop("COLUMNS", None)
    gc.disable()
    compile_quickly()
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests that were not asked for, and put long files first; all else stays in its order."""

    def is_asked_for(item: pytest.Item) -> bool:
        slow = any(not mark.args or any(word in item.name for word in mark.args) for mark in item.iter_markers("slow"))
        spread = item.get_closest_marker("spread")
        wanted, parts = config.option.slow
        in_part = parts and spread.args[0] % parts == wanted if spread else is_in_part(item.path, wanted, parts)
        return is_in_part(item.path, *config.option.files) and (not slow or bool(in_part))

    left_out = [item for item in items if not is_asked_for(item)]
    config.hook.pytest_deselected(items=left_out)
    known = {id(item) for item in left_out}
    items[:] = [item for item in items if id(item) not in known]
    items.sort(key=lambda item: item.path.name not in LONG)


def pytest_collection_finish() -> None:
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def _small_garbage() -> None:
    """Let garbage collections leave out what was there before: ten thousand tests, a third of a second each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def optimized_kernels():
    """Kernels of Warp as users have them, for a file with some that compute for longer than they compile."""
    with optimized():
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261121)


@pytest.fixture
def robots() -> Path:
    return ROBOTS


@pytest.fixture
def leg():
    made = Leg()
    with use_host(made.host):
        yield made


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run each test in an empty folder, with sentences in one line, and require that MuJoCo leaves no log there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    yield
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


@pytest.fixture(autouse=True)
def _no_open_simulation():
    opened.opened.clear()
    yield
    opened.opened.clear()


@pytest.fixture(autouse=True)
def _no_registered_laws():
    """Forget what a test registered: messages of others list the laws there are."""
    yield
    catalogue._registered.clear()
    if schema := sys.modules.get("isaacsim.core.experimental.actuators.files.usd.schema"):
        schema._foreign.clear()


@pytest.fixture(scope="module", autouse=True)
def _robots_as_in_their_files(_small_garbage: None) -> None:
    """No file of tests inherits what another one said of a robot: USD keeps a layer while any stage has it."""
    if sdf := sys.modules.get("pxr.Sdf"):
        for layer in sdf.Layer.GetLoadedLayers():
            # some go while others are looked at
            if layer and layer.dirty and Path(layer.realPath).parent == ROBOTS:
                layer.Reload()


@pytest.fixture(params=["native", "warp"])
def engine_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    from isaacsim.core.experimental.actuators.engine import assembly
    from isaacsim.core.experimental.actuators.engine.step import native

    if request.param == "native" and not native.has_native_core():
        pytest.skip("the native core was not built")
    monkeypatch.setattr(assembly, "_use_native", lambda _device: request.param == "native")
    return request.param


@pytest.fixture(params=["core", "Warp"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test once with the compiled core, where it was built, and once as if it was not."""
    from isaacsim.core.experimental.actuators.base import native

    if request.param == "Warp":
        monkeypatch.setattr(native, "core", None)
    elif native.core is None:
        pytest.skip("the native core was not built")
    return request.param
