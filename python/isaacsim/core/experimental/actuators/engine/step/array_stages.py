"""Stages that compute arrays, between the two phases of a step, for all engines and both bindings.

The first phase guards inputs, delays targets and evaluates the laws of the plan. Then the array stages run, on dense
arrays whose values are all finite. The second phase limits, guards and writes efforts. On a fault the array stages of
the joint keep their state, along the axis that they declare as that of the actuators. If a component raises, no state
changes. Custom input arrays are passed in the same layout, with 0 for values that are not finite; the effort of such a
joint is a fault.
"""

# Warp kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import warp as wp

from ...base.memory import Array, warp_view
from ...laws.contract.base import Component, Controller, actuator_axis
from ...laws.contract.law import prepares_for_dt
from ...laws.delay import Delay
from ...specs.stages import KINDS, follows_limits
from ..plan import ArrayStages, Plan, Row
from . import warp_functions
from .binding import SIGNALS, Columns, Indices, places_of
from .state import StepState, copy_state, mask_of
from .warp_functions import write_efforts_kernel

if TYPE_CHECKING:
    from .native import NativeStep
    from .warp import WarpStep

wp.set_module_options({"enable_backward": False})

# bits of a fault code for the command
_COMMAND_BITS = wp.constant(4 | 8 | 16)


@wp.kernel
def _read_efforts_kernel(at: wp.array[wp.uint32], efforts: wp.array[float], mine: wp.array[float]):
    n = wp.tid()
    mine[n] = efforts[at[n]]


@wp.kernel
def _gather_kernel(
    given: wp.array2d[float],
    rows: wp.array[wp.uint32],
    columns: wp.array[wp.uint32],
    at: wp.array[wp.uint32],
    dense: wp.array[float],
):
    n = wp.tid()
    value = given[int(rows[n]), int(columns[n])]
    if not wp.isfinite(value):
        value = 0.0
    dense[at[n]] = value


@wp.kernel
def _input_fault_kernel(
    given: wp.array2d[float], rows: wp.array[wp.uint32], columns: wp.array[wp.uint32], raw: wp.array[float]
):
    n = wp.tid()
    if not wp.isfinite(given[int(rows[n]), int(columns[n])]):
        raw[n] = wp.nan


@wp.kernel
def _repeat_kernel(mask: wp.array[bool], each: int, repeated: wp.array[bool]):
    n = wp.tid()
    repeated[n] = mask[n / each]


@wp.kernel
def _state_fault_kernel(after: wp.array3d[float], raw: wp.array[float]):
    outer, n, inner = wp.tid()
    # a state that is not finite is a fault, as an effort is
    if not wp.isfinite(after[outer, n, inner]):
        raw[n] = wp.nan


@wp.kernel
def _restore_kernel(
    at: wp.array[wp.uint32], bad: wp.array[int], raw: wp.array[float], before: wp.array3d[Any], after: wp.array3d[Any]
):
    outer, n, inner = wp.tid()
    if bad[at[n]] != 0 or not wp.isfinite(raw[n]):
        after[outer, n, inner] = before[outer, n, inner]


@wp.kernel
def _clear_kernel(mask: wp.array[bool], start: Any, values: wp.array3d[Any]):
    outer, n, inner = wp.tid()
    if mask[n]:
        values[outer, n, inner] = start


@wp.kernel
def _hold_delay_kernel(at: wp.array[wp.uint32], bad: wp.array[int], before: wp.array[int], after: wp.array[int]):
    n = wp.tid()
    # the first command that enters the delay must be finite
    if before[n] <= 0 and (bad[at[n]] & _COMMAND_BITS) != 0:
        after[n] = 0


@dataclass
class ComponentState:
    """State of the delay and the controller of an actuator; None for a component without state."""

    delay_state: object = None
    controller_state: object = None


class StatesLike(Protocol):
    """States of delay and controller: a `ComponentState`, or a state of an actuator."""

    delay_state: Any
    controller_state: Any


@dataclass
class ArrayStagesState:
    """State of a step with array stages."""

    step: StepState  # of the plan
    components: list[StatesLike]  # a `ComponentState` per actuator with array stages, or an object with its attributes


class Insert:
    """The array stages of one actuator, which run between the phases; the label is for errors and saved states."""

    def __init__(
        self, label: str, array_stages: ArrayStages, slots: Sequence[int], plan: Plan, device: wp.DeviceLike
    ) -> None:
        self.label, self.array_stages, self.slots, self.device = label, array_stages, list(slots), device
        self.count = plan.num_robots * len(self.slots)
        self.at = places_of(self.slots, plan.num_robots, plan.num_slots, device)
        self.one_by_one = self._indices(np.arange(self.count))
        self.raw = wp.zeros(self.count, dtype=wp.float32, device=device)
        for stage in (array_stages.controller, *array_stages.stages):
            if asked := getattr(stage, "ASKS", ()):
                raise TypeError(
                    f"actuator {label!r}: {type(stage).__name__} asks for {asked} and stands beside a delay or before "
                    "a stage that computes arrays: must run in the plan. Change their order, or give those a LAW."
                )
        # efforts after the stages of each kind, by kind
        self._behind: dict[str, wp.array] = {}
        for stage in array_stages.stages:
            if stage.STATE:
                raise TypeError(
                    f"actuator {label!r}: {type(stage).__name__} remembers {stage.STATE} and stands before a stage "
                    "that computes arrays: must come after it. Change their order."
                )
            if prepares_for_dt(type(stage)):
                raise TypeError(
                    f"actuator {label!r}: {type(stage).__name__} is prepared for the physics step and stands before a "
                    "stage that computes arrays: must come after it. Change their order."
                )
            self._behind[stage.KIND] = wp.zeros_like(self.raw)
        self._check_axes(self.new_state().controller_state)
        self.acting: Sequence[wp.array] = ()
        """Outputs of a custom delay in the last step: both targets and feedforward, dense."""
        # arrays of the controller's state before this step and after it
        self._advanced: list[tuple[wp.array, wp.array]] = []
        # custom inputs of the controller, in the layout of the signals between the phases
        names = getattr(array_stages.controller, "custom_inputs", ())
        size = plan.num_robots * plan.num_slots
        self._custom = {name: wp.zeros(size, dtype=wp.float32, device=device) for name in names}
        self._binding: Columns | Indices | None = None
        self._places: tuple[wp.array, wp.array] = self.one_by_one, self.one_by_one
        # bound custom arrays by name, each with a two-dimensional Warp view of it
        self._inputs: dict[str, tuple[Array, wp.array]] = {}

    def bind(self, binding: Columns | Indices) -> None:
        """Read the custom arrays of this binding from now on."""
        if not self._custom or binding is self._binding:
            return
        self._binding, self._inputs = binding, {}
        if isinstance(binding, Columns):
            robots, slots = divmod(np.arange(self.count), len(self.slots))
            columns = np.asarray(binding.columns)[np.asarray(self.slots)[slots]] + binding.custom_first
            self._places = self._indices(robots), self._indices(columns)
        else:
            self._places = warp_view(binding.indices[1]), wp.zeros(self.count, dtype=wp.uint32, device=self.device)

    def new_state(self) -> ComponentState:
        """Return fresh states of the components."""
        delay, controller = self.array_stages.delay, self.array_stages.controller
        law = None
        if controller is not None and controller.is_stateful():
            law = controller.state(self.count, self.device)
        return ComponentState(delay.state(self.count, self.device) if delay is not None else None, law)

    def compute(self, handed: Sequence[wp.array], now: StatesLike, after: StatesLike, dt: float) -> None:
        """Replace the efforts of the first phase, and write the next state.

        On a fault `hold` restores the state of the controller later. Handed over, flattened: five signals, fault codes,
        efforts, efforts before limits.
        """
        *signals, bad, efforts, computed = handed
        at, device = self.at, self.device
        positions, velocities, *targets = signals
        delay, controller = self.array_stages.delay, self.array_stages.controller
        # law
        if controller is None:
            wp.launch(_read_efforts_kernel, self.count, [at, efforts], [self.raw], device=device)
        else:
            acting, where = targets, at
            if delay is not None:
                acting, where = delay.get_delayed_targets(*targets, at, at, now.delay_state), self.one_by_one
                self.acting = acting
            arguments = [positions, velocities, *acting, at, at, where, where, self.raw, now.controller_state, dt]
            # controllers of newton before 1.7 do not accept the keyword
            more: dict[str, Any] = {"custom_inputs": self._gathered()} if self._custom else {}
            controller.compute(*arguments, device=device, **more)
            for _, given in self._inputs.values():
                wp.launch(_input_fault_kernel, self.count, [given, *self._places], [self.raw], device=device)
        # limits and other stages
        changed = self.raw
        for stage in self.array_stages.stages:
            stage.modify_forces(changed, self._behind[stage.KIND], positions, velocities, at, at, device=device)
            changed = self._behind[stage.KIND]
        # state
        self._advanced = []
        if controller is not None and now.controller_state is not None:
            self._advance(controller, now.controller_state, after.controller_state)
        if delay is not None:
            self._update_delay(targets, now.delay_state, after.delay_state, bad)
        wp.launch(write_efforts_kernel, self.count, [at, bad, self.raw, changed], [computed, efforts], device=device)

    def _advance(self, controller: Controller, now: object, after: object) -> None:
        """Write the next state of the controller, and keep the arrays of both."""
        before = self._held(controller, now)
        if now is after:
            before = {name: wp.clone(array) for name, array in before.items()}
        controller.update_state(now, after)
        for name, written in self._held(controller, after).items():
            if written.dtype is wp.float32:
                wp.launch(_state_fault_kernel, written.shape, [written], [self.raw], device=self.device)
            self._advanced.append((before[name], written))

    def hold(self, bad: wp.array) -> None:
        """Restore the state of the controller of joints with a fault."""
        for before, written in self._advanced:
            inputs = [self.at, bad, self.raw, before, written]
            wp.launch(_restore_kernel, written.shape, inputs, device=self.device)

    @property
    def limits(self) -> list[str]:
        """Class names of the limits among its stages."""
        return [type(stage).__name__ for stage in self.array_stages.stages if KINDS[stage.KIND].is_limit]

    def limited(self) -> np.ndarray:
        """True where its limits changed the effort in the last step, `(robots, slots)`."""
        before, after = self.raw, self.raw
        for kind, behind in self._behind.items():
            after = behind
            if KINDS[kind].is_limit:
                break
            before = behind
        found, changed = (array.numpy().reshape(-1, len(self.slots)) for array in (before, after))
        return np.isfinite(found) & (changed != found)

    def motor_efforts(self) -> np.ndarray | None:
        """Efforts behind its limits, `(robots, slots)`; None if none of its stages follows limits."""
        kinds = list(self._behind)
        if not any(map(follows_limits, kinds)):
            return None
        inside = [behind for kind, behind in self._behind.items() if not follows_limits(kind)]
        return [self.raw, *inside][-1].numpy().reshape(-1, len(self.slots))

    def reset(self, state: object, mask: wp.array | None) -> None:
        """Reset the state of actuators in the mask, bool over the actuators; of all without one."""
        for component, kept in self._kept(state):
            own = getattr(type(kept), "reset", Component.State.reset)
            if own is not Component.State.reset:
                # some components of newton reset on the default device
                with wp.ScopedDevice(self.device):
                    kept.reset(mask)
                continue
            starts, are_kept = getattr(type(kept), "START", {}), getattr(type(kept), "KEPT", ())
            for name, array in self._held(component, kept).items():
                start = array.dtype(starts.get(name, 0))
                if name in are_kept:
                    continue
                if mask is None:
                    array.fill_(start)
                else:
                    wp.launch(_clear_kernel, array.shape, [mask, start, array], device=self.device)

    def kept(self, state: object) -> Iterator[tuple[str, wp.array]]:
        """Names and arrays of the states of the components."""
        for kind in ("delay", "controller"):
            for name, array in getattr(getattr(state, f"{kind}_state"), "__dict__", {}).items():
                if not isinstance(array, wp.array):
                    raise TypeError(
                        f"actuator {self.label!r}: {kind}_state.{name} is no Warp array and cannot be saved. Keep the "
                        "state in arrays."
                    )
                yield f"{self.label}.{kind}.{name}", array

    def modules(self) -> set[wp.Module]:
        """Warp modules to be compiled before the first step."""
        modules: set[wp.Module] = {wp.get_module(__name__), wp.get_module(warp_functions.__name__)}
        for component in (self.array_stages.delay, self.array_stages.controller, *self.array_stages.stages):
            if component is not None:
                component.compile()
                modules.add(wp.get_module(type(component).__module__))
                modules |= {component.kernel().module} if component.LAW is not None else set()
        return modules

    def _gathered(self) -> dict[str, wp.array | None]:
        """Custom inputs by name, in the layout of the signals between the phases; None for a missing one."""
        bound = self._binding.custom if self._binding is not None else {}
        known, self._inputs = self._inputs, {}
        for name in self._custom:
            if (array := bound.get(name)) is not None:
                is_known = name in known and known[name][0] is array
                self._inputs[name] = known[name] if is_known else (array, _rows(array))
        for name, (_, given) in self._inputs.items():
            wp.launch(
                _gather_kernel, self.count, [given, *self._places, self.at], [self._custom[name]], device=self.device
            )
        return {name: dense if name in self._inputs else None for name, dense in self._custom.items()}

    def _update_delay(self, targets: Sequence[wp.array], now: object, after: object, bad: wp.array) -> None:
        known = isinstance(now, Delay.State)
        before = (wp.clone(now.num_pushes) if now is after else now.num_pushes) if known else None
        self.array_stages.delay.update_state(*targets, self.at, self.at, now, after)
        if known:
            inputs = [self.at, bad, before, after.num_pushes]
            wp.launch(_hold_delay_kernel, self.count, inputs, device=self.device)

    def _kept(self, state: object) -> Iterator[tuple[Any, Any]]:
        """Each component with a state, and that state."""
        for kind in ("delay", "controller"):
            if (kept := getattr(state, f"{kind}_state")) is not None:
                yield getattr(self.array_stages, kind), kept

    def _held(self, component: object, state: object) -> dict[str, wp.array]:
        """Each array of a state as `(outer, actuators, inner)`."""
        held = {}
        for name, array in getattr(state, "__dict__", {}).items():
            axis = actuator_axis(component, state, name) if isinstance(array, wp.array) else None
            if axis is not None:
                axis %= array.ndim
                outer, inner = (math.prod(shape) for shape in (array.shape[:axis], array.shape[axis + 1 :]))
                held[name] = array.reshape((outer, self.count, inner))
        return held

    def _check_axes(self, state: object) -> None:
        """Raise for a state that cannot be restored on a fault; add overloads of the kernels for its types."""
        controller = self.array_stages.controller
        for name, array in getattr(state, "__dict__", {}).items():
            if not hasattr(array, "shape"):
                continue
            subject = f"actuator {self.label!r}: controller_state.{name}"
            if not isinstance(array, wp.array):
                raise ValueError(
                    f"{subject} is a {type(array).__name__}: must be a Warp array. Keep the state in such."
                )
            if (axis := actuator_axis(controller, state, name)) is None:
                continue
            if not -array.ndim <= axis < array.ndim or array.shape[axis] != self.count or not array.is_contiguous:
                raise ValueError(
                    f"{subject} has shape {array.shape}: must be contiguous, with axis {axis} of {self.count} "
                    "elements, one per actuator. Name that axis in STATE_AXIS, or in ACTUATOR_AXIS of "
                    "the state."
                )
            dense = wp.array3d(dtype=array.dtype)
            held = [wp.array(dtype=wp.uint32), wp.array(dtype=wp.int32), wp.array(dtype=wp.float32), dense, dense]
            wp.overload(_restore_kernel, held)
            wp.overload(_clear_kernel, [wp.array(dtype=wp.bool), array.dtype, dense])

    def _indices(self, values: np.ndarray) -> wp.array:
        return wp.array(values.astype(np.uint32), dtype=wp.uint32, device=self.device)


class ArrayStagesStep:
    """The step of a plan with array stages between its two phases; states are `ArrayStagesState`."""

    def __init__(self, step: NativeStep | WarpStep, inserts: Sequence[Insert], device: wp.DeviceLike) -> None:
        self.around, self.inserts, self.device = step, list(inserts), device
        self._on_fault: Callable[[], None] | None = None
        shape = (self.plan.num_robots, self.plan.num_slots)
        signals = [wp.zeros(shape, dtype=wp.float32, device=device) for _ in SIGNALS]
        bad = wp.zeros(shape, dtype=wp.int32, device=device)
        efforts, computed = (wp.zeros(shape, dtype=wp.float32, device=device) for _ in range(2))
        step.hand_over(signals, bad, efforts, computed)
        self._handed = [array.flatten() for array in (*signals, bad, efforts, computed)]
        self._spare: ArrayStagesState | None = None
        self._now = self._after = self.new_state()

    @property
    def name(self) -> str:
        """Name of the engine."""
        return f"{self.around.name} with custom components"

    @property
    def plan(self) -> Plan:
        """The plan, without the array stages."""
        return self.around.plan

    @property
    def signals(self) -> dict[str, wp.array]:
        """Signals that laws of the plan ask for, by name, float32 `(robots, slots)`."""
        return self.around.signals

    @property
    def handed(self) -> Sequence[wp.array]:
        """Arrays between the phases, flattened: five signals with delayed commands, fault codes, efforts."""
        return self._handed

    @property
    def stage_names(self) -> list[str]:
        """Class names of the stages of the plan, then of the last limit among the array stages of each actuator."""
        last = [insert.limits[-1:] for insert in self.inserts]
        return [*self.around.stage_names, *(name for names in last for name in names)]

    def new_state(self) -> ArrayStagesState:
        """Return a fresh state."""
        return ArrayStagesState(self.around.new_state(), [insert.new_state() for insert in self.inserts])

    def bind(self, binding: Columns | Indices) -> None:
        """Read signals and write efforts this way from now on."""
        self.around.bind(binding)
        for insert in self.inserts:
            insert.bind(binding)
        # compile before the first step, not in it
        for module in {module for insert in self.inserts for module in insert.modules()}:
            module.load(self.device)

    def publish(self) -> None:
        """Publish the values that the next step publishes at its start."""
        self.around.publish()

    def add_up_totals(self, on: bool) -> None:
        """Add up totals over the slots of the plan in each step from now on, or leave them to the host."""
        self.around.add_up_totals(on)

    def use(self, now: ArrayStagesState, after: ArrayStagesState) -> None:
        """Read the state `now` and write `after` from now on; the same one twice is updated after a successful step."""
        self._now, self._after = now, after
        self.around.use(now.step, now.step)

    def step(self, dt: float) -> None:
        """Compute the efforts of all joints; if a component raises, the state is unchanged."""
        now, after = self._now, self._state_to_write()
        # command
        self.around.use(now.step, after.step)
        self.around.command(dt)
        # components
        try:
            for insert, before, following in zip(self.inserts, now.components, after.components, strict=True):
                insert.compute(self._handed, before, following, dt)
        except BaseException:
            self.around.use(now.step, now.step)
            raise
        # limit
        self.around.limit()
        for insert in self.inserts:
            insert.hold(self._handed[5])
        self._settle(now, after)
        if self._on_fault is not None and self.around.faults():
            call, self._on_fault = self._on_fault, None
            call()

    def reset(self, robots: Sequence[int] | wp.array | None = None) -> None:
        """Reset state and faults of `robots`, indices or a mask, all by default."""
        self.around.reset(robots)
        for insert, state in zip(self.inserts, self._now.components, strict=True):
            mask = None
            if robots is not None:
                mask = wp.empty(insert.count, dtype=wp.bool, device=insert.device)
                chosen = mask_of(robots, self.plan.num_robots, insert.device)
                wp.launch(_repeat_kernel, len(mask), [chosen, len(insert.slots)], [mask], device=insert.device)
            insert.reset(state, mask)

    @property
    def now(self) -> StepState:
        """The part of the plan in the state that the next step reads."""
        return self._now.step

    def kept(self) -> Iterator[tuple[str, wp.array]]:
        """Names and arrays of the states of the array stages."""
        for insert, state in zip(self.inserts, self._now.components, strict=True):
            yield from insert.kept(state)

    def observe(self, on: bool) -> None:
        """Record from the next step on what `observed` returns, or stop it."""
        self.around.observe(on)

    def observed(self) -> tuple[np.ndarray, np.ndarray]:
        """Efforts before the limits, 0 on a fault, and the last limit that changed each, from 1; `(robots, slots)`."""
        computed, numbers = (np.array(array) for array in self.around.observed())
        number = len(self.around.stage_names)
        for insert in self.inserts:
            if insert.limits:
                number += 1
                changed = insert.limited() & (numbers[:, insert.slots] == 0)
                numbers[:, insert.slots] = np.where(changed, number, numbers[:, insert.slots])
        return computed, numbers

    def motor_efforts(self) -> np.ndarray:
        """Efforts of the motors behind all limits, 0 on a fault, if observed; `(robots, slots)`."""
        found = np.array(self.around.motor_efforts())
        bad = self._handed[5].numpy().reshape(found.shape)
        for insert in self.inserts:
            if (own := insert.motor_efforts()) is not None:
                found[:, insert.slots] = np.where(bad[:, insert.slots] == 0, own, 0)
        return found

    @property
    def measured(self) -> Sequence[Array]:
        """Position, velocity and targets that controllers get, see `Plan.num_measured`; NaN since a reset."""
        return self.around.measured

    @property
    def computed(self) -> Array:
        """Efforts before the limits, 0 on a fault, if observed; float32 `(robots, slots)`."""
        return self.around.computed

    def materialize(self, row: Row) -> wp.array:
        """Give every robot values of its own, shape `(robots, slots)`; writing to them acts at the next step."""
        return self.around.materialize(row)

    def take_piece(self, row: Row, slots: tuple[int, ...], piece: wp.array) -> None:
        """Read the values of these slots of a row with a value per robot from `piece`, `(robots, these slots)`."""
        self.around.take_piece(row, slots, piece)

    def values(self, row: Row) -> np.ndarray:
        """Current values of a row, `(robots, slots)`, read-only."""
        return self.around.values(row)

    def faults(self) -> list[tuple[int, int, int, int]]:
        """Robot, slot, code and step of the first fault of each since its reset, by slot and robot."""
        return self.around.faults()

    def on_fault(self, call: Callable[[], None]) -> None:
        """Call this once, after the first step with a fault; not on a GPU."""
        self._on_fault = call if wp.get_device(self.device).is_cpu else None

    def clear_faults(self) -> None:
        """Clear all faults, and count steps from 0 again."""
        self.around.clear_faults()

    def set_faults(self, faults: Sequence[tuple[int, int, int, int]], steps: int) -> None:
        """Replace the faults and the number of steps."""
        self.around.set_faults(faults, steps)

    @property
    def steps(self) -> int:
        """Number of steps since the last reset of all."""
        return self.around.steps

    def _state_to_write(self) -> ArrayStagesState:
        """The state that a step writes; never the one that it reads, because a component may raise."""
        if self._after.step is not self._now.step:
            return self._after
        if self._spare is None:
            components = [insert.new_state() for insert in self.inserts]
            self._spare = ArrayStagesState(self.around.new_state(), components)
        if self._now is self._after:
            return self._spare
        return ArrayStagesState(self._spare.step, self._after.components)

    def _settle(self, now: ArrayStagesState, written: ArrayStagesState) -> None:
        """Make the written state the current one, after a successful step."""
        if written.step is self._after.step:
            return
        copy_state(written.step, now.step)
        self.around.use(now.step, now.step)
        if written is self._spare:
            now.components, written.components = written.components, now.components


def _rows(array: object) -> wp.array:
    """A Warp array `(rows, columns)` over the same memory; a flat array becomes one column."""
    given = warp_view(array)
    if given.ndim == 2:
        return given
    shape, strides = (given.shape[0], 1), (given.strides[0], 4)
    column = wp.array(ptr=given.ptr, dtype=wp.float32, shape=shape, strides=strides, device=given.device)
    column._ref = given
    return column
