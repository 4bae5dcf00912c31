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
from .neural import ControllerRecurrent, NetworkState

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


class ControllerNeuralLSTM(ControllerRecurrent):
    """LSTM network for `N` actuators.

    Metadata of the file: `pos_scale`, `vel_scale` and `effort_scale`, formerly `torque_scale`, default 1; `num_layers`
    and `hidden_size`, which must be those of the network; `sample_dt` [s], the physics step it was trained for, if any.

    Args:
        model_path: Path of the file, or a checkpoint that was read already.
        trusted: Whether Torch may run a file that is not recognised; default False.

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

    def __init__(self, model_path: str | os.PathLike[str] | Checkpoint, *, trusted: bool = False) -> None:
        super().__init__(model_path, trusted=trusted)
        said = self.metadata
        self.pos_scale, self.vel_scale, self.effort_scale = said.pos_scale, said.vel_scale, said.effort_scale

    def _take(self, signals: list[wp.array], indices: list[wp.array], state: State, device: Any) -> None:
        inputs = [*signals[:3], *indices[:3], self.pos_scale, self.vel_scale]
        wp.launch(_features_kernel, self._num_actuators, inputs, [self._inputs], device=device)
