"""README's test command on every Python that we support and that is found: `./python.sh tests/installs/pythons.py`.

Each runs on a copy of this tree in a temporary folder, set up by `python.sh` with the newest libraries, as a new user's
clone is. Interpreters are looked for on the path and among pyenv's. A line per Python, as a Markdown table.
`--another` takes one of those that this script does not run on itself, a different one with each commit, and runs the
tests of `ROOMS` only, another part of their files with each commit: CI has time for what depends on Python. Kernels of
Warp are optimized there, as users have them, and not in the tests of the Python that CI runs all tests on.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
sys.path[:0] = [str(REPOSITORY / "tools"), str(REPOSITORY / "tests" / "support")]

from interpreters import Version, found, written  # noqa: E402 - after its folder is known
from quick_kernels import CHOICE  # noqa: E402

TESTS = ["-m", "pytest", "-n", "auto", "--dist", "loadfile"]
# What depends on the version of Python, below tests/. Left out is what repeats the same numbers on each: the laws in
# Warp and in the core are compiled from the same text, and the core's code for each instruction set knows no Python.
ROOMS = (
    # the whole package: its imports, public names, documentation and examples, in processes of their own
    *("base", "compat/test_moved.py", "test_imports.py", "test_docs.py", "test_examples.py"),
    "extension/test_articulation_actuators.py",
    # what is read with the standard library, or declared with its dataclasses
    *("specs", "files/motor_files", "files/networks", "tools/commands", "extension/action_graphs/nodes"),
    # libraries with a wheel for each Python, and the bindings of the core
    *("files/usd", "simulators", "loops", "native", "engine/step/test_native.py"),
    # Warp reads the source of the laws: each law against the other implementations, and pipelines against float64
    *("laws/test_conformance_of_laws.py", "test_all_laws.py", "engine/test_actuator.py"),
)
# of these rooms, long tests of many random or hostile inputs, and rules for what was read
LEFT_OUT = (
    *("files/networks/test_malicious.py", "files/usd/test_hostile_prims.py"),
    *("simulators/kit/test_contract.py", "simulators/scene"),
)
# of the files of these rooms, one commit runs this part of
PARTS = 3


def commits() -> int:
    command = ["git", "rev-list", "--count", "HEAD"]
    return int(subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout)


def another(interpreters: dict[Version, str], number: int) -> dict[Version, str]:
    """One of those that do not run this script, chosen by a number; none where there is no other."""
    others = [version for version in interpreters if version != sys.version_info[:2]]
    if not others:
        return {}
    chosen = others[number % len(others)]
    return {chosen: interpreters[chosen]}


def copy_tree(folder: Path) -> None:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, folder / name)


def run(interpreter: str, arguments: Sequence[str], variables: Mapping[str, str]) -> tuple[str, int, float]:
    """The last line of the tests with these arguments, their exit code, and the seconds that all took."""
    start = time.monotonic()
    # python.sh may still compile modules there
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        folder = Path(home) / "clone"
        copy_tree(folder)
        where = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        where |= {"PYTHON": interpreter, "ACTUATORS_EXTRA": "test", **variables}
        command = [folder / "python.sh", *TESTS, *arguments]
        outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        tests = subprocess.run(command, cwd=folder, env=where, text=True, check=False, **outputs)
    if tests.returncode:
        print(tests.stdout, file=sys.stderr)
    said = (tests.stdout.strip().splitlines() or ["nothing"])[-1].strip("= ")
    return said, tests.returncode, time.monotonic() - start


def main() -> int:
    """Print the table; 1 when tests fail."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--another", action="store_true", help="one Python besides the one that runs this")
    interpreters = found("import venv")
    arguments: list[str] = []
    variables: dict[str, str] = {}
    if parser.parse_args().another:
        # CI comes here with every second commit
        number = commits() // 2
        interpreters = another(interpreters, number)
        arguments = [*(f"tests/{room}" for room in ROOMS), *(f"--ignore=tests/{file}" for file in LEFT_OUT)]
        # two Pythons take turns, and each of them runs every part
        arguments += ["--slow", "none", "--files", f"{number // 2 % PARTS}/{PARTS}"]
        # a core made in half of the time: that of all instruction sets is tested on the Python that runs this
        variables = {"ACTUATORS_VARIANTS": "baseline", CHOICE: "optimized"}
    code = 0
    print("| Python | tests | minutes |\n|---|---|---|")
    for version, interpreter in interpreters.items():
        last, failed, seconds = run(interpreter, arguments, variables)
        print(f"| {written(version)} | {last} | {seconds / 60:.1f} |", flush=True)
        code |= int(failed != 0)
    if not interpreters:
        print("| none | no other Python is installed | |")
    return code


if __name__ == "__main__":
    sys.exit(main())
