"""Ordered callbacks as Kit keeps them: whoever drops a subscription ends it."""

import contextlib
import itertools
from collections.abc import Callable


class Subscription:
    """Holds one callback registered; dropping the last reference takes it out."""

    def __init__(self, take_out: Callable[[], None]) -> None:
        self._take_out: Callable[[], None] | None = take_out

    def unsubscribe(self) -> None:
        take_out, self._take_out = self._take_out, None
        if take_out is not None:
            take_out()

    def __del__(self) -> None:
        self.unsubscribe()


class CallbackList:
    def __init__(self) -> None:
        # order, serial number, what is called, what was registered
        self.entries: list[tuple[int, int, Callable, Callable]] = []
        self._serial = itertools.count()
        self.is_walked = False
        # how often it was changed while it was walked
        self.changes_while_walked = 0

    def add(self, callback: Callable, order: int = 0, registered: Callable | None = None) -> Subscription:
        entry = (order, next(self._serial), callback, registered or callback)
        self._note_change()
        self.entries.append(entry)
        self.entries.sort(key=self.sort_key)
        return Subscription(lambda: self._remove(entry))

    @staticmethod
    def sort_key(entry: tuple) -> tuple[int, int]:
        return entry[:2]

    def walk(self):
        self.is_walked = True
        try:
            for entry in tuple(self.entries):
                if entry in self.entries:
                    yield entry[2]
        finally:
            self.is_walked = False

    def call(self, *args) -> None:
        for callback in self.walk():
            # of an object that is gone: Kit goes on
            with contextlib.suppress(ReferenceError):
                callback(*args)

    def __len__(self) -> int:
        return len(self.entries)

    def _remove(self, entry: tuple) -> None:
        if entry in self.entries:
            self._note_change()
            self.entries.remove(entry)

    def _note_change(self) -> None:
        self.changes_while_walked += self.is_walked
