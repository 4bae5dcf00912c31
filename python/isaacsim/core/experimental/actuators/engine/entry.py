"""Input of a plan: the components of one actuator and the joints it drives."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import warp as wp

from ..base.errors import ActuatorParseError
from ..laws.contract import catalogue, newton_classes
from ..laws.contract.base import Clamping, Component, Controller, check_type, require_arrays
from ..laws.delay import Delay
from ..specs.actuator_spec import ActuatorSpec
from ..specs.arguments import require_one, require_type
from ..specs.combinations import others_together
from ..specs.configs import ClampingConfig, Config, ControlConfig, DelayConfig, in_own_steps
from ..specs.engine_friction import unattached_problems
from ..specs.implicit import ImplicitConfig
from ..specs.stages import KINDS, AnyStage, Staged, kind_of, parts_of, places_of
from ..specs.transmission import armature


@dataclass(init=False)
class ActuatorConfig(Staged):
    """An actuator built in Python, for `ArticulationActuators.from_actuators`.

    Each part is a config, whose values are numbers or arrays `(num_robots,)`, or a component of this package or of
    newton.actuators from version 1.2 on, or of a subclass of either.

    Args:
        controller: The control law, the arrays of a component sized `(num_robots,)`.
        clamping: Effort limits. Configs act in canonical order, maximum effort last; a list with a component keeps its
            own order.
        delay: Command delay, or None.
        drive: Later name of `controller`.
        others: Stages of other kinds. Without a controller they make a passive joint.

    Raises:
        TypeError: The limits are no list, or both `controller` and `drive` are given.
        ValueError: A required controller is missing, or a stage is of another kind or cannot be used.
        NotImplementedError: The class of a component of newton does not override an abstract method.
    """

    controller: Controller | ControlConfig | None = None
    clamping: list[Clamping | ClampingConfig] = field(default_factory=list)
    delay: Delay | DelayConfig | None = None
    others: list[Component | Config] = field(default_factory=list)

    def __init__(
        self,
        controller: Controller | ControlConfig | None = None,
        clamping: Sequence[Clamping | ClampingConfig] | None = None,
        delay: Delay | DelayConfig | None = None,
        others: Sequence[Component | Config] = (),
        *,
        drive: Controller | ControlConfig | None = None,
    ) -> None:
        self.controller = controller if drive is None else require_one("controller", controller, "drive", drive)
        # `check_config` refuses objects that are no lists
        limits: Any = [] if clamping is None else clamping
        rest: Any = others
        self.clamping, self.delay, self.others = limits, delay, rest
        check_config(self)

    @property
    def drive(self) -> Controller | ControlConfig | None:
        """The control law, by its later name."""
        return self.controller


def check_config(config: ActuatorConfig) -> None:
    """Raise for a config that no robot can use."""
    clamps = () if config.clamping is None else config.clamping
    require_type("ActuatorConfig: clamping", clamps, Sequence, "a list of limits")
    require_type("ActuatorConfig: others", config.others, Sequence, "a list of stages")
    # a passive joint has an effort mode where all joints have one
    kinds = {kind for kind, _ in config.by_kind if kind} - {ImplicitConfig.KIND}
    if config.controller is None and not (kinds and all(KINDS[kind].alone for kind in kinds)):
        raise ValueError(
            "ActuatorConfig: controller = None: must be a Controller where there are limits or a delay, or where there "
            "is nothing else. Give the control law."
        )
    for place, component in places_of(config):
        kind = place.partition("[")[0]
        # values of a config are checked once the number of robots is known
        if not (isinstance(component, Config) and kind_of(component) == kind):
            _check_component(component, kind, f"ActuatorConfig: {place}")


def _required_parameters(kind: type) -> tuple[str, ...]:
    law = catalogue.law_of(kind)
    return _required_arguments(law.component) if law else ()


@functools.cache
def _required_arguments(component: type) -> tuple[str, ...]:
    """Return the required arguments of a class; asked for each component of each robot, and slow to find."""
    signature = inspect.signature(component).parameters
    return tuple(name for name, one in signature.items() if one.default is inspect.Parameter.empty)


def _check_component(component: object, kind: str, subject: str) -> None:
    try:
        known = newton_classes.adopted_copy(component)
    except (ValueError, OSError, NotImplementedError) as error:
        kind_of_error = NotImplementedError if isinstance(error, NotImplementedError) else ValueError
        raise kind_of_error(f"{subject} = {component!r}: {error}") from error
    if not (isinstance(known, Component) and kind_of(known) == kind):
        family = KINDS[kind].family if kind else "stage of an actuator"
        raise ValueError(f"{subject} = {component!r}: must be a {family}. Give one, or leave it out.")
    required = _required_parameters(type(known))
    # an attribute is missing if a plan owns it, or if a custom computation does not use it
    for name in known.PARAMETERS:
        array = vars(known).get(name)
        if array is not None or (name in required and name in vars(known)):
            require_arrays(known, **{name: array})
            check_type(f"{subject}, {type(known).__name__}", name, array)


@dataclass(eq=False)
class ActuatorEntry(Staged):
    """Components bound to the joints of one prim, or to one joint when built in Python.

    The components' parameters are live: writing `actuator.controller.kp` acts at the next step.
    """

    label: str  # prim path, or joint name of an actuator built in Python
    dof_names: tuple[str, ...]
    controller: Controller | None  # its arrays are `(num_robots · len(dof_names),)`, robot-major
    clamping: list[Clamping]  # in the order they are applied
    delay: Delay | None
    shared: bool = False  # all robots have the same parameters, as the robots of one prim do
    others: list[Component] = field(default_factory=list)
    sweeps: int = 0  # with which its friction is solved together with that of other joints


def entry_from_spec(spec: ActuatorSpec, num_robots: int, device: wp.DeviceLike) -> ActuatorEntry:
    """Return the entry of a spec, from a prim or from a motor of a program, for `num_robots` robots.

    If newton.actuators is imported, the components are also instances of the corresponding classes of its version.
    """
    try:
        spec = dataclasses.replace(spec, others=others_together(spec))
        if problems := unattached_problems(spec.stages, f"joints {', '.join(spec.dof_names)}"):
            raise ValueError("\n".join(problems))
        count = num_robots * len(spec.targets)
        made = []
        for config in catalogue.in_order(in_own_steps(spec.stages)):
            checkpoint = spec.checkpoint if config is spec.controller else None
            made.append(newton_classes.as_newton_instance(catalogue.build(config, count, device, checkpoint)))
        give_rotor(made, spec)
        shared = not any(np.ndim(value) == 2 for config in spec.stages for value in vars(config).values())
        sweeps = max((int(np.max(getattr(config, "sweeps", 0))) for config in spec.others), default=0)
        return ActuatorEntry(label=spec.path, dof_names=spec.dof_names, shared=shared, sweeps=sweeps, **parts_of(made))
    except ValueError as error:
        where = f"<{spec.path}>" if spec.path.startswith("/") else f"motors[{spec.path!r}]"
        raise ActuatorParseError([f"{where}: {error}"]) from error


def effort_modes(entry: ActuatorEntry) -> list[Component]:
    """Return the effort modes of an actuator; none if its efforts are those of the start of the step."""
    return [stage for stage in entry.stages if getattr(type(stage), "END", None) is not None]


def give_rotor(stages: Iterable[AnyStage], staged: Staged) -> None:
    """Set the inertia at the shaft of a linkage among some components, of the configs that these were built from."""
    for stage in stages:
        if KINDS[stage.KIND].couples and (rotor := armature(staged)) is not None:
            stage.inertia = float(np.max(rotor))
