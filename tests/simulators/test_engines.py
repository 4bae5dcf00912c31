"""What robots of embedded physics do in every engine: life, state, efforts, drives, reset."""

from collections.abc import Callable, Iterator
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError
from physics_engines import ROOT, playing, weightless
from places import ROBOTS
from refusals import refused
from small_stages import SmallStage, pendulum

DT = 1 / 240
# of the pendulum of `small_stages`, about its hinge [kg m²]
INERTIA = 0.01 + 0.5**2
HINGE = f"{ROOT}/hinge"
# PhysX damps links a little by default
TOLERANCE = {"mujoco": 1e-6, "physx": 1e-5}


@pytest.fixture
def swing(engine: str) -> Iterator[tuple[aa.Simulation, Any]]:
    sim, robot = playing(weightless(pendulum()), engine, DT)
    yield sim, robot
    sim.close()


def driven(engine: str, **drive: float) -> tuple[aa.Simulation, Any]:
    made = pendulum()
    made.drive(HINGE, **drive)
    return playing(weightless(made), engine, DT)


def copies(engine: str) -> int:
    return 2 if engine == "mujoco" else 1


def assert_velocity(robot: Any, expected: float, tolerance: float) -> None:
    np.testing.assert_allclose(robot.get_dof_velocities().numpy(), [[expected]], rtol=tolerance)


def test_robots_are_known_before_play(engine) -> None:
    robot = aa.Simulation(ROBOTS / "arm_2dof.usda", engine=engine).articulation("/World/Arm")
    assert (robot.paths, robot.dof_names, robot.num_dofs) == (["/World/Arm"], ["shoulder", "extension"], 2)
    assert len(robot) == 1


@pytest.mark.parametrize("call", ["step", "reset"])
@pytest.mark.parametrize("stopped", [False, True])
def test_nothing_runs_unless_playing(engine, call, stopped) -> None:
    sim = aa.Simulation(pendulum().stage, engine=engine)
    if stopped:
        sim.play()
        sim.stop()
    refused(HostError, getattr(sim, call), r"physics is not running: call play\(\)")


@pytest.mark.parametrize("call", ["get_dof_gravity_compensation_forces", "get_world_poses", "get_dof_positions"])
def test_articulation_needs_running_physics(engine, call) -> None:
    robot = aa.Simulation(pendulum().stage, engine=engine).articulation(ROOT)
    refused(HostError, getattr(robot, call), "physics is not running")


def test_events_come_in_order(swing) -> None:
    """Stop and a second play: each is announced once, steps with the physics dt."""
    sim, _ = swing
    heard: list[object] = []
    sim.bus.on_ready(lambda: heard.append("ready"))
    sim.bus.on_pre_step(lambda dt, _context: heard.append(dt))
    sim.bus.on_reset(heard.append)
    sim.bus.on_stop(lambda: heard.append(("stop", sim.playing)))
    sim.step(2)
    sim.reset()
    sim.reset([0])
    sim.stop()
    sim.stop()
    sim.play()
    assert heard == [DT, DT, None, [0], ("stop", False), "ready"]


def test_callback_may_stop_physics(swing) -> None:
    sim, _ = swing
    sim.bus.on_pre_step(lambda *_: sim.stop())
    sim.step()
    assert not sim.playing


def test_play_starts_in_the_authored_state(engine) -> None:
    made = pendulum()
    made.state(HINGE, position=30.0, velocity=-45.0)
    made.drive(HINGE, targetPosition=10.0, targetVelocity=20.0)
    _, robot = playing(made.stage, engine, DT, copies(engine))
    getters = ("positions", "velocities", "position_targets", "velocity_targets")
    read = [getattr(robot, f"get_dof_{name}")().numpy()[:, 0] for name in getters]
    np.testing.assert_allclose(np.degrees(read).T, [[30, -45, 10, 20]] * copies(engine), rtol=1e-6)


@pytest.mark.parametrize("free", [True, False])
def test_world_pose_is_that_of_the_root_body(engine, free) -> None:
    made = SmallStage()
    made.root(ROOT)
    made.body(f"{ROOT}/base", (1, 2, 3), turn=((0, 0, 1), 90), com=(0.1, 0, 0))
    made.body(f"{ROOT}/bob", (1, 2, 3), turn=((0, 0, 1), 90), mass=0.1)
    made.joint(HINGE, "Revolute", f"{ROOT}/base", f"{ROOT}/bob")
    if not free:
        made.joint(f"{ROOT}/fix", "Fixed", None, f"{ROOT}/base", at=(1, 2, 3), turn=((0, 0, 1), 90))
    _, robot = playing(weightless(made), engine, DT, copies(engine))
    positions, quaternions = robot.get_world_poses(indices=[copies(engine) - 1])
    np.testing.assert_allclose(positions.numpy(), [[1, 2, 3]], atol=1e-6)
    np.testing.assert_allclose(quaternions.numpy(), [[np.sqrt(0.5), 0, 0, np.sqrt(0.5)]], atol=1e-6)


@pytest.mark.parametrize("effort", [3.0, -3.0])
def test_effort_accelerates_by_its_inertia(engine, swing, effort) -> None:
    sim, robot = swing
    robot.set_dof_efforts(effort)
    sim.step()
    assert_velocity(robot, effort * DT / INERTIA, TOLERANCE[engine])


def test_effort_acts_until_another_is_set(engine, swing) -> None:
    sim, robot = swing
    robot.set_dof_efforts(3.0)
    sim.step(5)
    assert robot.get_dof_efforts().numpy().tolist() == [[3.0]]
    assert_velocity(robot, 5 * 3.0 * DT / INERTIA, 10 * TOLERANCE[engine])
    robot.set_dof_efforts(0.0)
    before = float(robot.get_dof_velocities().numpy()[0, 0])
    sim.step(5)
    assert_velocity(robot, before, 10 * TOLERANCE[engine])


@pytest.mark.parametrize("again", [lambda sim: sim.reset(), lambda sim: (sim.stop(), sim.play())])
def test_effort_ends_with_reset_and_stop(swing, again: Callable[[aa.Simulation], object]) -> None:
    sim, robot = swing
    robot.set_dof_efforts(3.0)
    sim.step()
    again(sim)
    sim.step()
    assert [array.numpy().tolist() for array in (robot.get_dof_efforts(), robot.get_dof_velocities())] == [[[0.0]]] * 2


def test_effort_set_in_a_callback_acts_in_that_step(engine, swing) -> None:
    sim, robot = swing
    sim.bus.on_pre_step(lambda *_: robot.set_dof_efforts(3.0))
    sim.step()
    assert_velocity(robot, 3.0 * DT / INERTIA, TOLERANCE[engine])


def test_effort_written_to_buffers_acts(engine, swing) -> None:
    sim, robot = swing
    buffers = robot.buffers()
    buffers.refresh()
    buffers.efforts[:] = 3.0
    buffers.commit()
    sim.step()
    buffers.refresh()
    np.testing.assert_allclose(buffers.velocities, [[3.0 * DT / INERTIA]], rtol=TOLERANCE[engine])


def test_effort_is_not_limited_by_a_drive_that_is_off(engine) -> None:
    """PhysX would cut it at `maxForce`; with gains again, the limit is back."""
    sim, robot = driven(engine, maxForce=1.0)
    robot.set_dof_efforts(30.0)
    sim.step()
    assert_velocity(robot, 30.0 * DT / INERTIA, TOLERANCE[engine])
    if engine == "physx":
        robot.set_dof_velocities(0.0)
        robot.set_dof_gains(1000.0, 0.0)
        robot.set_dof_position_targets(1.0)
        sim.step()
        assert_velocity(robot, 1.0 * DT / INERTIA, 1e-3)


def test_damping_alone_keeps_a_velocity(engine) -> None:
    sim, robot = driven(engine, damping=np.pi / 180 * 10)
    robot.set_dof_velocity_targets(2.0)
    sim.step(480)
    assert_velocity(robot, 2.0, 50 * TOLERANCE[engine] if engine == "mujoco" else 1e-3)


def test_gains_are_read_back_bit_equal(engine, rng) -> None:
    with aa.Simulation(ROBOTS / "franka_panda.usda", num_envs=copies(engine), engine=engine) as sim:
        sim.play()
        robot = sim.articulation("/World/Panda")
        gains = rng.uniform(1, 500, (2, copies(engine), 7)).astype(np.float32)
        robot.set_dof_gains(*gains)
        sim.step(3)
        np.testing.assert_array_equal([array.numpy() for array in robot.get_dof_gains()], gains)


@pytest.mark.parametrize("env_ids", [[3], [-1], 7, [True, False, True, False], [0.5], 0.5, "all"])
def test_reset_refuses_environments_there_are_not(engine, swing, env_ids) -> None:
    sim, robot = swing
    robot.set_dof_positions(0.5)
    refused(ValueError, lambda: sim.reset(env_ids), "environment")
    assert robot.get_dof_positions().numpy().tolist() == [[0.5]]
