"""Motors in the loop of mjlab, beside its own actuator with the same numbers: python in_mjlab.py, with mjlab 1.6."""

from dataclasses import dataclass

import mujoco
import torch
from isaacsim.core.experimental.actuators import ActuatedArrays, DCMotorClampingConfig, DelayConfig, PDControlConfig
from mjlab.actuator import Actuator, ActuatorCfg, DcMotorActuatorCfg
from mjlab.entity import EntityArticulationInfoCfg, EntityCfg
from mjlab.scene import Scene, SceneCfg
from mjlab.sim import Simulation, SimulationCfg
from mjlab.utils.spec import create_motor_actuator


# docs: begin class
@dataclass(kw_only=True)
class MotorsCfg(ActuatorCfg):
    """Motors by pattern of joint names, as `load_motors` returns them, and the physics step [s]."""

    motors: dict
    dt: float

    def build(self, entity, target_ids, target_names):
        return Motors(self, entity, target_ids, target_names)


class Motors(Actuator):
    """Motors of some joints of all worlds."""

    def edit_spec(self, spec, target_names):
        # the limits are those of the motors
        self._mjs_actuators += [create_motor_actuator(spec, name, effort_limit=1e9) for name in target_names]

    def initialize(self, mj_model, model, data, device):
        super().initialize(mj_model, model, data, device)
        self.arrays = ActuatedArrays(self.target_names, self.cfg.motors, data.nworld, device=device)

    def compute(self, cmd):
        targets = {"qd_target": cmd.velocity_target, "feedforward": cmd.effort_target}
        return self.arrays.step(cmd.pos, cmd.vel, cmd.position_target, self.cfg.dt, **targets)

    def reset(self, env_ids=None):
        self.arrays.reset(indices=None if isinstance(env_ids, slice) else env_ids)

    # docs: end class


ARM = """<mujoco><worldbody><body><geom size="0.05"/><body><joint name="hinge" axis="0 1 0" damping="0.1"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02" mass="1"/></body></body></worldbody></mujoco>"""
MOTOR = [PDControlConfig(80.0, 2.0), DCMotorClampingConfig(30.0, 6.0, 25.0), DelayConfig(2)]
OURS = MotorsCfg(target_names_expr=("hinge",), motors={"hinge": MOTOR}, dt=0.002)
LIMITS = {"effort_limit": 25.0, "saturation_effort": 30.0, "velocity_limit": 6.0}
DELAY = {"delay_min_lag": 2, "delay_max_lag": 2}
THEIRS = DcMotorActuatorCfg(target_names_expr=("hinge",), stiffness=80.0, damping=2.0, **LIMITS, **DELAY)


def moved(cfg: ActuatorCfg) -> torch.Tensor:
    """Return the positions of two arms on the way to a target, in each step [rad]."""
    articulation = EntityArticulationInfoCfg(actuators=(cfg,))
    arm = EntityCfg(spec_fn=lambda: mujoco.MjSpec.from_string(ARM), articulation=articulation)
    scene = Scene(SceneCfg(num_envs=2, entities={"arm": arm}), device="cpu")
    sim = Simulation(2, SimulationCfg(), scene.compile(), device="cpu")
    scene.initialize(sim.mj_model, sim.model, sim.data)
    scene["arm"].set_joint_position_target(torch.tensor([[0.5], [-0.3]]))
    path = []
    for _ in range(400):
        scene.write_data_to_sim()
        sim.step()
        scene.update(0.002)
        path.append(scene["arm"].data.joint_pos.clone())
    return torch.stack(path)


apart = (ours := moved(OURS)).sub(moved(THEIRS)).abs().max().item()
good = apart < 1e-5 and abs(ours[-1, 0, 0].item()) > 0.4
print(f"{'ok' if good else 'FAILED'}: motors and DcMotorActuatorCfg within {apart:.1e} rad")
raise SystemExit(not good)
