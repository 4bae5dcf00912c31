"""A recurrent network of LSTM layers over position error and velocity.

    x = [(q* − q)·pos_scale, q̇·vel_scale],  effort, (h, c) = network(x, (h, c)),  effort · effort_scale

Edges: after a reset h = c = 0; with a delay, q* is the delayed target. The velocity is that of the joint, not an error.
Source: newton.actuators 1.8 DriveNeuralLSTM, ControllerNeuralLSTM of 1.2; Isaac Lab ActuatorNetLSTM.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportGeneralTypeIssues=false

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
    position_scale: float,
    velocity_scale: float,
    inputs: wp.array2d[float],
):
    n = wp.tid()
    error = position_targets[position_target_indices[n]] - positions[position_indices[n]]
    inputs[n, 0] = error * position_scale
    inputs[n, 1] = velocities[velocity_indices[n]] * velocity_scale


class ControllerNeuralLSTM(ControllerNeural):
    """LSTM network for `N` actuators.

    Metadata of the file: `pos_scale`, `vel_scale` and `effort_scale`, formerly `torque_scale`, default 1; `num_layers`
    and `hidden_size`, which must be those of the network; `sample_dt` [s], the physics step it was trained for, if any.

    Args:
        model_path: Path of the file, or a checkpoint that was read already.

    Raises:
        ValueError: The file cannot be read, holds no such network, or its metadata cannot be used.
        OSError: There is no such file.
    """

    KIND: ClassVar[Kind] = "lstm"

    @dataclass(eq=False)
    class State(NetworkState):
        """Hidden and cell state of each layer, `(layers, N, hidden size)`."""

        hidden: wp.array
        cell: wp.array

    def __init__(self, model_path: str | os.PathLike[str] | Checkpoint) -> None:
        super().__init__(model_path)
        said = self.metadata
        self.pos_scale, self.vel_scale, self.effort_scale = said.pos_scale, said.vel_scale, said.effort_scale

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Allocate what a step needs, and compile it."""
        super().finalize(device, num_actuators)
        self._next = self.state(num_actuators, device)

    def state(self, num_actuators: int, device: Any) -> State:
        """Return a state that remembers nothing."""
        shape = (self.network.num_layers, num_actuators, self.network.hidden_size)
        return self.State(*(wp.zeros(shape, dtype=wp.float32, device=device) for _ in range(2)))

    def compute(
        self,
        positions: wp.array,
        velocities: wp.array,
        target_pos: wp.array,
        target_vel: wp.array,
        feedforward: wp.array | None,
        pos_indices: wp.array,
        vel_indices: wp.array,
        target_pos_indices: wp.array,
        target_vel_indices: wp.array,
        forces: wp.array,
        state: State,
        dt: float | None,
        device: Any = None,
    ) -> None:
        """Write the efforts [N·m or N] of all actuators into `forces`, shape `(N,)`; `state` is read, not written.

        Raises:
            ValueError: `dt` is not the step that the network was trained for.
            RuntimeError: `finalize` was not called.
        """
        self._require_ready(dt)
        device = device or forces.device
        signals = [positions, velocities, target_pos, pos_indices, vel_indices, target_pos_indices]
        scales = [self.pos_scale, self.vel_scale]
        wp.launch(_features_kernel, self._num_actuators, [*signals, *scales], [self._inputs], device=device)
        before, after = (state.hidden, state.cell), (self._next.hidden, self._next.cell)
        self._evaluate(before, after, self.effort_scale, 0.0, forces, device)

    def update_state(self, current_state: State, next_state: State | None) -> None:
        """Write hidden and cell state after this step into `next_state`."""
        if next_state is not None:
            wp.copy(next_state.hidden, self._next.hidden)
            wp.copy(next_state.cell, self._next.cell)
