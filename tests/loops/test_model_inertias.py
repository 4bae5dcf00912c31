"""Inertias from mass matrices of a model, on its device: those of `inertias_of`, in newton and on mujoco_warp."""

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ActuatedModel, ActuatedWorlds, FrictionConfig, PDControlConfig
from isaacsim.core.experimental.actuators.engine.faults import INERTIAS
from isaacsim.core.experimental.actuators.laws.contract.coupling import inertias_of
from isaacsim.core.experimental.actuators.loops.model_inertias import ModelInertias
from one_inertia import signals_of

DT = 0.002
STICKY = {"hip|knee": [PDControlConfig(20.0, 2.0), FrictionConfig(coulomb=0.2)]}
BOX = '<body name="box" pos="3 0 1"><freejoint/><geom size="0.1" mass="1"/></body>'
FLOATING = f"""
<mujoco><option timestep="0.002"/><worldbody>
  {BOX}
  <body name="trunk" pos="0 0 1"><freejoint/><geom size="0.1" mass="2" pos="0.1 0 0.2"/>
    <body pos="0.2 0 0"><joint name="hip" axis="0 1 0" armature="0.01"/><geom size="0.05" pos="0 0 -0.3"/>
      <body pos="0 0 -0.5"><joint name="knee" axis="0 1 0"/><geom size="0.04" pos="0.1 0 -0.2"/></body></body>
  </body>
</worldbody></mujoco>
"""


def positive(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    """Mass matrices of light joints behind a heavy base."""
    root = rng.normal(size=(count, size, size)) * np.logspace(2, -1, size)[:, None]
    return root @ np.swapaxes(root, 1, 2) + 1e-3 * np.eye(size)


def test_inertias_are_those_of_the_matrices(rng) -> None:
    size, joints = 8, [6, 7, 4]
    masses = positive(rng, 5, size).astype(np.float32)
    places = np.arange(size * size).reshape(size, size)
    rows = [1, 2, 4]
    found = [wp.zeros((3, count), dtype=wp.float32, device="cpu") for count in (2, 1)]
    signals = {"inertia": [([0, 2], found[0])], "coupled_inertia": [([1], found[1])]}
    inertias = ModelInertias(signals, [2, 0, 1], places, joints, rows, "cpu")
    given = wp.array(masses.reshape(5, -1), dtype=wp.float32, device="cpu")
    inertias.follow(given)
    inverse = np.linalg.inv(masses[rows].astype(float))[:, joints][:, :, joints]
    effective, coupled = inertias_of(np.linalg.inv(inverse))
    np.testing.assert_allclose(inertias.arrays["inertia"].numpy(), effective, rtol=1e-4)
    np.testing.assert_allclose(inertias.arrays["coupled_inertia"].numpy(), coupled, rtol=1e-4)
    np.testing.assert_allclose(found[0].numpy(), effective[:, [2, 1]], rtol=1e-4)
    np.testing.assert_allclose(found[1].numpy(), coupled[:, [0]], rtol=1e-4)
    before = found[0].numpy()
    given.zero_()
    inertias.follow(given)
    np.testing.assert_array_equal(found[0].numpy(), before)


def told(actuated) -> dict[str, np.ndarray]:
    signals = signals_of(actuated)
    return {name: part for name in (*INERTIAS, "load") for part in signals.get(name, ())}


def test_worlds_have_those_of_the_data() -> None:
    mujoco = pytest.importorskip("mujoco")
    mujoco_warp = pytest.importorskip("mujoco_warp")
    mjm = mujoco.MjModel.from_xml_string(FLOATING)
    joints = slice(12, 14)

    def expected(qpos: np.ndarray, qvel) -> tuple[np.ndarray, np.ndarray]:
        data = mujoco.MjData(mjm)
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_forward(mjm, data)
        return 1.0 / np.diag(np.linalg.inv(dense(mjm, data))[joints, joints]), data.qfrc_bias[joints]

    with wp.ScopedDevice("cpu"):
        model, data = mujoco_warp.put_model(mjm), mujoco_warp.make_data(mjm, nworld=2)
        targets = wp.full((2, 2), 0.5, dtype=wp.float32)
        with ActuatedWorlds(mjm, model, STICKY, 2) as actuated:
            actuated.step(data, targets, DT)
            np.testing.assert_allclose(told(actuated)["inertia"], [expected(mjm.qpos0, 0.0)[0]] * 2, rtol=1e-4)
            for _ in range(20):
                mujoco_warp.step(model, data)
                actuated.step(data, targets, DT)
            before = data.qpos.numpy().copy(), data.qvel.numpy().copy()
            mujoco_warp.step(model, data)
            actuated.step(data, targets, DT)
            assert not actuated.faults
            for name, at in (("inertia", 0), ("load", 1)):
                wanted = [expected(*state)[at] for state in zip(*before, strict=True)]
                if name in told(actuated):
                    np.testing.assert_allclose(told(actuated)[name], wanted, rtol=0.01, atol=0.02)
            with pytest.raises(ValueError, match="positive definite"):
                actuated.set_mass_matrix(np.diag([2.0, -3.0]))
            # those of the data are followed still
            assert actuated._inertias is not None
            actuated.set_mass_matrix(np.diag([2.0, 3.0]))
            actuated.set_loads([1.0, 2.0])
            actuated.step(data, targets, DT)
            np.testing.assert_array_equal(told(actuated)["inertia"], [[2.0, 3.0]] * 2)
            np.testing.assert_array_equal(told(actuated)["load"], [[1.0, 2.0]] * 2)


def dense(mjm, data) -> np.ndarray:
    found = np.zeros((mjm.nv, mjm.nv))
    for row in range(mjm.nv):
        for entry in range(mjm.M_rowadr[row], mjm.M_rowadr[row] + mjm.M_rownnz[row]):
            column = mjm.M_colind[entry]
            found[row, column] = found[column, row] = data.M[entry]
    return found


def test_newton_models_have_those_of_the_state() -> None:
    newton = pytest.importorskip("newton")
    if not hasattr(newton, "eval_mass_matrix"):
        pytest.skip("this newton has no mass matrices")
    builder = newton.ModelBuilder()
    builder.add_mjcf(FLOATING.replace(BOX, ""))
    robots = newton.ModelBuilder()
    robots.replicate(builder, 2)
    with wp.ScopedDevice("cpu"):
        model = robots.finalize(device="cpu")
        state, control = model.state(), model.control()
        newton.eval_fk(model, model.joint_q, model.joint_qd, state)
        with ActuatedModel(model, STICKY) as actuated:
            actuated.step(state, control, DT)
            inverse = np.linalg.inv(newton.eval_mass_matrix(model, state).numpy().astype(float))[:, 6:8, 6:8]
            wanted = 1.0 / np.diagonal(inverse, axis1=1, axis2=2)
            np.testing.assert_allclose(told(actuated)["inertia"], wanted, rtol=1e-4)
            assert not actuated.faults
            actuated.set_mass_matrix(np.diag([1.0] * 6 + [2.0, 3.0]))
            actuated.step(state, control, DT)
            np.testing.assert_allclose(told(actuated)["inertia"], [[2.0, 3.0]] * 2, rtol=1e-6)
