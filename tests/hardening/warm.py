"""Runs pytest for `mutations.py`, each time in a child that has the libraries loaded already, and nothing of ours."""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys

import pytest

for name in ("numpy.testing", "hypothesis.strategies", "_pytest.pytester", "xdist.plugin", "warp", "pxr.UsdPhysics"):
    try:
        importlib.import_module(name)
    except ImportError:
        # tests that need it skip
        continue


def run(place: str, arguments: list[str], environment: dict[str, str], said: str) -> int:
    """What pytest says of tests in a copy of the tree: its exit status, and its words in a file."""
    written = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(written, 1)
    os.dup2(written, 2)
    os.chdir(place)
    os.environ.update(environment)
    sys.path[:0] = [*environment["PYTHONPATH"].split(os.pathsep), place]
    # a fault that never ends is noticed too: processor time, waiting, and memory
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    signal.alarm(1800)
    resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))
    # loaded before pytest could rewrite it
    return pytest.main([*arguments, "-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"])


if __name__ == "__main__":
    for line in sys.stdin:
        child = os.fork()
        if not child:
            sys.exit(run(**json.loads(line)))
        print(os.waitpid(child, 0)[1], flush=True)
