"""Tensors of all robots compared with the wheel's sessions, and the wheel's own warnings about them."""

import gc
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from places import ROBOTS
from small_stages import many_axes, pendulum

pytestmark = pytest.mark.skipif(find_spec("ovphysx") is None, reason="the PhysX wheel is not installed")
READ = ["jointPosition", "jointVelocity", "jointPositionTarget", "jointVelocityTarget"]
WRITTEN = ["jointPositionTarget", "jointVelocityTarget", "jointActuationForce", "jointStiffness", "jointDamping"]
LINKS = [("position", "orientation"), ("linearVelocity", "angularVelocity")]


@pytest.fixture
def zoo():
    """Robots of 3, 2, 12 and 7 axes in motion, fixed and floating; angular and linear axes, two of one joint."""
    made = many_axes()
    for i, (name, prim) in enumerate({"Arm": "arm_2dof", "Anymal": "anymal_c", "Panda": "franka_panda"}.items()):
        made.reference(f"/World/{name}", ROBOTS / f"{prim}.usda", f"/World/{name}", (5.0 * (i + 1), 0, 1))
    with Simulation(made.stage, 1 / 240, engine="physx") as sim:
        sim.play()
        arrays, numbers = sim._host.arrays(), np.linspace(-0.3, 0.3, len(sim._host._scene.joints))
        arrays.position_targets[:], arrays.velocity_targets[:] = numbers, -numbers
        sim._host._scene.write({"jointVelocity": numbers})
        sim.step(20)
        yield sim


@pytest.mark.parametrize("column", READ)
def test_axes_are_those_of_the_sessions(zoo, column, monkeypatch) -> None:
    """But for the change to degrees and back, which sessions round."""
    (read,) = zoo._host._scene.read(column)
    monkeypatch.setattr(zoo._host._scene, "_tensors", None)
    np.testing.assert_allclose(read, zoo._host._scene.read(column)[0], rtol=3e-7, atol=1e-12)
    assert len(set(read)) == len(read), "any two axes differ"


@pytest.mark.parametrize("columns", LINKS)
def test_links_are_those_of_the_sessions(zoo, columns, monkeypatch) -> None:
    """To the bit, for each robot, whatever the number of its links."""
    scene = zoo._host._scene
    counts = [len(robot.links) for robot in scene.robots]
    read = [scene.of_links(np.array([robot]), count, columns) for robot, count in enumerate(counts)]
    monkeypatch.setattr(scene, "_tensors", None)
    for robot, count in enumerate(counts):
        np.testing.assert_array_equal(read[robot], scene.of_links(np.array([robot]), count, columns))


@pytest.mark.parametrize("column", WRITTEN)
def test_what_is_written_is_there(zoo, column, monkeypatch, rng) -> None:
    """Each at its axis, for sessions too; what is infinite, as the largest number."""
    scene = zoo._host._scene
    values = rng.uniform(1, 3, len(scene.joints)).astype(np.float32)
    values[5] = np.inf
    scene.write({column: values})
    (read,) = scene.read(column)
    np.testing.assert_array_equal(read, np.minimum(values, np.finfo(np.float32).max))
    monkeypatch.setattr(scene, "_tensors", None)
    np.testing.assert_allclose(np.delete(scene.read(column)[0], 5), np.delete(values, 5), rtol=3e-7)


def test_targets_are_in_si_for_physics(zoo) -> None:
    """Drives of PhysX go where the targets are, on every axis that has one."""
    robot = zoo.articulation("/World/Panda")
    targets = robot.get_dof_positions().numpy() + 0.1
    robot.set_dof_gains(5000.0, 500.0)
    robot.set_dof_position_targets(targets)
    zoo.step(480)
    np.testing.assert_allclose(robot.get_dof_positions().numpy(), targets, atol=0.05)


def test_nothing_moves_before_the_first_step() -> None:
    """PhysX would step by itself before it lets a tensor be read or written."""
    made = pendulum()
    made.state("/World/Robot/hinge", position=30.0)
    with Simulation(made.stage, engine="physx") as sim:
        sim.play()
        robot = sim.articulation("/World/Robot")
        robot.set_dof_efforts(1.0)
        robot.set_dof_position_targets(0.3)
        sim.reset()
        robot.get_world_poses()
        assert sim._host._scene.read("jointVelocity")[0].tolist() == [0.0]


def test_physics_goes_on_where_another_simulation_ends(zoo) -> None:
    """Its tensors are its own."""
    with Simulation(pendulum().stage, engine="physx") as other:
        other.play()
        other.step(3)
    before = zoo._host.arrays().positions.copy()
    zoo.step()
    assert not np.array_equal(zoo._host.arrays().positions, before)


def test_the_wheel_warns_as_it_does_today() -> None:
    """Where it says something else, or has no bindings any more, `RobotTensors` needs another way in."""
    from ovphysx.types import TensorType

    with Simulation(pendulum().stage, engine="physx") as sim:
        sim.play()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            physx, positions = sim._host._scene._physx, TensorType.ARTICULATION_DOF_POSITION
            with physx.create_tensor_binding(prim_paths=["/World/Robot"], tensor_type=positions) as binding:
                assert binding.shape == (1, 1)
    assert [(warning.category, str(warning.message)) for warning in caught] == [
        (
            DeprecationWarning,
            "ovphysx tensor bindings are deprecated and will be removed in a future release; use PhysX.read for reads "
            "and PhysX.write for writes.",
        )
    ]


def test_nothing_is_said_of_it_here() -> None:
    """From the first step to the end of an unclosed simulation."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim = Simulation(pendulum().stage, engine="physx")
        sim.play()
        robot = sim.articulation("/World/Robot")
        sim.step(2)
        robot.set_dof_efforts(1.0)
        sim.step(2)
        robot.get_world_poses()
        del sim, robot
        gc.collect()
    assert [str(warning.message) for warning in caught if "binding" in str(warning.message)] == []
