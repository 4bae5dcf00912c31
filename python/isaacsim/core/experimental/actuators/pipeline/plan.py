"""Compile the actuators of one articulation into one plan: what runs on which joint, and with which numbers.

A *slot* is one driven joint. A parameter is a row of the plan: one value per slot, or one per robot and slot once
somebody gave or wants them that way. What an actuator lacks is neutral: its law does nothing there. The clamps of all
slots are merged into one sequence of limits that keeps the order each user gave. Components that compute arrays
themselves stand between the two phases of a step, command and limit. Pure data: nothing here needs a device.

Every parameter array of every component is checked here, whoever runs it: type, length and range.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar

import numpy as np

from ..components.base import Component, Controller, EffortStage, check_type
from ..components.catalogue import canonical_rank, law_of
from ..components.curve import rows_of
from ..components.delay import Delay
from ..components.law import LawClass, require_law
from ..specs.fields import Parameter, parameters_of
from ..specs.signals import SIGNALS, SUMMED
from ..specs.stages import KINDS, follows_limits, kind_of, parts_of
from .entry import ActuatorEntry

if TYPE_CHECKING:
    from ..components.network_law import NetworkLaw

AnyLaw_co = TypeVar("AnyLaw_co", bound="LawClass | NetworkLaw", covariant=True)

# what a class with a law must not override for the law to be all there is to it
_COMPUTATION = {
    Controller: ("compute", "state", "update_state", "is_stateful"),
    EffortStage: ("modify_forces", "state", "update_state", "is_stateful"),
}


@dataclass(eq=False)
class Row:
    """One parameter of the plan.

    Args:
        shared: Value of each slot, for all robots alike.
        per_robot: Whether values differ, or may come to differ, from robot to robot.
        own: Those values, shape `(robots, slots)`, as long as no engine has taken them over.
        neutral: Value of slots without the law.
        live: Array `(robots,)` of a component that every step reads, for a plan of one slot; nothing is copied then.
    """

    shared: np.ndarray
    per_robot: bool = False
    own: np.ndarray | None = None
    neutral: float = 0.0
    live: Any = None

    @classmethod
    def filled(cls, neutral: float, num_slots: int, dtype: Any = np.float32) -> Row:
        """A row in which no slot has the law."""
        return cls(np.full(num_slots, neutral, dtype), neutral=neutral)

    def materialize(self, num_robots: int) -> np.ndarray:
        """The values of all robots, in an array of their own."""
        if self.own is None:
            self.own = np.tile(self.shared, (num_robots, 1))
        self.per_robot = True
        return self.own


@dataclass(eq=False)
class PlannedCurve:
    """One curve of a law of the plan.

    Args:
        number: Which one of the law's `CURVES`.
        rows: Its prepared rows, see `components/curve.py`.
        used: Which slots it serves, bool.
    """

    number: int
    rows: np.ndarray
    used: np.ndarray


@dataclass(eq=False)
class PlannedStage:
    """One class of stages after the controllers, in their sequence.

    Args:
        law: The class.
        used: Which slots have it here, bool.
        rows: Its parameters by name.
        curves: Its curves, each once.
    """

    law: LawClass
    used: np.ndarray
    rows: dict[str, Row]
    curves: list[PlannedCurve] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class StatefulLaw(Generic[AnyLaw_co]):
    """A law of the plan with a state.

    Args:
        law: Its class, or the law itself of a network.
        used: Which slots have it, bool.
        stage: Number of its stage after the controllers, which those of feedback follow; None for a controller.
    """

    law: AnyLaw_co
    used: np.ndarray
    stage: int | None = None

    @property
    def axis(self) -> int:
        """Axis of each array of its state that runs over robots times slots, robot-major."""
        return self.law.STATE_AXIS if is_network(self.law) else 0

    def shape(self, num_robots: int) -> tuple[int, ...]:
        """Shape of each array of its state."""
        return self.shape_of(num_robots * self.count)

    def shape_of(self, count: int) -> tuple[int, ...]:
        """Shape of each array of the state of so many actuators."""
        return self.law.state_shape(count) if is_network(self.law) else (count,)

    @property
    def count(self) -> int:
        """Number of slots that have it."""
        return int(self.used.sum())

    @property
    def starts(self) -> list[tuple[float, bool]]:
        """What a fresh state makes of each array of its state, and whether a reset leaves it as it is."""
        return [(self.law.START.get(name, 0.0), name in self.law.KEPT) for name in self.law.STATE]

    @property
    def places(self) -> np.ndarray:
        """Place of each slot among those with the law, int32; -1 without it."""
        return np.where(self.used, np.cumsum(self.used) - 1, -1).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Published:
    """A number that a law remembers, which laws of the next step read as a signal.

    Args:
        signal: Name of the signal.
        law: Number of the law among those with a state.
        state: Number of the number in its `STATE`.
        used: Which slots have the law, bool.
    """

    signal: str
    law: int
    state: int
    used: np.ndarray

    @property
    def neutral(self) -> float:
        """Value of the signal where the number is not known yet."""
        return SIGNALS[self.signal].neutral


@dataclass(frozen=True, eq=False)
class Placement:
    """Where the parts of an actuator are in the plan.

    Args:
        label: The actuator's.
        slots: Slots of its joints, in their order.
        max_delay: Largest delay [physics steps]; None where the plan delays nothing.
        controller: Class of its controller in the plan, the law of its network, or None.
        stages: Of each of its planned stages but delay and controller: kind, place among its stages of that kind, and
            number of the stage of the plan, see `StatefulLaw`.
    """

    label: str
    slots: tuple[int, ...]
    max_delay: int | None
    controller: LawClass | NetworkLaw | None
    stages: list[tuple[str, int, int]]


@dataclass(frozen=True, eq=False)
class ParameterView:
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
class ArrayStages:
    """What of an actuator stands between the phases of a step: components that compute arrays, and clamps before them.

    A delay or controller that the first phase knows is not among them.

    Args:
        delay: A delay of the user's own.
        controller: The control law, unless the first phase evaluates it.
        stages: Stages after the controller that come before those of the second phase.
    """

    delay: Any
    controller: Any
    stages: tuple[Any, ...]


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
        control_curves: Curves of each of the controllers.
        stages: What comes after the controllers, in the order in which it acts: all that acts on motors, the
            transmissions, all that acts on joints.
        feedback: What controllers see of their joints; each class once, and a joint has one at most.
        delayed: Which slots have a delay, bool.
        lag: Delay of each slot in steps, int32.
        depth: Rows of the delay ring: the largest delay that any slot may have, at least 1.
        networks: Networks, which give the efforts of slots without a controller; each once.
        views: What the components show.
        placements: Where the parts of each actuator are.
        components: The components whose laws it has.
    """

    num_robots: int
    labels: tuple[str, ...]
    dof_names: tuple[str, ...]
    controllers: tuple[LawClass, ...]
    controller_kind: np.ndarray
    control: dict[str, Row]
    stages: list[PlannedStage]
    delayed: np.ndarray
    lag: Row
    depth: int = 1
    control_curves: list[list[PlannedCurve]] = field(default_factory=list)
    networks: list[StatefulLaw[NetworkLaw]] = field(default_factory=list)
    feedback: list[PlannedStage] = field(default_factory=list)
    views: list[ParameterView] = field(default_factory=list)
    placements: list[Placement] = field(default_factory=list)
    components: list[Any] = field(default_factory=list)

    @property
    def num_slots(self) -> int:
        """Number of driven joints."""
        return len(self.dof_names)

    @property
    def num_delayed(self) -> int:
        """Number of joints with a delay."""
        return int(self.delayed.sum())

    @property
    def stateful(self) -> list[StatefulLaw[LawClass | NetworkLaw]]:
        """The laws with a state in the order that holds everywhere: controllers, networks, other stages, feedback."""
        controllers = [
            StatefulLaw(law, self.controller_kind == kind) for kind, law in enumerate(self.controllers) if law.STATE
        ]
        stages = [
            StatefulLaw(stage.law, stage.used, number)
            for number, stage in enumerate([*self.stages, *self.feedback])
            if stage.law.STATE
        ]
        return [*controllers, *self.networks, *stages]

    @property
    def asked(self) -> dict[str, np.ndarray]:
        """Signals that laws ask for, in the order of their table, and which slots have such a law, bool."""
        found: dict[str, np.ndarray] = {}
        for name in SIGNALS:
            asking = [used for law, used in self.laws if name in law.ASKS]
            if asking:
                found[name] = np.logical_or.reduce(asking)
        return found

    def curves(self) -> Iterator[tuple[int, PlannedCurve]]:
        """All curves, each behind the number of its law: controllers, stages after them and feedback are counted on."""
        by_law = [*self.control_curves, *(stage.curves for stage in (*self.stages, *self.feedback))]
        for number, curves in enumerate(by_law):
            for one in curves:
                yield number, one

    @property
    def laws(self) -> list[tuple[LawClass, np.ndarray]]:
        """All laws but networks, and which slots have each, bool."""
        laws = [(law, self.controller_kind == kind) for kind, law in enumerate(self.controllers)]
        return [*laws, *((stage.law, stage.used) for stage in (*self.stages, *self.feedback))]

    @property
    def published(self) -> list[Published]:
        """The numbers that laws publish, as far as laws of the plan ask for the signal or a total adds it up."""
        wanted = {*self.asked, *SUMMED}
        return [
            Published(signal, number, one.law.STATE.index(name), one.used)
            for number, one in enumerate(self.stateful)
            # a network publishes nothing
            for signal, name in getattr(one.law, "PUBLISHES", {}).items()
            if signal in wanted
        ]

    @property
    def has_totals(self) -> bool:
        """True if laws ask for a total, or publish a signal that one adds up."""
        return any(SIGNALS[name].total_of for name in self.asked) or any(one.signal in SUMMED for one in self.published)

    @property
    def signals(self) -> list[str]:
        """Names of the signals that laws ask for or publish, as far as they are kept, in the order of their table."""
        kept = {*self.asked, *(one.signal for one in self.published)}
        return [name for name in SIGNALS if name in kept]

    @property
    def totals(self) -> list[tuple[str, str, np.ndarray]]:
        """Each total that laws ask for, the signal it adds up, and the slots that publish that, ascending."""
        published = self.published
        found = []
        for name in self.asked:
            if part := SIGNALS[name].total_of:
                slots = [np.flatnonzero(one.used) for one in published if one.signal == part]
                found.append((name, part, np.sort(np.concatenate([np.zeros(0, int), *slots]))))
        return found

    @property
    def transmissions(self) -> list[PlannedStage]:
        """The stages between the coordinates of motors and joints; what comes before them acts on motors."""
        return [stage for stage in self.stages if KINDS[stage.law.KIND].converts]

    @property
    def geared(self) -> np.ndarray:
        """Which slots have a transmission, bool."""
        return np.logical_or.reduce([np.zeros(self.num_slots, bool), *(stage.used for stage in self.transmissions)])

    @property
    def motor_stages(self) -> int:
        """How many of the stages do not follow limits and transmission: the first ones."""
        return sum(not follows_limits(stage.law.KIND) for stage in self.stages)

    @property
    def stage_names(self) -> list[str]:
        """Class names of the stages after the controllers."""
        return [stage.law.__name__ for stage in self.stages]

    def rows(self) -> Iterator[Row]:
        """All parameters: of controllers, of the stages after them, of feedback, and the lag."""
        yield from self.control.values()
        for stage in (*self.stages, *self.feedback):
            yield from stage.rows.values()
        yield self.lag


def is_network(law: LawClass | NetworkLaw) -> TypeGuard[NetworkLaw]:
    """Whether a law is a network."""
    # asked without loading what runs networks
    return hasattr(law, "network")


def array_stages(entry: ActuatorEntry) -> ArrayStages | None:
    """What of an actuator stands between the phases of a step, or None when all of it has a law."""
    after = entry.after_controller
    odd = [number for number, stage in enumerate(after, 1) if not has_law(stage)]
    own_delay = entry.delay is not None and not has_law(entry.delay)
    own_controller = entry.controller is not None and (own_delay or not has_law(entry.controller))
    if not odd and not own_controller:
        return None
    first = after[: max(odd, default=0)]
    return ArrayStages(entry.delay if own_delay else None, entry.controller if own_controller else None, first)


def is_built_in(entry: ActuatorEntry) -> bool:
    """Whether every engine knows the laws of an actuator, those aside that stand between the phases."""
    components = _planned(entry).stages
    return all(base_of(one) is not None or network_law_of(one) is not None for one in components)


def compile_plan(
    entries: Sequence[ActuatorEntry], num_robots: int, slots: Sequence[Sequence[int]] = (), *, live: bool = False
) -> Plan:
    """Return the plan of some actuators.

    Args:
        entries: The actuators.
        num_robots: Number of robots.
        slots: Slots of each actuator's joints; by default they are numbered as they come.
        live: Whether steps read the components' own arrays, instead of copies; for one actuator of one joint.

    Raises:
        ValueError: A parameter array is not of its type, does not hold one value per robot and joint, or holds one out
            of range; or a curve is none.
        TypeError: A law does not have the signals of its kind, or a component of the user's own that computes arrays
            has a transmission beside it.
    """
    places = [tuple(one) for one in slots] or in_sequence(entries)
    for entry in entries:
        check_parameters(entry, num_robots, ranges=not live)
        _require_laws(entry)
    planned = [_planned(entry) for entry in entries]
    plan = _neutral_plan(planned, num_robots, places)
    for entry, placement in zip(planned, plan.placements, strict=True):
        _add_controller(plan, entry, placement)
        _add_delay(plan, entry, placement.slots)
    _add_stages(plan, planned, entries)
    _add_feedback(plan, planned)
    _require_one_publisher(plan)
    if live:
        _keep_live(plan)
    return plan


def _require_one_publisher(plan: Plan) -> None:
    """Refuse two laws of a joint that publish the same signal.

    Raises:
        ValueError: There are two.
    """
    for signal in SIGNALS:
        publishing = [(law.__name__, used) for law, used in plan.laws if signal in law.PUBLISHES]
        for slot in np.flatnonzero(sum(used.astype(int) for _, used in publishing) > 1) if publishing else ():
            names = " and ".join(name for name, used in publishing if used[slot])
            raise ValueError(
                f"actuator {plan.labels[slot]!r}: {names} publish the {signal} of joint {plan.dof_names[slot]!r}: must "
                "be one law. Remove the others."
            )


def check_parameters(entry: ActuatorEntry, num_robots: int, *, ranges: bool = True) -> None:
    """Refuse parameter arrays of an actuator that do not fit, those of components that compute arrays too.

    Args:
        entry: The actuator.
        num_robots: Number of robots.
        ranges: Whether values have to be in range; what a law cannot use is a fault of the step otherwise.

    Raises:
        ValueError: One is of another type, does not hold one value per robot and joint, or holds one out of range.
    """
    for component in entry.stages:
        for name in component.PARAMETERS:
            # a subclass with a computation of its own may do without
            given = getattr(component, name, None)
            if given is not None:
                owner, joints = f"actuator {entry.label!r}", len(entry.dof_names)
                check_array(owner, num_robots, joints, name, given)
                if ranges:
                    check_values(owner, component, name, _values_of(given))


def _values_of(given: Any) -> np.ndarray:
    """The values of a Warp or NumPy array; on the CPU not copied."""
    return np.asarray(given.numpy() if hasattr(given, "numpy") else given)


def check_array(owner: str, num_robots: int, num_joints: int, name: str, array: Any) -> None:
    """Refuse an array of a parameter that is of another type, or not one value per robot and joint.

    Args:
        owner: Whose it is, for the error.
        num_robots: Number of robots.
        num_joints: Number of joints of the actuator.
        name: The parameter.
        array: Warp or NumPy array, robot-major over the joints; it is not read.

    Raises:
        ValueError: It does not fit.
    """
    check_type(owner, name, array)
    subject, shape, count = f"{owner}: {name}", tuple(array.shape), num_robots * num_joints
    if shape != (count,):
        has = f"{shape[0]} elements" if len(shape) == 1 else f"shape {shape}"
        raise ValueError(
            f"{subject} has {has}: must be {count}, one per joint of each robot ({num_robots} robots x {num_joints})."
        )


def check_values(owner: str, component: Any, name: str, values: np.ndarray) -> None:
    """Refuse values of a parameter that are out of range.

    Raises:
        ValueError: One is.
    """
    described = description_of(component, name)
    good = _in_range(values, described) if described else ~np.isnan(values)
    if not good.all():
        rule = described.rule.removeprefix("must be ") if described else "a number"
        raise ValueError(_out_of_range(owner, name, values[~good][0], rule))
    if isinstance(component, Delay) and (values > component.max_delay).any():
        rule = f"<= max_delay = {component.max_delay}"
        raise ValueError(_out_of_range(owner, name, values.max(), rule))


def _require_laws(entry: ActuatorEntry) -> None:
    beside = array_stages(entry)
    _require_laws_of_stages(entry)
    _require_laws_of_motor(entry, beside)
    _require_laws_of_feedback(entry, beside)


def _require_laws_of_stages(entry: ActuatorEntry) -> None:
    """Refuse what runs in a plan only and cannot.

    Raises:
        TypeError: A stage that changes no effort has no law, or one that computes arrays publishes a signal.
    """
    for kind, stage in entry.by_kind:
        subject = f"actuator {entry.label!r}: {type(stage).__name__}"
        if not KINDS[kind].changes_effort and KINDS[kind].takes_effort and not has_law(stage):
            raise TypeError(f"{subject}: must have a law. Give it as LAW, a wp.func.")
        if getattr(stage, "PUBLISHES", None) and not has_law(stage):
            raise TypeError(
                f"{subject} publishes {list(stage.PUBLISHES)} and computes arrays: must run in the plan. Give it a LAW."
            )


def has_law(component: Any) -> bool:
    """Whether the law of a component is all there is to it."""
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


def base_of(component: Any) -> LawClass | None:
    """The built-in class whose law a component, or class, has; None for a law of the user's own."""
    law = law_of(component if isinstance(component, type) else type(component))
    return law and law.component


def law_class_of(component: Component) -> LawClass:
    """The class whose law a plan runs: the built-in one, or the user's own."""
    return base_of(component) or type(component)


def network_law_of(component: Any) -> NetworkLaw | None:
    """The network that a plan runs of a controller; None for others."""
    return getattr(component, "network_law", None)


def _planned(entry: ActuatorEntry) -> Any:
    """The actuator without what stands between the phases."""
    apart = array_stages(entry)
    if apart is None:
        return entry
    delay = None if apart.delay else entry.delay
    controller = None if apart.controller else entry.controller
    rest = parts_of([*entry.sensing, *entry.after_controller[len(apart.stages) :]])
    return dataclasses.replace(entry, **rest | {"delay": delay, "controller": controller})


def in_sequence(entries: Sequence[ActuatorEntry]) -> list[tuple[int, ...]]:
    """Return the joints of each actuator, numbered consecutively."""
    numbers = itertools.count()
    return [tuple(itertools.islice(numbers, len(entry.dof_names))) for entry in entries]


def _neutral_plan(entries: Sequence[ActuatorEntry], num_robots: int, places: Sequence[tuple[int, ...]]) -> Plan:
    """Return a plan of the right size in which every row is neutral and there are no stages."""
    count = sum(map(len, places))
    placements = _placements(entries, places)
    laws = dict.fromkeys(filter(None, map(operator.attrgetter("controller"), placements)))
    controllers = tuple(law for law in laws if not is_network(law))
    labels, names = _by_slot(entries, places)
    control: dict[str, Row] = {}
    for controller in controllers:
        # controllers share rows of the same name
        for name, row in _neutral_rows(controller, count).items():
            control.setdefault(name, row)
    return Plan(
        num_robots=num_robots,
        labels=labels,
        dof_names=names,
        controllers=controllers,
        controller_kind=np.full(count, -1, np.int32),
        control=control,
        control_curves=[[] for _ in controllers],
        stages=[],
        networks=[StatefulLaw(law, np.zeros(count, bool)) for law in laws if is_network(law)],
        delayed=np.zeros(count, bool),
        lag=Row.filled(0, count, np.int32),
        placements=placements,
        components=[component for entry in entries for component in entry.stages],
    )


def _by_slot(
    entries: Sequence[ActuatorEntry], places: Sequence[tuple[int, ...]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the label of the actuator and the name of the joint of each slot."""
    count = sum(map(len, places))
    labels, names = [""] * count, [""] * count
    for entry, mine in zip(entries, places, strict=True):
        for slot, name in zip(mine, entry.dof_names, strict=True):
            labels[slot], names[slot] = entry.label, name
    return tuple(labels), tuple(names)


def _placements(entries: Sequence[ActuatorEntry], places: Sequence[tuple[int, ...]]) -> list[Placement]:
    """Return the placements of actuators, still without stages; equal networks become one object."""
    laws: dict[LawClass | NetworkLaw, LawClass | NetworkLaw] = {}
    placements: list[Placement] = []
    for entry, slots in zip(entries, places, strict=True):
        law = None
        if (controller := entry.controller) is not None:
            network = network_law_of(controller)
            law = law_class_of(controller) if network is None else network
            law = laws.setdefault(law, law)
        longest = entry.delay.max_delay if entry.delay is not None else None
        placements.append(Placement(entry.label, slots, longest, law, []))
    return placements


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


def _add_delay(plan: Plan, entry: ActuatorEntry, slots: tuple[int, ...]) -> None:
    if entry.delay is None:
        return
    _add_values(plan, entry, entry.delay, "delay_steps", plan.lag, slots)
    plan.delayed[list(slots)] = True
    plan.depth = max(plan.depth, entry.delay.max_delay)


def _add_stages(plan: Plan, planned: Sequence[ActuatorEntry], entries: Sequence[ActuatorEntry]) -> None:
    """Merge the stages after the controllers of all actuators, each as early as the order of its actuator allows.

    Args:
        plan: The plan that gets them.
        planned: The actuators without their array stages.
        entries: The whole actuators.
    """
    merged: list[dict[LawClass, PlannedStage]] = []
    found: list[tuple[Placement, str, int, PlannedStage]] = []
    for entry, placement, whole in zip(planned, plan.placements, entries, strict=True):
        # array stages come before the planned ones
        beside = array_stages(whole)
        kinds = list(map(kind_of, beside.stages if beside else ()))
        for sweep, stage in _by_sweep(entry.after_controller):
            if sweep == len(merged):
                merged.append({})
            added = _add_stage(plan, entry, stage, merged[sweep], placement.slots)
            found.append((placement, stage.KIND, kinds.count(stage.KIND), added))
            kinds.append(stage.KIND)
    for sweep in merged:
        plan.stages += [sweep[law] for law in sorted(sweep, key=canonical_rank)]
    # limits of one actuator may come in a later sweep than what follows those of another
    plan.stages.sort(key=lambda stage: (follows_limits(stage.law.KIND), KINDS[stage.law.KIND].converts))
    for placement, kind, place, stage in found:
        placement.stages.append((kind, place, plan.stages.index(stage)))


def _by_sweep(stages: Sequence[Component]) -> Iterator[tuple[int, Component]]:
    """Yield stages behind the number of their sweep; within a sweep classes are in canonical order."""
    sweep, previous = 0, (-1, -1)
    for stage in stages:
        rank = canonical_rank(law_class_of(stage))
        sweep += rank <= previous
        previous = rank
        yield sweep, stage


def _add_feedback(plan: Plan, entries: Sequence[ActuatorEntry]) -> None:
    """Add the stages that controllers see their joints through; they are numbered after `plan.stages`."""
    planned: dict[LawClass, PlannedStage] = {}
    for entry, placement in zip(entries, plan.placements, strict=True):
        for stage in entry.sensing:
            law = _add_stage(plan, entry, stage, planned, placement.slots).law
            placement.stages.append((law.KIND, 0, len(plan.stages) + list(planned).index(law)))
    plan.feedback += planned.values()


def _require_laws_of_feedback(entry: ActuatorEntry, beside: ArrayStages | None) -> None:
    """Reject feedback without a law, or beside stages that compute arrays."""
    for stage in entry.sensing:
        name = type(stage).__name__
        if not has_law(stage):
            raise TypeError(f"actuator {entry.label!r}: {name}: must have a law. Give it as LAW, a wp.func.")
        if beside is not None and beside.stages:
            raise TypeError(
                f"actuator {entry.label!r}: {name} beside {type(beside.stages[-1]).__name__}, which computes "
                "arrays of what the controller sees: must be left out. Give the latter a LAW."
            )


def _require_laws_of_motor(entry: ActuatorEntry, beside: ArrayStages | None) -> None:
    """Refuse what computes arrays beside a transmission: those are of the joint, not of the motor."""
    transmission = next((stage for kind, stage in entry.by_kind if KINDS[kind].converts), None)
    if beside is None or transmission is None:
        return
    name = type(transmission).__name__
    if not has_law(transmission):
        raise TypeError(f"actuator {entry.label!r}: {name}: must have a law. Give it as LAW and MOTOR, wp.funcs.")
    own = (one for one in (beside.delay, beside.controller, *beside.stages) if one is not None and not has_law(one))
    raise TypeError(
        f"actuator {entry.label!r}: {name} beside {type(next(own)).__name__}, which computes arrays in the coordinates "
        "of the joint: must be left out. Give the latter a LAW."
    )


def _add_stage(
    plan: Plan, entry: ActuatorEntry, component: Component, stages: dict[LawClass, PlannedStage], slots: tuple[int, ...]
) -> PlannedStage:
    """Add a component to the planned stage of its law, and return that."""
    require_law(type(component), KINDS[component.KIND].takes)
    law = law_class_of(component)
    if law not in stages:
        stages[law] = PlannedStage(law, np.zeros(plan.num_slots, bool), _neutral_rows(law, plan.num_slots))
    stage = stages[law]
    stage.used[list(slots)] = True
    _add_curves(plan, component, stage.curves, slots)
    for name in component.PARAMETERS:
        _add_values(plan, entry, component, name, stage.rows[name], slots)
    return stage


def _add_curves(plan: Plan, component: Component, curves: list[PlannedCurve], slots: tuple[int, ...]) -> None:
    """Add the curves of a component to those of its law; one that is there serves these slots too."""
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
    plan: Plan, entry: ActuatorEntry, component: Any, attribute: str, row: Row, slots: tuple[int, ...]
) -> None:
    """Copy one attribute of a component into its row."""
    # shown also where it is not given, so that a bias can be set later
    plan.views.append(ParameterView(component, attribute, row, slots))
    given = getattr(component, attribute)
    values = np.zeros(plan.num_robots * len(slots)) if given is None else _values_of(given)
    table = values.reshape(plan.num_robots, len(slots))
    # what robots share is what the first of them has
    row.shared[list(slots)] = table[0]
    if row.own is not None or (given is not None and not entry.shared):
        row.materialize(plan.num_robots)[:, list(slots)] = table


def _keep_live(plan: Plan) -> None:
    """Let rows read the arrays of their components."""
    if plan.num_slots != 1:
        raise ValueError(f"a plan of {plan.num_slots} joints cannot read arrays of components: must have one joint.")
    for view in plan.views:
        view.row.live, view.row.own = getattr(view.component, view.attribute), None


def description_of(component: Any, attribute: str) -> Parameter | None:
    """What a parameter of a built-in class, or of a subclass of one, may be; None for the user's own."""
    law = law_of(type(component))
    return parameters_of(law.config).get(attribute) if law else None


def _in_range(values: np.ndarray, described: Parameter) -> np.ndarray:
    """Where an array keeps the rule of its parameter."""
    with np.errstate(invalid="ignore"):
        above = values > described.lower if described.above else values >= described.lower
        inside = above & (values <= described.upper) & np.isfinite(values)
    return inside | (np.isposinf(values) if described.infinite else False)


def _out_of_range(owner: str, name: str, value: Any, rule: str) -> str:
    return f"{owner}: {name} = {value}: must be {rule}. Correct the array."
