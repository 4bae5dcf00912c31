"""A feedforward network over the history of position error and velocity.

    e = q* − q,  x = [e(t−i)·pos_scale for i in input_idx ‖ q̇(t−i)·vel_scale for i in input_idx]
    effort = network(x) · effort_scale

`input_idx` counts steps back, 0 is now; `input_order` "vel_pos" puts velocities first. Edges: until i steps have passed
since the reset, what lies before it is 0; with a delay, q* is the delayed target. The velocity is that of the joint,
not an error. Source: newton.actuators 1.8 DriveNeuralMLP, ControllerNeuralMLP of 1.2; Isaac Lab ActuatorNetMLP.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportGeneralTypeIssues=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import warp as wp

from ..networks.checkpoint import Checkpoint
from ..networks.network import Kind
from .neural import ControllerNeural, NetworkState

wp.set_module_options({"enable_backward": False})


@wp.kernel
def _features_kernel(
    positions: wp.array[float],
    velocities: wp.array[float],
    position_targets: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    position_target_indices: wp.array[wp.uint32],
    error_history: wp.array2d[float],
    velocity_history: wp.array2d[float],
    input_idx: wp.array[int],
    position_scale: float,
    velocity_scale: float,
    first_position: int,
    first_velocity: int,
    errors: wp.array[float],
    velocities_now: wp.array[float],
    inputs: wp.array2d[float],
):
    n = wp.tid()
    error = position_targets[position_target_indices[n]] - positions[position_indices[n]]
    velocity = velocities[velocity_indices[n]]
    errors[n] = error
    velocities_now[n] = velocity
    for k in range(input_idx.shape[0]):
        back = input_idx[k]
        error_then = error
        velocity_then = velocity
        if back > 0:
            error_then = error_history[back - 1, n]
            velocity_then = velocity_history[back - 1, n]
        inputs[n, first_position + k] = error_then * position_scale
        inputs[n, first_velocity + k] = velocity_then * velocity_scale


@wp.kernel
def _roll_kernel(before: wp.array2d[float], newest: wp.array[float], after: wp.array2d[float]):
    n = wp.tid()
    # from the oldest on, so that both may be one array
    for k in range(after.shape[0] - 1):
        row = after.shape[0] - 1 - k
        after[row, n] = before[row - 1, n]
    after[0, n] = newest[n]


class ControllerNeuralMLP(ControllerNeural):
    """Feedforward network with history for `N` actuators.

    Metadata of the file: `input_order` "pos_vel" (default) or "vel_pos"; `input_idx`, steps back of each feature,
    default [0]; `pos_scale`, `vel_scale` and `effort_scale`, formerly `torque_scale`, default 1; `sample_dt` [s], the
    physics step it was trained for, if any.

    Args:
        model_path: Path of the file, or a checkpoint that was read already.
        trusted: Whether Torch may run a file that is not recognised; default False.

    Raises:
        ValueError: The file cannot be read, holds no such network, or its metadata cannot be used.
        OSError: There is no such file.
    """

    KIND: ClassVar[Kind] = "mlp"

    @dataclass(eq=False)
    class State(NetworkState):
        """Position errors [rad or m] and velocities [rad/s or m/s] of the last steps, newest first, `(H, N)`."""

        pos_error_history: wp.array
        vel_history: wp.array

    def __init__(self, model_path: str | os.PathLike[str] | Checkpoint, *, trusted: bool = False) -> None:
        super().__init__(model_path, trusted=trusted)
        said = self.metadata
        self.input_order, self.input_idx = said.input_order, list(said.input_idx)
        self.history_length = max(said.input_idx) + 1
        self.pos_scale, self.vel_scale, self.effort_scale = said.pos_scale, said.vel_scale, said.effort_scale

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Allocate what a step needs, and compile it."""
        super().finalize(device, num_actuators)
        self._errors, self._velocities = (wp.zeros(num_actuators, dtype=wp.float32, device=device) for _ in range(2))
        self._back = wp.array(self.input_idx, dtype=wp.int32, device=device)

    def state(self, num_actuators: int, device: Any) -> State:
        """Return a state that remembers nothing."""
        shape = (self.history_length, num_actuators)
        return self.State(*(wp.zeros(shape, dtype=wp.float32, device=device) for _ in range(2)))

    def update_state(self, current_state: State, next_state: State | None) -> None:
        """Write the histories after this step into `next_state`."""
        if next_state is None:
            return
        pairs = (("pos_error_history", self._errors), ("vel_history", self._velocities))
        for name, newest in pairs:
            before, after = getattr(current_state, name), getattr(next_state, name)
            wp.launch(_roll_kernel, self._num_actuators, [before, newest], [after], device=after.device)

    def _take(self, signals: list[wp.array], indices: list[wp.array], state: State, device: Any) -> None:
        count = len(self.input_idx)
        first_position, first_velocity = (0, count) if self.input_order == "pos_vel" else (count, 0)
        histories = [state.pos_error_history, state.vel_history, self._back]
        numbers = [self.pos_scale, self.vel_scale, first_position, first_velocity]
        inputs = [*signals[:3], *indices[:3], *histories, *numbers]
        outputs = [self._errors, self._velocities, self._inputs]
        wp.launch(_features_kernel, self._num_actuators, inputs, outputs, device=device)
