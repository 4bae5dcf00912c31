"""Physics events: the bus of the hosts written here, and how to listen to anybody's without being kept alive by it."""

from __future__ import annotations

import inspect
import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import NotCopied
from .port import PhysicsBus, Subscription

# the articulation's own handlers run at order 0
_AFTER_ARTICULATION = 1


class _Subscription(NotCopied):
    """One callback in one list; bound methods are held weakly."""

    _INSTEAD = "Subscribe again."

    def __init__(self, entries: list[_Subscription], callback: Callable[..., None], order: int, serial: int) -> None:
        self._entries = entries
        self.sort_key = (order, serial)
        self._get = weakref.WeakMethod(callback) if inspect.ismethod(callback) else lambda: callback
        entries.append(self)
        entries.sort(key=lambda entry: entry.sort_key)

    def call(self, *args: Any) -> None:
        """Call the callback, or drop it when its object is gone; closed ones are silent at once."""
        if self not in self._entries:
            return
        callback = self._get()
        if callback is None:
            self.close()
        else:
            callback(*args)

    def close(self) -> None:
        """Take the callback out; calling it again does nothing."""
        if self in self._entries:
            self._entries.remove(self)


class EventBus(NotCopied):
    """Ready, pre-step, reset and stop events, see `PhysicsBus`."""

    _INSTEAD = "Hand the bus itself on."

    def __init__(self) -> None:
        self.ready = False
        self._serial = itertools.count()
        self._ready: list[_Subscription] = []
        self._pre_step: list[_Subscription] = []
        self._reset: list[_Subscription] = []
        self._stop: list[_Subscription] = []

    def on_ready(self, callback: Callable[[], None], *, order: int = 0) -> _Subscription:
        """Call `callback()` whenever physics becomes ready."""
        return _Subscription(self._ready, callback, order, next(self._serial))

    def on_pre_step(self, callback: Callable[[float, Any], None], *, order: int = 0) -> _Subscription:
        """Call `callback(dt, context)` before every physics step."""
        return _Subscription(self._pre_step, callback, order, next(self._serial))

    def on_reset(self, callback: Callable[[Sequence[int] | None], None], *, order: int = 0) -> _Subscription:
        """Call `callback(env_ids)` after environments were reset; None means all."""
        return _Subscription(self._reset, callback, order, next(self._serial))

    def on_stop(self, callback: Callable[[], None], *, order: int = 0) -> _Subscription:
        """Call `callback()` when physics has stopped."""
        return _Subscription(self._stop, callback, order, next(self._serial))

    @property
    def has_pre_step(self) -> bool:
        """Whether anybody is to be told of physics steps."""
        return bool(self._pre_step)

    @property
    def num_callbacks(self) -> int:
        """Number of registered callbacks of all kinds."""
        return len(self._ready) + len(self._pre_step) + len(self._reset) + len(self._stop)

    def clear(self) -> None:
        """Forget all callbacks; their subscriptions may still be closed."""
        for entries in (self._ready, self._pre_step, self._reset, self._stop):
            entries.clear()

    def emit_ready(self) -> None:
        """Physics is ready: tell everybody."""
        self.ready = True
        _emit(self._ready)

    def emit_pre_step(self, dt: float, context: Any = None) -> None:
        """A physics step of `dt` seconds follows."""
        _emit(self._pre_step, dt, context)

    def emit_reset(self, env_ids: Sequence[int] | None) -> None:
        """Environments were reset."""
        _emit(self._reset, env_ids)

    def emit_stop(self) -> None:
        """Physics has stopped."""
        self.ready = False
        _emit(self._stop)


def _emit(entries: list[_Subscription], *args: Any) -> None:
    """Tell everybody, whatever the others do; the first error is raised at the end and mentions the rest."""
    first: Exception | None = None
    # a copy: callbacks may register and unregister
    for entry in tuple(entries):
        try:
            entry.call(*args)
        except Exception as error:
            if first is None:
                first = error
            elif error is not first:
                first.add_note(f"Another callback of this event failed: {error!r}")
    try:
        if first is not None:
            raise first
    finally:
        # an error that this frame held would hold this frame, and with it who was called
        del first


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


def weakly(method: Callable[..., None]) -> Callable[..., None]:
    """Return a function that calls a bound method while its object lives, and does not keep it alive."""
    reference = weakref.WeakMethod(method)

    def call(*args: Any) -> None:
        if (living := reference()) is not None:
            living(*args)

    return call
