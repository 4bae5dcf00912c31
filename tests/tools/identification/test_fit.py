from dataclasses import replace

import numpy as np
import pytest
from hidden_motors import PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators import CommandLagConfig, EffortLagConfig, ElectricalConfig
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Decoupled, Links
from isaacsim.core.experimental.actuators.tools.identification.fit import Bench, uncertainty
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.parameters import PARAMETERS

lfilter = pytest.importorskip("scipy.signal").lfilter
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
BENCH = Bench("hinge", 0, known_motor())
TRUE = {"viscous": 0.2, "coulomb": 0.4, "armature": 0.03, "encoder_bias": 0.02, "delay": 0.008}


@pytest.fixture(scope="module")
def cases() -> list[Decoupled]:
    log = hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"])
    links = Links(PENDULUM, ["hinge"])
    try:
        return [links.decouple(log, np.array([TRUE["encoder_bias"]]))]
    finally:
        links.close()


@pytest.mark.slow
def test_hidden_values_are_found(cases) -> None:
    start = {"viscous": 0.05, "coulomb": 0.05, "armature": 0.01, "encoder_bias": 0.0, "delay": 0.004}
    found = BENCH.fit(cases, start, {})
    for name, tolerance in (("viscous", 0.03), ("coulomb", 0.03), ("armature", 0.1), ("delay", 0.1)):
        assert found.values[name] == pytest.approx(TRUE[name], rel=tolerance), name
    assert found.values["encoder_bias"] == pytest.approx(TRUE["encoder_bias"], abs=2e-3) and found.error < 5e-4
    assert all(0 < found.errors[name] < 0.1 for name in start)
    np.testing.assert_allclose(np.diagonal(found.correlations), 1.0)


def test_fixed_values_stay_and_without_free_ones_it_is_the_error(cases) -> None:
    fixed = {name: TRUE[name] for name in ("armature", "encoder_bias", "delay")}
    assert set(BENCH.fit(cases, {"viscous": 0.1, "coulomb": 0.1}, fixed).values) == {"viscous", "coulomb"}
    none = BENCH.fit(cases, {}, TRUE)
    assert none.values == {} and none.error == pytest.approx(BENCH.error(cases, TRUE), rel=1e-3)
    assert none.error < 1e-3 and BENCH.error(cases, {**TRUE, "coulomb": 0.0}) > 5 * none.error


def test_a_rough_fit_comes_near_by_longer_steps(cases) -> None:
    fixed = {name: TRUE[name] for name in ("armature", "encoder_bias", "delay")}
    start = {"viscous": 0.1, "coulomb": 0.1}
    rough, whole = (BENCH.fit(cases, start, fixed, way=way, part="fitted") for way in ("rough", "whole"))
    for name in start:
        assert rough.values[name] == pytest.approx(whole.values[name], rel=0.15), name
    for part, error in (("fitted", whole.error), ("held out", whole.held_out)):
        assert error == pytest.approx(BENCH.error(cases, {**fixed, **whole.values}, part))


def test_what_logs_do_not_tell_has_large_errors(cases) -> None:
    (one,) = cases
    still = {name: np.repeat(signal[:1], len(signal), 0) for name, signal in one.log.signals.items()}
    still["command"] = still["position"] = np.zeros_like(still["command"])
    log = type(one.log)(one.log.time, ["hinge"], still)
    held = Decoupled(log, one.inertia, 0 * one.load, 0 * one.slope, 0 * one.place, 0 * one.velocity, one.least)
    found = BENCH.fit([held], {"viscous": 0.1, "coulomb": 0.1}, {"armature": 0.03})
    assert all(not np.isfinite(error) for error in found.errors.values())


@pytest.mark.slow
def test_a_current_tells_the_torque_constant() -> None:
    true, known = hidden_motor(), known_motor()
    true.others, known.others = [*true.others, ElectricalConfig(0.8, 2.0)], [ElectricalConfig(0.5, 3.0)]
    log = hidden_log(PENDULUM, {"hinge": true}, ["hinge"], columns=["current"])
    links = Links(PENDULUM, ["hinge"])
    try:
        case = links.decouple(log, np.array([TRUE["encoder_bias"]]))
    finally:
        links.close()
    blind = replace(case, log=MotorLog(log.time, log.joints, {n: log.signals[n] for n in ("command", "position")}))
    bench, names = Bench("hinge", 0, known), ("torque_constant", "kp", "kd")
    start = {name: PARAMETERS[name].start for name in TRUE} | {"delay": 0.008, "kp": 30.0, "kd": 1.0}
    found, unseen = (bench.fit([one], start | {"torque_constant": 0.5}, {}) for one in (case, blind))
    for name, value in zip(names, (0.8, 40.0, 1.0), strict=True):
        assert found.values[name] == pytest.approx(value, rel=0.03), name
        assert found.errors[name] < 0.02 * value, name
    assert found.values["viscous"] == pytest.approx(0.2, rel=0.15)
    assert np.isnan(unseen.errors["torque_constant"]) and unseen.values["torque_constant"] == 0.5
    assert 0 < unseen.errors["coulomb"] < 0.05 and found.error == pytest.approx(unseen.error, rel=0.3)


def test_standard_errors_are_those_of_a_line(rng) -> None:
    """In closed form, of parameters of very different scales, and of noise of which each sample is like its last."""
    slopes, noise = rng.normal(size=(20000, 2)), 0.01 * rng.normal(size=20000)
    # the second goes with the first, by a correlation of 0.6 with the opposite sign of that of the parameters
    jacobian = np.stack([slopes[:, 0], 0.6 * slopes[:, 0] + 0.8 * slopes[:, 1]], 1) * [1.0, 1e4]
    expected = 0.01 / np.sqrt(20000 * (1 - 0.6**2)) / np.array([1.0, 1e4])
    for scale in (np.ones(2), np.array([10.0, 1e-3])):
        errors, correlations = uncertainty(noise, jacobian, scale)
        np.testing.assert_allclose(errors, expected, rtol=0.05)
        np.testing.assert_allclose(correlations, [[1.0, -0.6], [-0.6, 1.0]], atol=0.02)
    alike = lfilter([1.0], [1.0, -0.9], noise)
    errors, _ = uncertainty(alike, jacobian, np.ones(2))
    # (1 + 0.9)/(1 - 0.9) samples count as one, beside their larger variance
    np.testing.assert_allclose(errors, expected * alike.std() / noise.std() * np.sqrt(19.0), rtol=0.1)
    unseen, _ = uncertainty(noise, jacobian * [1.0, 0.0], np.ones(2))
    assert np.isnan(unseen[1]) and unseen[0] == pytest.approx(0.01 / np.sqrt(20000), rel=0.05)


def test_no_logs_have_no_error() -> None:
    assert np.isnan(BENCH.error([], {}))


def test_bounds_and_priors_hold(cases) -> None:
    """A narrow prior keeps what the log tells otherwise, and no value leaves its range."""
    rules = PARAMETERS | {
        "viscous": replace(PARAMETERS["viscous"], start=0.1, spread=1e-6),
        "coulomb": replace(PARAMETERS["coulomb"], bounds=(0.0, 0.3)),
    }
    fixed = {name: TRUE[name] for name in ("armature", "encoder_bias", "delay")}
    found = Bench("hinge", 0, known_motor(), rules).fit(cases, {"viscous": 0.05, "coulomb": 0.9}, fixed)
    assert found.values["viscous"] == pytest.approx(0.1, abs=1e-4)
    assert found.values["coulomb"] == pytest.approx(0.3, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.7, 1.4])
def test_columns_do_not_cost_positions(scale) -> None:
    true, known = hidden_motor(), known_motor()
    true.others, known.others = [*true.others, ElectricalConfig(0.8, 2.0)], [ElectricalConfig(0.8 * scale, 2.0)]
    log = hidden_log(PENDULUM, {"hinge": true}, ["hinge"], columns=["current"])
    links = Links(PENDULUM, ["hinge"])
    try:
        case = links.decouple(log, np.array([TRUE["encoder_bias"]]))
    finally:
        links.close()
    found = Bench("hinge", 0, known).fit([case], TRUE | {"delay": 0.004, "coulomb": 0.1}, {})
    assert found.error < 3e-4 and found.values["coulomb"] == pytest.approx(0.4, rel=0.05)
    assert "current" in {**found.columns, **found.left_out}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "lag"), [("command_lag", CommandLagConfig(0.05)), ("effort_lag", EffortLagConfig(0.02))]
)
def test_lags_are_found(name, lag) -> None:
    motor = hidden_motor(delay=0.0, bias=0.0)
    log = hidden_log(PENDULUM, {"hinge": replace(motor, others=[*motor.others, lag])}, ["hinge"])
    links = Links(PENDULUM, ["hinge"])
    case = links.decouple(log, np.zeros(1))
    links.close()
    fixed = {"armature": 0.03, "encoder_bias": 0.0, "delay": 0.0}
    found = BENCH.fit([case], {"viscous": 0.1, "coulomb": 0.1, name: 0.005}, fixed)
    assert found.values[name] == pytest.approx(lag.time_constant, rel=0.1)
    assert found.values["coulomb"] == pytest.approx(0.4, rel=0.1) and found.error < 1e-3
