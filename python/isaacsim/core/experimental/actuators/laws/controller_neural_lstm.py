"""A recurrent network of LSTM layers over position error and velocity.

    x = [(q* − q)·pos_scale, q̇·vel_scale],  effort, (h, c) = network(x, (h, c)),  effort · effort_scale

Edges: after a reset h = c = 0; with a delay, q* is the delayed target. The velocity is that of the joint, not an error.
Source: newton.actuators 1.8 DriveNeuralLSTM, ControllerNeuralLSTM of 1.2; Isaac Lab ActuatorNetLSTM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .networks.network import Kind
from .networks.neural import ControllerNeural, NetworkState, StateArray


class ControllerNeuralLSTM(ControllerNeural):
    """LSTM network for `N` actuators.

    Metadata of the file: `pos_scale`, `vel_scale` and `effort_scale`, formerly `torque_scale`, default 1; `num_layers`
    and `hidden_size`, which must match the network; `sample_dt` [s], the physics step that the network was trained for,
    optional.

    The arguments, and what they raise, are those of `ControllerNeural`.
    """

    NETWORK: ClassVar[Kind] = "lstm"

    @dataclass(eq=False)
    class State(NetworkState):
        """Hidden and cell state of each layer, `(layers, N, hidden size)`."""

        hidden: Any = StateArray()
        cell: Any = StateArray()

    @property
    def pos_scale(self) -> float:
        """Factor of the position error."""
        return self.metadata.pos_scale

    @property
    def vel_scale(self) -> float:
        """Factor of the velocity."""
        return self.metadata.vel_scale
