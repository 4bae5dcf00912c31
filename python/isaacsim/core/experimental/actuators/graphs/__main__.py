"""The command line: `./python.sh -m isaacsim.core.experimental.actuators.graphs run FILE.usda`."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import HostError
from ..extras import needs
from ..networks.trust import trust_checkpoints
from ..simulation import Simulation
from ..usd.articulation import articulation_roots
from . import graph
from .runner import GraphRunner
from .watch import Watch

# of nodes that drive robots
_FAULTS = "outputs:faults"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the action graphs of a file and say how it went; return the exit code, 1 when anything failed."""
    options = _parser().parse_args(arguments)
    try:
        # the package itself does without
        with needs("The command line", "examples"):
            for name in ("rich", "matplotlib"):
                importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    try:
        if options.steps < 0:
            raise ValueError(f"--steps {options.steps}: must be an integer >= 0.")
        with trust_checkpoints(options.trust):
            simulation = Simulation(options.file, options.dt, engine=options.engine)
            with simulation, GraphRunner(simulation, options.frame_rate) as runner:
                return _run(runner, options)
    except (FileNotFoundError, ValueError, HostError) as error:
        print(f"{options.file} cannot be run:\n{error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="graphs", description=__doc__)
    run = parser.add_subparsers(required=True, metavar="run").add_parser("run", help="run the action graphs of a file")
    run.add_argument("file", type=Path, help="a USD file with robots and action graphs")
    run.add_argument("--steps", type=int, default=720, help="physics steps (720)")
    run.add_argument("--dt", type=float, default=1 / 240, help="physics step [s] (1/240)")
    run.add_argument("--engine", choices=["mujoco", "physx"], default="mujoco", help="physics (mujoco)")
    run.add_argument("--frame-rate", type=float, default=60.0, help="frames per second (60), rounded to whole steps")
    run.add_argument("--plot", type=Path, metavar="PICTURE", help="draw joint positions and watched ports over time")
    run.add_argument(
        "--watch",
        action="append",
        default=[],
        metavar="PORT",
        help="record a port, /World/Graph/Node.outputs:x; repeat",
    )
    run.add_argument(
        "--trust",
        action="append",
        default=[],
        metavar="PATH",
        help="let Torch run networks that are not recognised, of this file or folder; repeat",
    )
    return parser


def _run(runner: GraphRunner, options: Any) -> int:
    from rich.console import Console
    from rich.progress import track

    simulation, console = runner.simulation, Console(highlight=False)
    robots = {path: simulation.articulation(path) for path in articulation_roots(simulation.stage)}
    watch = Watch(runner, robots, options.watch)
    problems: list[str] = []
    simulation.play()
    try:
        with _without_log():
            for _ in track(range(options.steps), "running", console=console, transient=True):
                runner.run()
                watch.add()
    except Exception as error:
        # whatever stopped physics: there is still something to tell
        problems = [f"{type(error).__name__}: {error}"]
    console.print(_summary(runner, robots))
    if options.plot is not None:
        watch.draw(options.plot)
        console.print(f"The picture is in {options.plot}.")
    problems = runner.errors + problems
    for problem in problems:
        console.print(f"error: {problem.splitlines()[0]}", markup=False, soft_wrap=True)
    return 1 if problems else 0


@contextlib.contextmanager
def _without_log() -> Iterator[None]:
    """Log no errors of nodes: they are printed at the end."""
    log = logging.getLogger(graph.__name__)
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _summary(runner: GraphRunner, robots: dict[str, Any]) -> Any:
    """What ran, and where the robots are."""
    from rich.console import Group
    from rich.table import Table

    simulation = runner.simulation
    title = (
        f"{simulation.step_count} physics steps of {simulation.dt:.6g} s, a frame every {runner.substeps} "
        f"({runner.frame_rate:.6g} Hz)"
    )
    graphs = Table("graph", "evaluated", "events", "nodes run", "faults", title=title)
    for one in runner.graphs:
        nodes = one.nodes.values()
        faults = [node.db.read(_FAULTS) for node in nodes if _FAULTS in node.db.DESCRIPTION.ports]
        runs = sum(node.get_compute_count() for node in nodes)
        counts = (one.evaluations, one.pulses, runs, sum(map(len, faults)))
        graphs.add_row(one.path, *map(str, counts))
    joints = Table("robot", "joint", "position [rad or m]", "target", "error")
    for path, robot in robots.items():
        positions, targets = (read().numpy()[0] for read in (robot.get_dof_positions, robot.get_dof_position_targets))
        for name, position, target in zip(robot.dof_names, positions, targets, strict=True):
            joints.add_row(path, name, *(f"{value:.5f}" for value in (position, target, position - target)))
    return Group(graphs, joints)


if __name__ == "__main__":
    raise SystemExit(main())
