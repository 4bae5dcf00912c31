"""Columns of logs that motors simulate."""

import numpy as np
from isaacsim.core.experimental.actuators.tools.identification.log import SIGNALS, MotorLog
from isaacsim.core.experimental.actuators.tools.identification.outputs import OUTPUTS, further_columns, unused
from refusals import cases

TIME = np.arange(5) * 0.01
WAVE = np.sin(TIME)[:, None]


def log(**signals: np.ndarray) -> MotorLog:
    return MotorLog(TIME, ["hinge"], {"command": WAVE, "position": WAVE, **signals})


def test_columns_besides_the_required_ones() -> None:
    assert further_columns(log()) == ()
    assert further_columns(log(current=WAVE, temperature=WAVE)) == ("current", "temperature")
    assert set(OUTPUTS) < set(SIGNALS)


@cases(
    "name, values, simulated, why",
    ("effort", WAVE, ("effort",), ""),
    ("current", WAVE, ("current",), ""),
    ("current", WAVE, ("effort",), "the motor has no ElectricalConfig"),
    ("volts", WAVE, (), "the motor has no SupplyConfig"),
    ("pwm", WAVE, (), "the motor has no ServoControlConfig"),
    ("pwm", WAVE, ("pwm",), ""),
    ("pwm", 885.0 * WAVE, ("pwm",), "it reaches 35.4, and must be a duty, -1 … 1"),
    ("current", 0.0 * WAVE, ("current",), "it is 0 throughout"),
    ("velocity", WAVE, (), "it follows from positions"),
    ("temperature", WAVE, (), "no motor of a fit simulates it"),
    ("enabled", WAVE, (), "no motor of a fit simulates it"),
)
def test_what_is_not_fitted_has_a_reason(name, values, simulated, why) -> None:
    assert unused(log(**{name: values}), 0, name, simulated) == why


def test_volts_of_several_joints_are_given_to_them() -> None:
    two = np.tile(WAVE, 2)
    many = MotorLog(TIME, ["hip", "knee"], {"command": two, "position": two, "volts": 24.0 + two})
    assert "simulated with it" in unused(many, 0, "volts", ("volts",))
