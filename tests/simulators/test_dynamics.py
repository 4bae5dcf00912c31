"""Mass matrices, Jacobians and forces of robots on embedded physics, beside formulas and beside motion."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError
from physics_engines import ROOT, floating_pair, playing, telescope, weightless
from places import ROBOTS
from small_stages import SmallStage, pendulum

# of the pendulum of `small_stages`, about its hinge [kg m²]
INERTIA = 0.01 + 0.5**2
CALLS = [
    "get_mass_matrices",
    "get_jacobian_matrices",
    "get_dof_coriolis_and_centrifugal_compensation_forces",
    "get_dof_gravity_compensation_forces",
    "get_dof_projected_joint_forces",
]


def floating(engine: str, rng: np.random.Generator, dt: float = 1e-5) -> tuple:
    """The floating pair, moving every way, and its velocities as the mass matrix has them."""
    sim, robot = playing(weightless(floating_pair()), engine, dt)
    robot.set_dof_positions(0.4)
    robot.set_dof_velocities(1.3)
    robot.set_velocities(*rng.uniform(-1, 1, (2, 1, 3)))
    return sim, robot, coordinates(robot)


def coordinates(robot) -> np.ndarray:
    """Velocities of root link and DOFs."""
    root = [array.numpy()[0] for array in robot.get_velocities()]
    return np.concatenate([*root, robot.get_dof_velocities().numpy()[0]]).astype(float)


def momentum(robot) -> np.ndarray:
    """Linear momentum, and the angular one about the origin, of all links."""
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


def energy(robot) -> float:
    """Kinetic, of all links."""
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
    """The rotation of a quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("call", CALLS)
def test_they_need_running_physics(engine, call) -> None:
    """Before play there is no state."""
    robot = Simulation(pendulum().stage, engine=engine).articulation(ROOT)
    with pytest.raises(HostError, match="physics is not running"):
        getattr(robot, call)()


def test_positions_move_with_the_velocity_that_is_told(engine) -> None:
    """From rest, a row per robot."""
    sim, robot = playing(weightless(pendulum()), engine)
    robot.set_dof_efforts(50.0)
    sim.step()
    (weight,) = robot.get_velocity_weights().numpy()
    travel = weight * sim.dt * robot.get_dof_velocities().numpy()
    np.testing.assert_allclose(robot.get_dof_positions().numpy(), travel, rtol=1e-3)
    assert robot.get_velocity_weights(indices=[]).shape == (0,)


@pytest.mark.parametrize("armature", [0.0, 0.7])
def test_mass_matrix_of_a_pendulum_is_its_inertia(engine, armature) -> None:
    _, robot = playing(pendulum().stage, engine)
    robot.set_dof_armatures(armature)
    np.testing.assert_allclose(robot.get_mass_matrices().numpy(), [[[INERTIA + armature]]], rtol=1e-5)


@pytest.mark.parametrize("reach", [0.0, 0.5])
def test_mass_matrix_of_a_telescope(engine, reach) -> None:
    _, robot = playing(telescope().stage, engine)
    robot.set_dof_positions([[0.3, reach]])
    turning = 0.3 + 2.0 * 0.5**2 + 0.6 + 3.0 * (1 + reach) ** 2
    np.testing.assert_allclose(robot.get_mass_matrices().numpy()[0], [[turning, 0], [0, 3]], rtol=1e-5, atol=1e-5)


def test_coriolis_and_centrifugal_forces_of_a_telescope(engine) -> None:
    """The slide is held on its circle, and what turns is held back as it moves outwards."""
    _, robot = playing(telescope().stage, engine)
    robot.set_dof_positions([[0.3, 0.5]])
    robot.set_dof_velocities([[2.0, 0.7]])
    expected = [2 * 3.0 * 1.5 * 0.7 * 2.0, -3.0 * 1.5 * 2.0**2]
    found = robot.get_dof_coriolis_and_centrifugal_compensation_forces()
    np.testing.assert_allclose(found.numpy()[0], expected, rtol=1e-4)


def test_compensation_needs_no_acceleration(engine) -> None:
    """With both forces as efforts, joints keep their velocities."""
    sim, robot = playing(telescope().stage, engine)
    robot.set_dof_velocities([[2.0, 0.7]])
    forces = robot.get_dof_coriolis_and_centrifugal_compensation_forces().numpy()
    robot.set_dof_efforts(forces + robot.get_dof_gravity_compensation_forces().numpy())
    sim.step(1)
    np.testing.assert_allclose(robot.get_dof_velocities().numpy(), [[2.0, 0.7]], atol=2e-4)


def test_velocities_do_not_change_gravity_forces(engine) -> None:
    """Those are of the position alone."""
    _, robot = playing(pendulum().stage, engine)
    robot.set_dof_positions(0.4)
    robot.set_dof_velocities(5.0)
    expected = -9.81 * 0.5 * np.sin(0.4)
    assert abs(robot.get_dof_gravity_compensation_forces().numpy()[0, 0]) == pytest.approx(abs(expected), rel=1e-4)


def test_jacobian_of_a_telescope(engine) -> None:
    """Boom and slide; the root link is fixed and left out."""
    _, robot = playing(telescope().stage, engine)
    robot.set_dof_positions([[np.pi / 2, 0.5]])
    found = robot.get_jacobian_matrices().numpy()
    assert found.shape == (1, 2, 6, 2)
    # turned by a right angle: the boom points along +Y
    boom = [[-0.5, 0], [0, 0], [0, 0], [0, 0], [0, 0], [1, 0]]
    np.testing.assert_allclose(found[0], [boom, [[-1.5, 0], [0, 1], [0, 0], [0, 0], [0, 0], [1, 0]]], atol=1e-5)


# floating


def test_shapes_of_a_floating_robot(engine) -> None:
    """Six coordinates of the base come first; every link has a Jacobian."""
    sim = Simulation(ROBOTS / "anymal_c.usda", engine=engine)
    sim.play()
    robot = sim.articulation("/World/Anymal")
    assert robot.get_mass_matrices().shape == (1, 18, 18)
    assert robot.get_jacobian_matrices().shape == (1, 13, 6, 18)


def test_mass_matrix_gives_the_kinetic_energy(engine, rng) -> None:
    """½ vᵀ M v is that of all links."""
    _, robot, velocity = floating(engine, rng)
    mass = robot.get_mass_matrices().numpy()[0].astype(float)
    assert velocity @ mass @ velocity / 2 == pytest.approx(energy(robot), rel=1e-5)


def test_base_of_the_mass_matrix_is_in_the_world(engine, rng) -> None:
    """Its first three rows give the linear momentum."""
    _, robot, velocity = floating(engine, rng)
    mass = robot.get_mass_matrices().numpy()[0].astype(float)
    np.testing.assert_allclose((mass @ velocity)[:3], momentum(robot)[:3], rtol=1e-4, atol=1e-4)


def test_jacobian_gives_velocities_of_the_links(engine, rng) -> None:
    """Linear, then angular ones."""
    _, robot, velocity = floating(engine, rng)
    found = np.concatenate([array.numpy()[0] for array in robot.get_link_velocities()], axis=1)
    np.testing.assert_allclose(robot.get_jacobian_matrices().numpy()[0] @ velocity, found, atol=1e-5)


def test_equations_of_motion_hold(engine, rng) -> None:
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


def test_joint_forces_of_a_telescope(engine) -> None:
    """Efforts along the axes; across them weight and what turns the slide with the boom."""
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


def test_armatures_turn_before_the_joint(engine) -> None:
    """A sensor in the joint measures the effort less the armature's share."""
    sim, robot = playing(weightless(pendulum()), engine)
    robot.set_dof_armatures(0.7)
    robot.set_dof_efforts(3.0)
    sim.step()
    expected = 3.0 * INERTIA / (INERTIA + 0.7)
    np.testing.assert_allclose(robot.get_dof_projected_joint_forces().numpy(), [[expected]], rtol=1e-3)


def test_joint_forces_are_in_the_frame_of_the_joint(engine) -> None:
    """Whose X axis points down here."""
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


def test_nothing_carries_a_floating_root(engine) -> None:
    """Its leg hangs on it."""
    sim, robot = playing(floating_pair().stage, engine)
    sim.step()
    forces, torques = robot.get_link_incoming_joint_force()
    np.testing.assert_allclose([forces.numpy()[0, 0], torques.numpy()[0, 0]], 0.0, atol=1e-4)


@pytest.mark.parametrize("call", CALLS)
def test_copies_have_their_own(call) -> None:
    """Rows are environments, also when only some are asked for."""
    sim = Simulation(telescope().stage, num_envs=3)
    sim.play()
    robots = sim.articulation(ROOT)
    robots.set_dof_positions([[0.1, 0.2], [0.3, 0.5], [0.7, 0.9]])
    robots.set_dof_velocities([[1.0, 0.2], [0.3, 1.5], [1.7, 0.9]])
    every = getattr(robots, call)().numpy()
    assert len(every) == 3
    np.testing.assert_array_equal(getattr(robots, call)(indices=[2, 0]).numpy(), every[[2, 0]])
    assert getattr(robots, call)(indices=[]).shape == (0, *every.shape[1:])
    if "gravity" not in call:
        assert not np.array_equal(every[0], every[1])


def test_kinetic_energy_is_that_of_mujoco(rng) -> None:
    """Of the quadruped, armature left out."""
    import mujoco

    sim = Simulation(ROBOTS / "anymal_c.usda")
    sim.play()
    robot = sim.articulation("/World/Anymal")
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
