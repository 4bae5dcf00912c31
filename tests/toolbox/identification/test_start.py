from __future__ import annotations

import numpy as np
import pytest
from hidden_motors import PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators import MaxEffortClampingConfig
from isaacsim.core.experimental.actuators.native import core
from isaacsim.core.experimental.actuators.toolbox.identification.decoupling import Decoupled, Links
from isaacsim.core.experimental.actuators.toolbox.identification.fit import Bench
from isaacsim.core.experimental.actuators.toolbox.identification.start import searched, tried

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


def test_a_long_delay_is_found(cases: list[Decoupled]) -> None:
    start = {"viscous": 0.05, "coulomb": 0.05, "delay": 0.005}
    fixed = {name: TRUE[name] for name in ("armature", "encoder_bias")}
    found = tried(BENCH, cases, start, fixed)
    assert found["delay"] == pytest.approx(TRUE["delay"], abs=0.0051)
    assert {name: found[name] for name in ("viscous", "coulomb")} == {"viscous": 0.05, "coulomb": 0.05}


def test_a_search_comes_near_and_is_the_same_each_time(cases: list[Decoupled]) -> None:
    pytest.importorskip("cma")
    start = {"viscous": 1.0, "coulomb": 2.0}
    fixed = {name: TRUE[name] for name in ("armature", "encoder_bias", "delay")}
    found, again, other = (searched(BENCH, cases, start, fixed, 15, seed) for seed in (0, 0, 1))
    assert found == again != other
    assert BENCH.error(cases, {**fixed, **found}) < 0.1 * BENCH.error(cases, {**fixed, **start})


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
    start = tried(BENCH, weak, {"max_effort": 500.0}, fixed)
    assert BENCH.fit(weak, start, fixed).values["max_effort"] == pytest.approx(12.0, rel=0.02)
