"""What the plan compiles: the components of one actuator and the joints it drives."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from ..components import catalogue
from ..components.base import Clamping, Controller
from ..components.delay import Delay
from ..errors import ActuatorParseError
from ..specs.actuator_spec import ActuatorSpec


@dataclass
class ActuatorConfig:
    """An actuator built in Python, for `ArticulationActuators.from_actuators`.

    Args:
        controller: The control law, its arrays sized `(num_robots,)`.
        clamping: Effort limits, applied in list order.
        delay: Command delay, or None.

    Raises:
        ValueError: There is no controller, or something is no clamp or no delay.
    """

    controller: Controller
    clamping: list[Clamping] = field(default_factory=list)
    delay: Delay | None = None

    def __post_init__(self) -> None:
        if self.controller is None:
            raise ValueError("ActuatorConfig: controller = None: must be a Controller. Give the control law.")
        for number, clamp in enumerate(self.clamping or ()):
            if not hasattr(clamp, "modify_forces"):
                raise ValueError(
                    f"ActuatorConfig: clamping[{number}] = {clamp!r}: must be a Clamping. Give it or leave it out."
                )
        if self.delay is not None and not hasattr(self.delay, "get_delayed_targets"):
            raise ValueError(
                f"ActuatorConfig: delay = {self.delay!r}: must be a Delay or None. Give one, or leave it out."
            )


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
    """Return the actuator that carries out one prim's spec on `num_robots` robots.

    Raises:
        ActuatorParseError: Nothing carries out one of its configs yet.
    """
    try:
        return _from_spec(spec, num_robots, device)
    except ValueError as error:
        raise ActuatorParseError([f"<{spec.path}>: {error}"]) from error


def _from_spec(spec: ActuatorSpec, num_robots: int, device: Any) -> ActuatorEntry:
    count = num_robots * len(spec.targets)
    clamps = sorted(spec.clamping, key=catalogue.canonical_rank)
    return ActuatorEntry(
        label=spec.path,
        dof_names=tuple(target.rsplit("/", 1)[1] for target in spec.targets),
        controller=catalogue.build(spec.controller, count, device),
        clamping=[catalogue.build(config, count, device) for config in clamps],
        delay=catalogue.build(spec.delay, count, device) if spec.delay else None,
        shared=True,
    )


def entry_from_config(config: ActuatorConfig, dof_name: str) -> ActuatorEntry:
    """Return the actuator of a Python config on one joint."""
    # copies, so that one component object may serve several joints
    clamps = [copy.copy(clamp) for clamp in config.clamping or ()]
    return ActuatorEntry(dof_name, (dof_name,), copy.copy(config.controller), clamps, copy.copy(config.delay))
