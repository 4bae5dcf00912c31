"""The supply that joints share."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from hidden_motors import ARM, PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Decoupled
from isaacsim.core.experimental.actuators.tools.identification.fit import Bench, Fit
from isaacsim.core.experimental.actuators.tools.identification.identify import identify
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from isaacsim.core.experimental.actuators.tools.identification.parameters import value_of
from isaacsim.core.experimental.actuators.tools.identification.supply import SharedSupply, require_volts, shared_supply

pytest.importorskip("scipy")
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
JOINTS = ["shoulder", "extension"]


def servo(constant: float, kp: float, supply: aa.SupplyConfig, *others: object) -> aa.MotorConfig:
    winding = aa.ElectricalConfig(constant, 2.0, command="voltage")
    limit = aa.MaxEffortClampingConfig(500.0)
    others = [winding, supply, *others]
    return aa.MotorConfig(aa.ServoControlConfig(kp, 1.0, 24.0), clamping=[limit], armature=0.2, others=others)


def servos(supply: aa.SupplyConfig, *, hidden: bool) -> dict[str, aa.MotorConfig]:
    encoder = hidden_motor(bias=0.0).others[1]
    friction = [aa.FrictionConfig(coulomb=2.0, viscous=1.0), aa.FrictionConfig(coulomb=3.0, viscous=4.0)]
    stages = [[one, encoder] if hidden else [] for one in friction]
    return {"shoulder": servo(2.0, 20.0, supply, *stages[0]), "extension": servo(4.0, 40.0, supply, *stages[1])}


@pytest.mark.slow
def test_volts_tell_the_supply_of_two_joints() -> None:
    true = servos(aa.SupplyConfig(24.0, resistance=0.15), hidden=True)
    known = servos(aa.SupplyConfig(22.0), hidden=False)
    options = FitOptions(models=["Coulomb friction"])
    logs = [hidden_log(ARM, true, JOINTS, seed=seed, size=0.3, columns=["volts"]) for seed in (0, 1)]
    found = identify(ARM, logs, known, options)
    estimates = {one.name: one for one in found.estimates if one.joint == "shoulder, extension"}
    for name, value, unit in (("supply.voltage", 24.0, "V"), ("supply_resistance", 0.15, "Ω")):
        assert estimates[name].value == pytest.approx(value, rel=0.03)
        assert estimates[name].standard_error < 0.02 * value and estimates[name].unit == unit
        assert not estimates[name].is_at_bound
        for joint in JOINTS:
            assert value_of(found.motors[joint], name) == estimates[name].value
    assert value_of(found.motors["shoulder"], "coulomb") == pytest.approx(2.0, rel=0.1) and found.error < 2.5e-3
    assert found.unused_columns == [
        "volts of shoulder, extension is not fitted: joints with a winding are simulated with it, and it tells their "
        "supply."
    ]
    blind = [MotorLog(log.time, JOINTS, {name: log.signals[name] for name in ("command", "position")}) for log in logs]
    without = identify(ARM, blind, known, options)
    assert without.error > 2 * found.error and any("volts in the logs" in one for one in without.warnings)


def case_of(volts: np.ndarray) -> Decoupled:
    time = np.arange(len(volts)) * 0.004
    command = np.tile(0.3 * np.sin(8 * time)[:, None], 2)
    columns = {"command": command, "position": command, "volts": np.tile(volts[:, None], 2)}
    still, ones = np.zeros_like(command), np.ones_like(command)
    return Decoupled(MotorLog(time, JOINTS, columns), ones, still, still, command, still, np.ones(2))


def test_it_is_a_line_through_currents() -> None:
    fits = [Fit({"armature": 0.2}, {}, np.zeros((0, 0)), 0.0)] * 2
    motors = servos(aa.SupplyConfig(24.0), hidden=False)
    benches = [Bench(joint, j, motors[joint], is_supplied=True) for j, joint in enumerate(JOINTS)]
    volts = np.full(500, 24.0)
    # until the voltage is that under the power which it gives
    for _ in range(30):
        case = case_of(volts)
        power = np.maximum(sum(bench.power(case, fits[0].values) for bench in benches), 0.0)
        # V = U - R·P/V
        volts = 0.5 * (24.0 + np.sqrt(24.0**2 - 4.0 * 0.02 * power))
    assert volts.min() < 23.5
    found = shared_supply(benches, fits, [case])
    assert found is not None and found.numbers == pytest.approx((24.0, 0.02), rel=0.03)


def test_without_windings_or_a_sag_there_is_none() -> None:
    fits = [Fit({"armature": 0.2}, {}, np.zeros((0, 0)), 0.0)] * 2
    plain = [Bench(joint, j, known_motor(), is_supplied=True) for j, joint in enumerate(JOINTS)]
    assert shared_supply(plain, fits, [case_of(np.full(500, 24.0))]) is None
    motors = servos(aa.SupplyConfig(24.0), hidden=False)
    wound = [Bench(joint, j, motors[joint], is_supplied=True) for j, joint in enumerate(JOINTS)]
    found = shared_supply(wound, fits, [case_of(24.0 + np.random.default_rng(0).normal(0.0, 0.1, 500))])
    assert found is None or found.numbers[1] < 0.05


def test_motors_with_a_winding_get_it() -> None:
    supply = SharedSupply((24.0, 0.2), (0.1, 0.01))
    made = supply.given_to(servo(2.0, 20.0, aa.SupplyConfig(22.0)))
    assert [one for one in made.others if isinstance(one, aa.SupplyConfig)] == [aa.SupplyConfig(24.0, resistance=0.2)]
    assert supply.given_to(known_motor()) == known_motor()


def test_volts_are_in_all_logs_or_in_none() -> None:
    still = np.zeros((5, 2))
    plain = MotorLog(np.arange(5) * 0.01, JOINTS, {"command": still, "position": still}, "plain")
    with_volts = MotorLog(plain.time, JOINTS, {**plain.signals, "volts": still + 24.0}, "with volts")
    require_volts([plain, plain])
    require_volts([with_volts, with_volts])
    with pytest.raises(ValueError, match="volts: with volts: must be in all logs or in none"):
        require_volts([plain, with_volts])
    require_volts([hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"], seconds=0.1)])
