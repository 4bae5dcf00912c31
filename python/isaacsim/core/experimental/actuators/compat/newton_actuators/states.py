"""States of newton-actuators, as a plan takes them: their attributes are the arrays of our states."""

from __future__ import annotations

import importlib.util
from typing import Any, ClassVar, Protocol

import warp as wp

from ...base.errors import NotCopied
from ...laws.controller_neural_lstm import ControllerNeuralLSTM
from ...laws.controller_neural_mlp import ControllerNeuralMLP
from ...laws.delay import Delay


class Tensor(Protocol):
    """A tensor of Torch."""

    def contiguous(self) -> Tensor:
        """Return a contiguous tensor."""
        ...


class _Array:
    """An array of one of our states; of a network a tensor of Torch on the same memory where Torch is installed."""

    def __init__(self, part: str, *, is_tensor: bool = False) -> None:
        self._part, self._is_tensor = part, is_tensor

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, state: object, owner: type | None = None) -> Any:
        if state is None:
            return self
        array = vars(getattr(state, self._part))[self._name]
        return wp.to_torch(array) if self._is_tensor and importlib.util.find_spec("torch") else array

    def __set__(self, state: object, value: wp.array | Tensor) -> None:
        if self._is_tensor:
            wp.copy(vars(getattr(state, self._part))[self._name], _as_array(value))
        else:
            setattr(getattr(state, self._part), self._name, value)


class _HostNumber:
    """A number of a `DelayState` that Python reads and writes, and the step too."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, state: object, owner: type | None = None) -> Any:
        return self if state is None else getattr(state, self._name)

    def __set__(self, state: DelayState, value: int) -> None:
        setattr(state, self._name, value)
        state.to_device()


class _State(NotCopied):
    """The parts that a plan reads; a class has one of them."""

    _INSTEAD = "Take another one of state() and copy the arrays into it."

    delay_state: Any = None
    controller_state: Any = None
    clamping_states: ClassVar[tuple[()]] = ()

    def reset(self) -> None:
        """Set all arrays to zero."""
        self.controller_state.reset()


class PIDState(_State):
    """The integral [rad·s or m·s], shape `(N,)`."""

    def __init__(self, integral: wp.array) -> None:
        self.integral = integral
        self.controller_state = self

    def reset(self) -> None:
        """Set the integral to zero."""
        self.integral.zero_()


class MLPState(_State):
    """Position errors [rad or m] and velocities [rad/s or m/s] of the last steps, newest first, `(H, N)`."""

    pos_error_history = _Array("controller_state", is_tensor=True)
    vel_history = _Array("controller_state", is_tensor=True)

    def __init__(self, pos_error_history: wp.array | Tensor, vel_history: wp.array | Tensor) -> None:
        self.controller_state = ControllerNeuralMLP.State(_as_array(pos_error_history), _as_array(vel_history))


class LSTMState(_State):
    """Hidden and cell state of each layer, `(layers, N, hidden size)`."""

    hidden = _Array("controller_state", is_tensor=True)
    cell = _Array("controller_state", is_tensor=True)

    def __init__(self, hidden: wp.array | Tensor, cell: wp.array | Tensor) -> None:
        self.controller_state = ControllerNeuralLSTM.State(_as_array(hidden), _as_array(cell))


class DelayState(_State):
    """Commands of the last steps, `(delay, N)`, the row written last, and whether all were written.

    The last two are numbers of the host, as in newton-actuators.
    """

    buffer_pos = _Array("delay_state")
    buffer_vel = _Array("delay_state")
    buffer_act = _Array("delay_state")
    write_idx = _HostNumber()
    is_filled = _HostNumber()

    def __init__(
        self,
        buffer_pos: wp.array,
        buffer_vel: wp.array,
        buffer_act: wp.array,
        write_idx: int = 0,
        is_filled: bool = False,
    ) -> None:
        self._depth, count = buffer_pos.shape
        numbers = (wp.zeros(size, dtype=wp.int32, device=buffer_pos.device) for size in (count, 1))
        self.delay_state = Delay.State(buffer_pos, buffer_vel, buffer_act, *numbers)
        self._write_idx, self._is_filled = write_idx, is_filled
        self.to_device()

    def reset(self) -> None:
        """Empty the delay."""
        self.delay_state.reset()
        self._write_idx, self._is_filled = self._depth - 1, False

    def follow(self, before: DelayState) -> None:
        """Update the numbers of the host after a step, which has written the arrays."""
        self._write_idx = (before._write_idx + 1) % self._depth
        self._is_filled = before._is_filled or self._write_idx == self._depth - 1

    def to_device(self) -> None:
        """Write the numbers of the host where the step reads them."""
        self.delay_state.write_idx.fill_(self._write_idx)
        pushed = self._depth if self._is_filled else (self._write_idx + 1) % self._depth
        self.delay_state.num_pushes.fill_(pushed)


def _as_array(values: wp.array | Tensor) -> wp.array:
    """Return a Warp array, or one on the memory of a tensor of Torch."""
    return values if isinstance(values, wp.array) else wp.from_torch(values.contiguous(), dtype=wp.float32)
