"""Cfgs of Isaac Lab: with them its models compute what the motors compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    MotorConfig,
    PDControlConfig,
)
from isaacsim.core.experimental.actuators.compat import isaac_lab
from isaacsim.core.experimental.actuators.toolbox.export.lab import lab_text, losses
from isaacsim.core.experimental.actuators.toolbox.export.losses import said_together
from isaacsim.core.experimental.actuators.toolbox.export.robot import read_robot
from places import ROBOTS

ARM = ROBOTS / "arm_2dof.usda"
JOINTS = ["shoulder", "extension"]
MOTORS: dict[str, list[Any]] = {
    "IdealPDActuatorCfg": [PDControlConfig(80.3, 2.1), MaxEffortClampingConfig(17.0)],
    "DCMotorCfg": [PDControlConfig(80.3, 2.1), DCMotorClampingConfig(30.0, 3.0, 25.0), MaxEffortClampingConfig(20.0)],
    "DelayedPDActuatorCfg": [PDControlConfig(80.3, 2.1), DelayConfig(3), MaxEffortClampingConfig(17.0)],
}


@pytest.mark.parametrize("name", MOTORS)
def test_its_models_compute_the_same(name: str, tmp_path: Path) -> None:
    """Over random steps, within the limits and beyond."""
    file = tmp_path / "lab.py"
    file.write_text(lab_text(read_robot(ARM, {".*": MOTORS[name]}), ["a loss\nimport os"]))
    (cfg,) = isaac_lab.load_groups(file).values()
    assert type(cfg).__name__ == name
    model = cfg.class_type(cfg, JOINTS, [0, 1], 1, "cpu")
    model.reset([0])
    ours, random = ActuatedArrays(JOINTS, {".*": MOTORS[name]}), np.random.default_rng(1)
    for _ in range(50):
        q, v, t = random.normal(size=(3, 1, 2)).astype(np.float32) * np.float32([[[0.3]], [[3]], [[0.3]]])
        action = isaac_lab.ArticulationActions(t, np.zeros_like(t), np.zeros_like(t))
        efforts = np.asarray(model.compute(action, q, v).joint_efforts)[0]
        np.testing.assert_allclose(efforts, np.asarray(ours.step(q[0], v[0], t[0], 0.005)), rtol=1e-6, atol=1e-5)


def test_a_delay_beside_a_dc_motor_is_lost() -> None:
    """Isaac Lab has no such class."""
    motor = [PDControlConfig(1.0, 0.1), DCMotorClampingConfig(30.0, 3.0, 25.0), DelayConfig(2)]
    assert said_together(losses(read_robot(ARM, {".*": motor}))) == [
        "Not said: command delay beside a DC-motor limit (delay_steps = 2), of shoulder, extension."
    ]


def test_zeros_of_given_motors_are_said() -> None:
    """Isaac Lab takes values that a cfg omits from the robot's file."""
    motors = {".*": MotorConfig(PDControlConfig(1.0, 0.1), armature=0.0, friction=0.0)}
    text = lab_text(read_robot(ROBOTS / "so101.usda", motors), [])
    for field in ("armature", "friction", "dynamic_friction"):
        assert f"        {field}=0.0,\n" in text
    assert "viscous_friction" not in text
