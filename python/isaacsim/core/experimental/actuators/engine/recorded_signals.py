"""Signals of recordings, in a file of their own: every wrapper imports them, few record.

The effort of a joint has two parts. `motor_efforts` come out of the limits and the transmission; `passive_efforts` are
those of the passive stages, friction and cogging, which act after them. Their sum is `applied_efforts`, which the
simulator gets. Tables, plots and pages call the second part the friction effort.

With a transmission, position, velocity and effort of the motor's shaft are `shaft_positions`, `shaft_velocities` and
`shaft_efforts`: before the gear, where the others are those of the joint. `computed_efforts` are on the shaft, too.

A joint *sticks* in a step if it has dry friction, and its speed is below `STICKING_SPEED` at the start and at the end
of the step. A joint that reverses is as slow for less than a step, so it does not stick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..base.memory import on_host

if TYPE_CHECKING:
    from .step.interface import Step

OF_STATES: Final = (
    *("currents", "terminal_voltages", "electrical_power", "loss_power", "housing_heat"),
    *("winding_temperatures", "housing_temperatures", "magnet_rises"),
    *("supply_voltages", "brake_power", "charges"),
    *("rotor_positions", "rotor_velocities"),
)
"""States of laws that are recorded, see `RECORDED` of the components; 0 for joints without such a law."""

MEASURED: Final = ("measured_positions", "measured_velocities")
"""Signals of sensors, as controllers get them; those of the joint where it has none."""

KINDS: dict[str, np.dtype] = {
    **dict.fromkeys(
        (
            *("positions", "velocities", "position_targets", "velocity_targets"),
            *("delayed_position_targets", "delayed_velocity_targets"),
            *("computed_efforts", "motor_efforts", "applied_efforts"),
        ),
        np.dtype(np.float32),
    ),
    **dict.fromkeys((*OF_STATES, *MEASURED), np.dtype(np.float32)),
    "limited_by": np.dtype(np.uint8),
    "faults": np.dtype(np.uint8),
}
"""Recorded arrays and their types; clamps are recorded by number."""

DERIVED: Final[dict[str, tuple[str, ...]]] = {
    "power": ("applied_efforts", "velocities"),
    "losses": ("electrical_power", "loss_power", "motor_efforts", "velocities"),
    "magnet_temperatures": ("housing_temperatures", "magnet_rises"),
    "shaft_positions": ("positions",),
    "shaft_velocities": ("velocities",),
    "shaft_efforts": ("motor_efforts",),
    "passive_efforts": ("motor_efforts", "applied_efforts"),
    "passive_power": ("motor_efforts", "applied_efforts", "velocities"),
    "sticking": ("velocities",),
    "at_voltage_limit": ("terminal_voltages", "supply_voltages"),
}
"""Signals that follow from recorded arrays, and these arrays; those of the motion in a step also from resets."""

OF_PASSIVE_STAGES: Final = ("passive_efforts", "passive_power", "sticking")
"""Signals that only joints with passive stages have."""

OF_TRANSMISSIONS: Final = ("shaft_positions", "shaft_velocities", "shaft_efforts")
"""Signals of the motor's shaft, which only joints with a transmission have."""

SIGNALS = (*KINDS, *DERIVED)
"""Signals that can be requested."""

FLAGS: Final = ("sticking", "at_voltage_limit")
"""Signals that are true or false."""

STICKING_SPEED: Final = 1e-3
"""Speed below which a joint is at rest [rad/s or m/s]."""


def measured_by(step: Step) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the position and velocity that the controllers of a step got last, `(robots, slots)` each.

    Those of a sensor at a motor are divided by the ratio of its transmission. They are NaN for robots that did not step
    since their reset. None if no joint of the step has a sensor.
    """
    if not step.measured:
        return None
    positions, velocities = (np.array(on_host(array)) for array in step.measured[:2])
    plan = step.plan
    at_motor = np.logical_or.reduce([stage.used & bool(stage.is_behind) for stage in plan.feedback])
    for gear in plan.transmissions:
        slots = np.flatnonzero(gear.used & at_motor)
        ratio, offset = (step.values(gear.rows[name])[:, slots] for name in ("ratio", "offset"))
        positions[:, slots] = (positions[:, slots] - offset) / ratio
        velocities[:, slots] /= ratio
    return positions, velocities
