"""Events inside Kit: callbacks that outlive stages, and errors that never reach the physics loop."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import carb  # pyright: ignore[reportMissingImports]
import omni.usd  # pyright: ignore[reportMissingImports]

from ...usd.articulation import articulation_roots
from ..bus import EventBus, weakly
from ..port import Subscription

_OURS = "isaacsim.core.experimental.actuators"


class KitBus:
    """The physics events of a Kit application, see `PhysicsBus`.

    Callbacks are kept here. Kit holds one pre-step callback for all of them, and only while somebody waits for steps:
    nothing is lost when Kit forgets its callbacks, and nothing of others is taken out. Errors are logged.

    Args:
        is_ready: Whether articulations can be read and written.
        listen: Registers a pre-step callback with Kit and returns what takes it out.
    """

    def __init__(
        self, is_ready: Callable[[], bool], listen: Callable[[Callable[..., None]], Callable[[], None]]
    ) -> None:
        self._events = EventBus()
        self._is_ready, self._listen = is_ready, listen
        self._for_ready: set[_Counted] = set()
        self._for_steps: set[_Counted] = set()
        self._begin: Callable[[], None] | None = None
        self._unlisten: Callable[[], None] | None = None
        self._in_step = False

    @property
    def ready(self) -> bool:
        """Whether physics runs, so that articulations can be read and written."""
        return self._is_ready()

    def on_ready(self, callback: Callable[[], None], *, order: int = 0) -> Subscription:
        """Call `callback()` whenever physics becomes ready."""
        return _Counted(self, self._for_ready, self._events.on_ready(callback, order=order))

    def on_pre_step(self, callback: Callable[[float, Any], None], *, order: int = 0) -> Subscription:
        """Call `callback(dt, context)` before every physics step."""
        return _Counted(self, self._for_steps, self._events.on_pre_step(callback, order=order))

    def on_stop(self, callback: Callable[[], None], *, order: int = 0) -> Subscription:
        """Call `callback()` when physics has stopped."""
        return self._events.on_stop(callback, order=order)

    def emit_ready(self) -> None:
        """Physics is ready: tell everybody."""
        log_errors(self._events.emit_ready)
        self.update()

    def emit_stop(self) -> None:
        """Physics has stopped: tell everybody."""
        self._begin = None
        log_errors(self._events.emit_stop)
        self.update()

    def begin_with_next_step(self, begin: Callable[[], None]) -> None:
        """Call `begin()` before the next physics step, for a simulator that does not tell when it is ready."""
        self._begin = begin
        self.update()

    def update(self) -> None:
        """Listen to physics steps exactly while somebody waits for one."""
        # Kit's own list must not change while it is walked; the next change from outside catches up
        if self._in_step:
            return
        wanted = self._for_steps if self.ready else self._begin is not None and self._for_ready | self._for_steps
        if wanted and self._unlisten is None:
            self._unlisten = self._listen(weakly(self._on_step))
        elif not wanted and self._unlisten is not None:
            unlisten, self._unlisten = self._unlisten, None
            unlisten()

    def _on_step(self, dt: float, context: Any = None) -> None:
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
    """A subscription that tells the bus when it comes and goes."""

    def __init__(self, bus: KitBus, all_such: set[_Counted], inner: Subscription) -> None:
        self._bus, self._all_such, self._inner = bus, all_such, inner
        all_such.add(self)
        bus.update()

    def close(self) -> None:
        """Take the callback out; calling it again does nothing."""
        self._inner.close()
        self._all_such.discard(self)
        self._bus.update()


def log_errors(call: Callable[..., None], *args: Any) -> None:
    """Make a call; log its error, which Kit would lose or repeat at each step."""
    try:
        call(*args)
    except Exception as error:
        carb.log_error(f"{error}\n{''.join(traceback.format_exception(error))}")


def current_stage() -> Any:
    """The stage that Kit has open, or None."""
    return omni.usd.get_context().get_stage()


def current_roots() -> list[str]:
    """Paths of the articulation roots on the stage that Kit has open."""
    stage = current_stage()
    return [] if stage is None else articulation_roots(stage)


def on_stage_change(callback: Callable[[bool], None], *, order: int = 0) -> list[Any]:
    """Call `callback(opened)` after a stage was opened or closed, until the list returned is dropped.

    `order` counts from Kit 107 on.
    """
    context, kinds = omni.usd.get_context(), omni.usd.StageEventType
    opened = {int(kinds.OPENED): True, int(kinds.CLOSED): False}
    try:
        from carb.eventdispatcher import get_eventdispatcher  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:

        def pop(event: Any) -> None:
            if int(event.type) in opened:
                callback(opened[int(event.type)])

        return [context.get_stage_event_stream().create_subscription_to_pop(pop)]
    return [
        get_eventdispatcher().observe_event(
            observer_name=_OURS,
            event_name=context.stage_event_name(kind),
            on_event=lambda _event, opened=opened[int(kind)]: callback(opened),
            order=order,
        )
        for kind in (kinds.OPENED, kinds.CLOSED)
    ]
