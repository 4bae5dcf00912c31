"""Finding the interpreters of the Pythons that this project is for."""

import sys
import tomllib
from pathlib import Path

import pytest
from interpreters import VERSIONS, found, version_of, written
from places import REPOSITORY


def interpreter(path: Path, version: tuple[int, int], needs: str = "") -> Path:
    """Make a program that answers as an interpreter of a version would; `needs` in the code makes it fail."""
    path.parent.mkdir(parents=True, exist_ok=True)
    refusal = f'case "$2" in *"{needs}"*) exit 1;; esac\n' if needs else ""
    path.write_text(f"#!/bin/sh\n{refusal}echo {version[0]} {version[1]}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path / "bin"


def test_versions_are_those_that_the_project_requires() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    first, *_, last = VERSIONS
    assert project["requires-python"] == f">={written(first)},<3.{last[1] + 1}"


def test_this_interpreter_has_its_version() -> None:
    assert version_of(sys.executable) == sys.version_info[:2]
    assert version_of(sys.executable, "import no_such_module") is None and version_of("/no/such/python") is None


def test_the_first_on_the_path_comes_before_those_of_pyenv(path, tmp_path) -> None:
    here = interpreter(path / "python3.11", (3, 11))
    for patch in ("2", "10", "9", "12rc1"):
        for minor in (11, 12):
            of_pyenv = tmp_path / "pyenv" / "versions" / f"3.{minor}.{patch}" / "bin" / f"python3.{minor}"
            interpreter(of_pyenv, (3, minor))
    newest = tmp_path / "pyenv" / "versions" / "3.12.10" / "bin" / "python3.12"
    assert found() == {(3, 11): str(here), (3, 12): str(newest)}


def test_what_does_not_run_or_lacks_something_is_passed_over(path, tmp_path) -> None:
    """For the next one of the version: a shim of pyenv's answers only where its version is chosen."""
    interpreter(path / "python3.12", (3, 12), needs="headers")
    interpreter(path / "python3.13", (3, 11))
    complete = interpreter(tmp_path / "pyenv" / "versions" / "3.12.1" / "bin" / "python3.12", (3, 12))
    assert found("headers") == {(3, 12): str(complete)}
