"""Who calls: the stack level at which a warning points to the user's code, and callbacks that keep nothing alive."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from typing import Any

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def level_outside() -> int:
    """Return the `stacklevel` with which a warning of the calling function points at the first line outside."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_HERE):
        frame, level = frame.f_back, level + 1
    return level


def weakly(method: Any, gone: Callable[[], None] | None = None) -> Callable[..., None]:
    """A function that calls a bound method while its object lives, and `gone` afterwards; it keeps nothing alive."""
    # making a bound method for each call costs more than the call
    reference, function = weakref.ref(method.__self__), method.__func__

    def call(*args: object) -> None:
        if (living := reference()) is not None:
            function(living, *args)
        elif gone is not None:
            gone()

    return call
