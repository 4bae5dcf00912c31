"""A feedforward network over the history of position error and velocity.

    e = q* − q,  x = [e(t−i)·pos_scale for i in input_idx ‖ q̇(t−i)·vel_scale for i in input_idx]
    effort = network(x) · effort_scale

`input_idx` counts steps back, 0 is now; `input_order` "vel_pos" puts velocities first. Edges: until i steps have passed
since the reset, what lies before it is 0, or with `history_fill` "first" what the first step had; with a delay, q* is
the delayed target. The velocity is that of the joint, not an error.
Source: newton.actuators 1.8 DriveNeuralMLP, ControllerNeuralMLP of 1.2, Isaac Lab ActuatorNetMLP, which fill with
zeros; mjlab 1.6 LearnedMlpActuator, which fills with the first values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..networks.metadata import HistoryFill
from ..networks.network import Kind
from .neural import ControllerNeural, NetworkState, Remembered


class ControllerNeuralMLP(ControllerNeural):
    """Feedforward network with history for `N` actuators.

    Metadata of the file: `input_order` "pos_vel" (default) or "vel_pos"; `input_idx`, steps back of each feature,
    default [0]; `history_fill`, what it sees of the time before a reset, "zeros" (default), or "first", the values of
    the first step after it; `pos_scale`, `vel_scale` and `effort_scale`, formerly `torque_scale`, default 1;
    `sample_dt` [s], the physics step it was trained for, if any.

    Args:
        model_path: Path of the file, or a checkpoint that was read already.
        metadata: Goes before what the file says, and a JSON file beside it; default None.
        trusted: Whether Torch may run a file that is not recognised; default False.

    Raises:
        ValueError: The file cannot be read, holds no such network, or its metadata cannot be used.
        OSError: There is no such file.
    """

    NETWORK: ClassVar[Kind] = "mlp"
    HISTORY: ClassVar[tuple[str, ...]] = ("position_error", "velocity")

    @dataclass(eq=False)
    class State(NetworkState):
        """Position errors [rad or m] and velocities [rad/s or m/s] of the last steps, newest first, `(H, N)`.

        Where the first step fills, +0.0 stands for none yet, and a value that was 0 is −0.0.
        """

        pos_error_history: Any = Remembered()
        vel_history: Any = Remembered()

    @property
    def input_order(self) -> str:
        """Whether positions or velocities come first."""
        return self.metadata.input_order

    @property
    def input_idx(self) -> list[int]:
        """Steps back of each feature."""
        return list(self.metadata.input_idx)

    @property
    def history_fill(self) -> HistoryFill:
        """What stands for the time before a reset: `zeros`, or `first` for the values of the first step after it."""
        return self.metadata.history_fill

    @property
    def history_length(self) -> int:
        """Rows of each history, `H`."""
        return max(self.metadata.input_idx) + 1

    @property
    def pos_scale(self) -> float:
        """What position errors are multiplied with."""
        return self.metadata.pos_scale

    @property
    def vel_scale(self) -> float:
        """What velocities are multiplied with."""
        return self.metadata.vel_scale
