"""What `python.sh` does when things go wrong, and that it starts at once when all is there; with a stand-in Python."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import REPOSITORY
from processes import ran

TOOLS = ["bash", "cat", "cksum", "dirname", "flock", "grep", "mkdir", "rm", "tail", "tee", "chmod"]
# a Python that reports version 3.11, makes a virtual environment of itself and installs as PIP says
STAND_IN = """#!/usr/bin/env bash
case "$*" in
    *version_info*) exit 0 ;;
    --version) echo "Python 3.11.0" ;;
    "-m venv "*)
        [ "${VENV:-works}" = works ] || exit 1
        mkdir -p "$3/bin"; cat "$0" >"$3/bin/python"; chmod +x "$3/bin/python"; : >"$3/pip" ;;
    "-m pip --version") [ -e "${0%/bin/python}/pip" ] ;;
    "-c import fcntl; "*) exec "$LOCKS" "$@" ;;
    *"import isaacsim.core.experimental.actuators.base.native.core") [ "${CORE:-there}" = there ] ;;
    *"-m pip install --quiet"*"--upgrade pip setuptools") ;;
    *"-m pip install"*)
        echo "Collecting warp-lang"
        [ -z "${SLOW:-}" ] || "$SLOW" 1
        [ "${PIP:-works}" != broken ] || { echo "      native/step.cpp:9:1: error: expected ;"; exit 1; }
        [ "${PIP:-works}" = works ] || { echo "ERROR: no network"; exit 1; } ;;
    *) echo "ran: $*" ;;
esac
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with `python.sh`, and a PATH that holds the tools it uses and the stand-in."""
    for name in ("python.sh", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, tmp_path / name)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found or tool == "flock"
        if found:
            (tools / tool).symlink_to(found)
    (tools / "env").symlink_to(shutil.which("env"))
    (tools / "python3.11").write_text(STAND_IN)
    (tools / "python3.11").chmod(0o755)
    return tmp_path


def run(
    project: Path, *arguments: str, script: str = "python.sh", **environment: str
) -> subprocess.CompletedProcess[str]:
    variables = {"PATH": str(project / "tools"), "HOME": os.environ.get("HOME", "/"), **environment}
    return ran([str(project / "tools" / "bash"), str(project / script), *arguments], env=variables, timeout=60)


def test_first_run_installs_and_shows_progress(project) -> None:
    done = run(project, "script.py", "--flag")
    assert done.returncode == 0, done.stderr
    assert "Collecting warp-lang" in done.stderr and done.stdout == "ran: script.py --flag\n"


def test_second_run_needs_no_network(project) -> None:
    run(project, "script.py")
    done = run(project, "script.py", PIP="fails")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran: script.py\n", "")


def test_changed_requirements_install_again(project) -> None:
    run(project, "script.py")
    with (project / "pyproject.toml").open("a") as file:
        file.write("\n")
    assert "Collecting" in run(project, "script.py").stderr


def test_changed_header_builds_the_core_alone(project) -> None:
    header = project / "native" / "step.h"
    header.parent.mkdir()
    for text in ("one", "two", "three"):
        header.write_text(text)
        done = run(project, "script.py", PIP="works" if text == "one" else "fails")
        assert (done.returncode, done.stdout) == (0, "ran: script.py\n"), done.stderr
        assert ("Collecting" in done.stderr) == (text == "one")
        assert ("building the native core, which has changed" in done.stderr) == (text != "one")
    assert run(project, "script.py", PIP="fails").stderr == ""


def test_vanished_interpreter_is_noticed(project) -> None:
    run(project, "script.py")
    (project / ".venv" / "bin" / "python").unlink()
    done = run(project, "script.py")
    assert (done.returncode, done.stdout) == (0, "ran: script.py\n"), done.stderr


def test_failed_install_says_what_to_do_and_is_tried_again(project) -> None:
    """pip's error, where its whole output is, and no half-made environment that passes for a good one."""
    done = run(project, "script.py", PIP="fails")
    assert done.returncode == 1 and "ERROR: no network" in done.stderr and "install.log" in done.stderr
    assert "ran:" not in done.stdout and run(project, "script.py").returncode == 0


def test_error_of_the_compiler_is_shown(project) -> None:
    done = run(project, "script.py", PIP="broken")
    assert done.returncode == 1 and "native/step.cpp:9:1: error: expected ;" in done.stderr
    assert not (project / ".venv" / "installed").exists()


def test_missing_core_is_one_line_and_installs_nothing_again(project) -> None:
    done = run(project, "script.py", CORE="missing")
    assert (done.returncode, done.stdout) == (0, "ran: script.py\n")
    assert done.stderr.count("without the native core: Warp computes") == 1
    done = run(project, "script.py", CORE="missing", PIP="fails")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran: script.py\n", "")


@pytest.mark.parametrize("name", ["c++", "g++", "clang++", "my-c++"])
def test_compiler_that_arrives_is_used(project, name) -> None:
    run(project, "script.py", CORE="missing", CXX="my-c++" if name == "my-c++" else "c++")
    compiler = project / "tools" / name
    compiler.write_text("#!/usr/bin/env bash\n")
    compiler.chmod(0o755)
    done = run(project, "script.py", CXX="my-c++" if name == "my-c++" else "c++")
    assert "Collecting" in done.stderr and "without" not in done.stderr
    compiler.unlink()
    assert run(project, "script.py").stderr == ""


def test_environment_without_pip_is_made_again(project) -> None:
    run(project, "script.py")
    (project / ".venv" / "pip").unlink()
    (project / ".venv" / "installed").unlink()
    done = run(project, "script.py")
    assert (done.returncode, done.stdout) == (0, "ran: script.py\n"), done.stderr
    assert (project / ".venv" / "pip").exists()


@pytest.mark.parametrize("flock", [True, False])
def test_two_first_runs_install_once(project, flock) -> None:
    if not flock:
        (project / "tools" / "flock").unlink(missing_ok=True)
    variables = {"PATH": str(project / "tools"), "LOCKS": sys.executable, "SLOW": shutil.which("sleep") or ""}
    command = [str(project / "tools" / "bash"), str(project / "python.sh"), "script.py"]
    both = [subprocess.Popen(command, env=variables, stdout=-1, stderr=-1, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60) for process in both]
    assert [out for out, _ in said] == ["ran: script.py\n"] * 2, said
    assert sum("Collecting" in err for _, err in said) == 1


def test_folder_that_cannot_be_written_is_one_message(project) -> None:
    (project / ".venv").touch()
    done = run(project, "script.py")
    assert done.returncode == 1 and done.stdout == ""
    first, second = done.stderr.splitlines()
    assert first.endswith(".venv cannot be written, and must be once, to set it up.") and "Copy the clone" in second


def test_missing_venv_module_says_what_to_install(project) -> None:
    done = run(project, "script.py", VENV="fails")
    assert done.returncode == 1 and "python3-venv" in done.stderr


def test_missing_python_says_which_are_good(project) -> None:
    (project / "tools" / "python3.11").unlink()
    done = run(project, "script.py")
    assert done.returncode == 1 and "3.11, 3.12 or 3.13" in done.stderr


def test_launcher_runs_the_console_command(project) -> None:
    """`./actuators` sets up as `python.sh` does, and hands its arguments on."""
    shutil.copy2(REPOSITORY / "actuators", project / "actuators")
    done = run(project, "run", "a b.usda", script="actuators")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ran: -m isaacsim.core.experimental.actuators run a b.usda\n"
