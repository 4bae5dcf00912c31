"""Gains and largest efforts of actuators at the joint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    Actuator,
    ClampingMaxEffort,
    ControllerPD,
    DCMotorClampingConfig,
    DelayConfig,
    GearedPDControlConfig,
    GearedPIDControlConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from isaacsim.core.experimental.actuators.pipeline.feedback import feedback_gains, largest_efforts
from own_components import OwnController
from step_bench import TransmissionGear


def gains(*configs: Any) -> np.ndarray:
    """Of two robots with one motor for two joints."""
    motor = ActuatedArrays(["hip", "knee"], {".*": list(configs)}, num_robots=2)
    return np.concatenate([feedback_gains(actuator, 2) for actuator in motor.actuators], axis=2)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (PDControlConfig(80.0, 2.0), [80, 2, 0]),
        (PIDControlConfig(80.0, 3.0, 2.0), [80, 2, 3]),
        # an integral that may not grow does nothing
        (PIDControlConfig(80.0, 3.0, 2.0, integral_max=0.0), [80, 2, 0]),
        (GearedPDControlConfig(80.0, 2.0, gear=-3.0), [720, 18, 0]),
        (GearedPIDControlConfig(80.0, 3.0, 2.0, gear=2.0), [320, 8, 12]),
    ],
)
def test_gains_are_those_at_the_joint(config: Any, expected: list[float]) -> None:
    """Whatever delays and limits there are besides."""
    found = gains(config, DelayConfig(3), MaxEffortClampingConfig(5.0))
    assert found.shape == (3, 2, 2)
    assert (found == np.array(expected, float)[:, None, None]).all()


def test_a_law_of_ones_own_has_no_gains() -> None:
    """Though it has parameters of these names."""
    ones = [wp.ones(2, dtype=wp.float32, device="cpu") for _ in range(5)]
    actuator = Actuator(wp.array([0, 1], dtype=wp.uint32, device="cpu"), OwnController(*ones), dof_names=["hip"])
    assert feedback_gains(actuator, 2).shape == (3, 2, 1)
    assert np.isnan(feedback_gains(actuator, 2)).all()


@pytest.mark.parametrize(("most", "expected"), [(9.0, np.inf), (0.0, 0.0)])
def test_before_a_transmission_they_are_the_motors(most: float, expected: float) -> None:
    """Of which nothing is said at the joint, but for a limit of 0."""
    gear = TransmissionGear(*(wp.ones(2, dtype=wp.float32, device="cpu") for _ in range(3)))
    full = [wp.full(2, value, dtype=wp.float32, device="cpu") for value in (80.0, 2.0, most)]
    at = wp.array([0, 1], dtype=wp.uint32, device="cpu")
    limits = [ClampingMaxEffort(full[2])]
    actuator = Actuator(at, ControllerPD(*full[:2]), clamping=limits, others=[gear], dof_names=["hip", "knee"])
    assert np.isnan(feedback_gains(actuator, 1)).all()
    assert largest_efforts(actuator, 1).tolist() == [[expected] * 2]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ([], [np.inf, np.inf]),
        ([MaxEffortClampingConfig({"hip": 5.0, "knee": 7.0}), DCMotorClampingConfig(6.0, 9.0, 8.0)], [5, 6]),
        ([PositionBasedClampingConfig([0.0, 1.0], [3.0, 4.0])], [4, 4]),
    ],
)
def test_largest_effort_is_the_least_of_all_bounds(limits: list[Any], expected: list[float]) -> None:
    """Of a table its largest value; values may differ between robots and change later."""
    motor = ActuatedArrays(["hip", "knee"], {".*": [PDControlConfig(80.0, 2.0), *limits]}, num_robots=2)
    (actuator,) = motor.actuators
    assert largest_efforts(actuator, 2).tolist() == [expected] * 2
    if len(limits) == 2:
        actuator.clamping[-1].max_effort = wp.array([1.0, 7.0, 5.0, 2.0], dtype=wp.float32, device="cpu")
        assert largest_efforts(actuator, 2).tolist() == [[1, 6], [5, 2]]


def test_a_bias_that_is_not_given_does_not_matter() -> None:
    """As in an actuator of one's own, whose components no plan holds."""
    controller = ControllerPD(*(wp.ones(2, dtype=wp.float32, device="cpu") for _ in range(2)))
    actuator = Actuator(wp.array([0, 1], dtype=wp.uint32, device="cpu"), controller, dof_names=["hip"])
    assert feedback_gains(actuator, 2)[:, 0, 0].tolist() == [1, 1, 0]
