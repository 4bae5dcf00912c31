"""The same robots under the same actuators on MuJoCo and on PhysX."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation

pytestmark = pytest.mark.skipif(find_spec("ovphysx") is None, reason="the PhysX wheel is not installed")
ENGINES = ("mujoco", "physx")
PATHS = {"pendulum": "/World/Pendulum", "franka_panda": "/World/Panda", "anymal_c": "/World/Anymal"}


def drive(
    file: Path, engine: str, dt: float, steps: int, reach: float, friction: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Move joints by half a cosine of 1 s and back; return positions [rad], efforts and their limits [N·m]."""
    positions, efforts = [], []
    with Simulation(file, dt, engine=engine) as sim:
        robot, actuators = Articulation(PATHS[file.stem]), ArticulationActuators(PATHS[file.stem])
        sim.play()
        robot.set_dof_friction_properties(friction, friction)
        start = robot.get_dof_positions().numpy()[0]

        def reach_for(step: int) -> None:
            robot.set_dof_position_targets(start + reach * (1 - np.cos(np.pi * (step + 1) * dt)) / 2)

        # whatever an engine does to begin with; the first target has come through delays then
        reach_for(0)
        sim.step(5)
        robot.set_dof_positions(start)
        robot.set_dof_velocities(0.0)
        sim.bus.on_pre_step(lambda dt, context: efforts.append(robot.get_dof_efforts().numpy()[0]), order=1)
        for step in range(steps):
            reach_for(step)
            sim.step()
            positions.append(robot.get_dof_positions().numpy()[0])
        # a maximum effort, or that of a motor
        last = [actuator.clamping[-1] for actuator in actuators.actuators]
        limits = np.array([clamp.read(clamp.PARAMETERS[-1])[0] for clamp in last])
    return np.array(positions), np.array(efforts), limits


# a long step, so that the one there is has large efforts
@pytest.mark.filterwarnings("ignore:.* will vibrate at dt = 0.1 s:UserWarning")
@pytest.mark.parametrize("name", PATHS)
def test_first_efforts_agree(robots, name) -> None:
    runs = [drive(robots / f"{name}.usda", engine, dt=0.1, steps=1, reach=5.0) for engine in ENGINES]
    (_, expected, limits), (_, efforts, _) = runs
    assert (np.abs(expected[0]) > 0.05 * limits).any()
    np.testing.assert_allclose(efforts[0] / limits, expected[0] / limits, atol=1e-5)


@pytest.mark.parametrize("friction", [0.0, 3.0])
@pytest.mark.parametrize(("name", "reach"), [("pendulum", 0.5), ("franka_panda", 0.3)])
def test_trajectories_agree(robots, name, reach, friction) -> None:
    runs = [drive(robots / f"{name}.usda", engine, 1e-3, 2000, reach, friction) for engine in ENGINES]
    (expected, *_), (positions, *_) = runs
    assert (np.ptp(expected, axis=0) > 0.14).all()
    np.testing.assert_allclose(positions, expected, atol=1e-3)


def test_quadruped_stands_on_both(robots) -> None:
    """For 5 s; MuJoCo lets the feet creep outwards, which lowers the base by 12 mm."""
    heights = []
    for engine in ENGINES:
        with Simulation(robots / "anymal_c.usda", engine=engine) as sim:
            robot, _actuators = Articulation(PATHS["anymal_c"]), ArticulationActuators(PATHS["anymal_c"])
            sim.play()
            for _ in range(10):
                sim.step(120)
                heights.append(robot.get_world_poses()[0].numpy()[0, 2])
    assert min(heights) > 0.55 and np.ptp(heights) < 0.02


def test_velocity_limit_is_enforced_by_both(robots) -> None:
    """`newton:velocityLimit` of the arm's first joints is 2.175 rad/s."""
    fastest = []
    for engine in ENGINES:
        with Simulation(robots / "franka_panda.usda", engine=engine) as sim:
            sim.play()
            arm = Articulation(PATHS["franka_panda"])
            sim.bus.on_pre_step(lambda *_, arm=arm: arm.set_dof_efforts(80.0, dof_indices=[0]))
            sim.step(24)
            fastest.append(arm.get_dof_velocities().numpy()[0, 0])
    assert fastest == [pytest.approx(2.175, rel=1e-6), pytest.approx(2.175, rel=1e-2)]
