"""Compile the actuators of one articulation into one plan: what runs on which joint, and with which numbers.

A *slot* is one driven joint. A parameter is a row of the plan: one value per slot, or one per robot and slot once
somebody gave or wants them that way. What an actuator lacks is neutral: no bias, no limit, no lag. The clamps of all
slots are merged into one sequence of stages that keeps the order each user gave. Components that compute arrays
themselves stand between the two phases of a step, command and limit. Pure data: nothing here needs a device.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..components.base import Clamping, Controller
from ..components.catalogue import components, laws
from ..components.clamping_max_effort import ClampingMaxEffort
from ..components.clamping_position_based import ClampingPositionBased
from ..components.delay import Delay
from ..components.law import CLAMPING_SIGNALS, CONTROLLER_SIGNALS, require_law
from ..specs.fields import Parameter, parameters_of
from .entry import ActuatorEntry

BUILT_IN = components()
"""Classes whose laws every engine knows; clamps are merged into stages in this order, which is the canonical one."""

# what a class with a law must not override for the law to be all there is to it
_COMPUTATION = {Controller: ("compute", "state", "update_state", "is_stateful"), Clamping: ("modify_forces",)}
_CONFIG_OF = {law.component: law.config for law in laws()}


@dataclass(eq=False)
class Row:
    """One parameter of the plan.

    Args:
        shared: Value of each slot, for all robots alike.
        per_robot: Whether values differ, or may come to differ, from robot to robot.
        own: Those values, shape `(robots, slots)`, as long as no engine has taken them over.
    """

    shared: np.ndarray
    per_robot: bool = False
    own: np.ndarray | None = None

    def spread(self, num_robots: int) -> np.ndarray:
        """The values of all robots, in an array of their own."""
        if self.own is None:
            self.own = np.tile(self.shared, (num_robots, 1))
        self.per_robot = True
        return self.own


@dataclass(eq=False)
class Stage:
    """One clamp class in the sequence of limits.

    Args:
        clamp: The class.
        used: Which slots have it here, bool.
        rows: Its parameters by name.
        tables: Lookup tables of a position-based stage: positions, efforts and which slots they serve.
    """

    clamp: Any
    used: np.ndarray
    rows: dict[str, Row]
    tables: list[tuple[list[float], list[float], np.ndarray]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Shown:
    """A parameter as a component shows it.

    Args:
        component: Whose attribute it is.
        attribute: Its name.
        row: Where the values are.
        slots: Slots of its actuator, in the order of its targets.
    """

    component: Any
    attribute: str
    row: Row
    slots: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Between:
    """What of an actuator stands between the phases of a step: components that compute arrays, and clamps before them.

    A delay or controller that the first phase knows is not among them.

    Args:
        delay: A delay of the user's own.
        controller: The control law, unless the first phase evaluates it.
        clamping: Limits that come before those of the second phase.
    """

    delay: Any
    controller: Any
    clamping: tuple[Any, ...]


@dataclass(eq=False)
class Plan:
    """Everything a step needs besides the articulation's own arrays.

    Args:
        num_robots: Number of robots.
        labels: Actuator label of each slot.
        dof_names: Joint of each slot.
        controllers: Classes of the controllers.
        controller_kind: Position of each slot's controller among them, int32; -1 where none of them gives the effort.
        control: Rows of the controllers' parameters by name; controllers with a name in common share the row.
        stages: Limits in their order.
        delayed: Which slots have a delay, bool.
        lag: Delay of each slot in steps, int32.
        depth: Rows of the delay ring: the largest lag plus one.
        shown: What the components show.
    """

    num_robots: int
    labels: tuple[str, ...]
    dof_names: tuple[str, ...]
    controllers: tuple[Any, ...]
    controller_kind: np.ndarray
    control: dict[str, Row]
    stages: list[Stage]
    delayed: np.ndarray
    lag: Row
    depth: int = 1
    shown: list[Shown] = field(default_factory=list)

    @property
    def num_slots(self) -> int:
        """Number of driven joints."""
        return len(self.dof_names)

    @property
    def num_states(self) -> int:
        """Largest number of values that a law remembers."""
        return max((len(controller.STATE) for controller in self.controllers), default=0)

    @property
    def stage_names(self) -> list[str]:
        """Class names of the limits."""
        return [stage.clamp.__name__ for stage in self.stages]

    def rows(self) -> Iterator[Row]:
        """All parameters: of controllers, of stages, and the lag."""
        yield from self.control.values()
        for stage in self.stages:
            yield from stage.rows.values()
        yield self.lag


def between(entry: ActuatorEntry) -> Between | None:
    """What of an actuator stands between the phases of a step, or None when all of it has a law."""
    odd = [number for number, clamp in enumerate(entry.clamping, 1) if not _has_law(clamp)]
    own_delay = entry.delay is not None and not _has_law(entry.delay)
    own_controller = own_delay or not _has_law(entry.controller)
    if not odd and not own_controller:
        return None
    clamps = tuple(entry.clamping[: max(odd, default=0)])
    return Between(entry.delay if own_delay else None, entry.controller if own_controller else None, clamps)


def is_built_in(entry: ActuatorEntry) -> bool:
    """Whether every engine knows the laws of an actuator, those aside that stand between the phases."""
    return all(_base_of(component) is not None for component in _planned(entry).components)


def compile_plan(entries: Sequence[ActuatorEntry], num_robots: int, slots: Sequence[Sequence[int]] = ()) -> Plan:
    """Return the plan of some actuators, their parameters copied in.

    Args:
        entries: The actuators.
        num_robots: Number of robots.
        slots: Slots of each actuator's joints; by default they are numbered as they come.

    Raises:
        ValueError: A parameter array does not hold one value per robot and joint, or holds one out of range.
        TypeError: A law does not have the signals of its kind.
    """
    places = [tuple(one) for one in slots] or _in_sequence(entries)
    entries = [_planned(entry) for entry in entries]
    plan = _neutral_plan(entries, num_robots, places)
    for entry, mine in zip(entries, places, strict=True):
        _add_controller(plan, entry, mine)
        _add_delay(plan, entry, mine)
    _add_clamps(plan, entries, places)
    return plan


def _has_law(component: Any) -> bool:
    own = type(component)
    if own in (Delay, ClampingPositionBased):
        return True
    return getattr(own, "LAW", None) is not None and all(
        getattr(own, method) is getattr(base, method)
        for base, methods in _COMPUTATION.items()
        if issubclass(own, base)
        for method in methods
    )


def _base_of(component: Any) -> Any:
    """The built-in class whose law a component has, or None for a law of the user's own."""
    own = component if isinstance(component, type) else type(component)
    return next((known for known in BUILT_IN if issubclass(own, known) and own.LAW is known.LAW), None)


def _planned(entry: ActuatorEntry) -> Any:
    """The actuator without what stands between the phases."""
    apart = between(entry)
    if apart is None:
        return entry
    delay = None if apart.delay else entry.delay
    controller = None if apart.controller else entry.controller
    clamping = entry.clamping[len(apart.clamping) :]
    return dataclasses.replace(entry, delay=delay, controller=controller, clamping=clamping)


def _in_sequence(entries: Sequence[ActuatorEntry]) -> list[tuple[int, ...]]:
    ends = np.cumsum([len(entry.dof_names) for entry in entries])
    return [tuple(range(end - len(entry.dof_names), end)) for entry, end in zip(entries, ends, strict=True)]


def _neutral_plan(entries: Sequence[ActuatorEntry], num_robots: int, places: Sequence[tuple[int, ...]]) -> Plan:
    """A plan of the right size in which every law has zeros for parameters and there is no limit."""
    count = sum(map(len, places))
    labels, names = [""] * count, [""] * count
    for entry, mine in zip(entries, places, strict=True):
        for slot, name in zip(mine, entry.dof_names, strict=True):
            labels[slot], names[slot] = entry.label, name
    laws = [entry.controller for entry in entries if entry.controller is not None]
    controllers = tuple(dict.fromkeys(_base_of(law) or type(law) for law in laws))
    parameters = dict.fromkeys(name for controller in controllers for name in controller.PARAMETERS)
    return Plan(
        num_robots=num_robots,
        labels=tuple(labels),
        dof_names=tuple(names),
        controllers=controllers,
        controller_kind=np.full(count, -1, np.int32),
        control={name: Row(np.zeros(count, np.float32)) for name in parameters},
        stages=[],
        delayed=np.zeros(count, bool),
        lag=Row(np.zeros(count, np.int32)),
    )


def _add_controller(plan: Plan, entry: ActuatorEntry, slots: tuple[int, ...]) -> None:
    controller = entry.controller
    if controller is None:
        return
    require_law(type(controller), CONTROLLER_SIGNALS)
    plan.controller_kind[list(slots)] = plan.controllers.index(_base_of(controller) or type(controller))
    for name in controller.PARAMETERS:
        _add_values(plan, entry, controller, name, plan.control[name], slots)


def _add_delay(plan: Plan, entry: ActuatorEntry, slots: tuple[int, ...]) -> None:
    if entry.delay is None:
        return
    longest = entry.delay.max_delay
    steps = _add_values(plan, entry, entry.delay, "delay_steps", plan.lag, slots)
    if (steps > longest).any():
        raise ValueError(_out_of_range(entry, "delay_steps", steps.max(), f"<= max_delay = {longest}"))
    plan.delayed[list(slots)] = True
    plan.depth = max(plan.depth, longest + 1)


def _add_clamps(plan: Plan, entries: Sequence[ActuatorEntry], places: Sequence[tuple[int, ...]]) -> None:
    """Merge the clamps of all actuators into stages, each as early as its own order allows."""
    merged: list[dict[Any, Stage]] = []
    for entry, slots in zip(entries, places, strict=True):
        sweep, rank = 0, -1
        for clamp in entry.clamping:
            kind = _base_of(clamp) or type(clamp)
            # within a sweep classes come in canonical order, the user's own before the plain limit
            own_rank = BUILT_IN.index(kind) * 2 if kind in BUILT_IN else BUILT_IN.index(ClampingMaxEffort) * 2 - 1
            if own_rank <= rank:
                sweep += 1
            rank = own_rank
            if sweep == len(merged):
                merged.append({})
            if kind not in merged[sweep]:
                merged[sweep][kind] = _neutral_stage(plan, kind)
            _add_clamp(plan, entry, clamp, merged[sweep][kind], slots)
    for sweep in merged:
        canonical = [kind for kind in BUILT_IN if kind in sweep and kind is not ClampingMaxEffort]
        own = [kind for kind in sweep if kind not in BUILT_IN]
        last = [kind for kind in (ClampingMaxEffort,) if kind in sweep]
        plan.stages += [sweep[kind] for kind in (*canonical, *own, *last)]


def _neutral_stage(plan: Plan, clamp: Any) -> Stage:
    rows = {name: Row(np.full(plan.num_slots, np.inf, np.float32)) for name in clamp.PARAMETERS}
    return Stage(clamp, np.zeros(plan.num_slots, bool), rows)


def _add_clamp(plan: Plan, entry: ActuatorEntry, clamp: Any, stage: Stage, slots: tuple[int, ...]) -> None:
    stage.used[list(slots)] = True
    if isinstance(clamp, ClampingPositionBased):
        mine = np.isin(np.arange(plan.num_slots), slots)
        for positions, efforts, served in stage.tables:
            if (positions, efforts) == (clamp.lookup_positions, clamp.lookup_efforts):
                served |= mine
                return
        stage.tables.append((clamp.lookup_positions, clamp.lookup_efforts, mine))
        return
    require_law(type(clamp), CLAMPING_SIGNALS)
    for name in clamp.PARAMETERS:
        _add_values(plan, entry, clamp, name, stage.rows[name], slots)


def _add_values(
    plan: Plan, entry: ActuatorEntry, component: Any, attribute: str, row: Row, slots: tuple[int, ...]
) -> np.ndarray:
    """Copy one attribute of a component into its row, checked for length and range; return the values."""
    # shown also where it is not given, so that a bias can be set later
    plan.shown.append(Shown(component, attribute, row, slots))
    given = getattr(component, attribute)
    count = plan.num_robots * len(slots)
    values = np.asarray(given.numpy() if hasattr(given, "numpy") else np.zeros(count) if given is None else given)
    if values.shape != (count,):
        raise ValueError(
            f"actuator {entry.label!r}: {attribute} has shape {values.shape}: must be ({count},), one value per "
            f"robot and joint ({plan.num_robots} robots x {len(slots)})."
        )
    described = _description(component, attribute)
    good = _in_range(values, described) if described else ~np.isnan(values)
    if not good.all():
        rule = described.rule.removeprefix("must be ") if described else "a number"
        raise ValueError(_out_of_range(entry, attribute, values[~good][0], rule))
    table = values.reshape(plan.num_robots, len(slots))
    row.shared[list(slots)] = table[0]
    if row.own is not None or (given is not None and not entry.shared):
        row.spread(plan.num_robots)[:, list(slots)] = table
    return values


def _description(component: Any, attribute: str) -> Parameter | None:
    """What a parameter of a built-in class, or of a subclass of one, may be; None for the user's own."""
    base = _base_of(component)
    return parameters_of(_CONFIG_OF[base]).get(attribute) if base else None


def _in_range(values: np.ndarray, described: Parameter) -> np.ndarray:
    """Where an array keeps the rule of its parameter."""
    with np.errstate(invalid="ignore"):
        above = values > described.lower if described.above else values >= described.lower
        inside = above & (values <= described.upper) & np.isfinite(values)
    return inside | (np.isposinf(values) if described.infinite else False)


def _out_of_range(entry: ActuatorEntry, name: str, value: Any, rule: str) -> str:
    return f"actuator {entry.label!r}: {name} = {value}: must be {rule}. Correct the array."
