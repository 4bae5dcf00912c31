"""Electrical side of motors in recordings: currents, voltages, power, losses, and the table of them."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.engine.recorded_signals import OF_STATES

DT, INERTIA, K, R = 0.002, 0.02, 0.5, 0.3
PD = [aa.PDControlConfig(30.0, 1.0), aa.MaxEffortClampingConfig(8.0)]
# the driver limits the effort: a limit behind the winding would not change its current
WINDING = aa.ElectricalConfig(K, R, voltage=12.0, max_current=16.0)
# every test runs with each engine
pytestmark = pytest.mark.usefixtures("engine_kind")


def moved(signals=None, second=PD) -> aa.Recording:
    """Two joints of two robots, by default the second one without a winding, from rest to a target."""
    leg = aa.ActuatedArrays(["hip", "knee"], {"hip": [*PD, WINDING], "knee": second}, num_robots=2)
    q, qd, target = np.zeros((3, 2, 2), np.float32)
    target[0], target[1] = 0.4, 2.0
    with leg.record() if signals is None else leg.record(signals) as log:
        for _ in range(100):
            qd += leg.step(q, qd, target, DT) * np.float32(DT / INERTIA)
            q += qd * np.float32(DT)
    return log


def test_states_of_the_winding_are_recorded() -> None:
    log = moved()
    np.testing.assert_allclose(log.currents[..., 0] * K, log.applied_efforts[..., 0], rtol=1e-5, atol=1e-5)
    voltages = R * log.currents[..., 0] + K * log.velocities[..., 0]
    np.testing.assert_allclose(log.terminal_voltages[..., 0], voltages, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(log.electrical_power, log.terminal_voltages * log.currents, rtol=1e-5)
    for name in ("currents", "terminal_voltages", "electrical_power", "losses"):
        assert not getattr(log, name)[..., 1].any(), name
    absent = {"winding_temperatures", "housing_temperatures", "magnet_rises"}
    absent |= {"rotor_positions", "rotor_velocities", "housing_heat", "brake_power", "charges"}
    assert {*OF_STATES}.difference(log.signals) == absent and not log.supply_voltages.any()


def test_losses_are_what_does_not_become_motion() -> None:
    """R·i², but for the change of the velocity in the step, which the voltage does not know without an inertia."""
    log = moved()
    missing = log.losses[..., 0] - (R * log.currents[..., 0].astype(float) ** 2)
    late = log.motor_efforts[..., 0] ** 2 * DT / INERTIA / 2
    np.testing.assert_allclose(missing[:-1], -late[:-1], rtol=2e-3, atol=2e-3)


def test_table_of_motors(capsys) -> None:
    log = moved()
    table = log.motors()
    assert [(one.robot, one.joint) for one in table] == [("robot 1", "hip"), ("robot 0", "hip")]
    first = table[0]
    assert first.largest_current == pytest.approx(np.abs(log.currents[:, 1, 0]).max())
    assert first.drawn - first.returned == pytest.approx(log.electrical_power[:, 1, 0].sum() * DT, rel=1e-4)
    limited = np.abs(log.terminal_voltages[:, 1, 0]) > 11.999
    assert 0.0 < first.at_voltage_limit < 1.0 and first.at_voltage_limit == pytest.approx(limited.mean())
    assert first.losses > table[1].losses > 0.0 and first.hottest == 0.0
    print(table)
    assert "losses [J]" in capsys.readouterr().out and str(type(table)()) == "no motor has a winding"


def test_nothing_electrical_is_recorded_without_a_winding() -> None:
    leg = aa.ActuatedArrays(["hip"], {".*": PD})
    with leg.record() as log:
        leg.step(*np.zeros((3, 1, 1), np.float32), DT)
    assert not {*OF_STATES, "losses"}.intersection(log.signals)
    with pytest.raises(AttributeError, match="electrical_power was not recorded"):
        log.motors()
    with leg.record(["currents"]) as log:
        leg.step(*np.zeros((3, 1, 1), np.float32), DT)
    assert log.currents.shape == (1, 1, 1) and not log.currents.any()


def test_losses_bring_what_they_follow_from() -> None:
    assert {"electrical_power", "loss_power", "motor_efforts", "velocities", "losses"} == {*moved(["losses"]).signals}


def test_files_keep_them(tmp_path) -> None:
    log = moved(second=[*PD, WINDING])
    for ending in (".npz", ".csv"):
        log.save(tmp_path / f"log{ending}")
        again = aa.Recording.load(tmp_path / f"log{ending}")
        np.testing.assert_array_equal(again.currents, log.currents)
        assert again.motors() == log.motors()
    assert {"current [A]", "voltage [V]"} <= {axes.get_ylabel() for axes in log.plot("hip").axes}
