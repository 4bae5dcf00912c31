"""Files that say less than a robot needs to stand: its base floats, there is ground, and joints begin where asked."""

from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import mujoco
import numpy as np
import pytest
from physics_engines import installed
from places import ROBOTS
from played import played, played_robot
from quadruped import HOME, quadruped
from refusals import cases, refused

MOTORS = {".*": aa.MotorConfig(aa.PDControlConfig(60.0, 2.0), clamping=[aa.MaxEffortClampingConfig(45.0)])}
HOPPER = """
<mujoco>
  <worldbody>
    {ground}
    <body name="trunk" pos="0 0 1">{base}<geom size="0.1" mass="2"/>
      <body name="leg"><joint name="hip" axis="0 1 0" range="-90 90"/>
        <geom type="{shape}" size="0.02 0.03 0.2" pos="0 0 -0.3" mass="1"/>
        <body name="toe" pos="0 0 -0.6"><joint type="ball"/><geom type="mesh" mesh="toe" mass="0.1"/></body>
      </body>
    </body>
  </worldbody>
  <asset><mesh name="toe" vertex="0 0 -0.1  0.1 0 0  0 0.1 0  -0.1 -0.1 0.05"/></asset>
  <keyframe>
    <key qpos="{free} 0.1 1 0 0 0"/>
    <key name="home" qpos="{free} 0.3 0 1 0 0" qvel="{fast} 2 0 0 3"/>
  </keyframe>
</mujoco>
"""


def hopper(folder: Path, *, floats: bool = False, shape: str = "cylinder", ground: str = "") -> Path:
    path = folder / "hopper.xml"
    base, free, fast = ("<freejoint/>", "0 0 2 1 0 0 0", "1 0 0 0 0 4") if floats else ("", "", "")
    path.write_text(HOPPER.format(base=base, free=free, fast=fast, shape=shape, ground=ground))
    return path


def lowest(sim: aa.Simulation) -> float:
    model, data = sim.model, sim.data()
    ground = [geom for geom in range(model.ngeom) if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE]
    others = [geom for geom in range(model.ngeom) if geom not in ground]
    return min(mujoco.mj_geomDistance(model, data, ground[0], geom, 10.0, None) for geom in others)


def test_a_quadruped_of_urdf_stands_for_five_seconds(tmp_path) -> None:
    with played(quadruped(tmp_path), floating_base=True, ground=True, initial_positions=HOME) as sim:
        robot, _motors = aa.Articulation("/trunk"), aa.ArticulationActuators.from_configs("/trunk", MOTORS)
        begun = robot.get_world_poses()[0].numpy()[0]
        sim.step(round(5 / sim.dt))
        place, turn = (values.numpy()[0] for values in robot.get_world_poses())
        assert begun[2] == pytest.approx(2 * 0.213 * np.cos(0.8) + 0.022, abs=1e-6)
        assert place[2] == pytest.approx(begun[2], abs=0.03) and abs(place[:2]).max() < 0.05
        assert abs(turn[0]) > 0.999 and np.abs(robot.get_dof_velocities().numpy()).max() < 0.01


def test_reset_returns_to_where_joints_begin(tmp_path) -> None:
    with played_robot(
        "/trunk", quadruped(tmp_path), None, 2, floating_base=True, ground=True, initial_positions=HOME
    ) as (sim, robot):
        read = robot.get_dof_positions, robot.get_dof_position_targets, lambda: robot.get_world_poses()[0]
        before = [get().numpy() for get in read]
        robot.set_dof_position_targets(0.0)
        sim.step(20)
        sim.reset()
        for get, values in zip(read, before, strict=True):
            np.testing.assert_array_equal(get().numpy(), values)
        assert dict(zip(robot.dof_names, before[0][1], strict=True))["RL_calf_joint"] == np.float32(-1.6)
        np.testing.assert_array_equal(before[0], before[1])


@pytest.mark.parametrize("shape", ["sphere", "capsule", "cylinder", "box", "ellipsoid"])
def test_a_robot_begins_touching_the_ground(tmp_path, shape) -> None:
    with played(hopper(tmp_path, shape=shape), floating_base=True, ground=True) as sim:
        assert lowest(sim) == pytest.approx(0, abs=1e-9)


def test_a_base_that_floats_already_stays_where_the_file_has_it(tmp_path) -> None:
    with played(hopper(tmp_path, floats=True), floating_base=True, ground=True) as sim:
        assert aa.Articulation("/trunk").get_world_poses()[0].numpy()[0, 2] == 1.0 and sim.model.nv == 6 + 1 + 3


def test_a_floating_base_falls_without_ground(tmp_path) -> None:
    with played(hopper(tmp_path), floating_base=True) as sim:
        sim.step(100)
        fallen = 0.5 * 9.81 * (100 * sim.dt) ** 2
        assert aa.Articulation("/trunk").get_world_poses()[0].numpy()[0, 2] == pytest.approx(1 - fallen, rel=1e-2)


@pytest.mark.parametrize("key", ["home", 1])
@pytest.mark.parametrize("added", [{}, {"floating_base": True}])
def test_physics_begins_in_a_keyframe(tmp_path, key, added) -> None:
    path = hopper(tmp_path, floats=not added)
    model = mujoco.MjModel.from_xml_path(str(path))
    with aa.Simulation(path, keyframe=key, **added) as sim:
        for _ in range(2):
            sim.play()
            robot, data = aa.Articulation("/trunk"), sim.data()
            first = 7 if added else 0
            np.testing.assert_array_equal(data.qpos[first:], model.key("home").qpos)
            np.testing.assert_array_equal(data.qvel[6 if added else 0 :], model.key("home").qvel)
            assert robot.get_dof_position_targets().numpy() == np.float32(0.3)
            sim.step(3)
            sim.reset()
            np.testing.assert_array_equal(sim.data().qpos, data.qpos)
            sim.stop()


def test_initial_positions_are_stronger_than_a_keyframe(tmp_path) -> None:
    with played(hopper(tmp_path), keyframe="home", initial_positions={"hip": -0.2}) as sim:
        assert sim.data().qpos.tolist() == [-0.2, 0, 1, 0, 0]


def test_initial_positions_of_a_stage() -> None:
    with aa.Simulation(ROBOTS / "arm_2dof.usda", initial_positions={"should.*": 0.4}) as sim:
        for _ in range(2):
            sim.play()
            robot = aa.Articulation("/World/Arm")
            assert robot.get_dof_positions().numpy()[0, 0] == np.float32(0.4)
            assert robot.get_dof_position_targets().numpy()[0, 0] == np.float32(0.4)
            sim.stop()


@cases(
    "asked, said",
    ({"keyframe": "rest"}, r"keyframe = 'rest': must be one of 0, 'home', or a number below 2\."),
    ({"keyframe": 2}, r"keyframe = 2: must be one of 0, 'home', or a number below 2\."),
    ({"initial_positions": {"hop": 0.1}}, r"initial_positions: 'hop' matches no joint: .* hip\."),
    ({"initial_positions": {"hip": 2.0}}, r"hip = 2: must be within its limits, -1\.571 … 1\.571 rad"),
    ({"initial_positions": {"hip": float("nan")}}, "initial_positions: hip = nan: must be within its limits"),
    ({"initial_positions": {"hip": 0.1, "h.p": 0.1}}, r"initial_positions: hip is matched by 'hip' and 'h\.p'"),
)
def test_what_no_file_has_is_refused(tmp_path, asked, said) -> None:
    refused(ValueError, lambda: aa.Simulation(hopper(tmp_path), **asked), said)


@pytest.mark.parametrize(("asked", "height"), [({}, 1.0), ({"keyframe": "home"}, 2.0), (None, 0.278)])
def test_a_held_base_stays(asked, height, tmp_path) -> None:
    source = ROBOTS / "unitree_go1.usda" if asked is None else hopper(tmp_path, floats=True)
    with played_robot("/", source, fixed_base=True, **asked or {}) as (sim, robot):
        sim.step(100)
        assert robot.get_world_poses()[0].numpy()[0, 2] == pytest.approx(height, abs=1e-6)
        assert robot.get_mass_matrices().shape[-1] == robot.num_dofs


def test_a_second_ground_is_refused(tmp_path) -> None:
    """Two planes in one place would push twice."""
    path = hopper(tmp_path, ground='<geom type="plane" size="1 1 1"/>')
    with pytest.raises(ValueError, match=r"ground = True: .*hopper\.xml must have no plane of its own"):
        aa.Simulation(path, ground=True)


def test_a_base_on_a_joint_does_not_float(tmp_path) -> None:
    path = tmp_path / "cart.xml"
    path.write_text(HOPPER.format(base='<joint name="rail" type="slide"/>', free=0, fast=0, shape="box", ground=""))
    with pytest.raises(ValueError, match=r"'trunk' of .*cart\.xml must have no joint to the world, but has 'rail'"):
        aa.Simulation(path, floating_base=True)


def test_urdf_has_no_keyframes(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"keyframe = 'home': .* URDF has none .*Give initial_positions"):
        aa.Simulation(quadruped(tmp_path), keyframe="home")


@pytest.mark.parametrize("asked", [{"floating_base": True}, {"ground": True}, {"keyframe": 0}])
def test_a_stage_says_it_itself(asked) -> None:
    with pytest.raises(ValueError, match=rf"{next(iter(asked))} = .*: must be left out for USD"):
        aa.Simulation(ROBOTS / "arm_2dof.usda", **asked)


def test_a_urdf_that_floats_by_itself_begins_on_the_ground_too(tmp_path) -> None:
    path = quadruped(tmp_path)
    joint = '<joint name="float" type="floating"><parent link="root"/><child link="trunk"/></joint></robot>'
    path.write_text(path.read_text().replace("</robot>", '<link name="root"/>' + joint))
    with played(path, ground=True, initial_positions=HOME) as sim:
        assert lowest(sim) == pytest.approx(0, abs=1e-9)
        assert aa.Articulation("/trunk").get_world_poses()[0].numpy()[0, 2] > 0.3


def test_physx_begins_as_the_stage_says() -> None:
    engine = installed("physx")
    with pytest.raises(ValueError, match="initial_positions: must be left out with engine='physx'"):
        aa.Simulation(ROBOTS / "arm_2dof.usda", engine=engine, initial_positions={".*": 0.1})
