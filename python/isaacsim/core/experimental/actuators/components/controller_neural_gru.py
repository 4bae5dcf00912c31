"""A recurrent network of GRU layers over normalised signals.

    x = [(v − mean) / std for v in input_columns],  y, h = network(x, h),  effort = y·effort_scale·std + mean

Columns are position, target_position, position_error, velocity, target_velocity and velocity_error, errors being target
minus measurement, and one array of the caller's at most. Edges: after a reset h = 0; with a delay, targets are the
delayed ones, and the caller's array is that of now.
Source: newton.actuators 1.8 DriveNeuralGRU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..networks.network import Kind
from .neural import ControllerNeural, NetworkState, Remembered


class ControllerNeuralGRU(ControllerNeural):
    """GRU network for `N` actuators.

    Metadata of the file: `input_columns`, names of the inputs in order, default position_error and velocity;
    `custom_inputs`, the one among them that is an array of the caller's, see `Controller.custom_inputs`, default none;
    `normalization`, with `inputs.mean` and `inputs.std` by column, `targets.mean.torque` and `targets.std.torque`,
    default 0 and 1; `sample_dt_s` [s], the physics step it was trained for, if any.

    Args:
        model_path: Path of the file, or a checkpoint that was read already.
        metadata: Goes before what the file says, and a JSON file beside it; default None.
        trusted: Whether Torch may run a file that is not recognised; default False.

    Raises:
        ValueError: The file cannot be read, holds no such network, or its metadata cannot be used.
        OSError: There is no such file.
    """

    NETWORK: ClassVar[Kind] = "gru"

    @dataclass(eq=False)
    class State(NetworkState):
        """Hidden state of each layer, `(layers, N, hidden size)`."""

        hidden: Any = Remembered()

    @property
    def input_columns(self) -> tuple[str, ...]:
        """Names of the inputs in order."""
        return self.metadata.input_columns

    @property
    def effort_scale(self) -> float:
        """What the output of the network is multiplied with."""
        return self.metadata.effort_scale * self.metadata.effort_std
