"""Ends of what clamps let through."""

from __future__ import annotations

import math

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import (
    Clamping,
    ClampingDCMotor,
    ClampingMaxEffort,
    ClampingPositionBased,
)
from isaacsim.core.experimental.actuators.viewing.envelope import envelope


def numbers(*values: float) -> wp.array:
    """An array of a parameter."""
    return wp.array(np.float32(values), dtype=wp.float32, device="cpu")


MOTOR = ClampingDCMotor(numbers(9.0, 20.0), numbers(9.0, 10.0), numbers(9.0, 15.0))


@pytest.mark.parametrize(
    ("clamps", "velocity", "expected"),
    [
        ([], 0.0, (-math.inf, math.inf)),
        ([ClampingMaxEffort(numbers(1.0, 3.0))], 5.0, (-3.0, 3.0)),
        ([MOTOR], 0.0, (-15.0, 15.0)),
        ([MOTOR], 5.0, (-15.0, 10.0)),
        ([MOTOR], 12.0, (-15.0, -4.0)),
        ([MOTOR, ClampingMaxEffort(numbers(1.0, 3.0))], 12.0, (-3.0, -3.0)),
        ([ClampingPositionBased(lookup_positions=[0.0, 1.0], lookup_efforts=[2.0, 6.0])], 0.0, (-3.0, 3.0)),
    ],
)
def test_ends_are_those_of_all_clamps_together(clamps: list, velocity: float, expected: tuple[float, float]) -> None:
    """At the velocity there is, for the joint asked for."""
    assert envelope(clamps, 1, 0.25, velocity) == pytest.approx(expected, rel=1e-6)


def test_clamp_that_computes_arrays_is_passed_over() -> None:
    """Nobody knows what it would do."""

    class Own(Clamping):
        def modify_forces(self, *arguments: object) -> None:
            raise AssertionError

    assert envelope([Own(), ClampingMaxEffort(numbers(3.0))], 0, 0.0, 0.0) == (-3.0, 3.0)
