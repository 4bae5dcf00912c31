"""The standalone examples run as users run them, end well, and stay short."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from places import REPOSITORY

FOLDER = REPOSITORY / "standalone_examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
# those that run in Isaac Sim too, on the engine of one's choice
SCRIPTS = [script for script in EXAMPLES if "from world import" in script.read_text()]
# examples that need an extra, and the library it brings
NEEDS = {"two_engines": "ovphysx", "learned_actuator": "torch", "train_with_gymnasium": "gymnasium"}
# what makes a long one short
QUICK = {"learned_actuator": ["--quick"], "train_with_gymnasium": ["--quick"]}


def run(script: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=env)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_example_ends_with_its_check(script: Path, tmp_path: Path) -> None:
    """Exit code 0, an `ok` line, and a picture that is one."""
    if (library := NEEDS.get(script.stem)) and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    done = run(script, *QUICK.get(script.stem, []), "--plot", "picture.png")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok:" in done.stdout
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_runs_on_physx(script: Path, tmp_path: Path) -> None:
    """The same script, the physics of Isaac Sim."""
    if find_spec("ovphysx") is None:
        pytest.skip("ovphysx is not installed")
    done = run(script, "--engine", "physx", "--plot", "picture.png")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok:" in done.stdout
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_three_scripts_choose_their_engine() -> None:
    """Those of the documentation; a name that is no engine's is refused."""
    assert [script.stem for script in SCRIPTS] == ["drive_from_omnigraph", "drive_from_python", "drive_from_usd"]
    done = run(SCRIPTS[1], "--engine", "newton")
    assert done.returncode == 1 and "engine = 'newton': must be 'mujoco' or 'physx'" in done.stderr


@pytest.mark.parametrize("script", sorted(FOLDER.rglob("*.py")), ids=lambda script: script.stem)
def test_example_is_short(script: Path) -> None:
    """An example is read in one go; marks of what the documentation shows do not count."""
    assert len([line for line in script.read_text().splitlines() if "# docs: " not in line]) < 80


def test_example_check_can_fail(tmp_path: Path) -> None:
    """With actuators too weak to hold the arm the example says so and exits with 1."""
    shutil.copytree(FOLDER, tmp_path / FOLDER.name)
    weak = tmp_path / FOLDER.name / "drive_from_usd.py"
    text = weak.read_text()
    assert "MaxEffortClampingConfig(12.0)" in text
    weak.write_text(text.replace("MaxEffortClampingConfig(12.0)", "MaxEffortClampingConfig(0.01)"))
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    done = run(weak)
    assert done.returncode == 1
    assert "FAILED" in done.stdout


@pytest.mark.parametrize(
    ("script", "library", "extra"),
    [
        ("two_engines", "ovphysx", "physx"),
        ("learned_actuator", "torch", "train"),
        ("train_with_gymnasium", "gymnasium", "gym"),
    ],
)
def test_example_tells_what_to_install(script: str, library: str, extra: str, tmp_path: Path) -> None:
    """Without the library, the example says which command installs it."""
    (tmp_path / f"{library}.py").write_text(f"raise ModuleNotFoundError(name='{library}')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = run(FOLDER / f"{script}.py", env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 2, done.stderr
    assert f"pip install 'articulation-actuators[{extra}]'" in done.stdout
