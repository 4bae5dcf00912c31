"""Signals that a law may ask for, beyond those that all laws of its kind get.

A class names them in `ASKS`. The host of the robot writes them, one number per robot and joint, before each step;
otherwise they keep their neutral values, which mean that nothing is known. They are signals of the joint, also for laws
that work in the coordinates of a motor.

A law may publish a signal: its class maps the name to one of its `STATE`, in `PUBLISHES`. At the start of each step,
before any law, the signal takes the value of that state, so every law reads in step n what step n - 1 has left. A total
is the sum of a published signal over all joints of a robot, see `engine/totals.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Signal:
    """A line of the table, with the name as laws ask for it."""

    name: str
    # empty for a number without one
    unit: str
    # value where it is neither written nor published
    neutral: float
    # what it is
    words: str
    # name of the signal whose sum over the joints of a robot it is
    total_of: str = ""

    is_number: bool = field(init=False)
    """True if it numbers robots or joints, or says what they have, which the engine writes once."""
    is_of_engine: bool = field(init=False)
    """True if the engine computes it within a step, for the stages that follow."""
    is_unbounded: bool = field(init=False)
    """True if infinity is one of its values, which stands for no bound; else it is a fault."""

    def __post_init__(self) -> None:
        vars(self).update(
            is_number=self.name in ("robot_number", "joint_number", "has_friction"),
            is_of_engine=self.name in ("motor_damping", "motor_lift"),
            is_unbounded=math.isinf(self.neutral),
        )


SIGNALS: Final[dict[str, Signal]] = {
    signal.name: signal
    for signal in (
        # 1 / (M^-1)_ii, M the mass matrix of the robot
        Signal("inertia", "kg·m² or kg", 0.0, "effective inertia of the joint, 0 where it is not known"),
        Signal("load", "N·m or N", 0.0, "effort that balances gravity, Coriolis forces and others at the joint"),
        # ½ is of efforts at the end of the step, for the friction behind them
        Signal("load_is_whole", "", 0.0, "1 where the load includes contacts and coupling, ½ where it is estimated"),
        # 1 / Σ_j |(M^-1)_ij|·√((M^-1)_ii / (M^-1)_jj)
        Signal("coupled_inertia", "kg·m² or kg", 0.0, "inertia of a joint that is stepped by itself, 0 if not known"),
        # of a motor with an effort at the end of the step: written by the engine for the friction behind it
        Signal("motor_damping", "N·m·s/rad or N·s/m", 0.0, "by how much the effort falls with the final velocity"),
        Signal("motor_lift", "N·m or N", 0.0, "by how much the effort at a final velocity of zero is larger"),
        Signal("temperature", "°C", 25.0, "temperature of the winding"),
        Signal("housing_temperature", "°C", 25.0, "temperature of the housing of the motor"),
        Signal("magnet_rise", "K", 0.0, "by how much the magnets are warmer than the housing"),
        Signal("winding_loss", "W/(N·m)² or W/N²", 0.0, "heat of the winding per square of the effort, 0 if not known"),
        Signal("flux_heat", "W", 0.0, "heat of the winding by the current that weakens the field"),
        Signal("housing_heat", "W", 0.0, "heat of the housing: of iron and friction"),
        Signal("derating", "", 1.0, "share of the effort that the temperature leaves"),
        Signal("supply_voltage", "V", math.inf, "voltage of the supply at the motor"),
        Signal("supply_share", "", 1.0, "share of the demanded current that the supply of the robot allows"),
        Signal("power", "W", 0.0, "electrical power that the winding and its driver draw"),
        Signal("loss_power", "W", 0.0, "electrical power that the motor draws besides: iron, idle driver, weak field"),
        Signal("robot_power", "W", 0.0, "electrical power that all windings of the robot draw", total_of="power"),
        Signal("robot_losses", "W", 0.0, "what all motors of the robot draw besides", total_of="loss_power"),
        Signal("effort_magnitude", "N·m or N", 0.0, "magnitude of the effort of a motor that has a supply"),
        Signal("robot_effort", "N·m or N", 0.0, "sum of these magnitudes of the robot", total_of="effort_magnitude"),
        # what random numbers of robots, and of joints, differ by: written once, by the engine
        Signal("robot_number", "", 0.0, "number of the robot, from 0"),
        Signal("joint_number", "", 0.0, "number of the joint among the driven ones of all robots, from 0"),
        # of laws that ask for `motor_damping`
        Signal("has_friction", "", 0.0, "1 where friction behind the motor steps the joint, else 0"),
        # `coupled_inertia` of the shafts, whose inverse mass matrix is G·M^-1·Gᵀ
        Signal("shaft_inertia", "kg·m² or kg", 0.0, "inertia of a shaft that is stepped by itself, 0 if not known"),
    )
}
"""The signals by name; the core numbers them in this order."""

INERTIAS: Final = ("inertia", "coupled_inertia")
"""Those that come from the mass matrix: with one above zero, a law of a motor finds the end of the step by itself."""

SHAFT_INERTIA: Final = "shaft_inertia"
"""That of a shaft which moves several joints."""

OF_SHAFTS: Final[dict[str, str]] = {
    "inertia": "shaft_effective_inertia",
    "coupled_inertia": SHAFT_INERTIA,
    "load": "shaft_load",
    "load_is_whole": "shaft_load_is_whole",
}
"""Names under which hosts tell signals of shafts to efforts of the end of the step behind which a linkage is."""

SUMMED: Final = frozenset(signal.total_of for signal in SIGNALS.values() if signal.total_of)
"""The signals that a total adds up."""
