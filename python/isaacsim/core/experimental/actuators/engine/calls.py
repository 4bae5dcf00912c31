"""Calls of `Actuator.step`: arrays of the simulation and states are found by name and bound once.

Each actuator is a plan with one slot and as many robots as it has joints, bound by its index arrays. On the core, a
call with known arguments runs in the core alone; otherwise Python looks the arguments up.
"""

from __future__ import annotations

import itertools
import operator
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np
import warp as wp

from ..base import native
from ..base.errors import shown
from ..base.memory import Array, Tensor, lie_of
from ..laws.contract.base import dtype_of
from ..laws.contract.law import LawClass, prepares_for_dt
from ..specs.arguments import number_of
from ..specs.stages import AnyStage, parts_of
from .entry import ActuatorEntry
from .plan import array_stages, compile_plan, is_built_in
from .sim_arrays import find_arrays, missing, names_of
from .step.array_stages import ArrayStagesState, ArrayStagesStep
from .step.binding import Indices
from .step.engine import make_step, with_array_stages
from .step.native import NativeStep

if TYPE_CHECKING:
    from .step.interface import Step
    from .step.physics_step import Check
    from .step.state import StepState


_Key, _Value = TypeVar("_Key"), TypeVar("_Value")


class ActuatorLike(Protocol):
    """Attributes of an `Actuator` that its calls use."""

    label: str
    indices: wp.array
    pos_indices: wp.array
    target_pos_indices: wp.array | None
    effort_indices: wp.array
    controller: AnyStage
    delay: AnyStage
    clamping: list[AnyStage]
    others: list[AnyStage]
    state_pos_attr: str
    state_vel_attr: str
    control_target_pos_attr: str
    control_target_vel_attr: str
    control_feedforward_attr: str | None
    control_output_attr: str
    control_computed_output_attr: str | None
    State: Any

    @property
    def stages(self) -> tuple[AnyStage, ...]:
        """Its stages in the order in which they act."""
        ...

    @property
    def num_actuators(self) -> int:
        """Number of joints."""
        ...

    @property
    def device(self) -> Any:
        """Warp device."""

    def is_stateful(self) -> bool:
        """True if a step needs states."""
        ...

    def compiled(self) -> Step:
        """Return the step of its current parts."""
        ...


Contents = tuple[dict[str, object] | list[object], tuple[object, ...]]
"""A dict or list, and the objects in it at one time."""

# number of bindings, and of pairs of states, that stay bound
_KEPT = 4
_INDEX_NAMES = ("pos_indices", "indices", "target_pos_indices", "indices", "indices", "effort_indices")


def is_native(actuator: ActuatorLike) -> bool:
    """Return True if the core can step an actuator: it has all its laws, and the arrays are on the CPU, not empty.

    The core does not solve for efforts of the end of the step of several joints, and has no smooth friction.
    """
    if getattr(actuator, "_effort_mode", None) is not None or getattr(actuator, "smooth_stick", False):
        return False
    if native.core is None or not actuator.device.is_cpu or not actuator.num_actuators:
        return False
    entry = _entry_of(actuator)
    return array_stages(entry) is None and is_built_in(entry)


def step_of(
    actuator: ActuatorLike, computed: wp.array, before: Step | None = None, *, may_be_native: bool = True
) -> Step:
    """Return the step of the current parts of an actuator, which continues faults and step count of the one before.

    The core writes efforts before the limits to `computed`, float32 `(N,)`.
    """
    entry, device, label = _entry_of(actuator), actuator.device, actuator.label or "actuator"
    plan, custom = compile_plan([entry], actuator.num_actuators, live=True), array_stages(entry)
    on_core = native.core is not None and device.is_cpu and is_built_in(entry)
    planned = make_step(plan, device, on_core=on_core and may_be_native, label=label)
    step = planned if custom is None else with_array_stages(planned, [(label, custom, [0])], device)
    if isinstance(step, NativeStep):
        step.observe_computed(computed.numpy().reshape(-1, 1))
    else:
        step.observe(True)
    if before is not None:
        _continue(step, before)
    return step


def _continue(step: Step, before: Step) -> None:
    step.set_faults(before.faults(), before.steps)
    published = {one.signal for one in before.plan.published}
    for name, array in step.signals.items():
        if (written := before.signals.get(name)) is not None and name not in published:
            wp.copy(array, written)


def _wanted_of(actuators: Sequence[ActuatorLike]) -> tuple[dict[str, bool], dict[str, bool]]:
    """Return the names of the arrays of state and control, each with True if it is required."""
    wanted: tuple[dict[str, bool], dict[str, bool]] = {}, {}
    for of_control, name, required in itertools.chain.from_iterable(map(_arrays_of, actuators)):
        if name is not None:
            wanted[of_control][name] = wanted[of_control].get(name, False) or required
    return wanted


def contents_of(actuator: ActuatorLike) -> list[Contents]:
    """Contents of an actuator and its components, for `unchanged`."""
    lists = contents(actuator.clamping), contents(actuator.others)
    return [*(contents(vars(one)) for one in (actuator, *actuator.stages)), *lists]


def _needs_dt(actuator: ActuatorLike) -> bool:
    """Return True if a law of an actuator needs the physics step: it may integrate, or is prepared for it."""
    laws = (stage for stage in actuator.stages if stage is not actuator.delay)
    return any(law.is_stateful() or prepares_for_dt(cast(LawClass, type(law))) for law in laws)


class Calls:
    """Actuators that are stepped one after the other in one call; several only if all are native."""

    def __init__(self, actuators: Sequence[ActuatorLike]) -> None:
        self._actuators = tuple(actuators)
        self._steps: list[Step] = [actuator.compiled() for actuator in actuators]
        self._labels = [one.label or "actuator" for one in actuators]
        self._timed = any(map(_needs_dt, actuators))
        self._stateful = any(actuator.is_stateful() for actuator in actuators)
        self._wanted = _wanted_of(actuators)
        self._contents = list(itertools.chain.from_iterable(map(contents_of, actuators)))
        # by the identities of their arrays and states, which they keep alive
        self._bindings: dict[tuple[object, ...], tuple[list[object], list[Indices]]] = {}
        self._states: dict[tuple[int, ...], tuple[Any, ...]] = {}
        self._core: Any = None
        # steps on the core if it knows all arguments
        self._step_known: Any = None
        self._checks: list[Check] = []
        self._core_steps = [step for step in self._steps if isinstance(step, NativeStep) and not step.scattered]
        if len(self._core_steps) == len(self._steps):
            self._run_on_core()

    def _run_on_core(self) -> None:
        names = [[names_of(name) for name in wanted] for wanted in self._wanted]
        plans = [step.core for step in self._core_steps]
        self._core = native.core.Calls(plans, *names, self._contents, self._stateful, self._timed)
        self._step_known = self._core.step
        # what checks the physics step does so first
        self._checks = [one for step in self._core_steps for one in step.checks]
        if not self._checks:
            self.again = self._step_known

    def again(self, sim_state: object, sim_control: object, now: object, after: object, dt: float | None) -> bool:
        """Step as `step` does if the core knows all arguments; otherwise do nothing and return False."""
        return False

    def is_current(self) -> bool:
        """Return True if the parts of the actuators are those that were compiled."""
        return unchanged(self._contents)

    def step(self, sim_state: object, sim_control: object, now: object, after: object, dt: float | None) -> bool:
        """Step all actuators, see `Actuator.step`; if their parts have changed, do nothing and return False.

        `now` and `after` hold a state per actuator; for a single actuator they are the state itself.
        """
        for one in self._checks:
            one.require_dt(dt)
        step_known = self._step_known
        if step_known is not None and step_known(sim_state, sim_control, now, after, dt):
            return True
        if not unchanged(self._contents):
            return False
        seconds = self._seconds(dt)
        bindings = self._bind(sim_state, sim_control)
        states = self._use(now, after) if self._stateful else None
        if step_known is None or not step_known(sim_state, sim_control, now, after, dt):
            self._step_each(bindings, states, seconds)
        return True

    def _step_each(
        self, bindings: Sequence[Indices], states: tuple[list[object], list[object]] | None, seconds: float
    ) -> None:
        for n, (step, binding) in enumerate(zip(self._steps, bindings, strict=True)):
            step.bind(binding)
            if states is not None:
                step.use(states[0][n], states[1][n])
        for step in self._steps:
            step.step(seconds)

    def bound(
        self, sim_state: object, sim_control: object, now: object, after: object, dt: float | None
    ) -> tuple[Indices, Any, Any, float]:
        """Binding, state before, state after and physics step of the next call of a single actuator."""
        seconds, bindings = self._seconds(dt), self._bind(sim_state, sim_control)
        states = self._use(now, after) if self._stateful else ([None], [None])
        return bindings[0], states[0][0], states[1][0], seconds

    def _seconds(self, dt: float | None) -> float:
        if dt is None:
            if self._timed:
                raise ValueError(
                    "dt = None: must be the physics step in seconds for a law that remembers or is prepared for it. "
                    "Give it; a network says its own, sample_dt_s."
                )
            return 0.0
        # an int may be larger than any float
        seconds = dt if isinstance(dt, int) else number_of("dt", dt)
        if not 0 <= seconds <= sys.float_info.max:
            raise ValueError(f"dt = {dt}: must be a finite number of seconds >= 0. Give the physics step.")
        return float(seconds)

    def _bind(self, sim_state: object, sim_control: object) -> list[Indices]:
        of_state, of_control = self._wanted
        arrays = find_arrays(sim_state, of_state) + find_arrays(sim_control, of_control)
        # an array can get another shape and stay the same object
        key = tuple((id(one), lie_of(one)) for one in arrays)
        if key in self._bindings:
            return self._bindings[key][1]
        state = dict(zip(of_state, arrays, strict=False))
        control = dict(zip(of_control, arrays[len(of_state) :], strict=True))
        _require_arrays(sim_state, of_state, state)
        _require_arrays(sim_control, of_control, control)
        bindings: list[Indices] = []
        for actuator, label in zip(self._actuators, self._labels, strict=True):
            bindings.append(_binding(actuator, label, state, control))
        for actuator, binding in zip(self._actuators, bindings, strict=True):
            binding.check(actuator.num_actuators, 1, actuator.device)
        self._bindings[key] = arrays, bindings
        _drop_oldest(self._bindings)
        if self._core is not None:
            names = [list(binding.names) for binding in bindings]
            given = [binding.numpy_views() for binding in bindings]
            self._core.add_frame(arrays, names, [one for one, _ in given], [one for _, one in given])
        return bindings

    def _use(self, now: Any, after: Any) -> tuple[list[Any], list[Any]]:
        """Return the states of each step, before and after."""
        alone = len(self._actuators) == 1 and not isinstance(now, list | tuple)
        both = [[one] if alone else list(one) for one in (now, after)]
        key = tuple(map(id, (*both[0], *both[1])))
        kept = self._states.get(key)
        if kept is not None and unchanged(kept[2]):
            return kept[0], kept[1]
        # a state that is updated in place is one state of the step, too
        made: dict[int, object] = {}
        before, following = (self._step_states(states, made) for states in both)
        pieces = itertools.chain.from_iterable(map(_pieces, itertools.chain(*both)))
        held = [contents(vars(piece)) for piece in pieces]
        # the core counts it as the newest, too
        self._states.pop(key, None)
        self._states[key] = before, following, held, both
        _drop_oldest(self._states)
        if self._core is not None:
            self._core.add_states(now, after, self._as_bound(before), self._as_bound(following), held)
        return before, following

    def _step_states(self, states: Sequence[object], made: dict[int, object]) -> list[Any]:
        for step, actuator, label, state in zip(self._steps, self._actuators, self._labels, states, strict=True):
            if id(state) not in made or state is None:
                made[id(state)] = _step_state(step, actuator, label, state)
        return [made[id(state)] for state in states]

    def _as_bound(self, states: Sequence[StepState]) -> list[object]:
        return [step.as_bound(state) for step, state in zip(self._core_steps, states, strict=True)]


def _require_arrays(source: object, wanted: Mapping[str, bool], found: Mapping[str, object]) -> None:
    for name, required in wanted.items():
        if required and found[name] is None:
            raise missing(source, name)


def _binding(actuator: ActuatorLike, label: str, state: Mapping[str, object], control: Mapping[str, object]) -> Indices:
    arrays = _arrays_of(actuator)
    found: list[Any] = [
        None if name is None else (control if of_control else state)[name] for of_control, name, _ in arrays
    ]
    *inputs, efforts, computed = found[:7]
    target_pos_indices = actuator.target_pos_indices
    if target_pos_indices is None:
        # position targets have the layout of positions if there are as many of them
        alike = len(inputs[2]) == len(inputs[0])
        target_pos_indices = actuator.pos_indices if alike else actuator.indices
    velocity, names = actuator.indices, [name or "" for _, name, _ in arrays[:7]]
    places = actuator.pos_indices, velocity, target_pos_indices, velocity, velocity
    custom = dict(zip(custom_of(actuator), found[7:], strict=True))
    return Indices(inputs, places, efforts, actuator.effort_indices, computed, label, names, _INDEX_NAMES, custom)


def _step_state(step: Step, actuator: ActuatorLike, label: str, state: Any) -> StepState | ArrayStagesState:
    if isinstance(step, ArrayStagesStep):
        given = actuator.State() if state is None else state
        return ArrayStagesState(planned_state(step.around, label, state), [given])
    return planned_state(step, label, state)


def planned_state(step: Step, label: str, state: Any) -> StepState:
    """Return the state of a plan with the arrays of an actuator's state, or a fresh one for None."""
    fresh, plan = step.new_state(), step.plan
    if state is None:
        return fresh
    if not (hasattr(state, "delay_state") and hasattr(state, "controller_state")):
        raise ValueError(f"{label}: state = {shown(state)}: must be one of this actuator. Take state().")
    if plan.num_delayed:
        _take_delay(fresh, label, state.delay_state)
    places = {number: (kind, place) for kind, place, number in plan.placements[0].stages}
    for n, (one, arrays) in enumerate(zip(plan.stateful, fresh.laws, strict=True)):
        where, source = "controller_state", state.controller_state
        if one.stage is not None:
            where, source = state_of_stage(state, *places[one.stage])
        # states of networks may have tensors as attributes
        given = getattr(source, "__dict__", {})
        named = zip(one.names, arrays, strict=True)
        fresh.laws[n] = tuple(_like(f"{label}: {where}.{name}", given.get(name), array) for name, array in named)
    return fresh


def _take_delay(fresh: StepState, label: str, delay: object) -> None:
    if delay is None:
        raise ValueError(f"{label}: delay_state = None: must be one of this actuator. Take state().")
    for name in ("buffer_pos", "buffer_vel", "buffer_act", "num_pushes", "write_idx"):
        array = _like(f"{label}: delay_state.{name}", getattr(delay, name, None), getattr(fresh, name))
        setattr(fresh, name, array)


def _like(name: str, given: Tensor, wanted: Array) -> Array:
    if not isinstance(given, wp.array | np.ndarray) or tuple(given.shape) != tuple(wanted.shape):
        has = f"shape {tuple(given.shape)}" if hasattr(given, "shape") else repr(given)
        raise ValueError(
            f"{name} has {has}: must be one of this actuator, of shape {tuple(wanted.shape)}. Take state()."
        )
    if dtype_of(given) != dtype_of(wanted):
        raise ValueError(f"{name} has dtype {dtype_of(given)}: must be {dtype_of(wanted)}. Take state().")
    return given


def state_of_stage(state: Any, kind: str, place: int) -> tuple[str, object]:
    """Return the name in errors and the state of a stage after the controller; None for a missing state."""
    if kind == "delay":
        return "delay_state", state.delay_state
    if kind == "clamping":
        return f"clamping_states[{place}]", _at(state.clamping_states, place)
    return f"other_states[{kind!r}][{place}]", _at(getattr(state, "other_states", {}).get(kind, ()), place)


def _at(states: Sequence[object], place: int) -> object:
    return states[place] if place < len(states) else None


def _pieces(state: object) -> list[object]:
    if state is None:
        return []
    parts = [state, getattr(state, "delay_state", None), getattr(state, "controller_state", None)]
    parts += list(getattr(state, "clamping_states", ()))
    parts += [one for some in getattr(state, "other_states", {}).values() for one in some]
    return [part for part in parts if part is not None and hasattr(part, "__dict__")]


def _arrays_of(actuator: ActuatorLike) -> list[tuple[bool, str | None, bool]]:
    """Arrays of five signals, two outputs and custom inputs: True if of the control object, name, True if required."""
    computed = actuator.control_computed_output_attr
    return [
        (False, actuator.state_pos_attr, True),
        (False, actuator.state_vel_attr, True),
        (True, actuator.control_target_pos_attr, True),
        (True, actuator.control_target_vel_attr, True),
        (True, actuator.control_feedforward_attr, False),
        (True, actuator.control_output_attr, True),
        (True, None if computed == actuator.control_output_attr else computed, True),
        # the controller defines what it does without
        *((True, name, False) for name in custom_of(actuator)),
    ]


def custom_of(actuator: ActuatorLike) -> tuple[str, ...]:
    """Names of the custom inputs of the controller, arrays of the control object."""
    return tuple(getattr(actuator.controller, "custom_inputs", ()))


def contents(container: dict[str, object] | list[object]) -> Contents:
    """Return a dict or list with the objects in it."""
    return container, tuple(container.values() if isinstance(container, dict) else container)


def unchanged(earlier: Sequence[Contents]) -> bool:
    """Return True if containers hold the same objects as earlier."""
    if native.core is not None:
        return native.core.unchanged(earlier)
    return all(
        len(listed) == len(now) and all(map(operator.is_, listed, now))
        for (_, listed), (_, now) in ((one, contents(one[0])) for one in earlier)
    )


def _entry_of(actuator: ActuatorLike) -> ActuatorEntry:
    return ActuatorEntry(actuator.label or "actuator", ("",), **parts_of(actuator.stages), shared=False)


def _drop_oldest(kept: dict[_Key, _Value]) -> None:
    if len(kept) > _KEPT:
        del kept[next(iter(kept))]
