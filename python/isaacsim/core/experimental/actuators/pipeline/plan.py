"""Compile the actuators of one articulation into one plan: flat arrays, no objects.

A *slot* is one driven joint. Every parameter lives in one flat array; the value of a slot for a robot stands at
`base[slot] + robot · pitch[slot]`, so that each actuator owns a contiguous block, robot-major, which its components
show as a live view. What an actuator lacks gets neutral values (no bias, no integral, lag 0). Its clamps are a short
program, one kind and three numbers per clamp, so that any order a user gives is kept. Pure data: nothing here needs a
device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..components.catalogue import CATALOGUE
from ..components.clamping_dc_motor import ClampingDCMotor
from ..components.clamping_max_effort import ClampingMaxEffort
from ..components.clamping_position_based import ClampingPositionBased
from ..components.controller_pd import ControllerPD
from ..components.controller_pid import ControllerPID
from ..components.delay import Delay
from ..specs.fields import Parameter, parameters_of
from .entry import ActuatorEntry

CONTROLLERS = (ControllerPD, ControllerPID)
"""Controllers the plan can run; their position here is their kind."""
CLAMPS = (None, ClampingMaxEffort, ClampingDCMotor, ClampingPositionBased)
"""Clamps the plan can run; their position here is their kind, 0 being none."""
CLAMP_WIDTH = 3
"""Numbers per clamp: its parameters in the order of `PARAMETERS`."""

# parameters of the controllers and the values that switch them off
_NEUTRAL = {"kp": 0.0, "ki": 0.0, "kd": 0.0, "integral_max": 0.0, "const_effort": 0.0}
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
        controller_kind: Position of each slot's controller in `CONTROLLERS`, int32.
        clamp_kind: Position of each clamp of each slot in `CLAMPS`, int32, shape `(clamps, slots)`.
        table_start: First row of each clamp's lookup table, int32, shape `(clamps, slots)`.
        table_count: Rows of each clamp's lookup table, int32, shape `(clamps, slots)`.
        parameters: Arrays by name: flat float32 ones of the controllers, flat int32 `lag`, and float32 `clamp`, shape
            `(clamps · 3, values)`, and `table_positions`, `table_efforts`.
        depth: Rows of the delay ring: the largest lag plus one.
        views: What the components show.
    """

    num_robots: int
    labels: tuple[str, ...]
    dof_names: tuple[str, ...]
    base: np.ndarray
    pitch: np.ndarray
    controller_kind: np.ndarray
    clamp_kind: np.ndarray
    table_start: np.ndarray
    table_count: np.ndarray
    parameters: dict[str, np.ndarray]
    depth: int = 1
    views: list[View] = field(default_factory=list)

    @property
    def num_slots(self) -> int:
        """Number of driven joints."""
        return len(self.dof_names)

    @property
    def num_values(self) -> int:
        """Number of slots times robots."""
        return len(self.parameters["kp"])


def is_custom(entry: ActuatorEntry) -> bool:
    """Whether an actuator holds a component the plan has no law for."""
    known = (*CONTROLLERS, *CLAMPS, Delay)
    return any(type(component) not in known for component in entry.components)


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
    parameters: dict[str, np.ndarray] = {name: np.full(total, value, np.float32) for name, value in _NEUTRAL.items()}
    parameters["lag"] = np.zeros(total, np.int32)
    parameters["clamp"] = np.full((clamps * CLAMP_WIDTH, total), np.inf, np.float32)
    parameters |= {name: np.zeros(0, np.float32) for name in ("table_positions", "table_efforts")}
    per_clamp = [np.zeros((clamps, slots), np.int32) for _ in range(3)]
    return Plan(
        num_robots=num_robots,
        labels=tuple(actuator.label for actuator in actuators for _ in actuator.dof_names),
        dof_names=tuple(name for actuator in actuators for name in actuator.dof_names),
        base=np.zeros(slots, np.int32),
        pitch=np.zeros(slots, np.int32),
        controller_kind=np.zeros(slots, np.int32),
        clamp_kind=per_clamp[0],
        table_start=per_clamp[1],
        table_count=per_clamp[2],
        parameters=parameters,
    )


def _add_controller(plan: Plan, actuator: ActuatorEntry, slots: slice, start: int) -> None:
    controller = actuator.controller
    plan.controller_kind[slots] = _kind(actuator, "controller", controller, CONTROLLERS)
    for name in controller.PARAMETERS:
        if getattr(controller, name) is None:
            # shown all the same, so that a bias can be set later
            plan.views.append(View(controller, name, name, None, start, start + _count(plan, actuator)))
        else:
            _add_values(plan, actuator, controller, name, name, None, start)


def _add_clamp(plan: Plan, actuator: ActuatorEntry, clamp: Any, row: int, slots: slice, start: int) -> None:
    plan.clamp_kind[row, slots] = _kind(actuator, "clamping", clamp, CLAMPS)
    if isinstance(clamp, ClampingPositionBased):
        plan.table_start[row, slots] = len(plan.parameters["table_positions"])
        plan.table_count[row, slots] = len(clamp.lookup_positions)
        for name, column in (("table_positions", clamp.lookup_positions), ("table_efforts", clamp.lookup_efforts)):
            plan.parameters[name] = np.append(plan.parameters[name], np.array(column, np.float32))
        return
    for number, name in enumerate(clamp.PARAMETERS):
        _add_values(plan, actuator, clamp, name, "clamp", row * CLAMP_WIDTH + number, start)


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
    given = getattr(component, attribute)
    values = np.asarray(given.numpy() if hasattr(given, "numpy") else given)
    if values.shape != (count,):
        raise ValueError(
            f"actuator {actuator.label!r}: {attribute} has shape {values.shape}: must be ({count},), one value per "
            f"robot and joint ({plan.num_robots} robots x {len(actuator.dof_names)})."
        )
    described = parameters_of(_CONFIG_OF[type(component)])[attribute]
    good = _in_range(values, described)
    if not good.all():
        raise ValueError(_out_of_range(actuator, attribute, values[~good][0], described.rule.removeprefix("must be ")))
    target = plan.parameters[array] if row is None else plan.parameters[array][row]
    target[start : start + count] = values
    plan.views.append(View(component, attribute, array, row, start, start + count))


def _in_range(values: np.ndarray, described: Parameter) -> np.ndarray:
    """Where an array keeps the rule of its parameter."""
    with np.errstate(invalid="ignore"):
        above = values > described.lower if described.above else values >= described.lower
        inside = above & (values <= described.upper) & np.isfinite(values)
    return inside | (np.isposinf(values) if described.infinite else False)


def _kind(actuator: ActuatorEntry, part: str, component: Any, known: Sequence[type | None]) -> int:
    """Position of a component's class among those the plan can run."""
    if type(component) not in known:
        names = ", ".join(one.__name__ for one in known if one)
        raise TypeError(
            f"actuator {actuator.label!r}: {part} = {type(component).__name__}: this version runs {names}; "
            "custom components come later."
        )
    return known.index(type(component))


def _count(plan: Plan, actuator: ActuatorEntry) -> int:
    return plan.num_robots * len(actuator.dof_names)


def _out_of_range(actuator: ActuatorEntry, name: str, value: Any, rule: str) -> str:
    return f"actuator {actuator.label!r}: {name} = {value}: must be {rule}. Correct the array."
