"""Step an `Actuator` component by component: on CUDA, with components of the user's own, or without the native core."""

# kernels read and write arrays as numbers
# pyright: reportArgumentType=false, reportAssignmentType=false, reportGeneralTypeIssues=false, reportIndexIssue=false
# pyright: reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ..components.delay import Delay
from ..components.law import value_or_zero
from .fault import EFFORT_FAULT, fault_bit
from .sim_arrays import find_arrays, missing

if TYPE_CHECKING:
    from .actuator import Actuator

wp.set_module_options({"enable_backward": False})

_EFFORT_FAULT = wp.constant(EFFORT_FAULT)


@wp.func
def _held(command: float, before: float) -> float:
    """Return the command, or the one before where it is not finite."""
    if wp.isfinite(command):
        return command
    return before


@wp.kernel
def _hold_commands_kernel(
    # In:
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    feedforward: wp.array[float],
    position_target_indices: wp.array[wp.uint32],
    velocity_target_indices: wp.array[wp.uint32],
    buffer_pos: wp.array2d[float],
    buffer_vel: wp.array2d[float],
    buffer_act: wp.array2d[float],
    num_pushes: wp.array[int],
    write_idx: wp.array[int],
    # Out:
    held_pos: wp.array[float],
    held_vel: wp.array[float],
    held_act: wp.array[float],
    begun: wp.array[bool],
):
    slot = wp.tid()
    pos = position_targets[position_target_indices[slot]]
    vel = velocity_targets[velocity_target_indices[slot]]
    act = value_or_zero(feedforward, int(velocity_target_indices[slot]))
    before = wp.vec3(0.0, 0.0, 0.0)
    if num_pushes[slot] > 0:
        row = write_idx[0]
        before = wp.vec3(buffer_pos[row, slot], buffer_vel[row, slot], buffer_act[row, slot])
    held_pos[slot] = _held(pos, before[0])
    held_vel[slot] = _held(vel, before[1])
    held_act[slot] = _held(act, before[2])
    # a joint that has seen no good command yet has nothing to delay
    begun[slot] = num_pushes[slot] > 0 or (wp.isfinite(pos) and wp.isfinite(vel) and wp.isfinite(act))


@wp.kernel
def _begin_kernel(begun: wp.array[bool], num_pushes: wp.array[int]):
    slot = wp.tid()
    if not begun[slot]:
        num_pushes[slot] = 0


@wp.kernel
def _give_kernel(
    # In:
    positions: wp.array[float],
    velocities: wp.array[float],
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    feedforward: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    position_target_indices: wp.array[wp.uint32],
    effort_indices: wp.array[wp.uint32],
    efforts: wp.array[float],
    # In/out:
    computed: wp.array[float],
    fault: wp.array[int],
    fault_step: wp.array[wp.int64],
    steps: wp.array[wp.int64],
    # Out:
    bad: wp.array[bool],
    out: wp.array[float],
    computed_out: wp.array[float],
):
    slot = wp.tid()
    at = velocity_indices[slot]
    code = fault_bit(positions[position_indices[slot]], 1) | fault_bit(velocities[at], 2)
    code |= fault_bit(position_targets[position_target_indices[slot]], 4) | fault_bit(velocity_targets[at], 8)
    code |= fault_bit(value_or_zero(feedforward, int(at)), 16)
    # a fault is a fault whatever a clamp made of it
    if code == 0 and not wp.isfinite(computed[slot]):
        code = _EFFORT_FAULT
    # what a clamp makes of a good effort is no reason to hold the state of the law
    bad[slot] = code != 0
    if code == 0 and not wp.isfinite(efforts[slot]):
        code = _EFFORT_FAULT
    if code == 0:
        place = effort_indices[slot]
        out[place] = out[place] + efforts[slot]
        if computed_out:
            computed_out[place] = computed_out[place] + computed[slot]
    else:
        computed[slot] = 0.0
        if fault[slot] == 0:
            fault[slot] = code
            fault_step[slot] = steps[slot]
    steps[slot] = steps[slot] + wp.int64(1)


@wp.kernel
def _hold_state_kernel(bad: wp.array[bool], before: wp.array2d[Any], after: wp.array2d[Any]):
    row, slot = wp.tid()
    if bad[slot]:
        after[row, slot] = before[row, slot]


# what most states consist of is compiled with the rest
wp.overload(_hold_state_kernel, [wp.array[bool], wp.array2d[float], wp.array2d[float]])


class ComponentEngine:
    """An actuator whose components compute in turn.

    Args:
        actuator: The actuator; what it consists of may change from step to step.
    """

    def __init__(self, actuator: Actuator) -> None:
        self._actuator, self._record = actuator, actuator.record
        count, device = actuator.num_actuators, actuator.device
        self._one_by_one = wp.array(np.arange(count, dtype=np.uint32), dtype=wp.uint32, device=device)
        self._applied, *self._commands = (wp.zeros(count, dtype=wp.float32, device=device) for _ in range(4))
        # which joints have seen a good command, and which had a fault before the clamps
        self._begun, self._bad = (wp.zeros(count, dtype=wp.bool, device=device) for _ in range(2))

    def is_current(self) -> bool:
        """Whether this can go on to run the actuator."""
        return True

    def step(
        self, sim_state: Any, sim_control: Any, now: Sequence[Any], after: Sequence[Any], dt: float | None
    ) -> None:
        """Step the actuator; see `Actuator.step`. There is one state to read and one to write."""
        (current,), (following,) = now, after
        actuator, record = self._actuator, self._record
        positions, velocities = _read(sim_state, actuator.state_pos_attr, actuator.state_vel_attr)
        names = actuator.control_target_pos_attr, actuator.control_target_vel_attr, actuator.control_output_attr
        target_pos, target_vel, out = _read(sim_control, *names)
        feedforward = computed_out = None
        if actuator.control_feedforward_attr is not None:
            (feedforward,) = find_arrays(sim_control, [actuator.control_feedforward_attr])
        computed = actuator.control_computed_output_attr
        if computed is not None and computed != actuator.control_output_attr:
            (computed_out,) = _read(sim_control, computed)
        target_pos_indices = actuator.target_pos_indices
        if target_pos_indices is None:
            alike = len(target_pos) == len(positions)
            target_pos_indices = actuator.pos_indices if alike else actuator.indices
        commands: list[Any] = [target_pos, target_vel, feedforward, target_pos_indices, actuator.indices]

        acting = entering = commands
        if actuator.delay is not None:
            entering = self._held(commands, current.delay_state)
            delayed = actuator.delay.get_delayed_targets(*[*entering, current.delay_state])
            acting = [*delayed, self._one_by_one, self._one_by_one]
        indices, efforts = [actuator.pos_indices, actuator.indices], record.computed
        law = getattr(current, "controller_state", None)
        arguments = [positions, velocities, *acting[:3], *indices, *acting[3:], efforts, law, dt]
        actuator.controller.compute(*arguments, device=actuator.device)
        for clamp in actuator.clamping:
            clamp.modify_forces(efforts, self._applied, positions, velocities, *indices, device=actuator.device)
            efforts = self._applied
        wp.launch(
            _give_kernel,
            actuator.num_actuators,
            [positions, velocities, *commands[:3], *indices, target_pos_indices, actuator.effort_indices, efforts],
            [record.computed, record.fault, record.fault_step, record.steps, self._bad, out, computed_out],
            device=actuator.device,
        )

        if actuator.controller.is_stateful():
            self._update_controller(current.controller_state, following.controller_state)
        if actuator.delay is not None:
            actuator.delay.update_state(*[*entering, current.delay_state, following.delay_state])
            if isinstance(following.delay_state, Delay.State):
                pushes = [self._begun], [following.delay_state.num_pushes]
                wp.launch(_begin_kernel, actuator.num_actuators, *pushes, device=actuator.device)

    def _held(self, commands: list[Any], ring: Any) -> list[Any]:
        """The commands that enter the delay and where they stand: what is not finite is as it was before."""
        if not isinstance(ring, Delay.State):
            return commands
        inputs = [*commands, ring.buffer_pos, ring.buffer_vel, ring.buffer_act, ring.num_pushes, ring.write_idx]
        outputs = [*self._commands, self._begun]
        wp.launch(_hold_commands_kernel, len(self._begun), inputs, outputs, device=self._actuator.device)
        return [*self._commands, self._one_by_one, self._one_by_one]

    def _update_controller(self, current: Any, following: Any) -> None:
        """Let the law write its next state, then put back that of joints with a fault."""
        count = len(self._bad)
        held = {
            name: wp.clone(array) if current is following else array
            for name, array in getattr(current, "__dict__", {}).items()
            if isinstance(array, wp.array) and array.shape[-1] == count
        }
        self._actuator.controller.update_state(current, following)
        for name, before in held.items():
            rows = [array.reshape((-1, count)) for array in (before, getattr(following, name))]
            wp.launch(_hold_state_kernel, rows[0].shape, [self._bad, *rows], device=self._actuator.device)


def _read(source: Any, *names: str) -> list[Any]:
    """The arrays of those names, which have to be there."""
    arrays = find_arrays(source, names)
    for name, array in zip(names, arrays, strict=True):
        if array is None:
            raise missing(source, name)
    return arrays
