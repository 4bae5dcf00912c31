"""All that a file says, as data."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.mujoco.file_reader import read_file
from isaacsim.core.experimental.actuators.simulators.mujoco.standing import Standing
from isaacsim.core.experimental.actuators.simulators.mujoco.to_scene import whole_scene
from places import ROBOTS
from played import played, played_robot

HOPPER = """<robot name="hopper">
  <link name="trunk"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="1 1 0.2"/></geometry></collision></link>
  <link name="leg"><inertial><mass value="0.5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="knee" type="revolute"><parent link="trunk"/><child link="leg"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
</robot>"""
BALLS = '<body name="wrist"><joint name="ball" type="ball"/>{}<geom size="0.1"/></body>'


def test_data_stands_in_the_place_of_the_spec() -> None:
    scene = read_file(ROBOTS / "arm_2dof.xml")
    whole, _ = whole_scene(scene)
    assert whole.spec is None and scene.spec is not None and whole.shapes and not scene.shapes
    assert [body.path for body in whole.bodies] == [body.path for body in scene.bodies]


def test_gravity_that_is_off_is_none(tmp_path) -> None:
    (tmp_path / "arm.xml").write_text(
        f'<mujoco><option><flag gravity="disable"/></option><worldbody>{BALLS.format("")}</worldbody></mujoco>'
    )
    assert not np.any(whole_scene(read_file(tmp_path / "arm.xml"))[0].gravity)


def test_what_floats_begins_where_the_simulation_does(tmp_path) -> None:
    file, usd = tmp_path / "float.xml", tmp_path / "float.usda"
    file.write_text(
        """<mujoco><worldbody><body name="base" pos="0 0 1">
        <freejoint/><inertial pos="0.1 0 0.2" mass="1" diaginertia="1 1 1"/>
        <body name="leg"><joint name="hip"/><geom size="0.1"/></body></body></worldbody>
        <keyframe><key name="home" qpos="1 2 3 0.6 0 0 0.8 0.5" qvel="1 0.5 0 0.1 0.2 0.3 0"/></keyframe></mujoco>"""
    )
    with Simulation(file, keyframe="home") as sim:
        with pytest.warns(UserWarning, match="keyframes: home"):
            sim.save_usd(usd)
        sim.play()
        begun = _beginning(sim, "base")
    with played(usd) as sim:
        np.testing.assert_allclose(_beginning(sim, "/World/base/base"), begun, atol=1e-6)
    np.testing.assert_allclose(begun[:3], [1, 2, 3])


def test_a_robot_on_the_ground_stands_there_in_usd(tmp_path) -> None:
    file, usd = tmp_path / "hopper.urdf", tmp_path / "hopper.usda"
    file.write_text(HOPPER)
    with Simulation(file, floating_base=True, ground=True, initial_positions={"knee": 0.3}) as sim:
        sim.save_usd(usd)
    with played_robot("/World/.*", usd) as (sim, trunk):
        assert trunk.get_dof_positions().numpy()[0, 0] == pytest.approx(0.3)
        begun = trunk.get_world_poses()[0].numpy()[0, 2]
        sim.step(100)
        assert trunk.get_world_poses()[0].numpy()[0, 2] == pytest.approx(begun, abs=0.01)


def test_a_ball_joint_that_begins_turned_is_named(tmp_path) -> None:
    (tmp_path / "arm.xml").write_text(
        f"""<mujoco><worldbody>{BALLS.format("")}</worldbody>
        <keyframe><key name="turned" qpos="0.6 0.8 0 0"/></keyframe></mujoco>"""
    )
    _, lost = whole_scene(read_file(tmp_path / "arm.xml", standing=Standing(keyframe="turned")))
    assert "how ball joints begin: ball" in lost


def _beginning(sim: Simulation, path: str) -> np.ndarray:
    robot = sim.articulation(path)
    return np.concatenate([array.numpy()[0] for array in (*robot.get_world_poses(), *robot.get_velocities())])


def test_a_ball_joint_beside_another_is_refused(tmp_path) -> None:
    body = BALLS.format('<joint name="slide" type="slide"/>')
    (tmp_path / "arm.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(UnsupportedSceneError, match="wrist have a ball joint beside others"):
        whole_scene(read_file(tmp_path / "arm.xml"))


FILE = """
<mujoco>
  <option timestep="{dt}" integrator="{integrator}"/>
  <worldbody>
    <body name="leg"><joint name="hip" {hip}/><geom name="ball" size="0.1" {geom}/></body>
    <body name="box" pos="1 0 0"><joint name="loose" type="free" {loose}/><geom size="0.1"/></body>
  </worldbody>
  {more}
</mujoco>
"""
PLAIN = {"dt": repr(1 / 240), "integrator": "implicitfast", "hip": "", "geom": "", "loose": "", "more": ""}
LOST = {
    "timestep 0.002 s": {"dt": "0.002"},
    "integrator euler": {"integrator": "Euler"},
    "how hard limits of joints are: hip": {"hip": 'range="-1 1" solreflimit="0.1 1"'},
    "lower effort limits that are not the upper ones: hip": {"hip": 'actuatorfrcrange="-1 2"'},
    r"\(all but sliding friction\): ball": {"geom": 'condim="6"'},
    "springs of ball and free joints: loose": {"loose": 'damping="1"'},
    "tendons: cord": {"more": '<tendon><fixed name="cord"><joint joint="hip" coef="1"/></fixed></tendon>'},
    "keyframes: home": {"more": '<keyframe><key name="home"/></keyframe>'},
    "sensors: angle": {"more": '<sensor><jointpos name="angle" joint="hip"/></sensor>'},
    "constraints: still": {"more": '<equality><joint name="still" joint1="hip"/></equality>'},
    "ranges of the targets of drives: hip": {
        "more": '<actuator><position joint="hip" kp="5" ctrlrange="-1 1"/></actuator>'
    },
}


@pytest.mark.parametrize("what", LOST)
def test_what_is_lost_is_named(tmp_path, what: str) -> None:
    file = tmp_path / "leg.xml"
    file.write_text(FILE.format_map(PLAIN | LOST[what]))
    with Simulation(file) as simulation, pytest.warns(UserWarning, match=what) as said:
        simulation.save_usd(tmp_path / "leg.usda")
    assert len(said) == 1


def test_nothing_is_said_of_what_has_its_place(tmp_path) -> None:
    file = tmp_path / "leg.xml"
    file.write_text(FILE.format_map(PLAIN))
    with Simulation(file) as simulation:
        simulation.save_usd(tmp_path / "leg.usda")
