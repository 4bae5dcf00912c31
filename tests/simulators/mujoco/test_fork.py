"""A forked process goes on with the simulation of its parent, though it has none of its threads."""

import os
import sys

import pytest
from places import ROBOTS
from processes import ran

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
COMMON = f'''
import faulthandler, os, sys
import numpy as np
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation
stage = {str(ROBOTS / "arm_2dof.usda")!r}

def state(robots):
    read = robots.get_dof_positions, robots.get_dof_velocities, robots.get_dof_efforts
    gains = robots.get_dof_gains()
    more = [robots.get_link_contact_forces()] if robots.contact_links else []
    more += [robots.get_dof_armatures(), *robots.get_dof_limits(), *robots.get_world_poses()]
    more += [robots.get_mass_matrices()]
    return np.concatenate([array.numpy().ravel() for array in (*(get() for get in read), *gains, *more)])

def forked(work, leave=os._exit):
    """Return value of `work` in a child process, through a file."""
    if (child := os.fork()) == 0:
        faulthandler.dump_traceback_later(60, exit=True)
        np.save("child.npy", work())
        leave(0)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status
    return np.load("child.npy")
'''
GO_ON = """
with Simulation(stage, num_envs=8) as sim:
    actuators = ArticulationActuators("/World/Arm")
    actuators.articulation.observe_contact_forces(".*")
    sim.play()
    robots = actuators.articulation
    robots.set_dof_position_targets(np.linspace(-0.3, 0.3, 16).reshape(8, 2))
    robots.set_dof_armatures(np.linspace(0.0, 0.7, 16).reshape(8, 2))
    robots.set_dof_limits(-0.05, 0.05, indices=[3])
    robots.set_world_poses([[0.0, 0.0, 2.0]], [[0.9, 0.1, 0.0, 0.0]], indices=[5])
    sim.step(20)

    def go_on():
        robots.set_dof_position_targets(0.1)
        robots.set_dof_gains(stiffnesses=3.0, indices=[4])
        sim.step(20)
        sim.reset([2])
        sim.step(20)
        return state(robots)

    def begin_again():
        sim.stop()
        sim.play()
        sim.step(5)
        return state(robots)

    child, again = forked(go_on), forked(begin_again)
    np.testing.assert_array_equal(child, go_on())
    np.testing.assert_array_equal(again, begin_again())
    assert np.abs(child).max() > 0.01
"""
EXIT = """
with Simulation(stage, num_envs=8) as sim:
    sim.play()
    sim.step(2)
    # an ordinary exit destroys what there is
    forked(lambda: 0, sys.exit)
    sim.stop()
    forked(lambda: sim.play() or 0, sys.exit)
"""


@pytest.mark.parametrize("code", [GO_ON, EXIT], ids=["goes on", "ends"])
@pytest.mark.slow
def test_a_forked_process_is_as_its_parent(code) -> None:
    done = ran([sys.executable, "-W", "ignore", "-c", COMMON + code], timeout=120)
    assert done.returncode == 0, done.stderr
