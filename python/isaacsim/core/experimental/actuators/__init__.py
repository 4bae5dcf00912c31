"""Realistic actuators for simulated robots: *delay → controller → clamping*, per joint, read from the USD file.

Public names load on first use, so importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOME = {
    "Actuator": "pipeline.actuator",
    "ActuatorConfig": "pipeline.entry",
    "ActuatorGroup": "pipeline.actuator_group",
    "ActuatorParsed": "pipeline.parse",
    "Articulation": "hosts.current",
    "ArticulationActuators": "articulation_actuators",
    "Clamping": "components.base",
    "ClampingDCMotor": "components.clamping_dc_motor",
    "ClampingMaxEffort": "components.clamping_max_effort",
    "ClampingPositionBased": "components.clamping_position_based",
    "ComponentKind": "pipeline.parse",
    "Controller": "components.base",
    "ControllerPD": "components.controller_pd",
    "ControllerPID": "components.controller_pid",
    "DCMotorClampingConfig": "specs.configs",
    "Delay": "components.delay",
    "DelayConfig": "specs.configs",
    "Host": "hosts.port",
    "MaxEffortClampingConfig": "specs.configs",
    "NeuralControlConfig": "specs.configs",
    "PDControlConfig": "specs.configs",
    "PIDControlConfig": "specs.configs",
    "PhysicsBus": "hosts.port",
    "PositionBasedClampingConfig": "specs.configs",
    "SchemaNames": "pipeline.parse",
    "Simulation": "simulation",
    "add_actuator": "authoring",
    "parse_actuator_prim": "pipeline.parse",
    "register_actuator_component": "pipeline.parse",
    "use_host": "hosts.current",
    "use_stage": "hosts.current",
}

__all__ = list(_HOME)

if TYPE_CHECKING:
    from .articulation_actuators import ArticulationActuators as ArticulationActuators
    from .authoring import add_actuator as add_actuator
    from .components.base import Clamping as Clamping
    from .components.base import Controller as Controller
    from .components.clamping_dc_motor import ClampingDCMotor as ClampingDCMotor
    from .components.clamping_max_effort import ClampingMaxEffort as ClampingMaxEffort
    from .components.clamping_position_based import ClampingPositionBased as ClampingPositionBased
    from .components.controller_pd import ControllerPD as ControllerPD
    from .components.controller_pid import ControllerPID as ControllerPID
    from .components.delay import Delay as Delay
    from .hosts.current import Articulation as Articulation
    from .hosts.current import use_host as use_host
    from .hosts.current import use_stage as use_stage
    from .hosts.port import Host as Host
    from .hosts.port import PhysicsBus as PhysicsBus
    from .pipeline.actuator import Actuator as Actuator
    from .pipeline.actuator_group import ActuatorGroup as ActuatorGroup
    from .pipeline.entry import ActuatorConfig as ActuatorConfig
    from .pipeline.parse import ActuatorParsed as ActuatorParsed
    from .pipeline.parse import ComponentKind as ComponentKind
    from .pipeline.parse import SchemaNames as SchemaNames
    from .pipeline.parse import parse_actuator_prim as parse_actuator_prim
    from .pipeline.parse import register_actuator_component as register_actuator_component
    from .simulation import Simulation as Simulation
    from .specs.configs import DCMotorClampingConfig as DCMotorClampingConfig
    from .specs.configs import DelayConfig as DelayConfig
    from .specs.configs import MaxEffortClampingConfig as MaxEffortClampingConfig
    from .specs.configs import NeuralControlConfig as NeuralControlConfig
    from .specs.configs import PDControlConfig as PDControlConfig
    from .specs.configs import PIDControlConfig as PIDControlConfig
    from .specs.configs import PositionBasedClampingConfig as PositionBasedClampingConfig


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
