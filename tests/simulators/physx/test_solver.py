"""Step of velocities and positions of PhysX: the model compared with one step of a robot."""

from importlib.util import find_spec

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from places import ROBOTS
from pxr import Sdf, Usd, UsdPhysics

pytestmark = pytest.mark.skipif(find_spec("ovphysx") is None, reason="the PhysX wheel is not installed")
SCENE = "/World/physicsScene"
TYPES = {bool: Sdf.ValueTypeNames.Bool, int: Sdf.ValueTypeNames.Int, str: Sdf.ValueTypeNames.Token}
# settings of the solver by what positions move with; names without a schema are not looked at
CASES: list[tuple[dict, float]] = [
    ({}, 33 / 64),
    ({"Articulation:solverPositionIterationCount": 0}, 1.0),
    ({"Articulation:solverPositionIterationCount": 1}, 1.0),
    ({"Articulation:solverPositionIterationCount": 4}, 5 / 8),
    ({"Articulation:solverPositionIterationCount": 4, "Scene:minPositionIterationCount": 8}, 9 / 16),
    ({"Scene:maxPositionIterationCount": 2}, 3 / 4),
    ({"Scene:solverType": "PGS"}, 1.0),
    ({"Scene:solverType": "TGS"}, 33 / 64),
    ({"Scene:enableExternalForcesEveryIteration": False}, 1.0),
]


def stage(name: str, root: str, settings: dict, *, with_schemas: bool = True) -> Usd.Stage:
    """A shipped robot without gravity, its solver set."""
    made = Usd.Stage.Open(Usd.Stage.Open(str(ROBOTS / f"{name}.usda")).Flatten())
    UsdPhysics.Scene(made.GetPrimAtPath(SCENE)).CreateGravityMagnitudeAttr(0.0)
    for key, value in settings.items():
        schema, attribute = key.split(":")
        prim = made.GetPrimAtPath(SCENE if schema == "Scene" else root)
        if with_schemas:
            prim.AddAppliedSchema(f"Physx{schema}API")
        prim.CreateAttribute(f"physx{schema}:{attribute}", TYPES[type(value)]).Set(value)
    return made


def stepped(made: Usd.Stage, root: str, rest: list[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """From rest, by efforts of a step: predicted velocities, measured velocities and travel; the weight."""
    dt = 1 / 240
    with Simulation(made, dt, engine="physx") as sim:
        sim.play()
        robot = sim.articulation(root)
        robot.set_dof_gains(0.0, 0.0)
        robot.set_dof_positions(np.array(rest, np.float32))
        gained = 0.5 * np.resize([1.0, -0.7, 0.4], len(rest))
        robot.set_dof_efforts(robot.get_mass_matrices().numpy()[0].astype(float) @ gained / dt)
        before = robot.get_dof_positions().numpy()[0].astype(float)
        sim.step()
        travel = (robot.get_dof_positions().numpy()[0] - before) / dt
        (weight,) = robot.get_velocity_weights().numpy()
        return gained, robot.get_dof_velocities().numpy()[0], travel, float(weight)


@pytest.mark.parametrize(("settings", "weight"), CASES, ids=str)
def test_settings_of_the_solver_are_those_in_force(settings, weight) -> None:
    """A step takes the whole effort into the velocity, and this share of it into the position."""
    root = "/World/Pendulum"
    gained, velocities, travel, told = stepped(stage("pendulum", root, settings), root, [0.0])
    assert told == pytest.approx(weight)
    np.testing.assert_allclose(velocities, gained, rtol=1e-4)
    np.testing.assert_allclose(travel, weight * gained, rtol=1e-3)


def test_settings_without_their_schemas_do_not_count() -> None:
    """PhysX does not look at them."""
    root = "/World/Pendulum"
    settings = {"Articulation:solverPositionIterationCount": 4, "Scene:maxPositionIterationCount": 2}
    gained, _, travel, told = stepped(stage("pendulum", root, settings, with_schemas=False), root, [0.0])
    assert told == pytest.approx(33 / 64)
    np.testing.assert_allclose(travel, told * gained, rtol=1e-3)


@pytest.mark.parametrize(
    ("name", "root", "rest"),
    [("arm_2dof", "/World/Arm", [0.3, 0.2]), ("franka_panda", "/World/Panda", [0.0, -0.6, 0.0, -2.2, 0.5, 1.6, 0.8])],
)
def test_joints_that_feel_each_other_share_it(name, root, rest) -> None:
    """Armatures in the mass matrix included."""
    gained, velocities, travel, told = stepped(stage(name, root, {}), root, rest)
    np.testing.assert_allclose(velocities, gained, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(travel, told * gained, rtol=5e-3, atol=2e-3)
