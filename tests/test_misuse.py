"""Kinds of misuse that `tests/hardening/misuse.py` found: each is refused in words of ours."""

import copy
import pickle

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    Actuator,
    ActuatorGroup,
    Articulation,
    ArticulationActuators,
    PDControlConfig,
    Simulation,
    inspect_robots,
    motors_of_model,
    parse_actuator_prim,
    plot_bode,
    register_actuator_component,
)
from places import ROBOTS

MANY = np.broadcast_to(0.0, 10**10)


@pytest.fixture
def sim():
    with Simulation(ROBOTS / "pendulum.usda") as opened:
        opened.play()
        yield opened


@pytest.fixture
def robot(sim):
    return Articulation("/World/Pendulum")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Simulation(3), "source = 3: must be the path"),
        (lambda: Simulation(ROBOTS / "pendulum.usda", dt=[1]), r"dt = \[1\]: must be a number"),
        (lambda: Simulation(ROBOTS / "pendulum.usda", num_envs={}), "num_envs = {}: must be a number"),
        (lambda: Simulation(ROBOTS / "pendulum.usda", engine=np.zeros(2)), "engine = .*must be 'mujoco' or 'physx'"),
        (lambda: ActuatorGroup(1j), "actuators = 1j: must be a list of actuators"),
        (lambda: ActuatorGroup([object()]), "must be an Actuator"),
        (lambda: Actuator([0, 1], object()), r"indices = \[0, 1\]: must be a Warp array"),
        (lambda: Actuator(wp.zeros(1, dtype=wp.uint32, device="cpu"), np.zeros(3)), "must be a component"),
        (lambda: motors_of_model(np.zeros(2)), "model = .*must be an MjModel"),
        (lambda: parse_actuator_prim(np.float16(1)), "prim = .*must be a prim"),
        (lambda: plot_bode([], "hinge"), r"actuators = \[\]: must be an ArticulationActuators"),
        (lambda: register_actuator_component("MyAPI", object, slice(None)), "kind = .*must be a ComponentKind"),
        (lambda: inspect_robots(ROBOTS / "pendulum.usda", 0.5), "variants = 0.5: must be a dictionary"),
        (lambda: ActuatedArrays(3, {}), "dof_names = 3: must be"),
    ],
)
def test_odd_arguments_are_named(call, said):
    """Name the argument, what it has to be, and what was given."""
    with pytest.raises(TypeError, match=said):
        call()


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda sim, robot: sim.step({}), TypeError, "steps = {}"),
        (lambda sim, robot: sim.data(np.zeros(0, int)), ValueError, "must be one environment"),
        (lambda sim, robot: sim.articulation(["/World", 3]), TypeError, "articulation paths = .*must be a path"),
        (lambda sim, robot: sim.articulation(MANY), TypeError, "articulation paths = .*must be a path"),
        (lambda sim, robot: robot.get_dof_indices(MANY), TypeError, "names = .*must be a name"),
        (lambda sim, robot: robot.observe_contact_forces(True), TypeError, "links = True"),
        (lambda sim, robot: robot.switch_dof_control_mode(np.zeros(0)), ValueError, "mode = "),
        (lambda sim, robot: robot.set_dof_positions(MANY), ValueError, "has shape .*must fit"),
        (lambda sim, robot: robot.set_dof_positions({}), ValueError, "must be numbers"),
        (lambda sim, robot: robot.set_dof_positions([[1], [1, 2]]), ValueError, "rows of one length"),
        (lambda sim, robot: robot.set_dof_positions(np.ma.array([1.0], mask=[1])), ValueError, "masked"),
        (lambda sim, robot: robot.get_dof_positions(indices=range(10**12)), ValueError, "more than"),
        (lambda sim, robot: ArticulationActuators(3), TypeError, "articulation paths = 3"),
        (
            lambda sim, robot: ArticulationActuators.from_actuators("/World/Pendulum", [PDControlConfig(1.0, 1.0)]),
            TypeError,
            "must be a pair",
        ),
    ],
)
def test_odd_arguments_of_methods_are_named(sim, robot, call, kind, said):
    """Say so before anything is copied or changed."""
    before = robot.get_dof_positions().numpy()
    with pytest.raises(kind, match=said):
        call(sim, robot)
    assert np.array_equal(robot.get_dof_positions().numpy(), before)


@pytest.mark.parametrize("dt", [None, "x", np.ones(2), -1.0, np.nan])
def test_odd_time_step_stops_nothing_else(dt):
    """Refuse a time step that is none, and compute with the next."""
    arrays = ActuatedArrays(["a"], {"a": [PDControlConfig(2.0, 0.0)]})
    q = np.zeros((1, 1), np.float32)
    with pytest.raises((TypeError, ValueError), match="dt = "):
        arrays.step(q, q, q + 1, dt)
    assert arrays.step(q, q, q + 1, 0.01)[0, 0] == 2.0


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickle.dumps])
def test_actuated_arrays_are_not_copied(again):
    """Refuse to copy what holds addresses."""
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        again(ActuatedArrays(["a"], {"a": [PDControlConfig(2.0, 0.0)]}))
