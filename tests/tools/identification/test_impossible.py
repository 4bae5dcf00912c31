import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.impossible import impossible
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from refusals import cases

PD, SERVO = aa.PDControlConfig(20.0, 1.0), aa.ServoControlConfig.of("XL330", kp=400.0)
DC = aa.DCMotorClampingConfig(saturation_effort=3.0, velocity_limit=6.0, max_motor_effort=2.5)
WINDING = aa.ElectricalConfig(0.4, 4.0, command="voltage")
TIME = np.arange(500) * 0.01


def log_of(speed: float = 1.0, **settings: float) -> MotorLog:
    position = (speed / 3.0 * np.sin(3.0 * TIME))[:, None]
    return MotorLog(TIME, ["hinge"], {"command": position, "position": position}, "log", settings)


@cases(
    "motor, coulomb",
    (aa.MotorConfig(PD, clamping=[aa.MaxEffortClampingConfig(2.0)]), 2.0),
    (aa.MotorConfig(PD, clamping=[DC]), 2.5),
    # 0.4 · 7.5 / 4 N·m
    (aa.MotorConfig(SERVO, others=[WINDING]), 0.75),
)
def test_friction_that_no_motor_overcomes(motor, coulomb) -> None:
    for factor, count in ((0.99, 0), (1.01, 1)):
        motor.others = [*motor.others[: isinstance(motor.controller, aa.ServoControlConfig)]]
        motor.others.append(aa.FrictionConfig(coulomb=factor * coulomb))
        words = impossible({"hinge": motor}, [log_of()], {})
        assert [f"Coulomb friction is {factor * coulomb:.3g} and" in word for word in words] == [True] * count


@pytest.mark.parametrize(
    ("clamping", "speeds", "fast"),
    [([], {"hinge": 5.0}, 5.5), ([DC], {}, 6.5), ([DC], {"hinge": 5.0}, 5.5), ([], {"hinge": np.inf}, np.inf)],
)
def test_speed_beyond_a_limit(clamping, speeds, fast) -> None:
    motor = aa.MotorConfig(PD, clamping=[*clamping])
    assert impossible({"hinge": motor}, [log_of(4.9)], speeds) == []
    if np.isfinite(fast):
        (words,) = impossible({"hinge": motor}, [log_of(1.0), log_of(fast)], speeds)
        assert words.startswith("hinge: it moves at ") and "faster than its limit of" in words


def test_gain_of_a_register_on_a_law_in_newton_meters() -> None:
    (words,) = impossible({"hinge": aa.MotorConfig(PD)}, [log_of(kp=400.0)], {})
    assert words.startswith("hinge: kp = 400 of a log counts as N·m/rad")
    assert impossible({"hinge": aa.MotorConfig(SERVO, others=[WINDING])}, [log_of(kp=400.0)], {}) == []


def test_limits_behind_a_gear_are_not_those_of_the_joint() -> None:
    gear, friction = aa.TransmissionConfig(ratio=10.0), aa.FrictionConfig(coulomb=9.0)
    motor = aa.MotorConfig(PD, clamping=[DC], others=[gear, friction])
    assert impossible({"hinge": motor}, [log_of(9.0)], {}) == []
