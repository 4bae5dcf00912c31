"""`Actuator`: actuators that a program steps on arrays of its own, as in newton.actuators.

`ArticulationActuators` compiles its actuators into few plans and does not step these objects; they are for programs
with their own state, control and loop. Each has a plan of its own, bound by index arrays, and the same step. Parts that
newton renamed in 1.6 have both names, `controller` and `drive`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import warp as wp

from ..base.errors import NotCopied, shown
from ..base.memory import Array, warp_view
from ..base.untraced import leave_out, untraced
from ..laws.contract import newton_classes
from ..laws.contract.base import Clamping, Component, Controller
from ..laws.delay import Delay
from ..specs.arguments import require_type
from ..specs.implicit_options import ImplicitOptions
from ..specs.stages import KINDS, AnyStage, Staged, kind_of
from .implicit.damping_requests import require_no_damping_in_engine
from .step.fault import Fault, fault_of

if TYPE_CHECKING:
    from .calls import Calls, Contents
    from .gradients.actuator_gradients import OnTape
    from .implicit.group_effort import GroupEffort
    from .implicit.joint_space_response import Response
    from .step.interface import Step

# calls, gradients and the implicit mode are imported on use: actuators of a wrapper need none of them

_PARTS = ("controller", "drive", "delay", "clamping", "others")
_IS_FIXED = (
    "cannot be replaced: the plan of its wrapper is compiled. Write to the parameters of its components, or build "
    "another wrapper."
)


class _FixedList(list[object]):
    """Limits or other stages of an actuator whose plan is compiled; every change raises `TypeError`."""

    def __init__(self, name: str, stages: Sequence[object]) -> None:
        self._name = name
        super().__init__(stages)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(f"{self._name} {_IS_FIXED}")

    append = extend = insert = remove = pop = clear = reverse = _refuse
    sort = _refuse  # pyright: ignore[reportAssignmentType]
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse


class _Compiled:
    __slots__ = ("beside", "calls", "computed", "on_tape", "parts", "step")

    def __init__(self) -> None:
        self.step: Step | None = None
        self.on_tape: OnTape | None = None
        self.calls: Calls | None = None
        # those of the explicit step beside the implicit mode
        self.beside: Calls | None = None
        self.parts: list[Contents] = []
        self.computed: wp.array | None = None

    def computed_of(self, actuator: Actuator) -> wp.array:
        """Efforts before the limits, initially zero."""
        if self.computed is None:
            self.computed = wp.zeros(actuator.num_actuators, dtype=wp.float32, device=actuator.device)
        return self.computed


class Actuator(Staged, NotCopied):
    """`N` actuators with the same components, reading and writing flat arrays of a simulator.

    Args:
        indices: Indices of velocities, velocity targets and feedforward, uint32, shape `(N,)`.
        controller: The control law; its arrays have shape `(N,)`. Its later name is `drive`.
        delay: Command delay, or None.
        clamping: Effort limits in the order they are applied.
        pos_indices: Indices of positions; None means `indices`.
        target_pos_indices: Indices of position targets; None means `pos_indices` when the target array is as long as
            the array of positions, else `indices`.
        effort_indices: Indices of efforts; None means `indices`.
        state_pos_attr: Name of the positions [rad or m] on the state object.
        state_vel_attr: Name of the velocities [rad/s or m/s] on the state object.
        control_target_pos_attr: Name of the position targets on the control object; None means the default.
        control_target_vel_attr: Name of the velocity targets on the control object; None means the default. Targets
            missing under one of these names are looked up under the corresponding name of newton 1.2, and vice versa.
        control_feedforward_attr: Name of the feedforward efforts [N·m or N]; None, or an absent array, means none.
        control_output_attr: Name of the array that efforts [N·m or N] are added to.
        control_computed_output_attr: Name of the array that efforts before the clamps are added to, or None.
        requires_grad: True if a `wp.Tape` that records a step gets gradients of the efforts with respect to positions,
            velocities, targets, feedforward, the parameters of the components and the state before the step. Arrays
            need `grad`; states from `state()` have it. See `engine/gradients/actuator_gradients.py`.
        label: Label of the actuator in messages; the prim path where there is one.
        dof_names: Names of the driven joints, for information.
        drive: The control law, instead of `controller`.
        others: Stages of other kinds.
        smooth_stick: True if gradients take dry friction for a smooth function, so that they do not end at a joint that
            sticks; efforts stay. See `engine/implicit/smooth_friction.py`. Steps and gradients then are Warp's.

    Raises:
        TypeError: Not exactly one of `controller` and `drive` is given.
        ValueError: Index arrays differ in shape, or `smooth_stick` is True without gradients or without dry friction.
        NotImplementedError: `requires_grad` is True and a component has no gradients: it has no `LAW`, or it is a
            network that Torch runs or that has custom inputs.
    """

    _INSTEAD = "Make another one of components of its own."
    _fixed = False
    _is_planned = False
    _effort_mode: GroupEffort | None = None

    ImplicitOptions = ImplicitOptions
    """Options of `set_effort_mode_implicit`."""

    @dataclass
    class State(NotCopied):
        """State of the stages; None for a stage without state.

        `drive_state` is the later name of `controller_state`. States of stages of other kinds are in `other_states`, by
        kind.
        """

        _INSTEAD = "Take another one of state() and assign this one to it, or keep its arrays."

        delay_state: Any = None
        controller_state: Any = None
        clamping_states: tuple[Any, ...] = ()
        other_states: dict[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])

        def __init__(
            self,
            delay_state: object = None,
            controller_state: object = None,
            clamping_states: tuple[object, ...] = (),
            other_states: Mapping[str, tuple[object, ...]] | None = None,
            *,
            drive_state: object = None,
        ) -> None:
            self.delay_state, self.clamping_states = delay_state, clamping_states
            self.other_states = dict(other_states or {})
            self.controller_state = controller_state if drive_state is None else drive_state

        @property
        def drive_state(self) -> Any:
            """The state of the controller."""
            return self.controller_state

        @drive_state.setter
        def drive_state(self, state: object) -> None:
            self.controller_state = state

        def reset(self, mask: wp.array | None = None) -> None:
            """Reset the states of the actuators in `mask`, bool `(N,)`; of all by default."""
            for part in (self.delay_state, *self._law_states()):
                if part is not None:
                    part.reset(mask)
            from .gradients.actuator_gradients import cut_gradients, tape_now

            if (tape := tape_now()) is not None:
                cut_gradients(tape, self._law_states(), mask)

        def _law_states(self) -> tuple[Any, ...]:
            others = (state for states in self.other_states.values() for state in states)
            return self.controller_state, *self.clamping_states, *others

        def assign(self, other: Actuator.State) -> None:
            """Copy the values of another state of the same actuator into the arrays of this one.

            After an odd number of steps in a CUDA graph it replaces the last swap of the two states. ValueError if
            parts or shapes differ; NotImplementedError for a state of the user's own that is neither a dataclass nor
            has `assign`.
            """
            from .assign import assign_state

            require_type("other", other, Actuator.State, "a state of an Actuator")
            assign_state(self.delay_state, other.delay_state, "delay_state")
            assign_state(self.controller_state, other.controller_state, "controller_state (drive_state)")
            pairs = {"clamping_states": (self.clamping_states, other.clamping_states)}
            for kind in {**self.other_states, **other.other_states}:
                pairs[f"other_states[{kind!r}]"] = self.other_states.get(kind, ()), other.other_states.get(kind, ())
            for name, (mine, others) in pairs.items():
                if len(mine) != len(others):
                    raise ValueError(
                        f"{name} has {len(others)} states: must have {len(mine)}. Take both from state() of one "
                        "actuator."
                    )
                for number, (own, given) in enumerate(zip(mine, others, strict=True)):
                    assign_state(own, given, f"{name}[{number}]")

    def __init__(
        self,
        indices: wp.array,
        controller: Controller | None = None,
        delay: Delay | None = None,
        clamping: Sequence[Clamping] | None = None,
        pos_indices: wp.array | None = None,
        target_pos_indices: wp.array | None = None,
        effort_indices: wp.array | None = None,
        state_pos_attr: str = "joint_q",
        state_vel_attr: str = "joint_qd",
        control_target_pos_attr: str | None = "joint_target_q",
        control_target_vel_attr: str | None = "joint_target_qd",
        control_feedforward_attr: str | None = "joint_act",
        control_output_attr: str = "joint_f",
        control_computed_output_attr: str | None = None,
        requires_grad: bool = False,
        *,
        label: str = "",
        dof_names: Sequence[str] = (),
        drive: Controller | None = None,
        others: Sequence[Component] = (),
        smooth_stick: bool = False,
    ) -> None:
        self.controller: AnyStage = _only_law(controller, drive, others)
        require_type("indices", indices, wp.array, "a Warp array of integers")
        given = {"pos_indices": pos_indices, "target_pos_indices": target_pos_indices, "effort_indices": effort_indices}
        for name, array in given.items():
            if array is not None:
                _require_same_shape(name, array, indices)
        clamps = [] if clamping is None else clamping
        _adopt_components([self.controller, delay], clamps, others)
        self.indices, self.delay, self.clamping, self.others = indices, delay, list(clamps), list(others)
        self.pos_indices = indices if pos_indices is None else pos_indices
        self.target_pos_indices = target_pos_indices
        self.effort_indices = indices if effort_indices is None else effort_indices
        self.state_pos_attr, self.state_vel_attr = state_pos_attr, state_vel_attr
        self.control_target_pos_attr = control_target_pos_attr or "joint_target_q"
        self.control_target_vel_attr = control_target_vel_attr or "joint_target_qd"
        self.control_feedforward_attr, self.control_output_attr = control_feedforward_attr, control_output_attr
        self.control_computed_output_attr, self.requires_grad = control_computed_output_attr, requires_grad
        self.label, self.dof_names, self.smooth_stick = label, tuple(dof_names), smooth_stick
        if smooth_stick and not requires_grad:
            raise ValueError("smooth_stick = True: must be with requires_grad = True. Add it, or leave both out.")
        self._finalize()

    def _finalize(self) -> None:
        """Have components take their size, and compile what cannot wait for the first step."""
        for component in self.stages:
            component.finalize(self.device, self.num_actuators)
        if not self._is_planned:
            require_no_damping_in_engine([self])
        self._compiled = _Compiled()
        leave_out()
        if self.num_actuators and not self._is_planned and (self.device.is_cuda or self.requires_grad):
            # compile now: a graph may capture the first step, and components without gradients are refused here
            self.compiled()

    def fix(self) -> Actuator:
        """Refuse to replace parts from now on, because a plan contains them; parameters stay writable."""
        self.clamping, self.others = _FixedList("clamping", self.clamping), _FixedList("others", self.others)
        self._fixed = True
        return self

    def __setattr__(self, name: str, value: object) -> None:
        if self._fixed and name in _PARTS:
            raise AttributeError(f"actuator {self.label!r}: {name} {_IS_FIXED}")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        pipeline = " -> ".join(map(repr, self.stages))
        return f"<Actuator {self.label}: {pipeline}, {self.num_actuators} x>".replace(" :", ":")

    def set_effort_mode_implicit(self, response: Response, options: ImplicitOptions | None = None) -> None:
        """Compute efforts of the end of the step from now on, which are stable at any gain.

        Control law and limits see the state with which the step ends, under the efforts of all joints of this actuator
        in the articulation: their equations are solved together. Joints of other actuators take no part. The controller
        is PD, PID, or a law of the user's own without memory.

        Args:
            response: `JointSpaceResponse` of this package or of newton, to be refreshed before each step.
            options: How the equations are solved; None means the defaults.

        Raises:
            NotImplementedError: The actuator has gradients or belongs to a wrapper, or it has a network, a component
                that computes arrays, or a stage of another kind than controllers, limits and delays.
            ValueError: `response` or an option cannot be used, or a joint has no row in it, or more coordinates than
                degrees of freedom.
        """
        if self._fixed:
            raise NotImplementedError(
                f"actuator {self.label!r}: its effort mode must be explicit here, as a wrapper steps it. Give the "
                "wrapper an ImplicitConfig, or make an Actuator of its own."
            )
        from .implicit.group_effort import GroupEffort

        self._effort_mode, self._compiled.calls = GroupEffort(self, response, options), None
        # now, as a graph may capture the first step
        self._effort_mode.laws()

    def set_effort_mode_explicit(self) -> None:
        """Compute efforts of the start of the step from now on, as at first."""
        mode = self._effort_mode
        if mode is not None:
            faults, steps = mode.faults(), mode.steps
            self._effort_mode = self._compiled.beside = None
            self.compiled().set_faults(faults, steps)

    @property
    def effort_mode(self) -> str:
        """When efforts are those of the laws: "explicit", at the start of the step, or "implicit", at its end."""
        return "explicit" if self._effort_mode is None else "implicit"

    @property
    def drive(self) -> AnyStage:
        """The control law, by its later name."""
        return self.controller

    @drive.setter
    def drive(self, law: object) -> None:
        self.controller = law

    @property
    def num_actuators(self) -> int:
        """Number of actuators, `N`."""
        return len(self.indices)

    @property
    def device(self) -> Any:
        """Warp device of the arrays."""
        return self.indices.device

    @property
    def computed_efforts(self) -> wp.array:
        """Efforts of the last `step` before the clamps [N·m or N], shape `(N,)`; 0 on a fault.

        With a transmission they are efforts of the motor.
        """
        if self._effort_mode is not None:
            return self._effort_mode.computed
        compiled = self._compiled
        if compiled.step is None:
            return compiled.computed_of(self)
        return warp_view(compiled.step.computed).flatten()

    @property
    def signals(self) -> dict[str, wp.array]:
        """Signals that its laws ask for, by name, float32 `(N,)`, such as inertia and load of the joints.

        Write into them in place before a step. Until then they have neutral values, for an unknown signal. Published
        values of its laws are here as the last step read them. Totals are written by the program, too, because an
        actuator does not know the others of its robot. See `specs/signals.py`.

        Raises:
            RuntimeError: A wrapper steps the actuator; the host of the robot writes the signals.
        """
        if self._fixed:
            raise RuntimeError(
                f"actuator {self.label!r}: signals belong to the wrapper that steps it: must be written by whoever "
                "hosts the robot."
            )
        if not self.num_actuators:
            return {}
        return {name: array.flatten() for name, array in self.compiled().signals.items()}

    @property
    def faults(self) -> list[Fault]:
        """The first fault of each joint since the last `clear_faults`, by joint and robot; reads the device.

        A joint with an input or effort that is not finite gets effort 0 for that step and keeps its state; a delayed
        command that is not finite is replaced by the previous one. Joints without names are robots of one joint each.
        """
        if self._compiled.step is None:
            return []
        rows = self._compiled.step.faults() if self._effort_mode is None else self._effort_mode.faults()
        names = self.dof_names if self.dof_names and self.num_actuators % len(self.dof_names) == 0 else ("",)
        found = [(n % len(names), n // len(names), code, step) for n, _, code, step in rows]
        return [fault_of(self.label, names[dof], robot, step, code) for dof, robot, code, step in sorted(found)]

    def clear_faults(self) -> None:
        """Clear all faults, and count steps of faults from 0 again; states do not change."""
        if self._effort_mode is not None:
            self._effort_mode.clear_faults()
        elif self._compiled.step is not None:
            self._compiled.step.clear_faults()

    def is_stateful(self) -> bool:
        """Return True if `step` needs states."""
        return any(stage is self.delay or stage.is_stateful() for stage in self.stages)

    def is_graphable(self) -> bool:
        """Return True if `step` can be captured in a CUDA graph."""
        return self.controller is None or self.controller.is_graphable()

    def state(self) -> State | None:
        """Return a fresh state, or None if no stage has one."""
        if not self.is_stateful():
            return None
        states = self._states_by_kind()
        delay, controller = (states.pop(kind, (None,))[0] for kind in ("delay", "controller"))
        state = self.State(delay, controller, states.pop("clamping", ()), states)
        if self.requires_grad:
            from .gradients.actuator_gradients import with_gradients

            with_gradients(state)
        return state

    def _states_by_kind(self) -> dict[str, tuple[Any, ...]]:
        """Return fresh states of all stages, by kind, of kinds with a stateful stage."""
        made: dict[str, list[Any]] = {}
        for kind, stage in self.by_kind:
            stateful = kind == "delay" or stage.is_stateful() or KINDS[kind].many
            made.setdefault(kind, []).append(stage.state(self.num_actuators, self.device) if stateful else None)
        return {kind: tuple(some) for kind, some in made.items() if any(one is not None for one in some)}

    def sim_state(self) -> Any:
        """Return an object with the state attributes that `step` reads, each None, to be set to arrays."""
        return _container("sim_state", (self.state_pos_attr, self.state_vel_attr))

    def sim_control(self) -> Any:
        """Return an object with the control attributes that `step` uses, each None, to be set to arrays."""
        from .calls import custom_of

        inputs = self.control_target_pos_attr, self.control_target_vel_attr, self.control_feedforward_attr
        names = [*inputs, self.control_output_attr, self.control_computed_output_attr, *custom_of(self)]
        return _container("sim_control", [name for name in names if name is not None])

    def register_custom_attributes(self, builder: object) -> None:
        """Register the custom inputs of the controller with a newton `ModelBuilder`, for controls of its model.

        newton's builder calls this method from 1.7 on. The arrays are zero until the program writes into them.
        """
        from .calls import custom_of

        newton_classes.register_inputs(builder, custom_of(self))

    @untraced
    def step(
        self,
        sim_state: object,
        sim_control: object,
        current_act_state: State | None = None,
        next_act_state: State | None = None,
        dt: float | None = None,
        *,
        bias_force: Array | None = None,
    ) -> None:
        """Add the efforts of this step to the output array.

        The current state is read, and the next state is written; they may be the same object.

        Args:
            sim_state: Object or mapping with positions and velocities.
            sim_control: Object or mapping with targets, feedforward, outputs and custom inputs of the controller.
            current_act_state: State before this step.
            next_act_state: State after this step, which is written.
            dt: Physics step [s]; explicit laws without an integral do not need it.
            bias_force: What balances gravity and Coriolis forces at each degree of freedom [N·m or N], float32, as
                `newton.eval_inverse_dynamics_passive` gives it; for a response of `from_matrices` at each row. Only the
                implicit effort mode reads it; without it the efforts lag behind gravity.

        Raises:
            ValueError: A stateful actuator gets fewer than two states, an array is missing or does not fit, or `dt` is
                no number of seconds >= 0, in the implicit effort mode > 0. Nothing is written then.
        """
        compiled = self._compiled
        if self.requires_grad and (tape := _tape_now()) is not None and self.num_actuators:
            return self._step_on_tape(tape, sim_state, sim_control, current_act_state, next_act_state, dt)
        # none in the implicit mode
        if compiled.calls is not None and compiled.calls.again(
            sim_state, sim_control, current_act_state, next_act_state, dt
        ):
            return
        self.require_states(current_act_state, next_act_state)
        if not self.num_actuators:
            return
        if self._effort_mode is not None:
            return self._step_implicit(
                (sim_state, sim_control, current_act_state, next_act_state, dt), bias_force, self._effort_mode
            )
        while compiled.calls is None or not compiled.calls.step(
            sim_state, sim_control, current_act_state, next_act_state, dt
        ):
            compiled.calls = self._new_calls()

    def _step_implicit(
        self,
        given: tuple[object, object, State | None, State | None, float | None],
        bias_force: Array | None,
        mode: GroupEffort,
    ) -> None:
        sim_state, _, now, after, dt = given
        calls = self._compiled.beside
        if calls is None or not calls.is_current():
            calls = self._compiled.beside = self._new_calls()
        mode.step(calls, lambda control: calls.step(sim_state, control, now, after, dt), given, bias_force)

    def _step_on_tape(
        self,
        tape: wp.Tape,
        sim_state: object,
        sim_control: object,
        now: State | None,
        after: State | None,
        dt: float | None,
    ) -> None:
        """Step, and record the step on the tape."""
        from .gradients.actuator_gradients import off_tape

        if self._effort_mode is not None:
            raise NotImplementedError(
                f"{self.label or 'actuator'} has requires_grad = True: must be False in the implicit effort mode, "
                "which has no gradients. Call set_effort_mode_explicit() first."
            )

        self.require_states(now, after)
        compiled = self._compiled
        if compiled.calls is None or not compiled.calls.is_current():
            compiled.calls = self._new_calls()
        on_tape = compiled.on_tape
        assert on_tape is not None
        binding, before, following, seconds = compiled.calls.bound(sim_state, sim_control, now, after, dt)
        with off_tape():
            noted = on_tape.note(binding, before, seconds)
            compiled.calls.step(sim_state, sim_control, now, after, dt)
        on_tape.record(tape, noted, binding, before, following)

    def _new_calls(self) -> Calls:
        from .calls import Calls

        return Calls([self])

    def compiled(self) -> Step:
        """Return the step of this actuator, compiled again if its parts have changed."""
        from .calls import contents_of, step_of, unchanged
        from .gradients.actuator_gradients import OnTape

        compiled = self._compiled
        if compiled.step is None or not unchanged(compiled.parts):
            smooth, label = self.smooth_stick, self.label or "actuator"
            step = step_of(self, compiled.computed_of(self), compiled.step, may_be_native=not smooth)
            compiled.on_tape = OnTape(label, step, smooth_stick=smooth) if self.requires_grad else None
            compiled.step = step
            compiled.parts = contents_of(self)
        return compiled.step

    def require_states(self, current_act_state: State | None, next_act_state: State | None) -> None:
        """Refuse to step a stateful actuator without both states."""
        if (current_act_state is None or next_act_state is None) and self.is_stateful():
            raise ValueError(
                "Stateful actuator requires both current_act_state and next_act_state. Make two by state()."
            )


class PlannedActuator(Actuator):
    """An actuator that a plan of several steps: it compiles no step of its own when it is made."""

    _is_planned = True


def _only_law(controller: Controller | None, drive: Controller | None, others: Sequence[Component]) -> AnyStage:
    """Return the control law under either name; None beside other stages that can do without."""
    laws = [law for law in (controller, drive) if law is not None]
    if len(laws) > 1 or not (laws or others):
        raise TypeError(
            f"controller = {controller!r}, drive = {drive!r}: must be one control law under either name. Give one."
        )
    return laws[0] if laws else None


def _require_same_shape(name: str, array: wp.array, indices: wp.array) -> None:
    require_type(name, array, wp.array, "a Warp array of integers")
    if array.shape != indices.shape:
        raise ValueError(f"{name} shape {array.shape} must match indices shape {indices.shape}.")


def _adopt_components(single: Sequence[object], clamping: Sequence[object], others: Sequence[object]) -> None:
    """Convert components of newton to ours in place; reject objects that are no components."""
    require_type("clamping", clamping, Sequence, "a list of limits")
    require_type("others", others, Sequence, "a list of stages")
    for component in (*(one for one in single if one is not None), *clamping, *others):
        if not callable(getattr(newton_classes.adopt(component), "finalize", None)):
            raise TypeError(f"{shown(component)}: must be a component, a controller, delay or clamp. Make one.")
    for component in clamping:
        if kind_of(component) not in (None, "clamping"):
            raise TypeError(
                f"clamping has {type(component).__name__}, of kind {kind_of(component)}: must be an effort limit. "
                "Pass it in others."
            )


def _tape_now() -> wp.Tape | None:
    from .gradients.actuator_gradients import tape_now

    return tape_now()


def _container(name: str, fields: Sequence[str]) -> Any:
    return make_dataclass(name, [(one, Any, None) for one in dict.fromkeys(fields)], slots=True)()


def as_ours(actuator: object) -> Actuator:
    """Return an `Actuator` of this package; one of newton is converted, with components, indices and array names."""
    if isinstance(actuator, Actuator):
        return actuator
    parts = newton_classes.parts_of(actuator)
    if parts is None:
        raise TypeError(f"actuator = {actuator!r}: must be an Actuator, ours or newton's. Make one.")
    law, clamping, delay = parts
    held = vars(actuator)
    names = [name for name in held if name.endswith(("_attr", "indices")) and not name.startswith("_")]
    names += [name for name in ("requires_grad",) if name in held]
    return Actuator(controller=law, clamping=clamping, delay=delay, **{name: held[name] for name in names})
