"""The one table of laws: from a config to the component that carries it out, in canonical order.

Everything else about a law follows from its line and its component class: built-in classes, order of clamps, numbers
on the C++ side, schema names, public names and pages. A new law is its config in `specs/configs.py`, its file here and
its line below; `./python.sh tools/generate.py` does the rest.
"""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..specs.configs import (
    CoggingConfig,
    Config,
    DCMotorClampingConfig,
    DCMotorCutoffClampingConfig,
    DelayConfig,
    ForeignConfig,
    FrictionConfig,
    FrictionCurveConfig,
    GearedPDControlConfig,
    GearedPIDControlConfig,
    LuGreFrictionConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from ..specs.fields import parameters_of
from ..specs.stages import KINDS, kind_of, place_of

if TYPE_CHECKING:
    from ..networks.checkpoint import Checkpoint
    from .base import Component

PACKAGE = __package__ or ""


@dataclass(frozen=True)
class Law:
    """A line of the table.

    Args:
        config: What a prim says.
        name: Class that carries it out, which stands in the file of that name; None where none of ours does.
        by_network: Classes that carry it out, by the kind of network, where its file decides.
    """

    config: type[Config]
    name: str | None
    by_network: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def kind(self) -> str:
        """Kind of stage; empty for what the host program registers, which is of the kind that it says."""
        return getattr(self.config, "KIND", "")

    @property
    def schema(self) -> str:
        """USD schema."""
        return self.config.SCHEMA

    @property
    def module(self) -> str:
        """File of the component class: `ClampingDCMotor` is in `clamping_dc_motor`."""
        return snake_case(self.name or "")

    @property
    def component(self) -> type[Component]:
        """The component class, loaded on first use.

        Raises:
            LookupError: The line has none.
        """
        if self.name is None:
            raise LookupError(f"{self.config.__name__} has no component class of its own. Ask for `name` first.")
        return component_class(self.name)

    @property
    def number(self) -> int:
        """Number of the law on the C++ side, among controllers or among those after them."""
        return (effort_laws() if KINDS[self.kind].takes_effort else laws(self.kind)).index(self)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return self.component.PARAMETERS

    @property
    def neutral(self) -> tuple[float, ...]:
        """Value of each parameter with which the law does nothing."""
        return self.component.neutral()

    @property
    def prepare(self) -> Any:
        """Scalar `wp.func` from the parameters to what the law takes of them, or None."""
        return self.component.PREPARE

    @property
    def state(self) -> tuple[str, ...]:
        """Names of what the law remembers."""
        return self.component.STATE

    @property
    def is_plain_limit(self) -> bool:
        """Whether all it says is what the effort does not exceed, whatever the joint does."""
        return all(one.bounds == "effort" and one.type == "float" for one in parameters_of(self.config).values())

    @property
    def curves(self) -> Mapping[str, str]:
        """The curves that the law takes the values of: what each runs over, by name."""
        return self.component.CURVES


# clamps read from USD run in the order of their lines, the plain limit last, so that it holds whatever comes before it
LAWS = (
    Law(PDControlConfig, "ControllerPD"),
    Law(PIDControlConfig, "ControllerPID"),
    Law(GearedPDControlConfig, "ControllerGearedPD"),
    Law(GearedPIDControlConfig, "ControllerGearedPID"),
    # networks compute arrays, and have no law of numbers
    Law(
        NeuralControlConfig,
        None,
        {"mlp": "ControllerNeuralMLP", "lstm": "ControllerNeuralLSTM", "gru": "ControllerNeuralGRU"},
    ),
    Law(DCMotorClampingConfig, "ClampingDCMotor"),
    Law(DCMotorCutoffClampingConfig, "ClampingDCMotorCutoff"),
    Law(PositionBasedClampingConfig, "ClampingPositionBased"),
    # where clamps stand that the host program registered
    Law(ForeignConfig, None),
    Law(MaxEffortClampingConfig, "ClampingMaxEffort"),
    # friction is of the effort with all that else acts on the joint
    Law(CoggingConfig, "PassiveCogging"),
    Law(FrictionConfig, "PassiveFriction"),
    Law(FrictionCurveConfig, "PassiveFrictionCurve"),
    Law(LuGreFrictionConfig, "PassiveLuGreFriction"),
    Law(DelayConfig, "Delay"),
)

Resolver = Callable[[dict[str, Any]], Any]
"""Given the authored values of a prim, returns the component class that carries them out."""

_registered: dict[str, type[Component] | Resolver] = {}


@functools.lru_cache(maxsize=256)
def snake_case(name: str) -> str:
    """`ClampingDCMotor` as `clamping_dc_motor`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def name_here(name: str) -> str:
    """The name that a class of newton.actuators has here: newton renamed some in 1.6, `ControllerPD` to `DrivePD`."""
    return re.sub("^Drive", "Controller", name).removesuffix("Base")


def later_name(name: str) -> str:
    """What newton.actuators calls a class of ours from 1.6 on; the same where it was not renamed."""
    renamed = re.sub("^Controller", "Drive", name)
    return f"{renamed}Base" if renamed in ("Drive", "Clamping") else renamed


@functools.cache
def component_class(name: str) -> type[Component]:
    """The built-in component class of that name, loaded on first use from the file of that name."""
    return getattr(importlib.import_module(f"{PACKAGE}.{snake_case(name)}"), name)


@functools.cache
def laws(kind: str | None = None) -> tuple[Law, ...]:
    """The lines with a component class, of a kind or of all, in canonical order."""
    return tuple(law for law in LAWS if law.name and kind in (None, law.kind))


@functools.cache
def effort_laws() -> tuple[Law, ...]:
    """The lines whose law makes another effort of the one it gets, in canonical order."""
    return tuple(law for law in laws() if KINDS[law.kind].takes_effort)


@functools.cache
def _by_class() -> dict[str, Law]:
    """The lines by the full name of their component class."""
    return {f"{PACKAGE}.{law.module}.{law.name}": law for law in laws()}


def is_built_in(component_type: type) -> bool:
    """Whether a class is a built-in component class itself, a network's among them."""
    name = component_type.__name__
    return any(name in (law.name, *law.by_network.values()) and component_class(name) is component_type for law in LAWS)


def law_of(component_type: type) -> Law | None:
    """The line whose law a component class has, its own or inherited; None for a law of the user's own."""
    # a class can only inherit from what is loaded, so nothing is loaded for the question
    for base in component_type.__mro__:
        if (law := _by_class().get(f"{base.__module__}.{base.__name__}")) is not None:
            same = getattr(component_type, "LAW", None) is law.component.LAW
            return law if same and _is_as_said(law, component_type) else None
    return None


def _is_as_said(law: Law, component_type: type) -> bool:
    """True if a class says of its state what the component class of a line does."""
    said = {name: getattr(law.component, name) for name in ("START", "KEPT", "PUBLISHES")}
    return all(getattr(component_type, name, value) == value for name, value in said.items())


def canonical_rank(one: Any) -> tuple[int, int]:
    """Place in the canonical order of a config or component, or of its class: by kind, then by line of the table.

    The user's own stand together among those of their kind.
    """
    asked = one if isinstance(one, type) else type(one)
    found = _line_of(asked) or law_of(asked) or _line_of(ForeignConfig)
    assert found is not None
    return place_of(kind_of(one)), LAWS.index(found)


def in_order(stages: Sequence[Any]) -> list[Any]:
    """Return stages in the order they act: by kind, configs of a kind in canonical order, others as given."""
    if all(isinstance(stage, Config) for stage in stages):
        return sorted(stages, key=canonical_rank)
    return sorted(stages, key=lambda stage: place_of(kind_of(stage)))


def register(schema: str, component_type: type[Component] | Resolver, kind: str) -> None:
    """Let a component class, or what a callable chooses, carry out prims with a schema of the host program's own.

    Raises:
        ValueError: It is neither, or the class is of another kind.
    """
    if isinstance(component_type, type):
        require_kind(component_type, kind)
    elif not callable(component_type):
        raise ValueError(
            f"component_class = {component_type!r} for {schema}: must be a subclass of {KINDS[kind].family}, or a "
            "function that returns one for the values of a prim. Pass one of them."
        )
    before = _registered.get(schema)
    if before is not None and before is not component_type:
        warnings.warn(
            f"{schema} was registered for {_name_of(before)} and is {_name_of(component_type)} from now on. "
            "Register each schema once.",
            stacklevel=3,
        )
    _registered[schema] = component_type


def class_of(config: Config, checkpoint: Checkpoint | None = None) -> type[Component]:
    """The component class that carries out a config.

    Args:
        config: What a prim says.
        checkpoint: The network that it names, where there is one.

    Raises:
        ValueError: Nothing carries the config out, or the host program's function refuses it.
    """
    found = _line_of(type(config))
    if found is not None and found.name:
        return found.component
    if found is not None and found.by_network:
        if checkpoint is None:
            raise ValueError(f"{config.SCHEMA}: the network was not read. Read it with the prim.")
        return component_class(found.by_network[checkpoint.network.kind])
    registered = _registered.get(config.SCHEMA)
    if registered is None:
        raise ValueError(
            f"{config.SCHEMA}: nothing carries it out. Register a component for it, deactivate the prim or apply "
            "another schema."
        )
    if isinstance(registered, type):
        return registered
    chosen = registered(dict(config.values) if isinstance(config, ForeignConfig) else {})
    if not isinstance(chosen, type):
        raise ValueError(
            f"{_name_of(registered)}, registered for {config.SCHEMA}, returned {chosen!r}: must be a component class. "
            "Return the class, not an object."
        )
    require_kind(chosen, config.KIND)
    return chosen


def build(config: Config, num_actuators: int, device: Any, checkpoint: Checkpoint | None = None) -> Any:
    """Return the component of `config` with each value repeated for `num_actuators` actuators.

    Raises:
        ValueError: Nothing carries the config out, or the network in `checkpoint` cannot be used.
    """
    component_type: Any = class_of(config, checkpoint)
    if checkpoint is not None:
        return component_type(checkpoint)
    if not isinstance(config, ForeignConfig):
        return component_type.from_config(config, num_actuators, device)
    return from_arguments(component_type, config.values, num_actuators, device)


def from_arguments(component_type: Any, values: Mapping[str, Any], num_actuators: int, device: Any) -> Any:
    """Return a component of a class with scalar arguments, each repeated for `num_actuators` actuators.

    Raises:
        ValueError: An argument is missing or out of range.
    """
    from .base import repeated

    resolved = component_type.resolve_arguments(dict(values))
    line = law_of(component_type)
    if line is not None and line.config is DelayConfig:
        # integers, and a largest one that newton's arguments do not have
        return component_type.from_config(DelayConfig(resolved["delay_steps"]), num_actuators, device)
    shared = getattr(component_type, "SHARED_PARAMS", set())
    arguments = {
        name: value if name in shared else repeated(value, num_actuators, device) for name, value in resolved.items()
    }
    return component_type(**arguments)


def _line_of(config_type: type) -> Law | None:
    """The line of a config class, or of one that it inherits from."""
    return next((law for base in config_type.__mro__ for law in LAWS if law.config is base), None)


def require_kind(component_type: Any, kind: str) -> None:
    """Refuse what is no component class of a kind.

    Raises:
        ValueError: Naming what it must be.
    """
    from .base import Component

    is_component = isinstance(component_type, type) and issubclass(component_type, Component)
    if not is_component or kind_of(component_type) != kind:
        raise ValueError(
            f"component_class = {_name_of(component_type)}: must be a subclass of {KINDS[kind].family}, since its kind "
            f"is {kind}. Correct the class or the kind."
        )


def _name_of(registered: Any) -> str:
    return getattr(registered, "__name__", repr(registered))
