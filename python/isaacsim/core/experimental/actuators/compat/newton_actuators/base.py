"""`Actuator` of newton-actuators: the order of a step, and the hooks that a subclass overrides."""

from __future__ import annotations

from functools import cached_property
from types import NoneType
from typing import Any, ClassVar

import warp as wp

from ...base.errors import NotCopied
from ...specs.arguments import require_type


class Actuator(NotCopied):
    """`N` actuators that read flat arrays of a simulator and add efforts to one of them.

    A subclass overrides `resolve_arguments` and `_run_controller`, `_run_state_manager` if it has state, and
    `has_transmission` and `_run_transmission` if efforts of actuators are not those of joints.

    Args:
        input_indices: Indices of positions, velocities and targets, uint32, shape `(N,)`; `(N, M)` for a subclass
            that reads several inputs per actuator.
        output_indices: Indices of efforts, uint32, shape `(N,)`.
        control_output_attr: Name of the efforts [N·m or N] on the control object, which are added to.

    Raises:
        ValueError: There are not as many outputs as inputs.
    """

    _INSTEAD = "Make another one with arrays of its own."

    SCALAR_PARAMS: ClassVar[set[str]] = set()
    """Parameters that are one value per object, not one per actuator."""

    def __init__(self, input_indices: wp.array, output_indices: wp.array, control_output_attr: str = "joint_f") -> None:
        require_as_many(input_indices, output_indices)
        self.input_indices, self.output_indices = input_indices, output_indices
        self.control_output_attr, self.num_actuators = control_output_attr, len(input_indices)
        self._actuation_forces: wp.array | None = None
        """Efforts of the actuators [N·m or N] before the transmission, `(N,)`, added to; a subclass allocates it."""

    @cached_property
    def _sequential_indices(self) -> wp.array:
        return wp.array(list(range(self.num_actuators)), dtype=wp.uint32, device=self.input_indices.device)

    @classmethod
    def resolve_arguments(cls, args: dict[str, object]) -> dict[str, object]:
        """Return the arguments of the constructor, with defaults where `args` has none; others are dropped.

        Raises:
            NotImplementedError: The class has none.
            ValueError: A required one is missing.
        """
        raise NotImplementedError(f"{cls.__name__} has no resolve_arguments. Override it.")

    def is_stateful(self) -> bool:
        """Return True if `step` needs states."""
        return False

    def is_graphable(self) -> bool:
        """Return True if `step` can be captured in a CUDA graph."""
        return True

    def has_transmission(self) -> bool:
        """Return True if `_run_transmission` maps the efforts of actuators to joints."""
        return False

    def state(self) -> Any:
        """Return a fresh state, or None if the actuator has none."""
        return None

    def step(
        self,
        sim_state: object,
        sim_control: object,
        current_act_state: object = None,
        next_act_state: object = None,
        dt: float | None = None,
    ) -> None:
        """Add the efforts of this step to the output array.

        Args:
            sim_state: Object with positions and velocities.
            sim_control: Object with targets, feedforward and output.
            current_act_state: State before this step.
            next_act_state: Receives the state after this step; may be the same object.
            dt: Physics step [s].

        Raises:
            ValueError: There is a transmission, but no array for its inputs.
        """
        if not self.has_transmission():
            efforts = getattr(sim_control, self.control_output_attr)
            self._run_controller(sim_state, sim_control, efforts, self.output_indices, current_act_state, dt)
        else:
            efforts = self._actuation_forces
            if efforts is None:
                raise ValueError(
                    f"{type(self).__name__}._actuation_forces = None: must be an array, float32 "
                    f"({self.num_actuators},), for there is a transmission. Allocate it in the constructor."
                )
            self._run_controller(sim_state, sim_control, efforts, self._sequential_indices, current_act_state, dt)
            self._run_transmission(efforts, sim_control)
        if self.is_stateful():
            self._run_state_manager(sim_state, sim_control, current_act_state, next_act_state, dt)

    def _run_controller(
        self,
        sim_state: object,
        sim_control: object,
        controller_output: wp.array,
        output_indices: wp.array,
        current_state: object,
        dt: float | None,
    ) -> None:
        """Add efforts to `controller_output` at `output_indices`."""

    def _run_state_manager(
        self, sim_state: object, sim_control: object, current_state: object, next_state: object, dt: float | None
    ) -> None:
        """Write the state after this step into `next_state`."""

    def _run_transmission(self, actuation_forces: wp.array, sim_control: object) -> None:
        """Map the efforts of the actuators to the output array."""


def require_as_many(input_indices: wp.array, output_indices: wp.array) -> None:
    """Raise a `ValueError` unless there are as many outputs as inputs, and a `TypeError` unless they are arrays."""
    require_type("input_indices", input_indices, wp.array, "a Warp array")
    require_type("output_indices", output_indices, wp.array, "a Warp array")
    if len(output_indices) != len(input_indices):
        raise ValueError(
            f"output_indices has length {len(output_indices)}: must match input_indices, {len(input_indices)}. "
            "Give one output per actuator."
        )


def require_length(name: str, array: wp.array | None, count: int) -> None:
    """Raise a `TypeError` unless it is a Warp array or None, and a `ValueError` unless it has `count` values."""
    require_type(name, array, (wp.array, NoneType), "a Warp array")
    if array is not None and len(array) != count:
        raise ValueError(
            f"{name} has length {len(array)}: must match num_actuators, {count}. Give one value per actuator."
        )
