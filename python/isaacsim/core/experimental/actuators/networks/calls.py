"""Arrays that an evaluator is called with: looked through once, then known by identity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import warp as wp

from .program import Program

# so many sets of arrays are remembered: states that alternate, a few owners
_KEPT = 16


class Calls:
    """What an evaluator is called with, made into calls without arguments.

    Args:
        program: What is evaluated.
        rows: Number of actuators.
        device: Warp device that arrays must be on.
        bind: Makes a call of `x`, `y`, states in and states out.
    """

    def __init__(
        self,
        program: Program,
        rows: int,
        device: Any,
        bind: Callable[[Any, Any, list[Any], list[Any]], Callable[[], None]],
    ) -> None:
        self._states = program.num_states
        self._device = wp.get_device(device)
        self._shapes = (rows, program.inputs), (rows,), (program.num_layers, rows, program.hidden_size)
        self._bind = bind
        # the arrays are held, so that no other gets their identity
        self._calls: dict[tuple[int, ...], tuple[Callable[[], None], tuple[Any, ...]]] = {}

    def find(self, x: Any, y: Any, state_in: Sequence[Any], state_out: Sequence[Any]) -> Callable[[], None]:
        """Return the call for these arrays.

        Raises:
            ValueError: By name: type, shape, layout or device of an array does not fit.
        """
        key = (id(x), id(y), *map(id, state_in), *map(id, state_out))
        if known := self._calls.get(key):
            return known[0]
        for name, states in (("state_in", state_in), ("state_out", state_out)):
            if len(states) != self._states:
                raise ValueError(f"{name} has {len(states)} arrays: must have {self._states} for this network.")
        of_x, of_y, of_state = self._shapes
        self._check("x", x, of_x)
        self._check("y", y, of_y)
        for name, array in (("y", y), *(("state_out", array) for array in state_out)):
            if isinstance(array, np.ndarray) and not array.flags.writeable:
                raise ValueError(f"{name} must be writeable.")
        for name, states in (("state_in", state_in), ("state_out", state_out)):
            for array in states:
                self._check(name, array, of_state)
        call = self._bind(x, y, list(state_in), list(state_out))
        if len(self._calls) == _KEPT:
            del self._calls[next(iter(self._calls))]
        self._calls[key] = call, (x, y, *state_in, *state_out)
        return call

    def _check(self, name: str, array: Any, shape: tuple[int, ...]) -> None:
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
        # Warp's array and NumPy's both count bytes
        if len(shape) > 1 and shape[-1] > 1 and array.strides[-1] != 4:
            raise ValueError(f"{name} must be contiguous within a row. Copy it first.")
