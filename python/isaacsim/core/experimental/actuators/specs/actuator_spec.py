"""What one actuator prim says, as plain data: the hand-over from USD to the pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .configs import ClampingConfig, ControlConfig, DelayConfig

ACTUATOR_TYPE = "NewtonActuator"
"""Type of the prim."""


@dataclass(frozen=True)
class ActuatorSpec:
    """One actuator of a robot file.

    Args:
        path: Path of the `NewtonActuator` prim.
        targets: Paths of the joint prims it drives, in authored order; each gets the whole pipeline.
        controller: The control law.
        clamping: Effort limits in authored order.
        delay: Command delay, or None.
        checkpoint: The network of a neural controller, where its file was read.
    """

    path: str
    targets: tuple[str, ...]
    controller: ControlConfig
    clamping: tuple[ClampingConfig, ...] = ()
    delay: DelayConfig | None = None
    checkpoint: Any = field(default=None, compare=False, repr=False)
