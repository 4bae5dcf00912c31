"""Motors in Isaac Lab 3.0, as an explicit model and from a file: python in_isaac_lab.py; no simulator runs."""

import math
from dataclasses import MISSING
from pathlib import Path

import torch
import warp as wp
from isaaclab.actuators import DCMotorCfg, IdealPDActuator, IdealPDActuatorCfg
from isaaclab.actuators.newton import NewtonActuatorAdapter
from isaaclab.utils import configclass
from isaaclab.utils.types import ArticulationActions
from isaacsim.core.experimental.actuators import ActuatedArrays, DCMotorClampingConfig, PDControlConfig
from pxr import Usd


# docs: begin class
class Motors(IdealPDActuator):
    """Motors of a group of joints, in place of a PD law of Isaac Lab."""

    def __init__(self, cfg, joint_names, joint_ids, num_envs, device, **of_robot):
        super().__init__(cfg, joint_names, joint_ids, num_envs, device, **of_robot)
        self.arrays = ActuatedArrays(joint_names, cfg.motors, num_envs, device=device)

    def reset(self, env_ids):
        self.arrays.reset(indices=None if isinstance(env_ids, slice) else env_ids)

    def compute(self, control_action, joint_pos, joint_vel):
        targets = {"qd_target": control_action.joint_velocities, "feedforward": control_action.joint_efforts}
        efforts = self.arrays.step(joint_pos, joint_vel, control_action.joint_positions, self.cfg.dt, **targets)
        self.computed_effort = self.applied_effort = control_action.joint_efforts = efforts.clone()
        control_action.joint_positions = control_action.joint_velocities = None
        return control_action


@configclass
class MotorsCfg(IdealPDActuatorCfg):
    """Motors by pattern of joint names, as `load_motors` returns them, and the physics step [s]."""

    class_type: type = Motors
    motors: dict = MISSING
    dt: float = 0.005
    # 3.0 cuts efforts at this limit once more
    joint_effort_limit: float = math.inf
    # docs: end class


JOINTS, PD = ["hip", "knee"], {"joint_names_expr": [".*"], "stiffness": 80.0, "damping": 2.0}
OURS = MotorsCfg(**PD, motors={".*": [PDControlConfig(80.0, 2.0), DCMotorClampingConfig(30.0, 6.0, 25.0)]})
THEIRS = DCMotorCfg(**PD, saturation_effort=30.0, actuator_effort_limit=25.0, actuator_velocity_limit=6.0)
models = [cfg.class_type(cfg, JOINTS, slice(None), 4, "cpu") for cfg in (OURS, THEIRS)]
apart = 0.0
for _ in range(100):
    q, qd, target = torch.randn(3, 4, 2).unbind()
    actions = [ArticulationActions(target.clone(), torch.zeros(4, 2), torch.zeros(4, 2)) for _ in models]
    ours, theirs = (m.compute(a, q, 3.0 * qd).joint_efforts for m, a in zip(models, actions, strict=True))
    apart = max(apart, (ours - theirs).abs().max().item())
# docs: begin file
stage = Usd.Stage.Open(str(Path(__file__).parents[2] / "data" / "robots" / "franka_panda.usda"))
arm = [f"panda_joint{number}" for number in range(1, 8)]
adapter = NewtonActuatorAdapter.from_usd(stage, arm, num_envs=4, num_joints=7, device="cpu")
gains = torch.cat([wp.to_torch(actuator.drive.kp) for actuator in adapter.actuators])
# docs: end file
good = apart < 1e-4 and sorted(set(gains.tolist())) == [100.0, 400.0] and len(gains) == 4 * 7
print(f"{'ok' if good else 'FAILED'}: within {apart:.1e} N·m of DCMotor, and {len(gains) // 4} joints from a file")
raise SystemExit(not good)
