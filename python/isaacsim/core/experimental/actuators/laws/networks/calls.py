"""Arrays that an evaluator is called with: checked at the first call, then recognized by identity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import warp as wp

Array = np.ndarray | wp.array
Device = wp.Device | str | None

# sets of arrays that are kept: a few owners with alternating states
_KEPT = 16


class Sizes(Protocol):
    """Widths of a network's input and state, and number of state arrays; see `Program`."""

    inputs: int
    num_layers: int
    hidden_size: int

    @property
    def num_states(self) -> int: ...  # noqa: D102


class Calls:
    """Calls of an evaluator, bound to the arrays that it is called with.

    `bind` returns a call without arguments for `x`, `y`, states in and states out.
    """

    def __init__(
        self,
        sizes: Sizes,
        rows: int,
        device: Device,
        bind: Callable[[Array, Array, list[Array], list[Array]], Callable[[], None]],
    ) -> None:
        self._states = sizes.num_states
        self._device = wp.get_device(device)
        self._shapes = (rows, sizes.inputs), (rows,), (sizes.num_layers, rows, sizes.hidden_size)
        self._bind = bind
        # holds the arrays, so that no other array gets the identity of one
        self._calls: dict[tuple[int, ...], tuple[Callable[[], None], tuple[Array, ...]]] = {}

    def find(self, x: Array, y: Array, state_in: Sequence[Array], state_out: Sequence[Array]) -> Callable[[], None]:
        """Return the call for these arrays."""
        key = (id(x), id(y), *map(id, state_in), *map(id, state_out))
        if known := self._calls.get(key):
            return known[0]
        self._check_all(x, y, state_in, state_out)
        call = self._bind(x, y, list(state_in), list(state_out))
        if len(self._calls) == _KEPT:
            del self._calls[next(iter(self._calls))]
        self._calls[key] = call, (x, y, *state_in, *state_out)
        return call

    def _check_all(self, x: Array, y: Array, state_in: Sequence[Array], state_out: Sequence[Array]) -> None:
        both = (("state_in", state_in), ("state_out", state_out))
        for name, states in both:
            if len(states) != self._states:
                raise ValueError(f"{name} has {len(states)} arrays: must have {self._states} for this network.")
        of_x, of_y, of_state = self._shapes
        self._check("x", x, of_x)
        self._check("y", y, of_y)
        for name, array in (("y", y), *(("state_out", array) for array in state_out)):
            if isinstance(array, np.ndarray) and not array.flags.writeable:
                raise ValueError(f"{name} must be writeable.")
        for name, states in both:
            for array in states:
                self._check(name, array, of_state)

    def _check(self, name: str, array: object, shape: tuple[int, ...]) -> None:
        if isinstance(array, np.ndarray):
            kind, on = array.dtype == np.float32, wp.get_device("cpu")
        elif isinstance(array, wp.array):
            kind, on = array.dtype == wp.float32, array.device
        else:
            raise ValueError(f"{name} is {type(array).__name__}: must be a NumPy or Warp array.")
        if not kind or tuple(array.shape) != shape:
            raise ValueError(f"{name} is {array.dtype} {tuple(array.shape)}: must be float32 of shape {shape}.")
        if on != self._device:
            raise ValueError(f"{name} is on {on}: must be on {self._device}.")
        # both types of arrays count strides in bytes
        if len(shape) > 1 and shape[-1] > 1 and array.strides[-1] != 4:
            raise ValueError(f"{name} must be contiguous within a row. Copy it first.")
