"""Bodies where MuJoCo has them, in every environment."""

import mujoco
import numpy as np
from isaacsim.core.experimental.actuators.simulators.mujoco.fields import ModelFields
from isaacsim.core.experimental.actuators.simulators.mujoco.kinematics import Kinematics, cross
from mujoco.batch import Batch

MODEL = """<mujoco><worldbody>
  <body pos="0 0 1"><freejoint/><inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.1 0.1"/>
    <body pos="0.3 0 0" quat="0.8 0.6 0 0"><joint axis="0 1 1" pos="0 0.1 0"/><joint type="slide" axis="1 0 0"/>
      <inertial pos="0 0 0.4" mass="1" diaginertia="0.1 0.1 0.1"/></body></body>
  <body pos="2 0 0"><geom size="0.1"/>
    <body pos="0 0 0.5"><joint type="ball"/><geom size="0.1" pos="0.3 0 0"/></body></body>
</worldbody></mujoco>"""


def test_they_are_those_of_mujoco() -> None:
    """Of the environments asked for, in their order, with a base that was moved in one."""
    model = mujoco.MjModel.from_xml_string(MODEL)
    batch = Batch(model, 4)
    fields, random = ModelFields(model, batch), np.random.default_rng(2)
    qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
    for env in range(4):
        mujoco.mj_integratePos(model, qpos[env], random.normal(size=model.nv), 1.0)
    qvel[:] = random.normal(size=qvel.shape)
    fields.own("body_pos")[2, 3] = [5, 6, 7]
    fields.written("body_pos", np.array([2]))
    kinematics, envs = Kinematics(model), np.array([2, 0, 3])
    poses, velocities = kinematics.poses(fields, envs, qpos), kinematics.velocities(fields, envs, qpos, qvel)
    for env, pose, velocity in zip(envs, poses, velocities, strict=True):
        here, data = batch.get_model(env), batch.get_data(env)
        mujoco.mj_forward(here, data)
        np.testing.assert_array_equal(pose, np.hstack([data.xpos, data.xquat]))
        both = np.empty((2, 3, model.nv))
        for body in range(model.nbody):
            mujoco.mj_jacBodyCom(here, data, both[0], both[1], body)
            np.testing.assert_allclose(velocity[body], (both @ qvel[env]).ravel(), atol=1e-12)


def test_products_of_vectors() -> None:
    """As NumPy has them."""
    a, b = np.random.default_rng(3).normal(size=(2, 5, 3))
    np.testing.assert_allclose(cross(a, b), np.cross(a, b), atol=1e-15)
