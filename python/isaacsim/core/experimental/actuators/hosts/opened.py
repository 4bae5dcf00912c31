"""The hosts and stages that are open, which `current` chooses from."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

# innermost last; a simulation that nobody holds any more drops out by itself
opened: list[Callable[[], Any]] = []


def enter(host: Any) -> None:
    """Make `host` the current one until `leave`; it is held weakly."""
    leave(host)
    opened.append(weakref.ref(host))


def leave(host: Any) -> None:
    """Take `host` out, wherever it stands; calling it again does nothing."""
    opened[:] = [entry for entry in opened if entry() not in (None, host)]
