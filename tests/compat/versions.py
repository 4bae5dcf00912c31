"""Run the tests of components of newton's on other versions of newton: `python tests/compat/versions.py 1.2.1 1.5.2`.

Each version gets a virtual environment with newton and what it needs, Warp first of all; the rest, pytest too, is taken
from the interpreter that runs this. A line per version says what was installed and how the tests ended.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
TESTS = REPOSITORY / "tests" / "compat" / "test_newton.py"


def environment(version: str, folder: Path) -> Path:
    """Return the interpreter of an environment with that newton, made where it is not there yet."""
    home = folder / version
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    if not list(home.glob(f"lib/*/site-packages/newton-{version}.dist-info")):
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"newton=={version}"], check=True)
    here = sysconfig.get_paths()["purelib"]
    next(home.glob("lib/*/site-packages")).joinpath("rest.pth").write_text(f"{here}\n", "utf-8")
    return python


def outcome(python: Path) -> tuple[str, int]:
    """What the tests print last in an environment, and their exit code."""
    told = "import importlib.metadata as m; print(*(f'{n} {m.version(n)}' for n in ('newton', 'warp-lang', 'numpy')))"
    installed = subprocess.run([python, "-c", told], capture_output=True, text=True, check=True).stdout.strip()
    where = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS)]
    tests = subprocess.run(command, capture_output=True, text=True, env=where, cwd=REPOSITORY, check=False)
    if tests.returncode:
        print(tests.stdout, tests.stderr, sep="\n")
    return f"{installed}: {tests.stdout.strip().splitlines()[-1]}", tests.returncode


def main() -> int:
    """Run the tests on each version that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    parser.add_argument("--at", type=Path, default=Path(tempfile.gettempdir()) / "newton-versions", metavar="FOLDER")
    given = parser.parse_args()
    code = 0
    for version in given.versions:
        line, failed = outcome(environment(version, given.at))
        print(line, flush=True)
        code |= failed
    return code


if __name__ == "__main__":
    sys.exit(main())
