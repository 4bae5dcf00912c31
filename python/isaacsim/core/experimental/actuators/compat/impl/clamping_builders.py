"""`build_clamping`, as programs import it from inside the documented extension."""

from __future__ import annotations

from typing import Any

from ...laws.contract.base import Clamping
from .deprecated import built, warn_once


def build_clamping(cls: type[Clamping], kwargs: dict[str, Any], n: int, device: object) -> Clamping:
    """Return a clamp of `cls` with each scalar argument repeated for `n` robots; deprecated.

    Args:
        cls: A clamping class, ours or newton's; as in `ActuatorParsed.component_specs`.
        kwargs: Its scalar arguments; as in `ActuatorParsed.component_specs`.
        n: Number of robots.
        device: Warp device.

    Raises:
        ValueError: `cls` is no clamping class, or an argument is missing or out of range.
    """
    warn_once("build_clamping", "a config, `ActuatorConfig(..., [MaxEffortClampingConfig(30.0)])`, or the class itself")
    return built(cls, kwargs, n, device, "clamping")
