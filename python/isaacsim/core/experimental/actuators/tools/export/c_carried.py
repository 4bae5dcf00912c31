"""The stages of a joint as a header in C has them, and why it cannot have others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from ...laws.contract.catalogue import class_of, in_order
from ...laws.contract.law import FELT_SIGNALS
from ...specs.combinations import others_together
from ...specs.configs import Config, DelayConfig, NeuralControlConfig, in_own_steps
from ...specs.engine_friction import is_in_engine
from ...specs.fields import parameters_of
from ...specs.stages import KINDS, parts_of
from .c_stage import LINES
from .law_translator import functions
from .losses import Loss, of_feature
from .robot import ExportedJoint, ExportedRobot, name_of


def stages_of(joint: ExportedJoint) -> list[Config]:
    """Return the stages of a joint in the order in which they act, each with what it has of others.

    Friction that a simulator computes is left out: the real joint has it.
    """
    motor = joint.motor
    if motor is None:
        return []
    motor = dataclasses.replace(motor, others=[one for one in others_together(motor) if not is_in_engine(one)])
    return list(dataclasses.replace(motor, **parts_of(in_order(in_own_steps(motor.stages)))).stages)


def left(robot: ExportedRobot) -> list[Loss]:
    """Return the friction that a simulator computes, and armature and friction of joints without a stage for them."""
    motors = [(joint, joint.motor) for joint in robot.joints if joint.motor is not None]
    engine = [
        Loss(joint, f"law {name_of(one)} with in_engine = True")
        for joint, motor in motors
        for one in motor.stages
        if is_in_engine(one)
    ]
    own = [(joint, name) for joint, motor in motors for name in joint.features if getattr(motor, name, None)]
    return engine + [of_feature(joint, name) for joint, name in own]


def refused(joint: ExportedJoint) -> Iterator[str]:
    """Yield a line for each stage of a joint that a header cannot have."""
    stages = stages_of(joint)
    for at, config in enumerate(stages):
        if why := reason(config) or _reason_before(stages[at + 1 :], config):
            yield f"{joint.name}: {name_of(config)} {why}. Change the motor by --config, or choose another target."


def reason(config: Config) -> str:
    """Return why a header cannot have a stage; empty if it can."""
    if config.KIND not in LINES:
        return f"is of a kind that a C header cannot have: must be one of {', '.join(LINES)}"
    if not isinstance(config, DelayConfig) and not _has_twin(config):
        return "has no twin in C: must be a law without a network"
    if _needs_inertia(config) and not getattr(config, "assumed_inertia", 0.0) > 0.0:
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
    return component is not None and component.LAW is not None and component.LAW.func.__name__ in functions()


def _needs_inertia(config: Config) -> bool:
    """Return True for a law that gives no effort where the inertia of its joint is not known."""
    # with the numbers of MuJoCo it is not used
    if "assumed_inertia" not in parameters_of(type(config)) or getattr(config, "mujoco_discretization", False):
        return False
    return not {"inertia", "shaft_inertia"}.isdisjoint(class_of(config).ASKS)
