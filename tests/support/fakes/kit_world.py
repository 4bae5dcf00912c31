"""A Kit application in miniature: the modules a Kit process has, and the frames, stages and buttons of one."""

from __future__ import annotations

import asyncio
import importlib
import sys
import types
import unittest
from collections.abc import Callable

from fakes import carb, omni_physics_tensors, omni_timeline, omni_usd, physics
from fakes.extension_loader import ExtensionManager
from fakes.isaac_articulation import Articulation
from fakes.omni_physics_tensors import SimulationView
from fakes.simulation_manager import IsaacEvents, SimulationEvent, SimulationManager
from fakes.stage_utils import StageUtils
from places import REPOSITORY
from pxr import Usd

PACKAGE = "isaacsim.core.experimental.actuators"
ISAAC = ("isaac-physx", "isaac-newton")
PLAIN = ("kit-physx", "kit-core")
KINDS = (*ISAAC, *PLAIN)
# what imports Kit's modules
_OURS = ("extension.entry", "simulators.kit.events", "simulators.kit.plain_kit", "simulators.kit.isaac_sim")


class App:
    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.manager = ExtensionManager()
        self.manager.add(REPOSITORY, PACKAGE)
        self._waiting: list[asyncio.Future[None]] = []
        # what a frame does besides
        self.on_frame: list[Callable[[], None]] = []

    def get_extension_manager(self) -> ExtensionManager:
        return self.manager

    async def next_update_async(self) -> None:
        self._waiting.append(self.loop.create_future())
        await self._waiting[-1]

    def update(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
        self.loop.run_until_complete(asyncio.sleep(0))
        for call in self.on_frame:
            call()


class KitWorld:
    """A process: Isaac Sim on an engine, `kit-physx` before Kit 107, or `kit-core` with dispatcher and physics.core."""

    def __init__(self, kind: str, *, has_deprecated_view: bool = False) -> None:
        self.kind, self.is_isaac = kind, kind in ISAAC
        self.has_deprecated_view = has_deprecated_view
        self.log, self.settings = carb.Log(), carb.Settings()
        self.dispatcher, self.app = carb.EventDispatcher(), App()
        self.timeline = omni_timeline.Timeline(self.dispatcher)
        self.usd_context = omni_usd.UsdContext(self.dispatcher)
        self.stage_utils = StageUtils(self.usd_context)
        self.physics = physics.Physics(self.log)
        self.physics.engine = "newton" if kind == "isaac-newton" else "physx"
        self.core = physics.PhysicsSimulationInterface(self.physics)
        stop, stream = int(omni_timeline.TimelineEventType.STOP), self.timeline.get_timeline_event_stream()
        self._stop_begins = stream.create_subscription_to_pop_by_type(stop, lambda _: self._stopping(True), -10_000)
        self._stop_ends = stream.create_subscription_to_pop_by_type(stop, lambda _: self._stopping(False), 10_000)
        self.simulation_manager = SimulationManager.of(self) if self.is_isaac else None
        if not self.is_isaac:
            self._physx_plays = stream.create_subscription_to_pop_by_type(
                int(omni_timeline.TimelineEventType.PLAY), lambda _: self._load()
            )
            self._physx_stops = stream.create_subscription_to_pop_by_type(stop, lambda _: self.physics.unload())
        self._replaced: dict[str, types.ModuleType | None] = {}

    def __enter__(self) -> KitWorld:
        made = self.modules()
        self._replaced = {name: sys.modules.get(name) for name in made}
        _forget_ours()
        sys.modules.update(made)
        asyncio.set_event_loop(self.app.loop)
        return self

    def __exit__(self, *_: object) -> None:
        importlib.import_module(f"{PACKAGE}.simulators.current").close_kit_host()
        _forget_ours()
        for name, module in self._replaced.items():
            sys.modules.pop(name)
            if module is not None:
                sys.modules[name] = module
        self.app.update()
        asyncio.set_event_loop(None)
        self.app.loop.close()

    def modules(self) -> dict[str, types.ModuleType]:
        log = self.log
        made = {
            "carb": _module("carb", log_info=log.log_info, log_warn=log.log_warn, log_error=log.log_error),
            "carb.settings": _module("carb.settings", get_settings=lambda: self.settings),
            "omni": _module("omni"),
            "omni.ext": _module("omni.ext", IExt=type("IExt", (), {})),
            "omni.kit": _module("omni.kit"),
            "omni.kit.app": _module("omni.kit.app", get_app=lambda: self.app),
            "omni.kit.test": _module("omni.kit.test", AsyncTestCase=unittest.IsolatedAsyncioTestCase),
            "omni.physics": _module("omni.physics"),
            "omni.physics.tensors": _module(
                "omni.physics.tensors",
                DofType=omni_physics_tensors.DofType,
                # a method that tests replace
                create_simulation_view=lambda frontend_name, **_: self._create_view(frontend_name),
            ),
            "omni.timeline": _module(
                "omni.timeline",
                TimelineEventType=omni_timeline.TimelineEventType,
                GLOBAL_EVENT_PLAY=omni_timeline.GLOBAL_EVENT_PLAY,
                GLOBAL_EVENT_STOP=omni_timeline.GLOBAL_EVENT_STOP,
                get_timeline_interface=lambda: self.timeline,
            ),
            "omni.usd": _module(
                "omni.usd", StageEventType=omni_usd.StageEventType, get_context=lambda: self.usd_context
            ),
        }
        if self.kind == "kit-physx":
            interface = physics.PhysxInterface(self.physics)
            made["omni.physx"] = _module("omni.physx", get_physx_interface=lambda: interface)
        else:
            made["carb.eventdispatcher"] = _module("carb.eventdispatcher", get_eventdispatcher=lambda: self.dispatcher)
            made["omni.physics.core"] = _module(
                "omni.physics.core",
                PhysicsStepContext=physics.PhysicsStepContext,
                get_physics_simulation_interface=lambda: self.core,
            )
        for name, module in made.items():
            above, _, last = name.rpartition(".")
            if above:
                setattr(made[above], last, module)
        return made | (self._isaac_modules() if self.is_isaac else {})

    def _isaac_modules(self) -> dict[str, types.ModuleType]:
        self.articulation_class = Articulation.of(self)
        functions = {name: getattr(self.stage_utils, name) for name in ("get_current_stage", "use_stage")}
        made = [
            _module(
                "isaacsim.core.simulation_manager",
                SimulationManager=self.simulation_manager,
                SimulationEvent=SimulationEvent,
                IsaacEvents=IsaacEvents,
            ),
            _module("isaacsim.core.experimental.prims", Articulation=self.articulation_class),
            _module("isaacsim.core.experimental.utils"),
            _module("isaacsim.core.experimental.utils.stage", **functions),
        ]
        return {module.__name__: module for module in made}

    def enable_isaac(self) -> None:
        """Switch Isaac Sim's extensions on, in a Kit that ran without."""
        self.is_isaac, self.simulation_manager = True, SimulationManager.of(self)
        made = self._isaac_modules()
        self._replaced |= {name: sys.modules.get(name) for name in made}
        sys.modules.update(made)

    # what a user does

    def open(self, stage: Usd.Stage) -> None:
        self._end_of_stage()
        self.usd_context.open(stage)

    def close(self) -> None:
        self._end_of_stage()
        self.usd_context.close()

    def play(self) -> None:
        if self.usd_context.get_stage() is not None:
            self.timeline.play()

    def pause(self) -> None:
        self.timeline.pause()

    def stop(self) -> None:
        self.timeline.stop()

    def update(self, steps: int = 1, dt: float = 0.01) -> None:
        """A frame of the application, with so many physics steps if the timeline plays."""
        self.app.update()
        if self.timeline.is_playing() and self.physics.is_loaded:
            for _ in range(steps):
                self.physics.simulate(dt)

    def delete(self, path: str) -> None:
        self.usd_context.get_stage().RemovePrim(path)
        self.physics.delete(path)
        if self.simulation_manager is not None:
            self.simulation_manager.prim_deleted(path)

    def _load(self) -> None:
        if not self.physics.is_loaded:
            self.physics.load(self.usd_context.get_stage())

    def _end_of_stage(self) -> None:
        # without an event: the stage may go before the timeline notices
        self.timeline.state = omni_timeline.TimelineEventType.STOP
        self.physics.unload()

    def _stopping(self, begins: bool) -> None:
        self.physics.is_stopping = begins

    def _create_view(self, frontend_name: str) -> SimulationView:
        if frontend_name != "warp":
            raise ValueError(f"this world knows Warp only, not {frontend_name}")
        return SimulationView(self.physics, spare_dofs=1)


def _module(name: str, **members) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update(members)
    return module


def _forget_ours() -> None:
    for name in _OURS:
        sys.modules.pop(f"{PACKAGE}.{name}", None)
