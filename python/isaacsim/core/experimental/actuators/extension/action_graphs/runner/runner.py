"""Runs the action graphs of a simulation's stage."""

from __future__ import annotations

import math

from ....base.errors import Closing, HostError, NotCopied, did_you_mean
from ....simulators.current import use_host
from ....simulators.simulation import Simulation
from ....specs.arguments import number_of, require_type, whole_of
from .graph import Clock, Graph, GraphError
from .load import load_graphs


class GraphRunner(Closing, NotCopied):
    """Runs the action graphs of a simulation's stage while it steps the simulation.

    Frames come every `substeps` physics steps: *On Playback Tick* and *On Tick* happen before the first of them.
    *On Physics Step* happens before each physics step, and what its graph sets acts in that step.

    Args:
        simulation: Whose stage holds the graphs; they are read now.
        frame_rate: Frames per simulated second [Hz], rounded so that a frame is a whole number of physics steps.

    Raises:
        GraphError: Listing every problem of every graph, or that there is none.
        ValueError: `frame_rate` is out of range.

    Example:
        >>> from isaacsim.core.experimental.actuators import Simulation
        >>> from isaacsim.core.experimental.actuators.extension.action_graphs.runner import GraphRunner
        >>> with Simulation("data/graphs/pd_from_usd.usda") as sim, GraphRunner(sim) as runner:
        ...     sim.play()
        ...     runner.run(240)
        ...     graph = runner.graph("/World/ActionGraph")
        ...     print(graph.read("/World/ActionGraph/OnPlaybackTick.outputs:frame"), graph.errors)
        59.0 []
    """

    _INSTEAD = "Make another one of another simulation."

    def __init__(self, simulation: Simulation, frame_rate: float = 60.0) -> None:
        require_type("simulation", simulation, Simulation, "a Simulation")
        if not (math.isfinite(number_of("frame_rate", frame_rate)) and frame_rate > 0):
            raise ValueError(f"frame_rate = {frame_rate}: must be a finite number of frames per second > 0.")
        self.simulation = simulation
        self.substeps = max(1, round(1 / (frame_rate * simulation.dt)))
        self.graphs = load_graphs(simulation.stage)
        if not self.graphs:
            raise GraphError(
                [f"{simulation!r} has no OmniGraph prim that is active: there is nothing to run. Add one."]
            )
        self._at_frames = [graph for graph in self.graphs if not graph.on_demand]
        self._at_steps = [graph for graph in self.graphs if graph.runs_at_physics_steps]
        self._earlier_plays = 0.0
        self._subscription = simulation.bus.on_stop(self._on_stop)

    @property
    def frame_rate(self) -> float:
        """Frames per simulated second as they come [Hz]."""
        return 1 / (self.substeps * self.simulation.dt)

    @property
    def errors(self) -> list[str]:
        """Errors of nodes, each distinct message once, beginning with the path of the node."""
        return [message for graph in self.graphs for message in graph.errors]

    def graph(self, path: str) -> Graph:
        """Return a graph.

        Raises:
            GraphError: There is none at that path.
        """
        require_type("path", path, str, "the path of a graph")
        by_path = {graph.path: graph for graph in self.graphs}
        if path not in by_path:
            raise GraphError([f"<{path}>: no graph. {did_you_mean(path, by_path)}"])
        return by_path[path]

    def run(self, steps: int = 1) -> None:
        """Step the simulation, with the graphs before each step that concerns them.

        Args:
            steps: Physics steps.

        Raises:
            GraphError: Nodes of a graph run too often, see `Graph.evaluate`.
            HostError: Called before `play`.
            ValueError: `steps` is negative.
            Exception: What stops the simulation, see `Simulation.step`; errors of nodes do not.
        """
        for _ in range(whole_of("steps", steps)):
            simulation = self.simulation
            if not simulation.playing:
                raise HostError("physics is not running: call play() before run().")
            frame, substep = divmod(simulation.step_count, self.substeps)
            now = {"time": simulation.time, "frame": float(frame), "total_time": self._earlier_plays + simulation.time}
            with use_host(simulation):
                if substep == 0:
                    for graph in self._at_frames:
                        graph.evaluate(Clock(delta=self.substeps * simulation.dt, **now))
                for graph in self._at_steps:
                    graph.evaluate(Clock(delta=simulation.dt, **now))
            self.simulation.step()

    def close(self) -> None:
        """Release the resources of the nodes; calling it again does nothing."""
        self._subscription.close()
        for graph in self.graphs:
            graph.close()

    def _on_stop(self) -> None:
        self._earlier_plays += self.simulation.time
