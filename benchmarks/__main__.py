"""Benchmark the actuators against other libraries and reimplementations of simulator code.

./python.sh -m benchmarks [--quick] [--json results.json] [--plot results.png]

The first run creates an environment with all peers. A full run takes about half an hour.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import environment

# set before NumPy and Torch are imported
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 means that a candidate failed."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    options = parser.parse_args(given)
    absent = environment.missing()
    if absent and not options.here:
        return environment.run_with_peers(given)
    if needed := {"rich", "matplotlib"}.intersection(absent):
        parser.error(f"--here: {', '.join(sorted(needed))} must be installed. Install them or leave --here out.")
    return _run(options)


def _parser() -> argparse.ArgumentParser:
    from .cases import add_choices

    parser = argparse.ArgumentParser(
        prog="benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_choices(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="path of the JSON file with all results")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="path of the picture")
    parser.add_argument("--here", action="store_true", help="measure in this environment, against the installed peers")
    return parser


def _run(options: argparse.Namespace) -> int:
    import warp as wp
    from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    with quiet_warp():
        wp.init()
        from .candidates.ours import OurEngine
        from .cases import chosen
        from .measure import measure
        from .picture import draw
        from .problem import Problem
        from .report import make_console, show
        from .targets import targets

        machine = environment.machine() | {"engine": OurEngine(Problem("12", 1, "PD")).engine.name}
        console, cases = make_console(), chosen(options)
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


def _memory(cases: Sequence[Any]) -> int | None:
    """Return the memory of the wrapper in the case of the target, if it was measured."""
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
