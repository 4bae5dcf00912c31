"""Config of the heat of a motor: what is refused, and where it comes from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    ElectricalConfig,
    MotorConfig,
    PDControlConfig,
    ThermalConfig,
    add_motors,
)
from isaacsim.core.experimental.actuators.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.specs.fields import violations
from isaacsim.core.experimental.actuators.specs.thermal import heat_problems
from isaacsim.core.experimental.actuators.usd.discover import parse_prim
from pxr import Sdf, Usd
from robot_files import ARM, OF_SHOULDER, edited

HEAT: dict[str, Any] = {"winding_capacity": 20.0, "winding_resistance": 1.0, "temperature_coefficient": 0.0}
PD = PDControlConfig(30.0, 2.0)
WINDING = ElectricalConfig(torque_constant=0.5, resistance=1.0)


def test_derating_starts_before_it_ends() -> None:
    """A start without an end has no effect, and says so; an end without a start is refused."""
    assert not violations(ThermalConfig(**HEAT, derating_start=80.0, max_temperature=120.0), "heat")
    for start, end in ((120.0, 80.0), (80.0, 80.0), (math.inf, 80.0)):
        (problem,) = violations(ThermalConfig(**HEAT, derating_start=start, max_temperature=end), "heat")
        assert problem == f"heat.derating_start = {start}: must be below max_temperature, {end}. Correct either."
    assert list(ThermalConfig(**HEAT, derating_start=80.0).idle()) == ["derating_start"]
    assert not ThermalConfig(**HEAT).idle()


@pytest.mark.parametrize(
    "constant",
    [math.inf, {"shoulder": 0.5, "extension": math.inf}, np.array([[0.5, np.inf]], np.float32)],
    ids=["none", "by joint", "array"],
)
def test_loss_that_nobody_knows_is_refused(constant: Any) -> None:
    """By name, also at one joint; a winding or a constant of its own is enough."""
    heat = ThermalConfig(**HEAT, motor_constant=constant)
    with pytest.raises(ValueError, match=r"motors\['\.\*'\] has ThermalConfig without motor_constant: must have one"):
        ActuatedArrays(["shoulder", "extension"], {".*": [PD, heat]}, num_robots=1)
    for known in ([PD, WINDING, heat], [PD, ThermalConfig(**HEAT, motor_constant=0.5)]):
        assert not heat_problems(MotorConfig(known[0], others=known[1:]), "motor")
        ActuatedArrays(["shoulder", "extension"], {".*": known}, num_robots=1).close()


def test_loss_that_no_file_has_is_refused(tmp_path: Any) -> None:
    """A prim whose thermal schema has no constant, and that has no winding."""
    path = edited(
        tmp_path,
        lambda stage: add_motors(
            ARM, {"shoulder": [PD, ThermalConfig(**HEAT, motor_constant=0.5)]}, stage=stage, overwrite_existing=True
        ),
    )
    stage = Usd.Stage.Open(str(path))
    prim = stage.GetPrimAtPath(OF_SHOULDER)
    spec = parse_prim(prim)
    assert spec is not None and spec.others == (ThermalConfig(**HEAT, motor_constant=0.5),)
    prim.GetAttribute("actuator:thermal:motorConstant").Set(float("inf"))
    with pytest.raises(ActuatorParseError, match=f"<{prim.GetPath()}> has ThermalConfig without motor_constant"):
        parse_prim(prim)
    prim.CreateAttribute("actuator:thermal:reset", Sdf.ValueTypeNames.Token).Set("cold")
    with pytest.raises(ActuatorParseError, match=r"reset = 'cold' .*: must be one of 'ambient', 'kept'"):
        parse_prim(prim)
