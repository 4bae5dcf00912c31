"""Cfgs of Isaac Lab: with them its models compute what the motors compute."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
from cfg_text import events_of
from isaacsim.core.experimental.actuators.compat import isaac_lab
from isaacsim.core.experimental.actuators.tools.export.lab import lab_text, losses
from isaacsim.core.experimental.actuators.tools.export.losses import said_together
from isaacsim.core.experimental.actuators.tools.export.robot import read_robot
from places import ROBOTS
from refusals import cases

ARM = ROBOTS / "arm_2dof.usda"
JOINTS = ["shoulder", "extension"]
MOTORS: dict[str, list] = {
    "IdealPDActuatorCfg": [aa.PDControlConfig(80.3, 2.1), aa.MaxEffortClampingConfig(17.0)],
    "DCMotorCfg": [aa.PDControlConfig(80.3, 2.1), aa.DCMotorClampingConfig(30, 3, 25), aa.MaxEffortClampingConfig(20)],
    "DelayedPDActuatorCfg": [aa.PDControlConfig(80.3, 2.1), aa.DelayConfig(3), aa.MaxEffortClampingConfig(17.0)],
}


@cases("name", *MOTORS)
def test_its_models_compute_the_same(name, tmp_path) -> None:
    file = tmp_path / "lab.py"
    file.write_text(lab_text(read_robot(ARM, {".*": MOTORS[name]}), ["a loss\nimport os"]))
    (cfg,) = isaac_lab.load_groups(file).values()
    assert type(cfg).__name__ == name
    # the solver cuts nothing, and no name is one of 2.3
    assert cfg.joint_effort_limit == cfg.actuator_effort_limit and "\n        effort_limit" not in file.read_text()
    model = cfg.class_type(cfg, JOINTS, [0, 1], 1, "cpu")
    model.reset([0])
    ours, random = aa.ActuatedArrays(JOINTS, {".*": MOTORS[name]}), np.random.default_rng(1)
    for _ in range(50):
        q, v, t = random.normal(size=(3, 1, 2)).astype(np.float32) * np.float32([[[0.3]], [[3]], [[0.3]]])
        action = isaac_lab.ArticulationActions(t, np.zeros_like(t), np.zeros_like(t))
        efforts = np.asarray(model.compute(action, q, v).joint_efforts)[0]
        np.testing.assert_allclose(efforts, np.asarray(ours.step(q[0], v[0], t[0], 0.005)), rtol=1e-6, atol=1e-5)


def test_a_delay_beside_a_dc_motor_is_lost() -> None:
    motor = [aa.PDControlConfig(1.0, 0.1), aa.DCMotorClampingConfig(30.0, 3.0, 25.0), aa.DelayConfig(2)]
    assert said_together(losses(read_robot(ARM, {".*": motor}))) == [
        "Lost: command delay beside a DC-motor limit of 2 joints (2 physics steps): shoulder, extension."
    ]
    # before a gear neither of them is said, each by itself
    said = said_together(losses(read_robot(ARM, {".*": [*motor, aa.TransmissionConfig(3.0)]})))
    assert not any("beside" in one for one in said)
    assert any("DC-motor limit" in one for one in said) and any("command delay" in one for one in said)


def test_zeros_of_given_motors_are_said() -> None:
    motors = {".*": aa.MotorConfig(aa.PDControlConfig(1.0, 0.1), armature=0.0, friction=0.0)}
    text = lab_text(read_robot(ROBOTS / "so101.usda", motors), [])
    for field in ("armature", "friction", "dynamic_friction"):
        assert f"        {field}=0.0,\n" in text
    assert "viscous_friction" not in text


def test_intervals_are_events(monkeypatch) -> None:
    friction = aa.FrictionConfig(coulomb=0.25, viscous=0.125)
    intervals = {"kp": (70.0, 90.0), "coulomb": (0.125, 0.5), "viscous": (0.0, 0.25), "armature": (0.0, 0.5)}
    motor = aa.MotorConfig(aa.PDControlConfig(80.0, 2.0), armature=0.25, others=[friction], intervals=intervals)
    robot = read_robot(ARM, {"shoulder": motor})
    assert "interval of viscous_friction of 1 joint (0 … 0.25 N·m·s/rad): shoulder." in said_together(losses(robot))[-1]
    events = events_of(lab_text(robot, []), "isaaclab", ["envs", "managers", "actuators"], monkeypatch)
    entity = ("robot", {"joint_names": ["shoulder"]})
    gains, armature, friction_term = events.values()
    assert gains["func"] == "mdp.randomize_actuator_gains" and gains["mode"] == "reset"
    assert gains["params"] == {"asset_cfg": entity, "operation": "abs", "stiffness_distribution_params": (70.0, 90.0)}
    assert armature["params"] == {"asset_cfg": entity, "operation": "abs", "armature_distribution_params": (0.0, 0.5)}
    expected = {"asset_cfg": entity, "operation": "scale", "friction_distribution_params": (0.5, 2.0)}
    assert friction_term["params"] == expected
