"""Configs of what changes commands on their way to the controller: wrap of continuous joints, first-order lag."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from .config import Config
from .fields import described, parameter


class CommandConfig(Config):
    """A law that changes targets and feedforward before the controller."""

    KIND: ClassVar[str] = "command"


@dataclass
class WrapConfig(CommandConfig):
    """Continuous joint: the position target is taken by the shorter way round, with an error in (−π, π].

    The controller gets `q* + turns·period`, with the whole number of turns that brings it nearest to the measured
    position. Where both ways are about equal the side is kept, until the other is shorter by more than `hysteresis`.
    Position and target may count turns or not. Without this stage targets are literal: a joint at 350° with a target
    of 0° turns back 350°. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorWrapAPI"

    period: float = parameter(**described("wrap", "period", "rad or m", 2.0 * math.pi, lower=0.0, above=True))
    """Distance after which positions repeat [rad or m], a turn."""
    hysteresis: float = parameter(**described("wrap", "hysteresis", "rad or m", 0.01, lower=0.0))
    """Error beyond half a period up to which the side is kept [rad or m]."""


@dataclass
class CommandLagConfig(CommandConfig):
    """First-order lag of the commands: `y⁺ = y + (1 − e^(−dt/T))·(u − y)`, exact for commands held over a step.

    Position target, velocity target and feedforward follow what is set with the time constant T: MuJoCo's `timeconst`
    of position and velocity actuators, input filters of drives. It is outside the control loop. After a reset the
    position target starts at the position of the joint, the others at 0. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorCommandLagAPI"

    time_constant: float = parameter(**described("commandLag", "timeConstant", "s", 0.0, lower=0.0))
    """Time constant T [s]; 0 for none."""


@dataclass
class EffortLagConfig(Config):
    """First-order lag of the effort before the motor: `y⁺ = y + (1 − e^(−dt/T))·(u − y)`, exact for a held effort.

    Valves and pumps of hydraulics, rotors of drones, muscles, MuJoCo's `dyntype="filterexact"` of actuators that set
    efforts. Limits and all that follows act on the lagged effort. Unlike a lag of commands, it is within the control
    loop, which takes stability away. After a reset the effort starts at 0. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorEffortLagAPI"
    KIND: ClassVar[str] = "effort_lag"

    time_constant: float = parameter(**described("effortLag", "timeConstant", "s", 0.0, lower=0.0))
    """Time constant T [s]; 0 for none."""
