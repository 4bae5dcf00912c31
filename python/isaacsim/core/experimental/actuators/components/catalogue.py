"""The one table from a config to the component class that carries out its law."""

from __future__ import annotations

import warnings
from typing import Any

from ..specs.configs import (
    DCMotorClampingConfig,
    DelayConfig,
    ForeignConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from .base import Component, repeated
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


_registered: dict[str, type[Component]] = {}


def register(schema: str, component_type: type[Component]) -> None:
    """Let `component_type` carry out prims with a schema of the host program's own."""
    if schema in _registered and _registered[schema] is not component_type:
        warnings.warn(
            f"{schema} was registered for {_registered[schema].__name__} and is {component_type.__name__} from now on. "
            "Register each schema once.",
            stacklevel=3,
        )
    _registered[schema] = component_type


def class_of(config: Any) -> type[Component]:
    """The component class that carries out a config.

    Raises:
        ValueError: Nothing carries the config out yet.
    """
    found = CATALOGUE.get(type(config)) or _registered.get(config.SCHEMA)
    if found is None:
        raise ValueError(
            f"{config.SCHEMA} can be authored and read, but this version cannot drive it; it comes later. "
            "Deactivate the prim or apply another controller."
        )
    return found


def build(config: Any, num_actuators: int, device: Any) -> Any:
    """Return the component of `config` with each value repeated for `num_actuators` actuators.

    Raises:
        ValueError: Nothing carries the config out yet.
    """
    component_type = class_of(config)
    if not isinstance(config, ForeignConfig):
        return component_type.from_config(config, num_actuators, device)
    resolved = component_type.resolve_arguments(dict(config.values))
    shared = getattr(component_type, "SHARED_PARAMS", set())
    arguments = {
        name: value if name in shared else repeated(value, num_actuators, device) for name, value in resolved.items()
    }
    return component_type(**arguments)
