"""A feedforward network over the history of position error and velocity.

    e = q* − q,  x = [e(t−i)·pos_scale for i in input_idx ‖ q̇(t−i)·vel_scale for i in input_idx]
    effort = network(x) · effort_scale

`input_idx` counts steps back, 0 is the current step; `input_order` "vel_pos" puts velocities first. Edges: values
before a reset are 0, or with `history_fill` "first" those of the first step; with a delay, q* is the delayed target.
The velocity is that of the joint, not an error.
Source: newton.actuators 1.8 DriveNeuralMLP, ControllerNeuralMLP of 1.2, Isaac Lab ActuatorNetMLP, which fill with
zeros; mjlab 1.6 LearnedMlpActuator, which fills with the first values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .networks.metadata import HistoryFill
from .networks.network import Kind
from .networks.neural import ControllerNeural, NetworkState, StateArray


class ControllerNeuralMLP(ControllerNeural):
    """Feedforward network with history for `N` actuators.

    Metadata of the file: `input_order` "pos_vel" (default) or "vel_pos"; `input_idx`, steps back of each feature,
    default [0]; `history_fill`, values before a reset, "zeros" (default), or "first" for the values of the first step
    after it; `pos_scale`, `vel_scale` and `effort_scale`, formerly `torque_scale`, default 1; `sample_dt` [s], the
    physics step that the network was trained for, optional.

    The arguments, and what they raise, are those of `ControllerNeural`.
    """

    NETWORK: ClassVar[Kind] = "mlp"
    HISTORY: ClassVar[tuple[str, ...]] = ("position_error", "velocity")

    @dataclass(eq=False)
    class State(NetworkState):
        """Position errors [rad or m] and velocities [rad/s or m/s] of the last steps, newest first, `(H, N)`.

        If the first step fills the history, +0.0 is an unset value, and a measured 0 is stored as −0.0.
        """

        pos_error_history: Any = StateArray()
        vel_history: Any = StateArray()

    @property
    def input_order(self) -> str:
        """Order of the features: `pos_vel` or `vel_pos`."""
        return self.metadata.input_order

    @property
    def input_idx(self) -> list[int]:
        """Steps back of each feature."""
        return list(self.metadata.input_idx)

    @property
    def history_fill(self) -> HistoryFill:
        """Values before a reset: `zeros`, or `first` for the values of the first step after it."""
        return self.metadata.history_fill

    @property
    def history_length(self) -> int:
        """Rows of each history, `H`."""
        return max(self.metadata.input_idx) + 1

    @property
    def pos_scale(self) -> float:
        """Factor of position errors."""
        return self.metadata.pos_scale

    @property
    def vel_scale(self) -> float:
        """Factor of velocities."""
        return self.metadata.vel_scale
