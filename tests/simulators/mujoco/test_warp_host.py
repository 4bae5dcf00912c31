"""Steps of mujoco_warp in place of MuJoCo's: the same motion in single precision, and what it cannot do by name."""

import sys
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError
from physics_engines import floating_pair
from places import ROBOTS
from pxr import UsdPhysics
from refusals import cases
from small_stages import pendulum

ENGINE = "mujoco_warp"
PD = [aa.PDControlConfig(60.0, 6.0), aa.MaxEffortClampingConfig("joint")]


def positions(source, engine: str, steps: int, armature: float | None = None, goal: float = 0.3) -> np.ndarray:
    found = []
    with aa.Simulation(source, engine=engine) as sim:
        robot = sim.articulation("/")
        with aa.ArticulationActuators.from_configs("/", {".*": PD}):
            sim.play()
            robot.set_dof_position_targets(goal)
            for step in range(steps):
                if step == steps // 2 and armature is not None:
                    robot.set_dof_armatures(armature)
                sim.step()
                found.append(robot.get_dof_positions().numpy()[0].copy())
    return np.array(found)


@pytest.mark.parametrize("armature", [None, 5.0])
def test_motion_is_that_of_mujoco(armature) -> None:
    pytest.importorskip("mujoco_warp")
    arm = ROBOTS / "arm_2dof.usda"
    expected = positions(arm, "mujoco", 120, armature)
    assert np.ptp(expected, axis=0).min() > 0.02
    np.testing.assert_allclose(positions(arm, ENGINE, 120, armature), expected, rtol=0, atol=2e-6)
    if armature is not None:
        assert np.abs(expected - positions(arm, "mujoco", 120)).max() > 1e-3


def playing_arms(actuators: str, folder: Path):
    pytest.importorskip("mujoco_warp")
    file = folder / "arm.xml"
    file.write_text(
        f"""<mujoco><option gravity="0 0 0"/><worldbody><body name="arm"><joint name="a" axis="0 1 0" armature="0.5"/>
        <geom size="0.1" mass="1" pos="0.2 0 0"/></body></worldbody><actuator>{actuators}</actuator></mujoco>"""
    )
    for engine in ("mujoco", ENGINE):
        with pytest.warns(UserWarning, match="no joint drive stands for"):
            sim = aa.Simulation(file, 0.002, engine=engine)
        with sim:
            sim.play()
            yield sim


def test_activations_outlast_a_property_and_end_with_a_reset(tmp_path) -> None:
    integrator = '<general joint="a" dyntype="integrator" gainprm="2" biastype="affine" biasprm="0.1 -1 -1"/>'
    lowpass = '<general joint="a" dyntype="filterexact" dynprm="0.05" gainprm="2"/>'
    found = []
    for sim in playing_arms(integrator + lowpass, tmp_path):
        robot = sim.articulation("/arm")
        for armature in (0.5, 0.6, 0.7):
            robot.set_dof_armatures(armature)
            sim._host._ctrl[:] = 1.0
            sim.step(40)
            found.append([robot.get_dof_positions().numpy().item(), *sim.data().act])
        sim.reset()
        assert not sim.data().act.any()
        sim.step(40)
        found.append([robot.get_dof_positions().numpy().item(), *sim.data().act])
    assert np.abs(found[2]).min() > 0.01
    np.testing.assert_allclose(found[4:], found[:4], rtol=0, atol=1e-6)


def test_drives_act_and_tell_their_effort() -> None:
    pytest.importorskip("mujoco_warp")
    told = []
    for engine in ("mujoco", ENGINE):
        made = pendulum()
        made.drive("/World/Robot/hinge", stiffness=1.0, damping=0.1, targetPosition=20.0)
        with aa.Simulation(made.stage, engine=engine) as sim:
            sim.play()
            sim.step(50)
            robot = sim.articulation("/World/Robot")
            told.append([robot.get_dof_positions().numpy(), robot.get_dof_projected_joint_forces().numpy()])
    assert np.abs(told[0]).min() > 1e-4
    np.testing.assert_allclose(told[1], told[0], rtol=1e-4)


def test_robots_fall_on_the_ground_as_in_mujoco() -> None:
    pytest.importorskip("mujoco_warp")
    heights = []
    for engine, contacts in (("mujoco", True), (ENGINE, True), (ENGINE, False)):
        made = floating_pair()
        made.shape("/World/Robot/trunk/box", "Cube", size=0.4)
        UsdPhysics.CollisionAPI.Apply(made.stage.DefinePrim("/World/ground", "Plane"))
        with aa.Simulation(made.stage, 1 / 200, engine=engine) as sim:
            if not contacts:
                sim.disable_contacts()
            sim.play()
            sim.step(300)
            heights.append(sim.articulation("/World/Robot").get_world_poses()[0].numpy()[0, 2])
    assert 0.1 < heights[0] < 1.0 and heights[2] < -1.0 and heights[1] == pytest.approx(heights[0], abs=0.02)


def test_several_environments_are_refused() -> None:
    with pytest.raises(HostError, match="num_envs = 2: must be 1 with engine='mujoco_warp'"):
        aa.Simulation(ROBOTS / "arm_2dof.usda", num_envs=2, engine=ENGINE)


def test_a_missing_library_is_told_with_the_command(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)
    with pytest.raises(HostError, match=r"needs mujoco_warp, .* `pip install 'mujoco-warp~=\d+\.\d+\.0'`"):
        aa.Simulation(ROBOTS / "arm_2dof.usda", engine=ENGINE)


@cases(
    "actuator",
    '<general joint="a" biastype="affine" biasprm="7"/>',
    '<dcmotor joint="a" motorconst="0.1" resistance="0.5" gear="20" inductance="0.002" cogging="0.5 3 0.4"/>',
)
def test_actuators_of_a_file_are_silent_while_their_motors_run(actuator, tmp_path) -> None:
    found = []
    for sim in playing_arms(actuator, tmp_path):
        robot = sim.articulation("/arm")
        with aa.ArticulationActuators.from_configs("/arm", aa.motors_of(sim)):
            sim.step(50)
            assert not robot.get_dof_drive_efforts().numpy().any()
            found.append(robot.get_dof_positions().numpy())
        sim.step(50)
        found.append(robot.get_dof_positions().numpy())
    assert np.abs(found[1]).min() > 1e-4
    np.testing.assert_allclose(found[2:], found[:2], rtol=0, atol=1e-6)
