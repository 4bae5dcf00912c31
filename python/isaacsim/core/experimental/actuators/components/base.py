"""Contracts of the three component families, as in newton.actuators 1.2.

A component holds one float32 value per actuator (`wp.array`, shape `(N,)`). Values are validated before they reach a
constructor; constructors check shapes only, because reading a device array back would synchronise.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import warp as wp

from ..specs.fields import parameters_of, violations


class Component:
    """What controllers, clamps and delays have in common."""

    PARAMETERS: ClassVar[tuple[str, ...]] = ()
    """Attributes that hold one value per actuator; the plan replaces them by live views of its own storage."""

    @classmethod
    def from_config(cls, config: Any, num_actuators: int, device: Any) -> Self:
        """Return the component of a config, each value repeated for `num_actuators` actuators."""
        return cls(**{name: repeated(getattr(config, name), num_actuators, device) for name in cls.PARAMETERS})

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Fill defaults into raw arguments and check their values.

        Raises:
            ValueError: A value is out of range.
        """
        raise NotImplementedError

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Allocate what depends on the device and the number of actuators; called once."""


class Controller(Component):
    """A law that turns targets and measurements into an effort."""

    SHARED_PARAMS: ClassVar[set[str]] = set()

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
        state: Any,
        dt: float | None,
        device: Any = None,
    ) -> None:
        """Write the efforts [N·m or N] of all actuators into `forces`, shape `(N,)`."""
        raise NotImplementedError

    def is_stateful(self) -> bool:
        """Whether the law remembers anything from one step to the next."""
        return False

    def is_graphable(self) -> bool:
        """Whether `compute` can be captured in a CUDA graph."""
        return True

    def state(self, num_actuators: int, device: Any) -> Any:
        """Return a fresh state, or None for a law without one."""
        return None

    def update_state(self, current_state: Any, next_state: Any) -> None:
        """Write the state after this step into `next_state`."""


class Clamping(Component):
    """A limit on the effort."""

    SHARED_PARAMS: ClassVar[set[str]] = set()

    def modify_forces(
        self,
        src_forces: wp.array,
        dst_forces: wp.array,
        positions: wp.array,
        velocities: wp.array,
        pos_indices: wp.array,
        vel_indices: wp.array,
        device: Any = None,
    ) -> None:
        """Write the limited efforts [N·m or N] into `dst_forces`; both arrays have shape `(N,)`."""
        raise NotImplementedError


@wp.func
def value_or_zero(values: wp.array[float], at: int) -> float:
    """Return an element of an optional array; without the array, zero."""
    if values:
        return values[at]  # pyright: ignore[reportReturnType]
    return 0.0


def require_same_shape(reference: str, expected: wp.array, **arrays: wp.array | None) -> None:
    """Raise a `ValueError` that names the first array whose shape differs from that of `reference`."""
    for name, array in arrays.items():
        if array is not None and array.shape != expected.shape:
            raise ValueError(
                f"{name} has shape {array.shape}: must be that of {reference}, {expected.shape}. "
                "Give one value per actuator."
            )


def repeated(value: float, count: int, device: Any, dtype: Any = wp.float32) -> wp.array:
    """Return a new array that holds `count` times `value`."""
    return wp.array(np.full(count, value, wp.dtype_to_numpy(dtype)), dtype=dtype, device=device)


def resolved_scalars(config_type: type, args: dict[str, Any]) -> dict[str, Any]:
    """Return `args` over the fallbacks of `config_type`, checked against its descriptions; other keys are dropped.

    Raises:
        ValueError: A value breaks its rule.
    """
    resolved = {name: args.get(name, described.fallback) for name, described in parameters_of(config_type).items()}
    if problems := violations(config_type(**resolved), config_type.__name__):
        raise ValueError("\n".join(problems))
    return resolved
