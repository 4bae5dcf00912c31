"""Draw the parameters of motors at random for each robot, once or at each of its resets, so that a policy meets many.

What is drawn goes straight into the plan's parameters, which every step reads. What operations refer to is the nominal
value: what a parameter was before anything of it was drawn.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..components.delay import Delay
from ..specs.distributions import Distribution, Uniform
from ..specs.fields import Parameter, complaint, parameters_of
from ..specs.motors import MotorConfig
from ..specs.patterns import assigned
from ..specs.stages import KINDS
from .parameters import Parameters
from .plan import ParameterView, Plan, description_of
from .random_numbers import Draw, Draws, key_of

Randomized = Mapping[str, Distribution | Mapping[str, Distribution] | None]
"""By parameter, the distribution for all joints that have it, or by pattern of joint names; None ends it."""

STRENGTH = "strength"
JOINT_PROPERTIES = parameters_of(MotorConfig)
_OF_ALL_JOINTS = STRENGTH, *JOINT_PROPERTIES


class JointProperties(Protocol):
    """Armature and friction of the joints, where the simulator lets them be set."""

    def problem(self, name: str) -> str:
        """Why a property cannot be drawn, as the end of a message; empty where it can."""
        ...

    def read(self, name: str) -> np.ndarray | None:
        """Values in force, float32 `(robots, DOFs)`; None while there are none."""
        ...

    def write(self, name: str, rows: np.ndarray, columns: list[int], values: np.ndarray) -> None:
        """Set values `(rows, columns)`."""
        ...


@dataclass(frozen=True, eq=False)
class _Place:
    """A parameter of one joint.

    Args:
        joint: Name of the joint.
        column: Its column in the articulation.
        step: What runs it.
        view: Where its values are.
        at: Position of the joint among those of its actuator.
    """

    joint: str
    column: int
    step: Any
    view: ParameterView
    at: int

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from others."""
        return id(self.view.row), self.view.slots[self.at]

    @property
    def described(self) -> Parameter | None:
        """What it may be, where that is known."""
        return description_of(self.view.component, self.view.attribute)

    @property
    def is_effort(self) -> bool:
        """Whether a motor of twice the effort has twice the value: limits, and gains, which are efforts per error.

        What a joint has without a motor is not of the motor.
        """
        if self.described is None or KINDS[self.view.component.KIND].alone:
            return False
        return self.described.unit.startswith("N·m")


@dataclass(frozen=True, eq=False)
class _Wish:
    """What was asked for one parameter: the distribution of each joint."""

    by_joint: dict[str, Distribution]
    seed: int
    each_reset: bool


@dataclass(frozen=True, eq=False)
class _Found:
    """The arrays that are drawn into.

    Args:
        num_pieces: How many parameters had moved out of their row then.
        draws: What is drawn.
        parameters: Numbers of parameters, one per robot, and their nominal values.
        properties: Values of each property, `(robots, DOFs)`, and the columns that are drawn.
        flush: To be called when something was written.
    """

    num_pieces: int
    draws: Draws
    parameters: list[tuple[np.ndarray, np.ndarray]]
    properties: dict[str, tuple[np.ndarray, list[int]]]
    flush: list[Callable[[], None]]


class Randomization:
    """Random parameters of the actuators of an assembly.

    Args:
        plans: Plans, the step of each, and which joint of the assembly each slot is.
        dof_names: Names of the joints of the assembly.
        parameters: Where values are.
        num_robots: Number of robots.
    """

    def __init__(
        self,
        plans: Sequence[tuple[Plan, Any, Sequence[int]]],
        dof_names: Sequence[str],
        parameters: Parameters,
        num_robots: int,
    ) -> None:
        self._parameters, self._num_robots, self._names = parameters, num_robots, list(dof_names)
        self._places: dict[str, list[_Place]] = {}
        self._unscaled: dict[str, str] = {}
        for plan, step, joints in plans:
            self._add_parameters(plan, step, joints)
            self._unscaled |= _unscaled(plan, [dof_names[joint] for joint in joints])
        self._wishes: dict[str, _Wish] = {}
        self._counts = np.zeros(num_robots, np.int64)
        self._first = 0
        self._properties: JointProperties | None = None
        self._columns: list[int] = []
        # before anything was drawn: of a parameter by row and slot, of a property by name
        self._nominal: dict[tuple[int, int], np.ndarray] = {}
        self._nominal_properties: dict[str, np.ndarray] = {}
        self._found: _Found | None = None

    def _add_parameters(self, plan: Plan, step: Any, joints: Sequence[int]) -> None:
        for view in plan.views:
            for at, slot in enumerate(view.slots):
                place = _Place(self._names[joints[slot]], joints[slot], step, view, at)
                self._places.setdefault(view.attribute, []).append(place)

    @property
    def active(self) -> bool:
        """Whether anything is drawn."""
        return bool(self._wishes)

    def wish(
        self,
        given: Randomized,
        seed: int,
        each_reset: bool,
        first_robot: int,
        columns: Sequence[int],
        properties: JointProperties | None,
    ) -> None:
        """Draw these parameters from now on, others as before; see `ActuatorSet.randomize`.

        Raises:
            ValueError: Listing everything that is wrong, a line each; nothing is changed then.
        """
        _check_arguments(given, seed, first_robot)
        self._properties, self._columns = properties, list(columns)
        problems: list[str] = []
        wishes = {
            name: _Wish(self._by_joint(name, value, problems), int(seed), bool(each_reset))
            for name, value in given.items()
            if value is not None
        }
        problems += [wrong for name, wish in wishes.items() for wrong in self._out_of_range(name, wish)]
        if problems:
            raise ValueError("\n".join(problems))
        self._restore()
        self._wishes = {name: wish for name, wish in self._wishes.items() if name not in given} | wishes
        self._first = int(first_robot)
        self._counts[:] = 0
        self.draw(None)

    def draw(self, robots: Sequence[int] | None, *, again: bool = False) -> None:
        """Draw for some robots, all by default; `again` when they were reset."""
        if not self._wishes:
            return
        rows = np.arange(self._num_robots) if robots is None else np.unique(np.asarray(robots, np.int64))
        if again:
            self._counts[rows] += 1
        first = self._found is None
        if self._found is None or self._found.num_pieces != self._parameters.num_pieces:
            self._found = self._find()
        self._found.draws.draw(rows, self._counts, self._first)
        for flush in self._found.flush:
            flush()
        if self._properties is not None:
            self._write(self._properties, self._found, rows, first)

    def _write(self, properties: JointProperties, found: _Found, rows: np.ndarray, first: bool) -> None:
        for name, (values, columns) in found.properties.items():
            # simulators set properties at a cost: only values that are new
            if first or self._wishes[name].each_reset:
                chosen = values if len(rows) == len(values) else values[rows]
                every = columns == list(range(values.shape[1]))
                properties.write(name, rows, columns, chosen if every else chosen[:, columns])

    def forget_properties(self) -> None:
        """The simulator has its joints anew, with nominal properties: those that are drawn are to be set again.

        Raises:
            ValueError: One would come out of range.
        """
        self._nominal_properties, self._found = {}, None
        drawn = [item for item in self._wishes.items() if item[0] in JOINT_PROPERTIES]
        if problems := [wrong for name, wish in drawn for wrong in self._out_of_range(name, wish)]:
            raise ValueError("\n".join(problems))

    # inside

    def _by_joint(self, name: str, value: Any, problems: list[str]) -> dict[str, Distribution]:
        """The distribution of each joint; what is wrong is added to `problems`."""
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
        """Return the joints that have a parameter.

        Raises:
            ValueError: The simulator does not set the property, or no joint has the parameter.
        """
        if name in JOINT_PROPERTIES:
            properties = self._properties
            if why := properties.problem(name) if properties else "it belongs into the simulator. Randomize it there":
                raise ValueError(f"{subject}: {why}.")
        having = {place.joint for place in self._places.get(name, [])}
        joints = [joint for joint in self._names if name in _OF_ALL_JOINTS or joint in having]
        if not joints:
            known = ", ".join([*self._places, *_OF_ALL_JOINTS])
            raise ValueError(f"{subject}: no joint has it. The parameters are {known}. Correct the name.")
        return joints

    def _out_of_range(self, name: str, wish: _Wish) -> Iterator[str]:
        """Yield a problem for each joint whose smallest or largest possible value is out of range."""
        for joint, given in wish.by_joint.items():
            subject = f"randomize: {name} of {joint}, {given!r}"
            # the distribution itself is checked elsewhere
            if not given.problems() and (problem := self._range_problem(name, joint, given, subject)):
                yield problem

    def _range_problem(self, name: str, joint: str, given: Distribution, subject: str) -> str | None:
        if name == STRENGTH:
            return self._strength_problem(joint, given, subject)
        places = [] if name in JOINT_PROPERTIES else self._places_of(name, joint)
        rule = places[0].described if places else JOINT_PROPERTIES[name]
        if rule is None:
            return None
        nominal = self._nominal_values(places[0]) if places else self._nominal_property(name, joint)
        if rule.type != "int":
            return _first_complaint(subject, _ends(given, nominal), rule)
        if not _draws_integers(given):
            return f"{subject}: must be whole numbers, set or added. Give Uniform(0, 3), say."
        ends = [int(end) for end in _ends(given, nominal)]
        return _first_complaint(subject, ends, rule) or _delay_problem(subject, max(ends), places)

    def _strength_problem(self, joint: str, given: Distribution, subject: str) -> str | None:
        if joint in self._unscaled:
            return f"{subject}: {self._unscaled[joint]}. Leave this joint out, by patterns of the others."
        if given.operation == "add" or given.bounds[0] < 0:
            return f"{subject}: must be factors >= 0. Give such a distribution."
        return None

    def _find(self) -> _Found:
        """The arrays that are drawn into; parameters may have got others since."""
        arrays = _Arrays(self._parameters)
        draws: list[Draw] = []
        parameters: list[tuple[np.ndarray, np.ndarray]] = []
        properties: dict[str, tuple[np.ndarray, list[int]]] = {}
        # what strength multiplies comes before it
        bases: dict[tuple[int, int], np.ndarray] = {}
        for name, wish in sorted(self._wishes.items(), key=lambda item: item[0] == STRENGTH):
            for joint, given in wish.by_joint.items():
                drawn = given, key_of(wish.seed, name, "" if given.per_robot else joint), wish.each_reset
                if name in JOINT_PROPERTIES:
                    if (nominal := self._nominal_property(name, joint)) is not None:
                        of_all, columns = properties.setdefault(name, (self._nominal_properties[name].copy(), []))
                        columns.append(self._column(joint))
                        draws.append(Draw(of_all[:, columns[-1]], nominal, given.operation, *drawn))
                    continue
                for place in self._places_of(name, joint):
                    nominal, out = self._nominal_values(place), arrays.values(place)
                    parameters.append((out, nominal))
                    if name == STRENGTH:
                        draws.append(Draw(out, bases.get(place.key, nominal), "scale", *drawn))
                        continue
                    if place.is_effort and joint in getattr(self._wishes.get(STRENGTH), "by_joint", ()):
                        out = bases[place.key] = nominal.copy()
                    draws.append(Draw(out, nominal, given.operation, *drawn))
        made = Draws(draws, self._num_robots)
        return _Found(self._parameters.num_pieces, made, parameters, properties, arrays.flushes)

    def _places_of(self, name: str, joint: str) -> list[_Place]:
        """Where a parameter of a joint is; its strength is in all that are efforts."""
        if name == STRENGTH:
            return [p for p in itertools.chain(*self._places.values()) if p.joint == joint and p.is_effort]
        return [place for place in self._places[name] if place.joint == joint]

    def _nominal_values(self, place: _Place) -> np.ndarray:
        """What a parameter of a joint was before it was drawn, float32 `(robots,)`."""
        if place.key not in self._nominal:
            values = self._parameters.values(place.step, place.view)
            self._nominal[place.key] = values[:, place.at].astype(np.float32)
        return self._nominal[place.key]

    def _nominal_property(self, name: str, joint: str) -> np.ndarray | None:
        """What armature or friction of a joint was before it was drawn; None while physics does not run."""
        if name not in self._nominal_properties:
            values = self._properties.read(name) if self._properties is not None else None
            if values is None:
                return None
            self._nominal_properties[name] = values.astype(np.float32)
        return self._nominal_properties[name][:, self._column(joint)]

    def _column(self, joint: str) -> int:
        return self._columns[self._names.index(joint)]

    def _restore(self) -> None:
        """Give everything that was drawn its nominal value, and forget that."""
        if self._found is not None:
            for out, nominal in self._found.parameters:
                out[:] = nominal
            for flush in self._found.flush:
                flush()
            rows = np.arange(self._num_robots)
            for name, (_, columns) in self._found.properties.items():
                if self._properties is not None:
                    self._properties.write(name, rows, columns, self._nominal_properties[name][:, columns])
        self._nominal, self._nominal_properties, self._found = {}, {}, None


class _Arrays:
    """Numbers of parameters as NumPy writes them; `flushes` bring them to where they belong."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._shadows: dict[int, np.ndarray] = {}
        self.flushes: list[Callable[[], None]] = []

    def values(self, place: _Place) -> np.ndarray:
        """The numbers of a parameter of a joint, one per robot."""
        array, column = self._parameters.target(place.step, place.view, place.at)
        if array.device.is_cpu:
            return array.numpy()[:, column]
        if id(array) not in self._shadows:
            shadow = self._shadows[id(array)] = array.numpy().copy()
            self.flushes.append(lambda: array.assign(shadow))
        return self._shadows[id(array)][:, column]


def _check_arguments(given: Any, seed: Any, first_robot: Any) -> None:
    for name, value in (("seed", seed), ("first_robot", first_robot)):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
            raise ValueError(f"{name} = {value!r}: must be an integer >= 0. Give a whole number.")
    if not isinstance(given, Mapping):
        raise ValueError(f"randomize: {given!r:.120} must be a dictionary. Write {{parameter: distribution}}.")


def _unscaled(plan: Plan, names: Sequence[str]) -> dict[str, str]:
    """Return the joints whose strength cannot be scaled, by name with the reason."""
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


def _delay_problem(subject: str, most: int, places: Sequence[_Place]) -> str | None:
    components = [place.view.component for place in places]
    longest = min((one.max_delay for one in components if isinstance(one, Delay)), default=0)
    if not places or most <= longest:
        return None
    return (
        f"{subject} = {most}: must be <= its largest delay, {longest}. Lower it, or give the actuator a longer delay."
    )


def _draws_integers(given: Distribution) -> bool:
    whole = all(float(end).is_integer() for end in given.bounds)
    return isinstance(given, Uniform) and given.operation != "scale" and whole


def _ends(given: Distribution, nominal: np.ndarray | None) -> list[float]:
    """The smallest and the largest value that may come; nothing where that is not known yet."""
    if given.operation == "set":
        return list(given.bounds)
    if nominal is None:
        return []
    ends = (np.multiply if given.operation == "scale" else np.add).outer(nominal.astype(float), given.bounds)
    return [float(ends.min()), float(ends.max())]
