"""Devices by their names."""

from __future__ import annotations

from typing import Any

import warp as wp

from ..specs.arguments import require_type
from ..specs.fields import shown


def device_of(given: Any) -> wp.Device:
    """Return the device that an argument names, as Warp names it; None means Warp's current one.

    Raises:
        TypeError: It is no name.
        ValueError: There is no such device.
    """
    if given is not None:
        require_type("device", given, (str, wp.Device), "the name of a device")
    try:
        return wp.get_device(given)
    except (ValueError, RuntimeError):
        there = ", ".join(map(repr, map(str, wp.get_devices())))
        raise ValueError(f"device = {shown(given)}: must be one of {there}. Correct the name.") from None
