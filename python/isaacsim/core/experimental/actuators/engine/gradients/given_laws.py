"""Laws whose results are parameters: a measurement, and an effort, that gradients have computed before.

With them, the recorder of an actuator stands behind an encoder, and that of its stages behind a rate. The core knows
them by name.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ...laws.contract.base import Controller, Feedback


@wp.func
def given_measurement(position: float, velocity: float, measured_position: float, measured_velocity: float):
    """Return the measured position and velocity."""
    return measured_position, measured_velocity


@wp.func
def given_effort(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    effort: float,
) -> float:
    """Return the effort."""
    return effort


class GivenMeasurement(Feedback):
    """A sensor whose measurement is given, `(N,)` each."""

    PARAMETERS: ClassVar[tuple[str, ...]] = ("measured_position", "measured_velocity")
    LAW = given_measurement


class GivenEffort(Controller):
    """A controller whose effort is given, `(N,)`."""

    PARAMETERS: ClassVar[tuple[str, ...]] = ("effort",)
    LAW = given_effort
