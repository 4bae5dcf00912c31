"""Compile the actuators of one articulation into one plan: flat arrays, no objects.

A *slot* is one driven joint. Every parameter lives in one flat array; the value of a slot for a robot stands at
`base[slot] + robot · pitch[slot]`, so that each actuator owns a contiguous block, robot-major, which its components
show as a live view. What an actuator lacks is zero (no bias, lag 0). Its clamps are a short program, a kind and a few
numbers per clamp, so that any order a user gives is kept. Pure data: nothing here needs a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..components.base import Clamping, Controller
from ..components.catalogue import CATALOGUE
from ..components.clamping_dc_motor import ClampingDCMotor
from ..components.clamping_max_effort import ClampingMaxEffort
from ..components.clamping_position_based import ClampingPositionBased
from ..components.controller_pd import ControllerPD
from ..components.controller_pid import ControllerPID
from ..components.delay import Delay
from ..components.law import CLAMPING_SIGNALS, CONTROLLER_SIGNALS, require_law
from ..specs.fields import Parameter, parameters_of
from .entry import ActuatorEntry

CONTROLLERS: tuple[type[Controller], ...] = (ControllerPD, ControllerPID)
"""Controllers every plan knows; their position is their kind, and laws of the user's own come after them."""
CLAMPS: tuple[type[Clamping] | None, ...] = (None, ClampingMaxEffort, ClampingDCMotor, ClampingPositionBased)
"""Clamps every plan knows, likewise; kind 0 is none."""

# what a class with a law must not override for the law to be all there is to it
_COMPUTATION = {Controller: ("compute", "state", "update_state", "is_stateful"), Clamping: ("modify_forces",)}
_CONFIG_OF = {component: config for config, component in CATALOGUE.items()}


@dataclass(frozen=True)
class View:
    """Which part of the plan's arrays a component shows as one of its attributes.

    Args:
        component: Whose attribute it is.
        attribute: Its name.
        array: Name of the array in `Plan.parameters`.
        row: Row of the array, for arrays that have rows.
        start: First value.
        stop: End of the values.
    """

    component: Any
    attribute: str
    array: str
    row: int | None
    start: int
    stop: int


@dataclass
class Plan:
    """Everything a step needs besides the articulation's own arrays.

    Args:
        num_robots: Number of robots.
        labels: Actuator label of each slot.
        dof_names: Joint of each slot.
        base: Position of each slot's first parameter value, int32.
        pitch: Distance from one robot's value to the next, int32.
        controllers: Classes of the controllers, `CONTROLLERS` first.
        controller_kind: Position of each slot's controller among them, int32.
        clamps: Classes of the clamps, `CLAMPS` first.
        clamp_kind: Position of each clamp of each slot among them, int32, shape `(clamps, slots)`.
        table_start: First row of each clamp's lookup table, int32, shape `(clamps, slots)`.
        table_count: Rows of each clamp's lookup table, int32, shape `(clamps, slots)`.
        parameters: Arrays by name: float32 `control`, a row per parameter of a controller, shape `(rows, values)`;
            float32 `clamp`, shape `(clamps · clamp_width, values)`; int32 `lag`, shape `(values,)`; and the rows of
            all lookup tables, float32 `table_positions`, `table_efforts`.
        clamp_width: Rows of `clamp` per clamp.
        depth: Rows of the delay ring: the largest lag plus one.
        views: What the components show.
    """

    num_robots: int
    labels: tuple[str, ...]
    dof_names: tuple[str, ...]
    base: np.ndarray
    pitch: np.ndarray
    controllers: tuple[Any, ...]
    controller_kind: np.ndarray
    clamps: tuple[Any, ...]
    clamp_kind: np.ndarray
    table_start: np.ndarray
    table_count: np.ndarray
    parameters: dict[str, np.ndarray]
    clamp_width: int
    depth: int = 1
    views: list[View] = field(default_factory=list)

    @property
    def num_slots(self) -> int:
        """Number of driven joints."""
        return len(self.dof_names)

    @property
    def num_values(self) -> int:
        """Number of slots times robots."""
        return len(self.parameters["lag"])

    @property
    def num_states(self) -> int:
        """Largest number of values that a law remembers."""
        return max(len(controller.STATE) for controller in self.controllers)


def is_custom(entry: ActuatorEntry) -> bool:
    """Whether an actuator holds a component that computes arrays itself, so that no plan can run it."""
    return not all(_is_planned(component) for component in entry.components)


def _is_planned(component: Any) -> bool:
    """Whether a plan can run a component."""
    own = type(component)
    if own in (Delay, ClampingPositionBased):
        return True
    return getattr(own, "LAW", None) is not None and all(
        getattr(own, method) is getattr(base, method)
        for base, methods in _COMPUTATION.items()
        if issubclass(own, base)
        for method in methods
    )


def compile_plan(actuators: Sequence[ActuatorEntry], num_robots: int) -> Plan:
    """Return the plan of `actuators`, their parameters copied in.

    Raises:
        ValueError: A parameter array does not hold one value per robot and joint, or holds one out of range.
        TypeError: A component has no law in the plan.
    """
    plan = _empty_plan(actuators, num_robots)
    slot = 0
    for actuator in actuators:
        width = len(actuator.dof_names)
        slots, start = slice(slot, slot + width), num_robots * slot
        plan.base[slots], plan.pitch[slots] = start + np.arange(width), width
        _add_controller(plan, actuator, slots, start)
        for row, clamp in enumerate(actuator.clamping):
            _add_clamp(plan, actuator, clamp, row, slots, start)
        _add_delay(plan, actuator, start)
        slot += width
    return plan


def _empty_plan(actuators: Sequence[ActuatorEntry], num_robots: int) -> Plan:
    """A plan of the right size in which every stage is neutral."""
    slots = sum(len(actuator.dof_names) for actuator in actuators)
    clamps = max((len(actuator.clamping) for actuator in actuators), default=0)
    total = num_robots * slots
    controllers = tuple(dict.fromkeys((*CONTROLLERS, *(type(one.controller) for one in actuators))))
    limits = tuple(dict.fromkeys((*CLAMPS, *(type(clamp) for one in actuators for clamp in one.clamping))))
    clamp_width = max(len(limit.PARAMETERS) for limit in limits if limit)
    parameters: dict[str, np.ndarray] = {
        "control": np.zeros((max(len(one.PARAMETERS) for one in controllers), total), np.float32),
        "clamp": np.zeros((clamps * clamp_width, total), np.float32),
        "lag": np.zeros(total, np.int32),
        "table_positions": np.zeros(0, np.float32),
        "table_efforts": np.zeros(0, np.float32),
    }
    per_clamp = [np.zeros((clamps, slots), np.int32) for _ in range(3)]
    return Plan(
        num_robots=num_robots,
        labels=tuple(actuator.label for actuator in actuators for _ in actuator.dof_names),
        dof_names=tuple(name for actuator in actuators for name in actuator.dof_names),
        base=np.zeros(slots, np.int32),
        pitch=np.zeros(slots, np.int32),
        controllers=controllers,
        controller_kind=np.zeros(slots, np.int32),
        clamps=limits,
        clamp_kind=per_clamp[0],
        table_start=per_clamp[1],
        table_count=per_clamp[2],
        parameters=parameters,
        clamp_width=clamp_width,
    )


def _add_controller(plan: Plan, actuator: ActuatorEntry, slots: slice, start: int) -> None:
    controller = actuator.controller
    _require_planned(actuator, controller, CONTROLLER_SIGNALS)
    plan.controller_kind[slots] = plan.controllers.index(type(controller))
    for row, name in enumerate(controller.PARAMETERS):
        _add_values(plan, actuator, controller, name, "control", row, start)


def _add_clamp(plan: Plan, actuator: ActuatorEntry, clamp: Any, position: int, slots: slice, start: int) -> None:
    plan.clamp_kind[position, slots] = plan.clamps.index(type(clamp))
    if isinstance(clamp, ClampingPositionBased):
        plan.table_start[position, slots] = len(plan.parameters["table_positions"])
        plan.table_count[position, slots] = len(clamp.lookup_positions)
        for name, column in (("table_positions", clamp.lookup_positions), ("table_efforts", clamp.lookup_efforts)):
            plan.parameters[name] = np.append(plan.parameters[name], np.array(column, np.float32))
        return
    _require_planned(actuator, clamp, CLAMPING_SIGNALS)
    for row, name in enumerate(clamp.PARAMETERS, start=position * plan.clamp_width):
        _add_values(plan, actuator, clamp, name, "clamp", row, start)


def _add_delay(plan: Plan, actuator: ActuatorEntry, start: int) -> None:
    if actuator.delay is None:
        return
    _add_values(plan, actuator, actuator.delay, "delay_steps", "lag", None, start)
    longest = actuator.delay.max_delay
    steps = plan.parameters["lag"][start : start + _count(plan, actuator)]
    if (steps > longest).any():
        raise ValueError(_out_of_range(actuator, "delay_steps", steps.max(), f"<= max_delay = {longest}"))
    plan.depth = max(plan.depth, longest + 1)


def _add_values(
    plan: Plan, actuator: ActuatorEntry, component: Any, attribute: str, array: str, row: int | None, start: int
) -> None:
    """Copy one attribute of a component into its place, checked for length and range."""
    count = _count(plan, actuator)
    # shown also where it is not given, so that a bias can be set later
    plan.views.append(View(component, attribute, array, row, start, start + count))
    given = getattr(component, attribute)
    if given is None:
        return
    values = np.asarray(given.numpy() if hasattr(given, "numpy") else given)
    if values.shape != (count,):
        raise ValueError(
            f"actuator {actuator.label!r}: {attribute} has shape {values.shape}: must be ({count},), one value per "
            f"robot and joint ({plan.num_robots} robots x {len(actuator.dof_names)})."
        )
    described = _description(component, attribute)
    good = _in_range(values, described) if described else ~np.isnan(values)
    if not good.all():
        rule = described.rule.removeprefix("must be ") if described else "a number"
        raise ValueError(_out_of_range(actuator, attribute, values[~good][0], rule))
    target = plan.parameters[array] if row is None else plan.parameters[array][row]
    target[start : start + count] = values


def _description(component: Any, attribute: str) -> Parameter | None:
    """What a parameter of a built-in class, or of a subclass of one, may be; None for the user's own."""
    configs = (_CONFIG_OF[base] for base in type(component).__mro__ if base in _CONFIG_OF)
    return next((parameters_of(config).get(attribute) for config in configs), None)


def _in_range(values: np.ndarray, described: Parameter) -> np.ndarray:
    """Where an array keeps the rule of its parameter."""
    with np.errstate(invalid="ignore"):
        above = values > described.lower if described.above else values >= described.lower
        inside = above & (values <= described.upper) & np.isfinite(values)
    return inside | (np.isposinf(values) if described.infinite else False)


def _require_planned(actuator: ActuatorEntry, component: Any, signals: Sequence[str]) -> None:
    """Refuse a component that no plan can run."""
    if not _is_planned(component):
        raise TypeError(
            f"actuator {actuator.label!r}: {type(component).__name__} computes arrays itself, which no plan can run. "
            "Give it a scalar LAW."
        )
    require_law(type(component), signals)


def _count(plan: Plan, actuator: ActuatorEntry) -> int:
    return plan.num_robots * len(actuator.dof_names)


def _out_of_range(actuator: ActuatorEntry, name: str, value: Any, rule: str) -> str:
    return f"actuator {actuator.label!r}: {name} = {value}: must be {rule}. Correct the array."
