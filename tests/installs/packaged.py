"""The package for Kit, run by every Python that is found: `./python.sh tests/installs/packaged.py [ZIP]`.

Packages as users do unless a ZIP is given. Each Python gets an environment of its own with what Kit brings: Warp, NumPy
and USD, nothing else. A line per Python, as a Markdown table: what runs, and how long a step of a robot with 12 motors
takes. `--beside` names the import root of an installed package to compare with.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))

from interpreters import found, written  # noqa: E402 - after its folder is known

BROUGHT = ("warp-lang", "numpy", "usd-core")
STEP = """
import sys
import timeit
import numpy as np
import isaacsim.core.experimental.actuators as ea
assert ea.__file__.startswith(sys.argv[1]), ea.__file__
motor = [ea.DelayConfig(2), ea.PDControlConfig(80.0, 2.0), ea.DCMotorClampingConfig(40.0, 10.0, 25.0)]
leg = ea.ActuatedArrays([f"joint{number}" for number in range(12)], {".*": motor})
q, qd, target = np.zeros((3, 12), np.float32)
target[:] = 0.1
for _ in range(3):
    efforts = leg.step(q, qd, target, 0.002)
np.testing.assert_allclose(efforts, 8.0, rtol=1e-6)
least = min(timeit.repeat(lambda: leg.step(q, qd, target, 0.002), number=2000, repeat=15)) / 2000
print(leg.engine, f"{least * 1e6:.2f}", sep=" | ")
"""


def run(python: Path, root: Path) -> tuple[str, str]:
    where = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    where |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([python, "-c", STEP, root], env=where, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return "failed | ", (done.stderr.strip().splitlines() or ["nothing"])[-1]
    # without a driver Warp says so
    said = [line for line in done.stderr.splitlines() if not line.startswith("Warp ")]
    return done.stdout.strip().splitlines()[-1], " ".join(said)


def package(folder: Path) -> Path:
    subprocess.run([sys.executable, REPOSITORY / "tools" / "package.py", "--folder", folder], check=True)
    (path,) = folder.glob("*.zip")
    return path


def main() -> int:
    """Print the table; 1 when one does not run natively."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("zip", type=Path, nargs="?", help="the package, made already")
    parser.add_argument("--beside", type=Path, help="import root of another one to run after it")
    given = parser.parse_args()
    code = 0
    with tempfile.TemporaryDirectory() as home:
        made = given.zip or package(Path(home) / "packages")
        with zipfile.ZipFile(made) as archive:
            archive.extractall(Path(home) / "exts")
        (root,) = (Path(home) / "exts").iterdir()
        roots = [root, *([given.beside.resolve()] if given.beside else [])]
        print(f"{made.name}\n\n| Python | from | engine | µs a step | said |\n|---|---|---|---|---|", flush=True)
        for version, interpreter in found("import venv").items():
            environment = Path(home) / "environment"
            subprocess.run([interpreter, "-m", "venv", "--clear", environment], check=True)
            python = environment / "bin" / "python"
            subprocess.run([python, "-m", "pip", "install", "--quiet", *BROUGHT], check=True)
            for each in roots:
                step, said = run(python, each)
                place = "the package" if each == root else str(each)
                print(f"| {written(version)} | {place} | {step} | {said} |", flush=True)
                code |= int(each == root and not step.startswith("native"))
    return code


if __name__ == "__main__":
    sys.exit(main())
