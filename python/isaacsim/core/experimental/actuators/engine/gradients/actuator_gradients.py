"""Gradients of an `Actuator` on a `wp.Tape`: a step records its inputs, and the backward pass applies the chain rule.

    gradient by            is propagated to
    efforts, computed      signals, parameters and the state before, through limits, law, transmission and sensor; it is
                           kept, because efforts are added to these arrays
    state after the step   the state before the step; it is set to zero
    delayed command        the row of the delay ring that the command came from, and from there to its target; between
                           steps to two rows, and to the delay
    held effort            the step that computed it

The core has the backward pass of the steps that it runs. Warp's adjoint of the laws is used on CUDA, for custom laws
and without the core; see `GradientRecorder`.

Inputs are copied at the step, so arrays may be overwritten before `Tape.backward`. An array without `grad` gets no
gradient. At a kink the gradient is that of the branch that the law takes, or of a smooth bound of dry friction, see
`smooth_friction.py`; a joint with a fault has no gradient for that step. A network is evaluated again in the backward
pass; kinks of its functions have Torch's slopes. The gradient of a state is zeroed when a tape records the state for
the first time.
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

import numpy as np
import warp as wp

from ...base.memory import Array, Tensor, numpy_view
from ...laws.contract.base import clear_kernel
from ...laws.contract.catalogue import laws
from ...laws.contract.law import FELT_SIGNALS, LawClass
from ...laws.delay_timed import DelayTimed
from ...laws.effort_delay_timed import EffortDelayTimed
from ...laws.feedback_encoder import FeedbackEncoder
from ...laws.implicit_effort import ImplicitEffort
from ...laws.rate_hold import RateHold
from ...laws.transmission_gear import TransmissionGear
from ...specs.signals import INERTIAS, SIGNALS
from ...specs.stages import KINDS
from ..plan import Placement, Plan, PlannedStage, Row, StatefulLaw, has_law
from ..step.binding import Indices
from ..step.native import NativeStep, network_of
from ..step.state import StepState
from ..step.warp import WarpStep
from .encoder_gradients import Measured
from .given_laws import GivenEffort, GivenMeasurement
from .gradient_recorder import CoreGradients, GradientRecorder, States, StepGradients, StepInputs, refuse
from .held_gradients import HeldEfforts, Split
from .implicit_gradients import EndOfStep
from .late_gradients import LateCommands

if TYPE_CHECKING:
    from ...laws.networks.network_law import NetworkLaw
    from ..step.interface import Step

# number of NumPy views of gradients that are kept
_KEPT = 256
# laws around those of the core and of Warp, whose gradients are in NumPy
_LATE, _RATE = (DelayTimed, FeedbackEncoder, EffortDelayTimed), RateHold
# number of their ranks
_RANKS = 6


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


def require_gradients(label: str, step: Step, *, linked: bool = False) -> None:
    """Raise for a step without gradients; `linked` is True if the caller has those of linkages of coefficients."""
    if not isinstance(step, NativeStep | WarpStep):
        _refuse_own_code(label, step)
    if linked:
        _refuse_linkages(label, step.plan)
    _refuse_laws(label, [law for law, _ in step.plan.laws if not (linked and KINDS[law.KIND].couples)])
    _refuse_sensors_at_motors(label, step.plan)
    _refuse_hidden_motors(label, step.plan)
    if isinstance(step, WarpStep) and not wp.get_device(step.device).is_cpu:
        _refuse_on_gpu(label, step.plan)


def _refuse_own_code(label: str, step: Step) -> NoReturn:
    """Raise for a step whose components are not all laws, and name those that are none."""
    stages = [insert.array_stages for insert in getattr(step, "inserts", ())]
    components = [one for some in stages for one in (some.delay, some.controller, *some.stages)]
    names = list(dict.fromkeys(type(one).__name__ for one in components if one is not None and not has_law(one)))
    why = (
        "a component that computes by code of its own, a network that Torch runs, or one with a column of the "
        "caller's has none. Leave it out, or give the law as a wp.func"
    )
    refuse(label, ": ".join(filter(None, (", ".join(names), why))))


def _refuse_linkages(label: str, plan: Plan) -> None:
    """Raise for linkages that are no matrix, and for those of efforts at the end of the step."""
    if any(len(one.nodes) for one in plan.linkages):
        refuse(label, "a linkage with a table has none. Leave it out, or give coefficients")
    if plan.linkages and plan.has_mode:
        refuse(label, "an effort at the end of the step of a linkage has none. Take the explicit mode")


def _refuse_sensors_at_motors(label: str, plan: Plan) -> None:
    """Raise for sensors at the motor of a transmission, if one of both is of one's own."""
    for sensor in plan.feedback:
        for gear in plan.transmissions if sensor.is_behind else ():
            is_known = gear.law is TransmissionGear and sensor.law is FeedbackEncoder
            if not is_known and (gear.used & sensor.used).any():
                why = f"{sensor.law.__name__} at the motor, before {gear.law.__name__}, has none"
                refuse(label, f"{why}. Set side to joint, or take a TransmissionGear")


def _refuse_hidden_motors(label: str, plan: Plan) -> None:
    """Raise for sensors beside a transmission whose motor moves by itself."""
    hidden = np.logical_or.reduce([one.used for one in plan.feedback if KINDS[one.law.KIND].senses] or [False])
    for gear in plan.transmissions:
        if any(math.isnan(start) for start in gear.law.START.values()) and (gear.used & hidden).any():
            refuse(label, f"a sensor beside {gear.law.__name__}, whose motor moves by itself, has none. Leave one out")


def _refuse_on_gpu(label: str, plan: Plan) -> None:
    if plan.has_mode:
        refuse(label, "an effort at the end of the step has none on a GPU. Step on the CPU, or take the explicit mode")
    if late := [law.__name__ for law, _ in plan.laws if law.LATE or law.TICK is not None]:
        why = "an encoder, a rate, and a delay in seconds or between steps"
        refuse(label, f"{why} ({', '.join(late)}) have none on a GPU. Step on the CPU, or leave it out")


class _Among(NamedTuple):
    """What decides besides a law itself: signals that laws read, and whether there is an effort mode, and a gear."""

    read: set[str]
    has_mode: bool
    has_gear: bool


_REFUSED: dict[str, Callable[[LawClass, _Among], object]] = {
    "a linkage ({}), which couples joints, has none. Leave it out": lambda law, _: KINDS[law.KIND].couples,
    # before a transmission it feels otherwise than the joint
    "a law that asks for what a motor feels ({}) has none. Leave it or the gear out": lambda law, among: (
        among.has_gear and KINDS[law.KIND].coordinates == "motor" and {*FELT_SIGNALS} & {*law.ASKS}
    ),
    "a law of one's own that acts late, or is a rate ({}), has none. Leave it out": lambda law, _: (
        (law.LATE and law not in _LATE) or (law.TICK is not None and law is not _RATE)
    ),
    # it steps the joint with the slope of the motor
    "friction ({}) of a motor whose effort is that of the end of the step has none. Leave one out": lambda law, among: (
        among.has_mode and law.END is None and any(SIGNALS[name].is_of_engine for name in law.ASKS)
    ),
    "a sensor of one's own ({}) beside an effort of the end of the step has none. Leave one out": lambda law, among: (
        among.has_mode and KINDS[law.KIND].senses and not law.LATE
    ),
    "a law of commands ({}) has none. Leave it out, and set the commands that it would give": lambda law, _: (
        KINDS[law.KIND].commands
    ),
    # signals that laws read in the next step
    "what a law publishes, or leaves besides efforts ({}), has none. Leave it out": lambda law, among: (
        not among.read.isdisjoint(law.PUBLISHES) or not (KINDS[law.KIND].gives or law.LATE or law.END)
    ),
}


def _refuse_laws(label: str, laws: Sequence[LawClass]) -> None:
    read = {part for law in laws for name in law.ASKS for part in (name, SIGNALS[name].total_of)}
    has_mode, has_gear = any(law.END is not None for law in laws), any(KINDS[law.KIND].converts for law in laws)
    for why, is_refused in _REFUSED.items():
        if names := [law.__name__ for law in laws if is_refused(law, _Among(read, has_mode, has_gear))]:
            refuse(label, why.format(", ".join(names)))


@dataclass(frozen=True)
class _LawsOfSlot:
    """The planned laws of a slot; those in `smooth` take the place of others in gradients."""

    controller: PlannedStage | None
    stages: list[PlannedStage]
    sensors: list[PlannedStage]
    modes: list[PlannedStage]
    late: list[PlannedStage]
    encoders: list[PlannedStage]
    held: list[PlannedStage]
    smooth: Mapping[LawClass, LawClass]

    @classmethod
    def of(cls, plan: Plan, slot: int, smooth: Mapping[LawClass, LawClass]) -> _LawsOfSlot:
        """Return the laws of a slot of a plan."""
        stages, feedback = (
            [[stage for stage in some if stage.used[slot] and _rank(stage.law) == rank] for rank in range(_RANKS)]
            for some in (plan.stages, plan.feedback)
        )
        # neither has what the other has, but laws of rank 0
        _, *around = [[*some, *others] for some, others in zip(stages, feedback, strict=True)]
        modes, late, encoders, rates, delays = around
        held = [*rates, *delays]
        return cls(_controller_of(plan, slot), stages[0], feedback[0], modes, late, encoders, held, smooth)

    @property
    def inner(self) -> list[PlannedStage | None]:
        """The controller, the stages after it and the sensor."""
        return [self.controller, *self.stages, *self.sensors]

    @property
    def classes(self) -> list[LawClass | None]:
        """Classes of the controller, the stages after it and the sensor; None for a missing one."""
        first = self.controller.law if self.controller else None
        sensors: list[Any] = [GivenMeasurement] if self.encoders else [one.law for one in self.sensors]
        return [first, *self.stage_classes, *(sensors or [None])]

    @property
    def stage_classes(self) -> list[LawClass]:
        """Classes of the stages after the controller."""
        return [self.smooth.get(one.law, one.law) for one in self.stages]

    @property
    def given(self) -> list[tuple[str, Row | None]]:
        """Signals, without a row, and parameters of all laws, in the order of their arguments."""
        found = [one for stage in self.inner for one in _given_to(stage)]
        if self.modes:
            # a winding at the velocity of the end of the step does not step the joint itself
            found = [("" if name in INERTIAS and row is None else name, row) for name, row in found]
        around = (*self.modes, *self.late, *self.encoders, *self.held)
        return [*found, *(one for stage in around for one in _given_to(stage))]

    @property
    def places_of_sensor(self) -> tuple[int, int | None]:
        """Number of values before those of the sensor; and number of the ratio of a gear that the encoder is before."""
        at, ratio = len(_given_to(self.controller)), None
        for stage in self.stages:
            ratio = at + len(stage.law.ASKS) if KINDS[stage.law.KIND].converts else ratio
            at += len(_given_to(stage))
        return at, ratio if any(one.is_behind for one in self.encoders) else None

    @property
    def checked(self) -> tuple[int, ...]:
        """Places of the signals that laws ask for and that must be finite."""
        asked = ((n, SIGNALS.get(name)) for n, (name, row) in enumerate(self.given) if row is None)
        return tuple(n for n, signal in asked if signal and not signal.is_unbounded and not signal.is_of_engine)

    def split(self, network_states: int, rings: int) -> Split:
        """Return where the stages are among the signals, parameters and states of all."""
        first_value = len(_given_to(self.controller))
        first_state = network_states + (len(self.controller.law.STATE) if self.controller else 0)
        return Split(
            values=slice(first_value, first_value + sum(len(_given_to(one)) for one in self.stages)),
            states=slice(first_state, first_state + sum(len(one.law.STATE) for one in self.stages)),
            rings=rings,
            checked=self.checked,
            held=[one.law for one in self.held],
        )


class Pipeline:
    """The gradients of an actuator, whose slots have the same stages; `smooth` replaces laws in them, Warp's only."""

    def __init__(
        self,
        step: NativeStep | WarpStep,
        slots: Sequence[int],
        smooth: Mapping[LawClass, LawClass] = MappingProxyType({}),
    ) -> None:
        plan: Plan = step.plan
        self._step, self._plan, self._slots, first = step, plan, list(slots), slots[0]
        self._laws = laws = _LawsOfSlot.of(plan, first, smooth)
        self._given = laws.given
        self.rows: list[tuple[str, Row]] = [(name, row) for name, row in self._given if row is not None]
        """Parameters: those of the controller, of the stages after it, of the sensor, of laws around these."""
        self.depth = plan.depth if plan.delayed[first] else 0
        self.count = plan.num_robots * len(slots)
        networks = [one for one in plan.networks if one.used[first]]
        self.network = networks[0].law if networks else None
        """The law of its network, if its controller is one."""
        self.network_core: Any = None
        """That network compiled, for the core."""
        self._around: list[LateCommands | Measured] = []
        states = len(self.network.STATE) if self.network else 0
        self._split = laws.split(states, 3 if self.depth else 0) if laws.held else None
        self.recorder = self._held(self._recorder_of(networks, first), first)
        """Records steps and runs their backward passes."""

    def _recorder_of(self, networks: Sequence[StatefulLaw[NetworkLaw]], slot: int) -> GradientRecorder:
        """Return the recorder of a slot, without a rate and a delay of the effort."""
        laws = self._laws
        curves = [_rows_of(one, slot) for one in laws.inner] + [[] for _ in laws.encoders]
        recorder = self._new_recorder(laws.classes, curves, networks, self.depth)
        recorder = EndOfStep(recorder, self.count) if laws.modes else recorder
        if laws.late:
            self._around.append(recorder := LateCommands(recorder, self.count))
        if laws.encoders:
            self._around.append(recorder := Measured(recorder, self.count, *laws.places_of_sensor, laws.checked))
        return recorder

    def _held(self, recorder: GradientRecorder, slot: int) -> GradientRecorder:
        """Return the recorder with the rate and the delay of the effort of a slot, if it has them."""
        laws = self._laws
        if self._split is None:
            return recorder
        behind: list[Any] = [GivenEffort, *laws.stage_classes, None]
        curves = [[], *(_rows_of(one, slot) for one in laws.stages)]
        return HeldEfforts(recorder, self._new_recorder(behind, curves, [], 0), self.count, self._split)

    def _new_recorder(
        self,
        laws: Sequence[LawClass | None],
        curves: list[list[np.ndarray]],
        networks: Sequence[StatefulLaw[NetworkLaw]],
        depth: int,
    ) -> GradientRecorder:
        """Return the recorder of laws: the controller, the stages after it, and the sensor; None for a missing one."""
        step = self._step
        if isinstance(step, WarpStep):
            # imported here: few programs need it
            from .warp_gradients import PipelineLaws, WarpGradients

            first, *between, last = laws
            pipeline = PipelineLaws(first, tuple(filter(None, between)), last)
            network = networks[0].law if networks else None
            return WarpGradients(self.count, pipeline, curves, depth, step.device, network)
        known = [network_of(one, keep=True) for one in networks]
        self.network_core = known[0][0] if known else self.network_core
        first, *between, last = ("" if one is None else one.__name__ for one in laws)
        return CoreGradients(self.count, first, known, between, curves, depth, last)

    def values(self) -> list[np.ndarray]:
        """Current signals that its laws ask for, and parameters, in the order of the laws; each `(count,)`."""
        asked = {name: array.numpy()[:, self._slots].ravel() for name, array in self._step.signals.items()}
        # what the engine writes within a step is zero without an effort mode
        none = np.zeros(self.count, np.float32)
        return [asked.get(name, none) if row is None else self.values_of(row) for name, row in self._given]

    def in_order(self, gradients: Mapping[str, Array]) -> list[Array | None]:
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

    def state_of(self, state: StepState) -> Any:
        """Return a state of the plan, of one slot, as an argument of the recorder."""
        laws, step = self._laws, self._step
        if not (laws.modes or laws.late or laws.encoders or laws.held):
            return step.as_bound(state) if isinstance(step, NativeStep) else state
        view = numpy_view if isinstance(step, NativeStep) else (lambda one: one)
        rings = [view(one) for one in (state.buffer_pos, state.buffer_vel, state.buffer_act)]
        arrays = [view(one) for one in self.arrays_of(state)]
        return States(rings, view(state.num_pushes), view(state.write_idx), arrays)

    def arrays_of(self, state: StepState) -> list[Tensor]:
        """Return the arrays of the laws of a state: those of laws around the core's and Warp's last."""
        numbers = self._ranked()
        return [array for number in numbers for array in state.laws[number]]

    def finish(self, noted: Any, after: StepState) -> None:
        """Complete the record of a step with the state after it; only efforts at the end of the step need that."""
        if not self._laws.modes:
            return
        number = next(n for n, one in enumerate(self._plan.stateful) if getattr(one.law, "END", None) is not None)
        efforts = numpy_view(after.laws[number][ImplicitEffort.STATE.index("previous_effort")])
        recorder = self.recorder
        for one in reversed(self._around):
            recorder, noted = one.inner, noted.inner
        cast("EndOfStep", recorder).finish(noted, efforts.reshape(-1)[self.places(self._plan.stateful[number].used)])

    def _ranked(self) -> list[int]:
        """Numbers of the stateful laws in the order of `recorder`."""
        stateful = self._plan.stateful
        return sorted(range(len(stateful)), key=lambda number: _rank(stateful[number].law))

    def places(self, having: np.ndarray) -> np.ndarray:
        """Indices of robots and slots into an array over robots and the slots `having` something."""
        mine = np.searchsorted(np.flatnonzero(having), self._slots)
        return (np.arange(self._plan.num_robots)[:, None] * int(having.sum()) + mine).ravel()

    def law_states(
        self, placement: Placement
    ) -> Iterator[tuple[int, int, StatefulLaw[LawClass | NetworkLaw], tuple[slice | np.ndarray, ...]]]:
        """States of its laws: number of the law, number in its `STATE`, the law, and index into that array."""
        stages = {stage for *_, stage in placement.stages}
        for number in self._ranked():
            one = self._plan.stateful[number]
            if one.stage in stages or (one.stage is None and one.law is placement.controller):
                for k, name in enumerate(one.names):
                    yield number, k, one, (*[slice(None)] * one.axis_of(name), self.places(one.used))


def _smooth_laws(label: str, plan: Plan) -> Mapping[LawClass, LawClass]:
    # imported here: Warp takes a while for new functions
    from ..implicit.smooth_friction import smooth_law

    found = {law: smooth for law, _ in plan.laws if (smooth := smooth_law(law)) is not None}
    if not found:
        names = ", ".join(law.name for law in laws() if law.name is not None and smooth_law(law.component) is not None)
        raise ValueError(f"{label}: smooth_stick = True: must be with {names} among its stages. Leave it out.")
    return found


def _rank(law: LawClass | NetworkLaw) -> int:
    """Return the place of a law in the recorder, from the inside out: those of the core and of Warp have 0."""
    kind, is_mode = getattr(law, "KIND", ""), getattr(law, "END", None) is not None
    if kind in ("delay", "rate", "effort_delay"):
        return {"delay": 2, "rate": 4, "effort_delay": 5}[kind]
    return 1 if is_mode else 3 if getattr(law, "LATE", ()) else 0


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
    """Records the steps of one actuator on a tape."""

    def __init__(self, label: str, step: Step, *, smooth_stick: bool = False) -> None:
        require_gradients(label, step)
        self._step = cast("NativeStep | WarpStep", step)
        for array in step.signals.values():
            array.requires_grad = True
        self._pipeline = Pipeline(self._step, [0], _smooth_laws(label, self._step.plan) if smooth_stick else {})
        # NumPy views of gradients by identity, each with the gradient, which it keeps alive
        self._views: dict[int, tuple[wp.array, np.ndarray]] = {}
        self._bound: weakref.WeakKeyDictionary[Indices, _Bound] = weakref.WeakKeyDictionary()

    def note(self, binding: Indices, now: StepState | None, seconds: float) -> object:
        """Copy the inputs of a step before it runs, and return the record."""
        bound, pipeline, step = self._of(binding), self._pipeline, self._step
        state = None if now is None else pipeline.state_of(now)
        if isinstance(step, NativeStep):
            parameters, lag = pipeline.values(), pipeline.values_of(step.plan.lag) if pipeline.depth else None
        else:
            parameters, lag = pipeline.live(), step.plan.lag.live
        inputs = StepInputs(bound.values[:5], bound.indices[:5], parameters, state, lag, seconds)
        return pipeline.recorder.note(inputs)

    def record(
        self, tape: wp.Tape, noted: object, binding: Indices, now: StepState | None, after: StepState | None
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
            outputs, inputs = self._gradients(bound.outputs), self._gradients(bound.inputs)
            states = self._gradients(afters), self._gradients(befores)
            by = StepGradients(
                outputs, bound.indices[5], inputs, bound.indices[:5], self._gradients(parameters), *states
            )
            pipeline.recorder.back(noted, by)

        tape.record_func(back, [array for array in arrays if _has_gradient(array)])

    def _gradients(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        """The gradients of arrays, None without one; NumPy arrays for the core."""
        gradients = [array.grad if isinstance(array, wp.array) else None for array in arrays]
        if isinstance(self._step, WarpStep):
            return gradients
        return [None if gradient is None else self._view_of(gradient) for gradient in gradients]

    def _view_of(self, gradient: wp.array) -> np.ndarray:
        if id(gradient) not in self._views:
            if len(self._views) > _KEPT:
                self._views.clear()
            self._views[id(gradient)] = gradient, gradient.numpy()
        return self._views[id(gradient)][1]

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


def _arrays_of(state: StepState | None, pipeline: Pipeline) -> list[Tensor]:
    """The arrays of a state that may have gradients: those of the ring, then those of the laws."""
    if state is None:
        return []
    ring = [state.buffer_pos, state.buffer_vel, state.buffer_act] if pipeline.depth else []
    return ring + pipeline.arrays_of(state)


def _has_gradient(array: object) -> bool:
    return isinstance(array, wp.array) and array.grad is not None
