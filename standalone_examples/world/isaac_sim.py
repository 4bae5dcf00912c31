"""The world of an example in Isaac Sim."""

from pathlib import Path
from typing import Self

import isaacsim.core.experimental.utils.app as app_utils
import isaacsim.core.experimental.utils.stage as stage_utils
import omni.kit.app
from isaacsim.core.experimental.prims import Articulation
from isaacsim.core.simulation_manager import SimulationManager

__all__ = ["Articulation", "World"]


# docs: begin calls
class World:
    """A file opened in Isaac Sim, which replaces the open one and computes on the CPU.

    Args:
        file: USD file.
        dt: Physics step [s].
        engine: "physx" or "newton"; None means the active engine of Isaac Sim.
    """

    def __init__(self, file: Path, dt: float = 1 / 240, engine: str | None = None) -> None:
        if engine and not SimulationManager.switch_physics_engine(engine):
            known = SimulationManager.get_available_physics_engines()
            raise ValueError(f"engine = {engine!r}: must be one of {known}. Correct the name.")
        stage_utils.open_stage(str(file.absolute()))
        # the scene of the open stage stores the step
        SimulationManager.setup_simulation(dt=dt, device="cpu")
        self.stage = stage_utils.get_current_stage(backend="usd")

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return SimulationManager.get_simulation_time()

    def play(self) -> None:
        """Start physics."""
        app_utils.play()

    def step(self, steps: int = 1) -> None:
        """Advance physics by some steps."""
        SimulationManager.step(steps=steps)

    # docs: end calls

    def frame(self) -> None:
        """Run one frame of Isaac Sim: the action graphs of the stage, and its physics steps."""
        omni.kit.app.get_app().update()

    def graph_errors(self) -> list[str]:
        """Return the errors of graph nodes in the last frame."""
        import omni.graph.core as og

        nodes = [prim.GetPath().pathString for prim in self.stage.Traverse() if prim.GetTypeName() == "OmniGraphNode"]
        return [said for node in nodes for said in og.Controller.node(node).get_compute_messages(og.Severity.ERROR)]

    def stop(self) -> None:
        """End physics; joints return to the pose of the stage."""
        app_utils.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
