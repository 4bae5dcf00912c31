"""Residuals of positions and of further columns of logs."""

import numpy as np
import pytest
from hidden_motors import PENDULUM, hidden_log, hidden_motor
from isaacsim.core.experimental.actuators import ElectricalConfig, MotorConfig
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Decoupled, Links
from isaacsim.core.experimental.actuators.tools.identification.residuals import POSITION, Residuals
from isaacsim.core.experimental.actuators.tools.identification.rollout import Rollout

pytest.importorskip("scipy")
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
TRUE = {"torque_constant": 0.8, "armature": 0.03, "encoder_bias": 0.02, "delay": 0.008}
COLUMNS = ("effort", "current", "velocity")


def wound_motor() -> MotorConfig:
    motor = hidden_motor()
    motor.others = [*motor.others, ElectricalConfig(0.8, 2.0)]
    return motor


@pytest.fixture(scope="module")
def case() -> Decoupled:
    log = hidden_log(PENDULUM, {"hinge": wound_motor()}, ["hinge"], seconds=4.0, columns=COLUMNS)
    links = Links(PENDULUM, ["hinge"])
    try:
        return links.decouple(log, np.array([TRUE["encoder_bias"]]))
    finally:
        links.close()


def residuals_of(case: Decoupled, variants: int = 2) -> Residuals:
    rollout = Rollout("hinge", wound_motor(), list(TRUE), variants, COLUMNS)
    assert rollout.outputs == ("effort", "current")
    return Residuals(rollout, [case], 0)


def test_the_true_motor_has_small_ones(case) -> None:
    """Those of a log, which has noise of 1 %, and of a command that is held."""
    residuals = residuals_of(case)
    assert residuals.columns == ("effort", "current")
    found = residuals.by_column([TRUE, {**TRUE, "torque_constant": 1.6}])
    assert list(found) == [POSITION, "effort", "current"]
    assert all(one.shape == (2, len(case.log.time)) for one in found.values())
    assert np.abs(found[POSITION]).mean() < 1e-3
    for name in ("effort", "current"):
        assert np.abs(found[name][0]).mean() < 0.03 * residuals.size(name)
    # twice the torque constant takes half the current for the same effort
    np.testing.assert_allclose(found["effort"][1], found["effort"][0], atol=1e-3)
    assert np.abs(found["current"][1]).mean() > 0.3 * residuals.size("current")


def test_weights_make_all_alike(case) -> None:
    residuals = residuals_of(case)
    weights = residuals.weights(TRUE)
    assert weights[POSITION] == 1.0
    found = residuals.weighted([TRUE], weights).reshape(3, -1)
    sizes = np.sqrt((found**2).mean(1))
    np.testing.assert_allclose(sizes, sizes[0], rtol=1e-6)
    np.testing.assert_array_equal(found[0], residuals.positions([TRUE])[0])
    assert residuals.points == found.shape[1]


def test_when_a_command_is_read_does_not_count(case) -> None:
    """A sample may be before or after the command of its row: an effort of the rate of commands is left out."""
    residuals = residuals_of(case, 1)
    rate = np.gradient(case.log.command, case.log.time, axis=0)
    late = np.interp(case.log.time - TRUE["delay"], case.log.time, rate[:, 0])[:, None]
    signals = {**case.log.signals, "effort": case.log.signals["effort"] + 0.08 * late}
    moved = type(case.log)(case.log.time, ["hinge"], signals)
    names = ("inertia", "load", "slope", "place", "velocity", "least")
    again = type(case)(log=moved, **{name: getattr(case, name) for name in names})
    other = Residuals(Rollout("hinge", wound_motor(), list(TRUE), 1, COLUMNS), [again], 0)
    before, after = (one.by_column([TRUE])["effort"] for one in (residuals, other))
    np.testing.assert_allclose(after, before, atol=1e-9)


def test_sizes_and_reasons(case) -> None:
    residuals = residuals_of(case)
    assert residuals.left_out == {"velocity": "it follows from positions"}
    for size, error in residuals.sizes(TRUE).values():
        assert 0 < error < 0.05 * size
    without = Residuals(Rollout("hinge", wound_motor(), list(TRUE), 1, COLUMNS), [case], 0, {"current": "it is noise"})
    assert without.columns == ("effort",) and without.left_out == residuals.left_out | {"current": "it is noise"}
    assert list(without.sizes(TRUE)) == ["effort"]


def test_faults_are_bounded(case) -> None:
    residuals = residuals_of(case, 1)
    assert np.isfinite(residuals.weighted([{**TRUE, "torque_constant": -1.0}], residuals.weights(TRUE))).all()
