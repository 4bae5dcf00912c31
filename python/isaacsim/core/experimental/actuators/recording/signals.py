"""What a recording can hold; a file of its own, for every wrapper names it and few record."""

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
"""What is noted of each joint, and its type; clamps are noted by their number."""

SIGNALS = (*KINDS, "power")
"""What one may ask for; power follows from applied efforts, velocities and resets."""
