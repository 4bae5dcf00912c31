"""`Actuator`: the public engine, one object with its own arrays of any simulator, as in newton.actuators 1.2.

`ArticulationActuators` compiles its actuators into few plans and does not step these objects; they are for code that
brings its own state, control and loop. The step is the same: a plan of its own, bound by index arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import warp as wp

from ..compat import newton
from ..components.base import Clamping, Controller
from ..components.delay import Delay
from .calls import Calls, Contents, contents_of, step_of, unchanged
from .step.binding import as_warp
from .step.fault import Fault, fault_of


class _Compiled:
    """What an actuator has compiled of its parts: its step, how it is called, and what the parts were."""

    __slots__ = ("calls", "computed", "step", "told")

    def __init__(self) -> None:
        self.step: Any = None
        self.calls: Calls | None = None
        self.told: list[Contents] = []
        self.computed: Any = None

    def computed_of(self, actuator: Actuator) -> wp.array:
        """Efforts before the limits, zero at first."""
        if self.computed is None:
            self.computed = wp.zeros(actuator.num_actuators, dtype=wp.float32, device=actuator.device)
        return self.computed


class Actuator:
    """`N` actuators with the same components, reading and writing flat arrays of a simulator.

    Args:
        indices: Where velocities, velocity targets and feedforward stand, uint32, shape `(N,)`.
        controller: The control law; its arrays have shape `(N,)`.
        delay: Command delay, or None.
        clamping: Effort limits in the order they are applied.
        pos_indices: Where positions stand; None means `indices`.
        target_pos_indices: Where position targets stand; None means `pos_indices` when the target array is as long as
            the array of positions, else `indices`.
        effort_indices: Where efforts go; None means `indices`.
        state_pos_attr: Name of the positions [rad or m] on the state object.
        state_vel_attr: Name of the velocities [rad/s or m/s] on the state object.
        control_target_pos_attr: Name of the position targets on the control object; None means the usual one.
        control_target_vel_attr: Name of the velocity targets on the control object; None means the usual one.
        control_feedforward_attr: Name of the feedforward efforts [N·m or N]; None, or an absent array, means none.
        control_output_attr: Name of the efforts [N·m or N], which are added to.
        control_computed_output_attr: Name of an array that gets the efforts before the clamps, added to, or None.
        requires_grad: Kept for compatibility; gradients come later, True is refused.
        label: What to call the actuator in messages; the prim path where there is one.
        dof_names: Names of the driven joints, for information.

    Raises:
        ValueError: Index arrays differ in shape.
        NotImplementedError: `requires_grad` is True.
    """

    @dataclass
    class State:
        """State of delay, controller and limits; a part is None when there is nothing to remember."""

        delay_state: Any = None
        controller_state: Any = None
        clamping_states: tuple[Any, ...] = ()

        def reset(self, mask: wp.array | None = None) -> None:
            """Start over where `mask`, bool `(N,)`, is true; everywhere by default."""
            for part in (self.delay_state, self.controller_state, *self.clamping_states):
                if part is not None:
                    part.reset(mask)

    def __init__(
        self,
        indices: wp.array,
        controller: Controller,
        delay: Delay | None = None,
        clamping: Sequence[Clamping] | None = None,
        pos_indices: wp.array | None = None,
        target_pos_indices: wp.array | None = None,
        effort_indices: wp.array | None = None,
        state_pos_attr: str = "joint_q",
        state_vel_attr: str = "joint_qd",
        control_target_pos_attr: str | None = "joint_target_pos",
        control_target_vel_attr: str | None = "joint_target_vel",
        control_feedforward_attr: str | None = "joint_act",
        control_output_attr: str = "joint_f",
        control_computed_output_attr: str | None = None,
        requires_grad: bool = False,
        *,
        label: str = "",
        dof_names: Sequence[str] = (),
    ) -> None:
        if requires_grad:
            raise NotImplementedError("requires_grad = True: gradients come later. Leave it out.")
        given = {"pos_indices": pos_indices, "target_pos_indices": target_pos_indices, "effort_indices": effort_indices}
        for name, array in given.items():
            if array is not None and array.shape != indices.shape:
                raise ValueError(f"{name} shape {array.shape} must match indices shape {indices.shape}.")
        for component in (controller, delay, *(clamping or ())):
            if component is not None:
                newton.adopt(component)
        self.indices, self.controller, self.delay, self.clamping = indices, controller, delay, list(clamping or ())
        self.pos_indices = indices if pos_indices is None else pos_indices
        self.target_pos_indices = target_pos_indices
        self.effort_indices = indices if effort_indices is None else effort_indices
        self.state_pos_attr, self.state_vel_attr = state_pos_attr, state_vel_attr
        self.control_target_pos_attr = control_target_pos_attr or "joint_target_pos"
        self.control_target_vel_attr = control_target_vel_attr or "joint_target_vel"
        self.control_feedforward_attr, self.control_output_attr = control_feedforward_attr, control_output_attr
        self.control_computed_output_attr, self.requires_grad = control_computed_output_attr, requires_grad
        self.label, self.dof_names = label, tuple(dof_names)
        for component in (controller, delay, *self.clamping):
            if component is not None:
                component.finalize(self.device, self.num_actuators)
        self._compiled = _Compiled()
        if self.device.is_cuda and self.num_actuators:
            # now, as the first step may be one that a graph captures
            self.compiled()

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
        """Efforts of the last `step` before the clamps [N·m or N], shape `(N,)`; 0 where there was a fault."""
        compiled = self._compiled
        if compiled.step is None:
            return compiled.computed_of(self)
        return as_warp(compiled.step.computed).flatten()

    @property
    def faults(self) -> list[Fault]:
        """The first fault of each joint since the last `clear_faults`, by joint and robot; reads the device.

        A joint with an input or effort that is not finite gets effort 0 for that step and keeps its state; of a delayed
        command, what is not finite is held from the one before. Joints without names are robots of one joint each.
        """
        if self._compiled.step is None:
            return []
        names = self.dof_names if self.dof_names and self.num_actuators % len(self.dof_names) == 0 else ("",)
        found = [(n % len(names), n // len(names), code, step) for n, _, code, step in self._compiled.step.faults()]
        return [fault_of(self.label, names[dof], robot, step, code) for dof, robot, code, step in sorted(found)]

    def clear_faults(self) -> None:
        """Forget all faults; the steps that faults name are counted from here. States are another matter."""
        if self._compiled.step is not None:
            self._compiled.step.clear_faults()

    def is_stateful(self) -> bool:
        """Whether `step` needs states."""
        components = self.controller, *self.clamping
        return self.delay is not None or any(component.is_stateful() for component in components)

    def is_graphable(self) -> bool:
        """Whether `step` can be captured in a CUDA graph."""
        return self.controller.is_graphable()

    def state(self) -> State | None:
        """Return a fresh state, or None when there is nothing to remember."""
        if not self.is_stateful():
            return None
        stateful = self.controller.is_stateful()
        return self.State(
            delay_state=self.delay.state(self.num_actuators, self.device) if self.delay else None,
            controller_state=self.controller.state(self.num_actuators, self.device) if stateful else None,
            clamping_states=tuple(clamp.state(self.num_actuators, self.device) for clamp in self.clamping)
            if any(clamp.is_stateful() for clamp in self.clamping)
            else (),
        )

    def step(
        self,
        sim_state: Any,
        sim_control: Any,
        current_act_state: State | None = None,
        next_act_state: State | None = None,
        dt: float | None = None,
    ) -> None:
        """Add the efforts of this step to the output array.

        The current state is read, the next one written; they may be the same object.

        Args:
            sim_state: Object or mapping with positions and velocities.
            sim_control: Object or mapping with targets, feedforward and outputs.
            current_act_state: State before this step.
            next_act_state: Where the state after this step goes.
            dt: Physics step [s]; laws without an integral do not need it.

        Raises:
            ValueError: A stateful actuator without both states, an array that is not there or does not fit, or a time
                step that is no number of seconds >= 0. Nothing has been written then.
        """
        compiled = self._compiled
        if compiled.calls is not None and compiled.calls.again(
            sim_state, sim_control, current_act_state, next_act_state, dt
        ):
            return
        self.require_states(current_act_state, next_act_state)
        if not self.num_actuators:
            return
        while compiled.calls is None or not compiled.calls.step(
            sim_state, sim_control, current_act_state, next_act_state, dt
        ):
            compiled.calls = Calls([self])

    def compiled(self) -> Any:
        """What steps this actuator, made anew when its parts have changed."""
        compiled = self._compiled
        if compiled.step is None or not unchanged(compiled.told):
            compiled.step = step_of(self, compiled.computed_of(self), compiled.step)
            compiled.told = contents_of(self)
        return compiled.step

    def require_states(self, current_act_state: State | None, next_act_state: State | None) -> None:
        """Refuse to step a stateful actuator without both states."""
        if (current_act_state is None or next_act_state is None) and self.is_stateful():
            raise ValueError(
                "Stateful actuator requires both current_act_state and next_act_state. Make two by state()."
            )
