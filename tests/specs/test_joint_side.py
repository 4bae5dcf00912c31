"""Gains, and bounds of efforts and speeds, as they are at the joint."""

import math
from dataclasses import dataclass
from typing import ClassVar

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.specs import joint_side
from isaacsim.core.experimental.actuators.specs.config import Config
from isaacsim.core.experimental.actuators.specs.motors import motor_of

PD, PEAK = aa.PDControlConfig(2.0, 0.1), aa.MaxEffortClampingConfig(3.0)
TABLE = aa.PositionBasedClampingConfig([0.0, 1.0], [20.0, 25.0])


@dataclass
class OwnConfig(Config):
    KIND: ClassVar[str] = "transmission"
    SCHEMA: ClassVar[str] = "OwnTransmissionAPI"


def bounds(of, *stages) -> dict[str, float]:
    return {field: most for _, field, most in joint_side.bounds_at_joint(motor_of([PD, *stages]), of)}


def test_values_are_those_of_the_motor_by_the_ratio() -> None:
    line, gear = aa.DCMotorClampingConfig(6.0, 80.0, 4.0), aa.TransmissionConfig(-10.0, 0.2)
    assert joint_side.gains_at_joint(motor_of([PD, gear])) == (200.0, pytest.approx(10.0), 0.0)
    assert joint_side.gains_at_joint(motor_of([PD])) == (2.0, 0.1, 0.0)
    assert bounds("effort", PEAK, TABLE, gear) == {"max_effort": 30.0, "lookup_efforts": 25.0}
    assert bounds("effort", PEAK, TABLE) == {"max_effort": 3.0, "lookup_efforts": 25.0}
    assert bounds("speed", line, gear) == {"velocity_limit": pytest.approx(8.0)}
    envelope = aa.EnvelopeClampingConfig([0.0, 50.0], [2.0, 1.0], stall_effort=5.0, no_load_velocity=60.0)
    assert bounds("effort", envelope, gear) == {
        **{"lookup_efforts": 20.0, "stall_effort": 50.0},
        "max_driving_effort": math.inf,
    }
    assert (joint_side.effort_factor(PEAK, -10.0), joint_side.effort_factor(TABLE, -10.0)) == (10.0, 1.0)


def test_before_a_transmission_of_ones_own_nothing_is_known() -> None:
    assert math.isnan(joint_side.ratio_of(motor_of([PD, OwnConfig()])))
    assert joint_side.gains_at_joint(motor_of([PD, OwnConfig()])) is None
    assert bounds("effort", PEAK, TABLE, OwnConfig()) == {"lookup_efforts": 25.0}
    assert joint_side.gains_at_joint(motor_of([aa.NeuralControlConfig("net.onnx"), aa.TransmissionConfig(3.0)])) is None


def test_ratio_that_a_file_lacks_is_unknown() -> None:
    assert math.isnan(joint_side.ratio_of(motor_of([PD, aa.TransmissionConfig(None)])))  # pyright: ignore[reportArgumentType]
    assert (
        joint_side.ratio_of(motor_of([PD])) == 1.0
        and joint_side.ratio_of(motor_of([PD, aa.TransmissionConfig(7.0)])) == 7.0
    )
