"""Names, counts and life of robots on embedded physics."""

import re

import pytest
from isaacsim.core.experimental.actuators import Articulation, Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError, UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.physics_articulation import PhysicsArticulation
from physics_engines import ROOT, floating_pair, installed, telescope
from places import REPOSITORY
from pxr import UsdGeom, UsdPhysics
from small_stages import SmallStage, pendulum


def add_robot(made: SmallStage, root: str) -> None:
    """Another pendulum, far from the first."""
    made.root(root)
    made.body(f"{root}/base", (0, 5, 0))
    made.body(f"{root}/bob", (0, 5, 0), com=(0, 0, -0.5))
    made.joint(f"{root}/fix", "Fixed", None, f"{root}/base", at=(0, 5, 0))
    made.joint(f"{root}/swing", "Revolute", f"{root}/base", f"{root}/bob")


def test_links_and_joints_are_known_before_play(engine) -> None:
    """The root link first; what fixes it to the world is not among the joints."""
    robot = Simulation(telescope().stage, engine=engine).articulation(ROOT)
    assert (robot.num_links, robot.link_names) == (3, ["base", "boom", "slide"])
    assert (robot.num_joints, robot.joint_names) == (2, ["turn", "reach"])
    assert robot.link_paths == [[f"{ROOT}/base", f"{ROOT}/boom", f"{ROOT}/slide"]]
    assert robot.joint_paths == [[f"{ROOT}/turn", f"{ROOT}/reach"]]


def test_joint_without_dofs_is_a_joint(engine) -> None:
    """As a sensor is fastened."""
    made = telescope()
    made.body(f"{ROOT}/tool", (1, 0, 0))
    made.joint(f"{ROOT}/weld", "Fixed", f"{ROOT}/slide", f"{ROOT}/tool")
    robot = Simulation(made.stage, engine=engine).articulation(ROOT)
    assert (robot.joint_names, robot.dof_names) == (["turn", "reach", "weld"], ["turn", "reach"])


def test_floating_robot_has_no_joint_for_its_base(engine) -> None:
    """Its links are one more than its joints; where the root may be any of them, simulators choose."""
    robot = Simulation(floating_pair().stage, engine=engine).articulation(ROOT)
    assert ({*robot.link_names}, robot.joint_names, robot.num_dofs) == ({"trunk", "leg"}, ["hip"], 1)


def test_copies_have_paths_of_their_own() -> None:
    """And the prim of their prototype."""
    robots = Simulation(pendulum().stage, num_envs=2).articulation(ROOT)
    assert [paths[1] for paths in robots.link_paths] == [f"/World/envs/env_{env}/Robot/bob" for env in range(2)]
    assert [paths[0] for paths in robots.joint_paths] == [f"/World/envs/env_{env}/Robot/hinge" for env in range(2)]
    assert [str(prim.GetPath()) for prim in robots.prims] == [ROOT, ROOT]


def test_state_is_there_between_play_and_stop(engine) -> None:
    """As in Isaac Sim."""
    sim = Simulation(pendulum().stage, engine=engine)
    robot = sim.articulation(ROOT)
    told = [robot.is_physics_tensor_entity_valid()]
    sim.play()
    told.append(robot.is_physics_tensor_entity_valid())
    sim.stop()
    told.append(robot.is_physics_tensor_entity_valid())
    assert told == [False, True, False]


def test_robot_is_valid_while_its_prim_is_there(engine) -> None:
    """Deactivating it is as good as deleting."""
    sim = Simulation(pendulum().stage, engine=engine)
    robot = sim.articulation(ROOT)
    assert robot.valid is True
    sim.stage.GetPrimAtPath(ROOT).SetActive(False)
    assert robot.valid is False
    sim.stage.GetPrimAtPath(ROOT).SetActive(True)
    assert robot.valid is True


def test_robot_added_while_stopped_is_found(engine) -> None:
    """Before play; articulations made earlier go on."""
    made = pendulum()
    with Simulation(made.stage, engine=engine) as sim:
        first = Articulation(ROOT)
        add_robot(made, "/World/Second")
        second = Articulation("/World/Second")
        assert (first.dof_names, second.dof_names) == (["hinge"], ["swing"])
        sim.play()
        second.set_dof_positions(0.3)
        assert (first.get_dof_positions().numpy().item(), second.get_dof_positions().numpy().item()) == (
            0.0,
            pytest.approx(0.3),
        )


def test_robot_added_while_playing_is_found_after_the_next_stop(engine) -> None:
    """Running physics is not read again."""
    made = pendulum()
    with Simulation(made.stage, engine=engine) as sim:
        sim.play()
        add_robot(made, "/World/Second")
        with pytest.raises(ValueError, match="/World/Second"):
            Articulation("/World/Second")
        sim.stop()
        assert Articulation("/World/Second").dof_names == ["swing"]


def test_broken_edit_is_told_where_a_robot_is_asked_for(engine) -> None:
    """Known robots stay known; after a repair all works."""
    made = pendulum()
    hinge = made.stage.GetPrimAtPath(f"{ROOT}/hinge")
    with Simulation(made.stage, engine=engine) as sim:
        robot = Articulation(ROOT)
        if engine == "mujoco":
            hinge.SetTypeName("PhysicsDistanceJoint")
        else:
            UsdGeom.SetStageMetersPerUnit(made.stage, 0.01)
        with pytest.raises(UnsupportedSceneError, match=r"metersPerUnit|distance joint"):
            Articulation(ROOT)
        assert (robot.dof_names, robot.valid) == (["hinge"], True)
        hinge.SetTypeName("PhysicsRevoluteJoint")
        UsdGeom.SetStageMetersPerUnit(made.stage, 1.0)
        assert Articulation(ROOT).dof_names == ["hinge"]
        sim.play()
        assert robot.get_dof_positions().shape == (1, 1)


def test_methods_said_to_be_missing_are() -> None:
    """Those that the page of differences names, until they are written."""
    page = (REPOSITORY / "docs" / "Differences.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith("| missing | `set_dof_drive_types")]
    names = re.findall(r"`([a-z_]+)\*?`", line)
    assert len(names) >= 6
    assert not [known for known in dir(PhysicsArticulation) if any(known.startswith(name) for name in names)]


def test_drive_types_are_those_of_the_stage() -> None:
    """A force where nothing is authored."""
    made = telescope()
    joint = made.stage.GetPrimAtPath(Simulation(made.stage).articulation(ROOT).dof_paths[0][0])
    axis = "angular" if joint.IsA("PhysicsRevoluteJoint") else "linear"
    UsdPhysics.DriveAPI.Apply(joint, axis).CreateTypeAttr("acceleration")
    UsdPhysics.DriveAPI(joint, axis).CreateStiffnessAttr(1.0)
    with pytest.warns(UserWarning, match="acceleration"):
        robot = Simulation(made.stage).articulation(ROOT)
    assert robot.get_dof_drive_types() == [["acceleration", "force"]]
    assert robot.get_dof_drive_types(dof_indices=[1]) == [["force"]]


def test_physx_keeps_its_masses() -> None:
    """Until they are authored."""
    with Simulation(telescope().stage, engine=installed("physx")) as sim:
        sim.play()
        with pytest.raises(HostError, match="engine = 'physx': must not run while masses of links are set"):
            sim.articulation(ROOT).set_link_masses(1.0)
