"""Build, check and time all candidates of one case."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from isaacsim.core.experimental.actuators.base.native import core

from .candidates import SECTIONS, STREAM, Candidate, Known
from .check import TOLERANCE, Check
from .environment import load
from .problem import Problem
from .timing import Block, interleave, steps


@dataclass
class Outcome:
    """Result of a candidate.

    Args:
        seconds: Median time of a step, or None if it was not timed.
        ratio: Median over the rounds of its time over ours.
        error: Largest difference from float64, relative to the largest summand.
        reason: Reason for not timing it.
        failed: True if that is a failure; a library that is not installed is not one.
    """

    seconds: float | None = None
    ratio: float | None = None
    error: float | None = None
    reason: str = ""
    failed: bool = False


@dataclass(eq=False)
class Case:
    """One problem and the results of its candidates by name."""

    section: str
    robot: str
    num_robots: int
    pipeline: str
    per_robot: bool
    load: float | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def __str__(self) -> str:
        parameters = "per robot" if self.per_robot else "shared"
        return f"{self.robot} x {self.num_robots} {self.pipeline}, {parameters}"

    def ratio(self, name: str) -> float | None:
        """Return the time of a candidate as a multiple of ours, or None if either was not timed."""
        return self.outcomes[name].ratio if name in self.outcomes else None


def measure(case: Case, rounds: int, block_seconds: float) -> None:
    """Fill in the results of a case; a failing candidate does not stop the others."""
    problem = Problem(case.robot, case.num_robots, case.pipeline, case.per_robot)
    check = Check(problem)
    built: dict[str, Candidate] = {}
    try:
        for known in SECTIONS[case.section][1]:
            outcome = case.outcomes[known.name] = Outcome()
            try:
                built[known.name] = known.load()(problem)
                outcome.error = check.error(built[known.name])
                if not outcome.error <= TOLERANCE:
                    raise ArithmeticError(f"relative error {outcome.error:.1e}, must be <= {TOLERANCE:.0e}")
            except ModuleNotFoundError as error:
                outcome.reason = f"{error.name} is not installed"
            except Exception as error:
                outcome.reason, outcome.failed = f"{type(error).__name__}: {error}", True
        right = {name: candidate for name, candidate in built.items() if not case.outcomes[name].reason}
        _time(case, right, problem, rounds, block_seconds)
    finally:
        for candidate in built.values():
            candidate.close()


def _time(case: Case, right: dict[str, Candidate], problem: Problem, rounds: int, block_seconds: float) -> None:
    blocks = {name: steps(candidate.step) for name, candidate in right.items()}
    if case.section == "engine" and core is not None:
        blocks[STREAM] = _stream(problem.num_robots * problem.num_joints)
        case.outcomes[STREAM] = Outcome()
    case.load = load()
    times = interleave(blocks, rounds, block_seconds)
    for name, values in times.items():
        case.outcomes[name].seconds = float(np.median(values))
        if Known.OURS in times:
            case.outcomes[name].ratio = float(np.median(values / times[Known.OURS]))


def _stream(size: int) -> Block:
    """Blocks that read five arrays and write one, the minimum memory traffic of PD with limits."""

    def block(count: int) -> float:
        wall, cpu = time.perf_counter(), time.thread_time()
        seconds = core.time_stream(5, size, count)
        # it measures wall time: subtract the share of other processes
        return seconds * min(1.0, (time.thread_time() - cpu) / (time.perf_counter() - wall))

    return block
