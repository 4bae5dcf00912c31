"""What is changed of somebody's model, in place, and given back."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import warp as wp


class Changes:
    """What stood before in Warp arrays on any device, and what else is to be done to give them back.

    That is done when `give_back` is called, and when the owner is collected. Arrays are kept alive until
    then: of things that refer to each other in a circle the collector frees any first, and what is freed is others'.

    Args:
        owner: Who changes.
    """

    def __init__(self, owner: object) -> None:
        self._returns: list[Callable[[], object]] = []
        self.give_back = weakref.finalize(owner, _give_back, self._returns)
        """Put back what stood there, the last change first; calling it again does nothing."""
        # nobody looks at a model when the interpreter goes down
        self.give_back.atexit = False

    def set(self, array: wp.array, places: Any, values: Any) -> None:
        """Set some numbers; `places` are as NumPy indexes them."""
        self.finally_do(_put, array, places, array.numpy()[places].copy())
        _put(array, places, values)

    def replace(self, holder: Any, name: str, value: Any) -> None:
        """Set an attribute."""
        # it may refer to the owner
        self.finally_do(_set_attribute, weakref.ref(holder), name, getattr(holder, name))
        setattr(holder, name, value)

    def finally_do(self, what: Callable[..., object], *arguments: Any) -> None:
        """Call something when the rest is given back; it must not refer to the owner."""
        self._returns.append(functools.partial(what, *arguments))


def _give_back(returns: list[Callable[[], object]]) -> None:
    while returns:
        returns.pop()()


def _set_attribute(holder: weakref.ref[Any], name: str, value: Any) -> None:
    if (there := holder()) is not None:
        setattr(there, name, value)


def _put(array: wp.array, places: Any, values: Any) -> None:
    numbers = array.numpy()
    numbers[places] = values
    array.assign(numbers)
