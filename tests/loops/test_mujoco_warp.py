"""Actuators on worlds of mujoco_warp: the motion of MuJoCo's C, and the model as it was afterwards."""

from types import SimpleNamespace
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from places import ROBOTS
from refusals import cases, refused

mujoco = pytest.importorskip("mujoco")
DT, WORLDS = 0.002, 3
PD = [aa.PDControlConfig(10.0, 1.0)]
# positions of the arm stand one further than velocities, those behind the ball joint two
MIXED = """
<mujoco>
  <worldbody>
    <body name="box" pos="2 0 1"><freejoint name="loose"/><geom size="0.1" mass="1"/></body>
    <body name="arm">
      <joint name="spare" axis="0 0 1"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
      <body pos="0.4 0 0"><joint name="hip" axis="0 1 0"/><geom size="0.1" mass="1"/>
        <body pos="0.4 0 0"><joint type="slide"/><geom size="0.1" mass="1"/>
          <body pos="0.4 0 0"><joint name="ball" type="ball"/><geom size="0.1" mass="1"/>
            <body pos="0.4 0 0"><joint name="tip" axis="0 1 0"/><geom size="0.1" mass="1"/></body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="spare"/><position joint="hip" kp="50" forcerange="-3 3"/><motor joint="ball"/><motor joint="hip"/>
  </actuator>
</mujoco>
"""


def mixed():
    return mujoco.MjModel.from_xml_string(MIXED)


def floats(values, dtype=wp.float32, device: str = "cpu") -> wp.array:
    return wp.array(values, dtype=dtype, device=device)


class Model(SimpleNamespace):
    """Other than its base it can be referred to weakly, as models can."""


def put(mjm, device: str = "cpu"):
    """What mujoco_warp makes of a model, as far as actuators ask: a row for all worlds."""
    fields = ("qpos0", "dof_armature", "dof_frictionloss", "dof_damping", "dof_solref", "dof_solimp")
    return Model(
        **{name: getattr(mjm, name) for name in ("nq", "nv", "njnt")},
        **{name: floats(getattr(mjm, name)[None], device=device) for name in fields},
        opt=SimpleNamespace(timestep=floats([mjm.opt.timestep], device=device)),
        **{name: floats(getattr(mjm, name), wp.int32, device) for name in ("actuator_gaintype", "actuator_biastype")},
        actuator_forcelimited=floats(mjm.actuator_forcelimited, wp.bool, device),
        actuator_forcerange=floats(mjm.actuator_forcerange[None], wp.vec2, device),
    )


def data_of(mjm, worlds: int = WORLDS, device: str = "cpu", **changes):
    arrays = {
        "qpos": floats(np.arange(worlds * mjm.nq).reshape(worlds, -1), device=device),
        "qvel": floats(np.zeros((worlds, mjm.nv)), device=device),
        "qfrc_applied": floats(np.full((worlds, mjm.nv), 7.0), device=device),
    }
    return SimpleNamespace(**arrays | changes)


def numbers(model) -> dict[str, np.ndarray]:
    return {name: array.numpy().copy() for name, array in vars(model).items() if isinstance(array, wp.array)}


def targets(worlds: int = WORLDS, dofs: int = 4) -> np.ndarray:
    return np.zeros((worlds, dofs), np.float32)


def test_joints_are_found_behind_a_free_body() -> None:
    mjm = mixed()
    actuated = aa.ActuatedWorlds(mjm, put(mjm), {"hip|joint_3": PD}, WORLDS)
    assert actuated.dof_names == ["spare", "hip", "joint_3", "tip"] and actuated.num_robots == WORLDS
    data, goal = data_of(mjm), targets()
    goal[:, 1], goal[:, 2] = 100.0, 200.0
    actuated.step(data, goal, DT)
    expected = np.full((WORLDS, mjm.nv), 7.0)
    for column, dof, target in ((8, 7, 100.0), (9, 8, 200.0)):
        expected[:, dof] = 10 * (target - (np.arange(WORLDS) * mjm.nq + column))
    np.testing.assert_array_equal(data.qfrc_applied.numpy(), expected)


def test_velocities_and_other_targets_are_read() -> None:
    mjm = mixed()
    actuated, data = aa.ActuatedWorlds(mjm, put(mjm), {"tip": PD}, WORLDS), data_of(mjm)
    data.qpos.zero_()
    given = {name: targets() for name in ("q_target", "qd_target", "feedforward")}
    velocity = np.zeros((WORLDS, mjm.nv), np.float32)
    velocity[:, 12] = -4.0
    data.qvel.assign(velocity)
    for number, array in enumerate(given.values()):
        array[:, 3] = 1.0 + number
    actuated.step(data, given["q_target"], DT)
    assert (data.qfrc_applied.numpy()[:, 12] == 10 * 1 + 4).all()
    actuated.step(data, **given, dt=DT)
    assert (data.qfrc_applied.numpy()[:, 12] == 10 * 1 + (2 + 4) + 3).all()


def test_efforts_are_those_of_the_end_of_the_step_in_the_implicit_mode() -> None:
    """kp = 10 and kd = 1 at rest at q, of a joint with the inertia I: τ = −10 q/(1 + 10 h²/I + h/I)."""
    mjm, inertia = mixed(), 0.02
    actuated, data = aa.ActuatedWorlds(mjm, put(mjm), {"hip": PD}, WORLDS, effort_mode="implicit"), data_of(mjm)
    actuated.set_mass_matrix(inertia * np.eye(len(actuated.dof_names)))
    actuated.step(data, targets(), DT)
    q = data.qpos.numpy()[:, 8]
    np.testing.assert_allclose(data.qfrc_applied.numpy()[:, 7], -10 * q / (1 + (10 * DT**2 + DT) / inertia), rtol=1e-6)


@pytest.mark.parametrize("library", ["numpy", "warp", "torch", "jax"])
def test_targets_of_any_library_are_read_where_they_lie(library) -> None:
    module = wp if library == "warp" else np if library == "numpy" else pytest.importorskip(library)
    goal = targets()
    made = {"numpy": lambda: goal, "warp": lambda: floats(goal), "torch": lambda: module.from_numpy(goal)}
    given = made[library]() if library in made else module.numpy.asarray(goal + 2)
    mjm = mixed()
    actuated, data = aa.ActuatedWorlds(mjm, put(mjm), {"hip": PD}, WORLDS), data_of(mjm)
    data.qpos.zero_()
    actuated.step(data, given, DT)
    actuated._bind = lambda *_: pytest.fail("looked at again")
    if library != "jax":
        given.fill_(2.0) if library != "numpy" else given.fill(2.0)
    actuated.step(data, given, DT)
    assert (data.qfrc_applied.numpy()[:, 7] == 20).all()


def test_actuators_of_the_model_rest_until_close() -> None:
    mjm = mixed()
    model, data = put(mjm), data_of(mjm)
    before = numbers(model)
    with aa.ActuatedWorlds(mjm, model, {"hip": PD}, WORLDS) as actuated:
        assert model.actuator_forcelimited.numpy().tolist() == [False, True, False, True]
        assert not model.actuator_forcerange.numpy()[:, [1, 3]].any()
        actuated.step(data, targets(), DT)
        assert data.qfrc_applied.numpy()[:, 7].all()
    assert data.qfrc_applied.numpy()[0].tolist() == [7.0] * 7 + [0.0] + [7.0] * 5
    for name, values in numbers(model).items():
        np.testing.assert_array_equal(values, before[name])
    refused(RuntimeError, lambda: actuated.step(data, targets(), DT), "is closed")


@pytest.mark.parametrize("rows", [1, WORLDS])
def test_armature_and_friction_of_motors_are_the_models(rows) -> None:
    mjm = mixed()
    model = put(mjm)
    model.dof_armature, model.dof_frictionloss = (floats(np.full((rows, mjm.nv), value)) for value in (0.5, 0.25))
    arrays, before = (model.dof_armature, model.dof_frictionloss), numbers(model)
    motors = {"hip": aa.MotorConfig(PD[0], armature=0.125), "tip": aa.MotorConfig(friction=np.array([1.0, 2.0, 3.0]))}
    with aa.ActuatedWorlds(mjm, model, motors, WORLDS):
        expected = np.full((rows, mjm.nv), 0.5)
        expected[:, 7] = 0.125
        np.testing.assert_array_equal(model.dof_armature.numpy(), expected)
        expected = np.full((WORLDS, mjm.nv), 0.25)
        expected[:, 12] = 1.0, 2.0, 3.0
        np.testing.assert_array_equal(model.dof_frictionloss.numpy(), expected)
    assert (model.dof_armature, model.dof_frictionloss) == arrays
    for name, values in numbers(model).items():
        np.testing.assert_array_equal(values, before[name])


def test_friction_acts_once() -> None:
    mjm = mixed()
    model = put(mjm)
    model.dof_frictionloss, model.dof_damping = (floats(np.full((1, mjm.nv), value)) for value in (0.25, 0.125))
    before = numbers(model)
    motors = {
        "spare": [*PD, aa.FrictionConfig(0.5, 0.75, assumed_inertia=0.1)],
        "hip": [*PD, aa.FrictionConfig(0.5, 0.75, in_engine=True)],
    }
    with aa.ActuatedWorlds(mjm, model, motors, WORLDS):
        assert model.dof_frictionloss.numpy()[0, 5:9].tolist() == [0.25, 0.0, 0.5, 0.25]
        assert model.dof_damping.numpy()[0, 5:9].tolist() == [0.125, 0.0, 0.75, 0.125]
        np.testing.assert_allclose(model.dof_solref.numpy()[0, 6:8], [[0.02, 1.0], [2 * mjm.opt.timestep, 1.0]])
        np.testing.assert_allclose(model.dof_solimp.numpy()[0, 6:8, 0], [0.9, 0.9999])
    for name, values in numbers(model).items():
        np.testing.assert_array_equal(values, before[name])


def test_joints_on_both_sides_of_a_ball_joint_are_refused() -> None:
    mjm = mixed()
    model = put(mjm)
    with pytest.raises(ValueError, match=r"joints \['tip'\] stand behind a ball or free joint that 'hip' stands"):
        aa.ActuatedWorlds(mjm, model, {"hip|tip": PD}, WORLDS)
    assert not model.actuator_forcelimited.numpy()[2:].any()


def test_models_that_do_not_fit_are_refused() -> None:
    mjm, other = mixed(), mujoco.MjModel.from_xml_path(str(ROBOTS / "arm_2dof.xml"))
    for first, second in ((other, put(mjm)), (put(mjm), mjm), (mjm, None)):
        with pytest.raises(ValueError, match=r"\(nq, nv, njnt\) = .* must be the same model"):
            aa.ActuatedWorlds(first, second, {"hip": PD}, WORLDS)


@cases(
    "changes, given, message",
    ({"qpos": floats(np.zeros((2, 14)))}, {}, r"data.qpos has shape \(2, 14\): must be \(3, 15\), a row per world"),
    ({}, {"q_target": targets(3, 2)}, r"q_target has shape \(3, 2\): must be \(3, 4\)"),
    ({}, {"q_target": None}, "q_target is a NoneType: must be an array"),
    ({}, {"feedforward": np.zeros((3, 4))}, "feedforward has dtype float64: must be float32"),
    ({"qfrc_applied": floats(np.zeros((3, 13)), wp.float64)}, {}, "data.qfrc_applied has dtype float64"),
    ({}, {"dt": 0.0}, "dt = 0.0: must be a finite number of seconds > 0"),
)
def test_arrays_that_do_not_fit_are_refused(changes: dict[str, Any], given: dict[str, Any], message: str) -> None:
    mjm = mixed()
    actuated = aa.ActuatedWorlds(mjm, put(mjm), {"hip": PD}, WORLDS)
    with pytest.raises(ValueError, match=message):
        actuated.step(data_of(mjm, **changes), **{"q_target": targets(), "dt": DT} | given)


GOALS = np.array([[1.0, 0.3], [0.5, 0.1], [-0.5, 0.2]], np.float32)


def of_c(mjm, motors, steps: int) -> np.ndarray:
    """Positions of the arm in MuJoCo's C, from one's own MjData, world by world."""
    found = []
    for goal in GOALS:
        data, seen = mujoco.MjData(mjm), []
        with aa.MujocoSimulation(mjm, data) as sim:
            sim.articulation("arm").set_dof_position_targets(goal)
            with aa.ArticulationActuators.from_configs("arm", motors):
                for _ in range(steps):
                    sim.step()
                    seen.append(data.qpos.copy())
        found.append(seen)
    return np.swapaxes(found, 0, 1)


@pytest.mark.parametrize("integrator", ["mjINT_EULER", "mjINT_IMPLICITFAST"])
@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_worlds_move_as_in_mujoco(device, integrator) -> None:
    mujoco_warp = pytest.importorskip("mujoco_warp")
    if device != "cpu" and not wp.is_cuda_available():
        pytest.skip("there is no CUDA device")
    mjm = mujoco.MjModel.from_xml_path(str(ROBOTS / "arm_2dof.xml"))
    mjm.opt.integrator = getattr(mujoco.mjtIntegrator, integrator)
    own = aa.motors_of_model(mjm)
    motors = {
        "shoulder": aa.MotorConfig(aa.PDControlConfig(80.0, 15.0), own["shoulder"].clamping, armature=0.25),
        "extension": own["extension"],
    }
    expected = of_c(mjm, motors, 500)
    with wp.ScopedDevice(device):
        model, data = mujoco_warp.put_model(mjm), mujoco_warp.make_data(mjm, nworld=WORLDS)
        data.ctrl.fill_(0.4)
        before = numbers(model)
        goals, seen = wp.array(GOALS, dtype=wp.float32), []
        with aa.ActuatedWorlds(mjm, model, motors, WORLDS) as actuated:
            assert actuated.device == device
            for _ in range(500):
                actuated.step(data, goals, DT)
                mujoco_warp.step(model, data)
                seen.append(data.qpos.numpy().copy())
    assert np.ptp(expected, axis=0).min() > 0.05
    np.testing.assert_allclose(seen, expected, rtol=0, atol=2e-6)
    for name, values in numbers(model).items():
        np.testing.assert_array_equal(values, before[name])


@pytest.mark.skipif(mujoco.__version__ < "4", reason="MuJoCo 4 has these DC motors")
def test_cogging_of_a_motor_of_the_model_rests_too() -> None:
    mujoco_warp = pytest.importorskip("mujoco_warp")
    mjm = mujoco.MjModel.from_xml_string(
        """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body name="arm">
        <joint name="a" axis="0 1 0" armature="0.5"/><geom size="0.1" mass="1" pos="0.2 0 0"/></body></worldbody>
        <actuator><dcmotor joint="a" motorconst="0.1" resistance="0.5" gear="9" inductance="0.002" cogging="0.5 3 0.4"/>
        </actuator></mujoco>"""
    )
    with wp.ScopedDevice("cpu"):
        model, data = mujoco_warp.put_model(mjm), mujoco_warp.make_data(mjm, nworld=1)
        before = numbers(model)
        motor = aa.MotorConfig(aa.PDControlConfig(0.0, 0.0))
        with aa.ActuatedWorlds(mjm, model, {"a": motor}, 1) as actuated:
            for _ in range(20):
                actuated.step(data, np.zeros((1, 1), np.float32), DT)
                mujoco_warp.step(model, data)
            assert not data.qpos.numpy().any()
        for name, values in numbers(model).items():
            np.testing.assert_array_equal(values, before[name])
        mujoco_warp.step(model, data)
        assert data.qvel.numpy().all()
