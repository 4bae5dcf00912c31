"""Results of the action graphs of a file: evaluations, faults, and positions of the robots."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...extension.action_graphs.runner import graph
from ...extension.action_graphs.runner.runner import GraphRunner
from ...files.usd.articulation import articulation_roots
from ...simulators.joint_kinds import turning
from ...simulators.simulation import Simulation
from .answer import Answer, Table
from .joint_units import with_units
from .watch import Watch

if TYPE_CHECKING:
    from ...simulators.physics_articulation import PhysicsArticulation

# of nodes that drive robots
_FAULTS = "outputs:faults"
_GRAPH = {"graph": "graph", "evaluated": "evaluated", "events": "events", "runs": "nodes run", "faults": "faults"}
_JOINT = {"robot": "robot", "joint": "joint", "position": "position", "target": "target", "error": "error"}
_QUANTITIES: dict[str, str] = dict.fromkeys(("position", "target", "error"), "position")


def run_graph(
    simulation: Simulation, frame_rate: float, steps: Iterable[int], watched: Sequence[str], picture: Path | None
) -> Answer:
    """Run action graphs and return the results.

    Args:
        simulation: A simulation before `play`.
        frame_rate: Frames per simulated second [Hz].
        steps: Counts physics steps.
        watched: Ports to draw.
        picture: File of the picture, or None.

    Raises:
        GraphError: Graphs or ports cannot be used.
    """
    with GraphRunner(simulation, frame_rate) as runner:
        robots = {path: simulation.articulation(path) for path in articulation_roots(simulation.stage)}
        watch = Watch(runner, robots, list(watched))
        problems: list[str] = []
        simulation.play()
        try:
            with _without_log():
                for _ in steps:
                    runner.run()
                    watch.add()
        except Exception as error:
            # report the results up to the error that stopped physics
            problems = [f"{type(error).__name__}: {error}"]
        notes = []
        if picture is not None:
            watch.draw(picture)
            notes = [f"The picture is in {picture}."]
        problems = runner.errors + problems
        notes += [f"error: {problem.splitlines()[0]}" for problem in problems]
        title = (
            f"{simulation.step_count} physics steps of {simulation.dt:.6g} s, a frame every {runner.substeps} "
            f"({runner.frame_rate:.6g} Hz)"
        )
        tables = [
            Table("graphs", _GRAPH, list(_graphs(runner)), title=title),
            with_units(Table("joints", _JOINT, list(_joints(robots))), _QUANTITIES, _turns(robots)),
        ]
        return Answer(tables, notes, bool(problems))


@contextlib.contextmanager
def _without_log() -> Iterator[None]:
    """Log no errors of nodes, which are reported at the end."""
    log = logging.getLogger(graph.__name__)
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _graphs(runner: GraphRunner) -> Iterator[dict[str, object]]:
    for one in runner.graphs:
        nodes = one.nodes.values()
        faults = [node.db.read(_FAULTS) for node in nodes if _FAULTS in node.db.DESCRIPTION.ports]
        yield {
            "graph": one.path,
            "evaluated": one.evaluations,
            "events": one.pulses,
            "runs": sum(node.get_compute_count() for node in nodes),
            "faults": sum(map(len, faults)),
        }


def _turns(robots: dict[str, PhysicsArticulation]) -> list[bool | None]:
    """Return which joints turn, in the order of the rows."""
    return [kind for robot in robots.values() for kind in turning(robot) or [None] * len(robot.dof_names)]


def _joints(robots: dict[str, PhysicsArticulation]) -> Iterator[dict[str, object]]:
    for path, robot in robots.items():
        positions, targets = (read().numpy()[0] for read in (robot.get_dof_positions, robot.get_dof_position_targets))
        for name, position, target in zip(robot.dof_names, positions.tolist(), targets.tolist(), strict=True):
            yield {"robot": path, "joint": name, "position": position, "target": target, "error": position - target}
