"""The one table from a config to the component class that carries out its law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_ComponentType = TypeVar("_ComponentType", bound=type)
_BY_CONFIG: dict[type, type] = {}


def register(config_type: type) -> Callable[[_ComponentType], _ComponentType]:
    """Class decorator: enter a component class under the config it carries out."""

    def enter(component_type: _ComponentType) -> _ComponentType:
        _BY_CONFIG[config_type] = component_type
        return component_type

    return enter


def entries() -> dict[type, type]:
    """Config class → component class, for every law there is."""
    _load()
    return dict(_BY_CONFIG)


def build(config: Any, num_actuators: int, device: Any) -> Any:
    """Return the component of `config` with each value repeated for `num_actuators` actuators."""
    return entries()[type(config)].from_config(config, num_actuators, device)


def _load() -> None:
    """Import the component files; each enters itself."""
    from . import clamping_max_effort, controller_pd, delay  # noqa: F401
