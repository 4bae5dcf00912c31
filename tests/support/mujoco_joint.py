"""A joint of one inertia: moved by an actuator of MuJoCo, and by our stages in float64."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest

INERTIA, DAMPING, SECONDS = 0.02, 0.05, 10.0
MODEL = """<mujoco>
  <option timestep="{dt}" gravity="0 0 0"/>
  <worldbody>
    <body>
      <joint name="j" axis="0 0 1" damping="0.05"/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.02 0.02 0.02"/>
    </body>
  </worldbody>
  <actuator>{actuator}</actuator>
</mujoco>"""


def mujoco_steps(dt: float, actuator: str, commands: np.ndarray) -> np.ndarray:
    mujoco = pytest.importorskip("mujoco")
    try:
        model = mujoco.MjModel.from_xml_string(MODEL.format(dt=dt, actuator=actuator))
    except ValueError:
        pytest.skip("this MuJoCo has no such actuator, or another one")
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    data, found = mujoco.MjData(model), np.zeros((len(commands), 3))
    for step, command in enumerate(commands):
        data.ctrl[:] = command
        mujoco.mj_step(model, data)
        found[step] = data.qvel[0], data.qpos[0], data.actuator_force[0]
    return found


def our_steps(dt: float, stages: list, targets: np.ndarray, feedforward: np.ndarray | None = None) -> np.ndarray:
    feedforward = np.zeros_like(targets) if feedforward is None else feedforward
    arrays, found = aa.ActuatedArrays(["j"], {".*": stages}), np.zeros((len(targets), 3))
    q = v = 0.0
    for step, values in enumerate(zip(targets, feedforward, strict=True)):
        position, velocity, target, ahead = (np.full((1, 1), number, np.float32) for number in (q, v, *values))
        effort = float(arrays.step(position, velocity, target, dt, feedforward=ahead)[0, 0])
        v += dt * (effort - DAMPING * v) / INERTIA
        q += dt * v
        found[step] = v, q, effort
    return found
