"""The implicit effort mode of an `Actuator`: all its joints in an articulation are solved together.

    p = h·F(q + h·v⁺, v⁺),   v⁺ = v + A·(p − h·b)       τ = limits(p/h, q⁺, v⁺)

F are controller and limits, A the inverse mass matrix with the armature, b what balances gravity and Coriolis forces:
see `group_solver.py`. The explicit step advances what an actuator remembers, once per step and of the state at its
start: the integral, and the commands of a delay. Without b, the laws do not see that gravity moves the joints.
Source: newton.actuators 1.8, implicit effort mode.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import warp as wp

from ...base.memory import Array
from ...laws.contract.law import value_or_zero
from ...specs.arguments import number_of
from ...specs.implicit_options import ImplicitOptions
from ..calls import ActuatorLike, Calls, Contents, contents_of, custom_of, unchanged
from ..launches import Launches
from ..sim_arrays import find_arrays
from ..step.binding import Indices
from ..step.fault import EFFORT_FAULT, SIGNAL_FAULT
from .group_solver import GroupSolver, Rows
from .joint_space_response import BiasForce, Blocks, Response, blocks_of
from .trial_laws import TrialArrays, TrialLaws, overrides_preparation, require_solvable

wp.set_module_options({"enable_backward": False})

Given = tuple[object, object, object, object, float | None]
"""State and control of the simulation, both states of the actuator, and the physics step."""

FaultRow = tuple[int, int, int, int]


class Stepped(ActuatorLike, Protocol):
    """Attributes of an `Actuator` that its implicit mode uses."""

    requires_grad: bool


class GroupEffort:
    """Steps an actuator with efforts of the end of the step, by inverse mass matrices of this package or of newton."""

    def __init__(self, actuator: Stepped, response: Response, options: ImplicitOptions | None) -> None:
        if actuator.requires_grad:
            raise NotImplementedError(
                f"{actuator.label or 'actuator'} has requires_grad = True: must be False in the implicit effort mode, "
                "which has no gradients. Make one without."
            )
        require_solvable(actuator)
        names = custom_of(actuator)
        if names and not overrides_preparation(actuator.controller):
            raise NotImplementedError(
                f"{type(actuator.controller).__name__} has custom_inputs = {names}: must override prepare_implicit, "
                "which gets them in the implicit effort mode. Do so, or leave the actuator explicit."
            )
        self._options = ImplicitOptions() if options is None else options
        self._options.require_valid()
        blocks = blocks_of(response)
        device = response.inverse_blocks.device
        if device != actuator.device:
            raise ValueError(
                f"response is on {device}: must be on {actuator.device}, as the actuator is. Make it there."
            )
        self._actuator, self._response = actuator, response
        self._rows = _rows_of(actuator, blocks)
        self._bias = BiasForce(response)
        self._solver = GroupSolver(self._rows, self._options)
        self._laws: TrialLaws | None = None
        self._parts: list[Contents] = []
        # arrays that the explicit step adds to, by length
        self._spare: dict[int, wp.array] = {}
        self._found: dict[int, tuple[int, int]] = {}
        self._own_inverse: wp.array | None = None
        self._launches = Launches(device)

    def laws(self) -> TrialLaws:
        """Return the laws, compiled again if the parts of the actuator have changed."""
        laws, actuator = self._laws, self._actuator
        if laws is not None and unchanged(self._parts):
            return laws
        require_solvable(actuator)
        solver = self._solver
        start, end = (solver.position, solver.velocity), (solver.end_position, solver.end_velocity)
        arrays = TrialArrays(start, end, solver.commands, solver.effort)
        made = TrialLaws(actuator, arrays)
        before = actuator.compiled() if laws is None else laws.limits
        made.limits.set_faults([] if laws is None else before.faults(), before.steps)
        self._laws, self._parts = made, contents_of(actuator)
        return made

    @property
    def computed(self) -> wp.array:
        """Efforts of the controller at the end of the last step, before the limits [N·m or N], float32 `(N,)`."""
        return self.laws().computed

    @property
    def steps(self) -> int:
        """Number of steps since faults were cleared."""
        return self.laws().limits.steps

    def faults(self) -> list[FaultRow]:
        """Robot, slot, code and step of the first fault of each joint; reads the device."""
        laws = self.laws()
        self._note(laws, laws.limits.steps)
        rows = [*laws.limits.faults(), *self._actuator.compiled().faults()]
        rows += [(robot, 0, code, step) for robot, (code, step) in self._found.items()]
        first: dict[int, FaultRow] = {}
        for row in sorted(rows, key=lambda one: one[3]):
            known = first.setdefault(row[0], row)
            if known[3] == row[3]:
                first[row[0]] = (*row[:2], known[2] | row[2], row[3])
        return list(first.values())

    def clear_faults(self) -> None:
        """Clear all faults, and count steps from 0 again."""
        laws = self.laws()
        self._found.clear()
        for step in (*laws.inner, laws.limits, self._actuator.compiled()):
            step.clear_faults()

    def _note(self, laws: TrialLaws, step: int) -> None:
        """Take over faults of laws at tried states, which are those of a parameter."""
        for one in laws.inner:
            for robot, _, code, _ in (found := one.faults()):
                # those of inputs are known from the step of the limits
                if own := code & (EFFORT_FAULT | SIGNAL_FAULT):
                    self._found.setdefault(robot, (own, step))
            if found:
                one.clear_faults()

    def step(
        self, calls: Calls, explicit: Callable[[Mapping[str, object]], object], given: Given, bias_force: Array | None
    ) -> None:
        """Add the efforts of a step to the output array, see `Actuator.step`.

        `explicit` steps the actuator explicitly on other arrays of control.
        """
        sim_state, sim_control, now, after, dt = given
        if dt is None or not 0.0 < number_of("dt", dt) <= sys.float_info.max:
            raise ValueError(
                f"dt = {dt}: must be the physics step, as the implicit effort mode requires dt > 0. Give it in seconds."
            )
        seconds = float(dt)
        binding = calls.bound(sim_state, sim_control, now, after, dt)[0]
        bias = None if bias_force is None else self._bias.at_rows(bias_force, sim_state)
        laws, solver, actuator = self.laws(), self._solver, self._actuator
        inverse = self._response.inverse_blocks
        self._gather(binding, now)
        self._prepare(binding, sim_control, now, seconds)
        if laws.network is not None:
            laws.network.refresh(now, self._diagonal(), seconds)
        if actuator.is_stateful():
            explicit(self._beside(binding))
        laws.hold(after)
        solver.solve(inverse, seconds, bias, lambda: laws.compute(seconds))
        laws.apply(solver.impulse, seconds, binding.efforts, actuator.effort_indices)
        if binding.computed is not None:
            laws.add_computed(binding.computed, actuator.effort_indices)
        if actuator.device.is_cpu:
            self._note(laws, laws.limits.steps - 1)

    def _gather(self, binding: Indices, now: Any) -> None:
        """Copy measurements, and commands as they act in this step, into the arrays of the solver."""
        solver, actuator = self._solver, self._actuator
        inputs, _ = binding.warp_views()
        count, launches = actuator.num_actuators, self._launches
        measured, commands = [*inputs[:2], *inputs[5:7]], [*inputs[2:5], *inputs[7:9]]
        launches.for_arguments(*inputs)
        launches.run("measure", _measure_kernel, count, measured, [solver.position, solver.velocity])
        if actuator.delay is None:
            launches.run("command", _command_kernel, count, commands, solver.commands)
            return
        delayed = actuator.delay.get_delayed_targets(*commands, now.delay_state)
        for array, values in zip(solver.commands, delayed, strict=True):
            wp.copy(array, values)

    def _prepare(self, binding: Indices, sim_control: object, now: object, seconds: float) -> None:
        """Call the hook of a controller that overrides it, with the arguments that newton gives it."""
        actuator, solver, law = self._actuator, self._solver, self._actuator.controller
        if not overrides_preparation(law):
            return
        count, device = actuator.num_actuators, actuator.device
        inputs, _ = binding.warp_views()
        targets, indices = inputs[2:4], inputs[7:9]
        if actuator.delay is not None:
            order = wp.array(np.arange(count, dtype=np.uint32), dtype=wp.uint32, device=device)
            targets, indices = solver.commands[:2], [order, order]
        named: dict[str, Any] = {"inv_mass": self._diagonal(), "device": device}
        if names := custom_of(actuator):
            named["custom_inputs"] = dict(zip(names, find_arrays(sim_control, names), strict=True))
        state = getattr(now, "controller_state", None)
        law.prepare_implicit(*inputs[:2], *targets, *inputs[5:7], *indices, state, seconds, **named)

    def _diagonal(self) -> wp.array:
        """Return the response of each joint to its own impulse [1/(kg·m²) or 1/kg], float32 `(N,)`."""
        if self._own_inverse is None:
            self._own_inverse = wp.zeros(self._actuator.num_actuators, dtype=wp.float32, device=self._actuator.device)
        self._rows.diagonal(self._response.inverse_blocks, self._own_inverse)
        return self._own_inverse

    def _beside(self, binding: Indices) -> dict[str, Array | None]:
        """Return arrays of control for the explicit step: those of the program, with outputs that nobody reads."""
        actuator, found = self._actuator, dict(binding.custom)
        names = (actuator.control_target_pos_attr, actuator.control_target_vel_attr, actuator.control_feedforward_attr)
        found |= {name: array for name, array in zip(names, binding.inputs[2:], strict=True) if name is not None}
        names = actuator.control_output_attr, actuator.control_computed_output_attr
        for name, array in zip(names, (binding.efforts, binding.computed), strict=True):
            if name is not None and array is not None:
                length = len(array)
                if length not in self._spare:
                    self._spare[length] = wp.zeros(length, dtype=wp.float32, device=actuator.device)
                found[name] = self._spare[length]
                self._spare[length].zero_()
        return found


def _rows_of(actuator: ActuatorLike, blocks: Blocks) -> Rows:
    """Return the rows of the joints of an actuator."""
    label, dofs = actuator.label or "actuator", actuator.indices.numpy().astype(np.int64)
    if not len(dofs):
        raise ValueError(f"{label} has 0 joints: must have one in the implicit effort mode. Leave it explicit.")
    known = dofs < len(blocks.block)
    known[known] = blocks.block[dofs[known]] >= 0
    if not known.all():
        raise ValueError(
            f"{label}: DOF {dofs[~known][0]} is not in an articulation of the response: must be, in the implicit "
            "effort mode. Leave the actuator explicit, or make the response of a model with it."
        )
    for dof in dofs:
        if dof in blocks.refused:
            raise ValueError(
                f"{label}: DOF {dof} {blocks.refused[dof]}: must have one position coordinate per degree of freedom in "
                "the implicit effort mode. Leave the actuator explicit."
            )
    return Rows(blocks.block[dofs], blocks.place[dofs], blocks.starts, blocks.counts, actuator.device)


@wp.kernel
def _measure_kernel(
    positions: wp.array[float],
    velocities: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    position: wp.array[float],
    velocity: wp.array[float],
):
    i = wp.tid()
    position[i] = positions[position_indices[i]]
    velocity[i] = velocities[velocity_indices[i]]


@wp.kernel
def _command_kernel(
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    feedforward: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    position: wp.array[float],
    velocity: wp.array[float],
    forward: wp.array[float],
):
    i = wp.tid()
    position[i] = position_targets[position_indices[i]]
    velocity[i] = velocity_targets[velocity_indices[i]]
    forward[i] = value_or_zero(feedforward, int(velocity_indices[i]))
