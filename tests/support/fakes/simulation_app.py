"""Isaac Sim's own Python: `isaacsim.SimulationApp` starts Kit in the process, and nothing of Kit is there before."""

from __future__ import annotations

import importlib
import os
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
from fakes.kit_launch import NAME, LaunchedExtension, launch
from fakes.kit_world import KitWorld
from pxr import Usd

FRAME_RATE = 60
# after all callbacks that set efforts
_LAST = 1_000_000


class IsaacSimPython:
    """One process; what physics did is written to `recording` when Kit ends.

    Args:
        kind: See `KitWorld`.
        recording: An `.npz` file.
    """

    def __init__(self, kind: str, recording: Path) -> None:
        self.world, self._recording = KitWorld(kind), recording
        self._steps: list[tuple[Any, ...]] = []
        self.app: SimulationApp | None = None
        self._isaacsim = types.ModuleType("isaacsim")
        vars(self._isaacsim).update(__path__=[], SimulationApp=lambda *given, **named: SimulationApp(self, *given, **named))
        sys.modules["isaacsim"] = self._isaacsim

    def start(self, arguments: list[str]) -> LaunchedExtension:
        """Launch Kit: from now on its modules can be imported, and the extension runs."""
        extension, world = launch(arguments), self.world
        if extension.root is None:
            bundled = types.ModuleType(NAME)
            vars(bundled).update(__version__=extension.version)
            sys.modules[NAME] = bundled
            print(f"{extension.id} runs")
            return extension
        self._isaacsim.__path__ = [str(extension.import_path / "isaacsim")]
        world.__enter__()
        from fakes.action_graph import ActionGraphs
        from fakes.omni_graph import OmniGraph

        omni_graph = OmniGraph()
        sys.modules.update({name: module for name, module in omni_graph.modules().items() if name != "omni"})
        for name in ("omni.graph", "omni.graph.core", "omni.graph.tools"):
            above, _, last = name.rpartition(".")
            setattr(sys.modules[above], last, sys.modules[name])
        self._graphs = ActionGraphs(world, omni_graph)
        vars(sys.modules["omni.graph.core"]).update(Controller=types.SimpleNamespace(node=self._graphs.node))
        sys.modules["isaacsim.core.experimental.utils.app"] = self._app_utils()
        vars(sys.modules["isaacsim.core.experimental.utils.stage"]).update(open_stage=self._open_stage)
        self._recorder = world.physics.subscribe(self._record, True, _LAST)
        self._extension = importlib.import_module(f"{NAME}.extension").Extension()
        self._extension.on_startup(extension.id)
        world.app.on_frame.append(self._frame)
        for _ in range(10):
            # Kit starts with some frames
            world.app.update()
        return extension

    def end(self, extension: LaunchedExtension) -> None:
        """End Kit, and write down what it did."""
        self._extension.on_shutdown()
        columns = ("session", "dt", "positions", "velocities", "position_targets", "efforts", "stiffnesses")
        rows = {name: np.array(column) for name, column in zip(columns, zip(*self._steps, strict=True), strict=True)}
        (robot,) = self.world.physics.robots.values()
        np.savez(
            self._recording,
            **rows,
            dof_names=robot.dof_names,
            extension=[extension.id, str(extension.root)],
            engine=self.world.physics.engine,
            logged=[*self.world.log.warn, *self.world.log.error],
        )
        self.world.__exit__()

    # inside

    def _frame(self) -> None:
        world = self.world
        if world.timeline.is_playing():
            # physics first: its first steps after play are those before the first pulse of a graph
            dt = world.simulation_manager.get_physics_dt()
            world.simulation_manager.step(steps=round(1 / (FRAME_RATE * dt)))
            self._graphs.frame()

    def _record(self, dt: float, _context: Any) -> None:
        if self.world.physics.is_loaded:
            at = self.world.physics.arrays
            names = ("positions", "velocities", "position_targets", "actuation_forces", "stiffnesses")
            self._steps.append((self.world.physics.session, dt, *(at[name][0].copy() for name in names)))

    def _app_utils(self) -> types.ModuleType:
        """`isaacsim.core.experimental.utils.app`."""
        made, world = types.ModuleType("isaacsim.core.experimental.utils.app"), self.world
        vars(made).update(play=world.play, pause=world.pause, stop=world.stop)
        return made

    def _open_stage(self, usd_path: str) -> tuple[bool, Usd.Stage]:
        assert Path(usd_path).is_absolute(), "Kit runs in a folder of its own"
        stage = Usd.Stage.Open(usd_path)
        self.world.open(stage)
        return True, stage


class SimulationApp:
    """Kit, started by a script.

    Args:
        process: Where.
        launch_config: Settings by name; `extra_args` are arguments of Kit.
        experience: The app to start instead of Isaac Sim's base experience.
    """

    def __init__(self, process: IsaacSimPython, launch_config: dict[str, Any] | None = None, experience: str = "") -> None:
        assert process.app is None and "omni.kit.app" not in sys.modules, "Kit can be started once in a process"
        self._process, process.app = process, self
        # those that exist, with their defaults
        self._config = {"headless": False, "fast_shutdown": True, "extra_args": []} | (launch_config or {})
        self._extension = process.start(self._config["extra_args"])

    def update(self) -> None:
        """A frame."""
        self._process.world.app.update()

    def close(self) -> None:
        """End Kit; a fast shutdown ends the process with it."""
        self._process.end(self._extension)
        if self._config["fast_shutdown"]:
            sys.stdout.flush()
            os._exit(0)
