"""Lint a file of unknown origin in a child process with limits of memory and time.

The limits contain crashes, endless reads and floods of memory. They are no sandbox: the child has the permissions of
the user.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...specs.arguments import path_of
from .findings import Finding
from .lint import lint

SECONDS, MEMORY = 60.0, 4 << 30
"""Default limits of the child: time [s], and address space [bytes]."""

_OUT_OF_MEMORY = 3
# size [bytes] of the files that the child may write
_WRITTEN = 64 << 20
# threads reserve address space
_ENVIRONMENT = {"PXR_WORK_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "-1"}
# signal of the limit of processor time, where the system has one
_OUT_OF_TIME = getattr(signal, "SIGXCPU", signal.SIGTERM)


def lint_untrusted(
    file: str | os.PathLike[str], dt: float | None = None, *, seconds: float = SECONDS, memory: int = MEMORY
) -> list[Finding]:
    """Return the findings of `lint` in a file, or one finding with the failure of its child process.

    Limits of the child are `seconds` and `memory`, its address space [bytes], which Windows cannot limit.
    """
    path = path_of("file", file)
    with tempfile.TemporaryDirectory(prefix="actuators-") as folder:
        answer, log = Path(folder, "answer.json"), Path(folder, "log")
        request = json.dumps([str(path), dt, seconds, memory, str(answer)])
        code = _run_child(request, log, seconds)
        if code == 0:
            with suppress(ValueError, KeyError, TypeError):
                return _findings(json.loads(answer.read_bytes()))
        problem = _failure(code, log.read_bytes(), seconds, memory)
    remedy = "Do not open it in a process that matters, and export it again from its source."
    return [Finding("unreadable-file", "error", str(path), problem, remedy)]


def _run_child(request: str, log: Path, seconds: float) -> int:
    """Return the exit code of a child that answers a request, or the negative number of the signal that ended it."""
    with log.open("wb") as errors:
        try:
            return subprocess.run(
                # without modules from the current directory, which may have files of the same origin
                [sys.executable, "-P", "-m", __name__, request],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=os.environ | _ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                timeout=seconds,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return -_OUT_OF_TIME


def _findings(answer: dict[str, Any]) -> list[Finding]:
    if "error" in answer:
        raise RuntimeError(answer["error"])
    for message in answer["warnings"]:
        warnings.warn(str(message), stacklevel=3)
    return [Finding(*map(str, row)) for row in answer["findings"]]  # pyright: ignore[reportArgumentType]


def _failure(code: int, log: bytes, seconds: float, memory: int) -> str:
    """How a child failed, a sentence."""
    if code == _OUT_OF_MEMORY or b"bad_alloc" in log:
        return f"reading this file takes more than {memory / 1e9:.1f} GB of memory."
    if code == -_OUT_OF_TIME:
        return f"reading this file takes more than {seconds:g} s."
    if code < 0:
        return f"reading this file crashes the process ({signal.Signals(-code).name})."
    return f"reading this file ends the process with exit code {code} and no result."


def _limit(seconds: float, memory: int) -> None:
    """Limit this process, where the system can."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    limits = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": _WRITTEN, "RLIMIT_CPU": int(seconds) + 1, "RLIMIT_AS": memory}
    for name, most in limits.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _answer(file: str, dt: float | None) -> dict[str, object]:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        try:
            found = lint(file, dt)
        except (OSError, ValueError, RuntimeError, ModuleNotFoundError) as error:
            return {"error": str(error)}
    rows = [[one.rule, one.severity, one.where, one.problem, one.remedy] for one in found]
    return {"findings": rows, "warnings": [str(one.message) for one in warned]}


if __name__ == "__main__":
    file, dt, seconds, memory, answer = json.loads(sys.argv[1])
    _limit(seconds, memory)
    try:
        Path(answer).write_text(json.dumps(_answer(file, dt)), "utf-8")
    except MemoryError:
        sys.exit(_OUT_OF_MEMORY)
