"""Signals of the shafts of geared motors in recordings, and their panel."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.recorded_signals import OF_TRANSMISSIONS

DT, RATIO, OFFSET = 0.005, -12.0, 0.3
PD = [aa.PDControlConfig(0.5, 0.01), aa.MaxEffortClampingConfig(0.4)]
# every test runs with each engine
pytestmark = pytest.mark.usefixtures("engine_kind")


def moved(hip, signals=None) -> aa.Recording:
    leg = aa.ActuatedArrays(["hip", "knee"], {"hip": hip, "knee": PD}, num_robots=2)
    q, qd, target = np.random.default_rng(5).normal(size=(3, 30, 2, 2)).astype(np.float32)
    with leg.record() if signals is None else leg.record(signals) as log:
        for signal in zip(q, qd, target, strict=True):
            leg.step(*signal, DT)
    return log


@pytest.mark.slow("warp")
def test_shafts_turn_as_their_gears_make_them() -> None:
    log = moved([*PD, aa.TransmissionConfig(RATIO, OFFSET), aa.FrictionConfig(0.2, assumed_inertia=0.1)])
    gear = np.array([RATIO, 1.0])
    np.testing.assert_allclose(log.shaft_positions, log.positions * gear + [OFFSET, 0.0], rtol=1e-6)
    np.testing.assert_allclose(log.shaft_velocities, log.velocities * gear, rtol=1e-6)
    power = log.shaft_efforts * log.shaft_velocities
    np.testing.assert_allclose(power, log.motor_efforts * log.velocities, rtol=1e-6)
    np.testing.assert_allclose(log.shaft_efforts, np.clip(log.computed_efforts, -0.4, 0.4), rtol=1e-6)
    np.testing.assert_allclose(log.max_efforts, [[0.4 * 12.0, 0.4]] * 2, rtol=1e-6)
    limited = np.abs(log.computed_efforts) > 0.4
    assert limited.any() and ((log.limited_by == "ClampingMaxEffort") == limited).all()
    expected = (0.4 * np.abs(gear) + 0.0 * limited)[limited]
    np.testing.assert_allclose(np.abs(log.motor_efforts)[limited], expected, rtol=1e-6)


def test_table_of_the_joint_bounds_the_shaft() -> None:
    log = moved([*PD, aa.PositionBasedClampingConfig([-9.0, 9.0], [3.0, 3.0]), aa.TransmissionConfig(RATIO)])
    assert np.abs(log.motor_efforts[..., 0]).max() == 3.0
    np.testing.assert_allclose(np.abs(log.shaft_efforts[..., 0]).max(), 0.25, rtol=1e-6)
    assert "ClampingPositionBased" in log.limited_by[..., 0]


def test_they_are_recorded_where_there_are_gears(tmp_path) -> None:
    """Otherwise on request; files have them."""
    assert not {*OF_TRANSMISSIONS}.intersection(moved(PD).signals)
    asked = moved(PD, ("shaft_velocities",))
    np.testing.assert_array_equal(asked.shaft_velocities, asked.velocities)
    log = moved([*PD, aa.TransmissionConfig(RATIO)], ("computed_efforts",))
    assert log.signals == ("computed_efforts", "motor_efforts", "shaft_efforts")
    log.save(tmp_path / "log.csv")
    np.testing.assert_array_equal(aa.Recording.load(tmp_path / "log.csv").shaft_efforts, log.shaft_efforts)


@wp.func
def own_effort(effort: float, position: float, velocity: float, ratio: float, offset: float, of_motor: float):
    return ratio * effort


def test_transmissions_of_ones_own_are_unknown() -> None:
    own = type("TransmissionOwn", (aa.TransmissionGear,), {"LAW": own_effort, "__doc__": "One of the user's own."})
    ones = [wp.array(np.float32([value]), dtype=wp.float32, device="cpu") for value in (2.0, 0.0, 0.0)]
    config = aa.ActuatorConfig(aa.PDControlConfig(3.0, 0.0), [aa.MaxEffortClampingConfig(1.0)], others=[own(*ones)])
    leg = aa.ActuatedArrays(["hip"], [(config, "hip")])
    with leg.record() as log:
        leg.step(np.zeros(1, np.float32), np.ones(1, np.float32), np.ones(1, np.float32), DT)
    assert log.motor_efforts.item() == 2.0 and np.isnan(log.max_efforts).all()
    assert all(np.isnan(getattr(log, name)).all() for name in OF_TRANSMISSIONS)


def test_efforts_on_shafts_have_a_panel_of_their_own() -> None:
    log = moved([*PD, aa.TransmissionConfig(RATIO)])
    figure = log.plot("hip")
    _, joint, shaft, *_ = figure.axes
    assert {text.get_text() for text in joint.texts} == {"applied", "limit"}
    assert shaft.get_title("left").startswith("Effort on the motor's shaft, before the gear")
    assert {text.get_text() for text in shaft.texts} == {"computed", "shaft"}
    drawn = {tuple(line.get_ydata()) for line in shaft.lines}
    assert {tuple(log.shaft_efforts[:, 0, 0]), tuple(log.computed_efforts[:, 0, 0])} <= drawn
    both = log.plot()
    assert both.axes[1].get_legend() is None
    assert [text.get_text() for text in both.axes[2].get_legend().get_texts()] == ["before the clamps"]
    assert len(log.plot("knee").axes) == len(figure.axes) - 1
