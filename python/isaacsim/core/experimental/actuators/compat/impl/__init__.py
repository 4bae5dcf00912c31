"""`build_controller`, `build_clamping` and `build_delay`, which programs import from inside the documented extension.

There they are in `impl.controller_builders`, `impl.clamping_builders` and `impl.delay_builder`; see `compat/moved.py`.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

from ...laws.contract import catalogue, newton_classes
from ...laws.contract.base import Clamping, Controller
from ...laws.delay import Delay
from ...specs.arguments import require_type
from ...specs.configs import DelayConfig


def build_controller(cls: type[Controller], kwargs: dict[str, object], n: int, device: object) -> Controller:
    """Return a controller of `cls`, ours or newton's, with each scalar argument repeated for `n` robots; deprecated.

    Raises ValueError if `cls` is no controller class, or an argument is missing or out of range.
    """
    warn_once("build_controller", "a config, `ActuatorConfig(PDControlConfig(80.0, 2.0))`, or the class itself")
    return _built(cls, kwargs, n, device, "controller")


def build_clamping(cls: type[Clamping], kwargs: dict[str, object], n: int, device: object) -> Clamping:
    """Return a clamp, as `build_controller` a controller, of a pair of `ActuatorParsed.component_specs`; deprecated."""
    warn_once("build_clamping", "a config, `ActuatorConfig(..., [MaxEffortClampingConfig(30.0)])`, or the class itself")
    return _built(cls, kwargs, n, device, "clamping")


def build_delay(kwargs: dict[str, Any], n: int, device: Any) -> Delay:
    """Return a delay of `kwargs["delay_steps"]` physics steps, 1 where it is absent, for `n` robots; deprecated."""
    warn_once("build_delay", "a config, `ActuatorConfig(..., delay=DelayConfig(2))`, or `Delay(steps, max_delay)`")
    resolved: dict[str, Any] = Delay.resolve_arguments(kwargs)
    return newton_classes.as_newton_instance(Delay.from_config(DelayConfig(**resolved), n, device))


@functools.cache
def warn_once(name: str, instead: str) -> None:
    """Say what to write instead of a function, at its first call."""
    warnings.warn(
        f"{name} comes from inside the documented extension and is kept for programs that import it. Write {instead}.",
        DeprecationWarning,
        stacklevel=3,
    )


def _built(component_class: Any, kwargs: Any, n: int, device: Any, kind: str) -> Any:
    """Return a controller or clamp made of scalar arguments, each repeated for `n` actuators."""
    require_type("kwargs", kwargs, dict, "a dictionary of arguments")
    ours = newton_classes.component_class(component_class)
    catalogue.require_kind(ours, kind)
    return newton_classes.as_newton_instance(catalogue.from_arguments(ours, kwargs, n, device))
