"""The classes without a delay and without a network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import warp as wp

from ...components.base import Controller
from ...components.clamping_dc_motor_cutoff import ClampingDCMotorCutoff
from ...components.clamping_max_effort import ClampingMaxEffort
from ...components.controller_geared_pd import ControllerGearedPD
from ...components.controller_geared_pid import ControllerGearedPID
from ...components.controller_pd import ControllerPD
from ...components.controller_pid import ControllerPID
from ...errors import NotCopied
from .planned import Of, PlannedActuator, clamp_of, controller_of, plan_of, require_lengths


class PDActuator(PlannedActuator):
    """What all have whose gains are numbers."""

    kp = Of(controller_of, "kp")
    kd = Of(controller_of, "kd")
    constant_force = Of(controller_of, "const_effort")
    control_target_vel_attr = Of(plan_of, "control_target_vel_attr")
    control_input_attr = Of(plan_of, "control_feedforward_attr")


class GearedActuator(PDActuator):
    """What all have that may have a gear, as in newton-actuators 0.1.0."""

    @property
    def gear(self) -> wp.array | None:
        """Turns of the motor per turn of the joint, shape `(N,)`, or None."""
        return getattr(self._plan.controller, "gear", None)


def pd(kp: wp.array, kd: wp.array, constant_force: wp.array | None, gear: wp.array | None) -> Controller:
    """The PD law, with a gear or without."""
    if gear is None:
        return ControllerPD(kp, kd, constant_force)
    return ControllerGearedPD(kp, kd, gear, constant_force)


class ActuatorPD(GearedActuator):
    """PD control with a symmetric limit: `clamp(const + act + kp·e + kd·ė, ±max_force)`.

    Args:
        input_indices: Where positions, velocities and targets stand, uint32, shape `(N,)`.
        output_indices: Where efforts go, uint32, shape `(N,)`.
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        max_force: Largest effort [N·m or N], shape `(N,)`.
        constant_force: Bias [N·m or N], shape `(N,)`; None means zero.
        state_pos_attr: Name of the positions [rad or m].
        state_vel_attr: Name of the velocities [rad/s or m/s].
        control_target_pos_attr: Name of the position targets [rad or m].
        control_target_vel_attr: Name of the velocity targets [rad/s or m/s].
        control_input_attr: Name of the feedforward efforts [N·m or N]; None, or an absent array, means none.
        control_output_attr: Name of the efforts [N·m or N], which are added to.
        gear: Turns of the motor per turn of the joint, shape `(N,)`; with it all but the limit is the motor's, as in
            newton-actuators 0.1.0.

    Raises:
        ValueError: An array does not have one value per actuator.
    """

    DEFAULTS: ClassVar[dict[str, Any]] = {"kp": 0.0, "kd": 0.0, "max_force": math.inf, "constant_force": 0.0}
    OPTIONAL: ClassVar[tuple[str, ...]] = ("gear",)

    def __init__(
        self,
        input_indices: wp.array,
        output_indices: wp.array,
        kp: wp.array,
        kd: wp.array,
        max_force: wp.array,
        constant_force: wp.array | None = None,
        state_pos_attr: str = "joint_q",
        state_vel_attr: str = "joint_qd",
        control_target_pos_attr: str = "joint_target_pos",
        control_target_vel_attr: str = "joint_target_vel",
        control_input_attr: str | None = "joint_act",
        control_output_attr: str = "joint_f",
        *,
        gear: wp.array | None = None,
    ) -> None:
        require_lengths(input_indices, kp=kp, kd=kd, max_force=max_force, constant_force=constant_force, gear=gear)
        super().__init__(
            input_indices,
            output_indices,
            pd(kp, kd, constant_force, gear),
            ClampingMaxEffort(max_force),
            None,
            (
                *(state_pos_attr, state_vel_attr, control_target_pos_attr, control_target_vel_attr),
                *(control_input_attr, control_output_attr),
            ),
        )


class ActuatorPID(GearedActuator):
    """PID control with a symmetric limit; the integral is limited by itself, and the updated one acts at once.

    Args:
        input_indices: Where positions, velocities and targets stand, uint32, shape `(N,)`.
        output_indices: Where efforts go, uint32, shape `(N,)`.
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        ki: Integral gain [N·m/(rad·s) or N/(m·s)], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        max_force: Largest effort [N·m or N], shape `(N,)`.
        integral_max: Largest integral in either direction [rad·s or m·s], shape `(N,)`.
        constant_force: Bias [N·m or N], shape `(N,)`; None means zero.
        state_pos_attr: Name of the positions [rad or m].
        state_vel_attr: Name of the velocities [rad/s or m/s].
        control_target_pos_attr: Name of the position targets [rad or m].
        control_target_vel_attr: Name of the velocity targets [rad/s or m/s].
        control_input_attr: Name of the feedforward efforts [N·m or N]; None, or an absent array, means none.
        control_output_attr: Name of the efforts [N·m or N], which are added to.
        gear: Turns of the motor per turn of the joint, shape `(N,)`; see `ActuatorPD`.

    Raises:
        ValueError: An array does not have one value per actuator.
    """

    DEFAULTS: ClassVar[dict[str, Any]] = {
        **{"kp": 0.0, "ki": 0.0, "kd": 0.0},
        **{"max_force": math.inf, "integral_max": math.inf, "constant_force": 0.0},
    }
    OPTIONAL: ClassVar[tuple[str, ...]] = ("gear",)

    ki = Of(controller_of, "ki")
    integral_max = Of(controller_of, "integral_max")

    @dataclass(eq=False)
    class State(NotCopied):
        """The integral [rad·s or m·s], shape `(N,)`."""

        _INSTEAD = "Take another one of state() and copy the arrays into it."

        integral: Any = None

        # what a plan asks for
        delay_state: ClassVar[None] = None
        clamping_states: ClassVar[tuple[()]] = ()

        @property
        def controller_state(self) -> Any:
            """What the controller remembers."""
            return self

        def reset(self) -> None:
            """Start over."""
            self.integral.zero_()

    def __init__(
        self,
        input_indices: wp.array,
        output_indices: wp.array,
        kp: wp.array,
        ki: wp.array,
        kd: wp.array,
        max_force: wp.array,
        integral_max: wp.array,
        constant_force: wp.array | None = None,
        state_pos_attr: str = "joint_q",
        state_vel_attr: str = "joint_qd",
        control_target_pos_attr: str = "joint_target_pos",
        control_target_vel_attr: str = "joint_target_vel",
        control_input_attr: str | None = "joint_act",
        control_output_attr: str = "joint_f",
        *,
        gear: wp.array | None = None,
    ) -> None:
        gains = {"kp": kp, "ki": ki, "kd": kd, "integral_max": integral_max}
        require_lengths(input_indices, **gains, max_force=max_force, constant_force=constant_force, gear=gear)
        if gear is None:
            controller: Controller = ControllerPID(**gains, const_effort=constant_force)
        else:
            controller = ControllerGearedPID(**gains, gear=gear, const_effort=constant_force)
        super().__init__(
            input_indices,
            output_indices,
            controller,
            ClampingMaxEffort(max_force),
            None,
            (
                *(state_pos_attr, state_vel_attr, control_target_pos_attr, control_target_vel_attr),
                *(control_input_attr, control_output_attr),
            ),
        )

    def state(self) -> State:
        """Return a fresh state."""
        return self.State(wp.zeros(self.num_actuators, dtype=wp.float32, device=self._plan.device))


class ActuatorDCMotor(PDActuator):
    """PD control with the limit of a DC motor, which gives nothing beyond no-load speed; see `ClampingDCMotorCutoff`.

    Args:
        input_indices: Where positions, velocities and targets stand, uint32, shape `(N,)`.
        output_indices: Where efforts go, uint32, shape `(N,)`.
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        max_force: Largest effort at any speed [N·m or N], shape `(N,)`.
        saturation_effort: Stall effort [N·m or N], shape `(N,)`; inf for no slope up to no-load speed.
        velocity_limit: No-load speed [rad/s or m/s], shape `(N,)`.
        constant_force: Bias [N·m or N], shape `(N,)`; None means zero.
        state_pos_attr: Name of the positions [rad or m].
        state_vel_attr: Name of the velocities [rad/s or m/s].
        control_target_pos_attr: Name of the position targets [rad or m].
        control_target_vel_attr: Name of the velocity targets [rad/s or m/s].
        control_input_attr: Name of the feedforward efforts [N·m or N]; None, or an absent array, means none.
        control_output_attr: Name of the efforts [N·m or N], which are added to.

    Raises:
        ValueError: An array does not have one value per actuator.
    """

    REQUIRED: ClassVar[tuple[str, ...]] = ("velocity_limit",)
    DEFAULTS: ClassVar[dict[str, Any]] = ActuatorPD.DEFAULTS | {"saturation_effort": math.inf}

    max_force = Of(clamp_of, "max_motor_effort")
    saturation_effort = Of(clamp_of, "saturation_effort")
    velocity_limit = Of(clamp_of, "velocity_limit")

    def __init__(
        self,
        input_indices: wp.array,
        output_indices: wp.array,
        kp: wp.array,
        kd: wp.array,
        max_force: wp.array,
        saturation_effort: wp.array,
        velocity_limit: wp.array,
        constant_force: wp.array | None = None,
        state_pos_attr: str = "joint_q",
        state_vel_attr: str = "joint_qd",
        control_target_pos_attr: str = "joint_target_pos",
        control_target_vel_attr: str = "joint_target_vel",
        control_input_attr: str | None = "joint_act",
        control_output_attr: str = "joint_f",
    ) -> None:
        motor = {"saturation_effort": saturation_effort, "velocity_limit": velocity_limit}
        require_lengths(input_indices, kp=kp, kd=kd, max_force=max_force, constant_force=constant_force, **motor)
        super().__init__(
            input_indices,
            output_indices,
            pd(kp, kd, constant_force, None),
            ClampingDCMotorCutoff(**motor, max_motor_effort=max_force),
            None,
            (
                *(state_pos_attr, state_vel_attr, control_target_pos_attr, control_target_vel_attr),
                *(control_input_attr, control_output_attr),
            ),
        )
