"""Earlier import paths: the same modules, a warning that names the current path, `python -m`, and missing modules."""

import importlib
import importlib.util
import subprocess
import sys
import warnings
from types import ModuleType

import isaacsim.core.experimental.actuators as package
import pytest
from isaacsim.core.experimental.actuators.compat import moved
from refusals import cases

NAME = package.__name__
# names at the top of the package that are there no more
WHOLE = sorted({earlier.partition(".")[0] for earlier in moved.EARLIER})
DEPRECATED = sorted(earlier for earlier in moved.EARLIER if earlier.partition(".")[0] not in moved.STAY)


@pytest.fixture(autouse=True)
def _first_import():
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_earlier(name)}
    attributes = {room: vars(package).pop(room) for room in WHOLE if room in vars(package)}
    yield
    for name in [name for name in sys.modules if _is_earlier(name)]:
        del sys.modules[name]
    for room in WHOLE:
        vars(package).pop(room, None)
    sys.modules.update(before)
    vars(package).update(attributes)


def _is_earlier(name: str) -> bool:
    return name.removeprefix(f"{NAME}.").partition(".")[0] in WHOLE


def deprecated(earlier: str, current: str) -> str:
    return f"{NAME}.{earlier} is deprecated and will be removed in 1.3: use {NAME}.{current}."


def imported(earlier: str) -> tuple[ModuleType, list[str]]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        module = importlib.import_module(f"{NAME}.{earlier}")
    return module, [str(warning.message) for warning in said if issubclass(warning.category, DeprecationWarning)]


@pytest.mark.parametrize("earlier", DEPRECATED)
def test_modules_are_the_same_under_both_paths(earlier) -> None:
    current = moved.EARLIER[earlier]
    module, said = imported(earlier)
    assert module is importlib.import_module(f"{NAME}.{current}")
    assert module.__name__ == module.__spec__.name == f"{NAME}.{current}"
    assert sys.modules[f"{NAME}.{earlier}"] is module
    assert said[-1] == deprecated(earlier, current) and len(said) == earlier.count(".") + 1


def test_a_module_of_a_room_is_found_by_the_path_of_the_room() -> None:
    for earlier, current in {
        "hosts.mujoco.model": "simulators.mujoco.model",
        "networks.network": "laws.networks.network",
        "toolbox.recording.files": "tools.recording.files",
        "usd.physics.scene": "simulators.scene.scene",
    }.items():
        module, said = imported(earlier)
        assert module is importlib.import_module(f"{NAME}.{current}") and said[-1] == deprecated(earlier, current)


@cases(
    "statement",
    f"import {NAME}.toolbox.recording.files",
    f"import {NAME}.toolbox.recording.files as files",
    f"from {NAME}.toolbox import recording",
    f"from {NAME}.toolbox.recording import files",
    f"from {NAME}.toolbox.recording.files import Subject",
)
def test_each_form_of_import_works_and_warns_where_it_is(statement) -> None:
    given: dict[str, object] = {}
    with pytest.deprecated_call() as said:
        exec(compile(statement, "program.py", "exec"), given)
    assert {one.filename for one in said} == {"program.py"}
    current = importlib.import_module(f"{NAME}.tools.recording.files")
    found = [given.get("files"), given.get("Subject"), getattr(given.get("recording"), "files", None)]
    found.append(sys.modules.get(f"{NAME}.toolbox.recording.files"))
    assert current in found or current.Subject in found


def test_paths_of_the_documented_extension_stay() -> None:
    for name in ("nodes", "nodes.state", "nodes.OgnArticulationActuators"):
        current = importlib.import_module(f"{NAME}.extension.action_graphs.{name}")
        assert importlib.import_module(f"{NAME}.{name}") is current
    builders = importlib.import_module(f"{NAME}.compat.impl")
    for name in ("clamping_builders", "controller_builders", "delay_builder"):
        assert importlib.import_module(f"{NAME}.impl.{name}") is builders


def test_a_missing_module_is_reported_by_the_path_asked_for() -> None:
    with pytest.deprecated_call(), pytest.raises(ModuleNotFoundError, match=f"No module named '{NAME}.toolbox.no'"):
        importlib.import_module(f"{NAME}.toolbox.no")
    with pytest.raises(ModuleNotFoundError, match=f"No module named '{NAME}.no_room'"):
        importlib.import_module(f"{NAME}.no_room")
    assert importlib.util.find_spec(f"{NAME}.toolbox.no") is None


def test_folders_left_by_an_earlier_version_hide_nothing(tmp_path, monkeypatch) -> None:
    (tmp_path / "toolbox" / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    with pytest.deprecated_call():
        assert importlib.import_module(f"{NAME}.toolbox").__name__ == f"{NAME}.tools"


def test_a_reloaded_package_has_one_finder(monkeypatch) -> None:
    monkeypatch.setattr(sys, "meta_path", sys.meta_path.copy())
    before = len(sys.meta_path)
    importlib.reload(moved).support_earlier_paths()
    assert len(sys.meta_path) == before and sys.meta_path[0] is moved.EarlierPaths


def test_starting_imports_no_room() -> None:
    code = f"import sys, {NAME}; print(*(name for name in sys.modules if name.startswith('{NAME}.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = {name.removeprefix(f"{NAME}.") for name in done.stdout.split()}
    assert found == {"base", "base.cores", "base.version", "compat", "compat.moved", "extension", "extension.entry"}


def test_python_m_runs_an_earlier_path() -> None:
    command = [sys.executable, "-W", "always::DeprecationWarning", "-m", f"{NAME}.networks", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "convert" in done.stdout and deprecated("networks", "files.networks") in done.stderr


def test_what_is_outside_the_package_names_its_place() -> None:
    place = r"toolbox\.parity is no longer in the package: run .*benchmarks\.parity"
    with pytest.deprecated_call(match="toolbox is deprecated"), pytest.raises(ModuleNotFoundError, match=place):
        importlib.import_module(f"{NAME}.toolbox.parity")
