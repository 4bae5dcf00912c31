"""Ctrl+C: the steps of a program end early with their results, and the program without a traceback."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Interruptible(Generic[_T]):
    """An iterable that Ctrl+C ends after the current item, so that there are results; a second one ends the program."""

    def __init__(self, items: Iterable[_T], on_interrupt: Callable[[], None] | None = None) -> None:
        self.interrupted = False
        self._items, self._on_interrupt = items, on_interrupt

    def __iter__(self) -> Iterator[_T]:
        before = signal.getsignal(signal.SIGINT)

        def end(*_: object) -> None:
            self.interrupted = True
            if self._on_interrupt is not None:
                self._on_interrupt()
            signal.signal(signal.SIGINT, before)

        # other threads get no signals
        if is_main := threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, end)
        try:
            for item in self._items:
                yield item
                if self.interrupted:
                    return
        finally:
            if is_main:
                signal.signal(signal.SIGINT, before)


def until_interrupted(items: Iterable[_T]) -> Iterator[_T]:
    """Iterate until Ctrl+C, which a line on standard error reports."""
    yield from (found := Interruptible(items))
    if found.interrupted:
        print("Interrupted: the results are those up to here. A second Ctrl+C ends the program.", file=sys.stderr)


def without_traceback() -> None:
    """Make Ctrl+C end this program with one line on standard error; the exit code remains that of an interrupt."""
    before = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            print("Interrupted.", file=sys.stderr)
        else:
            before(kind, error, trace)

    sys.excepthook = show
