"""All rules, by name."""

from __future__ import annotations

from ..findings import Rule
from . import drives, portability, prims, steps, units, values

_FUNCTIONS: tuple[Rule, ...] = (
    prims.unusable_actuator,
    prims.without_effect,
    prims.two_values,
    prims.earlier_name,
    portability.several_targets,
    portability.no_stand_in,
    portability.refused_elsewhere,
    portability.approximated,
    portability.friction_fallback,
    portability.unmarked_fallback,
    drives.undriven_joint,
    drives.drive_and_actuator,
    drives.no_effort_limit,
    drives.limit_above_joint,
    units.limits_in_radians,
    units.speed_in_degrees,
    units.speed_in_radians,
    units.gains_in_degrees,
    values.undamped,
    values.stall_below_peak,
    values.zero_limit,
    values.huge_value,
    values.long_delay,
    values.stuck_joint,
    values.knee_without_linkage,
    values.unread_supply,
    values.unread_derating,
    values.transmission_armature,
    steps.unstable_gains,
    steps.gains_against_inertia,
    steps.assumed_inertia_too_large,
    steps.unresolved_spring,
)

RULES = {function.__name__.replace("_", "-"): function for function in _FUNCTIONS}
"""In the order in which findings are reported."""
