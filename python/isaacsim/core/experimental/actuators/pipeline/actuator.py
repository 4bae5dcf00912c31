"""`Actuator`: the public engine, one object with its own arrays of any simulator, as in newton.actuators 1.2.

`ArticulationActuators` compiles all its actuators into one plan and does not step these objects; they are for code that
brings its own state, control and loop.
"""

# kernels read arrays as numbers
# pyright: reportIndexIssue=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import warp as wp

from ..components.base import Clamping, Controller
from ..components.delay import Delay

# newton renamed the targets in 1.3; either pair is found whichever name is asked for
_OTHER_NAME = {
    "joint_target_pos": "joint_target_q",
    "joint_target_vel": "joint_target_qd",
    "joint_target_q": "joint_target_pos",
    "joint_target_qd": "joint_target_vel",
}


@wp.kernel
def _add_kernel(indices: wp.array[wp.uint32], values: wp.array[float], out: wp.array[float]):
    slot = wp.tid()
    out[indices[slot]] = out[indices[slot]] + values[slot]


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
        self._one_by_one = wp.array(list(range(self.num_actuators)), dtype=wp.uint32, device=self.device)
        self._computed = wp.zeros(self.num_actuators, dtype=wp.float32, device=self.device)
        self._applied = wp.zeros(self.num_actuators, dtype=wp.float32, device=self.device)

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
        """Efforts of the last `step` before the clamps [N·m or N], shape `(N,)`."""
        return self._computed

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
        if self.is_stateful() and (current_act_state is None or next_act_state is None):
            raise ValueError(
                "Stateful actuator requires both current_act_state and next_act_state. Make two by state()."
            )
        positions, velocities = (_read(sim_state, name) for name in (self.state_pos_attr, self.state_vel_attr))
        target_pos = _read(sim_control, self.control_target_pos_attr)
        target_vel = _read(sim_control, self.control_target_vel_attr)
        feedforward = _find(sim_control, self.control_feedforward_attr)
        target_pos_indices = self.target_pos_indices
        if target_pos_indices is None:
            target_pos_indices = self.pos_indices if len(target_pos) == len(positions) else self.indices

        commands = (target_pos, target_vel, feedforward, target_pos_indices, self.indices)
        acting = commands
        if self.delay is not None:
            assert current_act_state is not None
            delayed = self.delay.get_delayed_targets(*commands, current_act_state.delay_state)
            acting = (*delayed, self._one_by_one, self._one_by_one)
        self.controller.compute(
            positions,
            velocities,
            acting[0],
            acting[1],
            acting[2],
            self.pos_indices,
            self.indices,
            acting[3],
            acting[4],
            self._computed,
            current_act_state.controller_state if current_act_state else None,
            dt,
            device=self.device,
        )
        efforts = self._computed
        for clamp in self.clamping:
            clamp.modify_forces(
                efforts, self._applied, positions, velocities, self.pos_indices, self.indices, device=self.device
            )
            efforts = self._applied

        self._add(efforts, _read(sim_control, self.control_output_attr))
        computed = self.control_computed_output_attr
        if computed is not None and computed != self.control_output_attr:
            self._add(self._computed, _read(sim_control, computed))
        if current_act_state is not None and next_act_state is not None:
            if self.controller.is_stateful():
                self.controller.update_state(current_act_state.controller_state, next_act_state.controller_state)
            if self.delay is not None:
                self.delay.update_state(*commands, current_act_state.delay_state, next_act_state.delay_state)

    def _add(self, efforts: wp.array, out: wp.array) -> None:
        wp.launch(_add_kernel, self.num_actuators, [self.effort_indices, efforts], [out], device=self.device)


def _find(source: Any, name: str | None) -> Any:
    """The array of that name, by its other name where it has one, or None."""
    for candidate in (name, _OTHER_NAME.get(name or "")):
        if candidate is not None:
            found = source.get(candidate) if isinstance(source, Mapping) else getattr(source, candidate, None)
            if found is not None:
                return found
    return None


def _read(source: Any, name: str) -> Any:
    """The array of that name, which has to be there."""
    found = _find(source, name)
    if found is None:
        raise ValueError(f"{type(source).__name__} has no array {name!r}. Give it one, or name another attribute.")
    return found
