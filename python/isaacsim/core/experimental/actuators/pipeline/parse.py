"""Parse one actuator prim into component classes and arguments, as in newton.actuators 1.2."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..components import catalogue, newton_classes
from ..components.base import Component
from ..errors import ActuatorParseError
from ..extras import needs
from ..specs.actuator_spec import ACTUATOR_TYPE
from ..specs.arguments import require_one, require_type
from ..specs.configs import CONFIGS, ForeignConfig
from ..specs.engine_friction import unattached_problems
from ..specs.fields import parameters_of
from ..specs.stages import KINDS

if TYPE_CHECKING:
    from ..networks.checkpoint import CheckpointPath


class _Tokens(type):
    """Says to type checkers that the names below are there; a name that is not is an error with a hint."""

    def __getattr__(cls, name: str) -> str:
        raise AttributeError(f"SchemaNames has no {name}: known are {', '.join(_TOKENS)}.")


_TOKENS = {"ACTUATOR": ACTUATOR_TYPE} | {
    catalogue.snake_case(config.__name__.removesuffix("Config")).upper(): config.SCHEMA for config in CONFIGS
}

_EARLIER = [config.EARLIER_SCHEMA for config in CONFIGS if config.EARLIER_SCHEMA]


class SchemaNames(metaclass=_Tokens):
    """USD schema tokens of actuators and their components: `PD_CONTROL` is that of `PDControlConfig`, and so on."""

    vars().update(_TOKENS)


class ComponentKind(enum.Enum):
    """Stage of the pipeline a component belongs to."""

    CONTROLLER = "controller"
    # the later name
    DRIVE = "controller"
    CLAMPING = "clamping"
    DELAY = "delay"


@dataclass(init=False)
class ActuatorParsed:
    """What one actuator prim asks for.

    Args:
        controller_class: The control law.
        controller_kwargs: Its scalar arguments, schema fallbacks filled in; `model_path` is a path that holds what was
            read from the file.
        component_specs: Class and scalar arguments of all other stages, kind by kind, and of the delay, last.
        target_path: Path of the first joint it drives; `/Robot/hip.rotX` where it is one axis of several.
        target_paths: Paths of all joints it drives.

    `drive_class` and `drive_kwargs` are later names of the first two.

    Raises:
        TypeError: The control law is given under both names, or under none.
    """

    controller_class: type[Component]
    controller_kwargs: dict[str, Any]
    component_specs: list[tuple[type[Component], dict[str, Any]]] = field(default_factory=list)
    target_path: str = ""
    target_paths: list[str] = field(default_factory=list)

    def __init__(
        self,
        controller_class: type[Component] | None = None,
        controller_kwargs: dict[str, Any] | None = None,
        component_specs: list[tuple[type[Component], dict[str, Any]]] | None = None,
        target_path: str = "",
        target_paths: list[str] | None = None,
        *,
        drive_class: type[Component] | None = None,
        drive_kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.controller_class = require_one("controller_class", controller_class, "drive_class", drive_class)
        if None not in (controller_kwargs, drive_kwargs):
            require_one("controller_kwargs", controller_kwargs, "drive_kwargs", drive_kwargs)
        self.controller_kwargs = (drive_kwargs if controller_kwargs is None else controller_kwargs) or {}
        self.component_specs, self.target_path = component_specs or [], target_path
        self.target_paths = target_paths or []

    @property
    def drive_class(self) -> type[Component]:
        """The control law."""
        return self.controller_class

    @property
    def drive_kwargs(self) -> dict[str, Any]:
        """Its scalar arguments."""
        return self.controller_kwargs


def parse_actuator_prim(
    prim: Any, *, trusted: bool = False, allow_unsafe_torch_checkpoints: bool = False
) -> ActuatorParsed | None:
    """Return what a prim asks for, or None when it is no `NewtonActuator`; numbers are in the units of the stage.

    Args:
        prim: A USD prim.
        trusted: Whether Torch may run the file of a network that is not recognised; see `trust_checkpoints`.
        allow_unsafe_torch_checkpoints: The same by newton's name.

    Raises:
        ActuatorParseError: A `ValueError` that lists every problem of the prim, or what this version cannot drive.
        ModuleNotFoundError: USD is missing, which the extra `usd` brings.
    """
    with needs("parse_actuator_prim", "usd"):
        from ..usd.assets import file_named
        from ..usd.discover import parse_prim

    spec = parse_prim(prim, files=True, trusted=trusted or allow_unsafe_torch_checkpoints)
    if spec is None:
        return None
    if spec.controller is None:
        why = "has no control law, as passive joints do: must have one here. Read it with ArticulationActuators."
        raise ActuatorParseError([f"<{spec.path}> {why}"])
    if problems := unattached_problems(spec.stages, f"<{spec.path}>"):
        raise ActuatorParseError(problems)
    read = None
    if spec.checkpoint is not None:
        from ..networks.checkpoint import CheckpointPath

        read = CheckpointPath(file_named(prim, str(vars(spec.controller)["model_path"])), spec.checkpoint)
    others = [one for one in spec.as_listed if one is not spec.controller]
    try:
        return ActuatorParsed(
            *_class_and_arguments(spec.controller, read),
            component_specs=[_class_and_arguments(config) for config in others],
            target_path=spec.target_paths[0],
            target_paths=list(spec.target_paths),
        )
    except ValueError as error:
        raise ActuatorParseError([f"<{spec.path}>: {error}"]) from error


def register_actuator_component(
    schema_name: str,
    component_class: type[Component] | Callable[[dict[str, Any]], type[Component]],
    kind: ComponentKind | str,
) -> None:
    """Let prims with a schema of your own be carried out by a component of your own.

    The component gets every authored `newton:*` value of the prim, names in snake case, through its
    `resolve_arguments`. Only the host program can register; a stage cannot.

    Args:
        schema_name: Applied API schema.
        component_class: Subclass of the base class of that kind, ours or newton's, or a function that returns one for
            the values of a prim; it may refuse them by a `ValueError`.
        kind: Kind of stage, by name or of the enumeration; newton's enumeration is taken too.

    Raises:
        ValueError: The schema is one of the built-in ones, or the component is neither class nor function.
        ModuleNotFoundError: USD is missing, which the extra `usd` brings.
    """
    with needs("register_actuator_component", "usd"):
        from ..usd.schema import accept_schema

    require_type("schema_name", schema_name, str, "the name of a schema")
    if not (isinstance(kind, str) and kind in KINDS):
        require_type("kind", kind, enum.Enum, f"a ComponentKind, or one of {', '.join(KINDS)}")
    if schema_name in (*_TOKENS.values(), *_EARLIER):
        raise ValueError(
            f"{schema_name} is built in and cannot be registered again. Give your schema a name of its own."
        )
    name = kind if isinstance(kind, str) else newton_classes.kind_of(kind)
    catalogue.register(schema_name, newton_classes.component_class(component_class), name)
    accept_schema(schema_name, name)


def _class_and_arguments(config: Any, read: CheckpointPath | None = None) -> tuple[type[Component], dict[str, Any]]:
    component_class = catalogue.class_of(config, None if read is None else read.checkpoint)
    if read is not None:
        # what was read stays what was checked
        return component_class, {"model_path": read}
    if isinstance(config, ForeignConfig):
        return component_class, component_class.resolve_arguments(dict(config.values))
    others = [name for name, one in parameters_of(config).items() if not one.of_law]
    return component_class, {name: value for name, value in vars(config).items() if name not in others}
