"""Domain randomization of motor parameters: random values per robot, drawn once or at each reset.

Values are written to the parameters of the plan, which every step reads. Operations refer to the nominal value of a
parameter, its value before the first draw.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import warp as wp

from ...laws.contract.late import LateComponent
from ...laws.delay import Delay
from ...specs.distributions import Distribution, Uniform
from ...specs.fields import Parameter, complaint, parameters_of
from ...specs.motors import MotorConfig
from ...specs.patterns import assigned
from ...specs.stages import KINDS
from ..parameters import Parameters
from ..plan import ParameterView, Plan, description_of
from .random_numbers import Draw, Draws, key_of

if TYPE_CHECKING:
    from ..step.interface import Step

Randomized = Mapping[str, Distribution | Mapping[str, Distribution] | None]
"""By parameter, a distribution for all joints that have it, or one per pattern of joint names; None removes it."""

STRENGTH = "strength"
JOINT_PROPERTIES = parameters_of(MotorConfig)
_OF_ALL_JOINTS = STRENGTH, *JOINT_PROPERTIES
_LOADS = "motor_load and external_load of the friction, which its losses are"
# fields of transmissions that are no parameters of a law, and what has their effect
_INSTEAD = {
    "rotor_inertia": "armature, which is ratio²·rotor_inertia at the joint",
    "efficiency": _LOADS,
    "backdriving_efficiency": _LOADS,
}


class JointProperties(Protocol):
    """Armature and friction of the joints in the simulator."""

    def problem(self, name: str) -> str:
        """The reason why a property cannot be drawn, as the end of a message; empty if it can."""
        ...

    def read(self, name: str) -> np.ndarray | None:
        """Current values, float32 `(robots, DOFs)`; None while physics does not run."""
        ...

    def write(self, name: str, rows: np.ndarray, columns: list[int], values: np.ndarray) -> None:
        """Set values `(rows, columns)`."""


@dataclass(frozen=True, eq=False)
class _JointParameter:
    joint: str
    step: Step
    view: ParameterView
    at: int

    @property
    def key(self) -> tuple[int, int]:
        """Identity of the parameter of this joint."""
        return id(self.view.row), self.view.slots[self.at]

    @property
    def described(self) -> Parameter | None:
        """Its description, if known."""
        return description_of(self.view.component, self.view.attribute)

    @property
    def is_effort(self) -> bool:
        """True if it scales with the strength of the motor: effort limits, and gains, which are efforts per error.

        Parameters of stages that also occur without a motor do not scale.
        """
        if self.described is None or KINDS[self.view.component.KIND].alone:
            return False
        return self.described.unit.startswith("N·m")


@dataclass(frozen=True, eq=False)
class _Request:
    """The randomization of one parameter: the distribution of each joint."""

    by_joint: dict[str, Distribution]
    seed: int
    each_reset: bool


@dataclass(frozen=True, eq=False)
class _Targets:
    """Draws with the arrays that they write."""

    # after a change of it the arrays are out of date
    num_pieces: int
    draws: Draws
    # values, one per robot, and nominal ones
    parameters: list[tuple[np.ndarray, np.ndarray]]
    # values `(robots, DOFs)`, and the columns that are drawn
    properties: dict[str, tuple[np.ndarray, list[int]]]
    # to be called after a draw
    flush: list[Callable[[], None]]
    # parameter, joint, values, and what they are divided by, to be read
    kept: list[tuple[str, str, np.ndarray, np.ndarray | None]]


class Randomization:
    """Random parameters of the actuators of an assembly; `plans` are steps with the joint of each of their slots."""

    def __init__(
        self,
        plans: Sequence[tuple[Step, Sequence[int]]],
        dof_names: Sequence[str],
        parameters: Parameters,
        num_robots: int,
    ) -> None:
        self._parameters, self._num_robots, self._names = parameters, num_robots, list(dof_names)
        self._places: dict[str, list[_JointParameter]] = {}
        self._unscaled: dict[str, str] = {}
        for step, joints in plans:
            for view in step.plan.views:
                for at, slot in enumerate(view.slots):
                    place = _JointParameter(self._names[joints[slot]], step, view, at)
                    self._places.setdefault(view.attribute, []).append(place)
            self._unscaled |= _unscaled(step.plan, [dof_names[joint] for joint in joints])
        self._requests: dict[str, _Request] = {}
        # number of draws of each robot
        self._counts = np.zeros(num_robots, np.int64)
        self._first = 0
        self._properties: JointProperties | None = None
        self._columns: list[int] = []
        # values before the first draw: of a parameter by row and slot, of a property by name
        self._nominal: dict[tuple[int, int], np.ndarray] = {}
        self._nominal_properties: dict[str, np.ndarray] = {}
        self._targets: _Targets | None = None

    @property
    def active(self) -> bool:
        """True if a parameter is drawn."""
        return bool(self._requests)

    def drawn(self) -> dict[str, dict[str, np.ndarray]]:
        """Return what was drawn last, by parameter and joint, float32 `(robots,)`; of the strength the factors."""
        found: dict[str, dict[str, np.ndarray]] = {}
        for name, joint, values, base in self._targets.kept if self._targets is not None else ():
            if base is not None:
                values = np.divide(values, base, out=np.ones_like(values), where=base != 0.0)
            found.setdefault(name, {}).setdefault(joint, values.copy())
        return found

    def bind(self, columns: Sequence[int], properties: JointProperties | None) -> None:
        """Set the columns of the joints in the articulation, and their properties in the simulator."""
        self._columns, self._properties = list(columns), properties

    def request(self, given: Randomized, seed: int, each_reset: bool, first_robot: int) -> None:
        """Draw these parameters now, besides those of earlier requests; see `ActuatorSet.randomize`."""
        _check_arguments(given, seed, first_robot)
        problems: list[str] = []
        requests = {
            name: _Request(self._by_joint(name, value, problems), int(seed), bool(each_reset))
            for name, value in given.items()
            if value is not None
        }
        known = {**self._nominal}, {**self._nominal_properties}
        problems += [wrong for name, request in requests.items() for wrong in self._out_of_range(name, request)]
        if problems:
            self._nominal, self._nominal_properties = known
            raise ValueError("\n".join(problems))
        self._restore()
        self._requests = {name: one for name, one in self._requests.items() if name not in given} | requests
        self._first = int(first_robot)
        self._counts[:] = 0
        self.draw(None)

    def draw(self, robots: Sequence[int] | None, *, again: bool = False) -> None:
        """Draw for some robots, all by default; `again` after their reset."""
        if not self._requests:
            return
        rows = np.arange(self._num_robots) if robots is None else np.unique(np.asarray(robots, np.int64))
        if again:
            self._counts[rows] += 1
        first = self._targets is None
        if self._targets is None or self._targets.num_pieces != self._parameters.num_pieces:
            self._targets = self._new_targets()
        self._targets.draws.draw(rows, self._counts, self._first)
        for flush in self._targets.flush:
            flush()
        if self._properties is not None:
            self._write(self._properties, self._targets, rows, first)

    def _write(self, properties: JointProperties, targets: _Targets, rows: np.ndarray, first: bool) -> None:
        for name, (values, columns) in targets.properties.items():
            # writing properties to a simulator is expensive: write new values only
            if first or self._requests[name].each_reset:
                chosen = values if len(rows) == len(values) else values[rows]
                every = columns == list(range(values.shape[1]))
                properties.write(name, rows, columns, chosen if every else chosen[:, columns])

    def reset_properties(self) -> None:
        """Drop nominal properties, as the simulator has created its joints again; the next draw sets properties."""
        self._nominal_properties, self._targets = {}, None
        drawn = [item for item in self._requests.items() if item[0] in JOINT_PROPERTIES]
        if problems := [wrong for name, request in drawn for wrong in self._out_of_range(name, request)]:
            raise ValueError("\n".join(problems))

    # inside

    def _by_joint(self, name: str, value: object, problems: list[str]) -> dict[str, Distribution]:
        """Return the distribution of each joint; add problems to `problems`."""
        subject = f"randomize: {name}"
        try:
            having = self._joints_with(name, subject)
        except ValueError as error:
            problems.append(str(error))
            return {}
        found: dict[str, Any] = dict.fromkeys(having, value)
        if isinstance(value, Mapping):
            matched, wrong = assigned(value, having, subject, every=False)
            problems += wrong
            found = {joint: value[pattern] for joint, pattern in matched.items()}
        for one in {id(one): one for one in found.values()}.values():
            if not isinstance(one, Distribution):
                problems.append(
                    f"{subject} = {one!r:.120}: must be a distribution. Give Uniform(low, high) or another."
                )
                return {}
            problems += [f"{subject}: {problem}" for problem in one.problems()]
        return found

    def _joints_with(self, name: str, subject: str) -> list[str]:
        if name in JOINT_PROPERTIES:
            properties = self._properties
            if why := properties.problem(name) if properties else "it belongs into the simulator. Randomize it there":
                raise ValueError(f"{subject}: {why}.")
        having = {place.joint for place in self._places.get(name, [])}
        joints = [joint for joint in self._names if name in _OF_ALL_JOINTS or joint in having]
        if joints:
            return joints
        if name in _INSTEAD:
            raise ValueError(f"{subject}: acts by {_INSTEAD[name]}. Randomize that.")
        known = ", ".join([*self._places, *_OF_ALL_JOINTS])
        raise ValueError(f"{subject}: no joint has it. The parameters are {known}. Correct the name.")

    def _out_of_range(self, name: str, request: _Request) -> Iterator[str]:
        # joints by problem, which has a mark in their place
        alike: dict[str, list[str]] = {}
        for joint, given in request.by_joint.items():
            # `_by_joint` checks the distribution itself
            if not given.problems() and (
                problem := self._range_problem(name, joint, given, f"randomize: {name} of \0, {given!r}")
            ):
                alike.setdefault(problem, []).append(joint)
        return (problem.replace("\0", ", ".join(joints)) for problem, joints in alike.items())

    def _range_problem(self, name: str, joint: str, given: Distribution, subject: str) -> str | None:
        if name == STRENGTH:
            return self._strength_problem(joint, given, subject)
        places = [] if name in JOINT_PROPERTIES else self._places_of(name, joint)
        rule = places[0].described if places else JOINT_PROPERTIES[name]
        if rule is None:
            return None
        nominal = self._nominal_values(places[0]) if places else self._nominal_property(name, joint)
        ends = _ends(given, nominal)
        if rule.type == "int":
            problem = _integer_problem(given, ends, rule, subject, places)
        elif name == "ratio" and _may_be_zero(given, ends, places):
            problem = f"{subject}: must not be 0. Give a range on one side of it."
        else:
            problem = _first_complaint(subject, ends, rule)
        return problem or _lateness_problem(subject, name, max(ends, default=0.0), places)

    def _strength_problem(self, joint: str, given: Distribution, subject: str) -> str | None:
        if joint in self._unscaled:
            return f"{subject}: {self._unscaled[joint]}. Leave this joint out, by patterns of the others."
        if given.operation == "add" or given.bounds[0] < 0:
            return f"{subject}: must be factors >= 0. Give such a distribution."
        return None

    def _in_order(self) -> Iterator[tuple[str, str, Distribution, tuple[Distribution, int, bool]]]:
        # strength multiplies the results of other draws, so it comes last
        for name, request in sorted(self._requests.items(), key=lambda item: item[0] == STRENGTH):
            for joint, given in request.by_joint.items():
                key = key_of(request.seed, name, "" if given.per_robot else joint)
                yield name, joint, given, (given, key, request.each_reset)

    def _new_targets(self) -> _Targets:
        """Return the draws of all requests, with the current arrays of the parameters."""
        arrays = _Arrays(self._parameters)
        draws: list[Draw] = []
        parameters: list[tuple[np.ndarray, np.ndarray]] = []
        properties: dict[str, tuple[np.ndarray, list[int]]] = {}
        bases: dict[tuple[int, int], np.ndarray] = {}
        kept: list[tuple[str, str, np.ndarray, np.ndarray | None]] = []
        for name, joint, given, drawn in self._in_order():
            if name in JOINT_PROPERTIES:
                if (nominal := self._nominal_property(name, joint)) is not None:
                    of_all, columns = properties.setdefault(name, (self._nominal_properties[name].copy(), []))
                    columns.append(self._column(joint))
                    draws.append(Draw(of_all[:, columns[-1]], nominal, given.operation, *drawn))
                    kept.append((name, joint, of_all[:, columns[-1]], None))
                continue
            for place in self._places_of(name, joint):
                nominal, out = self._nominal_values(place), arrays.values(place)
                parameters.append((out, nominal))
                if name == STRENGTH:
                    base = bases.get(place.key, nominal)
                    draws.append(Draw(out, base, "scale", *drawn))
                    if base.all() and np.isfinite(base).all():
                        kept.append((name, joint, out, base))
                    continue
                if place.is_effort and joint in getattr(self._requests.get(STRENGTH), "by_joint", ()):
                    out = bases[place.key] = nominal.copy()
                draws.append(Draw(out, nominal, given.operation, *drawn))
                kept.append((name, joint, out, None))
        made = Draws(draws, self._num_robots)
        return _Targets(self._parameters.num_pieces, made, parameters, properties, arrays.flushes, kept)

    def _places_of(self, name: str, joint: str) -> list[_JointParameter]:
        """Parameters of a joint with this name; for the strength, all that scale with it."""
        if name == STRENGTH:
            return [p for p in itertools.chain(*self._places.values()) if p.joint == joint and p.is_effort]
        return [place for place in self._places[name] if place.joint == joint]

    def _nominal_values(self, place: _JointParameter) -> np.ndarray:
        if place.key not in self._nominal:
            values = self._parameters.values(place.step, place.view)
            self._nominal[place.key] = values[:, place.at].astype(np.float32)
        return self._nominal[place.key]

    def _nominal_property(self, name: str, joint: str) -> np.ndarray | None:
        """Nominal armature or friction of a joint, float32 `(robots,)`; None while physics does not run."""
        if name not in self._nominal_properties:
            values = self._properties.read(name) if self._properties is not None else None
            if values is None:
                return None
            self._nominal_properties[name] = values.astype(np.float32)
        return self._nominal_properties[name][:, self._column(joint)]

    def _column(self, joint: str) -> int:
        return self._columns[self._names.index(joint)]

    def _restore(self) -> None:
        """Restore the nominal values of all drawn parameters, and drop them."""
        if self._targets is not None:
            for out, nominal in self._targets.parameters:
                out[:] = nominal
            for flush in self._targets.flush:
                flush()
            rows = np.arange(self._num_robots)
            for name, (_, columns) in self._targets.properties.items():
                if self._properties is not None:
                    self._properties.write(name, rows, columns, self._nominal_properties[name][:, columns])
        self._nominal, self._nominal_properties, self._targets = {}, {}, None


class _Arrays:
    """NumPy arrays of parameters; the functions in `flushes` copy them to the device."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._shadows: dict[int, np.ndarray] = {}
        self.flushes: list[Callable[[], None]] = []

    def values(self, place: _JointParameter) -> np.ndarray:
        """Values of a parameter of a joint, one per robot, to be written."""
        array, column = self._parameters.target(place.step, place.view, place.at)
        if wp.get_device(array.device).is_cpu:
            return array.numpy()[:, column]
        if id(array) not in self._shadows:
            shadow = self._shadows[id(array)] = array.numpy().copy()
            self.flushes.append(lambda: array.assign(shadow))
        return self._shadows[id(array)][:, column]


def _check_arguments(given: object, seed: object, first_robot: object) -> None:
    for name, value in (("seed", seed), ("first_robot", first_robot)):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
            raise ValueError(f"{name} = {value!r}: must be an integer >= 0. Give a whole number.")
    if not isinstance(given, Mapping):
        raise ValueError(f"randomize: {given!r:.120} must be a dictionary. Write {{parameter: distribution}}.")


def _unscaled(plan: Plan, names: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for view in plan.views:
        if description_of(view.component, view.attribute) is None:
            why = f"nothing says what {view.attribute} of {type(view.component).__name__} is"
            found |= {names[slot]: why for slot in view.slots}
    motor_curves = [*plan.control_curves, *(stage.curves for stage in plan.stages[: plan.motor_stages])]
    for slot, name in enumerate(names):
        if plan.controller_kind[slot] < 0:
            found[name] = "its control law is no sum of gains times errors"
        elif any(one.used[slot] for curves in motor_curves for one in curves):
            found[name] = "its limit is a table, one for all robots"
    return found


def _first_complaint(subject: str, ends: Sequence[float], rule: Parameter) -> str | None:
    return next(filter(None, (complaint(subject, end, rule) for end in ends)), None)


def _lateness_problem(subject: str, name: str, most: float, places: Sequence[_JointParameter]) -> str | None:
    """Return the problem of a delay in steps that may be drawn beyond those that its law keeps."""
    for place in places:
        component = place.view.component
        if not isinstance(component, LateComponent) or name not in component.CONFIG.IN_STEPS:
            continue
        others = sum(float(component.read(one).max()) for one in component.CONFIG.IN_STEPS if one != name)
        if most + others > component.max_steps:
            return (
                f"{subject} = {most:g}: must be <= {component.max_steps - others:g}, of which the past is kept. Lower "
                "it, or give the config larger max_steps."
            )
    return None


def _delay_problem(subject: str, most: int, places: Sequence[_JointParameter]) -> str | None:
    components = [place.view.component for place in places]
    longest = min((one.max_delay for one in components if isinstance(one, Delay)), default=most)
    if most <= longest:
        return None
    return (
        f"{subject} = {most}: must be <= its largest delay, {longest}. Lower it, or give the actuator a longer delay."
    )


def _integer_problem(
    given: Distribution, ends: Sequence[float], rule: Parameter, subject: str, places: Sequence[_JointParameter]
) -> str | None:
    is_whole = all(float(end).is_integer() for end in given.bounds)
    if not (isinstance(given, Uniform) and given.operation != "scale" and is_whole):
        return f"{subject}: must be whole numbers, set or added. Give Uniform(0, 3), say."
    whole = [int(end) for end in ends]
    return _first_complaint(subject, whole, rule) or _delay_problem(subject, max(whole), places)


def _may_be_zero(given: Distribution, ends: Sequence[float], places: Sequence[_JointParameter]) -> bool:
    """Return True if a value of a transmission, which is not 0, may become 0."""
    if not places or not KINDS[places[0].view.component.KIND].converts:
        return False
    low, high = given.bounds if given.operation == "scale" else (min(ends, default=1.0), max(ends, default=1.0))
    return low <= 0.0 <= high


def _ends(given: Distribution, nominal: np.ndarray | None) -> list[float]:
    """The smallest and the largest possible value; empty if the nominal values are not known yet."""
    if given.operation == "set":
        return list(given.bounds)
    if nominal is None:
        return []
    ends = (np.multiply if given.operation == "scale" else np.add).outer(nominal.astype(float), given.bounds)
    return [float(ends.min()), float(ends.max())]
