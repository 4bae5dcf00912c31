"""Effort bounds of clamps."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.bounds import StageBounds
from refusals import cases
from step_bench import ClampingSlew


def numbers(*values: float) -> wp.array:
    return wp.array(np.float32(values), dtype=wp.float32, device="cpu")


MOTOR = aa.ClampingDCMotor(numbers(9.0, 20.0), numbers(9.0, 10.0), numbers(9.0, 15.0))


@cases(
    "clamps, velocity, expected",
    ([], 0.0, (-math.inf, math.inf)),
    ([aa.ClampingMaxEffort(numbers(1.0, 3.0))], 5.0, (-3.0, 3.0)),
    ([MOTOR], 0.0, (-15.0, 15.0)),
    ([MOTOR], 5.0, (-15.0, 10.0)),
    ([MOTOR], 12.0, (-15.0, -4.0)),
    ([MOTOR, aa.ClampingMaxEffort(numbers(1.0, 3.0))], 12.0, (-3.0, -3.0)),
    ([aa.ClampingPositionBased(lookup_positions=[0.0, 1.0], lookup_efforts=[2.0, 6.0])], 0.0, (-3.0, 3.0)),
)
def test_ends_are_those_of_all_clamps_together(clamps, velocity, expected) -> None:
    found = StageBounds(clamps, [1])([0.25], [velocity])
    assert np.where(np.isnan(found[:, 0]), [-math.inf, math.inf], found[:, 0]) == pytest.approx(expected, rel=1e-6)


def test_bounds_follow_what_is_written_into_parameters() -> None:
    limit = aa.ClampingMaxEffort(numbers(1.0, 3.0))
    found = StageBounds([limit], [1, 2, 1])
    places, speeds = np.zeros(3), np.zeros(3)
    assert found(places, speeds).tolist() == [[-3.0, -1.0, -3.0], [3.0, 1.0, 3.0]]
    limit.max_effort.assign(np.float32([1.0, 5.0]))
    assert found(places, speeds).tolist() == [[-5.0, -1.0, -5.0], [5.0, 1.0, 5.0]]
    assert limit.max_effort.numpy().tolist() == [1.0, 5.0]


def test_clamp_that_remembers_begins_at_its_start() -> None:
    found = StageBounds([ClampingSlew(numbers(200.0), numbers(50.0))], [0])
    # 200 a second in a step of 0.01 s
    for _ in range(2):
        assert found([0.0], [0.0]).tolist() == [[-2.0], [2.0]]
