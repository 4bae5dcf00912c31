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
    """effort = network(features) · scale + offset; actuators whose laws are equal are evaluated together."""

    STATE_AXIS: ClassVar[int] = 1
    LATE: ClassVar[tuple[str, ...]] = ()
    START: ClassVar[Mapping[str, float]] = {}
    KEPT: ClassVar[tuple[str, ...]] = ()
    ADDED: ClassVar[tuple[str, ...]] = ()

    network: Network | TorchNetwork
    features: tuple[Feature, ...]
    STATE: tuple[str, ...]  # hidden and cell state, or one history per column in `history`
    history: tuple[str, ...]  # columns whose last values are the state, newest first; none for a recurrent network
    steps: int  # in a history
    first_fills: bool  # values of the first step after a reset fill the history; otherwise zeros do
    scale: float
    offset: float  # [N·m or N]
    sample_dt: float | None  # physics step of the training [s]
    subject: str = field(compare=False)  # name of the network in errors

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
