"""Run tests on versions of newton: `./python.sh tests/installs/newton_versions.py [--newton VERSION …] [PATH …]`.

Each version gets a virtual environment with newton and what it needs, Warp first of all; the rest, pytest too, is taken
from the interpreter that runs this. A line per version, as a Markdown table; what fails is shown before it. Takes some
minutes per version, for Warp compiles anew for each of its own.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
VERSIONS = ("1.2.1", "1.3.0", "1.5.2", "1.7.0", "1.8.0")
TESTS = (
    "tests/loops/test_newton_model.py",
    "tests/laws/contract/test_newton_classes.py",
    *(f"tests/compat/test_{name}.py" for name in ("to_newton", "portability", "newton_drives")),
)
COUNTED = ("passed", "failed", "errors", "skipped")


def environment(version: str, home: Path, extra: str = "") -> Path:
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    if extra or not list(home.glob(f"lib/*/site-packages/newton-{version}.dist-info")):
        # versions before the extra say that they have none, and are installed
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"newton[{extra}]=={version}"], check=True)
    here = [path for path in sys.path if Path(path).name == "site-packages"]
    next(home.glob("lib/*/site-packages")).joinpath("rest.pth").write_text("\n".join([*here, ""]), "utf-8")
    return python


def outcome(python: Path, tests: list[str]) -> tuple[str, list[int], int]:
    """The version of Warp there, how many tests passed, failed, had errors and were skipped, and their exit code."""
    told = "import importlib.metadata as m; print(m.version('warp-lang'))"
    warp = subprocess.run([python, "-c", told], capture_output=True, text=True, check=True).stdout.strip()
    where = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, capture_output=True, text=True, env=where, cwd=REPOSITORY, check=False)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
    last = (done.stdout.strip().splitlines() or [""])[-1]
    counts = {what.rstrip("s"): int(number) for number, what in re.findall(r"(\d+) (\w+)", last)}
    return warp, [counts.get(what.rstrip("s"), 0) for what in COUNTED], done.returncode


def parsed(about: str, *, tests: bool = False) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    if tests:
        parser.add_argument("tests", nargs="*", default=TESTS, metavar="PATH", help=f"default: {' '.join(TESTS)}")
    parser.add_argument("--newton", nargs="+", default=VERSIONS, metavar="VERSION", help=" ".join(VERSIONS))
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the environments there, and use those there")
    return parser.parse_args()


def main() -> int:
    """Print the table; 1 when tests fail on a version."""
    given = parsed(__doc__ or "", tests=True)
    code = 0
    print(f"| newton | warp | {' | '.join(COUNTED)} |\n|---|---|{'---|' * len(COUNTED)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for version in given.newton:
            python = environment(version, (given.keep or Path(folder)).resolve() / version)
            warp, counts, failed = outcome(python, given.tests)
            print(f"| {version} | {warp} | {' | '.join(map(str, counts))} |", flush=True)
            code |= failed != 0
    return code


if __name__ == "__main__":
    sys.exit(main())
