"""Physics events: the bus of the hosts in this package, and weak subscriptions to any bus."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence

from ..base.callers import weakly
from ..base.errors import NotCopied
from .port import PhysicsBus, Subscription

# the articulation's own handlers run at order 0
_AFTER_ARTICULATION = 1


class _Event:
    """Listeners of one kind of event, in the order of their calls."""

    def __init__(self) -> None:
        self._take(())

    def add(self, entry: _Subscription) -> None:
        """Call this one too."""
        self._take(tuple(sorted((*self.entries, entry), key=lambda entry: entry.sort_key)))

    def remove(self, entry: _Subscription) -> None:
        """Call this one no more."""
        self._take(tuple(other for other in self.entries if other is not entry))

    def _take(self, entries: tuple[_Subscription, ...]) -> None:
        # replaced on every change, so that callbacks may register and unregister while they are called
        self.entries = entries
        # one alone is called without a loop
        self.call: Callable[..., None] = entries[0].call if len(entries) == 1 else self.emit
        """Call all listeners; see `emit`."""

    def emit(self, *args: object) -> None:
        """Call all listeners; the first error is raised at the end, with notes on the others."""
        first: Exception | None = None
        for entry in self.entries:
            try:
                entry.call(*args)
            except Exception as error:
                if first is None:
                    first = error
                elif error is not first:
                    first.add_note(f"Another callback of this event failed: {error!r}")
        if first is not None:
            try:
                raise first
            finally:
                # an error that this frame held would hold this frame, and with it who was called
                del first


class _Subscription(NotCopied):
    """One callback of one event; bound methods are held weakly."""

    _INSTEAD = "Subscribe again."

    def __init__(self, event: _Event, callback: Callable[..., None], order: int, serial: int) -> None:
        self._event = event
        self.sort_key = (order, serial)
        self.call = weakly(callback, self.close) if inspect.ismethod(callback) else callback
        """The callback; one that does nothing once this is closed."""
        event.add(self)

    def close(self) -> None:
        """Take the callback out; calling it again does nothing."""
        self.call = _nothing
        self._event.remove(self)


class EventBus(NotCopied):
    """Ready, pre-step, reset and stop events, see `PhysicsBus`."""

    _INSTEAD = "Hand the bus itself on."

    def __init__(self) -> None:
        self.ready = False
        self._serial = itertools.count()
        self._ready, self._reset, self._stop = _Event(), _Event(), _Event()
        self.pre_step = _Event()
        """Listeners of physics steps; a simulator may call `pre_step.call(dt, context)` itself."""

    def on_ready(self, callback: Callable[[], None], *, order: int = 0) -> _Subscription:
        """Call `callback()` whenever physics becomes ready."""
        return _Subscription(self._ready, callback, order, next(self._serial))

    def on_pre_step(self, callback: Callable[[float, object], None], *, order: int = 0) -> _Subscription:
        """Call `callback(dt, context)` before every physics step."""
        return _Subscription(self.pre_step, callback, order, next(self._serial))

    def on_reset(self, callback: Callable[[Sequence[int] | None], None], *, order: int = 0) -> _Subscription:
        """Call `callback(env_ids)` after environments were reset; None means all."""
        return _Subscription(self._reset, callback, order, next(self._serial))

    def on_stop(self, callback: Callable[[], None], *, order: int = 0) -> _Subscription:
        """Call `callback()` when physics has stopped."""
        return _Subscription(self._stop, callback, order, next(self._serial))

    @property
    def has_pre_step(self) -> bool:
        """True if there are listeners of physics steps."""
        return bool(self.pre_step.entries)

    @property
    def num_callbacks(self) -> int:
        """Number of registered callbacks of all kinds."""
        return sum(len(event.entries) for event in (self._ready, self.pre_step, self._reset, self._stop))

    def clear(self) -> None:
        """Drop all callbacks; their subscriptions may still be closed."""
        for event in (self._ready, self.pre_step, self._reset, self._stop):
            for entry in event.entries:
                entry.close()

    def emit_ready(self) -> None:
        """Announce that physics is ready."""
        self.ready = True
        self._ready.emit()

    def start(self, stop: Callable[[], None]) -> None:
        """Announce that physics is ready; where a callback fails, call `stop` and raise the error."""
        try:
            self.emit_ready()
        except BaseException:
            stop()
            raise

    def emit_pre_step(self, dt: float, context: object = None) -> None:
        """A physics step of `dt` seconds follows."""
        self.pre_step.emit(dt, context)

    def emit_reset(self, env_ids: Sequence[int] | None) -> None:
        """Environments were reset."""
        self._reset.emit(env_ids)

    def emit_stop(self) -> None:
        """Physics has stopped."""
        self.ready = False
        self._stop.emit()


def subscribe(
    bus: PhysicsBus,
    *,
    ready: Callable[[], None],
    stop: Callable[[], None],
    reset: Callable[[Sequence[int] | None], None],
) -> Iterator[Subscription]:
    """Register methods one by one for the events in a simulation's life, the stop first; resets need not be there."""
    yield bus.on_stop(weakly(stop))
    yield bus.on_ready(weakly(ready), order=_AFTER_ARTICULATION)
    if (on_reset := getattr(bus, "on_reset", None)) is not None:
        yield on_reset(weakly(reset), order=_AFTER_ARTICULATION)


def _nothing(*_args: object) -> None:
    """Callback of a closed subscription."""
