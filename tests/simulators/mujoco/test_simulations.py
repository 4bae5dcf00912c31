"""Simulations of MuJoCo without its batches, beside its batches: the same bits."""

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.simulators.mujoco.simulations import Loop

# a box with an arm on a floor
MODEL = """
<mujoco>
  <option integrator="implicitfast"/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.3"><freejoint/><site name="touch" size="0.2"/><geom type="box" size="0.1 0.1 0.1"/>
      <body pos="0 0 0.2"><joint name="hinge" axis="0 1 0" armature="0.1"/><geom type="capsule" size="0.03 0.2"/></body>
    </body>
  </worldbody>
  <actuator><position name="motor" joint="hinge" kp="20" kv="1"/></actuator>
  <sensor><touch site="touch"/></sensor>
</mujoco>
"""
OUTPUTS = ("qfrc_actuator", "sensordata", "xpos", "cvel")


@pytest.mark.parametrize("count", [1, 5])
def test_it_does_the_same_as_a_batch(count) -> None:
    batch = pytest.importorskip("mujoco.batch", reason="this MuJoCo has no batches")
    if not hasattr(batch.Batch, "expanded"):
        pytest.skip("batches of this MuJoCo do not tell what differs between simulations")
    model = mujoco.MjModel.from_xml_string(MODEL)
    both = [kind(model, count, nthread=1 if count == 1 else 2) for kind in (Loop, batch.Batch)]
    some = np.arange(count)[::2]

    def act(one) -> list[np.ndarray]:
        ctrl, applied, outputs = one.bind("ctrl"), one.bind("qfrc_applied"), [one.bind(name) for name in OUTPUTS]
        found = []

        def note() -> None:
            found.extend(np.array(part) for part in (one.bind("qpos"), one.bind("qvel"), *outputs))

        assert one.nsim == count and one.expanded("dof_armature") is None
        ctrl[:] = np.linspace(0.5, 1.0, count)[:, None]
        one.step()
        one.step(nstep=150)
        note()
        one.expand("dof_armature")[:, -1] = np.linspace(0.1, 0.4, count)
        one.expand("body_mass")[some, 1] *= 2.0
        one.set_const(some)
        found.append(np.array(one.expanded("body_subtreemass")))
        one.expand("opt.disableactuator")[some] = 1
        one.expand("actuator_group")
        applied[:, -1] = 0.3
        one.bind("qvel")[0, 2] = 1.0
        one.step(ids=some, nstep=20)
        note()
        one.forward(ids=np.array([0]), stage=int(mujoco.mjtStage.mjSTAGE_VEL))
        # the others are those of later stages
        found.extend(np.array(one.bind(name)) for name in ("xpos", "cvel"))
        one.state[:] = one.state[0]
        found.append(np.array(one.bind("time")))
        data, own = one.get_data(0), one.get_model(0)
        mujoco.mj_forward(own, data)
        return [*found, data.qacc.copy(), own.body_mass.copy(), own.dof_armature.copy()]

    for ours, theirs in zip(*map(act, both), strict=True):
        np.testing.assert_array_equal(ours, theirs)
