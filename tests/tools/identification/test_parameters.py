import math

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.tools.identification import parameters


@pytest.mark.parametrize("name", parameters.PARAMETERS)
def test_a_motor_has_what_it_was_given(name) -> None:
    clamping = [aa.MaxEffortClampingConfig(5.0)]
    winding = aa.ElectricalConfig(0.5, 1.0, voltage=12.0)
    motor = aa.MotorConfig(aa.PDControlConfig(10.0, 1.0), clamping, others=[winding])
    before = parameters.value_of(motor, name)
    rule = parameters.PARAMETERS[name]
    assert math.isnan(before) == (rule.law is not None or not rule.places) and parameters.has_place(motor, name)
    assert parameters.value_of(parameters.with_values(motor, {name: 0.25}), name) == 0.25
    assert parameters.value_of(motor, name) == pytest.approx(before, nan_ok=True)


def test_breakaway_is_the_excess_over_coulomb() -> None:
    motor = parameters.with_values(aa.MotorConfig(aa.PDControlConfig(10.0, 1.0)), {"coulomb": 0.3, "breakaway": 0.2})
    (friction,) = motor.others
    assert isinstance(friction, aa.FrictionConfig) and (friction.coulomb, friction.static) == (0.3, 0.5)
    assert parameters.with_values(motor, {"coulomb": 0.9}).others[0].conflicts() == []


def test_a_delay_in_steps_is_replaced_and_other_stages_stay() -> None:
    friction = aa.FrictionConfig(coulomb=0.1)
    motor = aa.MotorConfig(aa.PDControlConfig(10.0, 1.0), delay=aa.DelayConfig(2), others=[friction])
    found = parameters.with_values(motor, {"delay": 0.01, "viscous": 0.5})
    assert parameters.value_of(found, "delay") == 0.01 and len(found.stages) == 3
    assert (parameters.value_of(found, "coulomb"), parameters.value_of(found, "viscous")) == (0.1, 0.5)


def test_gains_need_a_controller_and_one_number() -> None:
    with pytest.raises(ValueError, match="kp: the motor has no stage of the kind controller with kp"):
        parameters.with_values(aa.MotorConfig(), {"kp": 1.0})
    with pytest.raises(ValueError, match="must be one number"):
        parameters.value_of(aa.MotorConfig(aa.PDControlConfig({"hip": 1.0}, 1.0)), "kp")


def test_any_number_of_a_stage_is_a_parameter() -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(10.0, 1.0), others=[aa.ElectricalConfig(0.5, 1.0, inductance=1e-3)])
    rule = parameters.rule_of("electrical.inductance", (0.0, 0.01))
    assert (rule.unit, rule.bounds, rule.kind, rule.fields) == ("H", (0.0, 0.01), "electrical", ("inductance",))
    assert parameters.value_of(motor, "electrical.inductance") == 1e-3
    changed = parameters.with_values(motor, {"electrical.inductance": 2e-3})
    assert parameters.value_of(changed, "electrical.inductance") == 2e-3
    assert not parameters.has_place(motor, "transmission.ratio")
    for name in ("friktion", "magic.kp"):
        with pytest.raises(ValueError, match=rf"{name}: must be one of armature, .*electrical \([^)]*inductance"):
            parameters.rule_of(name, (0.0, 1.0))
    for name in ("electrical.friktion", "electrical.command"):
        with pytest.raises(ValueError, match=rf"{name}: must be KIND.FIELD of a number of a stage: electrical \("):
            parameters.rule_of(name, (0.0, 1.0))
    with pytest.raises(ValueError, match=r"electrical\.inductance: has no usual range"):
        parameters.rule_of("electrical.inductance")


def test_a_supply_takes_the_voltage_of_the_winding() -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(10.0, 1.0), others=[aa.ElectricalConfig(0.5, 1.0, voltage=12.0)])
    made = parameters.with_values(motor, {"supply_resistance": 0.3}).others[1]
    assert (made.voltage, made.resistance) == (12.0, 0.3) and parameters.value_of(motor, "resistance") == 1.0
    assert not parameters.has_place(aa.MotorConfig(aa.PDControlConfig(10.0, 1.0)), "supply_resistance")


def test_fields_have_kinds() -> None:
    values = {"resistance": 2.0, "supply_resistance": 0.5}
    found = parameters.fields_of(["resistance", "supply_resistance", "delay"], values)
    assert found == {"electrical.resistance": 2.0, "supply.resistance": 0.5}


def test_friction_keeps_the_inertia_that_it_assumes() -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(10.0, 1.0), others=[aa.FrictionConfig(coulomb=0.1)])
    once = parameters.with_inertia(motor, 0.2)
    assert (motor.others[0].assumed_inertia, once.others[0].assumed_inertia) == (0.0, 0.2)
    assert parameters.with_inertia(once, 0.5).others[0].assumed_inertia == 0.2


def test_the_armature_is_that_of_the_rotor() -> None:
    gear = aa.MotorConfig(aa.PDControlConfig(10.0, 1.0), others=[aa.TransmissionConfig(10.0, rotor_inertia=1e-4)])
    assert parameters.value_of(gear, "armature") == pytest.approx(0.01)
    changed = parameters.with_values(gear, {"armature": 0.02})
    assert (changed.others[0].rotor_inertia, changed.armature) == (pytest.approx(2e-4), None)
    spring = aa.ElasticTransmissionConfig(10.0, rotor_inertia=1e-4, stiffness=100.0)
    soft = aa.MotorConfig(aa.PDControlConfig(10.0, 1.0), others=[spring])
    assert parameters.value_of(soft, "armature") == 0.0 and not parameters.has_place(soft, "armature")
    assert parameters.with_values(soft, {"armature": 0.02}).others == [spring]
    plain = aa.MotorConfig(aa.PDControlConfig(10.0, 1.0), others=[aa.TransmissionConfig(10.0)])
    assert parameters.with_values(plain, {"armature": 0.02}).armature == 0.02


def test_a_friction_of_another_law_has_its_own_numbers() -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(10.0, 1.0), others=[aa.LuGreFrictionConfig(2000.0, 20.0, coulomb=0.4)])
    with pytest.raises(ValueError, match=r"coulomb: the motor has LuGreFrictionConfig: .* passive.coulomb, .* bounds"):
        parameters.with_values(motor, {"coulomb": 0.1})
    assert parameters.value_of(parameters.with_values(motor, {"passive.coulomb": 0.1}), "passive.coulomb") == 0.1
