"""The classes whose commands act some steps later; until so many were given, they give no effort at all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import warp as wp

from ...components.base import Clamping, repeated
from ...components.clamping_max_effort import ClampingMaxEffort
from ...components.clamping_position_based import ClampingPositionBased
from ...components.delay import Delay
from ...errors import NotCopied
from ...specs.arguments import number_of
from ...values import as_numbers
from .direct import ActuatorPD, GearedActuator, pd
from .planned import Of, require_lengths


class ActuatorDelayedPD(GearedActuator):
    """PD control of targets and feedforward of `delay` steps ago, with a symmetric limit.

    Args:
        input_indices: Where positions, velocities and targets stand, uint32, shape `(N,)`.
        output_indices: Where efforts go, uint32, shape `(N,)`.
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        delay: Physics steps, one number for all; 0 means none. Nothing is given until so many have passed.
        max_force: Largest effort [N·m or N], shape `(N,)`.
        constant_force: Bias [N·m or N], shape `(N,)`; None means zero.
        state_pos_attr: Name of the positions [rad or m].
        state_vel_attr: Name of the velocities [rad/s or m/s].
        control_target_pos_attr: Name of the position targets [rad or m].
        control_target_vel_attr: Name of the velocity targets [rad/s or m/s].
        control_input_attr: Name of the feedforward efforts [N·m or N]; None, or an absent array, means none.
        control_output_attr: Name of the efforts [N·m or N], which are added to.
        gear: Turns of the motor per turn of the joint, shape `(N,)`; see `ActuatorPD`.

    Raises:
        ValueError: An array does not have one value per actuator, or the delay is no whole number from 0 to 4096.
    """

    SCALAR_PARAMS: ClassVar[set[str]] = {"delay"}
    REQUIRED: ClassVar[tuple[str, ...]] = ("delay",)
    DEFAULTS: ClassVar[dict[str, Any]] = ActuatorPD.DEFAULTS
    OPTIONAL: ClassVar[tuple[str, ...]] = ("gear",)

    class State(NotCopied):
        """Commands of the last steps, `(delay, N)`, the row written last, and whether all were written.

        The last two are numbers of the host.
        """

        _INSTEAD = "Take another one of state() and copy the arrays into it."

        # what a plan asks for
        controller_state: ClassVar[None] = None
        clamping_states: ClassVar[tuple[()]] = ()

        buffer_pos = Of(lambda state: state.delay_state, "buffer_pos")
        buffer_vel = Of(lambda state: state.delay_state, "buffer_vel")
        buffer_act = Of(lambda state: state.delay_state, "buffer_act")

        def __init__(
            self,
            buffer_pos: wp.array,
            buffer_vel: wp.array,
            buffer_act: wp.array,
            write_idx: int = 0,
            is_filled: bool = False,
        ) -> None:
            self._depth, count = buffer_pos.shape
            numbers = (wp.zeros(size, dtype=wp.int32, device=buffer_pos.device) for size in (count, 1))
            self.delay_state = Delay.State(buffer_pos, buffer_vel, buffer_act, *numbers)
            self._write_idx, self._is_filled = write_idx, is_filled
            self._tell()

        @property
        def write_idx(self) -> int:
            """The row written last."""
            return self._write_idx

        @write_idx.setter
        def write_idx(self, row: int) -> None:
            self._write_idx = row
            self._tell()

        @property
        def is_filled(self) -> bool:
            """Whether every row was written since the last reset."""
            return self._is_filled

        @is_filled.setter
        def is_filled(self, filled: bool) -> None:
            self._is_filled = filled
            self._tell()

        def reset(self) -> None:
            """Forget the commands."""
            self.delay_state.reset()
            self._write_idx, self._is_filled = self._depth - 1, False

        def _follow(self, before: ActuatorDelayedPD.State) -> None:
            """Say what is so after a step, whose arrays the step has written."""
            self._write_idx = (before._write_idx + 1) % self._depth
            self._is_filled = before._is_filled or self._write_idx == self._depth - 1

        def _tell(self) -> None:
            """Write the numbers of the host where the step reads them."""
            self.delay_state.write_idx.fill_(self._write_idx)
            pushed = self._depth if self._is_filled else (self._write_idx + 1) % self._depth
            self.delay_state.num_pushes.fill_(pushed)

    def __init__(
        self,
        input_indices: wp.array,
        output_indices: wp.array,
        kp: wp.array,
        kd: wp.array,
        delay: int,
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
        require_lengths(input_indices, max_force=max_force)
        self._build(
            input_indices,
            output_indices,
            *(kp, kd, delay, ClampingMaxEffort(max_force), constant_force, gear),
            (
                *(state_pos_attr, state_vel_attr, control_target_pos_attr, control_target_vel_attr),
                *(control_input_attr, control_output_attr),
            ),
        )

    def _build(
        self,
        input_indices: wp.array,
        output_indices: wp.array,
        kp: wp.array,
        kd: wp.array,
        delay: int,
        clamp: Clamping,
        constant_force: wp.array | None,
        gear: wp.array | None,
        names: tuple[str, str, str, str, str | None, str],
    ) -> None:
        require_lengths(input_indices, kp=kp, kd=kd, constant_force=constant_force, gear=gear)
        count = len(input_indices)
        if not number_of("delay", delay).is_integer():
            raise ValueError(f"delay = {delay}: must be a whole number of physics steps. Round it.")
        steps = Delay(repeated(delay, count, input_indices.device, wp.int32), int(delay))
        GearedActuator.__init__(
            self, input_indices, output_indices, pd(kp, kd, constant_force, gear), clamp, steps, names
        )

    @property
    def delay(self) -> int:
        """Delay in physics steps."""
        assert self._plan.delay is not None
        return self._plan.delay.max_delay

    def state(self) -> State:
        """Return a fresh state."""
        assert self._plan.delay is not None
        fresh = self._plan.delay.state(self.num_actuators, self._plan.device)
        return self.State(fresh.buffer_pos, fresh.buffer_vel, fresh.buffer_act, len(fresh.buffer_pos) - 1)

    def _advance(self, sim_state: Any, sim_control: Any, now: Any, after: Any, dt: float | None) -> None:
        self._plan.require_states(now, after)
        if self.delay and not now.is_filled:
            if self._plan.device.is_cuda and self._plan.device.is_capturing:
                raise RuntimeError(
                    f"{type(self).__name__}: the delay is not full: a CUDA graph would never give an effort. Capture "
                    f"it after {self.delay} steps."
                )
            sim_control = self._writing_to(self._nowhere, sim_control)
        super()._advance(sim_state, sim_control, now, after, dt)
        after._follow(now)


class ActuatorRemotizedPD(ActuatorDelayedPD):
    """Delayed PD control with a limit that depends on the joint position, linear between the rows of a table.

    Args:
        input_indices: Where positions, velocities and targets stand, uint32, shape `(N,)`.
        output_indices: Where efforts go, uint32, shape `(N,)`.
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        delay: Physics steps, one number for all; see `ActuatorDelayedPD`.
        lookup_angles: Positions [rad or m], not decreasing, shape `(K,)`.
        lookup_torques: Largest effort at each of them [N·m or N], >= 0, shape `(K,)`.
        constant_force: Bias [N·m or N], shape `(N,)`; None means zero.
        state_pos_attr: Name of the positions [rad or m].
        state_vel_attr: Name of the velocities [rad/s or m/s].
        control_target_pos_attr: Name of the position targets [rad or m].
        control_target_vel_attr: Name of the velocity targets [rad/s or m/s].
        control_input_attr: Name of the feedforward efforts [N·m or N]; None, or an absent array, means none.
        control_output_attr: Name of the efforts [N·m or N], which are added to.

    Raises:
        ValueError: An array does not have one value per actuator, or delay or table cannot be used.
    """

    SCALAR_PARAMS: ClassVar[set[str]] = {"delay", "lookup_angles", "lookup_torques"}
    REQUIRED: ClassVar[tuple[str, ...]] = ("delay", "lookup_angles", "lookup_torques")
    DEFAULTS: ClassVar[dict[str, Any]] = {"kp": 0.0, "kd": 0.0, "constant_force": 0.0}
    OPTIONAL: ClassVar[tuple[str, ...]] = ()

    max_force: Any = None
    """Infinite: the table limits."""

    def __init__(
        self,
        input_indices: wp.array,
        output_indices: wp.array,
        kp: wp.array,
        kd: wp.array,
        delay: int,
        lookup_angles: wp.array | Sequence[float],
        lookup_torques: wp.array | Sequence[float],
        constant_force: wp.array | None = None,
        state_pos_attr: str = "joint_q",
        state_vel_attr: str = "joint_qd",
        control_target_pos_attr: str = "joint_target_pos",
        control_target_vel_attr: str = "joint_target_vel",
        control_input_attr: str | None = "joint_act",
        control_output_attr: str = "joint_f",
    ) -> None:
        table = _numbers("lookup_angles", lookup_angles), _numbers("lookup_torques", lookup_torques)
        self._build(
            input_indices,
            output_indices,
            *(kp, kd, delay, ClampingPositionBased(None, *table)),
            *(constant_force, None),
            (
                *(state_pos_attr, state_vel_attr, control_target_pos_attr, control_target_vel_attr),
                *(control_input_attr, control_output_attr),
            ),
        )
        self.max_force = wp.full(self.num_actuators, math.inf, dtype=wp.float32, device=input_indices.device)

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the constructor; see `Actuator.resolve_arguments`."""
        resolved = super().resolve_arguments(args)
        return resolved | {name: tuple(resolved[name]) for name in ("lookup_angles", "lookup_torques")}

    @property
    def lookup_angles(self) -> wp.array:
        """Positions of the table [rad or m], copied."""
        return self._column(0)

    @property
    def lookup_torques(self) -> wp.array:
        """Efforts of the table [N·m or N], copied."""
        return self._column(1)

    @property
    def lookup_size(self) -> int:
        """Rows of the table."""
        return len(self.lookup_angles)

    def _column(self, number: int) -> wp.array:
        values = self._plan.clamping[0].curve("limit")[number]
        return wp.array(list(values), dtype=wp.float32, device=self._plan.device)


def _numbers(name: str, values: Any) -> list[float]:
    return np.atleast_1d(as_numbers(values, name)).astype(float).tolist()
