"""The one table from a config to the component class that carries out its law."""

from __future__ import annotations

from typing import Any

from ..specs.configs import (
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from .base import Component
from .clamping_dc_motor import ClampingDCMotor
from .clamping_max_effort import ClampingMaxEffort
from .clamping_position_based import ClampingPositionBased
from .controller_pd import ControllerPD
from .controller_pid import ControllerPID
from .delay import Delay

CATALOGUE: dict[type, type[Component]] = {
    PDControlConfig: ControllerPD,
    PIDControlConfig: ControllerPID,
    MaxEffortClampingConfig: ClampingMaxEffort,
    DCMotorClampingConfig: ClampingDCMotor,
    PositionBasedClampingConfig: ClampingPositionBased,
    DelayConfig: Delay,
}


def build(config: Any, num_actuators: int, device: Any) -> Any:
    """Return the component of `config` with each value repeated for `num_actuators` actuators.

    Raises:
        ValueError: Nothing carries the config out yet.
    """
    if type(config) not in CATALOGUE:
        raise ValueError(
            f"{type(config).SCHEMA} can be authored and read, but this version cannot drive it; it comes later. "
            "Deactivate the prim or apply another controller."
        )
    return CATALOGUE[type(config)].from_config(config, num_actuators, device)
