"""Signals of recordings, in a file of their own: every wrapper imports them, few record."""

from __future__ import annotations

import numpy as np

KINDS: dict[str, np.dtype] = {
    **dict.fromkeys(
        (
            *("positions", "velocities", "position_targets", "velocity_targets"),
            *("delayed_position_targets", "delayed_velocity_targets"),
            *("computed_efforts", "motor_efforts", "applied_efforts"),
        ),
        np.dtype(np.float32),
    ),
    "limited_by": np.dtype(np.uint8),
    "faults": np.dtype(np.uint8),
}
"""Recorded arrays and their types; clamps are recorded by number."""

SIGNALS = (*KINDS, "power")
"""Signals that can be requested; power follows from applied efforts, velocities and resets."""
