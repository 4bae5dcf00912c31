"""Matrices, forces and links of the same robots on PhysX and on MuJoCo, each by itself."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, Simulation
from places import ROBOTS
from pxr import Usd
from stages import stage_of

pytestmark = [
    pytest.mark.skipif(find_spec("ovphysx") is None, reason="the PhysX wheel is not installed"),
    pytest.mark.filterwarnings("ignore:joints begin outside their limits.* /ant/"),
]
NAMES = ("pendulum", "arm_2dof", "franka_panda", "anymal_c")
NEWTON = Path(find_spec("newton").submodule_search_locations[0]) / "examples" / "assets"
# of single precision: relative, and absolute as a share of the largest entry
RTOL, SHARE = 2e-5, 2e-6


def close_to(actual: object, expected: object, what: str = "", *, share: float = SHARE) -> None:
    one, other = actual.numpy(), expected.numpy()
    np.testing.assert_allclose(one, other, rtol=RTOL, atol=share * max(np.abs(other).max(), 0.1), err_msg=what)


def moving(stage: Usd.Stage | Path, engine: str) -> tuple[Simulation, Articulation]:
    sim = Simulation(stage, 1e-3, engine=engine)
    sim.play()
    robot = sim.articulation("/.*")
    rng = np.random.default_rng(7)
    lower, upper = (np.clip(limit.numpy(), -1.0, 1.0) for limit in robot.get_dof_limits())
    robot.set_dof_positions(lower + (upper - lower) * rng.uniform(0.3, 0.7, lower.shape))
    robot.set_dof_velocities(rng.uniform(-1, 1, lower.shape))
    if robot.get_mass_matrices().shape[-1] > robot.num_dofs:
        robot.set_world_poses([[0.4, -0.3, 2.0]], [[0.5, 0.1, -0.7, 0.4]])
        robot.set_velocities([[0.3, -0.5, 0.7]], [[-0.6, 0.8, 1.1]])
    return sim, robot


@pytest.fixture(params=[*NAMES, "ant"])
def twins(request: pytest.FixtureRequest):
    file = ROBOTS / f"{request.param}.usda"
    file = file if file.exists() else NEWTON / f"{request.param}.usda"
    pairs = [moving(stage_of(file), engine) for engine in ("physx", "mujoco")]
    yield pairs[0][1], pairs[1][1]
    for sim, _ in pairs:
        sim.close()


def test_state_is_what_was_set(twins) -> None:
    physx, mujoco = twins
    for name in ("positions", "velocities"):
        close_to(getattr(physx, f"get_dof_{name}")(), getattr(mujoco, f"get_dof_{name}")(), name)
    for name in ("get_world_poses", "get_velocities"):
        for one, other in zip(getattr(physx, name)(), getattr(mujoco, name)(), strict=True):
            close_to(one, other, name)


def test_mass_matrix_is_that_of_mujoco(twins) -> None:
    physx, mujoco = twins
    close_to(physx.get_mass_matrices(), mujoco.get_mass_matrices())


def test_jacobian_is_that_of_mujoco(twins) -> None:
    physx, mujoco = twins
    close_to(physx.get_jacobian_matrices(), mujoco.get_jacobian_matrices())


def test_gravity_and_coriolis_are_those_of_mujoco(twins) -> None:
    physx, mujoco = twins
    for name in ("gravity", "coriolis_and_centrifugal"):
        getter = f"get_dof_{name}_compensation_forces"
        close_to(getattr(physx, getter)(), getattr(mujoco, getter)(), name)


def test_limits_and_armatures_are_those_of_mujoco(twins) -> None:
    physx, mujoco = twins
    for name in ("limits", "max_efforts", "max_velocities", "armatures"):
        one, other = (getattr(robot, f"get_dof_{name}")() for robot in (physx, mujoco))
        for actual, expected in zip(*(x if isinstance(x, tuple) else (x,) for x in (one, other)), strict=True):
            np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-5, err_msg=name)


def test_links_are_those_of_mujoco(twins) -> None:
    physx, mujoco = twins
    assert (physx.link_paths, physx.joint_paths) == (mujoco.link_paths, mujoco.joint_paths)
    for name in ("world_poses", "velocities"):
        getter = f"get_link_{name}"
        for one, other in zip(getattr(physx, getter)(), getattr(mujoco, getter)(), strict=True):
            if name == "world_poses" and one.shape[-1] == 4:
                # a quaternion and its negative are one rotation
                np.testing.assert_allclose(np.abs((one.numpy() * other.numpy()).sum(-1)), 1.0, atol=1e-6)
            else:
                close_to(one, other, name)
    close_to(physx.get_link_masses(), mujoco.get_link_masses(), "masses")
    close_to(physx.get_link_coms()[0], mujoco.get_link_coms()[0], "centres")
    close_to(physx.get_link_inertias(), mujoco.get_link_inertias(), "inertias", share=1e-5)
