"""Cfgs of mjlab: classes and fields are those of its release, numbers those of the motors."""

from dataclasses import replace
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
from cfg_text import cfgs_of, events_of
from isaacsim.core.experimental.actuators.tools.export.losses import said_together
from isaacsim.core.experimental.actuators.tools.export.mjlab import losses, mjlab_text
from isaacsim.core.experimental.actuators.tools.export.robot import read_robot
from places import ROBOTS

# fields of mjlab 1.6.0, with whether they are required
_PD = {"target_names_expr", "stiffness", "damping", "effort_limit", "armature", "frictionloss", "viscous_damping"}
_PD |= {"delay_min_lag", "delay_max_lag"}
_FIELDS = {"IdealPdActuatorCfg": _PD, "DcMotorActuatorCfg": _PD | {"saturation_effort", "velocity_limit"}}


def stand_in(name: str):
    def build(**fields) -> SimpleNamespace:
        assert fields.keys() <= _FIELDS[name]
        return SimpleNamespace(name=name, **fields)

    return build


def test_numbers_are_those_of_the_motors(monkeypatch) -> None:
    motors = {
        "shoulder": aa.MotorConfig(
            aa.PDControlConfig(80.3, 2.1), [aa.DCMotorClampingConfig(30.0, 3.0, 25.0)], aa.DelayConfig(3), armature=0.01
        ),
        "extension": aa.MotorConfig(
            aa.PDControlConfig(900.0, 20.0), [aa.MaxEffortClampingConfig(17.0)], viscous_friction=0.5
        ),
    }
    text = mjlab_text(read_robot(ROBOTS / "arm_2dof.usda", motors), ["a loss"])
    classes = {name: stand_in(name) for name in _FIELDS}
    shoulder, extension = cfgs_of(text, "mjlab.actuator", classes, monkeypatch).values()
    assert vars(shoulder) == {
        **{"name": "DcMotorActuatorCfg", "target_names_expr": ("shoulder",), "stiffness": 80.3, "damping": 2.1},
        **{"effort_limit": 25.0, "saturation_effort": 30.0, "velocity_limit": 3.0},
        **{"delay_min_lag": 3, "delay_max_lag": 3, "armature": 0.01},
    }
    assert vars(extension) == {
        **{"name": "IdealPdActuatorCfg", "target_names_expr": ("extension",), "stiffness": 900.0, "damping": 20.0},
        **{"effort_limit": 17.0, "viscous_damping": 0.5},
    }


def test_zeros_of_given_motors_are_written(monkeypatch) -> None:
    motors = {".*": aa.MotorConfig(aa.PDControlConfig(1.0, 0.1), armature=0.0, friction=0.0, viscous_friction=0.0)}
    text = mjlab_text(read_robot(ROBOTS / "so101.usda", motors), [])
    for cfg in cfgs_of(text, "mjlab.actuator", {name: stand_in(name) for name in _FIELDS}, monkeypatch).values():
        assert (cfg.armature, cfg.frictionloss, cfg.viscous_damping) == (0.0, 0.0, 0.0)


def test_intervals_are_events(monkeypatch) -> None:
    base = aa.MotorConfig(aa.PDControlConfig(80.0, 2.0), friction=0.25)
    motors = {
        "shoulder": base,
        "extension": replace(base, intervals={"kp": (70.0, 90.0), "friction": (0.0, 0.5), "seconds": (0.0, 0.01)}),
    }
    robot = read_robot(ROBOTS / "arm_2dof.usda", motors)
    assert said_together(losses(robot))[-1] == "Lost: interval of seconds of 1 joint (0 … 0.01 s): extension."
    events = events_of(mjlab_text(robot, []), "mjlab", ["envs.mdp", "managers", "actuator"], monkeypatch)
    gains, friction = events.values()
    assert gains["func"] == "dr.pd_gains"
    assert gains["params"] == {
        **{"asset_cfg": ("robot", {"actuator_ids": [1]}), "operation": "abs"},
        **{"kp_range": (70.0, 90.0), "kd_range": (2.0, 2.0)},
    }
    assert friction["func"] == "dr.joint_friction" and friction["params"]["ranges"] == (0.0, 0.5)
