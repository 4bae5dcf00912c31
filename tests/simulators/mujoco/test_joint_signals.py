"""Signals of joints for laws, effective inertia and load, compared with the equations of motion."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

import numpy as np
import pytest

pytest.importorskip("mujoco")

import isaacsim.core.experimental.actuators as aa
import mujoco
from isaacsim.core.experimental.actuators.laws.contract.coupling import inertias_of
from isaacsim.core.experimental.actuators.simulators.mujoco import joint_signals
from played import played

from tests.support.places import ROBOTS

SIGNALS = ("inertia", "load")
FILES = {"arm_2dof": "/World/Arm", "unitree_go1": "/World/Go1", "franka_panda": "/World/Panda"}


def expected(robot) -> dict[str, np.ndarray]:
    count = robot.num_dofs
    inverse = np.linalg.inv(robot.get_mass_matrices().numpy().astype(float))
    efforts = robot.get_dof_gravity_compensation_forces().numpy()
    efforts = efforts + robot.get_dof_coriolis_and_centrifugal_compensation_forces().numpy()
    return {"inertia": 1.0 / np.einsum("rii->ri", inverse)[:, -count:], "load": efforts[:, -count:]}


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("file", FILES)
def test_they_are_those_of_the_equations_of_motion(file, copies) -> None:
    with played(ROBOTS / f"{file}.usda", num_envs=copies) as sim:
        robot = sim.articulation("/.*")
        rng = np.random.default_rng(0)
        views = robot.joint_signals(SIGNALS)
        for steps in (0, 1, 7):
            if steps:
                sim.step(steps - 1)
                robot.set_dof_positions(rng.uniform(-0.3, 0.3, (copies, robot.num_dofs)))
                wanted = expected(robot)
                sim.step()
            else:
                wanted = expected(robot)
            views.refresh()
            np.testing.assert_allclose(views.arrays["inertia"], wanted["inertia"], rtol=2e-5)
            if file == "arm_2dof":
                np.testing.assert_allclose(views.arrays["load"], wanted["load"], rtol=1e-4, atol=1e-4)
        sim.reset([0])
        np.testing.assert_allclose(views.arrays["inertia"][0], expected(robot)["inertia"][0], rtol=2e-5)


def test_numpy_computes_what_the_core_does(monkeypatch) -> None:
    found = []
    for native in (joint_signals.core, None):
        if native is None:
            monkeypatch.setattr(joint_signals, "core", None)
        with played(ROBOTS / "unitree_go1.usda", num_envs=2) as sim:
            sim.step(5)
            found.append(sim.articulation("/.*").joint_signals(["inertia"]).arrays["inertia"].copy())
    assert found[0].min() > 0.0
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_some_robots_have_copies_that_are_refreshed() -> None:
    with played(ROBOTS / "arm_2dof.usda", num_envs=4) as sim:
        some, every = sim.articulation("/World/envs/env_[013]/Arm"), sim.articulation("/.*")
        views, whole = some.joint_signals(SIGNALS), every.joint_signals(SIGNALS)
        every.set_dof_positions(np.arange(8.0).reshape(4, 2) / 10)
        sim.step()
        views.refresh()
        for name in SIGNALS:
            np.testing.assert_array_equal(views.arrays[name], whole.arrays[name][[0, 1, 3]])


def test_what_nobody_knows_is_left_out() -> None:
    with played(ROBOTS / "arm_2dof.usda") as sim:
        assert set(sim.articulation("/.*").joint_signals(["load", "weather"]).arrays) == {"load"}


FLOATING = """
<mujoco><option timestep="0.002"/><worldbody><body name="trunk" pos="0 0 1"><freejoint/>
  <geom size="0.1" mass="2" pos="0.1 0 0.2"/>
  <body name="left" pos="0.2 0 0"><joint name="hip" axis="0 1 0" armature="0.01"/><geom size="0.05" pos="0 0 -0.3"/>
    <body pos="0 0 -0.5"><joint name="knee" axis="0 1 0"/><geom size="0.04" pos="0.1 0 -0.2"/></body></body>
  <body name="right" pos="-0.2 0 0"><joint name="arm" type="slide" axis="1 0 0"/><geom size="0.06"/></body>
</body></worldbody></mujoco>
"""


@pytest.fixture(params=["one", "several", "batch"])
def own_data(request: pytest.FixtureRequest) -> tuple:
    model = mujoco.MjModel.from_xml_string(FLOATING)
    if request.param == "batch":
        kind = pytest.importorskip("mujoco.batch", reason="this MuJoCo has no batches").Batch
        if not hasattr(kind, "expanded"):
            pytest.skip("batches are driven from MuJoCo 4 on")
        return model, kind(model, 3, nthread=1), 3
    datas = [mujoco.MjData(model) for _ in range(1 if request.param == "one" else 3)]
    return model, datas, len(datas)


def test_data_of_ones_own_tell_the_same(own_data) -> None:
    model, data, count = own_data
    names = ("inertia", "coupled_inertia", "load")
    with aa.MujocoSimulation(model, data) as sim:
        robots = sim.articulation("trunk" if count == 1 else "/envs/.*/trunk")
        states = [sim.data.blocks(name) for name in ("qpos", "qvel")]
        views = robots.joint_signals(names)
        assert set(views.arrays) == set(names)

        def require_those_of(qpos: np.ndarray, qvel: np.ndarray) -> None:
            views.refresh()
            for row in range(count):
                data = mujoco.MjData(model)
                data.qpos[:], data.qvel[:] = qpos[row], qvel[row]
                mujoco.mj_forward(model, data)
                mass = np.zeros((model.nv, model.nv))
                rows, columns, entries = joint_signals.mass_entries(model)
                mass[rows, columns] = mass[columns, rows] = data.M[entries]
                first = int((model.jnt_type == mujoco.mjtJoint.mjJNT_FREE).sum()) * 6
                effective, coupled = inertias_of(mass, first)
                for name, wanted in {
                    "inertia": effective,
                    "coupled_inertia": coupled,
                    "load": data.qfrc_bias[first:],
                }.items():
                    np.testing.assert_allclose(
                        np.asarray(views.arrays[name])[row], wanted, rtol=1e-4, atol=1e-4, err_msg=name
                    )

        def state() -> list[np.ndarray]:
            return [np.concatenate([block for _, block in blocks]).copy() for blocks in states]

        require_those_of(*state())
        robots.set_dof_positions(np.random.default_rng(0).uniform(-0.3, 0.3, (count, robots.num_dofs)))
        sim.step(3)
        before = state()
        sim.step()
        require_those_of(*before)
        for one in data if isinstance(data, list) else []:
            # by the user, without a word to the simulation
            mujoco.mj_resetData(model, one)
        sim.reset([0])
        robots.set_dof_velocities(0.5)
        if isinstance(data, list):
            require_those_of(*state())


def test_nothing_but_what_signals_come_from_is_written() -> None:
    model = mujoco.MjModel.from_xml_path(str(ROBOTS / "arm_2dof.xml"))
    data, untouched = mujoco.MjData(model), mujoco.MjData(model)
    with aa.MujocoSimulation(model, data) as sim:
        sim.articulation("arm").joint_signals(SIGNALS)
        changed = {
            name
            for name in dir(data)
            if isinstance(value := getattr(data, name, None), np.ndarray)
            and not np.array_equal(value, getattr(untouched, name), equal_nan=True)
        }
    # 3.11 leaves the memory of these as it found it
    changed -= {"map_itree2tree"}
    assert changed and changed <= set(joint_signals.COMPUTED)


def test_friction_on_a_model_of_ones_own_needs_no_assumed_inertia() -> None:
    found = []
    motors = {".*": [aa.PDControlConfig(60.0, 6.0), aa.MaxEffortClampingConfig(60.0), aa.FrictionConfig(coulomb=0.2)]}
    file = ROBOTS / "arm_2dof.xml"
    model = mujoco.MjModel.from_xml_path(str(file))
    for is_own in (True, False):
        sim = aa.MujocoSimulation(model, mujoco.MjData(model)) if is_own else aa.Simulation(file, model.opt.timestep)
        with sim:
            actuators = aa.ArticulationActuators.from_configs("arm" if is_own else "/arm", motors)
            if not is_own:
                sim.play()
            robot = actuators.articulation
            robot.set_dof_position_targets(0.2)
            sim.step(300)
            assert not actuators.faults
            found.append(robot.get_dof_positions().numpy())
    assert np.abs(found[0]).max() > 0.01
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)
