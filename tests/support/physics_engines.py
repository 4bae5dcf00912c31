"""The simulators that tests of embedded physics run on, and small robots for them."""

from importlib.util import find_spec

import numpy as np
import pytest
import small_stages
from isaacsim.core.experimental.actuators import Simulation
from pxr import Gf, Sdf, Usd
from small_stages import SmallStage

ENGINES = ["mujoco", "physx"]
ROOT = "/World/Robot"


def installed(engine: str) -> str:
    if engine == "physx" and find_spec("ovphysx") is None:
        pytest.skip("the PhysX wheel is not installed")
    return engine


def weightless(made: SmallStage) -> Usd.Stage:
    return small_stages.weightless(made).stage


def set_iterations(stage: Usd.Stage, root: str, iterations: int) -> None:
    prim = stage.GetPrimAtPath(root)
    prim.AddAppliedSchema("PhysxArticulationAPI")
    prim.CreateAttribute("physxArticulation:solverPositionIterationCount", Sdf.ValueTypeNames.Int).Set(iterations)


def playing(stage: Usd.Stage, engine: str, dt: float = 1 / 1000, num_envs: int = 1) -> tuple:
    sim = Simulation(stage, dt, num_envs, engine=engine)
    sim.play()
    return sim, sim.articulation(ROOT)


def telescope() -> SmallStage:
    """A boom of 2 kg that turns about +Z, and a slide of 3 kg along it that starts 1 m away from the axis."""
    made = SmallStage()
    made.root(ROOT)
    made.body(f"{ROOT}/base")
    made.body(f"{ROOT}/boom", mass=2.0, com=(0.5, 0, 0), inertia=(0.2, 0.25, 0.3))
    made.body(f"{ROOT}/slide", (1, 0, 0), mass=3.0, inertia=(0.4, 0.5, 0.6))
    made.joint(f"{ROOT}/fix", "Fixed", None, f"{ROOT}/base")
    made.joint(f"{ROOT}/turn", "Revolute", f"{ROOT}/base", f"{ROOT}/boom", axis="Z")
    made.joint(f"{ROOT}/reach", "Prismatic", f"{ROOT}/boom", f"{ROOT}/slide", axis="X", at=(1, 0, 0))
    return made


def floating_pair() -> SmallStage:
    """A free body whose centre of mass is not its origin, and one that hangs on it by a hinge about +Y."""
    made = SmallStage()
    turn = ((1, 2, 3), 50.0)
    tip = Gf.Rotation(Gf.Vec3d(*turn[0]), turn[1]).TransformDir(Gf.Vec3d(0.5, 0, 0)) + Gf.Vec3d(0, 0, 5)
    made.root(ROOT)
    made.body(f"{ROOT}/trunk", (0, 0, 5), turn=turn, mass=4.0, com=(0.2, -0.1, 0.3), inertia=(0.3, 0.25, 0.2))
    made.body(f"{ROOT}/leg", tuple(tip), turn=turn, mass=1.5, com=(0.1, 0.2, -0.4), inertia=(0.05, 0.04, 0.03))
    made.joint(f"{ROOT}/hip", "Revolute", f"{ROOT}/trunk", f"{ROOT}/leg", at=(0.5, 0, 0))
    return made


def qpos_of(source) -> np.ndarray:
    return np.stack([source.data(env).qpos for env in range(source.num_envs)])


def qvel_of(source) -> np.ndarray:
    return np.stack([source.data(env).qvel for env in range(source.num_envs)])
