"""Measure the actuators against other libraries and restatements of what simulators do.

./python.sh -m benchmarks [--quick] [--json results.json] [--plot results.png]

The first run makes an environment with all peers. A full run takes about half an hour.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import environment

# before NumPy and Torch are imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 means that a candidate failed."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    options = parser.parse_args(given)
    if min(options.sizes or [1]) < 1:
        parser.error(f"--sizes: {min(options.sizes)} must be >= 1.")
    absent = environment.missing()
    if absent and not options.here:
        return environment.run_with_peers(given)
    if needed := {"rich", "matplotlib"}.intersection(absent):
        parser.error(f"--here: {', '.join(sorted(needed))} must be installed. Install them or leave --here out.")
    return _run(options)


def _parser() -> argparse.ArgumentParser:
    from .problem import PIPELINES, ROBOTS

    parser = argparse.ArgumentParser(
        prog="benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer robots, sizes and rounds: below two minutes")
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, help="12of19 drives 12 of 19 joints, 12free floats")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="numbers of robots")
    parser.add_argument("--pipelines", nargs="+", choices=PIPELINES)
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all figures go")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="where the picture goes")
    parser.add_argument("--block-ms", type=float, default=2.0, metavar="MS", help="least time of a block")
    parser.add_argument("--here", action="store_true", help="measure in this environment, against the peers it has")
    return parser


def _run(options: argparse.Namespace) -> int:
    import warp as wp
    from isaacsim.core.experimental.actuators.components.quiet_warp import quiet_warp
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    with quiet_warp():
        wp.init()
        from .candidates.ours import OurEngine
        from .measure import measure
        from .picture import draw
        from .problem import Problem
        from .report import make_console, show
        from .targets import targets

        machine = environment.machine() | {"engine": OurEngine(Problem("12", 1, "PD")).engine.name}
        console, cases = make_console(), _cases(options)
        bar = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Progress(*bar, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("", total=len(cases))
            for case in cases:
                progress.update(task, description=f"{case.section}: {case}")
                measure(case, 5 if options.quick else 11, options.block_ms / 1e3)
                progress.advance(task)
        goals = targets(cases, _memory(cases))
    show(console, machine, cases, goals)
    if options.json:
        figures = {"machine": machine, "cases": cases, "targets": goals}
        options.json.write_text(json.dumps(figures, indent=1, default=dataclasses.asdict))
        console.print(f"figures: {options.json}")
    if options.plot:
        draw(cases, options.plot)
        console.print(f"picture: {options.plot}")
    return int(any(outcome.failed for case in cases for outcome in case.outcomes.values()))


def _cases(options: argparse.Namespace) -> list[Any]:
    """All cases in the order in which they are measured."""
    from .measure import Case
    from .problem import PIPELINES, ROBOTS, SIZES

    quick = options.quick
    robots = options.robots or (["12", "12free"] if quick else list(ROBOTS))
    sizes = options.sizes or ([1, 1024, 4096, 16384] if quick else list(SIZES))
    pipelines = options.pipelines or list(PIPELINES)
    fixed = [robot for robot in robots if not ROBOTS[robot].floating]
    # a floating base shows in the physics only: to arrays it is one of the others
    free = [robot for robot in robots if ROBOTS[robot].floating]
    ticked = [pipeline for pipeline in pipelines if not quick or pipeline == "PD+max"]
    # a simulation of many robots takes seconds to build
    small = [size for size in sizes if options.sizes or not quick or size <= 1024]
    plan = [
        ("engine", fixed, [False, True], pipelines, sizes),
        ("arrays", fixed, [False, True], ticked, sizes),
        ("mujoco", free, [False], ticked, small),
    ]
    return [
        Case(section, robot, size, pipeline, per_robot)
        for section, some, parameters, laws, counts in plan
        for robot, per_robot, pipeline, size in itertools.product(some, parameters, laws, counts)
    ]


def _memory(cases: Sequence[Any]) -> int | None:
    """What the wrapper holds in the case of the target, when it is among those measured."""
    from .candidates.ticks import ArraysTick
    from .problem import Problem

    decisive = ("12", 16384, "PD+max")
    if not any(case.section == "arrays" and decisive == (case.robot, case.num_robots, case.pipeline) for case in cases):
        return None
    tick = ArraysTick(Problem(*decisive))
    tick.step()
    bytes_held = tick.memory()
    tick.close()
    return bytes_held


if __name__ == "__main__":
    raise SystemExit(main())
