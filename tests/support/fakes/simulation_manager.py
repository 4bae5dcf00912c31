"""`isaacsim.core.simulation_manager`: events, ids and the life of physics in Isaac Sim 6."""

from __future__ import annotations

import contextlib
import enum
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import warp as wp
from fakes.omni_physics_tensors import SimulationView
from fakes.omni_timeline import TimelineEventType
from fakes.omni_usd import StageEventType

if TYPE_CHECKING:
    from fakes.kit_world import KitWorld
WARM_UP_DT = 1 / 60
# of a stage that says nothing
DEFAULT_DT = 1 / 60


class SimulationEvent(enum.Enum):
    """Events of Isaac Sim 6."""

    PHYSICS_PRE_STEP = "isaacsim.simulation.physics_pre_step"
    PHYSICS_POST_STEP = "isaacsim.simulation.physics_post_step"
    SIMULATION_SETUP = "isaacsim.simulation.simulation_setup"
    SIMULATION_STARTED = "isaacsim.simulation.started"
    SIMULATION_PAUSED = "isaacsim.simulation.paused"
    SIMULATION_RESUMED = "isaacsim.simulation.resumed"
    SIMULATION_STOPPED = "isaacsim.simulation.stopped"
    PRIM_DELETED = "isaacsim.simulation.prim_deleted"


class IsaacEvents(enum.Enum):
    PHYSICS_WARMUP = "isaac.physics_warmup"
    SIMULATION_VIEW_CREATED = "isaac.simulation_view_created"
    PHYSICS_READY = "isaac.physics_ready"
    POST_RESET = "isaac.post_reset"
    PRIM_DELETION = "isaac.prim_deletion"
    PRE_PHYSICS_STEP = "isaac.pre_physics_step"
    POST_PHYSICS_STEP = "isaac.post_physics_step"
    TIMELINE_STOP = "isaac.timeline_stop"


DISPATCHED = (
    *(IsaacEvents.PHYSICS_WARMUP, IsaacEvents.SIMULATION_VIEW_CREATED, IsaacEvents.PHYSICS_READY),
    *(IsaacEvents.POST_RESET, SimulationEvent.SIMULATION_SETUP),
    *(SimulationEvent.SIMULATION_STARTED, SimulationEvent.SIMULATION_RESUMED),
)
PRE_STEP = (SimulationEvent.PHYSICS_PRE_STEP, IsaacEvents.PRE_PHYSICS_STEP)
ON_TIMELINE = {
    SimulationEvent.SIMULATION_PAUSED: TimelineEventType.PAUSE,
    SimulationEvent.SIMULATION_STOPPED: TimelineEventType.STOP,
    IsaacEvents.TIMELINE_STOP: TimelineEventType.STOP,
}
PRIM_GONE = (SimulationEvent.PRIM_DELETED, IsaacEvents.PRIM_DELETION)
# in this order, when physics has become ready
READY_EVENTS = (
    *(SimulationEvent.SIMULATION_SETUP, IsaacEvents.PHYSICS_WARMUP),
    *(IsaacEvents.SIMULATION_VIEW_CREATED, IsaacEvents.PHYSICS_READY),
)


@dataclass(frozen=True)
class KeptMethod:
    owner: Any
    name: str

    def __call__(self, *args):
        return getattr(self.owner, self.name)(*args)


class SimulationManager:
    """All classmethods, as there; each world has a class of its own, made by `of`."""

    world: ClassVar[KitWorld]
    _STOP_ORDER: ClassVar[int] = 0
    _STAGE_ORDER: ClassVar[int] = 0

    @classmethod
    def of(cls, world: KitWorld) -> type[SimulationManager]:
        made = type(cls.__name__, (cls,), {"world": world})
        made._start()
        return made

    @classmethod
    def register_callback(
        cls, callback: Callable, event: SimulationEvent | IsaacEvents, *, order: int = 0, **kwargs
    ) -> int:
        if not isinstance(event, SimulationEvent | IsaacEvents):
            raise ValueError(f"invalid event {event!r}")
        if "name" in kwargs:
            cls.world.log.log_warn("register_callback: name is deprecated")
        uid = cls._callback_iter
        cls._callback_iter = uid + 1
        call = cls._as_kept(callback)
        if event in PRIM_GONE:
            cls._deletion_callbacks[uid] = call
        else:
            cls._callbacks[uid] = (event, call, cls._connect(call, event, order))
        return uid

    @classmethod
    def deregister_callback(cls, uid: int) -> bool:
        if uid in cls._callbacks:
            del cls._callbacks[uid]
        elif uid in cls._deletion_callbacks:
            del cls._deletion_callbacks[uid]
        else:
            cls.world.log.log_warn(f"deregister_callback: no callback {uid}")
            return False
        return True

    @classmethod
    def deregister_all_callbacks(cls) -> None:
        cls._callbacks.clear()

    @classmethod
    def enable_default_callbacks(cls) -> None:
        cls._callback_iter = 0

    @staticmethod
    def _as_kept(callback: Callable) -> Callable:
        if not hasattr(callback, "__self__"):
            return callback
        return KeptMethod(weakref.proxy(callback.__self__), callback.__name__)

    @classmethod
    def _connect(cls, call: Callable, event: SimulationEvent | IsaacEvents, order: int):
        world = cls.world
        if event in DISPATCHED:
            return world.dispatcher.observe_event(
                observer_name="simulation_manager", event_name=event.value, on_event=call, order=order
            )
        if event in ON_TIMELINE:
            stream = world.timeline.get_timeline_event_stream()
            return stream.create_subscription_to_pop_by_type(
                event_type=int(ON_TIMELINE[event]), fn=call, order=order, name="simulation_manager"
            )

        def gated(step_dt: float, context) -> None:
            if cls._is_gate_open():
                call(step_dt, context)

        return world.core.subscribe_physics_on_step_events(on_update=gated, pre_step=event in PRE_STEP, order=order)

    @classmethod
    def _is_gate_open(cls) -> bool:
        return cls._simulation_view_created

    @classmethod
    def _start(cls) -> None:
        cls._callbacks: dict[int, tuple] = {}
        cls._deletion_callbacks: dict[int, Callable[[str], None]] = {}
        cls._callback_iter = 0
        cls._view: SimulationView | None = None
        cls._deprecated_view: SimulationView | None = None
        cls._simulation_view_created = False
        cls._device: wp.Device | None = None
        cls._physics_dt = DEFAULT_DT
        world = cls.world
        stream = world.timeline.get_timeline_event_stream()
        cls._own = [
            stream.create_subscription_to_pop_by_type(int(TimelineEventType.PLAY), lambda _event: cls._on_play()),
            stream.create_subscription_to_pop_by_type(
                int(TimelineEventType.STOP), lambda _event: cls._on_stop(), cls._STOP_ORDER
            ),
        ]
        for kind in (StageEventType.OPENED, StageEventType.CLOSED):
            name = world.usd_context.stage_event_name(kind)
            observed = {"event_name": name, "on_event": lambda _event: cls._reset(), "order": cls._STAGE_ORDER}
            cls._own.append(world.dispatcher.observe_event(**observed))

    @classmethod
    def _on_play(cls) -> None:
        if cls.world.usd_context.get_stage() is None:
            return
        if cls._view is not None:
            cls._dispatch(SimulationEvent.SIMULATION_RESUMED)
            return
        cls.initialize_physics()
        cls._dispatch(SimulationEvent.SIMULATION_STARTED)

    @classmethod
    def initialize_physics(cls) -> None:
        world, physics = cls.world, cls.world.physics
        if not physics.is_loaded:
            physics.load(world.usd_context.get_stage())
        physics.simulate(WARM_UP_DT)
        cls._view = SimulationView(physics)
        # with the deprecated view goes that the gate is shut again when physics stops
        cls._deprecated_view = SimulationView(physics) if world.has_deprecated_view else None
        physics.simulate(WARM_UP_DT)
        cls._simulation_view_created = True
        for event in READY_EVENTS:
            cls._dispatch(event)

    @classmethod
    def invalidate_physics(cls) -> None:
        cls.world.physics.unload()
        cls._view = None
        if cls._deprecated_view is not None:
            cls._deprecated_view = None
            cls._simulation_view_created = False

    @classmethod
    def _on_stop(cls) -> None:
        cls.invalidate_physics()

    @classmethod
    def _reset(cls) -> None:
        cls.invalidate_physics()
        cls._callbacks.clear()
        cls._callback_iter = 0
        cls._device, cls._physics_dt = None, DEFAULT_DT

    @classmethod
    def _dispatch(cls, event: SimulationEvent | IsaacEvents) -> None:
        cls.world.dispatcher.dispatch_event(event.value)

    @classmethod
    def prim_deleted(cls, path: str) -> None:
        for callback in tuple(cls._deletion_callbacks.values()):
            with contextlib.suppress(ReferenceError):
                callback(path)

    @classmethod
    def get_physics_simulation_view(cls) -> SimulationView | None:
        return cls._view

    @classmethod
    def get_device(cls) -> wp.Device:
        return cls._device or wp.get_device("cpu")

    @classmethod
    def get_active_physics_engine(cls) -> str:
        return cls.world.physics.engine

    @classmethod
    def switch_physics_engine(cls, name: str, verbose: bool = False) -> bool:
        if name not in ("physx", "newton"):
            return False
        if name != cls.world.physics.engine:
            cls.world.physics.engine = name
            cls.invalidate_physics()
        return True

    @classmethod
    def get_available_physics_engines(cls) -> list[str]:
        return ["physx", "newton"]

    @classmethod
    def get_simulation_time(cls) -> float:
        return cls.world.physics.time

    @classmethod
    def get_physics_dt(cls, physics_scene: str | None = None) -> float:
        return cls._physics_dt

    @classmethod
    def setup_simulation(cls, dt: float | None = None, device: str | None = None) -> None:
        """Write the step into the scene of the open stage, which forgets it when another one is opened."""
        assert cls.world.usd_context.get_stage() is not None, "no stage, no physics scene"
        cls._physics_dt = dt or cls._physics_dt
        cls._device = wp.get_device(device) if device else cls._device

    @classmethod
    def step(
        cls, *, steps: int = 1, callback: Callable[[int, int], bool | None] | None = None, update_fabric: bool = False
    ) -> None:
        assert cls._view is not None, "physics is not initialized"
        for step in range(steps):
            cls.world.physics.simulate(cls._physics_dt)
            if callback is not None and callback(step, steps) is False:
                return
