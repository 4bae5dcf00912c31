"""Configs of what acts on a shaft between the motor and the joints that it moves: friction of cables, and inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .config import Config
from .fields import Description, described, parameter


def _of(space: str, name: str, unit: str) -> Description:
    return described(space, name, unit, 0.0, lower=0.0)


@dataclass
class ShaftFrictionConfig(Config):
    """Friction of a tendon, cable or screw, which moves several joints, behind gear and limits and before the joints.

    A shaft that slides at speed v is held back by `coulomb + load·|τ| + viscous·|v|`, τ the effort of its motor; one
    at rest stays there below that. A cable that bends by an angle φ in a sheath of friction μ has `load = e^(μφ) − 1`
    (Euler, Eytelwein). Without a `LinkageConfig` the shaft is that of the joint. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorShaftFrictionAPI"
    KIND: ClassVar[str] = "shaft"

    coulomb: float = parameter(**_of("shaftFriction", "coulomb", "N·m or N"))
    """Dry friction [N·m or N]."""
    viscous: float = parameter(**_of("shaftFriction", "viscous", "N·m·s/rad or N·s/m"))
    """Viscous friction [N·m·s/rad or N·s/m]."""
    load: float = parameter(**_of("shaftFriction", "load", ""))
    """Dry friction per effort of the motor."""
    assumed_inertia: float = parameter(**_of("shaftFriction", "assumedInertia", "kg·m² or kg"))
    """Inertia of the joints as the shaft moves them [kg·m² or kg], without that of a rotor on it.

    Too small an estimate is safe, twice the true one vibrates. With 0 for any shaft, that of mass matrices is read in
    each step; where there are none, every step is a fault.
    """


@dataclass
class ShaftInertiaConfig(Config):
    """A rotor that turns with a shaft of several joints, behind gear and limits and before the joints.

    An armature is of a joint alone, and such a rotor couples the joints. It is a mass of its own, which ends each step
    with the velocity that the joints give the shaft. A transmission with `rotor_inertia` before a linkage that couples
    joints brings this law along. A shaft that only pulls does not leave it behind when slack. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorShaftInertiaAPI"
    KIND: ClassVar[str] = "shaft"

    inertia: float = parameter(**_of("shaftInertia", "inertia", "kg·m² or kg"))
    """Inertia at the shaft [kg·m² or kg]."""
    assumed_inertia: float = parameter(**_of("shaftInertia", "assumedInertia", "kg·m² or kg"))
    """Inertia of the joints as the shaft moves them [kg·m² or kg], as that of `ShaftFrictionConfig`."""
