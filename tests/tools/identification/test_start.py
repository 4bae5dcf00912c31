import numpy as np
import pytest
from hidden_motors import PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators import MaxEffortClampingConfig
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Decoupled, Links
from isaacsim.core.experimental.actuators.tools.identification.fit import Bench
from isaacsim.core.experimental.actuators.tools.identification.start import starts

pytest.importorskip("scipy")
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
BENCH = Bench("hinge", 0, known_motor())
TRUE = {"viscous": 0.2, "coulomb": 0.4, "armature": 0.03, "encoder_bias": 0.02, "delay": 0.06}


@pytest.fixture(scope="module")
def cases() -> list[Decoupled]:
    log = hidden_log(PENDULUM, {"hinge": hidden_motor(delay=TRUE["delay"])}, ["hinge"], seconds=4.0)
    links = Links(PENDULUM, ["hinge"])
    try:
        return [links.decouple(log, np.array([TRUE["encoder_bias"]]))]
    finally:
        links.close()


def test_a_long_delay_is_found(cases) -> None:
    start = {"viscous": 0.05, "coulomb": 0.05, "delay": 0.005}
    found = starts(BENCH, cases, start, {name: TRUE[name] for name in ("armature", "encoder_bias")}, 0)[0]
    assert found["delay"] == pytest.approx(TRUE["delay"], abs=0.02) and found["viscous"] == 0.05


@pytest.mark.parametrize("factor", [0.25, 0.5, 2.0, 4.0])
def test_gains_are_found_below_and_above_the_known_ones(cases, factor) -> None:
    start = {"kp": 40.0 * factor, "kd": 1.0 * factor, "viscous": 0.05, "coulomb": 0.05, "delay": 0.005}
    fixed = {name: TRUE[name] for name in ("armature", "encoder_bias")}
    found = starts(BENCH, cases, start, fixed, 0)
    assert found == starts(BENCH, cases, start, fixed, 0) and 1 < len(found) <= 3
    best = min([BENCH.fit(cases, one, fixed) for one in found], key=lambda fit: fit.error)
    assert best.values["kp"] == pytest.approx(40.0, rel=0.02)
    # which damps the joint likewise
    assert best.values["kd"] + best.values["viscous"] == pytest.approx(1.2, rel=0.02)


def test_a_limit_far_below_that_of_the_motor_is_found() -> None:
    """The motor of the file has 500 N·m, which no motion reaches."""
    motor = hidden_motor(bias=0.0)
    motor.clamping = [MaxEffortClampingConfig(12.0)]
    links = Links(PENDULUM, ["hinge"])
    try:
        weak = [links.decouple(hidden_log(PENDULUM, {"hinge": motor}, ["hinge"], seconds=4.0), np.zeros(1))]
    finally:
        links.close()
    fixed = {"viscous": 0.2, "coulomb": 0.4, "armature": 0.03, "delay": 0.008}
    start = starts(BENCH, weak, {"max_effort": 500.0}, fixed, 0)[0]
    assert BENCH.fit(weak, start, fixed).values["max_effort"] == pytest.approx(12.0, rel=0.02)
