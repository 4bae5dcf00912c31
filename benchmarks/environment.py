"""Environment of measurements: one thread, all peers installed, and a description of the machine."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]
FOLDER = REPOSITORY / ".venv-benchmarks"
# import names of the packages in the `benchmarks` extra
PEERS = ("newton", "newton_actuators", "torch", "rich", "matplotlib")
PACKAGES = ("articulation-actuators", "warp-lang", "mujoco", "newton", "newton-actuators", "torch", "numpy")
THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def missing() -> list[str]:
    """Peers that are not installed here."""
    return [name for name in PEERS if importlib.util.find_spec(name) is None]


def run_with_peers(arguments: list[str]) -> int:
    """Run the benchmarks in a separate environment, created once; return the exit code."""
    python = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = FOLDER / "installed"
    wanted = hashlib.sha256((REPOSITORY / "pyproject.toml").read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"setting up {FOLDER.name} with the peers, once; this takes a few minutes.", file=sys.stderr)
        try:
            subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
            pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--progress-bar=off"]
            subprocess.run([*pip, "--editable", f"{REPOSITORY}[benchmarks]"], check=True)
        except subprocess.CalledProcessError as error:
            print(
                f"{FOLDER.name}: installing the peers failed with code {error.returncode}, see above. Check the "
                "network and run this again, or add --here to measure against what is installed.",
                file=sys.stderr,
            )
            return 1
        stamp.write_text(wanted)
    # the package is found whatever the current folder is
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        [str(python), "-m", "benchmarks", "--here", *arguments], env=variables, check=False
    ).returncode


def machine() -> dict[str, Any]:
    """Return the conditions of the results: processor, cores, versions, load."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "threads": 1,
        "versions": {name: _version(name) for name in PACKAGES},
        "load": load(),
        "date": time.strftime("%Y-%m-%d %H:%M"),
    }


def use_one_core() -> None:
    """Keep this process, and those it starts, on one core; cores of a shared machine are not equally fast."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def load() -> float | None:
    """Return the mean number of running processes over the last minute, if the system provides it."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
