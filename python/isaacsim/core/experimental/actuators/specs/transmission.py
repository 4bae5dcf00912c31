"""Configs of transmissions between motor and joint, and conversion of values between both coordinates.

With a transmission, control law, winding, limits and heat are those of the motor: of its angle, speed and effort. What
newton knows, attributes `newton:*` and its own classes, is always at the joint.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Final, Self, TypeVar, cast

from ..base.errors import shown
from .config import Config
from .fields import (
    FLOAT32_MAX,
    Description,
    Parameter,
    complaint,
    described,
    entries_of,
    parameter,
    parameters_of,
    required,
)
from .stages import Staged, acts_at_joint

_Config = TypeVar("_Config", bound=Config)

_of_transmission = functools.partial(described, "transmission")

ROUNDING: Final = 1e-6
"""Tolerance of a loss of 0 by efficiencies, which files have in single precision."""

_SHARE: Description = {"lower": 0.0, "upper": 1.0, "of_law": False}


@dataclass
class TransmissionConfig(Config):
    """A rigid gear between motor and joint: `motor angle = ratio·q + offset`, `effort = ratio·motor effort`.

    Control law, winding, limits and heat of the actuator are then those of the motor, so gains, limits and torque
    constants are those of its data sheet. A table of limits over positions stays one of the joint, and so does
    friction. The schema is our own.

    Example:
        >>> gear = TransmissionConfig.from_stages([4.5, 3.0], [2e-5, 8e-6, 1e-6])
        >>> gear.ratio, round(gear.rotor_inertia, 8)
        (13.5, 2.04e-05)
    """

    SCHEMA: ClassVar[str] = "ActuatorTransmissionAPI"
    KIND: ClassVar[str] = "transmission"
    IS_RIGID: ClassVar[bool] = True
    """True if the rotor moves exactly as the joint does."""

    ratio: float = required(**_of_transmission("ratio", "", None))
    """Radians of the motor per radian or metre of the joint; negative where it turns the other way."""
    offset: float = parameter(**_of_transmission("offset", "rad or m", 0.0))
    """Angle of the motor where the joint is at 0 [rad]."""
    targets: str = parameter(
        **_of_transmission("targets", "", "joint") | {"type": "token", "choices": ("joint", "motor")}
    )
    """Whose targets and feedforward the caller sets: those of the `"joint"`, or of the `"motor"`."""
    rotor_inertia: float = parameter(**_of_transmission("rotorInertia", "kg·m² or kg", 0.0, lower=0.0, of_law=False))
    """Inertia of rotor and gear at the motor [kg·m²]; 0 leaves the armature of the joint as it is.

    Otherwise the joint has the armature `ratio²·rotor_inertia` while the actuators are attached. That of the file is
    the total at the joint: it is replaced, not added to.
    """
    efficiency: float = parameter(**_of_transmission("efficiency", "", 1.0, **_SHARE | {"above": True}))
    """Share of the power that arrives at the joint where the motor drives, above 0 and up to 1."""
    backdriving_efficiency: float = parameter(**_of_transmission("backdrivingEfficiency", "", 0.0, **_SHARE))
    """Share of the power that arrives at the motor where the joint drives it, up to 1; 0 means `efficiency`.

    What is lost is dry friction of the joint, see `specs/gear_losses.py`.
    """

    def conflicts(self) -> list[str]:
        """Return what is wrong with the ratio, or between the two efficiencies."""
        if 0.0 in entries_of(self.ratio):
            return [f"ratio = {shown(self.ratio)}: must not be 0. Give the turns of the motor per turn of the joint."]
        rotor = self.rotor_inertia
        # values by joint or robot are left to what writes or sets the armature
        if (
            isinstance(self.ratio, Real)
            and isinstance(rotor, Real)
            and float(self.ratio) ** 2 * float(rotor) > FLOAT32_MAX
        ):
            return [
                f"ratio = {self.ratio!r}, rotor_inertia = {rotor!r}: must give an armature of the joint, "
                f"ratio²·rotor_inertia = {self.ratio**2 * rotor:g}, that is finite in single precision. Correct either."
            ]
        both = self.efficiency, self.backdriving_efficiency
        # values by joint or robot are left to the law of friction; 0 means the other one
        is_given = all(isinstance(one, Real) for one in both) and both[1] != 0.0
        # beyond, a motor that accelerates no load loses more by `specs/gear_losses.py` than one under load
        least = (3.0 * max(both) - 2.0) / max(both) ** 2 if is_given else 0.0
        if is_given and min(both) < least - ROUNDING / 2.0:
            return [
                f"efficiency = {both[0]!r}, backdriving_efficiency = {both[1]!r}: must not differ so much, the smaller "
                f"one at least {least:.3g}. Bring them closer."
            ]
        return []

    @classmethod
    def from_stages(cls, ratios: Sequence[float], inertias: Sequence[float], **values: Any) -> Self:
        """Return the transmission of several gear stages in a row.

        Args:
            ratios: Ratio of each stage, that of the motor first.
            inertias: Inertia of each shaft [kg·m²], that of the motor first: one more than stages, or as many, where
                the last one is part of the joint.
            values: Other fields.

        Raises:
            ValueError: There are no stages, their numbers do not fit, or a value is out of range; a line for each.
        """
        if not ratios or len(inertias) - len(ratios) not in (0, 1):
            raise ValueError(
                f"ratios has {len(ratios)} values, inertias {len(inertias)}: must be at least one ratio, and an "
                "inertia for the shaft before each stage and at most one behind the last. Complete them."
            )
        rules = ("ratios", ratios, Parameter("", "float", "", None)), ("inertias", inertias, _NOT_NEGATIVE)
        found = (complaint(f"{name}[{at}]", one, rule) for name, given, rule in rules for at, one in enumerate(given))
        if problems := [one for one in found if one]:
            raise ValueError("\n".join(problems))
        inertia, speed = 0.0, 1.0
        for at, one in enumerate(inertias):
            # a shaft turns slower than the motor by the stages before it
            inertia += one * speed * speed
            speed /= ratios[at] if at < len(ratios) else 1.0
        return cls(ratio=math.prod(ratios), rotor_inertia=inertia, **values)


_NOT_NEGATIVE = Parameter("", "float", "", None, lower=0.0)


@dataclass(kw_only=True)
class ElasticTransmissionConfig(TransmissionConfig):
    """A gear with a spring, and with backlash if given, between its rotor and the joint.

    The rotor is a mass of its own, whose position and velocity are states of the actuator. It starts with the velocity
    of the joint, in the middle of the backlash. Motor, control law and limits see the rotor. While the actuators are
    attached, the joint has no armature. All else is as in `TransmissionConfig`. The schema is our own.

    With the inertia `I` of the joint and `J = ratio²·rotor_inertia`, rotor and joint oscillate at the frequency
    `ω = sqrt(stiffness·(1/J + 1/I))`. For `h·ω <= 0.25`, a physics step `h` gives its period within 0.3 %, and the
    damping that is asked for. Beyond, the step damps the oscillation itself: with a ratio of 0.05 at 0.35, 0.2 at 0.5,
    and more above, where it ends in a few steps and rotor and joint move as one mass. A spring stiffer than `I/(2h)²`
    acts as one of that stiffness, a damping above `I/(4h)` as that: energy does not grow, also where the joint is half
    as heavy as `I`, heavier, or held.

    Example:
        >>> ElasticTransmissionConfig(100, rotor_inertia=2e-5, stiffness=300.0, backlash=0.01).at_rest(12.0)
        0.045
    """

    SCHEMA: ClassVar[str] = "ActuatorElasticTransmissionAPI"
    IS_RIGID: ClassVar[bool] = False

    rotor_inertia: float = required(**_of_transmission("rotorInertia", "kg·m² or kg", None, lower=0.0, above=True))
    """Inertia of rotor and gear at the motor [kg·m²], above 0."""
    stiffness: float = required(**_of_transmission("stiffness", "N·m/rad or N/m", None, lower=0.0, above=True))
    """Stiffness of the spring at the joint [N·m/rad or N/m], above 0."""
    damping: float = parameter(**_of_transmission("damping", "N·m·s/rad or N·s/m", 0.0, lower=0.0))
    """Damping of the spring at the joint [N·m·s/rad or N·s/m]; with backlash only between teeth that touch."""
    backlash: float = parameter(**_of_transmission("backlash", "rad or m", 0.0, lower=0.0))
    """Whole free play at the joint [rad or m]; 0 for none."""
    rotor_damping: float = parameter(**_of_transmission("rotorDamping", "N·m·s/rad or N·s/m", 0.0, lower=0.0))
    """Viscous friction of the rotor at the motor [N·m·s/rad or N·s/m]."""
    assumed_inertia: float = parameter(**_of_transmission("assumedInertia", "kg·m² or kg", 0.0, lower=0.0))
    """Effective inertia of the joint [kg·m² or kg] for simulators that do not provide it; else it is not used."""

    def at_rest(self, effort: float) -> float:
        """Return the angle of the rotor ahead of the joint [rad or m] under a steady effort at the joint [N·m or N]."""
        side = (effort > 0.0) - (effort < 0.0)
        return effort / self.stiffness + side * self.backlash / 2.0


def transmission_among(stages: Iterable[Config]) -> TransmissionConfig | None:
    """Return the transmission among some configs, or None."""
    return next((one for one in stages if isinstance(one, TransmissionConfig)), None)


def transmission_of(staged: Staged) -> TransmissionConfig | None:
    """Return the transmission of the configs of an actuator, or None."""
    return transmission_among(staged.others)


def at_joint(config: _Config, ratio: object) -> _Config:
    """Return a config of the motor as one of the joint that does the same there.

    A network, whose numbers are in its file, is returned as it is.
    """
    return _converted(config, ratio, 1)


def as_stored(config: _Config, ratio: object, attributes: Mapping[str, str] | None = None) -> _Config:
    """Return a config with the values that files have at the joint, attributes `newton:*`, converted to the joint."""
    return _converted(config, ratio, 1, _at_joint_in_files(config, attributes))


def as_read(config: _Config, ratio: object, attributes: Mapping[str, str] | None = None) -> _Config:
    """Return a config with these values converted to the motor, the inverse of `as_stored`."""
    return _converted(config, ratio, -1, _at_joint_in_files(config, attributes))


def _at_joint_in_files(config: Config, attributes: Mapping[str, str] | None) -> list[str]:
    stored = attributes or {name: rule.attribute for name, rule in parameters_of(config).items()}
    return [name for name, attribute in stored.items() if attribute.startswith("newton:")]


def _converted(config: _Config, ratio: object, power: int, names: Collection[str] | None = None) -> _Config:
    if acts_at_joint(config):
        return config
    changed: dict[str, object] = {}
    for name, rule in parameters_of(config).items():
        value, factor = getattr(config, name), _factor(rule, ratio, power)
        # a word, as 'joint', is not converted
        if factor is None or isinstance(value, str | None) or (names is not None and name not in names):
            continue
        is_table = rule.type == "float[]"
        changed[name] = [one * factor for one in cast(Sequence[float], value)] if is_table else value * factor
    return dataclasses.replace(cast(Any, config), **changed) if changed else config


def _factor(described: Parameter, ratio: Any, power: int) -> Any:
    """Return the factor of a value of this dimension from the motor to the joint; None where both are the same."""
    effort, position = described.dimension
    if effort == position:
        return None
    factor = abs(ratio) ** (power * (effort - position))
    # what may be negative has a direction, but for the velocities of a table, which are those along the effort
    has_direction = (effort + position) % 2 and described.lower == -math.inf and described.type != "float[]"
    return factor * (1.0 - 2.0 * (ratio < 0.0)) if has_direction else factor


def armature(staged: Staged) -> float | None:
    """Return the armature at the joint that the rotor of some configs has [kg·m² or kg]; None where it is not given."""
    given = transmission_of(staged)
    if given is None or not any(entries_of(given.rotor_inertia)):
        return None
    return given.ratio**2 * given.rotor_inertia


def armature_while_attached(staged: Staged) -> float | None:
    """Return the armature that the simulator is to have: none where the rotor is a mass of its own behind a spring."""
    found, gear = armature(staged), transmission_of(staged)
    return found if found is None or gear is None or gear.IS_RIGID else 0.0 * found
