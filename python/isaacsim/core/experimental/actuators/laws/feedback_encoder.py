"""Encoder: what the controller measures of its joint, in steps, with noise, and late.

    q_m = quantized(q + bias + noise·ν)           ν standard normal; quantized: to multiples of the resolution
    u   = (q_m − q_m′)/dt, or quantized(v)        velocity by difference, or of a register; ′ the step before
    v_m = (T·v_m′ + dt·u)/(T + dt)                T the time constant of the filter

Position and velocity act `latency_steps + latency/dt` steps late, see `late.py`. In the first step after a reset, u is
the velocity of the joint, and v_m is u; u is so too in a step from or to a huge position, whose difference over dt is
beyond single precision.

The noise is a function of seed, number of the joint and number of the step; the latter goes on over a reset. Edges: a
resolution of 0 leaves a number as it is, as does a number of 2²² steps and more.
Source: quantization and bias as in PACE (Bjelonic et al., 2025): the controller acts on q_m; backward Euler.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import numpy as np
import warp as wp

from ..specs.encoder import EncoderConfig
from ..specs.fields import parameters_of
from ..specs.late import LateConfig
from .contract.base import Feedback
from .contract.functions import gaussian, nearest
from .contract.late import LateComponent
from .contract.law import UNSET, started
from .contract.ranges import LARGEST

MOST_COUNTS = wp.constant(4194304.0)
"""Number of steps of an encoder from which on positions are not quantized."""
MOST_SAMPLES = wp.constant(8388606.0)
"""Number of samples after which the noise repeats."""


@wp.func
def quantized(value: float, resolution: float, per_resolution: float) -> float:
    """Return the nearest multiple of the resolution; the value itself without one."""
    counts = value * per_resolution
    return nearest(counts) * resolution if resolution > 0.0 and wp.abs(counts) < MOST_COUNTS else value


@wp.func
def inverse_or_one(resolution: float) -> float:
    """Return the inverse of a number above zero; 1 for others, which are not used."""
    return 1.0 / (resolution if resolution > 0.0 else 1.0)


@wp.func
def encoder_prepare(
    resolution: float,
    bias: float,
    noise: float,
    latency: float,
    latency_steps: float,
    velocity: float,
    velocity_resolution: float,
    velocity_filter: float,
    seed: float,
    dt: float,
):
    """Return the parameters, the latency in steps, the shares of old and new velocity in the filter, and inverses."""
    return (
        resolution,
        bias,
        noise,
        latency_steps + latency / dt,
        velocity,
        velocity_resolution,
        velocity_filter / (velocity_filter + dt),
        dt / (velocity_filter + dt),
        seed,
        inverse_or_one(resolution),
        inverse_or_one(velocity_resolution),
        1.0 / dt,
    )


@wp.func
def measured(
    position: float,
    velocity: float,
    dt: float,
    joint_number: float,
    last_position: float,
    last_velocity: float,
    samples: float,
    resolution: float,
    bias: float,
    noise: float,
    lag: float,
    of_register: float,
    velocity_resolution: float,
    kept: float,
    share: float,
    seed: float,
    per_resolution: float,
    per_velocity_resolution: float,
    per_dt: float,
):
    """Return measured position and velocity, by how many steps they act late, and position, velocity and sample."""
    drawn = gaussian(seed, joint_number, samples) if noise > 0.0 else 0.0
    exact = position + bias
    now = quantized(exact + noise * drawn if noise > 0.0 else exact, resolution, per_resolution)
    difference = (now - last_position) * per_dt
    stored = quantized(velocity, velocity_resolution, per_velocity_resolution)
    # without a position before, or from a huge one, there is no difference; one that is infinite would stay for good
    chosen = stored if of_register > 0.5 else difference
    is_stored = of_register > 0.5 and not wp.isnan(last_position)
    raw = chosen if wp.abs(difference) <= LARGEST or is_stored else velocity
    filtered = kept * started(last_velocity, raw) + share * raw if kept > 0.0 else raw
    after = samples + 2.0 if samples < MOST_SAMPLES else 0.0
    return now, filtered, lag, now, filtered, after


class FeedbackEncoder(LateComponent, Feedback):
    """Encoders of `N` actuators.

    Args:
        resolution: Smallest change of the measured position [rad or m], shape `(N,)`; 0 for a continuous one.
        bias: Measured less true position [rad or m], shape `(N,)`.
        noise: Standard deviation of the noise of the position [rad or m], shape `(N,)`.
        latency: How late the controller gets a measurement [s], shape `(N,)`.
        latency_steps: The same in physics steps, added to it, shape `(N,)`.
        velocity: 0 for the difference of positions, 1 for a register, shape `(N,)`.
        velocity_resolution: Smallest change of the velocity of a register [rad/s or m/s], shape `(N,)`.
        velocity_filter: Time constant of the filter of the velocity [s], shape `(N,)`.
        seed: Seed of the noise, an integer, shape `(N,)`.
        max_steps: For how many steps of latency the past is kept; 0 for one that stays 0.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "resolution",
        "bias",
        "noise",
        "latency",
        "latency_steps",
        "velocity",
        "velocity_resolution",
        "velocity_filter",
        "seed",
    )
    STATE: ClassVar[tuple[str, ...]] = ("last_position", "last_velocity", "samples")
    START: ClassVar[Mapping[str, float]] = {"last_position": UNSET, "last_velocity": UNSET}
    KEPT: ClassVar[Collection[str]] = ("samples",)
    ASKS: ClassVar[tuple[str, ...]] = ("joint_number",)
    USUAL: ClassVar[Mapping[str, float]] = {"noise": 0.0, "of_register": 0.0, "kept": 0.0}
    COSTLY: ClassVar[tuple[str, ...]] = ("noise",)
    LATE: ClassVar[tuple[str, ...]] = ("earlier_positions", "earlier_velocities")
    STEPS: ClassVar[str] = "latency_steps"
    SECONDS: ClassVar[str] = "latency"
    CONFIG: ClassVar[type[LateConfig]] = EncoderConfig  # pyright: ignore[reportIncompatibleVariableOverride]
    PREPARE = encoder_prepare
    LAW = measured

    side: str = "joint"
    """Where the encoder is: `"joint"`, or `"motor"` before a transmission."""

    @classmethod
    def from_config(cls, config: Any, num_actuators: int, device: wp.DeviceLike) -> FeedbackEncoder:
        """Return the component of a config, each value repeated for `num_actuators` actuators.

        Raises:
            ValueError: The joints of an actuator have encoders on different sides.
        """
        made = super().from_config(config, num_actuators, device)
        described = parameters_of(config)["side"]
        # a word, or its number among the choices, one per joint
        found = sorted({described.word(one) for one in np.ravel(config.side).tolist()})
        if len(found) > 1:
            raise ValueError(f"side = {found}: must be one for all joints of an actuator. Give each its own actuator.")
        made.side = found[0]
        return made
