"""The extension as Kit starts and stops it."""

import importlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fakes import omni_graph
from fakes.contract import EXT_ID, ROBOTS, our_callbacks, stage_with_robots
from fakes.extension_loader import BUNDLED, BUNDLED_VERSION
from fakes.kit_world import KINDS, PACKAGE, KitWorld
from isaacsim.core.experimental.actuators import ArticulationActuators, __version__
from isaacsim.core.experimental.actuators.base.cores import missing_core
from isaacsim.core.experimental.actuators.extension.action_graphs.nodes.registration import NODE_TYPE
from isaacsim.core.experimental.actuators.files.networks.trust import is_trusted
from isaacsim.core.experimental.actuators.files.usd import plugin
from places import REPOSITORY

# how the bundled extension is asked for
PIN = f'"{PACKAGE}" = {{ version = "{BUNDLED_VERSION}", exact = true }}'


@pytest.fixture(params=KINDS)
def world(request: pytest.FixtureRequest) -> Iterator[KitWorld]:
    with KitWorld(request.param) as made:
        made.open(stage_with_robots())
        yield made


@pytest.fixture
def extension(world: KitWorld) -> Iterator:
    made = importlib.import_module(f"{PACKAGE}.extension.entry").Extension()
    made.on_startup(EXT_ID)
    yield made
    made.on_shutdown()


def gains(world: KitWorld) -> np.ndarray:
    return np.stack([world.physics.arrays[name] for name in ("stiffnesses", "dampings")])


def test_extension_is_one_of_kits(world, extension) -> None:
    assert isinstance(extension, sys.modules["omni.ext"].IExt)


def test_start_says_which_version_runs(world, extension) -> None:
    (line,) = world.log.info
    assert line.startswith(f"{PACKAGE} {__version__} runs, from {REPOSITORY}.") and "does not" not in line
    assert world.log.warn == world.log.error == []


def test_start_says_which_version_does_not_run(world) -> None:
    world.app.manager.provide(BUNDLED, f"{PACKAGE}.tools-9.0.0")
    importlib.import_module(f"{PACKAGE}.extension.entry").Extension().on_startup(EXT_ID)
    (line,) = world.log.info
    assert line.startswith(
        f"{PACKAGE} {__version__} runs, from {REPOSITORY}. {BUNDLED_VERSION} does not, from /kit/exts/{BUNDLED}. "
        f"To have it instead, write {PIN} under [dependencies] of the .kit file."
    )


def test_start_says_which_native_core_is_missing(world, monkeypatch, tmp_path) -> None:
    extension = importlib.import_module(f"{PACKAGE}.extension.entry")
    monkeypatch.setattr(extension, "missing_core", lambda: missing_core(tmp_path))
    extension.Extension().on_startup(EXT_ID)
    (line,) = world.log.info
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f". No native core for Python {version} in this package: Warp steps instead" in line
    assert world.log.warn == world.log.error == []


def test_start_tells_usd_of_our_schemas(world, monkeypatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(plugin, "register_schemas", lambda: calls.append("registered"))
    importlib.import_module(f"{PACKAGE}.extension.entry").Extension().on_startup(EXT_ID)
    assert calls == ["registered"]


def test_documentation_shows_the_same_pin() -> None:
    assert PIN in (REPOSITORY / "docs" / "Overview.md").read_text("utf-8")


SETTING = f"/exts/{PACKAGE}/trustCheckpoints"


def test_setting_is_off_as_shipped() -> None:
    settings = tomllib.loads((REPOSITORY / "config" / "extension.toml").read_text("utf-8"))["settings"]
    assert settings == {"exts": {PACKAGE: {"trustCheckpoints": []}}}


@pytest.mark.parametrize("listed", [None, [], ()])
def test_nothing_is_trusted_by_default(world, listed) -> None:
    world.settings.values[SETTING] = listed
    extension = importlib.import_module(f"{PACKAGE}.extension.entry").Extension()
    extension.on_startup(EXT_ID)
    assert not is_trusted("/") and world.log.warn == world.log.error == []
    extension.on_shutdown()


def test_setting_trusts_files_and_folders_while_the_extension_runs(world, tmp_path) -> None:
    """Said in the log; read at the start alone, so that no stage opened later changes it."""
    (tmp_path / "nets").mkdir()
    extension = importlib.import_module(f"{PACKAGE}.extension.entry").Extension()
    for listed in ([str(tmp_path / "nets")], str(tmp_path / "nets")):
        world.settings.values[SETTING] = listed
        extension.on_startup(EXT_ID)
        world.settings.values[SETTING] = ["/"]
        assert is_trusted(tmp_path / "nets" / "knee.pt") and not is_trusted(tmp_path / "knee.pt")
        (line,) = world.log.warn
        assert line == f"setting {SETTING}: Torch may run what is not recognised in {tmp_path / 'nets'}."
        world.log.warn.clear()
        extension.on_shutdown()
        assert not is_trusted(tmp_path / "nets" / "knee.pt") and world.log.error == []


@pytest.mark.parametrize("listed", [["nets"], ["/", "/no/such/folder"], [""], [7], 7, True, {"a": 1}])
def test_setting_that_cannot_be_used_trusts_nothing(world, listed, tmp_path) -> None:
    """One error in the log; the extension starts all the same. What a relative path means is up to Kit's folder."""
    (tmp_path / "nets").mkdir()
    assert Path("nets").is_dir()
    world.settings.values[SETTING] = listed
    extension = importlib.import_module(f"{PACKAGE}.extension.entry").Extension()
    extension.on_startup(EXT_ID)
    (line,) = world.log.error
    assert line.startswith(f"setting {SETTING}: ") and line.endswith("No checkpoint is trusted.")
    assert not is_trusted("/") and not is_trusted("nets")
    extension.on_shutdown()


def without_actuators(path: str) -> ArticulationActuators:
    with pytest.warns(UserWarning, match="no actuator found"):
        return ArticulationActuators(path)


def test_shutdown_gives_everything_back(world, extension) -> None:
    world.play()
    world.update()
    before = gains(world)
    wrappers = [ArticulationActuators("/World/Robot_0"), without_actuators("/World/Robot_1")]
    world.update()
    assert (gains(world) != before).any()
    wrappers[0].set_dof_feedforward_effort_targets(3.0)
    world.update()
    extension.on_shutdown()
    np.testing.assert_array_equal(gains(world), before)
    assert not world.physics.arrays["actuation_forces"].any() and our_callbacks(world) == []


def test_shutdown_without_use_does_nothing(world, extension) -> None:
    extension.on_shutdown()
    assert our_callbacks(world) == [] and world.log.error == []


def test_shutdown_closes_the_others_when_one_cannot_close(world, extension) -> None:
    world.play()
    world.update()
    first, second = ArticulationActuators("/World/Robot_0"), without_actuators("/World/Robot_1")
    world.update()

    def fail(**_: object) -> None:
        raise ArithmeticError("no gains today")

    first.articulation.get_dof_gains = fail
    with pytest.raises(ArithmeticError, match="no gains today"):
        extension.on_shutdown()
    assert gains(world)[0, 1, second.articulation.dof_names.index("knee")] > 0 and our_callbacks(world) == []


def test_reload_starts_afresh(world, extension) -> None:
    ArticulationActuators(ROBOTS)
    extension.on_shutdown()
    extension.on_startup(EXT_ID)
    wrapper = ArticulationActuators(ROBOTS)
    wrapper.set_dof_feedforward_effort_targets(3.0)
    world.play()
    world.update()
    assert world.physics.arrays["actuation_forces"].any()


def laid_out(world: KitWorld, folder: Path, nodes: Path) -> None:
    shutil.copytree(REPOSITORY / "config", folder / "config")
    (folder / nodes).mkdir(parents=True)
    assert world.app.manager.add(folder, PACKAGE) == EXT_ID


@pytest.mark.parametrize(("import_root", "registered"), [("python", [NODE_TYPE]), ("", [])])
def test_node_is_registered_where_kit_does_not_find_it(world, tmp_path, monkeypatch, import_root, registered) -> None:
    """In a clone it is there when `on_startup` returns; in a package Kit finds it, and nobody asks to be told."""
    graph = omni_graph.install(monkeypatch)
    nodes = Path(import_root, *PACKAGE.split("."), "extension", "action_graphs", "nodes")
    laid_out(world, tmp_path / "extension", nodes)
    extension = importlib.import_module(f"{PACKAGE}.extension.entry").Extension()
    extension.on_startup(EXT_ID)
    assert list(graph.registered) == registered and len(world.app.manager.hooks) == len(registered)
    extension.on_shutdown()
    assert graph.registered == {} and world.app.manager.hooks == []


def test_shutdown_releases_what_nodes_drive(world, extension) -> None:
    from isaacsim.core.experimental.actuators.extension.action_graphs.nodes.state import (
        OgnArticulationActuatorsInternalState,
    )

    state = OgnArticulationActuatorsInternalState()
    state.initialize("/World/Robot_0", True)
    extension.on_shutdown()
    assert not state.initialized and our_callbacks(world) == []


IN_KIT = """
import sys
sys.modules["mujoco"] = sys.modules["newton"] = None
from fakes.contract import EXT_ID, ROBOTS, stage_with_robots
from fakes.kit_world import KitWorld
with KitWorld(sys.argv[1]) as world:
    from isaacsim.core.experimental.actuators import *
    from isaacsim.core.experimental.actuators.extension import entry as extension
    running = extension.Extension()
    running.on_startup(EXT_ID)
    world.open(stage_with_robots())
    wrapper = ArticulationActuators(ROBOTS)
    wrapper.set_dof_feedforward_effort_targets(3.0)
    world.play()
    world.update(steps=10)
    assert world.physics.arrays["positions"].any(), "the robots moved"
    running.on_shutdown()
    print("driven:", wrapper.actuated_dof_indices)
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_kit_needs_neither_mujoco_nor_newton(kind) -> None:
    folders = [str(REPOSITORY / "tests" / "support"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, "-W", "error", "-c", IN_KIT, kind]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.splitlines()[-1:] == ["driven: [0, 1]"], done.stderr


def test_node_that_cannot_be_registered_stops_nothing_else(world, monkeypatch) -> None:
    omni_graph.install(monkeypatch)

    def fail(_: object) -> None:
        raise ArithmeticError("no node today")

    monkeypatch.setattr(sys.modules["omni.graph.tools.ogn"], "generate_python", fail)
    extension = importlib.import_module(f"{PACKAGE}.extension.entry").Extension()
    extension.on_startup(EXT_ID)
    (line,) = world.log.error
    assert "(ArithmeticError: no node today). Use the packaged extension" in line
    wrapper = ArticulationActuators(ROBOTS)
    assert wrapper.actuated_dof_indices
    extension.on_shutdown()
    assert our_callbacks(world) == []
