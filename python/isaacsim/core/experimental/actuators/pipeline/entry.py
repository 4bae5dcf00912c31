"""What the plan compiles: the components of one actuator and the joints it drives."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..compat import newton
from ..components import catalogue
from ..components.base import Clamping, Controller, check_type, require_arrays
from ..components.delay import Delay
from ..errors import ActuatorParseError
from ..specs.actuator_spec import ActuatorSpec
from ..specs.arguments import require_one, require_type
from ..specs.configs import ClampingConfig, Config, ControlConfig, DelayConfig


@dataclass(init=False)
class ActuatorConfig:
    """An actuator built in Python, for `ArticulationActuators.from_actuators`.

    Each part is a config, whose values are numbers or arrays `(num_robots,)`, or a component: ours or newton.actuators'
    own, of version 1.2 or later, or of a subclass of either.

    Args:
        controller: The control law, the arrays of a component sized `(num_robots,)`.
        clamping: Effort limits. Configs act in canonical order, maximum effort last; a list with a component keeps its
            own order.
        delay: Command delay, or None.
        drive: Later name of `controller`.

    Raises:
        TypeError: The limits are no list, or there is a control law under each name.
        ValueError: There is no controller, something is no clamp or no delay, or cannot be used.
    """

    controller: Controller | ControlConfig
    clamping: list[Clamping | ClampingConfig] = field(default_factory=list)
    delay: Delay | DelayConfig | None = None

    def __init__(
        self,
        controller: Controller | ControlConfig | None = None,
        clamping: Sequence[Clamping | ClampingConfig] | None = None,
        delay: Delay | DelayConfig | None = None,
        *,
        drive: Controller | ControlConfig | None = None,
    ) -> None:
        law: Any = controller if drive is None else require_one("controller", controller, "drive", drive)
        clamps: Any = [] if clamping is None else clamping
        self.controller, self.clamping = law, clamps
        self.delay = delay
        check_config(self)

    @property
    def drive(self) -> Controller | ControlConfig:
        """The control law, by its later name."""
        return self.controller


def check_config(config: ActuatorConfig) -> None:
    """Refuse a config that could drive no robot.

    Raises:
        ValueError: A component is of another kind, cannot be used, or has an array of another type.
    """
    given: list[tuple[str, Any, Any, str]] = [("controller", config.controller, Controller, "Give the control law.")]
    clamps = () if config.clamping is None else config.clamping
    require_type("ActuatorConfig: clamping", clamps, Sequence, "a list of limits")
    for number, clamp in enumerate(clamps):
        given.append((f"clamping[{number}]", clamp, Clamping, "Give one, or leave it out."))
    if config.delay is not None:
        given.append(("delay", config.delay, Delay, "Give one, or leave it out."))
    for name, component, family, remedy in given:
        subject = f"ActuatorConfig: {name}"
        if isinstance(component, Config) and component.KIND == name.partition("[")[0]:
            # its values are checked where the number of robots is known
            continue
        try:
            known = newton.stand_in(component)
        except (ValueError, OSError) as error:
            raise ValueError(f"{subject} = {component!r}: {error}") from error
        if not isinstance(known, family):
            raise ValueError(f"{subject} = {component!r}: must be a {family.__name__}. {remedy}")
        law = catalogue.law_of(type(known))
        needed = inspect.signature(law.component).parameters if law else {}
        # an attribute that is not there is in a plan, or a computation of the user's own does without
        for parameter in [name for name in known.PARAMETERS if name in vars(known)]:
            array = vars(known)[parameter]
            if array is not None or (parameter in needed and needed[parameter].default is inspect.Parameter.empty):
                require_arrays(known, **{parameter: array})
                check_type(f"{subject}, {type(known).__name__}", parameter, array)


@dataclass(eq=False)
class ActuatorEntry:
    """Components bound to the joints of one prim, or to one joint when built in Python.

    The components' parameters are live: writing `actuator.controller.kp` acts at the next step.

    Args:
        label: Prim path, or joint name of an actuator built in Python.
        dof_names: Names of the driven joints.
        controller: The control law; its arrays have shape `(num_robots · len(dof_names),)`, robot-major.
        clamping: Effort limits in the order they are applied.
        delay: Command delay, or None.
        shared: Whether all robots have the same parameters, as those of one prim do.
    """

    label: str
    dof_names: tuple[str, ...]
    controller: Controller
    clamping: list[Clamping]
    delay: Delay | None
    shared: bool = False

    @property
    def components(self) -> list[Any]:
        """All components in pipeline order."""
        return [part for part in (self.delay, self.controller, *self.clamping) if part is not None]


def entry_from_spec(spec: ActuatorSpec, num_robots: int, device: Any) -> ActuatorEntry:
    """Return the actuator that carries out a spec on `num_robots` robots, that of a prim or of a program's motor.

    Where newton.actuators was imported before, its components are instances of newton's classes too, of those that its
    version has.

    Raises:
        ActuatorParseError: Nothing carries out one of its configs.
    """
    try:
        return _from_spec(spec, num_robots, device)
    except ValueError as error:
        where = f"<{spec.path}>" if spec.path.startswith("/") else f"motors[{spec.path!r}]"
        raise ActuatorParseError([f"{where}: {error}"]) from error


def _configs(spec: ActuatorSpec) -> list[Any]:
    return [part for part in (spec.controller, *spec.clamping, spec.delay) if part is not None]


def _from_spec(spec: ActuatorSpec, num_robots: int, device: Any) -> ActuatorEntry:
    count = num_robots * len(spec.targets)
    return ActuatorEntry(
        label=spec.path,
        dof_names=spec.dof_names,
        controller=newton.dressed(catalogue.build(spec.controller, count, device, spec.checkpoint)),
        clamping=[
            newton.dressed(catalogue.build(config, count, device)) for config in catalogue.in_order(spec.clamping)
        ],
        delay=newton.dressed(catalogue.build(spec.delay, count, device)) if spec.delay else None,
        shared=not any(np.ndim(value) == 2 for config in _configs(spec) for value in vars(config).values()),
    )
