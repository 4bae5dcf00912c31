"""Arrays of root links follow the simulations."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.simulators.mujoco import roots
from isaacsim.core.experimental.actuators.simulators.rotations import seen_from, unit
from physics_engines import ROOT, floating_pair, telescope


def _follows(robots) -> None:
    """The arrays of the root links are what the simulator computes of them."""
    views, host = robots.buffers(), robots._backend
    views.refresh()
    numbers = robots._numbers
    poses = host.root_poses(numbers)
    np.testing.assert_allclose(views.root_poses, poses, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(views.root_velocities, host.root_velocities(numbers), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        views.projected_gravity, seen_from(poses[:, 3:], unit(host.gravity)), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("with_core", [True, False])
def test_arrays_of_root_links_follow_whatever_moves_them(with_core, monkeypatch, rng) -> None:
    """Steps, resets, setters, moved masses, and rebuilt simulations."""
    if not with_core:
        monkeypatch.setattr(roots, "core", None)
    sim = Simulation(floating_pair().stage, num_envs=3)
    sim.play()
    robots = sim.articulation(ROOT)
    _follows(robots)
    robots.set_velocities(*rng.uniform(-1, 1, (2, 3, 3)))
    _follows(robots)
    sim.step(7)
    _follows(robots)
    robots.set_world_poses(rng.normal(size=(2, 3)), rng.normal(size=(2, 4)), indices=[0, 2])
    _follows(robots)
    robots.set_link_coms(rng.uniform(-0.1, 0.1, (3, 2, 3)))
    _follows(robots)
    sim.step(3)
    robots.observe_contact_forces(".*")
    _follows(robots)
    sim.reset([1])
    _follows(robots)
    sim.step(2)
    _follows(robots)
    sim.stop()
    sim.play()
    _follows(sim.articulation([f"/World/envs/env_{env}/Robot" for env in (2, 0)]))


def test_a_fixed_base_stands_in_the_arrays_where_it_was_put() -> None:
    """Other robots beside it float, and stand between its rows."""
    sim = Simulation(telescope().stage, num_envs=2)
    sim.play()
    robots = sim.articulation(ROOT)
    robots.set_world_poses([[1.0, 2.0, 3.0]], indices=[1])
    np.testing.assert_array_equal(robots.buffers().root_poses[:, :3], [[0, 0, 0], [1, 2, 3]])
    assert not robots.buffers().root_velocities.any()
    sim.reset([1])
    assert not robots.buffers().root_poses[:, :3].any()
