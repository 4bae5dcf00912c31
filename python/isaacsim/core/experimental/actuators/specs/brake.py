"""Config of a holding brake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .config import PassiveConfig
from .fields import described, parameter, required


@dataclass
class BrakeConfig(PassiveConfig):
    """Holding brake at the joint: engaged, it holds any effort up to its torque, and slows a joint that moves by it.

    `ArticulationActuators.engage()` and `release()` switch it at run time, joint by joint and robot by robot; a reset
    keeps the switch. Behind a gear, `torque` is that of the brake times the ratio. The schema is our own. The law
    needs the effective inertia of the joint.
    """

    SCHEMA: ClassVar[str] = "ActuatorBrakeAPI"
    IS_FRICTION: ClassVar[bool] = False

    torque: float = required(**described("brake", "torque", "N·m or N", None, lower=0.0))
    """Largest effort that the engaged brake holds [N·m or N]."""
    release_time: float = parameter(**described("brake", "releaseTime", "s", 0.0, lower=0.0))
    """Time in which the effort falls from `torque` to none [s]; 0 for at once."""
    engage_time: float = parameter(**described("brake", "engageTime", "s", 0.0, lower=0.0))
    """Time in which the effort rises from none to `torque` [s]; 0 for at once."""
    engaged: bool = parameter(**described("brake", "engaged", "", False, type="bool"))
    """True for a brake that is engaged from the beginning, as brakes without power are."""
    assumed_inertia: float = parameter(**described("brake", "assumedInertia", "kg·m² or kg", 0.0, lower=0.0))
    """Effective inertia of the joint [kg·m² or kg] where the simulator provides none; see `FrictionConfig`."""
