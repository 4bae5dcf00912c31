"""`build_delay`, as programs import it from inside the documented extension."""

from __future__ import annotations

from typing import Any

from ...laws.contract import newton_classes
from ...laws.delay import Delay
from ...specs.configs import DelayConfig
from .deprecated import warn_once


def build_delay(kwargs: dict[str, Any], n: int, device: Any) -> Delay:
    """Return a delay of `kwargs["delay_steps"]` physics steps for each of `n` robots; deprecated.

    Args:
        kwargs: `delay_steps`, 1 where it is absent; as in `ActuatorParsed.component_specs`.
        n: Number of robots.
        device: Warp device.

    Raises:
        ValueError: The delay is out of range.
    """
    warn_once("build_delay", "a config, `ActuatorConfig(..., delay=DelayConfig(2))`, or `Delay(steps, max_delay)`")
    return newton_classes.as_newton_instance(
        Delay.from_config(DelayConfig(**Delay.resolve_arguments(kwargs)), n, device)
    )
