"""Combinations of stages: those that do not work, on one line each, and what stages have of each other."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, cast

from ..base.errors import shown
from .engine_friction import is_friction
from .fields import entries_of
from .gear_losses import loss_problems, with_losses
from .servo import voltage_problems
from .stages import KINDS, AnyStage, Staged, is_linked, kind_of
from .thermal import copper_problems, heat_problems, with_copper
from .transmission import transmission_of

if TYPE_CHECKING:
    from .motors import MotorConfig

# relative difference between an armature and that of a rotor that is one of rounding
_SAME = 0.05


def misfits(motor: MotorConfig, subject: str) -> list[str]:
    """Return what is wrong between the stages of a motor, and between them and the properties of its joint."""
    kinds = {kind for kind, _ in motor.by_kind}
    problems: list[str] = []
    if motor.controller is None and not all(KINDS[kind].alone for kind in kinds):
        problems.append(f"{subject} has limits or a delay and no controller, whose they are. Add one, or remove them.")
    problems += _friction_problems(motor, subject)
    problems += combination_problems(motor, subject)
    if "transmission" in kinds:
        problems += _armature_beside_rotor(motor, subject)
    schemas = [stage.SCHEMA for stage in motor.stages]
    return problems + [
        f"{subject} has {type(stage).__name__} twice: must have each stage once. Remove one of them."
        for at, stage in enumerate(motor.stages)
        if stage.SCHEMA in schemas[:at]
    ]


def _friction_problems(motor: MotorConfig, subject: str) -> list[str]:
    """Return what is wrong with friction beside that of a stage, which is the whole friction of the joint."""
    frictions = [type(stage).__name__ for stage in motor.stages if is_friction(stage)]
    if not frictions:
        return []
    first, *more = frictions
    problems = [f"{subject} has {first} and {other}: must have one friction. Remove one of them." for other in more]
    return problems + [
        f"{subject}.{name} = {shown(value)} beside {first}: must not be given, for the stage is the whole friction "
        f"of the joint. Give it there, or remove the stage."
        for name in ("friction", "viscous_friction")
        if any(entries_of(value := getattr(motor, name)))
    ]


def combination_problems(staged: Staged, subject: str) -> list[str]:
    """Return what is wrong between the stages of a motor; `subject` begins each message."""
    kinds = {kind for kind, _ in staged.by_kind}
    checks = {
        voltage_problems: "electrical" in kinds or getattr(staged.controller, "IN_VOLTS", False),
        heat_problems: "thermal" in kinds,
        copper_problems: {"electrical", "thermal"} <= kinds,
        loss_problems: "transmission" in kinds,
    }
    return [problem for check, applies in checks.items() if applies for problem in check(staged, subject)]


def others_together(staged: Staged) -> list[AnyStage]:
    """Return the other stages of an actuator as they act: gear losses are in its friction, and its copper warms up."""
    kinds = set(map(kind_of, staged.others))
    others = with_losses(staged) if "transmission" in kinds else list(staged.others)
    return with_copper(others) if {"electrical", "thermal"} <= kinds else others


def _armature_beside_rotor(motor: MotorConfig, subject: str) -> list[str]:
    """Return what is wrong between an armature and the rotor of a transmission, which is the same inertia."""
    gear = transmission_of(motor)
    numbers = (motor.armature, gear.ratio, gear.rotor_inertia) if gear is not None else (None,)
    # values by joint or robot are of a program that knows what it does; of a linkage the joint has other rotors, too
    if gear is None or is_linked(motor) or not all(isinstance(one, Real) for one in numbers) or not gear.rotor_inertia:
        return []
    rotor = gear.ratio**2 * gear.rotor_inertia
    if abs(cast(float, motor.armature) - rotor) <= _SAME * rotor:
        return []
    return [
        f"{subject}.armature = {shown(motor.armature)} beside rotor_inertia = {shown(gear.rotor_inertia)}: must be "
        f"that of the rotor at the joint, ratio²·rotor_inertia = {rotor:.4g}. Leave it out, or correct either."
    ]
