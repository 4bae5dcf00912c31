"""Events inside Kit: steps, stages that come and go, and errors that never reach the physics loop."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, SupportsInt

import carb  # pyright: ignore[reportMissingImports]
import omni.timeline  # pyright: ignore[reportMissingImports]
import omni.usd  # pyright: ignore[reportMissingImports]

from ...base.callers import weakly
from ...files.usd.articulation import articulation_roots, unloaded_payloads
from ...specs.roots import match_roots
from ..bus import EventBus
from ..port import Subscription

if TYPE_CHECKING:
    from ...files.usd.handles import Stage

# actuators learn of a stop or of another stage before other listeners
BEFORE_OTHERS = -1000


class _Physics:
    """Stands for the physics of this process, whichever host looks at it."""


_PHYSICS = _Physics()


class KitBus:
    """The physics events of a Kit application, see `PhysicsBus`; another stage ends all subscriptions.

    Callbacks are kept here. Kit holds one pre-step callback for all of them, only while there are listeners of steps.
    Errors are logged. `is_ready` returns True if articulations can be read and written.
    """

    # joints are the same on every bus of a process
    physics = _PHYSICS

    def __init__(self, is_ready: Callable[[], bool]) -> None:
        self._events = EventBus()
        self._is_ready = is_ready
        # number of stages opened or closed: articulations made on another one are invalid
        self.stage_changes = 0
        self._for_ready: set[_Counted] = set()
        self._for_steps: set[_Counted] = set()
        self._begin: Callable[[], None] | None = None
        self._unlisten: Callable[[], None] | None = None
        self._in_step = False

    @property
    def ready(self) -> bool:
        """True if physics runs, so that articulations can be read and written."""
        return self._is_ready()

    def on_ready(self, callback: Callable[[], None], *, order: int = 0) -> Subscription:
        """Call `callback()` whenever physics becomes ready."""
        return _Counted(self, self._for_ready, self._events.on_ready(callback, order=order))

    def on_pre_step(self, callback: Callable[[float, object], None], *, order: int = 0) -> Subscription:
        """Call `callback(dt, context)` before every physics step."""
        return _Counted(self, self._for_steps, self._events.on_pre_step(callback, order=order))

    def on_stop(self, callback: Callable[[], None], *, order: int = 0) -> Subscription:
        """Call `callback()` when physics has stopped."""
        return self._events.on_stop(callback, order=order)

    def emit_ready(self) -> None:
        """Announce that physics is ready."""
        log_errors(self._events.emit_ready)
        self.update()

    def emit_stop(self) -> None:
        """Announce that physics has stopped."""
        self._begin = None
        log_errors(self._events.emit_stop)
        self.update()

    def forget(self) -> None:
        """Announce a stop because the stage has changed, and drop all listeners."""
        self.stage_changes += 1
        self.emit_stop()
        self._events.clear()
        self._for_ready.clear()
        self._for_steps.clear()
        self.update()

    def begin_with_next_step(self, begin: Callable[[], None]) -> None:
        """Call `begin()` before the next physics step, for a simulator without a ready event."""
        self._begin = begin
        self.update()

    def update(self) -> None:
        """Listen to physics steps exactly while there are listeners of them."""
        # Kit's own list must not change while it is walked; the next change from outside catches up
        if self._in_step:
            return
        wanted = self._for_steps if self.ready else self._begin is not None and self._for_ready | self._for_steps
        if wanted and self._unlisten is None:
            callback = weakly(self._on_step)
            try:
                from omni.physics.core import get_physics_simulation_interface  # pyright: ignore[reportMissingImports]
            except ModuleNotFoundError:
                from omni.physx import get_physx_interface  # pyright: ignore[reportMissingImports]

                held = [get_physx_interface().subscribe_physics_on_step_events(callback, True, 0)]
            else:
                held = [
                    get_physics_simulation_interface().subscribe_physics_on_step_events(
                        on_update=callback, pre_step=True, order=0
                    )
                ]
            # dropping it unsubscribes
            self._unlisten = held.clear
        elif not wanted and self._unlisten is not None:
            unlisten, self._unlisten = self._unlisten, None
            unlisten()

    def _on_step(self, dt: float, context: object = None) -> None:
        """One argument from omni.physx, two from omni.physics.core."""
        self._in_step = True
        try:
            begin, self._begin = self._begin, None
            if begin is not None:
                log_errors(begin)
            # Kit steps while it starts and may step after it stopped: there is nothing to read or write then
            if self.ready:
                log_errors(self._events.emit_pre_step, dt, context)
        finally:
            self._in_step = False


class _Counted:
    """A subscription that updates the bus when it is made and closed."""

    def __init__(self, bus: KitBus, all_such: set[_Counted], inner: Subscription) -> None:
        self._bus, self._all_such, self._inner = bus, all_such, inner
        all_such.add(self)
        bus.update()

    def close(self) -> None:
        """Take the callback out; calling it again does nothing."""
        self._inner.close()
        self._all_such.discard(self)
        self._bus.update()


def log_errors(call: Callable[..., None], *args: object) -> None:
    """Make a call; log its error, which Kit would lose or repeat at each step."""
    try:
        call(*args)
    except Exception as error:
        carb.log_error(f"{error}\n{''.join(traceback.format_exception(error))}")


def context_stage() -> Stage | None:
    """The stage that Kit has open, or None."""
    return omni.usd.get_context().get_stage()


def find_robots(stage: Stage | None, patterns: str | Sequence[str]) -> list[str]:
    """Paths of the articulation roots on `stage`, if any, that the patterns match; errors as of `match_roots`."""
    roots, unloaded = ([], []) if stage is None else (articulation_roots(stage), unloaded_payloads(stage))
    return [roots[hit] for hit in match_roots(patterns, roots, unloaded)]


def on_stage_change(callback: Callable[[], None]) -> list[object]:
    """Call `callback()` once for each stage that goes, before others, until the list returned is dropped.

    Objects made while another stage opens belong to that one, whatever the order of listeners.
    """
    context, kinds = omni.usd.get_context(), omni.usd.StageEventType
    is_closed = context.get_stage() is None

    def change(opened: bool) -> None:
        nonlocal is_closed
        was_closed, is_closed = is_closed, not opened
        if not (opened and was_closed):
            callback()

    changes = {int(kinds.OPENED): True, int(kinds.CLOSED): False}

    def pop(event: Any) -> None:
        if int(event.type) in changes:
            change(changes[int(event.type)])

    try:
        return [
            on_event(context.stage_event_name(kinds.OPENED), lambda _event: change(True), order=BEFORE_OTHERS),
            on_event(context.stage_event_name(kinds.CLOSED), lambda _event: change(False), order=BEFORE_OTHERS),
        ]
    except ModuleNotFoundError:
        # before Kit 107
        return [context.get_stage_event_stream().create_subscription_to_pop(pop, BEFORE_OTHERS)]


def on_event(name: str, callback: Callable[[object], None], *, order: int = 0) -> object:
    """Call `callback(event)` at each event of that name, until what is returned is dropped; from Kit 107 on."""
    from carb.eventdispatcher import get_eventdispatcher  # pyright: ignore[reportMissingImports]

    return get_eventdispatcher().observe_event(
        observer_name="isaacsim.core.experimental.actuators", event_name=name, on_event=callback, order=order
    )


def on_timeline(kind: SupportsInt, callback: Callable[[object], None], *, order: int = 0) -> object:
    """Call `callback(event)` at each event of the timeline that is of the kind, until what is returned is dropped."""
    stream = omni.timeline.get_timeline_interface().get_timeline_event_stream()
    return stream.create_subscription_to_pop_by_type(int(kind), callback, order)
