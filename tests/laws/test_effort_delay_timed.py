"""Delay of the effort between controller and motor: what is late, and what is not. See `test_late.py` for rings."""

import isaacsim.core.experimental.actuators as aa
import late_reference
import numpy as np
import oracle
import pytest
from late_reference import ENGINES, arrays_on, on_both, stepped

DT = 0.005
PD, DELAY = aa.PDControlConfig(20.0, 1.0), aa.EffortDelayConfig(steps=2)


def test_limits_see_the_delayed_effort_at_the_present_velocity(rng) -> None:
    given = late_reference.inputs(rng, 30, 2, 1)
    computed = on_both(["j"], {"j": [PD]}, given, DT)
    found = on_both(["j"], {"j": [PD, DELAY, aa.DCMotorClampingConfig(9.0, 3.0, 7.0)]}, given, DT)
    for step, robot in np.ndindex(30, 2):
        late = float(computed[max(0, step - 2), robot, 0])
        expected = oracle.dc_motor_clamp(late, float(given[step][1][robot, 0]), 9.0, 3.0, 7.0)
        assert found[step, robot, 0] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_delay_is_before_a_transmission(rng) -> None:
    given, gear = late_reference.inputs(rng, 20, 2, 1), aa.TransmissionConfig(4.0)
    plain = on_both(["j"], {"j": [PD, gear]}, given, DT)
    np.testing.assert_array_equal(on_both(["j"], {"j": [PD, DELAY, gear]}, given, DT)[2:], plain[:-2])


@pytest.mark.parametrize("engine", ENGINES)
def test_computed_efforts_are_those_of_the_controller(engine, rng) -> None:
    given = late_reference.inputs(rng, 20, 2, 1)
    arrays = arrays_on(engine, ["j"], {"j": [PD, DELAY]}, 2)
    with arrays.record() as log:
        applied = stepped(arrays, given, DT)
    np.testing.assert_array_equal(log.computed_efforts, on_both(["j"], {"j": [PD]}, given, DT))
    np.testing.assert_array_equal(log.applied_efforts, applied)
    np.testing.assert_array_equal(applied[2:], log.computed_efforts[:-2])


def test_a_fault_is_not_late(rng) -> None:
    given = late_reference.inputs(rng, 20, 2, 1)
    clean = on_both(["j"], {"j": [PD]}, given, DT)
    given[7][0][1, 0] = np.nan
    found = on_both(["j"], {"j": [PD, DELAY]}, given, DT)
    assert found[7, 1, 0] == 0.0
    np.testing.assert_array_equal(found[2:, 0], clean[:-2, 0])
    # the step with the fault is left out of the past
    np.testing.assert_array_equal(found[8, 1], clean[5, 1])
    np.testing.assert_array_equal(found[10:, 1], clean[8:-2, 1])
