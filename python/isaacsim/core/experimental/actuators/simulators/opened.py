"""The hosts and stages that are open, which `current` chooses from."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

# innermost last; held weakly, so that a dropped simulation disappears
opened: list[Callable[[], Any]] = []


def enter(host: object) -> None:
    """Make `host` the current one until `leave`; it is held weakly."""
    leave(host)
    opened.append(weakref.ref(host))


def leave(host: object) -> None:
    """Remove `host`; calling it again does nothing."""
    opened[:] = [entry for entry in opened if entry() not in (None, host)]
