"""Isaac Sim's own Python: `isaacsim.SimulationApp` starts Kit in the process, and nothing of Kit is there before."""

import functools
import os
import sys
import types
from itertools import pairwise
from pathlib import Path

import numpy as np
from fakes.extension_loader import BUNDLED, ExtensionManager, Known
from fakes.kit_world import PACKAGE, KitWorld
from pxr import Usd

FRAME_RATE = 60
# frames that Kit needs to start
_FIRST_FRAMES = 10
# after all callbacks that set efforts
_LAST = 1_000_000


class IsaacSimPython:
    """One process; what physics did in it is written to a file when Kit ends."""

    def __init__(self, kind: str, recording: Path) -> None:
        self.world, self._recording = KitWorld(kind), recording
        self._steps: list[tuple] = []
        self._isaacsim = types.ModuleType("isaacsim")
        vars(self._isaacsim).update(__path__=[], SimulationApp=functools.partial(SimulationApp, self))
        sys.modules["isaacsim"] = self._isaacsim

    def start(self, arguments: list[str]) -> None:
        """Launch Kit: from now on its modules can be imported, and extensions run."""
        assert "omni.kit.app" not in sys.modules, "Kit can be started once in a process"
        world, manager = self.world, LaunchedManager(self)
        world.app.manager = manager
        world.__enter__()
        app = types.ModuleType("isaacsim.core.experimental.utils.app")
        vars(app).update(play=world.play, pause=world.pause, stop=world.stop)
        sys.modules[app.__name__] = app
        vars(sys.modules["isaacsim.core.experimental.utils.stage"]).update(open_stage=self._open_stage)
        self._recorder = world.physics.subscribe(self._record, True, _LAST)
        manager.provide(BUNDLED, *(f"{name}-1.0.0" for name in ("omni.graph", "omni.usd", "omni.warp.core")))
        options = list(pairwise(arguments))
        for folder in [Path(value) for option, value in options if option == "--ext-folder"]:
            for manifest in folder.glob("*/config/extension.toml"):
                manager.add(manifest.parents[1])
        manager.launch([BUNDLED], [value for option, value in options if option == "--enable"])
        self._launched = manager.get_enabled_extension_id(PACKAGE)
        if self._launched in (BUNDLED, None):
            raise RuntimeError(f"{self._launched} runs, of which there is no stand-in")
        world.app.on_frame.append(self._frame)
        for _ in range(_FIRST_FRAMES):
            world.app.update()

    def prepare(self, extension: Known) -> None:
        for entry in extension.modules:
            self._isaacsim.__path__.append(str(extension.path / entry.get("path", "") / "isaacsim"))
        if extension.name == PACKAGE and extension.modules:
            from fakes.action_graph import ActionGraphs
            from fakes.omni_graph import OmniGraph

            omni_graph = OmniGraph()
            omni_graph.hear_of(self.world.app.manager)
            self._graphs = ActionGraphs(self.world, omni_graph)
            made = omni_graph.modules()
            vars(made["omni.graph.core"]).update(Controller=types.SimpleNamespace(node=self._graphs.node))
            sys.modules.update({name: module for name, module in made.items() if name != "omni"})
            vars(sys.modules["omni"]).update(graph=made["omni.graph"])
            vars(made["omni.graph"]).update(core=made["omni.graph.core"], tools=made["omni.graph.tools"])

    def end(self) -> None:
        self.world.app.manager.set_extension_enabled_immediate(self._launched, False)
        if self._steps:
            columns = ("sessions", "dts", "positions", "velocities", "position_targets", "efforts", "stiffnesses")
            rows = {
                name: np.array(column) for name, column in zip(columns, zip(*self._steps, strict=True), strict=True)
            }
            (robot,) = self.world.physics.robots.values()
            log = self.world.log
            np.savez(
                self._recording,
                dof_names=robot.dof_names,
                extension=[self._launched, self.world.app.manager.get_extension_path(self._launched)],
                engine=self.world.physics.engine,
                logged=[*log.warn, *log.error],
                **rows,
            )
        self.world.__exit__()

    def _frame(self) -> None:
        if self.world.timeline.is_playing():
            # physics first: some steps are over before the first pulse of a graph
            manager = self.world.simulation_manager
            manager.step(steps=round(1 / (FRAME_RATE * manager.get_physics_dt())))
            self._graphs.frame()

    def _record(self, dt: float, _context) -> None:
        physics = self.world.physics
        if physics.is_loaded:
            names = ("positions", "velocities", "position_targets", "actuation_forces", "stiffnesses")
            self._steps.append((physics.session, dt, *(physics.arrays[name][0].copy() for name in names)))

    def _open_stage(self, usd_path: str) -> tuple[bool, Usd.Stage]:
        assert Path(usd_path).is_absolute(), "Kit runs in a folder of its own"
        stage = Usd.Stage.Open(usd_path)
        self.world.open(stage)
        return True, stage


class LaunchedManager(ExtensionManager):
    def __init__(self, process: IsaacSimPython) -> None:
        super().__init__()
        self._process = process

    def _enable(self, one: Known) -> None:
        self._process.prepare(one)
        super()._enable(one)


class SimulationApp:
    """Kit, started by a script with settings, `extra_args` among them, and the app `experience`."""

    def __init__(self, process: IsaacSimPython, launch_config: dict | None = None, experience: str = "") -> None:
        self._process = process
        self._config = {"headless": False, "fast_shutdown": True, "extra_args": []} | (launch_config or {})
        process.start(self._config["extra_args"])

    def close(self) -> None:
        self._process.end()
        if self._config["fast_shutdown"]:
            sys.stdout.flush()
            os._exit(0)
