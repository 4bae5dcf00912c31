"""Parse one actuator prim into component classes and arguments, as in newton.actuators 1.2."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..base.errors import ActuatorParseError
from ..base.extras import needs
from ..laws.contract import catalogue, newton_classes
from ..laws.contract.base import Component
from ..specs.actuator_spec import ACTUATOR_TYPE
from ..specs.arguments import require_one, require_type
from ..specs.configs import CONFIGS, ForeignConfig
from ..specs.engine_friction import unattached_problems
from ..specs.fields import parameters_of
from ..specs.stages import KINDS

if TYPE_CHECKING:
    from ..laws.networks.checkpoint import CheckpointPath
    from ..specs.config import Config
    from .usd.handles import Prim


class _Tokens(type):
    """Declares the names to type checkers; an unknown name raises an error that lists the known ones."""

    def __getattr__(cls, name: str) -> str:
        raise AttributeError(f"SchemaNames has no {name}: known are {', '.join(_TOKENS)}.")


_TOKENS = {"ACTUATOR": ACTUATOR_TYPE} | {
    catalogue.snake_case(config.__name__.removesuffix("Config")).upper(): config.SCHEMA for config in CONFIGS
}

_EARLIER = [config.EARLIER_SCHEMA for config in CONFIGS if config.EARLIER_SCHEMA]


class SchemaNames(metaclass=_Tokens):
    """USD schema tokens of actuators and their components, such as `PD_CONTROL` for `PDControlConfig`."""

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
    """Component classes and arguments of one actuator prim.

    Args:
        controller_class: The control law.
        controller_kwargs: Its scalar arguments, with the fallbacks of the schema; `model_path` is a path that holds the
            content of the file.
        component_specs: Class and scalar arguments of all other stages, by kind, the delay last.
        target_path: Path of the first joint it drives; `/Robot/hip.rotX` for one of several axes.
        target_paths: Paths of all joints it drives.

    `drive_class` and `drive_kwargs` are later names of the first two.

    Raises:
        TypeError: The control law is given under both names, or under neither.
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
    prim: Prim, *, trusted: bool = False, allow_unsafe_torch_checkpoints: bool = False
) -> ActuatorParsed | None:
    """Parse a prim, or return None if it is no `NewtonActuator`; numbers are in the units of the stage.

    Args:
        prim: A USD prim.
        trusted: True if Torch may run a network file of unknown layout; see `trust_checkpoints`.
        allow_unsafe_torch_checkpoints: newton's name of `trusted`.

    Raises:
        ActuatorParseError: A `ValueError` that lists every problem of the prim, or the parts that this version does not
            support.
        ModuleNotFoundError: USD is missing; the extra `usd` installs it.
    """
    with needs("parse_actuator_prim", "usd"):
        from .usd.assets import file_named
        from .usd.discover import parse_prim

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
        from ..laws.networks.checkpoint import CheckpointPath

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
    """Register a custom component for prims with a custom schema.

    The component gets every authored `newton:*` value of the prim, with names in snake case, through its
    `resolve_arguments`. Only the host program can register components; a stage cannot.

    Args:
        schema_name: Applied API schema.
        component_class: Subclass of the base class of that kind, of this package or of newton, or a function that
            returns one for the values of a prim; it may raise `ValueError` to refuse them.
        kind: Kind of stage, by name or as a member of this enumeration or newton's.

    Raises:
        ValueError: The schema is built in, or the component is neither a class nor a function.
        ModuleNotFoundError: USD is missing; the extra `usd` installs it.
    """
    with needs("register_actuator_component", "usd"):
        from .usd.schema import accept_schema

    require_type("schema_name", schema_name, str, "the name of a schema")
    if not (isinstance(kind, str) and kind in KINDS):
        require_type("kind", kind, enum.Enum, f"a ComponentKind, or one of {', '.join(KINDS)}")
    if schema_name in (*_TOKENS.values(), *_EARLIER):
        raise ValueError(
            f"{schema_name} is built in and cannot be registered again. Give your schema a name of its own."
        )
    name = kind if isinstance(kind, str) else newton_classes.kind_of(kind)
    adopted = newton_classes.component_class(component_class)
    catalogue.register(schema_name, adopted, name)
    accept_schema(schema_name, name, catalogue.required_parameters(adopted))


def _class_and_arguments(config: Config, read: CheckpointPath | None = None) -> tuple[type[Component], dict[str, Any]]:
    component_class = catalogue.class_of(config, None if read is None else read.checkpoint)
    if read is not None:
        # the content that was checked is the content that is used
        return component_class, {"model_path": read}
    if isinstance(config, ForeignConfig):
        return component_class, component_class.resolve_arguments(dict(config.values))
    taken = {name: one for name, one in parameters_of(config).items() if one.of_law}
    return component_class, {name: one.number(getattr(config, name)) for name, one in taken.items()}
