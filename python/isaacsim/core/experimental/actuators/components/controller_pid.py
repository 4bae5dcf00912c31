"""Proportional-integral-derivative control.

    I⁺     = clip(I + (q* − q)·dt, −I_max, I_max)               I, I_max  [rad·s or m·s], not an effort
    effort = const + ff + kp·(q* − q) + ki·I⁺ + kd·(q̇* − q̇)     ki        [N·m/(rad·s) or N/(m·s)]

The updated integral acts in the same step. It goes on growing while a clamp holds the effort: there is no anti-windup
but I_max. Edges: I_max = 0 switches the integral off, I_max = inf is no limit; with a delay, q* is the delayed target.
Source: NewtonPIDControlAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ControllerPID.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import warp as wp

from ..specs.configs import PIDControlConfig
from .base import Controller, require_same_shape, resolved_scalars, value_or_zero

wp.set_module_options({"enable_backward": False})


@wp.func
def pid_integral(integral: float, position: float, position_target: float, dt: float, integral_max: float) -> float:
    """Return the integral [rad·s or m·s] after one step."""
    return wp.clamp(integral + (position_target - position) * dt, -integral_max, integral_max)


@wp.func
def pid_effort(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    kp: float,
    ki: float,
    kd: float,
    const_effort: float,
    integral: float,
) -> float:
    """Return the PID effort [N·m or N] of one joint, `integral` being the updated one."""
    proportional = const_effort + feedforward + kp * (position_target - position)
    return proportional + ki * integral + kd * (velocity_target - velocity)


@wp.kernel
def _pid_kernel(
    # Params:
    kp: wp.array[float],
    ki: wp.array[float],
    kd: wp.array[float],
    integral_max: wp.array[float],
    const_effort: wp.array[float],
    dt: float,
    # In:
    positions: wp.array[float],
    velocities: wp.array[float],
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    feedforward: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    position_target_indices: wp.array[wp.uint32],
    velocity_target_indices: wp.array[wp.uint32],
    # State in:
    integral_in: wp.array[float],
    # State out:
    integral_out: wp.array[float],
    # Out:
    efforts: wp.array[float],
):
    slot = wp.tid()

    q = positions[position_indices[slot]]
    q_target = position_targets[position_target_indices[slot]]
    integral = pid_integral(integral_in[slot], q, q_target, dt, integral_max[slot])
    integral_out[slot] = integral
    efforts[slot] = pid_effort(
        q,
        velocities[velocity_indices[slot]],
        q_target,
        velocity_targets[velocity_target_indices[slot]],
        value_or_zero(feedforward, int(velocity_target_indices[slot])),
        kp[slot],
        ki[slot],
        kd[slot],
        value_or_zero(const_effort, slot),
        integral,
    )


class ControllerPID(Controller):
    """PID law for `N` actuators.

    Args:
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        ki: Integral gain [N·m/(rad·s) or N/(m·s)], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        integral_max: Largest integral in either direction [rad·s or m·s], shape `(N,)`.
        const_effort: Bias [N·m or N], shape `(N,)`; None means zero.

    Raises:
        ValueError: The arrays differ in shape.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("kp", "ki", "kd", "integral_max", "const_effort")

    @dataclass
    class State:
        """Integral of the position error [rad·s or m·s], shape `(N,)`."""

        integral: wp.array

        def reset(self, mask: wp.array | None = None) -> None:
            """Set the integral to zero where `mask`, bool `(N,)`, is true; everywhere by default."""
            if mask is None:
                self.integral.zero_()
                return
            require_same_shape("the integral", self.integral, mask=mask)
            wp.launch(_reset_integral_kernel, len(self.integral), [mask], [self.integral], device=self.integral.device)

    def __init__(
        self,
        kp: wp.array,
        ki: wp.array,
        kd: wp.array,
        integral_max: wp.array,
        const_effort: wp.array | None = None,
    ) -> None:
        require_same_shape("kp", kp, ki=ki, kd=kd, integral_max=integral_max, const_effort=const_effort)
        self.kp, self.ki, self.kd = kp, ki, kd
        self.integral_max, self.const_effort = integral_max, const_effort
        self._next_integral: wp.array | None = None

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Fill gains and bias with 0 and `integral_max` with inf where absent, and check them."""
        return resolved_scalars(PIDControlConfig, args)

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Allocate the integral that `compute` hands to `update_state`."""
        self._next_integral = wp.zeros(num_actuators, dtype=wp.float32, device=device)

    def is_stateful(self) -> bool:
        """The integral is remembered."""
        return True

    def state(self, num_actuators: int, device: Any) -> State:
        """Return a state whose integral is zero."""
        return self.State(wp.zeros(num_actuators, dtype=wp.float32, device=device))

    def compute(
        self,
        positions: wp.array,
        velocities: wp.array,
        target_pos: wp.array,
        target_vel: wp.array,
        feedforward: wp.array | None,
        pos_indices: wp.array,
        vel_indices: wp.array,
        target_pos_indices: wp.array,
        target_vel_indices: wp.array,
        forces: wp.array,
        state: State,
        dt: float | None,
        device: Any = None,
    ) -> None:
        """Write the PID efforts [N·m or N] into `forces`, shape `(N,)`; `state` is read, not written."""
        parameters = (self.kp, self.ki, self.kd, self.integral_max, self.const_effort, dt)
        signals = (positions, velocities, target_pos, target_vel, feedforward)
        indices = (pos_indices, vel_indices, target_pos_indices, target_vel_indices)
        wp.launch(
            _pid_kernel,
            dim=len(forces),
            inputs=[*parameters, *signals, *indices, state.integral],
            outputs=[self._next_integral, forces],
            device=device or forces.device,
        )

    def update_state(self, current_state: State, next_state: State) -> None:
        """Write the integral after this step into `next_state`."""
        assert self._next_integral is not None
        wp.copy(next_state.integral, self._next_integral)


@wp.kernel
def _reset_integral_kernel(mask: wp.array[bool], integral: wp.array[float]):
    slot = wp.tid()
    if mask[slot]:
        integral[slot] = 0.0
