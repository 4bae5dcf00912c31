"""A network as the law of a plan: features, state, and scale of the output."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from .features import Feature
from .network import Network
from .torch_network import TorchNetwork

# tolerances of the physics step around the one that a network was trained for, as in newton 1.8
_DT_RELATIVE, _DT_ABSOLUTE = 1e-5, 1e-9


@dataclass(frozen=True)
class NetworkLaw:
    """effort = network(features) · scale + offset; actuators whose laws are equal are evaluated together.

    Args:
        network: The network.
        features: Its inputs.
        STATE: Names of the state arrays: hidden and cell state, or one history per column in `history`.
        history: Columns whose values of the last steps are the state, the newest first; none for a recurrent network.
        steps: Number of steps in a history.
        first_fills: True if values of the first step after a reset fill the history; otherwise zeros do.
        scale: Factor of the output.
        offset: Offset that is added to the scaled output [N·m or N].
        sample_dt: Physics step that the network was trained for [s], or None.
        subject: Name of the network in errors.
    """

    STATE_AXIS: ClassVar[int] = 1
    LATE: ClassVar[tuple[str, ...]] = ()
    START: ClassVar[Mapping[str, float]] = {}
    KEPT: ClassVar[tuple[str, ...]] = ()
    ADDED: ClassVar[tuple[str, ...]] = ()

    network: Network | TorchNetwork
    features: tuple[Feature, ...]
    STATE: tuple[str, ...]
    history: tuple[str, ...]
    steps: int
    first_fills: bool
    scale: float
    offset: float
    sample_dt: float | None
    subject: str = field(compare=False)

    @property
    def data(self) -> Network:
        """The network as data, as plans and gradients need it."""
        if isinstance(self.network, Network):
            return self.network
        raise TypeError(f"{self.subject}: a network that Torch runs is no data here. Give an ONNX file.")

    def state_shape(self, rows: int) -> tuple[int, ...]:
        """Shape of each state array for `rows` actuators; axis 1 runs over them."""
        if self.history:
            return self.steps, rows
        return self.network.num_layers, rows, self.network.hidden_size

    def require_dt(self, dt: float | None) -> None:
        """Raise for a physics step that the network was not trained for."""
        if self.sample_dt is None:
            return
        if dt is None or not math.isclose(dt, self.sample_dt, rel_tol=_DT_RELATIVE, abs_tol=_DT_ABSOLUTE):
            raise ValueError(
                f"{self.subject}: dt = {dt} s: must be the step that the network was trained for, sample_dt_s = "
                f"{self.sample_dt} s. Step physics so, or train the network for this step."
            )
