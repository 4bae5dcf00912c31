"""The stages of a joint as a header in C has them, and why it cannot have others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from ...components.catalogue import class_of, in_order, snake_case
from ...components.law import FELT_SIGNALS
from ...specs.configs import (
    Config,
    DelayConfig,
    ElasticTransmissionConfig,
    FrictionConfig,
    FrictionCurveConfig,
    LuGreFrictionConfig,
    NeuralControlConfig,
    in_own_steps,
)
from ...specs.engine_friction import is_in_engine
from ...specs.gear_losses import with_losses
from ...specs.stages import KINDS, parts_of
from .c_laws import FUNCTIONS
from .c_stage import LINES
from .losses import Loss, without_motor
from .robot import ExportedJoint, ExportedRobot

# laws that give no effort where the inertia of their joint is not known
_OF_INERTIA = (FrictionConfig, FrictionCurveConfig, LuGreFrictionConfig, ElasticTransmissionConfig)


def stages_of(joint: ExportedJoint) -> list[Config]:
    """Return the stages of a joint in the order in which they act; the losses of a gear are in its friction.

    Friction that a simulator computes is left out: the real joint has it.
    """
    motor = joint.motor
    if motor is None:
        return []
    motor = dataclasses.replace(motor, others=[one for one in with_losses(motor) if not is_in_engine(one)])
    return list(dataclasses.replace(motor, **parts_of(in_order(in_own_steps(motor.stages)))).stages)


def losses(robot: ExportedRobot) -> list[Loss]:
    """Return the joints without a motor, and the friction that a simulator computes."""
    return without_motor(robot) + [
        Loss(joint.name, f"{snake_case(type(one).stem())} with in_engine = True, which the real joint has")
        for joint in robot.joints
        for one in (() if joint.motor is None else joint.motor.stages)
        if is_in_engine(one)
    ]


def refused(joint: ExportedJoint) -> Iterator[str]:
    """Yield a line for each stage of a joint that a header cannot have."""
    stages = stages_of(joint)
    for at, config in enumerate(stages):
        if why := reason(config) or _reason_before(stages[at + 1 :], config):
            name = f"{config.KIND} {snake_case(type(config).stem())}"
            yield f"{joint.name}: {name} {why}. Change the motor by --config, or choose another target."


def reason(config: Config) -> str:
    """Return why a header cannot have a stage; empty if it can."""
    if config.KIND not in LINES:
        return f"is of a kind that a C header cannot have: must be one of {', '.join(LINES)}"
    if not isinstance(config, DelayConfig) and not _has_twin(config):
        return "has no twin in C: must be a law without a network"
    if isinstance(config, _OF_INERTIA) and _needs_inertia(config) and not config.assumed_inertia > 0.0:
        return "has no assumed_inertia, and a C header has no simulator that knows it: must be above zero"
    return ""


def _reason_before(others: Sequence[Config], config: Config) -> str:
    """Return why the stages that follow cannot follow a stage, which has a twin; empty if they can."""
    if isinstance(config, DelayConfig) or not any(KINDS[one.KIND].couples for one in others):
        return ""
    if {*class_of(config).ASKS} & {*FELT_SIGNALS}:
        return "needs the inertia that its motor feels, which a linkage does not say: must be without one of them"
    return ""


def _has_twin(config: Config) -> bool:
    component: Any = None if isinstance(config, NeuralControlConfig) else class_of(config)
    return component is not None and component.LAW is not None and component.LAW.func.__name__ in FUNCTIONS


def _needs_inertia(config: Config) -> bool:
    # with the numbers of MuJoCo it is not used
    return not getattr(config, "mujoco_discretization", False)
