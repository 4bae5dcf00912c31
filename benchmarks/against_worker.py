"""Worker process of `benchmarks.against`: runs the candidates of one tree with only that tree's code.

It runs as a script and imports only `benchmarks` of that tree, whose list names our candidate in each
section. Requests arrive on standard input as pickled pairs of a method name of `Worker` and arguments. Replies go to
standard output as pickled pairs of a success flag and the answer or error. Prints go to standard error.
"""

from __future__ import annotations

import gc
import itertools
import logging
import os
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp


class Worker:
    """One candidate at a time."""

    def __init__(self) -> None:
        self._candidate: Any = None

    def origin(self) -> tuple[Path, bool]:
        """Return the file of the measured package, and True if its native core exists."""
        import isaacsim.core.experimental.actuators as package

        try:
            from isaacsim.core.experimental.actuators.base.native import core
        except ModuleNotFoundError:
            # where it was in 1.0
            from isaacsim.core.experimental.actuators.native import core  # pyright: ignore[reportMissingImports]

        return Path(str(package.__file__)), core is not None

    def titles(self) -> list[str]:
        """Return the titles of the sections of this tree; their names in code have changed over time."""
        return list(self._ours())

    def _ours(self) -> dict[str, Any]:
        from benchmarks.candidates import SECTIONS, Known

        return {
            title: known for title, candidates in SECTIONS.values() for known in candidates if known.name == Known.OURS
        }

    def build(self, title: str, *problem: Any) -> None:
        """Build the candidate of a section for a problem, and release the previous one."""
        from benchmarks.problem import Problem

        self.close()
        gc.collect()
        self._candidate = self._ours()[title].load()(Problem(*problem))
        gc.collect()

    def efforts(self, step: int) -> np.ndarray:
        """Return the efforts of one step with the inputs of that step."""
        self._candidate.problem.change_inputs(step)
        self._candidate.take_inputs()
        self._candidate.step()
        return np.array(self._candidate.efforts)

    def block(self, count: int) -> float:
        """Return the mean seconds of a step, in CPU time of this thread."""
        step = self._candidate.step
        gc.disable()
        # the other process has evicted the caches
        step()
        start = time.thread_time()
        for _ in itertools.repeat(None, count):
            step()
        seconds = time.thread_time() - start
        gc.enable()
        return seconds / count

    def close(self) -> None:
        """Release the candidate."""
        if self._candidate is not None:
            self._candidate.close()
        self._candidate = None


def main() -> None:
    """Answer requests until the input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    # libraries print when they are loaded
    os.dup2(2, 1)
    # the first path before Warp 1.15, the second since
    for setting, value in (("quiet", True), ("log_level", logging.ERROR)):
        setattr(wp.config, setting, value)
    worker = Worker()
    while True:
        try:
            name, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            reply = True, getattr(worker, name)(*arguments)
        except Exception as error:
            reply = False, f"{type(error).__name__}: {error}"
        pickle.dump(reply, replies)
        replies.flush()


if __name__ == "__main__":
    main()
