from dataclasses import replace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from hidden_motors import PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.specs.engine_friction import is_friction
from isaacsim.core.experimental.actuators.tools.identification.fit import Fit
from isaacsim.core.experimental.actuators.tools.identification.identify import identify
from isaacsim.core.experimental.actuators.tools.identification.joints import BIASES, GAINS_TOO, Joints
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from isaacsim.core.experimental.actuators.tools.identification.parameters import value_of

pytest.importorskip("scipy")
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")


def servo(*others: object) -> aa.MotorConfig:
    winding = aa.ElectricalConfig(0.8, 2.0, command="voltage")
    return aa.MotorConfig(aa.ServoControlConfig(4.0, 1.0, 12.0, kd=0.05), armature=0.02, others=[winding, *others])


def joints_of(motors: dict[str, aa.MotorConfig], options: FitOptions | None = None, dt: float = 0.004) -> Joints:
    time = np.arange(5) * dt
    still = np.zeros((5, len(motors)))
    log = MotorLog(time, list(motors), {"command": still, "position": still})
    return Joints(motors, options or FitOptions(), np.full(len(motors), 0.01), [log], lambda _words, _share: None)


def test_what_is_fitted_follows_from_motor_log_and_options() -> None:
    common = ("delay", "encoder_bias", "armature")
    assert joints_of({"hip": known_motor()}).names_of(0, "as in the file") == ()
    assert joints_of({"hip": known_motor()}).names_of(0, "viscous friction") == (*common, "viscous")
    slow = joints_of({"hip": known_motor()}, dt=0.02)
    assert slow.names_of(0, "viscous friction") == ("delay", "encoder_bias", "viscous")
    gains = FitOptions(gains=True, parameters=["hip/max_effort"])
    two = joints_of({"hip": known_motor(), "knee": known_motor(kd=0.0)}, gains)
    assert two.names_of(0, "viscous friction") == ("delay", "armature", "kp", "kd", "max_effort", "viscous")
    assert two.names_of(1, "viscous friction") == ("delay", "armature", "kp", "viscous")
    biased = two.fitting(BIASES)
    assert (two.groups, biased.groups) == ((GAINS_TOO,), (GAINS_TOO, BIASES))
    assert biased.names_of(1, "viscous friction") == (*common, "kp", "viscous")


def test_groups_are_open_unless_options_close_them() -> None:
    asked = FitOptions(parameters=["encoder_bias"], gains=False)
    two = {"hip": known_motor(), "knee": known_motor()}
    assert joints_of(two).open_groups == (BIASES, GAINS_TOO)
    assert joints_of(two, FitOptions(gains=True)).open_groups == (BIASES,)
    assert joints_of(two, asked).open_groups == () and joints_of({"hip": known_motor()}).open_groups == (GAINS_TOO,)


def test_a_supply_is_fitted_for_a_single_joint_with_a_winding() -> None:
    assert "supply_resistance" in joints_of({"hip": servo()}).names_of(0, "supply")
    assert "supply_resistance" not in joints_of({"hip": known_motor()}).names_of(0, "supply")
    two = joints_of({"hip": servo(), "knee": servo()})
    assert "supply_resistance" not in two.names_of(1, "supply")
    assert any("supply is one of all joints" in one for one in two.warnings([Fit({}, {}, np.zeros((0, 0)), 0.0)] * 2))


@pytest.mark.slow
def test_the_resistance_of_a_supply_is_found() -> None:
    friction = aa.FrictionConfig(coulomb=0.1, viscous=0.05)
    true = servo(aa.SupplyConfig(12.0, resistance=1.5), friction, *hidden_motor(bias=0.0).others[1:])
    logs = [hidden_log(PENDULUM, {"hinge": true}, ["hinge"], seed=seed) for seed in (0, 1)]
    options = FitOptions(models=["as in the file", "Coulomb friction", "supply"])
    found = identify(PENDULUM, logs, {"hinge": servo()}, options)
    assert found.chosen == "supply"
    assert value_of(found.motors["hinge"], "supply_resistance") == pytest.approx(1.5, rel=0.05)
    assert value_of(found.motors["hinge"], "resistance") == 2.0
    assert value_of(found.motors["hinge"], "coulomb") == pytest.approx(0.1, rel=0.15) and found.error < 2e-3


@pytest.mark.slow
def test_backlash_is_found() -> None:
    def soft(motor: aa.MotorConfig, backlash: float) -> aa.MotorConfig:
        gear = aa.ElasticTransmissionConfig(1.0, rotor_inertia=0.02, stiffness=200.0, damping=0.5, backlash=backlash)
        return replace(motor, armature=None, others=[*motor.others, gear])

    logs = [hidden_log(PENDULUM, {"hinge": soft(hidden_motor(), 0.05)}, ["hinge"], seed=seed) for seed in (0, 1)]
    options = FitOptions(
        parameters=["transmission.backlash"], bounds={"transmission.backlash": (0.0, 0.2)}, models=["Coulomb friction"]
    )
    known = soft(known_motor(), 0.01)
    known.others = [*known.others, aa.EncoderConfig(velocity="register")]
    found = identify(PENDULUM, logs, {"hinge": known}, options)
    assert value_of(found.motors["hinge"], "transmission.backlash") == pytest.approx(0.05, rel=0.05)
    assert value_of(found.motors["hinge"], "coulomb") == pytest.approx(0.4, rel=0.05)
    assert "armature" not in {one.name for one in found.estimates} and found.error < 1e-3


def test_what_rollouts_leave_out_of_an_encoder_is_said() -> None:
    plain, late = (servo(aa.EncoderConfig(velocity="register", bias=0.1, latency=latency)) for latency in (0.0, 0.01))
    words = joints_of({"hip": plain, "knee": late}).warnings([Fit({}, {}, np.zeros((0, 0)), 0.0)] * 2)
    said = "knee: resolution, latency, noise and filter of the encoder are left out of the fit."
    assert [one for one in words if "encoder" in one] == [said]


def test_a_column_that_some_logs_lack_is_fitted_and_named() -> None:
    unused = {"pwm": "it is 0 throughout", "velocity": "it is late"}
    fit = Fit({}, {}, np.zeros((0, 0)), 0.0, {"pwm": (0.5, 0.1)}, unused)
    found = joints_of({"hip": servo()}).columns([fit])
    assert [(one.name, one.unused, one.size) for one in found[:1]] == [("pwm", "", 0.5)]
    reasons = {"pwm": "in some logs, it is 0 throughout", "velocity": "it is late"}
    assert [(one.name, one.unused) for one in found[1:]] == [*reasons.items()]


@pytest.mark.slow
def test_a_friction_of_another_law_stays() -> None:
    friction = aa.LuGreFrictionConfig(2000.0, 20.0, viscous=0.2, coulomb=0.4, static=0.5)
    true, known = hidden_motor(bias=0.0), replace(known_motor(), others=[friction])
    true.others = [friction, *true.others[1:]]
    found = identify(PENDULUM, [hidden_log(PENDULUM, {"hinge": true}, ["hinge"])], {"hinge": known})
    (kept,) = (one for one in found.motors["hinge"].others if is_friction(one))
    assert replace(kept, assumed_inertia=0.0) == friction
    assert {one.name for one in found.estimates} <= {"delay", "armature", "encoder_bias", "kp", "kd"}
    assert value_of(found.motors["hinge"], "armature") == pytest.approx(0.03, rel=0.1)
    assert any("hinge: its LuGreFrictionConfig stays as it is" in one for one in found.warnings)
