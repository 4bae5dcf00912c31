"""Compile the actuators of an articulation into a plan: the laws of each joint, and their parameters.

A *slot* is one driven joint. A parameter is a row of the plan: one value per slot, or one per robot and slot once
values per robot are given or requested. Slots without a law have neutral parameters, with which the law does nothing.
The clamps of all slots are merged into one sequence of limits that keeps the order of each actuator. Components that
compute arrays run between the two phases of a step, command and limit. A plan is plain data and needs no device.

This module checks type, length and range of every parameter array of every component, for all engines.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeGuard, TypeVar, cast

import numpy as np

from ..base.memory import Array, Tensor
from ..base.values import as_numpy
from ..laws.contract import newton_classes
from ..laws.contract.base import Component, Controller, EffortStage, check_type
from ..laws.contract.catalogue import canonical_rank, described_type, law_of
from ..laws.contract.curve import rows_of
from ..laws.contract.late import LateComponent
from ..laws.contract.law import FELT_SIGNALS, NEWEST, UNSET, LawClass, keeping_states, require_law, state_names
from ..laws.delay import Delay
from ..specs.fields import Parameter, parameters_of
from ..specs.signals import OF_SHAFTS, SIGNALS, SUMMED
from ..specs.stages import KINDS, AnyStage, Kind, follows_limits, is_geared, is_linked, kind_of, moves_behind, parts_of
from .entry import ActuatorEntry, effort_modes
from .linkages import PlannedLinkage, plan_linkages, shaft_of

if TYPE_CHECKING:
    from ..laws.networks.network_law import NetworkLaw

AnyLaw_co = TypeVar("AnyLaw_co", bound="LawClass | NetworkLaw", covariant=True)

# methods that a class with a law does not override if the law is its whole computation
_COMPUTATION = {
    Controller: ("compute", "state", "update_state", "is_stateful"),
    EffortStage: ("modify_forces", "state", "update_state", "is_stateful"),
}


@dataclass(eq=False)
class Row:
    """One parameter of the plan."""

    shared: np.ndarray  # value of each slot, the same for all robots
    per_robot: bool = False
    own: np.ndarray | None = None  # values per robot, shape `(robots, slots)`, until an engine takes them over
    neutral: float = 0.0  # value of slots without the law
    live: Tensor = None  # array `(robots,)` of a component that every step reads without a copy, for a plan of one slot

    @classmethod
    def filled(cls, neutral: float, num_slots: int, dtype: type = np.float32) -> Row:
        """Return a row in which no slot has the law."""
        return cls(np.full(num_slots, neutral, dtype), neutral=neutral)

    def materialize(self, num_robots: int) -> np.ndarray:
        """Give every robot values of its own, and return them."""
        if self.own is None:
            self.own = np.tile(self.shared, (num_robots, 1))
        self.per_robot = True
        return self.own


@dataclass(eq=False)
class PlannedCurve:
    """One curve of a law of the plan: number in its `CURVES`, prepared rows, and True for slots with it."""

    number: int
    rows: np.ndarray
    used: np.ndarray


@dataclass(eq=False)
class PlannedStage:
    """One class of stages at one place in the sequence of stages after the controllers."""

    law: LawClass
    used: np.ndarray  # True for slots that have it here
    rows: dict[str, Row]
    curves: list[PlannedCurve] = field(default_factory=list)  # each once
    is_behind: int = 0  # 1: limit at the joint behind a transmission or sensor at the motor; 2: limit behind a linkage
    depth: int = 0  # rows of its rings of past results; 0 for a law without them


@dataclass(frozen=True, eq=False)
class StatefulLaw(Generic[AnyLaw_co]):
    """A law of the plan with a state."""

    law: AnyLaw_co
    used: np.ndarray  # True for slots that have it
    stage: int | None = None  # number over the stages after the controllers, then feedback; None for a controller
    depth: int = 0  # rows of its rings of past results; 0 for a law without them

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its state arrays."""
        return state_names(cast("LawClass", self.law))

    def axis_of(self, name: str) -> int:
        """Axis of a state array that runs over robots and slots, robot-major."""
        return self.law.STATE_AXIS if is_network(self.law) else int(name in self.law.LATE)

    def shapes_of(self, count: int) -> list[tuple[int, ...]]:
        """Shape of each array of its state for `count` actuators."""
        if is_network(self.law):
            return [self.law.state_shape(count)] * len(self.names)
        return [(self.depth, count) if name in self.law.LATE else (count,) for name in self.names]

    @property
    def count(self) -> int:
        """Number of slots that have it."""
        return int(self.used.sum())

    @property
    def resets(self) -> list[tuple[float, bool, int]]:
        """Initial value of each array of its state, True if a reset keeps it, and the array that selects where, or -1.

        A reset keeps an array where the selecting one is not zero.
        """
        start, names, keepers = {NEWEST: UNSET, **self.law.START}, self.names, keeping_states(self.law.KEPT)
        # the rings of a law need no reset, as there is no newest row
        kept = {*self.law.KEPT, *self.law.LATE}
        places = (names.index(keepers[name]) if name in keepers else -1 for name in names)
        return [(start.get(name, 0.0), name in kept, place) for name, place in zip(names, places, strict=True)]

    @property
    def places(self) -> np.ndarray:
        """Place of each slot among the slots with the law, int32; -1 without it."""
        return np.where(self.used, np.cumsum(self.used) - 1, -1).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Published:
    """A state of a law that laws of the next step read as a signal."""

    signal: str
    law: int  # number among the stateful laws
    state: int  # number in its `STATE`
    used: np.ndarray  # True for slots that have the law
    row: Row | None  # published while the state is unknown; None for the neutral value of the signal

    @property
    def neutral(self) -> float:
        """Value of the signal while the state is unknown, without such a parameter."""
        return SIGNALS[self.signal].neutral


@dataclass(frozen=True, eq=False)
class Placement:
    """Places of the parts of an actuator in the plan.

    Stages are all but delay and controller: kind, place among its stages of that kind, and number of the stage of the
    plan, see `StatefulLaw`.
    """

    label: str
    slots: tuple[int, ...]  # of its joints, in their order
    max_delay: int | None  # [physics steps]; None if the plan has no delay of this actuator
    controller: LawClass | NetworkLaw | None
    stages: list[tuple[str, int, int]]


@dataclass(frozen=True, eq=False)
class ParameterView:
    """An attribute of a component that is a row of the plan; slots are in the order of the targets of its actuator."""

    component: Component
    attribute: str
    row: Row
    slots: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ArrayStages:
    """Stages of an actuator that run between the phases of a step: those computing arrays, and clamps before them."""

    delay: AnyStage  # None if the first phase delays commands
    controller: AnyStage  # None if the first phase evaluates it
    stages: tuple[AnyStage, ...]  # those after the controller, up to the last one that computes arrays


@dataclass(eq=False)
class Plan:
    """Input of a step besides the arrays of the articulation; `note_laws` notes what follows from these.

    Stages after the controllers are in the order in which they act: those that act on motors, transmissions, those that
    act on joints. Feedback are those before: sensors, which give controllers the signals of their joints, and laws that
    delay commands.
    """

    num_robots: int
    labels: tuple[str, ...]  # actuator of each slot
    dof_names: tuple[str, ...]  # joint of each slot
    controllers: tuple[LawClass, ...]
    controller_kind: np.ndarray  # position of the controller of each slot, int32; -1 without one
    control: dict[str, Row]  # rows of the controllers' parameters; controllers share rows of the same name
    stages: list[PlannedStage]
    delayed: np.ndarray  # True for slots with a delay
    lag: Row  # delay of each slot in steps, int32
    depth: int = 1  # rows of the delay ring: the largest possible delay, at least 1
    control_curves: list[list[PlannedCurve]] = field(default_factory=list)  # of each controller
    networks: list[StatefulLaw[NetworkLaw]] = field(default_factory=list)  # laws of slots without a controller
    feedback: list[PlannedStage] = field(default_factory=list)
    views: list[ParameterView] = field(default_factory=list)  # parameters as attributes of components
    placements: list[Placement] = field(default_factory=list)  # of each actuator
    linkages: list[PlannedLinkage] = field(default_factory=list)  # motors that move several joints together
    components: list[Component] = field(default_factory=list[Component])  # those whose laws are in the plan
    laws: list[tuple[LawClass, np.ndarray]] = field(init=False)
    """All laws except networks, each with True for slots that have it: controllers, other stages, feedback."""
    stateful: list[StatefulLaw[LawClass | NetworkLaw]] = field(init=False)
    """Stateful laws in the order of all engines: controllers, networks, other stages, feedback."""
    asked: dict[str, np.ndarray] = field(init=False)
    """Signals that laws ask for, in the order of `SIGNALS`, each with True for slots with such a law."""
    published: list[Published] = field(init=False)
    """Published states of laws, as far as laws of the plan ask for the signal or a total adds it up."""
    signals: list[str] = field(init=False)
    """Names of the signals that laws ask for or publish, in the order of `SIGNALS`."""
    has_totals: bool = field(init=False)
    """True if laws ask for a total, or publish a term of one."""
    rows: list[Row] = field(init=False)
    """All parameters: of controllers, of the stages after them, of feedback, and the lag."""
    curves: list[tuple[int, PlannedCurve]] = field(init=False)
    """All curves, each with the number of its law in `laws`."""
    num_delayed: int = field(init=False)
    """Number of joints with a delay."""
    num_measured: int = field(init=False)
    """Number of signals that controllers get otherwise than they are: two of sensors, four with delays by laws."""

    def note_laws(self) -> None:
        """Note what engines ask of the laws, once all are in the plan."""
        after = [*self.stages, *self.feedback]
        controllers = [(law, self.controller_kind == kind) for kind, law in enumerate(self.controllers)]
        self.laws = [*controllers, *((stage.law, stage.used) for stage in after)]
        self.stateful = [*(StatefulLaw(law, used) for law, used in controllers if law.STATE), *self.networks]
        for number, stage in enumerate(after):
            if state_names(stage.law):
                self.stateful.append(StatefulLaw(stage.law, stage.used, number, stage.depth))
        self._note_signals(after)
        self._note_rows(after)

    def _note_signals(self, after: Sequence[PlannedStage]) -> None:
        """Note the signals that laws ask for or publish; `after` are the stages beside controllers."""
        self.asked = {}
        for name, signal in SIGNALS.items():
            asking = [used for law, used in self.laws if name in law.ASKS]
            if asking and not signal.is_of_engine:
                self.asked[name] = np.logical_or.reduce(asking)
        self.published = list(self._publishing(after))
        published = {state.signal for state in self.published}
        self.signals = sorted(self.asked.keys() | published, key=[*SIGNALS].index)
        self.has_totals = any(SIGNALS[name].total_of for name in self.asked) or not published.isdisjoint(SUMMED)

    def _publishing(self, after: Sequence[PlannedStage]) -> Iterator[Published]:
        for number, one in enumerate(self.stateful):
            rows = self.control if one.stage is None else after[one.stage].rows
            law: AnyStage = one.law
            # a network publishes nothing
            for signal, state in getattr(law, "PUBLISHES", {}).items():
                if signal in self.asked or signal in SUMMED:
                    row = rows[law.UNSET_AS[state]] if state in law.UNSET_AS else None
                    yield Published(signal, number, law.STATE.index(state), one.used, row)

    def _note_rows(self, after: Sequence[PlannedStage]) -> None:
        """Note the parameters and curves of all laws, and how much of the past joints need."""
        self.rows = [*self.control.values(), *(row for stage in after for row in stage.rows.values()), self.lag]
        by_law = [*self.control_curves, *(stage.curves for stage in after)]
        self.curves = [(number, curve) for number, curves in enumerate(by_law) for curve in curves]
        self.num_delayed = int(self.delayed.sum())
        delays = any(not KINDS[stage.law.KIND].senses for stage in self.feedback)
        self.num_measured = 4 if delays else 2 if self.feedback else 0

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of robots and of driven joints."""
        return self.num_robots, self.num_slots

    @property
    def num_slots(self) -> int:
        """Number of driven joints."""
        return len(self.dof_names)

    def uses_of(self, law: LawClass) -> Iterator[tuple[int, np.ndarray, dict[str, Row]]]:
        """Yield each use of a stage with a state: number among `stateful`, slots that have it, and its parameters."""
        for number, one in enumerate(self.stateful):
            if one.law is law and one.stage is not None:
                yield number, np.flatnonzero(one.used), [*self.stages, *self.feedback][one.stage].rows

    @property
    def with_friction(self) -> np.ndarray:
        """True for slots whose friction steps the joint with the motor before it."""
        used = [stage.used for stage in self.stages if "motor_damping" in stage.law.ASKS and stage.law.END is None]
        return np.any(used, axis=0) if used else np.zeros(self.num_slots, bool)

    @property
    def totals(self) -> list[tuple[str, str, np.ndarray]]:
        """Totals that laws ask for, each with the signal that it adds up, and the slots that publish it, ascending."""
        published = self.published
        found = []
        for name in self.asked:
            if part := SIGNALS[name].total_of:
                slots = [np.flatnonzero(one.used) for one in published if one.signal == part]
                found.append((name, part, np.sort(np.concatenate([np.zeros(0, int), *slots]))))
        return found

    @property
    def transmissions(self) -> list[PlannedStage]:
        """The stages that convert between motor and joint coordinates; stages before them act on motors."""
        return [stage for stage in self.stages if KINDS[stage.law.KIND].converts]

    @property
    def geared(self) -> np.ndarray:
        """True for slots with a transmission."""
        return np.logical_or.reduce([np.zeros(self.num_slots, bool), *(stage.used for stage in self.transmissions)])

    @property
    def shafts(self) -> tuple[np.ndarray, np.ndarray]:
        """Angle of the shaft at each slot per position of each joint, and True for joints of one linkage.

        Both are `(slots, slots)`; of a table, slopes are those of its middle.
        """
        slopes, linked = np.eye(self.num_slots), np.eye(self.num_slots, dtype=bool)
        for linkage in self.linkages:
            mine = np.ix_(linkage.slots, linkage.slots)
            slopes[mine], linked[mine] = linkage.middle, True
        return slopes, linked

    def stages_asking(self, signal: str) -> list[PlannedStage]:
        """Stages after the controllers whose laws ask for a signal."""
        return [stage for stage in self.stages if signal in stage.law.ASKS]

    @property
    def names_of_signals(self) -> Mapping[str, str]:
        """Names, for the host of the robot, of signals that are those of shafts: of efforts of the end of the step."""
        return OF_SHAFTS if self.linkages and self.has_mode else {}

    @property
    def has_mode(self) -> bool:
        """True if efforts are those of the end of the step."""
        return any(law.END is not None for law, _ in self.laws)

    @property
    def motor_stages(self) -> int:
        """Number of leading stages that do not follow limits and transmission."""
        return sum(not follows_limits(stage.law.KIND) for stage in self.stages)

    @property
    def stage_names(self) -> list[str]:
        """Class names of the stages after the controllers."""
        return [stage.law.__name__ for stage in self.stages]


def is_network(law: LawClass | NetworkLaw) -> TypeGuard[NetworkLaw]:
    """Return True if a law is a network."""
    # the class of networks is not imported here, because most plans have none
    return hasattr(law, "network")


def array_stages(entry: ActuatorEntry) -> ArrayStages | None:
    """Return the stages of an actuator that run between the phases of a step, or None if all its stages have laws."""
    after = entry.after_controller
    custom = [number for number, stage in enumerate(after, 1) if not has_law(stage)]
    own_delay = entry.delay is not None and not has_law(entry.delay)
    own_controller = entry.controller is not None and (own_delay or not has_law(entry.controller))
    if not custom and not own_controller:
        return None
    first = after[: max(custom, default=0)]
    return ArrayStages(entry.delay if own_delay else None, entry.controller if own_controller else None, first)


def is_built_in(entry: ActuatorEntry) -> bool:
    """Return True if the planned laws of an actuator, without its array stages, are built-in laws."""
    components = _planned(entry).stages
    return all(base_of(one) is not None or network_law_of(one) is not None for one in components)


def compile_plan(
    entries: Sequence[ActuatorEntry], num_robots: int, slots: Sequence[Sequence[int]] = (), *, live: bool = False
) -> Plan:
    """Return the plan of some actuators."""
    if len(modes := {bool(effort_modes(entry)) for entry in entries}) > 1:
        raise ValueError(f"effort modes of the actuators of a plan = {modes}: must be in all or none. Make two plans.")
    places = [tuple(one) for one in slots] or in_sequence(entries)
    for entry in entries:
        check_parameters(entry, num_robots, ranges=not live)
        _require_laws(entry)
    planned = [_planned(entry) for entry in entries]
    plan = _neutral_plan(planned, num_robots, places)
    for entry, placement in zip(planned, plan.placements, strict=True):
        _add_controller(plan, entry, placement)
        if (delay := ring_delay(entry)) is not None:
            _add_values(plan, entry, delay, "delay_steps", plan.lag, placement.slots)
            plan.delayed[list(placement.slots)] = True
            plan.depth = max(plan.depth, delay.max_delay)
    _add_stages(plan, planned, entries)
    _add_feedback(plan, planned)
    plan.note_laws()
    _require_one_publisher(plan)
    plan.linkages += plan_linkages(planned, plan.dof_names)
    if live:
        _make_live(plan)
    return plan


def _require_one_publisher(plan: Plan) -> None:
    for signal in SIGNALS:
        publishing = [(law.__name__, used) for law, used in plan.laws if signal in law.PUBLISHES]
        for slot in np.flatnonzero(sum(used.astype(int) for _, used in publishing) > 1) if publishing else ():
            names = " and ".join(name for name, used in publishing if used[slot])
            raise ValueError(
                f"actuator {plan.labels[slot]!r}: {names} publish the {signal} of joint {plan.dof_names[slot]!r}: must "
                "be one law. Remove the others."
            )


def _make_live(plan: Plan) -> None:
    """Have the rows of a plan of one joint be the arrays of its components."""
    if plan.num_slots != 1:
        raise ValueError(f"a plan of {plan.num_slots} joints cannot read arrays of components: must have one joint.")
    for view in plan.views:
        view.row.live, view.row.own = getattr(view.component, view.attribute), None


def check_parameters(entry: ActuatorEntry, num_robots: int, *, ranges: bool = True) -> None:
    """Raise for parameter arrays of an actuator that do not fit, including those of array stages."""
    for component in entry.stages:
        for name in component.PARAMETERS:
            # a subclass with a custom computation may not have the parameter
            given = getattr(component, name, None)
            if given is not None:
                owner, joints = f"actuator {entry.label!r}", len(entry.dof_names)
                check_array(owner, num_robots, joints, name, given)
                if ranges:
                    check_values(owner, component, name, as_numpy(given))


def check_array(owner: str, num_robots: int, num_joints: int, name: str, array: Array) -> None:
    """Raise for an array of a parameter with another type, or without one value per robot and joint."""
    check_type(owner, name, array)
    subject, shape, count = f"{owner}: {name}", tuple(array.shape), num_robots * num_joints
    if shape != (count,):
        has = f"{shape[0]} elements" if len(shape) == 1 else f"shape {shape}"
        raise ValueError(
            f"{subject} has {has}: must be {count}, one per joint of each robot ({num_robots} robots x {num_joints})."
        )


def check_values(owner: str, component: Component, name: str, values: np.ndarray) -> None:
    """Raise for values of a parameter that are out of range."""
    described = description_of(component, name)
    good = ~np.isnan(values)
    if described:
        with np.errstate(invalid="ignore"):
            good = (values > described.lower if described.above else values >= described.lower) & np.isfinite(values)
            good &= values <= described.upper
        good |= np.isposinf(values) & described.infinite
    if not good.all():
        rule = described.rule.removeprefix("must be ") if described else "a number"
        raise ValueError(_out_of_range(owner, name, values[~good][0], rule))
    if isinstance(component, LateComponent) and name in (component.STEPS, component.SECONDS):
        _require_kept(owner, component, name, values)
    if isinstance(component, Delay) and (values > component.max_delay).any():
        rule = f"<= max_delay = {component.max_delay}"
        raise ValueError(_out_of_range(owner, name, values.max(), rule))


def _require_kept(owner: str, component: LateComponent, name: str, values: np.ndarray) -> None:
    """Raise for a delay where nothing, or too little, is kept of the past; that of seconds depends on the step, too."""
    most = component.max_steps if name == component.STEPS else math.inf if component.max_steps else 0.0
    if (values > most).any():
        rule = f"<= {most:g}, as max_steps = {component.max_steps}, give a larger one"
        raise ValueError(_out_of_range(owner, name, values.max(), rule))


def _require_laws(entry: ActuatorEntry) -> None:
    """Raise an error for stages that need a plan and have no law, and for stages that cannot run beside each other."""
    custom = array_stages(entry)
    for kind, stage in entry.by_kind:
        if not has_law(stage):
            _require_array_stage(KINDS[kind], stage, f"actuator {entry.label!r}: {type(stage).__name__}")
    if is_geared(entry):
        _require_laws_of_motor(entry, custom)
    if entry.sensing or entry.commanding:
        _require_laws_of_feedback(entry, custom)
    if rates := [type(stage).__name__ for stage in entry.stages if getattr(type(stage), "TICK", None) is not None]:
        _require_laws_of_rate(entry, rates[0], custom)
    for mode in effort_modes(entry):
        _require_laws_of_effort_mode(entry, described_type(type(mode)).__name__, custom)
        _require_no_table(entry, mode)


def has_law(component: object) -> bool:
    """Return True if the law of a component is its whole computation."""
    own = type(component)
    if network_law_of(component) is not None:
        return True
    if (getattr(own, "_runs_as", None) or own) is Delay:
        return True
    return getattr(own, "LAW", None) is not None and all(
        getattr(own, method, None) is getattr(base, method, None)
        for base, methods in _COMPUTATION.items()
        if issubclass(own, base)
        for method in methods
    )


def base_of(component: object) -> LawClass | None:
    """Return the built-in class whose law a component or class has; None for a custom law."""
    law = law_of(component if isinstance(component, type) else type(component))
    return law and law.component


def law_class_of(component: Component) -> LawClass:
    """Return the class whose law a plan runs: the built-in class, or the custom class."""
    return base_of(component) or type(component)


def network_law_of(component: object) -> NetworkLaw | None:
    """Return the network of a controller that a plan runs; None for other components."""
    # asked of the class: components materialize what they do not have
    return cast(AnyStage, component).network_law if hasattr(type(component), "network_law") else None


def _planned(entry: ActuatorEntry) -> ActuatorEntry:
    custom = array_stages(entry)
    if custom is None:
        return entry
    delay = None if custom.delay else entry.delay
    controller = None if custom.controller else entry.controller
    rest = parts_of([*entry.sensing, *entry.commanding, *entry.after_controller[len(custom.stages) :]])
    return dataclasses.replace(entry, **rest | {"delay": delay, "controller": controller})


def in_sequence(entries: Sequence[ActuatorEntry]) -> list[tuple[int, ...]]:
    """Return the joints of each actuator, numbered consecutively."""
    numbers = itertools.count()
    return [tuple(itertools.islice(numbers, len(entry.dof_names))) for entry in entries]


def _require_array_stage(kind: Kind, stage: Component, subject: str) -> None:
    if kind.takes_effort and not kind.changes_effort:
        raise TypeError(f"{subject}: must have a law. Give it as LAW, a wp.func.")
    if publishes := getattr(stage, "PUBLISHES", None):
        raise TypeError(
            f"{subject} publishes {list(publishes)} and computes arrays: must run in the plan. Give it a LAW."
        )


def _neutral_plan(entries: Sequence[ActuatorEntry], num_robots: int, places: Sequence[tuple[int, ...]]) -> Plan:
    """Return a plan of the right size in which every row is neutral and there are no stages."""
    count = sum(map(len, places))
    labels, names = [""] * count, [""] * count
    placements: list[Placement] = []
    # equal networks become one object
    same: dict[LawClass | NetworkLaw, LawClass | NetworkLaw] = {}
    for entry, slots in zip(entries, places, strict=True):
        for slot, name in zip(slots, entry.dof_names, strict=True):
            labels[slot], names[slot] = entry.label, name
        law = None
        if (controller := entry.controller) is not None:
            network = network_law_of(controller)
            law = law_class_of(controller) if network is None else network
            law = same.setdefault(law, law)
        placements.append(Placement(entry.label, slots, getattr(ring_delay(entry), "max_delay", None), law, []))
    laws = dict.fromkeys(filter(None, map(operator.attrgetter("controller"), placements)))
    controllers = cast(tuple[LawClass, ...], tuple(itertools.filterfalse(is_network, laws)))
    control: dict[str, Row] = {}
    for controller in controllers:
        # controllers share rows of the same name: those of the first
        control = control | _neutral_rows(controller, count) | control
    return Plan(
        num_robots=num_robots,
        labels=tuple(labels),
        dof_names=tuple(names),
        controllers=controllers,
        controller_kind=np.full(count, -1, np.int32),
        control=control,
        control_curves=[[] for _ in controllers],
        stages=[],
        networks=[StatefulLaw(law, np.zeros(count, bool)) for law in laws if is_network(law)],
        delayed=np.zeros(count, bool),
        lag=Row.filled(0, count, np.int32),
        placements=placements,
        components=list(itertools.chain.from_iterable(entry.stages for entry in entries)),
    )


def _neutral_rows(law: LawClass, num_slots: int) -> dict[str, Row]:
    neutral = zip(law.PARAMETERS, law.neutral(), strict=True)
    return {name: Row.filled(value, num_slots) for name, value in neutral}


def _add_controller(plan: Plan, entry: ActuatorEntry, placement: Placement) -> None:
    controller, law, slots = entry.controller, placement.controller, placement.slots
    if controller is None or law is None:
        return
    for one in plan.networks:
        if one.law is law:
            one.used[list(slots)] = True
            return
    require_law(type(controller), KINDS[controller.KIND].takes)
    kind = plan.controllers.index(law)
    plan.controller_kind[list(slots)] = kind
    _add_curves(plan, controller, plan.control_curves[kind], slots)
    for name in controller.PARAMETERS:
        _add_values(plan, entry, controller, name, plan.control[name], slots)


def ring_delay(entry: ActuatorEntry) -> Delay | None:
    """Return the command delay of an actuator that is a number of steps, not a law; None without one."""
    return None if isinstance(entry.delay, LateComponent) else entry.delay


def _add_stages(plan: Plan, planned: Sequence[ActuatorEntry], entries: Sequence[ActuatorEntry]) -> None:
    """Merge the stages after the controllers of all actuators, each as early as the order of its actuator allows."""
    merged: list[dict[tuple[LawClass, int], PlannedStage]] = []
    found: list[tuple[Placement, str, int, PlannedStage]] = []
    for entry, placement, whole in zip(planned, plan.placements, entries, strict=True):
        # limits at the joint are behind the transmission, and what moves several joints has no joint before them
        depth = 2 if is_linked(entry) else int(is_geared(entry))
        # array stages come before the planned ones
        custom = array_stages(whole)
        kinds = list(map(kind_of, custom.stages if custom else ()))
        # classes in a sweep are in canonical order
        sweep, previous = 0, (-1, -1)
        for stage in entry.after_controller:
            rank = canonical_rank(law_class_of(stage))
            sweep, previous = sweep + (rank <= previous), rank
            if sweep == len(merged):
                merged.append({})
            added = _add_stage(plan, entry, stage, merged[sweep], placement.slots, depth * moves_behind(stage))
            found.append((placement, stage.KIND, kinds.count(stage.KIND), added))
            kinds.append(stage.KIND)
    for sweep in merged:
        plan.stages += [sweep[one] for one in sorted(sweep, key=lambda one: canonical_rank(one[0]))]
    # limits of one actuator may be in a later sweep than stages of another that follow limits
    plan.stages.sort(
        key=lambda stage: (
            follows_limits(stage.law.KIND),
            stage.law.END is not None,
            stage.is_behind > 1,
            KINDS[stage.law.KIND].couples,
            KINDS[stage.law.KIND].coordinates == "shaft",
            stage.is_behind,
            KINDS[stage.law.KIND].converts,
        )
    )
    for placement, kind, place, stage in found:
        placement.stages.append((kind, place, plan.stages.index(stage)))


def _add_feedback(plan: Plan, entries: Sequence[ActuatorEntry]) -> None:
    """Add the stages before the controllers in canonical order, numbered after `plan.stages`."""
    sweeps: list[dict[tuple[LawClass, int], PlannedStage]] = []
    found: list[tuple[Placement, int, PlannedStage]] = []
    for entry, placement in zip(entries, plan.placements, strict=True):
        # delays by a law, and laws of commands, act on the inputs of the controller, too
        delays = [entry.delay] if isinstance(entry.delay, LateComponent) else []
        laws: list[LawClass] = []
        for stage in (*entry.sensing, *delays, *entry.commanding):
            laws.append(law_class_of(stage))
            number = laws.count(laws[-1])
            if number > len(sweeps):
                sweeps.append({})
            at_motor = int(getattr(stage, "side", "joint") == "motor" and is_geared(entry))
            added = _add_stage(plan, entry, stage, sweeps[number - 1], placement.slots, at_motor)
            found.append((placement, [law.KIND for law in laws[:-1]].count(stage.KIND), added))
    added_stages = itertools.chain.from_iterable(map(dict.values, sweeps))
    plan.feedback += sorted(added_stages, key=lambda stage: canonical_rank(stage.law))
    for placement, place, stage in found:
        at = next(number for number, one in enumerate(plan.feedback) if one is stage)
        placement.stages.append((stage.law.KIND, place, len(plan.stages) + at))


def _require_laws_of_feedback(entry: ActuatorEntry, custom: ArrayStages | None) -> None:
    for stage in (*entry.sensing, *entry.commanding):
        name = type(stage).__name__
        if not has_law(stage):
            raise TypeError(f"actuator {entry.label!r}: {name}: must have a law. Give it as LAW, a wp.func.")
        others = () if custom is None else custom.stages
        if custom is not None and KINDS[stage.KIND].commands:
            others = [one for one in (custom.delay, custom.controller, *custom.stages) if one is not None]
        if others:
            raise TypeError(
                f"actuator {entry.label!r}: {name} beside {type(others[-1]).__name__}, which computes "
                "arrays of what the controller sees: must be left out. Give the latter a LAW."
            )


def _require_laws_of_rate(entry: ActuatorEntry, rate: str, custom: ArrayStages | None) -> None:
    subject = f"actuator {entry.label!r}: {rate}"
    if custom is not None:
        raise TypeError(f"{subject} beside a stage that computes arrays: must be left out. Give the latter a LAW.")
    if ring_delay(entry) is not None:
        raise TypeError(
            f"{subject} beside {type(entry.delay).__name__}, which counts physics steps: must be a DelayTimed, which "
            "counts those of the controller. Replace it."
        )


def _require_laws_of_effort_mode(entry: ActuatorEntry, mode: str, custom: ArrayStages | None) -> None:
    subject = f"actuator {entry.label!r}: {mode}"
    if network_law_of(entry.controller) is not None or newton_classes.is_network(type(entry.controller)):
        raise ValueError(
            f"{subject} beside {described_type(type(entry.controller)).__name__}: must be left out, as a network has "
            "no effort at the end of the step. Use the explicit mode."
        )
    if custom is not None:
        raise TypeError(f"{subject} beside a stage that computes arrays: must be left out. Give the latter a LAW.")
    linked = is_linked(entry)
    for kind, stage in entry.by_kind:
        if _is_at_start(kind, stage, linked):
            known = described_type(type(stage))
            name = known.__name__
            other = f"{name}(in_engine=True), in_engine: true in a file" if hasattr(known, "in_engine") else ""
            raise ValueError(
                f"{subject} beside {name}: must be left out, as its effort is not that of the end of the step. Use "
                f"the explicit mode, or {other or 'leave out the other'}."
            )


def _is_at_start(kind: str, stage: Component, linked: bool) -> bool:
    """Return True for a stage without an effort at the end of the step, `linked` for one beside a linkage."""
    line = KINDS[kind]
    is_at_joint = linked and kind != "effort_mode" and (follows_limits(kind) or moves_behind(stage))
    return kind in ("rate", "effort_delay") or line.converts or line.coordinates == "shaft" or is_at_joint


def _require_no_table(entry: ActuatorEntry, mode: Component) -> None:
    """Raise for an effort mode of a table whose slope the simulator is to take over."""
    found, given = shaft_of(entry), getattr(mode, "in_engine", None)
    if found is not None and found.shaft.is_table and given is not None and (as_numpy(given) > 0.5).any():
        raise ValueError(
            f"actuator {entry.label!r}: {described_type(type(mode)).__name__}.in_engine = True beside a linkage that "
            "is a table: must be left out, because no simulator has its inertia. Set it to False: it is then solved "
            "at the shaft."
        )


def _require_laws_of_motor(entry: ActuatorEntry, custom: ArrayStages | None) -> None:
    """Raise for array stages at a motor, and for laws there whose inertia or load it does not say."""
    subject = f"actuator {entry.label!r}"
    asking = [
        type(one).__name__
        for kind, one in entry.by_kind
        if KINDS[kind].coordinates == "motor" and not moves_behind(one) and {*one.ASKS}.intersection(FELT_SIGNALS)
    ]
    for kind, transmission in entry.by_kind:
        if not KINDS[kind].is_before_joint:
            continue
        if asking and transmission.FELT is None:
            raise TypeError(
                f"{subject}: {asking[0]} asks for inertia or load before {type(transmission).__name__}, which does not "
                "say what the motor feels of them: must have FELT. Add it, or leave out one of them."
            )
        if custom is not None:
            raise _arrays_at_motor(subject, transmission, custom)


def _arrays_at_motor(subject: str, transmission: Component, custom: ArrayStages) -> TypeError:
    """Return the error of a transmission beside stages that compute arrays, or that computes some itself."""
    name = type(transmission).__name__
    if not has_law(transmission):
        return TypeError(f"{subject}: {name}: must have a law. Give it as LAW and MOTOR, wp.funcs.")
    own = (one for one in (custom.delay, custom.controller, *custom.stages) if one is not None and not has_law(one))
    return TypeError(
        f"{subject}: {name} beside {type(next(own)).__name__}, which computes arrays in the coordinates of the "
        "joint: must be left out. Give the latter a LAW."
    )


def _add_stage(
    plan: Plan,
    entry: ActuatorEntry,
    component: Component,
    stages: dict[tuple[LawClass, int], PlannedStage],
    slots: tuple[int, ...],
    is_behind: int = 0,
) -> PlannedStage:
    """Add a component to the planned stage of its law, before or behind transmissions, and return the stage."""
    require_law(type(component), KINDS[component.KIND].takes)
    law = law_class_of(component)
    if (law, is_behind) not in stages:
        rows = _neutral_rows(law, plan.num_slots)
        stages[law, is_behind] = PlannedStage(law, np.zeros(plan.num_slots, bool), rows, is_behind=is_behind)
    stage = stages[law, is_behind]
    stage.used[list(slots)] = True
    if isinstance(component, LateComponent):
        stage.depth = max(stage.depth, component.depth)
    _add_curves(plan, component, stage.curves, slots)
    for name in component.PARAMETERS:
        _add_values(plan, entry, component, name, stage.rows[name], slots)
    return stage


def _add_curves(plan: Plan, component: Component, curves: list[PlannedCurve], slots: tuple[int, ...]) -> None:
    """Add the curves of a component to those of its law; equal curves are stored once."""
    mine = np.isin(np.arange(plan.num_slots), slots)
    for number, name in enumerate(component.CURVES):
        rows = rows_of(component, name)
        for one in curves:
            if one.number == number and np.array_equal(one.rows, rows):
                one.used |= mine
                break
        else:
            curves.append(PlannedCurve(number, rows, mine.copy()))


def _add_values(
    plan: Plan, entry: ActuatorEntry, component: Component, attribute: str, row: Row, slots: tuple[int, ...]
) -> None:
    # an attribute that is None has a view, too, so that it can be set later
    plan.views.append(ParameterView(component, attribute, row, slots))
    given = getattr(component, attribute)
    values = np.zeros(plan.num_robots * len(slots)) if given is None else as_numpy(given)
    table = values.reshape(plan.num_robots, len(slots))
    # the shared values are those of the first robot
    row.shared[list(slots)] = table[0]
    if row.own is not None or (given is not None and not entry.shared):
        row.materialize(plan.num_robots)[:, list(slots)] = table


def description_of(component: object, attribute: str) -> Parameter | None:
    """Return the description of a parameter of a built-in class or of a subclass; None for a custom law."""
    law = law_of(type(component))
    return parameters_of(law.config).get(attribute) if law else None


def _out_of_range(owner: str, name: str, value: object, rule: str) -> str:
    return f"{owner}: {name} = {value}: must be {rule}. Correct the array."
