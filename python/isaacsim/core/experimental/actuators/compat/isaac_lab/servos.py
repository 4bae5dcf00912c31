"""Cfgs of hobby servos that BAM identified, of Isaac Lab's development branch, as stages of `MotorConfig.from_bam`.

Source: that branch after 3.0.0, which is not released: fields and defaults as known. Its friction is that of the
simulator, with the quadratic term as in BAM's documentation; its largest effort is by default that of the held motor,
`vin·kt/R`.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping
from typing import Any

from ...specs.bam import play_of
from ...specs.configs import FrictionConfig
from ...specs.motors import MotorConfig
from .kinds import Cfg

# value without effect, and what to do instead
_NOT_RUN = {
    "vin_range": (None, "Leave it out, and randomize the voltage of the motors"),
    "vin_drop_gain_range": (None, "Leave it out, and give the robot a SupplyConfig"),
    "delay_hold_prob": (0.0, "Leave it out: a delay is drawn at each reset"),
    "delay_update_period": (0, "Leave it out: a delay is drawn at each reset"),
}
_FRICTION = ("friction", "dynamic_friction", "viscous_friction")


def servo_problems(cfg: object) -> list[str]:
    """Return what of a cfg is not run here, or given twice."""
    found = [
        f"{name} = {own!r}: must be {value!r}. {remedy}."
        for name, (value, remedy) in _NOT_RUN.items()
        if (own := getattr(cfg, name, value)) not in (value, None)
    ]
    found += _missing({name: getattr(cfg, name, None) for name in ("motor", "kp_fw", "vin")})
    # what MotorConfig.from_bam does not say before the largest effort is known
    if getattr(cfg, "motor", None) not in (None, dataclasses.MISSING):
        found += _missing({f"motor.{name}": _motor(cfg).get(name) for name in ("kt", "resistance")})
    names = map(operator.attrgetter("__name__"), type(cfg).__mro__)
    if "BamBacklashActuatorCfg" in names and not hasattr(cfg, "backlash"):
        found.append(
            "its play is that of a joint passive_<joint>_backlash, whose sum with the joint its firmware reads: must "
            "be a value. Give BamActuatorCfg beside such a joint, or this class of compat.isaac_lab with backlash, "
            "whose firmware reads the motor."
        )
    return found + [
        f"{name} = {value!r}: must be None, for the motor has friction. Leave it out."
        for name in _FRICTION
        if (value := getattr(cfg, name, None)) is not None
    ]


def _missing(values: Mapping[str, object]) -> list[str]:
    """Return the names of values that a servo needs and has not, each as a message."""
    return [
        f"{name} is missing: must be given for a servo. Set it."
        for name, value in values.items()
        if value in (None, dataclasses.MISSING)
    ]


def stall_effort(cfg: Cfg) -> float:
    """Return the effort of the held motor at full voltage [N·m]."""
    motor = _motor(cfg)
    return float(cfg.vin) * float(motor["kt"]) / float(motor["resistance"])


def servo_of(cfg: Cfg, armature: float, backlash: float | None = None) -> MotorConfig:
    """Return a servo without limit and delay, with the armature [kg·m²] and the whole free play [rad] of its joint."""
    parameters = _motor(cfg) | {"kp": cfg.kp_fw, "vin": cfg.vin}
    # numbers of other friction models are not used, as in BAM
    made = MotorConfig.from_bam(parameters, quadratic_when_opposed=False, unused={})
    others = [
        dataclasses.replace(one, assumed_inertia=armature) if isinstance(one, FrictionConfig) else one
        for one in made.others
    ]
    if backlash is not None:
        others.append(play_of(backlash, armature))
    return dataclasses.replace(made, others=others)


def _motor(cfg: Cfg) -> dict[str, Any]:
    """Return the numbers of the motor of a cfg, ours or Isaac Lab's own, with those that its class has."""
    motor = cfg.motor
    if isinstance(motor, Mapping):
        return dict(motor)
    named = {name: getattr(motor, name) for name in dir(motor) if not name.startswith("_")}
    return {name: value for name, value in named.items() if not callable(value)}
