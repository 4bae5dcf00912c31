"""Actions of MuJoCo Playground on real motors: python beside_playground.py, with playground 0.2."""

import isaacsim.core.experimental.actuators as ea
import jax
import mujoco
import numpy as np
from mujoco_playground import registry

ACTIONS = np.sign(np.sin(np.arange(150) / 8.0))[:, None]
# docs: begin replay
env = registry.load("PendulumSwingup", config_overrides={"impl": "jax"})
model = env.mj_model
ideal = ea.motors_of_model(model)  # what Playground trains with: an effort up to 1 N·m at any speed
real = {"hinge": [ideal["hinge"].controller, ea.DCMotorClampingConfig(1.0, 3.0, 1.0), ea.DelayConfig(2)]}


def replay(motors: dict, qpos: np.ndarray) -> np.ndarray:
    """Return positions under the actions, one per policy step."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    with ea.MujocoSimulation(model, data) as sim:
        body = model.body(model.joint("hinge").bodyid[0]).name
        actuators = ea.ArticulationActuators.from_configs(body, motors)
        path = []
        for action in ACTIONS:
            actuators.set_dof_feedforward_effort_targets(action)  # its actuator is a motor; of a position: targets
            sim.step(env.n_substeps)
            path.append(data.qpos.copy())
    return np.array(path)
    # docs: end replay


step, state = jax.jit(env.step), jax.jit(env.reset)(jax.random.PRNGKey(0))
start, theirs = np.array(state.data.qpos), []
for action in ACTIONS:
    state = step(state, action)
    theirs.append(np.array(state.data.qpos))
apart, differs = (np.abs(replay(motors, start) - theirs).max() for motors in (ideal, real))
good = apart < 1e-2 and differs > 0.1
print(f"{'ok' if good else 'FAILED'}: within {apart:.1e} rad of MJX with its motors, {differs:.2f} rad with real ones")
raise SystemExit(not good)
