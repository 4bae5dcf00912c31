"""The one table from a config to the component class that carries out its law."""

from __future__ import annotations

from typing import Any

from ..specs.configs import DelayConfig, MaxEffortClampingConfig, PDControlConfig
from .base import Component
from .clamping_max_effort import ClampingMaxEffort
from .controller_pd import ControllerPD
from .delay import Delay

CATALOGUE: dict[type, type[Component]] = {
    PDControlConfig: ControllerPD,
    MaxEffortClampingConfig: ClampingMaxEffort,
    DelayConfig: Delay,
}


def build(config: Any, num_actuators: int, device: Any) -> Any:
    """Return the component of `config` with each value repeated for `num_actuators` actuators."""
    return CATALOGUE[type(config)].from_config(config, num_actuators, device)
