"""A Python that starts at once: other people's libraries are loaded in it already, and nothing of ours.

`warm_python().run` is `subprocess.run` of a Python command, in a fork of such a process. What a library reads from its
environment when it is loaded was read before: a command for which that matters needs a process of its own. Where
processes cannot fork, each command has one.
"""

import atexit
import functools
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

# a second each time; what is not installed is left out
LIBRARIES = (
    *("numpy.testing", "warp", "pxr.UsdPhysics", "pxr.UsdUtils"),
    *("matplotlib.figure", "matplotlib.backends.backend_agg", "rich.progress", "rich.table", "mujoco"),
)


class WarmPython:
    """A process that runs Python commands in forks of itself, one after the other."""

    def __init__(self, libraries: Sequence[str] = LIBRARIES) -> None:
        self._process: subprocess.Popen[str] | None = None
        if hasattr(os, "fork"):
            command = [sys.executable, __file__, *libraries]
            # each command has a path of its own
            env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
            atexit.register(self._process.communicate)

    def run(
        self,
        arguments: Sequence[str | Path],
        *,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: int = 180,
        limits: Mapping[str, int] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run `python *arguments` in `cwd` with `env`, by default those here, until `timeout` [s], within `limits`."""
        if self._process is None:
            command = [sys.executable, *map(str, arguments)]
            options = {"cwd": cwd, "env": env, "timeout": timeout}
            return subprocess.run(command, capture_output=True, text=True, check=False, **options)
        with tempfile.TemporaryDirectory() as folder:
            said = [Path(folder) / name for name in ("out", "err")]
            request = {
                "arguments": list(map(str, arguments)),
                "folder": str(cwd or Path.cwd()),
                "environment": dict(os.environ if env is None else env),
                "said": list(map(str, said)),
                "timeout": timeout,
                "limits": dict(limits or {}),
            }
            assert self._process.stdin and self._process.stdout
            print(json.dumps(request), file=self._process.stdin, flush=True)
            code = os.waitstatus_to_exitcode(int(self._process.stdout.readline()))
            out, err = (path.read_text("utf-8", "replace") for path in said)
        return subprocess.CompletedProcess([sys.executable, *arguments], code, out, err)


@functools.cache
def warm_python() -> WarmPython:
    return WarmPython()


def _become(
    arguments: list[str],
    folder: str,
    environment: dict[str, str],
    said: list[str],
    timeout: int,
    limits: dict[str, int],
) -> None:
    # not everywhere, as forks are not
    import resource

    for to, name in ((0, os.devnull), *zip((1, 2), said, strict=True)):
        os.dup2(os.open(name, os.O_RDONLY if to == 0 else os.O_WRONLY | os.O_CREAT), to)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.alarm(timeout)
    for name, limit in limits.items():
        resource.setrlimit(getattr(resource, name), (limit, limit))
    what, *sys.argv = arguments
    place = {"-m": folder, "-c": ""}.get(what, str(Path(what).resolve().parent))
    # in place of the folder of this file
    sys.path[:1] = [place, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    if what == "-m":
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    elif what == "-c":
        code, sys.argv[0] = sys.argv[0], "-c"
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv.insert(0, what)
        runpy.run_path(str(Path(what).absolute()), run_name="__main__")


def _serve(libraries: Sequence[str]) -> None:
    for name in libraries:
        try:
            importlib.import_module(name)
        except ImportError:
            # what needs it says so
            continue
    if "warp" in sys.modules:
        from quick_kernels import compile_quickly

        compile_quickly()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _become(**json.loads(line))
            return
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1:])
