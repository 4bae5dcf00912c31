"""Battery of a robot: its voltage under load, and what all actuators of a robot share."""

import math
import warnings

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost

NAMES = ["hip", "knee", "ankle"]
BATTERY = aa.SupplyConfig(24.0, resistance=0.2, sag=0.05, min_voltage=6.0)
WINDING = aa.ElectricalConfig(torque_constant=0.5, resistance=0.4, voltage=24.0)
MOTOR = [aa.PDControlConfig(40.0, 1.0), WINDING, BATTERY]


def voltage_under(config: aa.SupplyConfig, power: float, effort: float = 0.0) -> float:
    values = [np.full(1, float(getattr(config, name)), np.float32) for name in aa.SupplyBattery.PARAMETERS]
    prepared = native.core.prepare("SupplyBattery", [*values, np.full(1, 0.001, np.float32)])
    # no other losses; a state as after a reset
    signals = [0.0, 0.0, 0.0, 0.001, power, 0.0, effort, math.nan, 0.0, 0.0, math.nan, 0.0, 1.0]
    return float(native.core.law("SupplyBattery", [*(np.full(1, one, np.float32) for one in signals), *prepared])[0][0])


@pytest.mark.skipif(native.core is None, reason="the native core was not built")
def test_voltage_solves_the_circuit() -> None:
    """V = U − R·P/V up to half the voltage, which is the most that a source gives; beyond, it stays there."""
    plain = aa.SupplyConfig(24.0, resistance=0.2)
    for power in (0.0, 10.0, 300.0, 719.0):
        voltage = voltage_under(plain, power)
        assert voltage == pytest.approx(24.0 - 0.2 * power / voltage, rel=1e-4)
    for power in (720.0, 1e4, 1e30):
        assert voltage_under(plain, power) == pytest.approx(12.0, rel=1e-3)
    assert voltage_under(aa.SupplyConfig(24.0, resistance=0.2, min_voltage=15.0), 1e4) == 15.0
    assert voltage_under(aa.SupplyConfig(24.0), 1e4) == 24.0


@pytest.mark.skipif(native.core is None, reason="the native core was not built")
def test_linear_sag_and_regeneration() -> None:
    """max(V₀ − g·Σ|effort|, V_min); returned power raises the voltage only where the source takes it up."""
    linear = aa.SupplyConfig(24.0, sag=0.05, min_voltage=20.0)
    assert voltage_under(linear, 1e3, 30.0) == pytest.approx(22.5) and voltage_under(linear, 0.0, 300.0) == 20.0
    taken = aa.SupplyConfig(24.0, resistance=0.2, regeneration=True)
    assert voltage_under(taken, -100.0) == pytest.approx(24.0 + 0.2 * 100.0 / voltage_under(taken, -100.0), rel=1e-5)
    assert voltage_under(aa.SupplyConfig(24.0, resistance=0.2), -100.0) == 24.0


def test_every_joint_of_a_robot_has_the_same_voltage() -> None:
    arrays = aa.ActuatedArrays(NAMES, {".*": MOTOR}, num_robots=5)
    rng, power, effort = np.random.default_rng(4), np.zeros(5), np.zeros(5)
    lowest = 24.0
    for _ in range(60):
        q, v, target = rng.normal(size=(3, 5, len(NAMES))).astype(np.float32)
        given = np.array(arrays.step(q, v, target, 0.005), np.float64)
        voltage = by_joint(arrays, "supply_voltage")
        U = np.maximum(24.0 - 0.05 * effort, 6.0)
        expected = np.maximum(U / 2 + np.sqrt(np.maximum(U**2 / 4 - 0.2 * np.maximum(power, 0), 0)), 6.0)
        np.testing.assert_allclose(voltage, np.broadcast_to(expected[:, None], voltage.shape), rtol=2e-5)
        power = by_joint(arrays, "power").sum(axis=1)
        effort = np.abs(given).sum(axis=1)
        lowest = min(lowest, voltage.min())
    assert lowest < 15.0


def by_joint(arrays: aa.ActuatedArrays, name: str) -> np.ndarray:
    """A state of all joints, float64 `(robots, joints)`."""
    found = [one for key, one in arrays.save_state().items() if key.endswith(f".{name}")]
    return np.concatenate([one.reshape(arrays.num_robots, -1) for one in found], axis=1).astype(np.float64)


def test_sagging_battery_limits_the_winding() -> None:
    """From the third step on: the second one reads the open-circuit voltage, in the first one it has its own."""
    alone = aa.ActuatedArrays(NAMES, {".*": MOTOR}, num_robots=1)
    fast = np.full((1, 3), 15.0, np.float32)
    zero, far = np.zeros_like(fast), np.full_like(fast, 1.0)
    first, _, later = (np.array(alone.step(zero, fast, far, 0.005))[0].copy() for _ in range(3))
    assert (later < first - 1.0).all()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_wrappers_of_a_robot_share_its_battery(order) -> None:
    parts = [{"hip|ankle": MOTOR}, {"knee": MOTOR}]
    found = []
    for motors in ([{".*": MOTOR}], [parts[at] for at in order]):
        host = ArraysHost(NAMES, 2)
        host.play()
        with aa.use_host(host), warnings.catch_warnings():
            # joints of the other wrapper
            warnings.simplefilter("ignore", UserWarning)
            wrappers = [aa.ArticulationActuators.from_configs("/Robot_.*", one) for one in motors]
        assert len(wrappers) == len(motors)
        rng, efforts = np.random.default_rng(6), []
        for _ in range(30):
            arrays = host.arrays()
            for name in ("positions", "velocities", "position_targets"):
                getattr(arrays, name)[:] = rng.normal(size=6).astype(np.float32)
            host.step(0.005)
            efforts.append(arrays.efforts.copy())
        found.append(np.array(efforts))
    np.testing.assert_array_equal(found[0], found[1])
    assert found[0].any()
