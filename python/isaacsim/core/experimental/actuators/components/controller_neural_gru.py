"""A recurrent network of GRU layers over normalised signals.

    x = [(v − mean) / std for v in input_columns],  y, h = network(x, h),  effort = y·effort_scale·std + mean

Columns are position, target_position, position_error, velocity, target_velocity and velocity_error, errors being target
minus measurement. Edges: after a reset h = 0; with a delay, targets are the delayed ones.
Source: newton.actuators 1.8 DriveNeuralGRU.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportGeneralTypeIssues=false
# pyright: reportAssignmentType=false

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import warp as wp

from ..networks.checkpoint import Checkpoint
from ..networks.network import Kind
from .neural import ControllerRecurrent, NetworkState

wp.set_module_options({"enable_backward": False})

# factors of position, its target, velocity and its target in each column
_FACTORS = {
    "position": (1, 0, 0, 0),
    "target_position": (0, 1, 0, 0),
    "position_error": (-1, 1, 0, 0),
    "velocity": (0, 0, 1, 0),
    "target_velocity": (0, 0, 0, 1),
    "velocity_error": (0, 0, -1, 1),
}


@wp.kernel
def _features_kernel(
    positions: wp.array[float],
    velocities: wp.array[float],
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    position_target_indices: wp.array[wp.uint32],
    velocity_target_indices: wp.array[wp.uint32],
    factors: wp.array2d[float],
    means: wp.array[float],
    deviations: wp.array[float],
    inputs: wp.array2d[float],
):
    n, column = wp.tid()
    value = factors[column, 0] * positions[position_indices[n]]
    value += factors[column, 1] * position_targets[position_target_indices[n]]
    value += factors[column, 2] * velocities[velocity_indices[n]]
    value += factors[column, 3] * velocity_targets[velocity_target_indices[n]]
    inputs[n, column] = (value - means[column]) / deviations[column]


class ControllerNeuralGRU(ControllerRecurrent):
    """GRU network for `N` actuators.

    Metadata of the file: `input_columns`, names of the inputs in order, default position_error and velocity;
    `normalization`, with `inputs.mean` and `inputs.std` by column, `targets.mean.torque` and `targets.std.torque`,
    default 0 and 1; `sample_dt_s` [s], the physics step it was trained for, if any.

    Args:
        model_path: Path of the file, or a checkpoint that was read already.
        trusted: Whether Torch may run a file that is not recognised; default False.

    Raises:
        ValueError: The file cannot be read, holds no such network, or its metadata cannot be used.
        OSError: There is no such file.
    """

    KIND: ClassVar[Kind] = "gru"

    @dataclass(eq=False)
    class State(NetworkState):
        """Hidden state of each layer, `(layers, N, hidden size)`."""

        hidden: wp.array

    def __init__(self, model_path: str | os.PathLike[str] | Checkpoint, *, trusted: bool = False) -> None:
        super().__init__(model_path, trusted=trusted)
        said = self.metadata
        self.input_columns, self.effort_mean = said.input_columns, said.effort_mean
        self.effort_scale = said.effort_scale * said.effort_std

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Allocate what a step needs, and compile it."""
        super().finalize(device, num_actuators)
        said = self.metadata
        tables = [[_FACTORS[name] for name in self.input_columns], said.input_mean, said.input_std]
        self._tables = [wp.array(table, dtype=wp.float32, device=device) for table in tables]

    def _take(self, signals: list[wp.array], indices: list[wp.array], state: State, device: Any) -> None:
        inputs = [*signals, *indices, *self._tables]
        wp.launch(_features_kernel, self._inputs.shape, inputs, [self._inputs], device=device)
