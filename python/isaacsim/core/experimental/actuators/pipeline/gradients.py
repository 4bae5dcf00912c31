"""Gradients of an `Actuator` on a `wp.Tape`: a step records its inputs, and the backward pass applies the chain rule.

    gradient by            is propagated to
    efforts, computed      signals, parameters and the state before, through limits, law, transmission and sensor; it is
                           kept, because efforts are added to these arrays
    state after the step   the state before the step; it is set to zero
    delayed command        the row of the delay ring that the command came from, and from there to its target

The core has the backward pass of the steps that it runs. Warp's adjoint of the laws is used on CUDA, for custom laws
and without the core; see `GradientRecorder`.

Inputs are copied at the step, so arrays may be overwritten before `Tape.backward`. An array without `grad` gets no
gradient. At a kink the gradient is that of the branch that the law takes; a joint with a fault has no gradient for
that step. A network is evaluated again in the backward pass; kinks of its functions have Torch's slopes. The gradient
of a state is zeroed when a tape records the state for the first time.
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import warp as wp

from .. import native
from ..components.base import clear_kernel
from ..components.delay_timed import DelayTimed
from ..components.implicit_effort import ImplicitEffort
from ..components.law import FELT_SIGNALS, LawClass
from ..memory import Array, numpy_view
from ..specs.signals import SIGNALS
from ..specs.stages import KINDS
from .gradient_recorder import GradientRecorder, refuse
from .implicit_gradients import NUM_STATES, EndOfStep
from .late_gradients import NUM_ARRAYS, LateCommands
from .plan import Placement, Plan, PlannedStage, Row, StatefulLaw, has_law
from .step.binding import Indices
from .step.native import NativeStep, network_of
from .step.state import StepState
from .step.warp import WarpStep

if TYPE_CHECKING:
    from ..components.network_law import NetworkLaw
    from .step.interface import Step

# number of NumPy views of gradients that are kept
_KEPT = 256


def _runtime() -> Any:
    # Warp has no public name for its runtime
    internals: Any = wp
    return internals._src.context.runtime


def tape_now() -> wp.Tape | None:
    """Return the active tape, or None."""
    return _runtime().tape


@contextlib.contextmanager
def off_tape() -> Iterator[None]:
    """Suspend the active tape."""
    runtime = _runtime()
    tape, runtime.tape = runtime.tape, None
    try:
        yield
    finally:
        runtime.tape = tape


def require_gradients(label: str, step: Step) -> None:
    """Refuse a step without gradients.

    Args:
        label: Label of the actuator in errors.
        step: The step.

    Raises:
        NotImplementedError: A component has no law, or a law has no gradients.
    """
    if not isinstance(step, NativeStep | WarpStep):
        names = _custom_components(step)
        why = (
            "a component that computes by code of its own, a network that Torch runs, or one with a column of the "
            "caller's has none. Leave it out, or give the law as a wp.func"
        )
        refuse(label, ": ".join(filter(None, (", ".join(names), why))))
    _refuse_laws(label, [law for law, _ in step.plan.laws])
    _refuse_hidden_motors(label, step.plan)
    if isinstance(step, WarpStep) and not wp.get_device(step.device).is_cpu:
        _refuse_on_gpu(label, step.plan)


def _refuse_hidden_motors(label: str, plan: Plan) -> None:
    """Refuse sensors beside a transmission whose motor moves by itself."""
    hidden = np.logical_or.reduce([one.used for one in plan.feedback if KINDS[one.law.KIND].senses] or [False])
    for gear in plan.transmissions:
        if any(math.isnan(start) for start in gear.law.START.values()) and (gear.used & hidden).any():
            refuse(label, f"a sensor beside {gear.law.__name__}, whose motor moves by itself, has none. Leave one out")


def _refuse_on_gpu(label: str, plan: Plan) -> None:
    """Refuse what has gradients on the CPU only."""
    if any(law.END is not None for law, _ in plan.laws):
        refuse(label, "an effort at the end of the step has none on a GPU. Step on the CPU, or take the explicit mode")
    if plan.num_measured == 4:
        refuse(label, "a delay in seconds or between steps has none on a GPU. Step on the CPU, or take DelayConfig")


def _refuse_laws(label: str, laws: Sequence[LawClass]) -> None:
    """Refuse laws without gradients."""
    read = {part for law in laws for name in law.ASKS for part in (name, SIGNALS[name].total_of)}
    for why, refused in (
        ("a linkage ({}), which couples joints, has none. Leave it out", _coupling(laws)),
        ("a law that asks for what a motor feels ({}) has none. Leave it or the gear out", _feeling(laws)),
        (
            "a sensor or an effort that acts late, and a rate ({}), have none. Leave it out",
            [law for law in laws if (law.LATE and law is not DelayTimed) or law.TICK is not None],
        ),
        (
            "friction ({}) of a motor whose effort is that of the end of the step has none. Leave one out",
            _stepping(laws),
        ),
        (
            "what a law publishes, or leaves besides efforts ({}), has none. Leave it out",
            [law for law in laws if _is_hidden(law, read)],
        ),
    ):
        if refused:
            refuse(label, why.format(", ".join(law.__name__ for law in refused)))


def _coupling(laws: Sequence[LawClass]) -> list[LawClass]:
    """Return the laws that need several joints."""
    return [law for law in laws if KINDS[law.KIND].couples]


def _feeling(laws: Sequence[LawClass]) -> list[LawClass]:
    """Return the laws before a transmission that ask for inertia or load."""
    if not any(KINDS[law.KIND].converts for law in laws):
        return []
    return [law for law in laws if KINDS[law.KIND].coordinates == "motor" and {*FELT_SIGNALS} & {*law.ASKS}]


def _stepping(laws: Sequence[LawClass]) -> list[LawClass]:
    """Return the laws that step the joint with the slope of their motor, if that has one."""
    has_mode = any(law.END is not None for law in laws)
    return [law for law in laws if has_mode and any(SIGNALS[name].is_of_engine for name in law.ASKS)]


def _is_hidden(law: LawClass, read: set[str]) -> bool:
    """Return True if a law has outputs besides efforts and its state: a signal that laws read in the next step."""
    return not read.isdisjoint(law.PUBLISHES) or not (KINDS[law.KIND].gives or law.LATE or law.END)


def _custom_components(step: Step) -> list[str]:
    """Return the class names of the components without a law, each once."""
    stages = [insert.array_stages for insert in getattr(step, "inserts", ())]
    components = [one for some in stages for one in (some.delay, some.controller, *some.stages)]
    return list(dict.fromkeys(type(one).__name__ for one in components if one is not None and not has_law(one)))


@dataclass(frozen=True)
class _LawsOfSlot:
    """The planned laws of a slot.

    Args:
        controller: The controller; None for a network and without one.
        stages: Stages after it.
        sensors: Its sensor, if it has one.
        modes: Its effort mode, if it has one.
        late: Laws that delay its commands.
    """

    controller: PlannedStage | None
    stages: list[PlannedStage]
    sensors: list[PlannedStage]
    modes: list[PlannedStage]
    late: list[PlannedStage]

    @classmethod
    def of(cls, plan: Plan, slot: int) -> _LawsOfSlot:
        """Return the laws of a slot of a plan."""
        stages = [stage for stage in plan.stages if stage.used[slot]]
        feedback = [stage for stage in plan.feedback if stage.used[slot]]
        return cls(
            _controller_of(plan, slot),
            [stage for stage in stages if stage.law.END is None],
            [stage for stage in feedback if KINDS[stage.law.KIND].senses],
            [stage for stage in stages if stage.law.END is not None],
            [stage for stage in feedback if not KINDS[stage.law.KIND].senses],
        )

    @property
    def inner(self) -> list[PlannedStage | None]:
        """The controller, the stages after it and the sensor."""
        return [self.controller, *self.stages, *self.sensors]

    @property
    def classes(self) -> list[LawClass | None]:
        """Classes of the controller, the stages after it and the sensor; None for a missing one."""
        found = [one and one.law for one in self.inner]
        return found if self.sensors else [*found, None]

    @property
    def given(self) -> list[tuple[str, Row | None]]:
        """Signals, without a row, and parameters of all laws, in the order of their arguments."""
        found = [one for stage in self.inner for one in _given_to(stage)]
        if self.modes:
            # a winding at the velocity of the end of the step does not step the joint itself
            found = [("" if name == "inertia" and row is None else name, row) for name, row in found]
        return [*found, *(one for stage in (*self.modes, *self.late) for one in _given_to(stage))]


class Pipeline:
    """The gradients of an actuator, whose slots have the same stages.

    Args:
        step: The step of the plan.
        slots: The slots of the actuator.
    """

    def __init__(self, step: NativeStep | WarpStep, slots: Sequence[int]) -> None:
        plan: Plan = step.plan
        self._step, self._plan, self._slots, first = step, plan, list(slots), slots[0]
        laws = _LawsOfSlot.of(plan, first)
        self.is_late: bool = bool(laws.late)
        """True if a law delays its commands; states, signals and parameters of that law come last."""
        self._has_mode = bool(laws.modes)
        self._given = laws.given
        self.rows: list[tuple[str, Row]] = [(name, row) for name, row in self._given if row is not None]
        """Parameters: those of the controller, of the stages after it, of the sensor."""
        self.depth = plan.depth if plan.delayed[first] else 0
        self.count = plan.num_robots * len(slots)
        networks = [one for one in plan.networks if one.used[first]]
        self.network = networks[0].law if networks else None
        """The law of its network, if its controller is one."""
        self.network_core: Any = None
        """That network compiled, for the core."""
        curves = [_rows_of(one, first) for one in laws.inner]
        recorder = self._new_recorder(laws.classes, curves, networks)
        recorder = EndOfStep(recorder, self.count) if laws.modes else recorder
        self._end = recorder
        self.recorder = LateCommands(recorder, self.count, plan.labels[first]) if laws.late else recorder
        """Records steps and runs their backward passes."""

    def _new_recorder(
        self,
        laws: Sequence[LawClass | None],
        curves: list[list[np.ndarray]],
        networks: Sequence[StatefulLaw[NetworkLaw]],
    ) -> GradientRecorder:
        """Return the recorder of laws: the controller, the stages after it, and the sensor; None for a missing one."""
        step = self._step
        if isinstance(step, WarpStep):
            # imported here: few programs need it
            from .step.warp_gradients import PipelineLaws, WarpGradients

            first, *between, last = laws
            pipeline = PipelineLaws(first, tuple(filter(None, between)), last)
            return WarpGradients(self.count, pipeline, curves, self.depth, step.device, self.network)
        known = [network_of(one, keep=True) for one in networks]
        self.network_core = known[0][0] if known else None
        first, *between, last = ("" if one is None else one.__name__ for one in laws)
        return native.core.Gradients(self.count, first, known, between, curves, self.depth, last)

    def values(self) -> list[np.ndarray]:
        """Current signals that its laws ask for, and parameters, in the order of the laws; each `(count,)`."""
        asked = {name: array.numpy()[:, self._slots].ravel() for name, array in self._step.signals.items()}
        # what the engine writes within a step is zero without an effort mode
        none = np.zeros(self.count, np.float32)
        return [asked.get(name, none) if row is None else self.values_of(row) for name, row in self._given]

    def in_order(self, gradients: Mapping[str, object]) -> list[Any]:
        """Return gradients by name of the parameter in the order of `values`; None for the others, and for signals."""
        return [None if row is None else gradients.get(name) for name, row in self._given]

    def live(self) -> list[wp.array]:
        """The arrays that `values` copies, `(count,)`, of a plan with one slot."""
        device = self._step.device if isinstance(self._step, WarpStep) else "cpu"
        none = wp.zeros(self.count, dtype=wp.float32, device=device)
        return [
            row.live if row is not None else self._step.signals[name].flatten() if name in self._step.signals else none
            for name, row in self._given
        ]

    def values_of(self, row: Row) -> np.ndarray:
        """Current values of a parameter, or of the lag."""
        return self._step.values(row)[:, self._slots].ravel()

    def state(self, rings: Sequence[object], pushes: object, newest: object, laws: Sequence[object]) -> Any:
        """Return a state of these slots as an argument of the recorder."""
        last = len(laws) - NUM_ARRAYS * self.is_late
        first = last - NUM_STATES * self._has_mode
        found = self._state(rings, pushes, newest, laws[:first])
        found = (found, laws[first:last]) if self._has_mode else found
        return (found, laws[last:]) if self.is_late else found

    def state_of(self, state: StepState) -> Any:
        """Return a state of the plan, of one slot, as an argument of the recorder."""
        if not (self.is_late or self._has_mode):
            return state if isinstance(self._step, WarpStep) else self._step.as_bound(state)
        ring = [state.buffer_pos, state.buffer_vel, state.buffer_act]
        arrays = [ring, state.num_pushes, state.write_idx, self.arrays_of(state)]
        if isinstance(self._step, NativeStep):
            arrays = [
                [numpy_view(one) for one in some] if isinstance(some, list) else numpy_view(some) for some in arrays
            ]
        return self.state(*arrays)

    def arrays_of(self, state: StepState) -> list[Any]:
        """Return the arrays of the laws of a state: of an effort mode last but a law that delays commands."""
        numbers = sorted(range(len(state.laws)), key=self._rank)
        return [array for number in numbers for array in state.laws[number]]

    def finish(self, noted: Any, after: StepState) -> None:
        """Complete the record of a step with the state after it; only efforts at the end of the step need that."""
        if not isinstance(self._end, EndOfStep):
            return
        number = next(n for n, one in enumerate(self._plan.stateful) if getattr(one.law, "END", None) is not None)
        efforts = numpy_view(after.laws[number][ImplicitEffort.STATE.index("previous_effort")])
        places = self.places(self._plan.stateful[number].used)
        self._end.finish(noted.inner if self.is_late else noted, efforts.reshape(-1)[places])

    def _rank(self, number: int) -> int:
        law = self._plan.stateful[number].law
        return 2 if getattr(law, "KIND", "") == "delay" else int(getattr(law, "END", None) is not None)

    def _state(self, rings: Sequence[object], pushes: object, newest: object, laws: Sequence[object]) -> Any:
        if isinstance(self._step, WarpStep):
            pos, vel, act = rings or (None, None, None)
            return StepState(pos, vel, act, pushes, newest, [tuple(laws)])
        return native.core.State(rings, pushes, newest, laws)

    def places(self, having: np.ndarray) -> np.ndarray:
        """Indices of robots and slots into an array over robots and the slots `having` something."""
        mine = np.searchsorted(np.flatnonzero(having), self._slots)
        return (np.arange(self._plan.num_robots)[:, None] * int(having.sum()) + mine).ravel()

    def law_states(self, placement: Placement) -> Iterator[tuple[int, int, StatefulLaw[LawClass | NetworkLaw], Any]]:
        """States of its laws: number of the law, number in its `STATE`, the law, and index into that array."""
        stages = {stage for *_, stage in placement.stages}
        for number in sorted(range(len(self._plan.stateful)), key=self._rank):
            one = self._plan.stateful[number]
            if one.stage in stages or (one.stage is None and one.law is placement.controller):
                for k, name in enumerate(one.names):
                    yield number, k, one, (*[slice(None)] * one.axis_of(name), self.places(one.used))


def _controller_of(plan: Plan, slot: int) -> PlannedStage | None:
    """Return the controller of a slot in the form of a stage; None for a network and without one."""
    kind = int(plan.controller_kind[slot])
    if kind < 0:
        return None
    law = plan.controllers[kind]
    rows = {name: plan.control[name] for name in law.PARAMETERS}
    return PlannedStage(law, plan.controller_kind == kind, rows, plan.control_curves[kind])


def _given_to(stage: PlannedStage | None) -> list[tuple[str, Row | None]]:
    """Return signals, without a row, and parameters of a law, in the order of its arguments."""
    return [*((name, None) for name in stage.law.ASKS), *stage.rows.items()] if stage else []


def _rows_of(stage: PlannedStage | None, slot: int) -> list[np.ndarray]:
    """Return the prepared rows of the curves of a law in a slot that has it, in their order."""
    if stage is None:
        return []
    by_number = {one.number: one.rows for one in stage.curves if one.used[slot]}
    return [by_number[number] for number in range(len(stage.law.CURVES))]


@dataclass(eq=False)
class _Bound:
    """The arrays of a binding: inputs and outputs with gradients; values and indices as arguments of the recorder."""

    inputs: list[Array | None]
    outputs: list[Array | None]
    values: Sequence[Array | None]
    indices: list[Any]


class OnTape:
    """Records the steps of one actuator on a tape.

    Args:
        label: Label of the actuator in errors.
        step: Its step.

    Raises:
        NotImplementedError: It has no gradients.
    """

    def __init__(self, label: str, step: Step) -> None:
        require_gradients(label, step)
        self._step = cast("NativeStep | WarpStep", step)
        for array in step.signals.values():
            array.requires_grad = True
        self._pipeline = Pipeline(self._step, [0])
        # NumPy views of gradients by identity, each with the gradient, which it keeps alive
        self._views: dict[int, tuple[Any, np.ndarray]] = {}
        self._bound: weakref.WeakKeyDictionary[Indices, _Bound] = weakref.WeakKeyDictionary()

    def note(self, binding: Indices, now: StepState | None, seconds: float) -> Any:
        """Copy the inputs of a step before it runs, and return the record."""
        bound, pipeline, step = self._of(binding), self._pipeline, self._step
        state = None if now is None else pipeline.state_of(now)
        if isinstance(step, NativeStep):
            parameters, lag = pipeline.values(), pipeline.values_of(step.plan.lag) if pipeline.depth else None
        else:
            parameters, lag = pipeline.live(), step.plan.lag.live
        return pipeline.recorder.note(bound.values[:5], bound.indices[:5], parameters, state, lag, seconds)

    def record(
        self, tape: wp.Tape, noted: Any, binding: Indices, now: StepState | None, after: StepState | None
    ) -> None:
        """Add the backward pass of a recorded step to the tape."""
        bound, pipeline = self._of(binding), self._pipeline
        if after is not None:
            pipeline.finish(noted, after)
        parameters = pipeline.live()
        befores, afters = _arrays_of(now, pipeline), _arrays_of(after, pipeline)
        for array in (*befores, *afters):
            if _has_gradient(array) and array not in tape.gradients:
                array.grad.zero_()
        arrays = (*bound.inputs, *bound.outputs, *parameters, *befores, *afters)

        def back() -> None:
            pipeline.recorder.back(
                noted,
                self._gradients(bound.outputs),
                bound.indices[5],
                self._gradients(bound.inputs),
                bound.indices[:5],
                self._gradients(parameters),
                self._gradients(afters),
                self._gradients(befores),
            )

        tape.record_func(back, [array for array in arrays if _has_gradient(array)])

    def _gradients(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        """The gradients of arrays, None without one; NumPy arrays for the core."""
        if isinstance(self._step, WarpStep):
            return [array.grad if isinstance(array, wp.array) else None for array in arrays]
        found = []
        for array in arrays:
            gradient = array.grad if isinstance(array, wp.array) else None
            if gradient is None:
                found.append(None)
                continue
            known = self._views.get(id(gradient))
            if known is None:
                if len(self._views) > _KEPT:
                    self._views.clear()
                known = self._views[id(gradient)] = gradient, gradient.numpy()
            found.append(known[1])
        return found

    def _of(self, binding: Indices) -> _Bound:
        bound = self._bound.get(binding)
        if bound is None:
            outputs = [binding.efforts, binding.computed]
            if isinstance(self._step, NativeStep):
                values, indices = binding.numpy_views()
            else:
                values, indices = list(binding.inputs), [*binding.indices, binding.effort_indices]
            bound = _Bound(list(binding.inputs), outputs, values, indices)
            self._bound[binding] = bound
        return bound


def with_gradients(state: object) -> None:
    """Enable gradients of the arrays of a state and of the states in it."""
    if isinstance(state, wp.array):
        state.requires_grad = state.dtype is wp.float32
        return
    parts = state.values() if isinstance(state, Mapping) else state if isinstance(state, tuple | list) else None
    for part in vars(state).values() if parts is None and hasattr(state, "__dict__") else parts or ():
        with_gradients(part)


def cut_gradients(tape: wp.Tape, states: Sequence[object], mask: wp.array | None) -> None:
    """Stop backward passes of a tape at a reset of states of laws: masked actuators, or all without a mask.

    The state of a delay has a count of its commands, which shows a reset.
    """
    with off_tape():
        # the caller may write other values into the mask
        chosen = None if mask is None else wp.clone(mask)
    arrays = [one for state in states if state is not None for one in vars(state).values() if _has_gradient(one)]

    def back() -> None:
        for array in arrays:
            if chosen is None:
                array.grad.zero_()
                continue
            # axis 1 of the states of a network runs over the actuators
            inputs, values = [chosen, math.prod(array.shape[2:]), 0.0, None], array.grad.flatten()
            wp.launch(clear_kernel, array.size, inputs, [values], device=array.device, record_tape=False)

    if arrays:
        tape.record_func(back, arrays)


def _arrays_of(state: StepState | None, pipeline: Pipeline) -> list[Any]:
    """The arrays of a state that may have gradients: those of the ring, then those of the laws."""
    if state is None:
        return []
    ring = [state.buffer_pos, state.buffer_vel, state.buffer_act] if pipeline.depth else []
    return ring + pipeline.arrays_of(state)


def _has_gradient(array: object) -> bool:
    return isinstance(array, wp.array) and array.grad is not None
