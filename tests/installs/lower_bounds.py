"""Tests on the oldest versions that pyproject.toml allows: `./python.sh tests/installs/lower_bounds.py [EXTRA …]`.

Installs the lower bound of everything that the core and an extra need, and runs the tests that meet it. A line per
extra, as a Markdown table. Takes some minutes, for Warp compiles anew for each of its versions.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
# by extra, "core" for none: the tests, and what the libraries themselves ask for beyond our bounds
TESTS = {
    "core": [
        *("laws/test_components.py", "engine/test_plan.py"),
        *("engine/step/test_native.py", "engine/gradients/test_warp_gradients.py"),
    ],
    "usd": ["files/usd", "files/test_parse.py"],
    "sim": ["simulators/mujoco", "simulators/test_simulation.py", "simulators/test_articulation.py"],
}
# what tests use of USD in later versions, to write what we read
LEFT_OUT = {"usd": "not hostile and not package"}
RAISED = {"sim": {"warp-lang": "1.17"}}
TOOLS = ["pytest", "hypothesis", "jsonschema"]


def lower_bounds(requirements: list[str]) -> dict[str, str]:
    """Oldest version of each distribution, those of extras of ours included."""
    found: dict[str, str] = {}
    for requirement in requirements:
        if inner := re.fullmatch(r"articulation-actuators\[(\w+)\]", requirement):
            found |= lower_bounds(PROJECT["optional-dependencies"][inner[1]])
        elif oldest := re.match(r"([\w-]+)>=([\d.]+)", requirement):
            found[oldest[1]] = oldest[2]
        else:
            raise ValueError(f"{requirement}: has no lower bound. Write one.")
    return found


def outcome(extra: str, home: Path) -> tuple[str, str, int]:
    own = [] if extra == "core" else PROJECT["optional-dependencies"][extra]
    oldest = lower_bounds([*PROJECT["dependencies"], *own]) | RAISED.get(extra, {})
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
    pins = [f"{name}=={version}" for name, version in oldest.items()]
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *pins, *TOOLS], check=True)
    where = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    paths = [REPOSITORY / "tests" / name for name in TESTS[extra]]
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths, "-k", LEFT_OUT.get(extra, "")]
    tests = subprocess.run(command, capture_output=True, text=True, env=where, cwd=REPOSITORY, check=False)
    if tests.returncode:
        print(tests.stdout, tests.stderr, sep="\n", file=sys.stderr)
    return ", ".join(pins), tests.stdout.strip().splitlines()[-1], tests.returncode


def main() -> int:
    """Print the table; 1 when tests fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extras", nargs="*", default=list(TESTS), metavar="EXTRA")
    code = 0
    print("| extra | installed | tests |\n|---|---|---|")
    for extra in parser.parse_args().extras:
        with tempfile.TemporaryDirectory() as folder:
            installed, last, failed = outcome(extra, Path(folder) / "venv")
        print(f"| {extra} | {installed} | {' '.join(TESTS[extra])}: {last} |", flush=True)
        code |= failed
    return code


if __name__ == "__main__":
    sys.exit(main())
