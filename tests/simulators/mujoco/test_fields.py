"""Dry friction holds what it can on MuJoCo, wherever it comes from; what a file says of its softness stays."""

from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import mujoco
import numpy as np
import pytest
from driven import driven
from isaacsim.core.experimental.actuators.simulators.mujoco.fields import hard
from isaacsim.core.experimental.actuators.simulators.mujoco.simulations import Batch
from places import ROBOTS
from played import models_of, played, played_robot
from pxr import Sdf
from refusals import cases
from small_stages import SmallStage, pendulum

DT = 0.005
ROBOT, HINGE = "/World/Robot", "/World/Robot/hinge"
SOFT = {"solref": [0.02, 1.0], "solimp": [0.9, 0.95, 0.001, 0.5, 2.0]}
# an arm that gravity pulls down by 4.905 N·m
ARM = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody><body name="arm">
    <joint name="hinge" axis="0 1 0" {joint}/><geom type="box" size="0.5 0.05 0.05" pos="0.5 0 0" mass="1"/>
  </body></worldbody>
</mujoco>
"""
URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <dynamics friction="8"/></joint>
</robot>
"""


def written(folder: Path, text: str, name: str = "arm.xml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def horizontal_pendulum() -> SmallStage:
    made = pendulum()
    made.state(HINGE, position=90.0)
    return made


def creep(sim: aa.Simulation, robot: aa.Articulation, seconds: float = 1.0) -> float:
    """Largest velocity [rad/s] of joints without drives, over some time, after they had some to come to rest."""
    robot.set_dof_gains(0.0, 0.0)
    sim.step(round(0.5 / sim.dt))
    before = robot.get_dof_positions().numpy()
    sim.step(round(seconds / sim.dt))
    return float(np.abs(robot.get_dof_positions().numpy() - before).max()) / seconds


def friction_of(model: mujoco.MjModel) -> dict[str, list[float]]:
    return {"solref": model.dof_solref[0].tolist(), "solimp": model.dof_solimp[0].tolist()}


def is_hard(model: mujoco.MjModel, dt: float = DT) -> bool:
    return friction_of(model) == {name: list(values) for name, values in hard(dt).items()}


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01])
@pytest.mark.parametrize(("name", "path"), [("so101", "/World/SO101"), ("pendulum", "/World/Pendulum")])
def test_an_arm_whose_friction_withstands_gravity_stays(name, path, dt) -> None:
    with played_robot(path, ROBOTS / f"{name}.usda", dt) as (sim, robot):
        if name == "pendulum":
            robot.set_dof_positions(np.pi / 2)
        most = np.abs(robot.get_dof_gravity_compensation_forces().numpy()).max()
        robot.set_dof_friction_properties(1.5 * most, 1.5 * most)
        assert creep(sim, robot) < 2e-5


@pytest.mark.parametrize("hardness", [SOFT, hard(DT)], ids=["soft", "hard"])
def test_velocity_of_creep_is_that_of_the_formula(tmp_path, hardness) -> None:
    (_, most), (first, last, *_) = hardness["solref"], hardness["solimp"]
    sizes = " ".join(map(str, hardness["solimp"]))
    joint = f'frictionloss="8" solreffriction="{hardness["solref"][0]} {most}" solimpfriction="{sizes}"'
    with played(written(tmp_path, ARM.format(joint=joint))) as sim:
        weight = 4.905 * sim.model.dof_invweight0[0] * (1 - first) / first
        assert creep(sim, aa.Articulation("arm")) == pytest.approx(weight * last * hardness["solref"][0] / 2, rel=0.01)


def test_friction_of_a_stage_is_hard() -> None:
    made = horizontal_pendulum()
    made.attribute(HINGE, "newton:friction", 8.0)
    for dt in (0.001, 0.01):
        with played(made.stage, dt) as sim:
            assert is_hard(sim.model, dt) and creep(sim, aa.Articulation(ROBOT)) < 1e-4


@cases(
    "authored, expected",
    ({"solreffriction": [0.04, 1.0]}, SOFT | {"solref": [0.04, 1.0]}),
    ({"solimpfriction": [0.8, 0.9, 0.001, 0.5, 2.0]}, SOFT | {"solimp": [0.8, 0.9, 0.001, 0.5, 2.0]}),
)
def test_what_a_stage_says_in_words_of_mujoco_holds(authored, expected) -> None:
    """Unauthored parts have MuJoCo's defaults, as in an MJCF file; setting other frictions leaves it."""
    made = horizontal_pendulum()
    for name, values in authored.items():
        made.stage.GetPrimAtPath(HINGE).CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.DoubleArray).Set(values)
    made.attribute(HINGE, "mjc:frictionloss", 8.0)
    with played(made.stage, DT) as sim:
        aa.Articulation(ROBOT).set_dof_friction_properties(9.0, 9.0)
        assert friction_of(sim.model) == expected


def test_friction_of_a_urdf_is_hard(tmp_path) -> None:
    with played(written(tmp_path, URDF, "arm.urdf"), DT) as sim:
        assert sim.model.dof_frictionloss[0] == 8.0
        assert is_hard(sim.model) and creep(sim, aa.Articulation("base")) < 2e-5


@pytest.mark.parametrize("own", ["", 'solreffriction="0.03 1"', 'solimpfriction="0.8 0.9 0.001 0.5 2"'])
def test_friction_of_an_mjcf_is_mujocos(tmp_path, own) -> None:
    path = written(tmp_path, ARM.format(joint=f'frictionloss="8" {own}'))
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    with played(path) as sim:
        for _ in range(100):
            mujoco.mj_step(model, data)
        sim.step(100)
        assert sim.data().qpos[0] == data.qpos[0] != 0.0


def test_friction_that_is_set_on_an_mjcf_is_hard(tmp_path) -> None:
    with played_robot("arm", written(tmp_path, ARM.format(joint='frictionloss="6"'))) as (sim, robot):
        robot.set_dof_friction_properties(8.0)
        assert is_hard(sim.model) and creep(sim, robot) < 2e-4
        robot.set_dof_friction_properties(dynamic_frictions=6.0)
        assert friction_of(sim.model) == SOFT


def test_friction_of_an_mjcf_that_chose_its_softness_keeps_it(tmp_path) -> None:
    with played(written(tmp_path, ARM.format(joint='solreffriction="0.03 1"'))) as sim:
        aa.Articulation("arm").set_dof_friction_properties(8.0)
        assert friction_of(sim.model) == SOFT | {"solref": [0.03, 1.0]}


@pytest.mark.parametrize("num_envs", [1, 3])
def test_friction_of_motors_is_hard_as_long_as_they_are_there(tmp_path, num_envs) -> None:
    with played(written(tmp_path, ARM.format(joint="")), num_envs=num_envs) as sim:
        motors = driven("arm", {"hinge": aa.MotorConfig(aa.PDControlConfig(0.0, 0.0), friction=8.0)})
        assert all(map(is_hard, models_of(sim)))
        sim.step(400)
        assert np.abs(aa.Articulation("arm").get_dof_velocities().numpy()).max() < 1e-4
        motors.close()
        assert all(friction_of(model) == SOFT for model in models_of(sim))


def test_friction_that_is_drawn_at_random_is_hard(tmp_path) -> None:
    with played(written(tmp_path, ARM.format(joint="")), num_envs=3) as sim:
        actuators = driven("arm", {"hinge": aa.MotorConfig(aa.PDControlConfig(0.0, 0.0))})
        actuators.randomize({"friction": aa.Uniform(7.0, 9.0)}, seed=0)
        assert all(map(is_hard, models_of(sim)))


def test_friction_of_one_environment_is_hard(tmp_path) -> None:
    with played(written(tmp_path, ARM.format(joint="")), num_envs=3) as sim:
        sim.articulation("arm").set_dof_friction_properties(8.0, indices=[1])
        assert [*map(is_hard, models_of(sim))] == [False, True, False]


# how soft it is goes with the inertia


@pytest.mark.parametrize("num_envs", [1, 2])
def test_hardness_follows_an_armature_that_is_set(tmp_path, num_envs) -> None:
    """`dof_invweight0` is that of a model which has had the armature from the beginning."""
    expected = mujoco.MjModel.from_xml_string(ARM.format(joint='armature="2"')).dof_invweight0[0]
    with played(written(tmp_path, ARM.format(joint="")), num_envs=num_envs) as sim:
        aa.Articulation("arm").set_dof_armatures(2.0)
        found = [model.dof_invweight0[0] for model in models_of(sim)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_own_model_gets_its_softness_back(tmp_path) -> None:
    model = mujoco.MjModel.from_xml_string(ARM.format(joint='frictionloss="6"'))
    data = mujoco.MjData(model)
    with aa.MujocoSimulation(model, data) as sim:
        sim.articulation("arm").set_dof_friction_properties(8.0)
        assert is_hard(model)
        sim.step(200)
        assert abs(data.qvel[0]) < 2e-4
    assert (friction_of(model), model.dof_frictionloss[0]) == (SOFT, 6.0)


def test_friction_of_own_model_follows_its_physics_step() -> None:
    model = mujoco.MjModel.from_xml_string(ARM.format(joint=""))
    with aa.MujocoSimulation(model, mujoco.MjData(model)) as sim:
        actuators = driven("arm", {"hinge": aa.MotorConfig(aa.PDControlConfig(0.0, 0.0), friction=8.0)})
        for dt in (0.001, 0.01, 0.005):
            model.opt.timestep = dt
            sim.step()
            assert is_hard(model, dt) and actuators.actuated_dof_indices
    assert friction_of(model) == SOFT


def test_friction_of_one_simulation_of_a_batch() -> None:
    if mujoco.__version__ < "4":
        pytest.skip("MuJoCo 4 tells what simulations of a batch have of their own")
    model = mujoco.MjModel.from_xml_string(ARM.format(joint='frictionloss="6"'))
    batch = Batch(model, 2, 1)
    with aa.MujocoSimulation(model, batch) as sim:
        sim.articulation("arm").set_dof_friction_properties(8.0, indices=[1])
        assert [is_hard(batch.get_model(env)) for env in range(2)] == [False, True]
    assert [friction_of(batch.get_model(env)) for env in range(2)] == [SOFT, SOFT]
