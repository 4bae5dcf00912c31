"""Devices by name."""

from __future__ import annotations

from typing import Any

import warp as wp

from ...base.errors import shown
from ...base.quiet_warp import start_warp
from ...specs.arguments import require_type


def device_of(given: Any) -> wp.Device:
    """Return the Warp device of a name; None means Warp's current device."""
    if given is not None:
        require_type("device", given, (str, wp.Device), "the name of a device")
    start_warp()
    try:
        return wp.get_device(given)
    except (ValueError, RuntimeError):
        available = ", ".join(map(repr, map(str, wp.get_devices())))
        raise ValueError(f"device = {shown(given)}: must be one of {available}. Correct the name.") from None
