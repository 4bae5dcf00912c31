"""Realistic actuators for simulated robots: *delay → controller → clamping*, per joint, read from the USD file.

Public names load on first use, so importing the package costs next to nothing; type checkers read `__init__.pyi`.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

__version__ = "0.2.0"

# laws and their configs are found in the catalogue
_OTHERS = {
    "Actuator": "pipeline.actuator",
    "ActuatorConfig": "pipeline.entry",
    "ActuatorGroup": "pipeline.actuator_group",
    "ActuatorParsed": "pipeline.parse",
    "Articulation": "hosts.current",
    "ArticulationActuators": "articulation_actuators",
    "Clamping": "components.base",
    "ComponentKind": "pipeline.parse",
    "Controller": "components.base",
    "Host": "hosts.port",
    "PhysicsBus": "hosts.port",
    "SchemaNames": "pipeline.parse",
    "Simulation": "simulation",
    "add_actuator": "authoring",
    "parse_actuator_prim": "pipeline.parse",
    "register_actuator_component": "pipeline.parse",
    "use_host": "hosts.current",
    "use_stage": "hosts.current",
}


@functools.cache
def _home() -> dict[str, str]:
    """The module of each public name, `__init__.pyi` in a form that costs nothing before somebody asks."""
    from .components.catalogue import laws
    from .specs.configs import CONFIGS

    configs = {config.__name__: "specs.configs" for config in CONFIGS}
    components = {law.name: f"components.{law.module}" for law in laws() if law.name}
    return dict(sorted((_OTHERS | configs | components).items()))


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name == "__all__":
        value: Any = list(_home())
    elif name.startswith("__") or name not in _home():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        value = getattr(importlib.import_module(f"{__name__}.{_home()[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), "__all__", *_home()})
