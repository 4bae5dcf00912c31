"""Earlier import paths: the same modules, a warning that names the current path, `python -m`, and missing modules."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import isaacsim.core.experimental.actuators as package
import pytest
from isaacsim.core.experimental.actuators import moved

NAME = package.__name__
ROOT = Path(package.__path__[0])
# rooms with an earlier path
WHOLE = sorted({earlier.partition(".")[0] for earlier in moved.EARLIER})
DEPRECATED = [room for room in WHOLE if room not in moved.STAY]


@pytest.fixture(autouse=True)
def _first_import() -> Iterator[None]:
    """Forget earlier paths that another test imported."""
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


def modules_of(room: str) -> list[str]:
    """Return the earlier paths of a room and the modules in it that import nothing outside the package at once."""
    folder = ROOT.joinpath(*moved.EARLIER[room].split("."))
    files = [path for path in sorted(folder.rglob("*.py")) if path.name not in ("__main__.py", "web.py", "train.py")]
    parts = [path.relative_to(folder).with_suffix("").parts for path in files]
    names = {".".join([room, *(part[:-1] if part[-1] == "__init__" else part)]) for part in parts}
    return sorted(names - {"commands.watch"})


@pytest.mark.parametrize("room", DEPRECATED)
def test_modules_are_the_same_under_both_paths(room: str) -> None:
    """A room and each module in it."""
    for earlier in modules_of(room):
        current = moved.EARLIER[room] + earlier.removeprefix(room)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            module = importlib.import_module(f"{NAME}.{earlier}")
        assert module is importlib.import_module(f"{NAME}.{current}")
        assert module.__name__ == module.__spec__.name == f"{NAME}.{current}"
        assert sys.modules[f"{NAME}.{earlier}"] is module
        assert [str(one.message) for one in said if issubclass(one.category, DeprecationWarning)] == [
            f"{NAME}.{earlier} is deprecated and will be removed in 1.1: use {NAME}.{current}."
        ]


@pytest.mark.parametrize(
    ("earlier", "current"),
    [("graphs.watch", "toolbox.commands.watch"), ("recording.signals", "pipeline.recorded_signals")],
)
def test_a_module_that_left_its_room_has_its_earlier_path(earlier: str, current: str) -> None:
    """It goes before the path of its room."""
    with pytest.deprecated_call():
        importlib.import_module(f"{NAME}.{earlier.partition('.')[0]}")
    with pytest.deprecated_call(match=f"{earlier} is deprecated and will be removed in 1.1: use {NAME}.{current}"):
        module = importlib.import_module(f"{NAME}.{earlier}")
    assert module is importlib.import_module(f"{NAME}.{current}")


@pytest.mark.parametrize(
    "statement",
    [
        f"import {NAME}.recording.files",
        f"import {NAME}.recording.files as files",
        f"from {NAME} import recording",
        f"from {NAME}.recording import files",
        f"from {NAME}.recording.files import Subject",
    ],
)
def test_each_form_of_import_works_and_warns_where_it_is(statement: str) -> None:
    """The warning names the file and line of the program."""
    given: dict[str, object] = {}
    with pytest.deprecated_call() as said:
        exec(compile(statement, "program.py", "exec"), given)
    assert {one.filename for one in said} == {"program.py"}
    current = importlib.import_module(f"{NAME}.toolbox.recording.files")
    found = [given.get("files"), given.get("Subject"), getattr(given.get("recording"), "files", None)]
    found.append(sys.modules.get(f"{NAME}.recording.files"))
    assert current in found or current.Subject in found


def test_paths_of_the_documented_extension_stay() -> None:
    """They are no deprecated paths: no warning."""
    for name in ("nodes", "nodes.state", "nodes.OgnArticulationActuators"):
        current = importlib.import_module(f"{NAME}.action_graphs.{name}")
        assert importlib.import_module(f"{NAME}.{name}") is current


def test_a_missing_module_is_reported_by_the_path_asked_for() -> None:
    """As of any package; a module that is there under neither path is not found."""
    with pytest.deprecated_call(), pytest.raises(ModuleNotFoundError, match=f"No module named '{NAME}.recording.no'"):
        importlib.import_module(f"{NAME}.recording.no")
    with pytest.raises(ModuleNotFoundError, match=f"No module named '{NAME}.no_room'"):
        importlib.import_module(f"{NAME}.no_room")
    assert importlib.util.find_spec(f"{NAME}.recording.no") is None


def test_folders_left_by_an_earlier_version_hide_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of compiled files is a package to Python."""
    (tmp_path / "recording" / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    with pytest.deprecated_call():
        assert importlib.import_module(f"{NAME}.recording").__name__ == f"{NAME}.toolbox.recording"


def test_a_reloaded_package_has_one_finder(monkeypatch: pytest.MonkeyPatch) -> None:
    """It replaces that of the package before."""
    monkeypatch.setattr(sys, "meta_path", sys.meta_path.copy())
    before = len(sys.meta_path)
    importlib.reload(moved).support_earlier_paths()
    assert len(sys.meta_path) == before and sys.meta_path[0] is moved.EarlierPaths


def test_starting_imports_no_room() -> None:
    """Earlier paths cost nothing until one is used."""
    code = f"import sys, {NAME}; print(*(name for name in sys.modules if name.startswith('{NAME}.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = {name.removeprefix(f"{NAME}.") for name in done.stdout.split()}
    assert found == {"cores", "extension", "moved", "version"}


@pytest.mark.parametrize("room", ["graphs"])
def test_python_m_runs_an_earlier_path(room: str) -> None:
    """`python -m …graphs` is the console command."""
    command = [sys.executable, "-W", "always::DeprecationWarning", "-m", f"{NAME}.{room}", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"actuators {package.__version__}\n"
    assert f"{NAME}.{room} is deprecated and will be removed in 1.1: use {NAME}.{moved.EARLIER[room]}." in done.stderr
