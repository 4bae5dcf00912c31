"""`Actuator`: the public engine, one object with its own arrays of any simulator, as in newton.actuators 1.2.

`ArticulationActuators` compiles all its actuators into one plan and does not step these objects; they are for code that
brings its own state, control and loop. Built-in laws run natively on the CPU; on CUDA, and with a component of the
user's own, each component computes in turn.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import warp as wp

from ..components.base import Clamping, Controller
from ..components.delay import Delay
from .component_engine import ComponentEngine
from .fault import Fault
from .flat import FlatEngine, runs_natively
from .record import Record


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
        control_target_pos_attr: Name of the position targets on the control object.
        control_target_vel_attr: Name of the velocity targets on the control object.
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
        """State of delay and controller; a part is None when there is nothing to remember."""

        delay_state: Any = None
        controller_state: Any = None

        def reset(self, mask: wp.array | None = None) -> None:
            """Start over where `mask`, bool `(N,)`, is true; everywhere by default."""
            for part in (self.delay_state, self.controller_state):
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
        control_target_pos_attr: str = "joint_target_pos",
        control_target_vel_attr: str = "joint_target_vel",
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
        self.indices, self.controller, self.delay, self.clamping = indices, controller, delay, list(clamping or ())
        self.pos_indices = indices if pos_indices is None else pos_indices
        self.target_pos_indices = target_pos_indices
        self.effort_indices = indices if effort_indices is None else effort_indices
        self.state_pos_attr, self.state_vel_attr = state_pos_attr, state_vel_attr
        self.control_target_pos_attr, self.control_target_vel_attr = control_target_pos_attr, control_target_vel_attr
        self.control_feedforward_attr, self.control_output_attr = control_feedforward_attr, control_output_attr
        self.control_computed_output_attr, self.requires_grad = control_computed_output_attr, requires_grad
        self.label, self.dof_names = label, tuple(dof_names)
        for component in (controller, delay, *self.clamping):
            if component is not None:
                component.finalize(self.device, self.num_actuators)
        # on CUDA now, as the first step may be one that a graph captures
        self._engine: FlatEngine | ComponentEngine | None = ComponentEngine(self) if self.device.is_cuda else None

    @property
    def num_actuators(self) -> int:
        """Number of actuators, `N`."""
        return len(self.indices)

    @property
    def device(self) -> Any:
        """Warp device of the arrays."""
        return self.indices.device

    @functools.cached_property
    def record(self) -> Record:
        """What steps leave behind besides efforts and states."""
        return Record(self.num_actuators, self.device)

    @property
    def computed_efforts(self) -> wp.array:
        """Efforts of the last `step` before the clamps [N·m or N], shape `(N,)`; 0 where there was a fault."""
        return self.record.computed

    @property
    def faults(self) -> list[Fault]:
        """The first fault of each joint since the last `clear_faults`, by joint and robot; reads the device.

        A joint with an input or effort that is not finite gets effort 0 for that step and keeps its state; of a delayed
        command, what is not finite is held from the one before. The state of a component of the user's own is kept
        where it consists of Warp arrays whose last dimension is `N`.
        """
        return self.record.faults(self.label, self.dof_names)

    def clear_faults(self) -> None:
        """Forget all faults; the steps that faults name are counted from here. States are another matter."""
        self.record.clear()

    def is_stateful(self) -> bool:
        """Whether `step` needs states."""
        return self.delay is not None or self.controller.is_stateful()

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
            ValueError: A stateful actuator without both states, or an array that is not there.
        """
        self.require_states(current_act_state, next_act_state)
        if self._engine is None or not self._engine.is_current():
            self._engine = FlatEngine([self]) if runs_natively(self) else ComponentEngine(self)
        self._engine.step(sim_state, sim_control, (current_act_state,), (next_act_state,), dt)

    def require_states(self, current_act_state: State | None, next_act_state: State | None) -> None:
        """Refuse to step a stateful actuator without both states."""
        if (current_act_state is None or next_act_state is None) and self.is_stateful():
            raise ValueError(
                "Stateful actuator requires both current_act_state and next_act_state. Make two by state()."
            )
