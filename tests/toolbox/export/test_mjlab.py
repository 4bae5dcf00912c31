"""Cfgs of mjlab: classes and fields are those of its release, numbers those of the motors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from cfg_text import cfgs_of
from isaacsim.core.experimental.actuators import (
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    MotorConfig,
    PDControlConfig,
)
from isaacsim.core.experimental.actuators.toolbox.export.mjlab import mjlab_text
from isaacsim.core.experimental.actuators.toolbox.export.robot import read_robot
from places import ROBOTS

# fields of mjlab 1.6.0, with whether they are required
_PD = {"target_names_expr", "stiffness", "damping", "effort_limit", "armature", "frictionloss", "viscous_damping"}
_PD |= {"delay_min_lag", "delay_max_lag"}
_FIELDS = {"IdealPdActuatorCfg": _PD, "DcMotorActuatorCfg": _PD | {"saturation_effort", "velocity_limit"}}


def stand_in(name: str) -> Any:
    """A class that takes the fields of one of mjlab, and no others."""

    def build(**fields: Any) -> SimpleNamespace:
        assert fields.keys() <= _FIELDS[name]
        return SimpleNamespace(name=name, **fields)

    return build


def test_numbers_are_those_of_the_motors(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cfg for each kind of motor."""
    motors = {
        "shoulder": MotorConfig(
            PDControlConfig(80.3, 2.1), [DCMotorClampingConfig(30.0, 3.0, 25.0)], DelayConfig(3), armature=0.01
        ),
        "extension": MotorConfig(PDControlConfig(900.0, 20.0), [MaxEffortClampingConfig(17.0)], viscous_friction=0.5),
    }
    text = mjlab_text(read_robot(ROBOTS / "arm_2dof.usda", motors), ["a loss"])
    shoulder, extension = cfgs_of(
        text, "mjlab.actuator", {name: stand_in(name) for name in _FIELDS}, monkeypatch
    ).values()
    assert vars(shoulder) == {
        **{"name": "DcMotorActuatorCfg", "target_names_expr": ("shoulder",), "stiffness": 80.3, "damping": 2.1},
        **{"effort_limit": 25.0, "saturation_effort": 30.0, "velocity_limit": 3.0},
        **{"delay_min_lag": 3, "delay_max_lag": 3, "armature": 0.01},
    }
    assert vars(extension) == {
        **{"name": "IdealPdActuatorCfg", "target_names_expr": ("extension",), "stiffness": 900.0, "damping": 20.0},
        **{"effort_limit": 17.0, "viscous_damping": 0.5},
    }


def test_zeros_of_given_motors_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """mjlab takes values that a cfg omits from the robot's file."""
    motors = {".*": MotorConfig(PDControlConfig(1.0, 0.1), armature=0.0, friction=0.0, viscous_friction=0.0)}
    text = mjlab_text(read_robot(ROBOTS / "so101.usda", motors), [])
    cfgs = cfgs_of(text, "mjlab.actuator", {name: stand_in(name) for name in _FIELDS}, monkeypatch)
    for cfg in cfgs.values():
        assert (cfg.armature, cfg.frictionloss, cfg.viscous_damping) == (0.0, 0.0, 0.0)
