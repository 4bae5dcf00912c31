from __future__ import annotations

import math

import pytest
from isaacsim.core.experimental.actuators import (
    DelayConfig,
    ElectricalConfig,
    FrictionConfig,
    MotorConfig,
    PDControlConfig,
)
from isaacsim.core.experimental.actuators.toolbox.identification.identify import MODELS
from isaacsim.core.experimental.actuators.toolbox.identification.parameters import (
    OF_LOG,
    OF_MOTOR,
    PARAMETERS,
    fields_of,
    value_of,
    with_values,
)


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_motor_has_what_it_was_given(name: str) -> None:
    motor = MotorConfig(PDControlConfig(10.0, 1.0), others=[ElectricalConfig(0.5, 1.0)])
    before = value_of(motor, name)
    assert math.isnan(before) == (name not in OF_MOTOR)
    given = with_values(motor, {name: 0.25})
    assert value_of(given, name) == 0.25
    assert value_of(motor, name) == pytest.approx(before, nan_ok=True)


def test_breakaway_is_the_excess_over_coulomb() -> None:
    motor = with_values(MotorConfig(PDControlConfig(10.0, 1.0)), {"coulomb": 0.3, "breakaway": 0.2})
    (friction,) = motor.others
    assert isinstance(friction, FrictionConfig)
    assert (friction.coulomb, friction.static) == (0.3, 0.5)
    assert with_values(motor, {"coulomb": 0.9}).others[0].conflicts() == []


def test_a_delay_in_steps_is_replaced_and_other_stages_stay() -> None:
    motor = MotorConfig(PDControlConfig(10.0, 1.0), delay=DelayConfig(2), others=[FrictionConfig(coulomb=0.1)])
    found = with_values(motor, {"delay": 0.01, "viscous": 0.5})
    assert value_of(found, "delay") == 0.01
    assert len(found.stages) == 3
    assert (value_of(found, "coulomb"), value_of(found, "viscous")) == (0.1, 0.5)


def test_gains_need_a_controller_and_one_number() -> None:
    with pytest.raises(ValueError, match="kp: the motor has no PDControlConfig or ServoControlConfig"):
        with_values(MotorConfig(), {"kp": 1.0})
    with pytest.raises(ValueError, match="must be one number"):
        value_of(MotorConfig(PDControlConfig({"hip": 1.0}, 1.0)), "kp")


@pytest.mark.parametrize("model", MODELS)
def test_models_name_parameters_of_laws(model: str) -> None:
    names = MODELS[model]
    assert set(names) <= set(PARAMETERS) - set(OF_LOG)
    fields = fields_of(names, dict.fromkeys(names, 0.5))
    assert set(fields) == {field for name in names for field in PARAMETERS[name].fields}
    assert fields.get("static", 1.0) == 1.0
