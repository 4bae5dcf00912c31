"""Changes of a model of the user's, made in place and undone."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import warp as wp


class Changes:
    """Original values of Warp arrays on any device, and further actions that restore a model.

    Both are restored when `give_back` is called, and when the owner is collected. Arrays are kept alive until then, as
    the collector frees objects of a reference cycle in any order.

    Args:
        owner: The object that makes the changes.
    """

    def __init__(self, owner: object) -> None:
        self._returns: list[Callable[[], object]] = []
        self.give_back = weakref.finalize(owner, _give_back, self._returns)
        """Undo all changes, the last one first; idempotent."""
        # no model is used after the interpreter's exit
        self.give_back.atexit = False

    def set(self, array: wp.array, places: Any, values: object) -> None:
        """Set some numbers; `places` is an index of NumPy."""
        self.finally_do(_put, array, places, array.numpy()[places].copy())
        _put(array, places, values)

    def replace(self, holder: object, name: str, value: object) -> None:
        """Set an attribute."""
        # the holder may refer to the owner
        self.finally_do(_set_attribute, weakref.ref(holder), name, getattr(holder, name))
        setattr(holder, name, value)

    def finally_do(self, what: Callable[..., object], *arguments: object) -> None:
        """Register a call for `give_back`; it must not refer to the owner."""
        self._returns.append(functools.partial(what, *arguments))


def _give_back(returns: list[Callable[[], object]]) -> None:
    while returns:
        returns.pop()()


def _set_attribute(holder: weakref.ref[object], name: str, value: object) -> None:
    if (there := holder()) is not None:
        setattr(there, name, value)


def _put(array: wp.array, places: Any, values: object) -> None:
    numbers = array.numpy()
    numbers[places] = values
    array.assign(numbers)
