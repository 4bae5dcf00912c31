"""Command delay in physics steps.

    command acting at step k = command set at step max(k − d, 0)     d  delay_steps, k counted from the last reset

Delayed are position target, velocity target and feedforward; measurements never are. Edges: d = 0 is no delay; until d
steps have passed, the oldest command since the reset acts.

The first command after a reset fills every row of the ring of a plan.
Source: NewtonActuatorDelayAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 Delay.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import warp as wp

from ..specs.configs import MAX_DELAY_STEPS, DelayConfig
from .contract.base import Component, repeated, require_given, require_mask
from .contract.law import value_or_zero

wp.set_module_options({"enable_backward": False})


@wp.func
def ring_row(newest: int, lag: int, depth: int) -> int:
    """Return the ring row that was written `lag` steps before row `newest`; `depth` bounds the lag."""
    return (newest - wp.clamp(lag, 0, depth - 1) + depth) % depth


@wp.kernel
def _read_kernel(
    # Params:
    delay_steps: wp.array[int],
    depth: int,
    # In:
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    feedforward: wp.array[float],
    position_target_indices: wp.array[wp.uint32],
    velocity_target_indices: wp.array[wp.uint32],
    # State in:
    buffer_pos: wp.array2d[float],
    buffer_vel: wp.array2d[float],
    buffer_act: wp.array2d[float],
    num_pushes: wp.array[int],
    write_idx: wp.array[int],
    # Out:
    delayed_pos: wp.array[float],
    delayed_vel: wp.array[float],
    delayed_act: wp.array[float],
):
    slot = wp.tid()
    lag = wp.min(delay_steps[slot], num_pushes[slot])
    if lag <= 0:
        # no delay, or no earlier command: the command of this step acts
        delayed_pos[slot] = position_targets[position_target_indices[slot]]
        delayed_vel[slot] = velocity_targets[velocity_target_indices[slot]]
        delayed_act[slot] = value_or_zero(feedforward, int(velocity_target_indices[slot]))
    else:
        # the last row written holds the command of one step ago
        row = ring_row(write_idx[0], lag - 1, depth)
        delayed_pos[slot] = buffer_pos[row, slot]
        delayed_vel[slot] = buffer_vel[row, slot]
        delayed_act[slot] = buffer_act[row, slot]


@wp.kernel
def _push_kernel(
    # Params:
    depth: int,
    # In:
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    feedforward: wp.array[float],
    position_target_indices: wp.array[wp.uint32],
    velocity_target_indices: wp.array[wp.uint32],
    # State in/out:
    buffer_pos: wp.array2d[float],
    buffer_vel: wp.array2d[float],
    buffer_act: wp.array2d[float],
    num_pushes: wp.array[int],
    write_idx: wp.array[int],
):
    slot = wp.tid()
    row = (write_idx[0] + 1) % depth
    buffer_pos[row, slot] = position_targets[position_target_indices[slot]]
    buffer_vel[row, slot] = velocity_targets[velocity_target_indices[slot]]
    buffer_act[row, slot] = value_or_zero(feedforward, int(velocity_target_indices[slot]))
    num_pushes[slot] = wp.min(num_pushes[slot] + 1, depth)


@wp.kernel
def _advance_kernel(depth: int, write_idx: wp.array[int]):
    write_idx[0] = (write_idx[0] + 1) % depth


@wp.kernel
def _reset_kernel(
    mask: wp.array[bool],
    buffer_pos: wp.array2d[float],
    buffer_vel: wp.array2d[float],
    buffer_act: wp.array2d[float],
    num_pushes: wp.array[int],
):
    row, slot = wp.tid()
    if mask[slot]:
        buffer_pos[row, slot] = 0.0
        buffer_vel[row, slot] = 0.0
        buffer_act[row, slot] = 0.0
        num_pushes[slot] = 0


class Delay(Component):
    """Command delay of `N` actuators.

    Args:
        delay_steps: Delay in physics steps, int32, shape `(N,)`; 0 means none.
        max_delay: Largest delay that `delay_steps` may hold.

    Raises:
        ValueError: `max_delay` is no integer from 0 to 4096, or a delay on the CPU is negative or larger than it.
    """

    KIND: ClassVar[str] = "delay"
    CONFIG = DelayConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("delay_steps",)
    _requires_grad = False

    @dataclass
    class State(Component.State):
        """Commands of the last steps, `(depth, N)`; number of commands per actuator, `(N,)`; the row written last."""

        buffer_pos: wp.array
        buffer_vel: wp.array
        buffer_act: wp.array
        num_pushes: wp.array
        write_idx: wp.array

        def reset(self, mask: wp.array | None = None) -> None:
            """Clear the commands of actuators in `mask`, bool `(N,)`, or all; ValueError for another type or shape."""
            buffers = [self.buffer_pos, self.buffer_vel, self.buffer_act]
            if mask is None:
                for array in (*buffers, self.num_pushes):
                    array.zero_()
                self.write_idx.fill_(len(self.buffer_pos) - 1)
                return
            require_mask(mask, len(self.num_pushes), self.num_pushes.device)
            outputs = [*buffers, self.num_pushes]
            device, shape = self.num_pushes.device, self.buffer_pos.shape
            # gradients need no record of the reset: they read the number of commands
            wp.launch(_reset_kernel, shape, [mask], outputs, device=device, record_tape=False)

    def __init__(self, delay_steps: wp.array, max_delay: int) -> None:
        if isinstance(max_delay, bool) or not isinstance(max_delay, int | np.integer):
            raise ValueError(f"max_delay = {max_delay!r}: must be an integer. Give the largest delay in physics steps.")
        if not 0 <= max_delay <= MAX_DELAY_STEPS:
            raise ValueError(
                f"max_delay = {max_delay}: must be >= 0 and <= {MAX_DELAY_STEPS}. Give the largest delay in physics "
                "steps."
            )
        self.delay_steps, self.max_delay = delay_steps, int(max_delay)
        require_given(self, "delay_steps")
        # arrays on a device are not read, which would synchronize
        if getattr(getattr(delay_steps, "device", None), "is_cpu", False):
            steps = delay_steps.numpy()
            if (wrong := steps[(steps < 0) | (steps > max_delay)]).size:
                raise ValueError(
                    f"delay_steps = {wrong.flat[0]}: must be >= 0 and <= max_delay = {max_delay}. Correct the array, "
                    "or give a larger max_delay."
                )
        self._delayed: list[wp.array] = []

    @property
    def buf_depth(self) -> int:
        """Number of steps whose commands are stored."""
        return max(self.max_delay, 1)

    def is_stateful(self) -> bool:
        """Return True: a delay has a state."""
        return True

    @classmethod
    def from_config(cls, config: DelayConfig, num_actuators: int, device: wp.DeviceLike) -> Self:
        """Return the component of a config, its delay repeated for `num_actuators` actuators."""
        steps = repeated(config.delay_steps, num_actuators, device, wp.int32)
        return cls(steps, max_delay=int(np.max(config.delay_steps)))

    def finalize(self, device: wp.DeviceLike, num_actuators: int, requires_grad: bool = False) -> None:
        """Allocate the delayed commands; with `requires_grad` the arrays of new states have gradients."""
        self._requires_grad = requires_grad
        self._delayed = [wp.zeros(num_actuators, dtype=wp.float32, device=device) for _ in range(3)]

    def state(self, num_actuators: int, device: wp.DeviceLike) -> State:
        """Return a fresh state."""
        depth = self.buf_depth
        shape, grad = (depth, num_actuators), self._requires_grad
        buffers = [wp.zeros(shape, dtype=wp.float32, device=device, requires_grad=grad) for _ in range(3)]
        pushes = wp.zeros(num_actuators, dtype=wp.int32, device=device)
        return self.State(*buffers, pushes, wp.full(1, depth - 1, dtype=wp.int32, device=device))

    def get_delayed_targets(
        self,
        target_pos: wp.array,
        target_vel: wp.array,
        feedforward: wp.array | None,
        pos_indices: wp.array,
        vel_indices: wp.array,
        current_state: State,
    ) -> tuple[wp.array, wp.array, wp.array]:
        """Return the delayed position targets, velocity targets and feedforward, each of shape `(N,)`."""
        wp.launch(
            _read_kernel,
            dim=len(self.delay_steps),
            inputs=[self.delay_steps, len(current_state.buffer_pos), target_pos, target_vel, feedforward]
            + [pos_indices, vel_indices, *vars(current_state).values()],
            outputs=self._delayed,
            device=self.delay_steps.device,
        )
        position_targets, velocity_targets, forward = self._delayed
        return position_targets, velocity_targets, forward

    def update_state(
        self,
        target_pos: wp.array,
        target_vel: wp.array,
        feedforward: wp.array | None,
        pos_indices: wp.array,
        vel_indices: wp.array,
        current_state: State,
        next_state: State | None,
    ) -> None:
        """Write `current_state` with the commands of this step into `next_state`, unless it is None."""
        if next_state is None:
            return
        if next_state is not current_state:
            for before, after in zip(vars(current_state).values(), vars(next_state).values(), strict=True):
                wp.copy(after, before)
        device, depth = self.delay_steps.device, len(next_state.buffer_pos)
        commands = [target_pos, target_vel, feedforward, pos_indices, vel_indices]
        state = list(vars(next_state).values())
        wp.launch(_push_kernel, len(self.delay_steps), [depth, *commands], state, device=device)
        wp.launch(_advance_kernel, 1, [depth], [next_state.write_idx], device=device)
