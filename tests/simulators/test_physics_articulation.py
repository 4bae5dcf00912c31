"""Names, counts and life of robots on embedded physics."""

import re
from typing import Any

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError, UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.physics_articulation import PhysicsArticulation
from physics_engines import ENGINES, ROOT, floating_pair, installed, playing, telescope, weightless
from places import REPOSITORY, ROBOTS
from played import played, playing_robot
from pxr import Usd, UsdGeom, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, pendulum


def add_robot(made: SmallStage, root: str) -> None:
    made.root(root)
    made.body(f"{root}/base", (0, 5, 0))
    made.body(f"{root}/bob", (0, 5, 0), com=(0, 0, -0.5))
    made.joint(f"{root}/fix", "Fixed", None, f"{root}/base", at=(0, 5, 0))
    made.joint(f"{root}/swing", "Revolute", f"{root}/base", f"{root}/bob")


def test_links_and_joints_are_known_before_play(engine: str) -> None:
    robot = Simulation(telescope().stage, engine=engine).articulation(ROOT)
    assert (robot.num_links, robot.link_names) == (3, ["base", "boom", "slide"])
    assert (robot.num_joints, robot.joint_names) == (2, ["turn", "reach"])
    assert robot.link_paths == [[f"{ROOT}/base", f"{ROOT}/boom", f"{ROOT}/slide"]]
    assert robot.joint_paths == [[f"{ROOT}/turn", f"{ROOT}/reach"]]


def test_joint_without_dofs_is_a_joint(engine: str) -> None:
    made = telescope()
    made.body(f"{ROOT}/tool", (1, 0, 0))
    made.joint(f"{ROOT}/weld", "Fixed", f"{ROOT}/slide", f"{ROOT}/tool")
    robot = Simulation(made.stage, engine=engine).articulation(ROOT)
    assert (robot.joint_names, robot.dof_names) == (["turn", "reach", "weld"], ["turn", "reach"])


def test_floating_robot_has_no_joint_for_its_base(engine: str) -> None:
    robot = Simulation(floating_pair().stage, engine=engine).articulation(ROOT)
    assert ({*robot.link_names}, robot.joint_names, robot.num_dofs) == ({"trunk", "leg"}, ["hip"], 1)


def test_copies_have_paths_of_their_own() -> None:
    robots = Simulation(pendulum().stage, num_envs=2).articulation(ROOT)
    assert [paths[1] for paths in robots.link_paths] == [f"/World/envs/env_{env}/Robot/bob" for env in range(2)]
    assert [paths[0] for paths in robots.joint_paths] == [f"/World/envs/env_{env}/Robot/hinge" for env in range(2)]
    assert [str(prim.GetPath()) for prim in robots.prims] == [ROOT, ROOT]


def test_state_is_there_between_play_and_stop(engine: str) -> None:
    sim = Simulation(pendulum().stage, engine=engine)
    robot = sim.articulation(ROOT)
    told = [robot.is_physics_tensor_entity_valid()]
    sim.play()
    told.append(robot.is_physics_tensor_entity_valid())
    sim.stop()
    told.append(robot.is_physics_tensor_entity_valid())
    assert told == [False, True, False]


def test_robot_is_valid_while_its_prim_is_there(engine: str) -> None:
    sim = Simulation(pendulum().stage, engine=engine)
    robot = sim.articulation(ROOT)
    assert robot.valid is True
    sim.stage.GetPrimAtPath(ROOT).SetActive(False)
    assert robot.valid is False
    sim.stage.GetPrimAtPath(ROOT).SetActive(True)
    assert robot.valid is True


def test_robot_added_while_stopped_is_found(engine: str) -> None:
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


def test_robot_added_while_playing_is_found_after_the_next_stop(engine: str) -> None:
    made = pendulum()
    with played(made.stage, engine=engine) as sim:
        add_robot(made, "/World/Second")
        refused(ValueError, lambda: Articulation("/World/Second"), "/World/Second")
        sim.stop()
        assert Articulation("/World/Second").dof_names == ["swing"]


def test_broken_edit_is_told_where_a_robot_is_asked_for(engine: str) -> None:
    made = pendulum()
    hinge = made.stage.GetPrimAtPath(f"{ROOT}/hinge")
    with Simulation(made.stage, engine=engine) as sim:
        robot = Articulation(ROOT)
        if engine == "mujoco":
            hinge.SetTypeName("PhysicsDistanceJoint")
        else:
            UsdGeom.SetStageMetersPerUnit(made.stage, 0.01)
        refused(UnsupportedSceneError, lambda: Articulation(ROOT), r"metersPerUnit|distance joint")
        assert (robot.dof_names, robot.valid) == (["hinge"], True)
        hinge.SetTypeName("PhysicsRevoluteJoint")
        UsdGeom.SetStageMetersPerUnit(made.stage, 1.0)
        assert Articulation(ROOT).dof_names == ["hinge"]
        sim.play()
        assert robot.get_dof_positions().shape == (1, 1)


def test_methods_said_to_be_missing_are() -> None:
    page = (REPOSITORY / "docs" / "Differences.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith("| missing | `set_dof_drive_types")]
    names = re.findall(r"`([a-z_]+)\*?`", line)
    assert len(names) >= 6
    assert not [known for known in dir(PhysicsArticulation) if any(known.startswith(name) for name in names)]


def test_drive_types_are_those_of_the_stage() -> None:
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
    with played(telescope().stage, engine=installed("physx")) as sim:
        with pytest.raises(HostError, match="engine = 'physx': must not run while masses of links are set"):
            sim.articulation(ROOT).set_link_masses(1.0)


# of the pendulum of `small_stages`, about its hinge [kg m²]
INERTIA = 0.01 + 0.5**2
CALLS = [
    *("get_mass_matrices", "get_jacobian_matrices", "get_dof_coriolis_and_centrifugal_compensation_forces"),
    *("get_dof_gravity_compensation_forces", "get_dof_projected_joint_forces"),
]


def floating(engine: str, rng: np.random.Generator, dt: float = 1e-5) -> tuple[Simulation, Any, np.ndarray]:
    """The floating pair, moving every way, and its velocities as the mass matrix has them."""
    sim, robot = playing(weightless(floating_pair()), engine, dt)
    robot.set_dof_positions(0.4)
    robot.set_dof_velocities(1.3)
    robot.set_velocities(*rng.uniform(-1, 1, (2, 1, 3)))
    return sim, robot, coordinates(robot)


def coordinates(robot: Any) -> np.ndarray:
    root = [array.numpy()[0] for array in robot.get_velocities()]
    return np.concatenate([*root, robot.get_dof_velocities().numpy()[0]]).astype(float)


def momentum(robot: Any) -> np.ndarray:
    masses = robot.get_link_masses().numpy()[0].astype(float)
    positions, turns = (array.numpy()[0].astype(float) for array in robot.get_link_world_poses())
    coms = robot.get_link_coms()[0].numpy()[0].astype(float)
    inertias = robot.get_link_inertias().numpy()[0].reshape(-1, 3, 3).astype(float)
    linear, angular = (array.numpy()[0].astype(float) for array in robot.get_link_velocities())
    total = np.zeros(6)
    for i, mass in enumerate(masses):
        turn = matrix(turns[i])
        total[:3] += mass * linear[i]
        total[3:] += np.cross(positions[i] + turn @ coms[i], mass * linear[i])
        total[3:] += turn @ inertias[i] @ turn.T @ angular[i]
    return total


def energy(robot: Any) -> float:
    masses = robot.get_link_masses().numpy()[0].astype(float)
    turns = robot.get_link_world_poses()[1].numpy()[0].astype(float)
    inertias = robot.get_link_inertias().numpy()[0].reshape(-1, 3, 3).astype(float)
    linear, angular = (array.numpy()[0].astype(float) for array in robot.get_link_velocities())
    spins = [matrix(turn) @ inertia @ matrix(turn).T for turn, inertia in zip(turns, inertias, strict=True)]
    return float(
        (masses * (linear**2).sum(axis=1)).sum() / 2
        + sum(one @ spin @ one for one, spin in zip(angular, spins, strict=True)) / 2
    )


def matrix(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("call", CALLS)
def test_they_need_running_physics(engine: str, call: str) -> None:
    robot = Simulation(pendulum().stage, engine=engine).articulation(ROOT)
    refused(HostError, getattr(robot, call), "physics is not running")


def test_positions_move_with_the_velocity_that_is_told(engine: str) -> None:
    sim, robot = playing(weightless(pendulum()), engine)
    robot.set_dof_efforts(50.0)
    sim.step()
    (weight,) = robot.get_velocity_weights().numpy()
    travel = weight * sim.dt * robot.get_dof_velocities().numpy()
    np.testing.assert_allclose(robot.get_dof_positions().numpy(), travel, rtol=1e-3)
    assert robot.get_velocity_weights(indices=[]).shape == (0,)


@pytest.mark.parametrize("armature", [0.0, 0.7])
def test_mass_matrix_of_a_pendulum_is_its_inertia(engine: str, armature: float) -> None:
    _, robot = playing(pendulum().stage, engine)
    robot.set_dof_armatures(armature)
    np.testing.assert_allclose(robot.get_mass_matrices().numpy(), [[[INERTIA + armature]]], rtol=1e-5)


@pytest.mark.parametrize("reach", [0.0, 0.5])
def test_mass_matrix_of_a_telescope(engine: str, reach: float) -> None:
    _, robot = playing(telescope().stage, engine)
    robot.set_dof_positions([[0.3, reach]])
    turning = 0.3 + 2.0 * 0.5**2 + 0.6 + 3.0 * (1 + reach) ** 2
    np.testing.assert_allclose(robot.get_mass_matrices().numpy()[0], [[turning, 0], [0, 3]], rtol=1e-5, atol=1e-5)


def test_coriolis_and_centrifugal_forces_of_a_telescope(engine: str) -> None:
    _, robot = playing(telescope().stage, engine)
    robot.set_dof_positions([[0.3, 0.5]])
    robot.set_dof_velocities([[2.0, 0.7]])
    expected = [2 * 3.0 * 1.5 * 0.7 * 2.0, -3.0 * 1.5 * 2.0**2]
    found = robot.get_dof_coriolis_and_centrifugal_compensation_forces()
    np.testing.assert_allclose(found.numpy()[0], expected, rtol=1e-4)


def test_compensation_needs_no_acceleration(engine: str) -> None:
    sim, robot = playing(telescope().stage, engine)
    robot.set_dof_velocities([[2.0, 0.7]])
    forces = robot.get_dof_coriolis_and_centrifugal_compensation_forces().numpy()
    robot.set_dof_efforts(forces + robot.get_dof_gravity_compensation_forces().numpy())
    sim.step(1)
    np.testing.assert_allclose(robot.get_dof_velocities().numpy(), [[2.0, 0.7]], atol=2e-4)


def test_velocities_do_not_change_gravity_forces(engine: str) -> None:
    _, robot = playing(pendulum().stage, engine)
    robot.set_dof_positions(0.4)
    robot.set_dof_velocities(5.0)
    expected = -9.81 * 0.5 * np.sin(0.4)
    assert abs(robot.get_dof_gravity_compensation_forces().numpy()[0, 0]) == pytest.approx(abs(expected), rel=1e-4)


def test_jacobian_of_a_telescope(engine: str) -> None:
    _, robot = playing(telescope().stage, engine)
    robot.set_dof_positions([[np.pi / 2, 0.5]])
    found = robot.get_jacobian_matrices().numpy()
    assert found.shape == (1, 2, 6, 2)
    # turned by a right angle: the boom points along +Y
    boom = [[-0.5, 0], [0, 0], [0, 0], [0, 0], [0, 0], [1, 0]]
    slide = [[-1.5, 0], [0, 1], [0, 0], [0, 0], [0, 0], [1, 0]]
    np.testing.assert_allclose(found[0], [boom, slide], atol=1e-5)


def test_shapes_of_a_floating_robot(engine: str) -> None:
    _, robot = playing_robot("/World/Anymal", ROBOTS / "anymal_c.usda", engine=engine)
    assert robot.get_mass_matrices().shape == (1, 18, 18) and robot.get_jacobian_matrices().shape == (1, 13, 6, 18)


def test_mass_matrix_gives_the_kinetic_energy(engine: str, rng: np.random.Generator) -> None:
    _, robot, velocity = floating(engine, rng)
    mass = robot.get_mass_matrices().numpy()[0].astype(float)
    assert velocity @ mass @ velocity / 2 == pytest.approx(energy(robot), rel=1e-5)


def test_base_of_the_mass_matrix_is_in_the_world(engine: str, rng: np.random.Generator) -> None:
    _, robot, velocity = floating(engine, rng)
    mass = robot.get_mass_matrices().numpy()[0].astype(float)
    np.testing.assert_allclose((mass @ velocity)[:3], momentum(robot)[:3], rtol=1e-4, atol=1e-4)


def test_jacobian_gives_velocities_of_the_links(engine: str, rng: np.random.Generator) -> None:
    _, robot, velocity = floating(engine, rng)
    found = np.concatenate([array.numpy()[0] for array in robot.get_link_velocities()], axis=1)
    np.testing.assert_allclose(robot.get_jacobian_matrices().numpy()[0] @ velocity, found, atol=1e-5)


def test_equations_of_motion_hold(engine: str, rng: np.random.Generator) -> None:
    """M v̇ + c = τ in the row of the joint, with v̇ as it comes out of a step."""
    sim, robot, velocity = floating(engine, rng)
    mass = robot.get_mass_matrices().numpy()[0].astype(float)
    coriolis = robot.get_dof_coriolis_and_centrifugal_compensation_forces().numpy()[0, 0]
    robot.set_dof_efforts(2.0)
    sim.step(200)
    acceleration = (coordinates(robot) - velocity) / (200 * sim.dt)
    # PhysX steps in single precision
    assert (mass @ acceleration)[6] + coriolis == pytest.approx(2.0, abs={"mujoco": 0.02, "physx": 0.05}[engine])
    # without the forces of inertia it would be far off
    assert abs(coriolis) > 0.1


def test_joint_forces_of_a_telescope(engine: str) -> None:
    sim, robot = playing(telescope().stage, engine)
    robot.set_dof_positions([[0.3, 0.5]])
    robot.set_dof_velocities([[2.0, 0.0]])
    robot.set_dof_efforts([[4.0, 5.0]])
    sim.step()
    np.testing.assert_allclose(robot.get_dof_projected_joint_forces().numpy(), [[4.0, 5.0]], rtol=2e-3)
    forces, torques = (array.numpy()[0] for array in robot.get_link_incoming_joint_force(link_indices=[1, 2]))
    # what is left of 4 N·m accelerates the slide, after the turning inertias: see the mass matrix above
    turning = 0.3 + 2.0 * 0.5**2 + 0.6 + 3.0 * 1.5**2
    sideways = 3.0 * 1.5 * 4.0 / turning
    # within the step the slide begins to move, which the boom feels
    np.testing.assert_allclose(forces[1], [5.0, sideways, 3 * 9.81], rtol=2e-3, atol=0.1)
    np.testing.assert_allclose(forces[0, 2], 5 * 9.81, rtol=1e-3)
    np.testing.assert_allclose(torques[0], [0, -9.81 * (2.0 * 0.5 + 3.0 * 1.5), 4.0], rtol=2e-3, atol=0.1)


def test_armatures_turn_before_the_joint(engine: str) -> None:
    sim, robot = playing(weightless(pendulum()), engine)
    robot.set_dof_armatures(0.7)
    robot.set_dof_efforts(3.0)
    sim.step()
    expected = 3.0 * INERTIA / (INERTIA + 0.7)
    np.testing.assert_allclose(robot.get_dof_projected_joint_forces().numpy(), [[expected]], rtol=1e-3)


def test_joint_forces_are_in_the_frame_of_the_joint(engine: str) -> None:
    made = SmallStage()
    made.root(ROOT)
    made.body(f"{ROOT}/base")
    made.body(f"{ROOT}/bob", com=(0, 0, -0.5))
    turn = ((0, 1, 0), 90)
    made.joint(f"{ROOT}/fix", "Fixed", None, f"{ROOT}/base")
    made.joint(f"{ROOT}/hinge", "Revolute", f"{ROOT}/base", f"{ROOT}/bob", turn=turn, turn_in_child=turn)
    sim, robot = playing(made.stage, engine)
    sim.step()
    forces, torques = robot.get_link_incoming_joint_force()
    np.testing.assert_allclose(forces.numpy()[0, 1], [-9.81, 0, 0], atol=1e-3)
    np.testing.assert_allclose(torques.numpy()[0, 1], [0, 0, 0], atol=1e-3)


def test_nothing_carries_a_floating_root(engine: str) -> None:
    sim, robot = playing(floating_pair().stage, engine)
    sim.step()
    forces, torques = robot.get_link_incoming_joint_force()
    np.testing.assert_allclose([forces.numpy()[0, 0], torques.numpy()[0, 0]], 0.0, atol=1e-4)


@pytest.mark.parametrize("call", CALLS)
def test_copies_have_their_own(call: str) -> None:
    _, robots = playing_robot(ROOT, telescope().stage, num_envs=3)
    robots.set_dof_positions([[0.1, 0.2], [0.3, 0.5], [0.7, 0.9]])
    robots.set_dof_velocities([[1.0, 0.2], [0.3, 1.5], [1.7, 0.9]])
    every = getattr(robots, call)().numpy()
    assert len(every) == 3
    np.testing.assert_array_equal(getattr(robots, call)(indices=[2, 0]).numpy(), every[[2, 0]])
    assert getattr(robots, call)(indices=[]).shape == (0, *every.shape[1:])
    if "gravity" not in call:
        assert not np.array_equal(every[0], every[1])


def test_kinetic_energy_is_that_of_mujoco(rng: np.random.Generator) -> None:
    import mujoco

    sim, robot = playing_robot("/World/Anymal", ROBOTS / "anymal_c.usda")
    robot.set_dof_armatures(0.0)
    robot.set_dof_positions(rng.uniform(-0.5, 0.5, (1, 12)))
    robot.set_dof_velocities(rng.uniform(-1, 1, (1, 12)))
    robot.set_world_poses([[0, 0, 5]], rng.normal(size=(1, 4)))
    robot.set_velocities(*rng.uniform(-1, 1, (2, 1, 3)))
    data = sim.data()
    mujoco.mj_energyVel(sim.model, data)
    velocity = coordinates(robot)
    mass = robot.get_mass_matrices().numpy()[0].astype(float)
    assert velocity @ mass @ velocity / 2 == pytest.approx(data.energy[1], rel=1e-5)
    assert energy(robot) == pytest.approx(data.energy[1], rel=1e-5)


ANYMAL = "/World/Anymal"
FEET = ["LF_SHANK", "LH_SHANK", "RF_SHANK", "RH_SHANK"]


def tower() -> Usd.Stage:
    """A box of 2 kg on the ground, one of 1 kg that it carries by a slide, a ball on that; a robot elsewhere."""
    made = SmallStage()
    made.ground()
    for root, x in ((ROOT, 0.0), ("/World/Other", 5.0)):
        made.root(root)
        made.body(f"{root}/base", (x, 0, 0.1), mass=2.0)
        made.body(f"{root}/top", (x, 0, 0.6), mass=1.0)
        made.joint(f"{root}/lift", "Prismatic", f"{root}/base", f"{root}/top", axis="Z", at=(0, 0, 0.5))
        made.shape(f"{root}/base/box", "Cube", size=0.2)
    made.body("/World/load", (0, 0, 0.75), mass=0.5)
    made.shape("/World/load/ball", "Sphere", radius=0.05)
    made.shape(f"{ROOT}/top/box", "Cube", size=0.2)
    return made.stage


def test_feet_of_a_standing_quadruped_carry_it() -> None:
    with Simulation(ROBOTS / "anymal_c.usda", dt=1 / 200, num_envs=2) as sim:
        robots = sim.articulation(ANYMAL)
        actuators = ArticulationActuators(ANYMAL)
        robots.observe_contact_forces([".*_SHANK", "base"])
        sim.play()
        assert not robots.get_link_contact_forces().numpy().any()
        sim.step(400)
        forces = robots.get_link_contact_forces().numpy()
        weight = robots.get_link_masses().numpy().sum(axis=1) * 9.81
        actuators.close()
    assert robots.contact_links == ["base", *FEET]
    np.testing.assert_allclose(forces.sum(axis=1), [[0, 0, w] for w in weight], atol=0.02 * weight[0])
    assert (forces[:, 0] == 0.0).all() and (forces[:, 1:, 2] > 50.0).all()


def test_a_link_between_others_is_told_the_sum() -> None:
    sim, robot = playing(tower(), "mujoco", 1 / 500)
    robot.set_dof_gains(2000.0, 100.0)
    robot.observe_contact_forces(".*")
    other = sim.articulation("/World/Other")
    other.set_dof_gains(2000.0, 100.0)
    other.observe_contact_forces("base")
    sim.step(2000)
    assert robot.contact_links == ["base", "top"]
    expected = [[0, 0, 3.5 * 9.81], [0, 0, -0.5 * 9.81]]
    np.testing.assert_allclose(robot.get_link_contact_forces().numpy()[0], expected, atol=0.05)
    np.testing.assert_allclose(other.get_link_contact_forces().numpy(), [[[0, 0, 3 * 9.81]]], atol=0.05)


def test_choosing_while_physics_runs_changes_nothing_of_it() -> None:
    reached = []
    for choose in (False, True):
        with Simulation(ROBOTS / "anymal_c.usda", dt=1 / 200, num_envs=3) as sim:
            robots = sim.articulation(ANYMAL)
            actuators = ArticulationActuators(ANYMAL)
            sim.play()
            robots.set_dof_armatures(0.02, indices=[1])
            sim.step(20)
            if choose:
                robots.observe_contact_forces(".*_SHANK")
                assert not robots.get_link_contact_forces().numpy().any()
            state = [array.numpy() for array in (robots.get_dof_velocities(), robots.get_dof_drive_efforts())]
            sim.step(20)
            if choose:
                assert robots.get_link_contact_forces().numpy().any()
                robots.observe_contact_forces(None)
                assert robots.contact_links == []
            sim.step(20)
            state += [robots.get_dof_armatures().numpy(), *(a.numpy() for a in robots.get_link_world_poses())]
            actuators.close()
        reached.append(state)
    np.testing.assert_equal(*reached)


def test_forces_of_a_reset_environment_are_gone() -> None:
    with Simulation(ROBOTS / "anymal_c.usda", dt=1 / 200, num_envs=3) as sim:
        robots = sim.articulation(ANYMAL)
        robots.observe_contact_forces(".*_SHANK")
        sim.play()
        sim.step(60)
        before = robots.get_link_contact_forces().numpy()
        sim.reset([1])
        after = robots.get_link_contact_forces().numpy()
        np.testing.assert_array_equal(robots.get_link_contact_forces(indices=[2]).numpy(), before[2:])
    assert before[1].any() and not after[1].any()
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])


def test_the_choice_outlives_a_stop() -> None:
    sim, robot = playing(tower(), "mujoco")
    robot.observe_contact_forces("base")
    sim.stop()
    sim.stage.GetPrimAtPath("/World/load").SetActive(False)
    sim.play()
    sim.step(300)
    assert robot.get_link_contact_forces().numpy()[0, 0, 2] > 0.0
    sim.stop()
    sim.stage.GetPrimAtPath(f"{ROOT}/lift").SetActive(False)
    sim.stage.GetPrimAtPath(f"{ROOT}/top").SetActive(False)
    robot.observe_contact_forces(None)
    sim.play()
    refused(HostError, robot.get_link_contact_forces, r"no links were chosen\. Call observe_contact_forces")


@cases(
    "links, message",
    ("foot", r"'foot' matches no link: must match the whole name of at least one of base, top"),
    (["base", "to"], r"'to' matches no link"),
    ("(", r"'\(' must be a regular expression"),
)
def test_wrong_patterns_are_told(links: Any, message: str) -> None:
    _, robot = playing(tower(), "mujoco")
    robot.observe_contact_forces("base")
    refused(ValueError, lambda: robot.observe_contact_forces(links), message)
    assert robot.contact_links == ["base"]


@pytest.mark.parametrize("engine", ENGINES)
def test_they_need_running_physics_and_mujoco(engine: str) -> None:
    sim = Simulation(tower(), engine=installed(engine))
    robot = sim.articulation(ROOT)
    if engine == "physx":
        refused(HostError, lambda: robot.observe_contact_forces("base"), "Use engine='mujoco'")
        robot.observe_contact_forces(None)
    else:
        robot.observe_contact_forces("base")
    refused(HostError, robot.get_link_contact_forces, "physics is not running")
    sim.close()
