"""Battery with a brake resistor, a charge and a limit: what braking does, how it empties, and what robots may draw."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from late_reference import ENGINES, arrays_on
from one_inertia import Plant
from scipy.integrate import solve_ivp

K, R, VOLTS = 0.5, 0.2, 24.0
WINDING = aa.ElectricalConfig(K, R, voltage=VOLTS)


def braking(supply: aa.SupplyConfig, speed: float = 30.0, effort: float = -10.0, steps: int = 4) -> Plant:
    """A motor that returns power: R·i² − |effort|·speed."""
    plant = Plant([WINDING, supply], math.inf, 0.01)
    for _ in range(steps):
        plant.v[:] = speed
        plant.run(1, effort=effort)
    return plant


RETURNED = 10.0 * 30.0 - R * 20.0**2


def test_power_that_nobody_takes_has_a_name() -> None:
    assert braking(aa.SupplyConfig(VOLTS, resistance=0.1)).state("brake_power")[0] == pytest.approx(RETURNED, rel=1e-5)
    taken = braking(aa.SupplyConfig(VOLTS, resistance=0.1, regeneration=True))
    volts = taken.state("supply_voltage")[0]
    assert taken.state("brake_power")[0] == 0.0 and volts == pytest.approx(VOLTS + 0.1 * RETURNED / volts, rel=1e-5)


def test_voltage_has_a_bound() -> None:
    for resistor in (0.0, 4.0):
        supply = aa.SupplyConfig(VOLTS, resistance=0.3, regeneration=True, max_voltage=25.0, brake_resistance=resistor)
        plant = braking(supply)
        volts = plant.state("supply_voltage")[0]
        assert volts == pytest.approx(25.0, rel=1e-6)
        assert plant.state("brake_power")[0] == pytest.approx(RETURNED - 25.0 * (25.0 - VOLTS) / 0.3, rel=1e-4)
    supply = aa.SupplyConfig(VOLTS, resistance=0.3, regeneration=True, max_voltage=25.0, brake_resistance=20.0)
    plant = braking(supply)
    volts, brake = plant.state("supply_voltage")[0], plant.state("brake_power")[0]
    assert volts > 25.5 and brake == pytest.approx(volts**2 / 20.0, rel=1e-4)
    assert brake + volts * (volts - VOLTS) / 0.3 == pytest.approx(RETURNED, rel=1e-4)


def test_battery_empties_along_its_curve() -> None:
    """Charge and voltage against an integration within 1e-5, and back to the first charge after a reset."""
    curve = {"knee_charge": 0.2, "knee_voltage": 21.0, "empty_voltage": 15.0}
    supply = aa.SupplyConfig(VOLTS, resistance=0.1, capacity=0.02, charge=0.9, **curve)
    plant = Plant([WINDING, supply], math.inf, 0.001)
    power = R * 8.0**2 + 4.0 * 20.0
    plant.v[:] = 20.0
    for _ in range(12001):
        plant.v[:] = 20.0
        plant.run(1, effort=4.0)

    def volts_of(c):
        source = 21.0 + 3.0 * (c - 0.2) / 0.8 if c > 0.2 else 15.0 + 6.0 * c / 0.2
        return source / 2 + math.sqrt(source**2 / 4 - 0.1 * power)

    found = solve_ivp(
        lambda _t, y: [-power / volts_of(y[0]) / 72.0], (0, 12.0), [0.9], method="LSODA", rtol=1e-10, atol=1e-12
    ).y[0, -1]
    assert 0.05 < found < 0.2 and plant.state("charge_left")[0] == pytest.approx(found, abs=1e-5)
    assert plant.state("supply_voltage")[0] == pytest.approx(volts_of(found), abs=3e-3)
    plant.arrays.reset()
    plant.run(1)
    assert plant.state("charge_left")[0] == pytest.approx(0.9, abs=1e-4)


@pytest.mark.parametrize("limit", [{"max_power": 100.0}, {"max_current": 5.0}])
def test_robot_draws_at_most_its_power(limit) -> None:
    stages = [aa.PDControlConfig(100.0, 0.0), WINDING, aa.SupplyConfig(VOLTS, resistance=0.05, **limit)]
    arrays = aa.ActuatedArrays(["a", "b"], {".*": stages})
    q, target, v = np.zeros((1, 2), np.float32), np.array([[0.1, 0.05]], np.float32), np.full((1, 2), 20.0, np.float32)
    for _ in range(60):
        efforts = arrays.step(q, v, target, 0.001).copy()
    states = arrays.save_state()
    power = sum(values.sum() for key, values in states.items() if key.endswith(".power"))
    volts = next(values for key, values in states.items() if key.endswith(".supply_voltage")).reshape(-1)[0]
    assert power == pytest.approx(limit.get("max_power") or 5.0 * volts, rel=1e-4)
    assert efforts[0, 0] == pytest.approx(2.0 * efforts[0, 1], rel=1e-5) and efforts[0, 0] < 9.0


def test_states_of_groups_that_come_and_go_are_as_on_warp() -> None:
    found = []
    for engine in ENGINES:
        stages = [aa.PDControlConfig(100.0, 0.0), WINDING, aa.SupplyConfig(VOLTS, resistance=0.05, max_power=50.0)]
        arrays = arrays_on(engine, ["a", "b"], {".*": stages}, 3)
        supply = next(one for one in arrays.actuators[0].stages if isinstance(one, aa.SupplyBattery))
        q, target, v = (np.full((3, 2), value, np.float32) for value in (0.0, 0.1, 20.0))
        shares = []
        for step in range(60):
            if step in (15, 45):
                supply.max_power.assign(np.full(supply.max_power.shape, np.inf if step == 15 else 50.0, np.float32))
            if step == 25:
                supply.capacity.assign(np.full(supply.capacity.shape, 0.01, np.float32))
            if step == 35:
                supply.capacity.assign(np.full(supply.capacity.shape, np.inf, np.float32))
            if step == 50:
                arrays.reset(indices=[1])
            arrays.step(q, v, target, 0.001)
            states = arrays.save_state()
            shares.append(next(one for key, one in states.items() if key.endswith(".supply_share")).min())
            found.append({key: one for key, one in states.items() if "supply" in key or "charge" in key})
        assert shares[14] < 0.9 and shares[20] == shares[40] == 1.0 and shares[59] < 0.9
    for ours, theirs in zip(found[:60], found[60:], strict=True):
        np.testing.assert_equal(ours, theirs)


def test_voltages_in_a_wrong_order_are_named() -> None:
    for values, said in (
        ({"max_voltage": 20.0}, "max_voltage = 20.0: must be at least voltage, 24.0"),
        ({"empty_voltage": 25.0}, "empty_voltage = 25.0: must be at most voltage, 24.0"),
        ({"knee_charge": 0.1, "knee_voltage": 25.0}, "knee_voltage = 25.0: must be at most voltage, 24.0"),
    ):
        with pytest.raises(ValueError, match=said):
            aa.ActuatedArrays(["j"], {"j": [aa.PDControlConfig(1.0, 0.0), WINDING, aa.SupplyConfig(VOLTS, **values)]})
