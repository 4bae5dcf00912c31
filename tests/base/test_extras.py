"""The package without its extras: it imports, actuators run, and what is missing is told."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib

import pytest
from isaacsim.core.experimental.actuators.base import extras
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from places import REPOSITORY
from refusals import cases

EXTRAS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
BLOCKED = sorted({name for names in extras.LIBRARIES.values() for name in names})
# makes an interpreter one without the libraries, however they are installed
HOOK = f"""import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
"""
IMPORT = "import isaacsim.core.experimental.actuators as ea\n"


def without_extras(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HOOK + "import runpy\nsys.argv = sys.argv[1:]\n" + arguments[0], *arguments[1:]]
    return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), timeout=120, check=False)


def distributions(extra: str) -> set[str]:
    found: set[str] = set()
    for requirement in EXTRAS[extra]:
        if inner := re.fullmatch(r"articulation-actuators\[(.*)\]", requirement):
            found |= {name for each in inner[1].split(",") for name in distributions(each)}
        else:
            found.add(re.split(r"[<>=~!]", requirement)[0])
    return found


@pytest.mark.slow
def test_actuators_run_with_the_core_alone() -> None:
    script = str(REPOSITORY / "tests" / "installs" / "core_alone.py")
    done = without_extras("runpy.run_path(sys.argv[0], run_name='__main__')", script)
    assert done.returncode == 0, done.stderr
    assert "core ok" in done.stdout


@pytest.mark.slow
def test_every_public_name_is_there_with_the_core_alone() -> None:
    done = without_extras(f"{IMPORT}[getattr(ea, name) for name in ea.__all__]")
    assert done.returncode == 0, done.stderr


def test_own_simulator_runs_with_the_core_alone() -> None:
    """What the robots of embedded physics are made of needs no USD, so other simulators can use it."""
    room = "isaacsim.core.experimental.actuators.simulators"
    done = without_extras(f"import {room}.physics_articulation, {room}.articulation, {room}.binding")
    assert done.returncode == 0, done.stderr


@cases(
    "code, error, extra",
    (f"{IMPORT}ea.Simulation('robot.usda')", "HostError", "sim"),
    (f"{IMPORT}ea.Simulation('robot.usda', engine='physx')", "HostError", "physx"),
    (f"{IMPORT}ea.add_actuator('/R', 'hip', 'hip', ea.PDControlConfig(1.0, 1.0), stage=1)", "", "usd"),
    (f"{IMPORT}ea.parse_actuator_prim(None)", "", "usd"),
    (f"{IMPORT}ea.register_actuator_component('MyAPI', ea.ControllerPD, ea.ComponentKind.CONTROLLER)", "", "usd"),
    ("from isaacsim.core.experimental.actuators.extension.action_graphs.runner import GraphRunner", "", "sim"),
    ("from isaacsim.core.experimental.actuators.files.networks import onnx; onnx.read(b'')", "NetworkError", "nets"),
    ("from isaacsim.core.experimental.actuators.tools.training import train; train._torch()", "", "train"),
    ids=["mujoco", "physx", "author", "parse", "register", "graphs", "onnx", "train"],
)
@pytest.mark.slow
def test_what_is_missing_is_told(code, error, extra) -> None:
    done = without_extras(code)
    last = done.stderr.strip().splitlines()[-1]
    command = rf"pip install -e '.*\[{extra}\]'"
    said = rf"{error or 'ModuleNotFoundError'}: .* needs ([\w.]+), which is not installed. .*{command}`\.$"
    found = re.search(said, last)
    assert found and found[1].partition(".")[0] in extras.LIBRARIES[extra], done.stderr


def test_simulator_needs_no_newton(monkeypatch) -> None:
    from isaacsim.core.experimental.actuators import Simulation

    monkeypatch.setitem(sys.modules, "newton", None)
    with Simulation(REPOSITORY / "data" / "robots" / "pendulum.usda") as sim:
        sim.play()
        assert sim.playing


@pytest.mark.parametrize("extra", extras.LIBRARIES)
def test_extras_bring_what_messages_promise(extra) -> None:
    assert {extras.DISTRIBUTIONS.get(name, name) for name in extras.LIBRARIES[extra]} <= distributions(extra)


def test_overview_lists_every_extra() -> None:
    page = (REPOSITORY / "docs" / "Overview.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]+`) \|", page.partition("## What it does")[0], re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert sorted(listed) == sorted(set(EXTRAS) - {"test", "docs", "lint", "ci", "benchmarks"})


def test_core_is_numpy_and_warp() -> None:
    """Nothing else that could stand in the way of other people's pins."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert [re.split(r"[<>=~!]", one)[0] for one in project["dependencies"]] == ["numpy", "warp-lang"]
    assert distributions("all") >= {name for extra in extras.LIBRARIES for name in distributions(extra)}


def test_other_missing_modules_are_passed_on() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named 'nowhere'"), extras.needs("It", "usd"):
        import nowhere  # pyright: ignore[reportMissingImports]  # noqa: F401


def test_name_of_the_missing_module_is_kept() -> None:
    with pytest.raises(ModuleNotFoundError) as caught, extras.needs("It", "usd"):
        raise ModuleNotFoundError("no", name="pxr.Usd")
    assert caught.value.name == "pxr.Usd"
    with pytest.raises(NetworkError), extras.needs("It", "nets", NetworkError):
        raise ModuleNotFoundError("no", name="onnx")


class Installed:
    def __init__(self, said: str | None) -> None:
        self.said = said

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.said


def test_clone_installs_into_its_own_environment(monkeypatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(sys, "prefix", str(REPOSITORY / ".venv"))
    assert extras.install_command("physx") == "./python.sh -m pip install -e '.[physx]'"
    monkeypatch.chdir("/")
    assert extras.install_command("physx") == f"{REPOSITORY}/python.sh -m pip install -e '{REPOSITORY}[physx]'"
    monkeypatch.setattr(sys, "prefix", "/usr")
    assert extras.install_command("physx") == f"pip install -e '{REPOSITORY}[physx]'"


@cases(
    "said, command",
    (None, "pip install 'articulation-actuators[files]'"),
    ('{"url": "WHEEL", "archive_info": {}}', "pip install 'articulation-actuators[files] @ WHEEL'"),
    ('{"url": "WHEEL.gone", "archive_info": {}}', "pip install pyyaml tomli-w"),
    (
        '{"url": "https://h/r.git", "vcs_info": {"vcs": "git", "commit_id": "ab"}}',
        "pip install 'articulation-actuators[files] @ git+https://h/r.git@ab'",
    ),
    ids=["index", "wheel", "wheel that is gone", "git"],
)
def test_wheel_is_installed_again_from_where_it_came(said, command, tmp_path, monkeypatch) -> None:
    wheel = tmp_path / "a b.whl"
    wheel.touch()
    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    installed = Installed(said and said.replace("WHEEL", wheel.as_uri()))
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: installed)
    assert extras.install_command("files") == command.replace("WHEEL", wheel.as_uri())


def test_extension_folder_names_the_libraries(tmp_path, monkeypatch) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert extras.install_command("physx") == "pip install usd-core newton-usd-schemas ovphysx"


@cases(
    "error",
    ModuleNotFoundError("No module named 'mujoco._batch'", name="mujoco._batch"),
    ImportError("undefined symbol: mj_step", name="mujoco._structs"),
    ImportError("cannot import name 'MjSpec' from 'mujoco'", name="mujoco"),
)
def test_broken_library_is_replaced(error) -> None:
    """What owns its files goes before it comes anew: an upgrade in place has broken it."""
    with pytest.raises(NetworkError) as caught, extras.needs("Simulation", "sim", NetworkError):
        raise error
    said = f"Simulation needs mujoco, which is too old or broken ({error}). Run `"
    assert str(caught.value) == f"{said}{extras.repair_command('mujoco')}`."
    uninstall, install = extras.repair_command("mujoco").split(" && ")
    assert uninstall.partition(" uninstall -y ")[2].split()[0] == "mujoco" and install == extras.install_command("sim")
