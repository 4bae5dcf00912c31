import numpy as np
import pytest
from hidden_motors import ARM, known_motor
from isaacsim.core.experimental.actuators.base.errors import SimulationDivergedError
from isaacsim.core.experimental.actuators.tools.identification.commanded import CommandedRobot

JOINTS = ["extension", "shoulder"]
MOTORS = {"shoulder": known_motor(800.0, 20.0), "extension": known_motor(800.0, 20.0)}


def test_runs_begin_in_the_same_state() -> None:
    command = np.c_[np.full(100, 0.1), np.linspace(0.0, 0.3, 100)]
    with CommandedRobot(ARM, MOTORS, JOINTS, 0.004) as robot:
        first = robot.run(command)
        np.testing.assert_array_equal(first, robot.run(command))
        moved = robot.run(command, positions=np.array([0.2, -0.1]), velocities=np.array([0.0, 1.0]))
    np.testing.assert_allclose(first[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(moved[0], [0.2, -0.1], atol=1e-6)
    assert moved[1, 1] - moved[0, 1] == pytest.approx(0.004, rel=0.3)


def test_columns_are_those_of_the_joints_and_others_hold() -> None:
    seen: list[int] = []
    with CommandedRobot(ARM, MOTORS, ["shoulder"], 0.004, initial_positions={"extension": 0.2}) as robot:
        found = robot.run(np.full((500, 1), 0.3), each=seen.append)
        others = robot.robots.get_dof_positions().numpy()[0]
    assert found[-1, 0] == pytest.approx(0.3, abs=0.1)
    assert others[robot.robots.dof_names.index("extension")] == pytest.approx(0.2, abs=0.02)
    assert seen == list(range(500))


def test_what_diverges_is_raised() -> None:
    with CommandedRobot(ARM, MOTORS, JOINTS, 0.004) as robot, pytest.raises(SimulationDivergedError):
        robot.run(np.zeros((200, 2)), velocities=np.array([1e18, 1e18]))
