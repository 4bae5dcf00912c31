"""`build_controller`, as programs import it from inside the documented extension."""

from __future__ import annotations

from typing import Any

from ...laws.contract.base import Controller
from .deprecated import built, warn_once


def build_controller(cls: type[Controller], kwargs: dict[str, Any], n: int, device: object) -> Controller:
    """Return a controller of `cls` with each scalar argument repeated for `n` robots; deprecated.

    Args:
        cls: A controller class, ours or newton's; as `ActuatorParsed.controller_class`.
        kwargs: Its scalar arguments; as `ActuatorParsed.controller_kwargs`.
        n: Number of robots.
        device: Warp device.

    Raises:
        ValueError: `cls` is no controller class, or an argument is missing or out of range.
    """
    warn_once("build_controller", "a config, `ActuatorConfig(PDControlConfig(80.0, 2.0))`, or the class itself")
    return built(cls, kwargs, n, device, "controller")
