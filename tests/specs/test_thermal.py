"""Config of the heat of a motor: what is refused, and where it comes from."""

import dataclasses
import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd.discover import parse_prim
from isaacsim.core.experimental.actuators.specs.fields import violations
from isaacsim.core.experimental.actuators.specs.thermal import heat_problems
from pxr import Sdf, Usd
from refusals import refused
from robot_files import ARM, OF_SHOULDER, edited

HEAT = {"winding_capacity": 20.0, "winding_resistance": 1.0, "temperature_coefficient": 0.0}
PD = aa.PDControlConfig(30.0, 2.0)
WINDING = aa.ElectricalConfig(torque_constant=0.5, resistance=1.0)


def test_derating_starts_before_it_ends() -> None:
    """A start without an end has no effect, and says so; an end without a start begins 10 K below."""
    assert not violations(aa.ThermalConfig(**HEAT, max_temperature=80.0), "heat")
    assert not violations(aa.ThermalConfig(**HEAT, derating_start=80.0, max_temperature=120.0), "heat")
    for start, end in ((120.0, 80.0), (80.0, 80.0)):
        (problem,) = violations(aa.ThermalConfig(**HEAT, derating_start=start, max_temperature=end), "heat")
        assert problem == f"heat.derating_start = {start}: must be below max_temperature, {end}. Correct either."
    assert list(aa.ThermalConfig(**HEAT, derating_start=80.0).idle()) == ["derating_start"]
    assert not aa.ThermalConfig(**HEAT).idle()


@pytest.mark.parametrize(
    "constant",
    [math.inf, {"shoulder": 0.5, "extension": math.inf}, np.array([[0.5, np.inf]], np.float32)],
    ids=["none", "by joint", "array"],
)
def test_loss_that_nobody_knows_is_refused(constant) -> None:
    heat = aa.ThermalConfig(**HEAT, motor_constant=constant)
    with pytest.raises(ValueError, match=r"motors\['\.\*'\] has ThermalConfig without motor_constant: must have one"):
        aa.ActuatedArrays(["shoulder", "extension"], {".*": [PD, heat]}, num_robots=1)
    for known in ([PD, WINDING, heat], [PD, aa.ThermalConfig(**HEAT, motor_constant=0.5)]):
        assert not heat_problems(aa.MotorConfig(known[0], others=known[1:]), "motor")
        aa.ActuatedArrays(["shoulder", "extension"], {".*": known}, num_robots=1).close()


def test_loss_that_no_file_has_is_refused(tmp_path) -> None:
    path = edited(
        tmp_path,
        lambda stage: aa.add_motors(
            ARM, {"shoulder": [PD, aa.ThermalConfig(**HEAT, motor_constant=0.5)]}, stage=stage, overwrite_existing=True
        ),
    )
    stage = Usd.Stage.Open(str(path))
    prim = stage.GetPrimAtPath(OF_SHOULDER)
    spec = parse_prim(prim)
    assert spec is not None and spec.others == (aa.ThermalConfig(**HEAT, motor_constant=0.5),)
    prim.GetAttribute("actuator:thermal:motorConstant").Set(float("inf"))
    with pytest.raises(ActuatorParseError, match=f"<{prim.GetPath()}> has ThermalConfig without motor_constant"):
        parse_prim(prim)
    prim.CreateAttribute("actuator:thermal:reset", Sdf.ValueTypeNames.Token).Set("cold")
    refused(ActuatorParseError, lambda: parse_prim(prim), r"reset = 'cold' .*: must be one of 'ambient', 'kept'")


def resistances(motor: list) -> list[float]:
    """Resistance of the windings at 125 °C over that at 25 °C."""
    with aa.ActuatedArrays(["shoulder", "extension"], {".*": motor}, num_robots=1) as arrays:
        stages = [stage for one in arrays.actuators for stage in one.stages]
        return [
            float(1 + 100 * v)
            for one in stages
            if one.KIND == "electrical"
            for v in one.read("temperature_coefficient")
        ]


@pytest.mark.parametrize("own", [0.0, {"shoulder": 0.0, "extension": 0.005}, np.array([[0.0, 0.005]], np.float32)])
def test_winding_beside_a_heat_is_of_copper(own) -> None:
    """A coefficient that is not given is that of the heat, 0.00393 by default; one that is given counts."""
    winding = dataclasses.replace(WINDING, temperature_coefficient=own)
    for coefficient, expected in ((0.00393, 1.393), (0.004, 1.4), (0.0, 1.0)):
        if coefficient == 0.004 and not isinstance(own, float):
            continue
        found = resistances([PD, winding, aa.ThermalConfig(**HEAT | {"temperature_coefficient": coefficient})])
        np.testing.assert_allclose(found, [expected, expected if isinstance(own, float) else 1.5], rtol=1e-6)
    np.testing.assert_allclose(resistances([PD, WINDING]), 1.0)


def test_windings_of_two_coppers_are_refused(tmp_path) -> None:
    heat = aa.ThermalConfig(**HEAT | {"temperature_coefficient": 0.005})
    winding = dataclasses.replace(WINDING, temperature_coefficient=0.004)
    rule = r"temperature_coefficient = 0\.004 beside ThermalConfig\.temperature_coefficient = 0\.005: must be the same"
    refused(ValueError, lambda: aa.ActuatedArrays(["shoulder"], {".*": [PD, winding, heat]}, num_robots=1), rule)
    # none given, in a file and back
    path = edited(
        tmp_path,
        lambda stage: aa.add_motors(ARM, {"shoulder": [PD, WINDING, heat]}, stage=stage, overwrite_existing=True),
    )
    opened = Usd.Stage.Open(str(path))
    spec = parse_prim(opened.GetPrimAtPath(OF_SHOULDER))
    assert [one.temperature_coefficient for one in spec.others] == [0.0, pytest.approx(0.005)]
    with pytest.raises(ValueError, match="must be the same"):
        aa.add_motors(ARM, {"shoulder": [PD, winding, heat]}, stage=opened, overwrite_existing=True)


def test_copper_warms_a_motor_up() -> None:
    heat = aa.ThermalConfig(winding_capacity=20.0, winding_resistance=1.0)
    with aa.ActuatedArrays(["j"], {".*": [aa.PDControlConfig(0.0, 0.0), WINDING, heat]}, num_robots=1) as arrays:
        zero = np.zeros((1, 1), np.float32)
        for _ in range(2000):
            arrays.step(zero, zero, zero, 0.1, feedforward=zero + 3.0)
        (found,) = [values for name, values in arrays.save_state().items() if name.endswith("thermal.temperature")]
    cold = 3.0**2 * 1.0 / 0.5**2
    np.testing.assert_allclose(found, 25.0 + cold / (1 - 0.00393 * cold), rtol=1e-3)
