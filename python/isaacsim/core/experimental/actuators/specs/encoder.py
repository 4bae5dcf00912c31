"""Config of an encoder: what a controller measures of its joint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

from .fields import Description, choice_of, described, parameter
from .late import LateConfig, most_of, not_negative, seconds_of, seed_of, steps_of


def _of(name: str, unit: str, fallback: object, /, **rule: Unpack[Description]) -> Description:
    return not_negative("encoder", name, unit, fallback, **rule)


@dataclass
class EncoderConfig(LateConfig):
    """An encoder: position and velocity that the controller, and nothing else, gets of its joint.

    `measured = quantized(position + bias + noise)`, to multiples of `resolution`. The velocity is the difference of
    two measured positions over the step, or that of the joint in multiples of `velocity_resolution`; a filter of first
    order smooths it. Both are measured `latency + latency_steps·dt` late; between two steps they are interpolated
    linearly. After a reset, the joint counts as having been at rest in its state for as long. Limits, friction and the
    simulator have the true state. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorEncoderAPI"
    KIND: ClassVar[str] = "feedback"
    IN_STEPS: ClassVar[tuple[str, ...]] = ("latency_steps",)

    resolution: float = parameter(**_of("resolution", "rad or m", 0.0))
    """Smallest change of the measured position [rad or m]; 0 for a continuous one. See `from_bits`."""
    bias: float = parameter(**described("encoder", "bias", "rad or m", 0.0))
    """Measured less true position [rad or m]."""
    noise: float = parameter(**_of("noise", "rad or m", 0.0))
    """Standard deviation of the noise of the position, before it is quantized [rad or m]."""
    latency: float = parameter(**seconds_of("encoder", "latency"))
    """How late the controller gets a measurement [s]."""
    latency_steps: float = parameter(**steps_of("encoder", "latencySteps"))
    """The same in physics steps, added to `latency`; with a `RateConfig` in steps of the controller."""
    velocity: str = parameter(**choice_of("encoder", "velocity", "difference", "register"))
    """Velocity of the `"difference"` of measured positions, or of a `"register"`, which has that of the joint."""
    velocity_resolution: float = parameter(**_of("velocityResolution", "rad/s or m/s", 0.0))
    """Smallest change of the velocity of a register [rad/s or m/s]; 0 for a continuous one."""
    velocity_filter: float = parameter(**_of("velocityFilter", "s", 0.0))
    """Time constant of the filter of the velocity [s]; 0 for none."""
    seed: int = parameter(**seed_of("encoder"))
    """Seed of the noise, which differs between joints and robots."""
    side: str = parameter(**choice_of("encoder", "side", "joint", "motor") | {"of_law": False})
    """Where the encoder is: at the `"joint"`, or at the `"motor"` before a transmission, in its coordinates.

    Backlash and spring of an `ElasticTransmissionConfig` show at the joint only.
    """
    max_steps: int = parameter(**most_of("encoder"))
    """Number of physics steps that are kept, the longest latency; 0 for what it needs at 0.25 ms and longer."""

    @classmethod
    def from_bits(cls, bits: int, **values: Any) -> Self:
        """Return the config of an encoder with `2**bits` steps per turn.

        Args:
            bits: 1 … 32.
            values: Other fields.

        Raises:
            ValueError: There are no such bits.

        Example:
            >>> EncoderConfig.from_bits(12, latency=0.008).resolution
            0.0015339807878856412
        """
        # callers without type checks may give anything
        if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 32:  # pyright: ignore
            raise ValueError(f"bits = {bits!r}: must be an integer >= 1 and <= 32. Give the bits of a turn.")
        return cls(resolution=2.0 * math.pi / 2**bits, **values)

    def delay_parts(self) -> tuple[float, float]:
        """Return the latency in steps and in seconds; they add up."""
        return self.latency_steps, self.latency
