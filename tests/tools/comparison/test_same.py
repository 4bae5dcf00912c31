"""Values that count as the same."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.comparison.same import alike_motors, different, same, stage_values


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (1.0, 1.00001, True),
        (1.0, 1.001, False),
        (0.0, 1e-10, True),
        (np.inf, np.inf, True),
        (None, 0.0, False),
        ([1.0, 2.0], [1.0, 2.0000001], True),
        ([1.0, 2.0], [1.0], False),
        ("joint", "motor", False),
    ],
)
def test_precision_of_files(first, second, expected) -> None:
    assert same(first, second) is expected


def test_what_one_side_lacks_differs() -> None:
    found = different({("a", "kp"): 1.0, ("b", "kp"): 2.0}, {("b", "kp"): 2.0, ("c", "kp"): 3.0})
    assert found == {("a", "kp"): (1.0, None), ("c", "kp"): (None, 3.0)}


def test_of_a_law_that_the_other_lacks_only_its_own_numbers_are_told() -> None:
    """Defaults say nothing; a law with defaults alone is there."""
    plain = aa.MotorConfig(aa.PDControlConfig(2.0, 1.0))
    rich = aa.MotorConfig(aa.PDControlConfig(2.0, 1.0), delay=aa.DelayConfig(3), others=[aa.ImplicitConfig()])
    assert stage_values(rich, ["delay", "effort_mode"], plain) == {"delay.delay_steps": 3, "implicit": "yes"}
    assert "implicit.load_share" in stage_values(rich, ["effort_mode"], rich)
    assert stage_values(plain, ["controller"]) == {"PD.kp": 2.0, "PD.kd": 1.0, "PD.const_effort": 0.0}


def test_motors_alike_are_one_motor_in_two_models() -> None:
    """Numbers may be off by a third; laws may not be others."""

    def motor(kp: float, limit: float) -> aa.MotorConfig:
        return aa.MotorConfig(aa.PDControlConfig(kp, 1.0), [aa.MaxEffortClampingConfig(limit)])

    assert alike_motors(motor(100.0, 9.0), motor(120.0, 8.0))
    assert not alike_motors(motor(100.0, 9.0), motor(200.0, 9.0))
    assert not alike_motors(motor(100.0, 9.0), aa.MotorConfig(aa.PDControlConfig(100.0, 1.0)))
    heavy, of_robot = (aa.MotorConfig(aa.PDControlConfig(100.0, 1.0), armature=one) for one in (0.5, None))
    assert alike_motors(heavy, of_robot)
    assert not alike_motors(heavy, aa.MotorConfig(aa.PDControlConfig(100.0, 1.0), armature=0.1))
