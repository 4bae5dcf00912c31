"""Joint positions and ports over time, and a picture of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...extension.action_graphs.runner.error import GraphError, did_you_mean
from ...extension.action_graphs.runner.runner import GraphRunner
from ...simulators.port import turning
from ..plots.style import caption, lines, panels, save
from ..plots.units import units_of

if TYPE_CHECKING:
    from ...simulators.physics_articulation import PhysicsArticulation


class Watch:
    """Numbers over time.

    Args:
        runner: What runs.
        robots: Articulations by path; the first robot of each is recorded.
        ports: Full paths of ports that hold numbers.

    Raises:
        GraphError: There is no such port, or it holds no numbers.
    """

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
        """Note how things are now.

        Raises:
            GraphError: A port holds no numbers.
        """
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
