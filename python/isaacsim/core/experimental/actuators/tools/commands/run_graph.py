"""Results of the action graphs of a file: evaluations, faults, and positions of the robots."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import did_you_mean
from ...extension.action_graphs.runner import graph
from ...extension.action_graphs.runner.graph import GraphError
from ...extension.action_graphs.runner.runner import GraphRunner
from ...files.usd.articulation import articulation_roots
from ...simulators.port import turning
from ...simulators.simulation import Simulation
from ..plots.style import caption, lines, panels, save
from ..plots.units import units_of
from .answer import Answer, Table, written
from .show import with_units

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
    """Run action graphs of a simulation before `play`, draw the watched ports, and return the results."""
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
        notes = written(picture, "picture is", watch.draw)
        problems = runner.errors + problems
        notes += [f"error: {problem.splitlines()[0]}" for problem in problems]
        title = (
            f"{simulation.step_count} physics steps of {simulation.dt:.4g} s, a frame every {runner.substeps} "
            f"({runner.frame_rate:.6g} Hz)"
        )
        turns = [kind for robot in robots.values() for kind in turning(robot) or [None] * len(robot.dof_names)]
        tables = [
            Table("graphs", _GRAPH, list(_graphs(runner)), title=title),
            with_units(Table("joints", _JOINT, list(_joints(robots))), _QUANTITIES, turns),
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


def _joints(robots: dict[str, PhysicsArticulation]) -> Iterator[dict[str, object]]:
    for path, robot in robots.items():
        positions, targets = (read().numpy()[0] for read in (robot.get_dof_positions, robot.get_dof_position_targets))
        for name, position, target in zip(robot.dof_names, positions.tolist(), targets.tolist(), strict=True):
            yield {"robot": path, "joint": name, "position": position, "target": target, "error": position - target}


class Watch:
    """Positions of the first robot of each articulation, and numbers of ports by full path, over time."""

    def __init__(self, runner: GraphRunner, robots: dict[str, PhysicsArticulation], ports: list[str]) -> None:
        self._runner, self._robots = runner, robots
        nodes = {path: graph for graph in runner.graphs for path in graph.nodes}
        self._ports = {}
        for port in ports:
            if (path := port.rpartition(".")[0]) not in nodes:
                raise GraphError([f"<{port}>: no node of a graph. {did_you_mean(path, nodes)}"])
            self._ports[port] = nodes[path]
            self._numbers(port)
        self._times: list[float] = []
        self._samples: dict[str, list[np.ndarray]] = {name: [] for name in [*robots, *ports]}

    def add(self) -> None:
        """Note how things are now; GraphError if a port holds no numbers."""
        self._times.append(self._runner.simulation.time)
        for path, robot in self._robots.items():
            self._samples[path].append(robot.get_dof_positions().numpy()[0])
        for port in self._ports:
            self._samples[port].append(self._numbers(port))

    def draw(self, picture: Path) -> None:
        """Draw a panel for each robot and port."""
        count = len(self._samples)
        drawn, axes = panels(10, 1 + 2.5 * count, rows=count)
        for panel, (name, samples) in zip(axes, self._samples.items(), strict=True):
            robot = self._robots.get(name)
            # before its first run a port may hold fewer numbers
            width = max((sample.size for sample in samples), default=0)
            curves = np.array([np.pad(sample, (0, width - sample.size), constant_values=np.nan) for sample in samples])
            names = robot.dof_names if robot is not None else [str(number) for number in range(width)]
            caption(panel, name)
            unit = units_of(turning(robot)).position
            panel.set_ylabel(f"position [{unit}]" if robot is not None else name.rpartition(":")[2])
            lines(panel, self._times, curves, names)
        axes[-1].set_xlabel("time [s]")
        save(drawn, picture)

    def _numbers(self, port: str) -> np.ndarray:
        value = self._ports[port].read(port)
        numbers = np.ravel([] if value is None else value)
        if numbers.dtype.kind not in "biuf":
            raise GraphError([f"<{port}> holds {value!r}: must hold numbers to be watched. Watch another port."])
        return numbers.astype(float)
