"""Parse one actuator prim into component classes and arguments, as in newton.actuators 1.2."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from ..components import catalogue
from ..components.base import Component
from ..specs.configs import (
    DCMotorClampingConfig,
    DelayConfig,
    ForeignConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from ..usd.discover import parse_prim
from ..usd.schema import ACTUATOR_TYPE, accept_schema


class SchemaNames:
    """USD schema tokens of actuators and their components."""

    ACTUATOR = ACTUATOR_TYPE
    PD_CONTROL = PDControlConfig.SCHEMA
    PID_CONTROL = PIDControlConfig.SCHEMA
    NEURAL_CONTROL = NeuralControlConfig.SCHEMA
    MAX_EFFORT_CLAMPING = MaxEffortClampingConfig.SCHEMA
    DC_MOTOR_CLAMPING = DCMotorClampingConfig.SCHEMA
    POSITION_BASED_CLAMPING = PositionBasedClampingConfig.SCHEMA
    DELAY = DelayConfig.SCHEMA


class ComponentKind(enum.Enum):
    """Stage of the pipeline a component belongs to."""

    CONTROLLER = "controller"
    CLAMPING = "clamping"
    DELAY = "delay"


@dataclass
class ActuatorParsed:
    """What one actuator prim asks for.

    Args:
        controller_class: The control law.
        controller_kwargs: Its scalar arguments, schema fallbacks filled in.
        component_specs: Class and scalar arguments of clamps, in authored order, and of the delay, last.
        target_path: Path of the first joint it drives.
        target_paths: Paths of all joints it drives.
    """

    controller_class: type[Component]
    controller_kwargs: dict[str, Any]
    component_specs: list[tuple[type[Component], dict[str, Any]]] = field(default_factory=list)
    target_path: str = ""
    target_paths: list[str] = field(default_factory=list)


def parse_actuator_prim(prim: Any) -> ActuatorParsed | None:
    """Return what a prim asks for, or None when it is no `NewtonActuator`.

    Args:
        prim: A USD prim.

    Raises:
        ActuatorParseError: A `ValueError` that lists every problem of the prim.
        ValueError: The prim asks for something this version cannot drive.
    """
    spec = parse_prim(prim)
    if spec is None:
        return None
    others = [*spec.clamping, *([spec.delay] if spec.delay else [])]
    return ActuatorParsed(
        *_class_and_arguments(spec.controller),
        component_specs=[_class_and_arguments(config) for config in others],
        target_path=spec.targets[0],
        target_paths=list(spec.targets),
    )


def register_actuator_component(schema_name: str, component_class: type[Component], kind: ComponentKind) -> None:
    """Let prims with a schema of your own be carried out by a component of your own.

    The component gets every authored `newton:*` value of the prim, names in snake case, through its
    `resolve_arguments`. Only the host program can register; a stage cannot.

    Args:
        schema_name: Applied API schema.
        component_class: Subclass of `Controller`, `Clamping` or `Delay`.
        kind: Stage of the pipeline.

    Raises:
        ValueError: The schema is one of the built-in ones.
    """
    builtin = {value for name, value in vars(SchemaNames).items() if name.isupper()}
    if schema_name in builtin:
        raise ValueError(
            f"{schema_name} is built in and cannot be registered again. Give your schema a name of its own."
        )
    catalogue.register(schema_name, component_class)
    accept_schema(schema_name, kind.value)


def _class_and_arguments(config: Any) -> tuple[type[Component], dict[str, Any]]:
    component_class = catalogue.class_of(config)
    if isinstance(config, ForeignConfig):
        return component_class, component_class.resolve_arguments(dict(config.values))
    return component_class, dict(vars(config))
