"""The table of laws: from a config to the component that implements it, in canonical order.

The line of a law and its component class determine everything else: built-in classes, order of clamps, numbers in C++,
schema names, public names and pages. A new law needs its config in `specs/configs.py`, its file here and its line
below; `./python.sh tools/generate.py` generates the rest.
"""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ...specs import configs
from ...specs.fields import parameters_of
from ...specs.stages import KINDS, kind_of, place_of

if TYPE_CHECKING:
    import warp as wp

    from ..networks.checkpoint import Checkpoint
    from .base import Component

# the room of the laws
PACKAGE = __name__.rsplit(".", 2)[0]


@dataclass(frozen=True)
class Law:
    """A line of the table: a config, the class that implements it, or classes by the kind of network in the file."""

    config: type[configs.Config]
    name: str | None
    by_network: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def kind(self) -> str:
        """Kind of stage; empty for schemas that the host program registers, each with its kind."""
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
        """The component class, loaded on first use."""
        if self.name is None:
            raise LookupError(f"{self.config.__name__} has no component class of its own. Ask for `name` first.")
        return component_class(self.name)

    @property
    def number(self) -> int:
        """Number of the law in C++, among the laws before controllers, controllers, or stages after them."""
        lines = effort_laws() if KINDS[self.kind].takes_effort else laws(self.kind)
        return (sensing_laws() if self in sensing_laws() else lines).index(self)

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
        """Scalar `wp.func` from the parameters to the arguments of the law, or None."""
        return self.component.PREPARE

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the states of the law."""
        return self.component.STATE

    @property
    def is_plain_limit(self) -> bool:
        """True if all its parameters are constant bounds of the effort."""
        return all(one.bounds == "effort" and one.type == "float" for one in parameters_of(self.config).values())

    @property
    def curves(self) -> Mapping[str, str]:
        """Input of each curve whose value the law takes, by name of the curve."""
        return self.component.CURVES


# clamps read from USD run in the order of their lines; the plain limit is the last one, so that it always holds
LAWS = (
    Law(configs.EncoderConfig, "FeedbackEncoder"),
    Law(configs.TimedDelayConfig, "DelayTimed"),
    # a lag follows the shorter way
    Law(configs.WrapConfig, "CommandWrap"),
    Law(configs.CommandLagConfig, "CommandLag"),
    Law(configs.PDControlConfig, "ControllerPD"),
    Law(configs.PIDControlConfig, "ControllerPID"),
    Law(configs.GearedPDControlConfig, "ControllerGearedPD"),
    Law(configs.GearedPIDControlConfig, "ControllerGearedPID"),
    Law(configs.SlewedPIDControlConfig, "ControllerSlewedPID"),
    Law(configs.ServoControlConfig, "ControllerServo"),
    Law(configs.StartupPDControlConfig, "ControllerStartupPD"),
    Law(configs.StepperControlConfig, "ControllerStepper"),
    # the file of a network determines its class
    Law(
        configs.NeuralControlConfig,
        None,
        {"mlp": "ControllerNeuralMLP", "lstm": "ControllerNeuralLSTM", "gru": "ControllerNeuralGRU"},
    ),
    Law(configs.RateConfig, "RateHold"),
    Law(configs.EffortDelayConfig, "EffortDelayTimed"),
    Law(configs.EffortLagConfig, "EffortLagFirstOrder"),
    Law(configs.ElectricalConfig, "ElectricalWinding"),
    Law(configs.DCMotorClampingConfig, "ClampingDCMotor"),
    Law(configs.DCMotorCutoffClampingConfig, "ClampingDCMotorCutoff"),
    Law(configs.PositionBasedClampingConfig, "ClampingPositionBased"),
    Law(configs.EnvelopeClampingConfig, "ClampingEnvelope"),
    # position of clamps that the host program registered
    Law(configs.ForeignConfig, None),
    Law(configs.MaxEffortClampingConfig, "ClampingMaxEffort"),
    Law(configs.LossesConfig, "LossesOfMotor"),
    Law(configs.ThermalConfig, "ThermalTwoNode"),
    Law(configs.SupplyConfig, "SupplyBattery"),
    Law(configs.TransmissionConfig, "TransmissionGear"),
    Law(configs.ElasticTransmissionConfig, "TransmissionElastic"),
    Law(configs.ShaftFrictionConfig, "ShaftFriction"),
    Law(configs.ShaftInertiaConfig, "ShaftInertia"),
    Law(configs.LinkageConfig, "LinkageShaft"),
    # friction is of the effort with all that else acts on the joint
    Law(configs.RippleConfig, "PassiveRipple"),
    Law(configs.CoggingConfig, "PassiveCogging"),
    Law(configs.FrictionConfig, "PassiveFriction"),
    Law(configs.FrictionCurveConfig, "PassiveFrictionCurve"),
    Law(configs.LuGreFrictionConfig, "PassiveLuGreFriction"),
    Law(configs.BrakeConfig, "PassiveBrake"),
    Law(configs.ImplicitConfig, "ImplicitEffort"),
    Law(configs.DelayConfig, "Delay"),
)

Resolver = Callable[[dict[str, Any]], "type[Component]"]
"""Returns the component class for the authored values of a prim."""

_Stage = TypeVar("_Stage")

_registered: dict[str, type[Component] | Resolver] = {}
_kinds: dict[str, str] = {}


@functools.lru_cache(maxsize=256)
def snake_case(name: str) -> str:
    """Return a class name in snake case: `ClampingDCMotor` as `clamping_dc_motor`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def name_here(name: str) -> str:
    """Return our name of a class of newton.actuators: newton renamed some in 1.6, `ControllerPD` to `DrivePD`."""
    return re.sub("^Drive", "Controller", name).removesuffix("Base")


def later_name(name: str) -> str:
    """Return the name of one of our classes in newton.actuators from 1.6 on; the same if it was not renamed."""
    renamed = re.sub("^Controller", "Drive", name)
    return f"{renamed}Base" if renamed in ("Drive", "Clamping") else renamed


@functools.cache
def component_class(name: str) -> type[Component]:
    """Return the built-in component class of that name, imported on first use from the file of that name."""
    return getattr(importlib.import_module(f"{PACKAGE}.{snake_case(name)}"), name)


@functools.cache
def laws(kind: str | None = None) -> tuple[Law, ...]:
    """Return the lines with a component class, of a kind or of all kinds, in canonical order."""
    return tuple(law for law in LAWS if law.name and kind in (None, law.kind))


@functools.cache
def effort_laws() -> tuple[Law, ...]:
    """Return the lines whose law takes an effort, in canonical order."""
    return tuple(law for law in laws() if KINDS[law.kind].takes_effort)


@functools.cache
def sensing_laws() -> tuple[Law, ...]:
    """Return the lines whose law acts on the inputs of controllers: sensors, delays with a law, laws of commands."""
    return tuple(
        law for kind in ("feedback", "delay", "command") for law in laws(kind) if law.component.LAW is not None
    )


@functools.cache
def _by_class() -> dict[str, Law]:
    return {f"{PACKAGE}.{law.module}.{law.name}": law for law in laws()}


def is_built_in(component_type: type) -> bool:
    """Return True if a class is a built-in component class, including those of networks."""
    name = component_type.__name__
    return any(name in (law.name, *law.by_network.values()) and component_class(name) is component_type for law in LAWS)


def law_of(component_type: type) -> Law | None:
    """Return the line of the law of a component class, its own or inherited; None for a custom law."""
    # base classes are imported already, so this imports nothing
    for base in component_type.__mro__:
        if (law := _by_class().get(f"{base.__module__}.{base.__name__}")) is not None:
            same = all(getattr(component_type, name, None) is getattr(law.component, name) for name in ("LAW", "MOTOR"))
            declared = {name: getattr(law.component, name) for name in ("START", "KEPT", "PUBLISHES", "UNSET_AS")}
            same &= all(getattr(component_type, name, value) == value for name, value in declared.items())
            return law if same else None
    return None


def described_type(component_type: type) -> type:
    """Return the class by which users know a component class: its config; itself for a custom law."""
    return component_type if (law := law_of(component_type)) is None else law.config


def canonical_rank(one: object) -> tuple[int, int]:
    """Return the place in the canonical order of a config, a component or a class: by kind, then by line of the table.

    Custom classes of a kind have the same place.
    """
    given = one if isinstance(one, type) else type(one)
    found = _line_of(given) or law_of(given) or _line_of(configs.ForeignConfig)
    assert found is not None
    return place_of(kind_of(one)), LAWS.index(found)


def in_order(stages: Sequence[_Stage]) -> list[_Stage]:
    """Return stages in the order in which they act: by kind; configs of a kind in canonical order, others as given."""
    if all(isinstance(stage, configs.Config) for stage in stages):
        return sorted(stages, key=canonical_rank)
    return sorted(stages, key=lambda stage: place_of(kind_of(stage)))


def register(schema: str, component_type: type[Component] | Resolver, kind: str) -> None:
    """Register a component class, or a function that returns one, for prims with a schema of the host program."""
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
    _kinds[schema] = kind


def registered_laws(kind: str) -> dict[str, tuple[str, ...] | None]:
    """Return the registered schemas of a kind, with their parameters as `required_parameters` has them."""
    return {schema: required_parameters(one) for schema, one in _registered.items() if _kinds[schema] == kind}


def required_parameters(component_type: type[Component] | Resolver) -> tuple[str, ...] | None:
    """Return the parameters of a component class, if they are all its arguments and required; None if not known."""
    from .base import Component

    if not isinstance(component_type, type):
        return None
    # a config has fallbacks; bound methods of one function are of two classes
    functions = {getattr(one.resolve_arguments, "__func__", None) for one in (component_type, Component)}
    return component_type.PARAMETERS if component_type.CONFIG is None and len(functions) == 1 else None


def class_of(config: configs.Config, checkpoint: Checkpoint | None = None) -> type[Component]:
    """Return the component class that implements a config."""
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
    chosen = registered(dict(config.values) if isinstance(config, configs.ForeignConfig) else {})
    if not isinstance(chosen, type):
        raise ValueError(
            f"{_name_of(registered)}, registered for {config.SCHEMA}, returned {chosen!r}: must be a component class. "
            "Return the class, not an object."
        )
    require_kind(chosen, config.KIND)
    return chosen


def build(
    config: configs.Config, num_actuators: int, device: wp.DeviceLike, checkpoint: Checkpoint | None = None
) -> Component:
    """Return the component of `config` with each value repeated for `num_actuators` actuators."""
    component_type: Any = class_of(config, checkpoint)
    if checkpoint is not None:
        return component_type(checkpoint)
    if not isinstance(config, configs.ForeignConfig):
        return component_type.from_config(config, num_actuators, device)
    return from_arguments(component_type, config.values, num_actuators, device)


def from_arguments(
    component_type: type[Component], values: Mapping[str, object], num_actuators: int, device: wp.DeviceLike
) -> Component:
    """Return a component of a class with scalar arguments, each repeated for `num_actuators` actuators."""
    from .base import repeated

    resolved: dict[str, Any] = component_type.resolve_arguments(dict(values))
    line = law_of(component_type)
    if line is not None and line.config is configs.DelayConfig:
        # delays are integers, and have a maximum that newton's arguments do not have
        return component_type.from_config(configs.DelayConfig(resolved["delay_steps"]), num_actuators, device)
    shared = getattr(component_type, "SHARED_PARAMS", set())
    arguments = {
        name: value if name in shared else repeated(value, num_actuators, device) for name, value in resolved.items()
    }
    return component_type(**arguments)


def _line_of(config_type: type) -> Law | None:
    """Return the line of a config class, its own or inherited; None without one."""
    return next((law for base in config_type.__mro__ for law in LAWS if law.config is base), None)


def require_kind(component_type: object, kind: str) -> None:
    """Raise for an object that is no component class of a kind."""
    from .base import Component

    is_component = isinstance(component_type, type) and issubclass(component_type, Component)
    if not is_component or kind_of(component_type) != kind:
        raise ValueError(
            f"component_class = {_name_of(component_type)}: must be a subclass of {KINDS[kind].family}, since its kind "
            f"is {kind}. Correct the class or the kind."
        )


def _name_of(registered: object) -> str:
    return getattr(registered, "__name__", repr(registered))
