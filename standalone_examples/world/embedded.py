"""The world of an example without Isaac Sim."""

from pathlib import Path

from isaacsim.core.experimental.actuators import Articulation, Simulation
from isaacsim.core.experimental.actuators.extension.action_graphs.runner import GraphRunner

__all__ = ["Articulation", "World"]


class World(Simulation):
    """A file opened with embedded physics, see `Simulation`.

    Args:
        file: USD file.
        dt: Physics step [s].
        engine: "mujoco" or "physx"; None means "mujoco".
    """

    def __init__(self, file: Path, dt: float = 1 / 240, engine: str | None = None) -> None:
        super().__init__(file, dt, engine=engine or "mujoco")
        self._runner: GraphRunner | None = None

    def frame(self) -> None:
        """Run one frame of 1/60 s: the action graphs of the stage, and its physics steps."""
        self._runner = self._runner or GraphRunner(self)
        self._runner.run(self._runner.substeps)

    def graph_errors(self) -> list[str]:
        """Return the errors of graph nodes."""
        return self._runner.errors if self._runner else []

    def close(self) -> None:
        """End physics and the graphs."""
        if self._runner:
            self._runner.close()
        super().close()
