"""A recurrent network of GRU layers over normalised signals.

    x = [(v − mean) / std for v in input_columns],  y, h = network(x, h),  effort = y·effort_scale·std + mean

Columns are position, target_position, position_error, velocity, target_velocity and velocity_error, where an error is
target minus measurement, and at most one custom input. Edges: after a reset h = 0; with a delay, targets are the
delayed ones; the custom input is not delayed.
Source: newton.actuators 1.8 DriveNeuralGRU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .networks.network import Kind
from .networks.neural import ControllerNeural, NetworkState, StateArray


class ControllerNeuralGRU(ControllerNeural):
    """GRU network for `N` actuators.

    Metadata of the file: `input_columns`, names of the inputs in order, default position_error and velocity;
    `custom_inputs`, the one among them that is a custom input, see `Controller.custom_inputs`, default none;
    `normalization`, with `inputs.mean` and `inputs.std` by column, `targets.mean.torque` and `targets.std.torque`,
    default 0 and 1; `sample_dt_s` [s], the physics step that the network was trained for, optional.

    The arguments, and what they raise, are those of `ControllerNeural`.
    """

    NETWORK: ClassVar[Kind] = "gru"

    @dataclass(eq=False)
    class State(NetworkState):
        """Hidden state of each layer, `(layers, N, hidden size)`."""

        hidden: Any = StateArray()

    @property
    def input_columns(self) -> tuple[str, ...]:
        """Names of the inputs in order."""
        return self.metadata.input_columns

    @property
    def effort_scale(self) -> float:
        """Factor of the output of the network."""
        return self.metadata.effort_scale * self.metadata.effort_std
