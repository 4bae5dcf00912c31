"""Interpreters of the supported Python versions: on the path, installed by pyenv, or named."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

Version = tuple[int, int]

VERSIONS: tuple[Version, ...] = ((3, 11), (3, 12), (3, 13))


def written(version: Version) -> str:
    """Return a version as text, such as 3.12."""
    return "{}.{}".format(*version)


def answer(interpreter: str, code: str) -> str | None:
    """Return the output of `code` on an interpreter; None on failure."""
    try:
        done = subprocess.run([interpreter, "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def version_of(interpreter: str, needs: str = "") -> Version | None:
    """Return the version of an interpreter; None if it does not run or fails to run the code `needs`."""
    said = answer(interpreter, f"{needs}\nimport sys; print(*sys.version_info[:2])")
    if said is None:
        return None
    major, minor = map(int, said.split())
    return major, minor


def found(needs: str = "", versions: tuple[Version, ...] = VERSIONS) -> dict[Version, str]:
    """Return an interpreter of each available version: the first on the path, otherwise pyenv's newest."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    interpreters: dict[Version, str] = {}
    for version in versions:
        name = f"python{written(version)}"
        known = sorted(pyenv.glob(f"{written(version)}.*/bin/{name}"), key=_patch, reverse=True)
        for candidate in (shutil.which(name), *map(str, known)):
            if candidate and version_of(candidate, needs) == version:
                interpreters[version] = candidate
                break
    return interpreters


def _patch(path: Path) -> tuple[bool, int]:
    """Return the sort key of a pyenv version: by number, releases before their candidates."""
    last = path.parents[1].name.split(".")[-1]
    return last.isdigit(), int(last) if last.isdigit() else 0
