"""Contact forces of chosen links."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError
from physics_engines import ENGINES, ROOT, installed, playing
from places import ROBOTS
from pxr import Usd
from refusals import refused
from small_stages import SmallStage

ANYMAL = "/World/Anymal"
FEET = ["LF_SHANK", "LH_SHANK", "RF_SHANK", "RH_SHANK"]


def tower() -> Usd.Stage:
    """A box of 2 kg on the ground, one of 1 kg that it carries by a slide, a ball on that; a robot elsewhere."""
    made = SmallStage()
    made.ground()
    for root, x in ((ROOT, 0.0), ("/World/Other", 5.0)):
        made.root(root)
        made.body(f"{root}/base", (x, 0, 0.1), mass=2.0)
        made.body(f"{root}/top", (x, 0, 0.6), mass=1.0)
        made.joint(f"{root}/lift", "Prismatic", f"{root}/base", f"{root}/top", axis="Z", at=(0, 0, 0.5))
        made.shape(f"{root}/base/box", "Cube", size=0.2)
    made.body("/World/load", (0, 0, 0.75), mass=0.5)
    made.shape("/World/load/ball", "Sphere", radius=0.05)
    made.shape(f"{ROOT}/top/box", "Cube", size=0.2)
    return made.stage


def test_feet_of_a_standing_quadruped_carry_it() -> None:
    """Upwards, in every environment; the base touches nothing."""
    with Simulation(ROBOTS / "anymal_c.usda", dt=1 / 200, num_envs=2) as sim:
        robots = sim.articulation(ANYMAL)
        actuators = ArticulationActuators(ANYMAL)
        robots.observe_contact_forces([".*_SHANK", "base"])
        sim.play()
        assert not robots.get_link_contact_forces().numpy().any()
        sim.step(400)
        forces = robots.get_link_contact_forces().numpy()
        weight = robots.get_link_masses().numpy().sum(axis=1) * 9.81
        actuators.close()
    assert robots.contact_links == ["base", *FEET]
    np.testing.assert_allclose(forces.sum(axis=1), [[0, 0, w] for w in weight], atol=0.02 * weight[0])
    assert (forces[:, 0] == 0.0).all()
    assert (forces[:, 1:, 2] > 50.0).all()


def test_a_link_between_others_is_told_the_sum() -> None:
    """The body above pushes down, the one below pushes up; other robots have their own forces."""
    sim, robot = playing(tower(), "mujoco", 1 / 500)
    robot.set_dof_gains(2000.0, 100.0)
    robot.observe_contact_forces(".*")
    other = sim.articulation("/World/Other")
    other.set_dof_gains(2000.0, 100.0)
    other.observe_contact_forces("base")
    sim.step(2000)
    assert robot.contact_links == ["base", "top"]
    np.testing.assert_allclose(
        robot.get_link_contact_forces().numpy()[0], [[0, 0, 3.5 * 9.81], [0, 0, -0.5 * 9.81]], atol=0.05
    )
    np.testing.assert_allclose(other.get_link_contact_forces().numpy(), [[[0, 0, 3 * 9.81]]], atol=0.05)


def test_choosing_while_physics_runs_changes_nothing_of_it() -> None:
    """State, gains and properties stay to the bit, and so does what follows."""
    reached = []
    for choose in (False, True):
        with Simulation(ROBOTS / "anymal_c.usda", dt=1 / 200, num_envs=3) as sim:
            robots = sim.articulation(ANYMAL)
            actuators = ArticulationActuators(ANYMAL)
            sim.play()
            robots.set_dof_armatures(0.02, indices=[1])
            sim.step(20)
            if choose:
                robots.observe_contact_forces(".*_SHANK")
                assert not robots.get_link_contact_forces().numpy().any()
            state = [array.numpy() for array in (robots.get_dof_velocities(), robots.get_dof_drive_efforts())]
            sim.step(20)
            if choose:
                assert robots.get_link_contact_forces().numpy().any()
                robots.observe_contact_forces(None)
                assert robots.contact_links == []
            sim.step(20)
            state += [robots.get_dof_armatures().numpy(), *(a.numpy() for a in robots.get_link_world_poses())]
            actuators.close()
        reached.append(state)
    for one, other in zip(*reached, strict=True):
        np.testing.assert_array_equal(one, other)


def test_forces_of_a_reset_environment_are_gone() -> None:
    """Those of the others stay; rows are those asked for."""
    with Simulation(ROBOTS / "anymal_c.usda", dt=1 / 200, num_envs=3) as sim:
        robots = sim.articulation(ANYMAL)
        robots.observe_contact_forces(".*_SHANK")
        sim.play()
        sim.step(60)
        before = robots.get_link_contact_forces().numpy()
        sim.reset([1])
        after = robots.get_link_contact_forces().numpy()
        np.testing.assert_array_equal(robots.get_link_contact_forces(indices=[2]).numpy(), before[2:])
    assert before[1].any()
    assert not after[1].any()
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])


def test_the_choice_outlives_a_stop() -> None:
    """Also where the stage was edited, as long as the links are there."""
    sim, robot = playing(tower(), "mujoco")
    robot.observe_contact_forces("base")
    sim.stop()
    sim.stage.GetPrimAtPath("/World/load").SetActive(False)
    sim.play()
    sim.step(300)
    assert robot.get_link_contact_forces().numpy()[0, 0, 2] > 0.0
    sim.stop()
    sim.stage.GetPrimAtPath(f"{ROOT}/lift").SetActive(False)
    sim.stage.GetPrimAtPath(f"{ROOT}/top").SetActive(False)
    robot.observe_contact_forces(None)
    sim.play()
    refused(HostError, robot.get_link_contact_forces, r"no links were chosen\. Call observe_contact_forces")


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("foot", r"'foot' matches no link: must match the whole name of at least one of base, top"),
        (["base", "to"], r"'to' matches no link"),
        ("(", r"'\(' must be a regular expression"),
    ],
)
def test_wrong_patterns_are_told(links, message) -> None:
    """And the former choice stays."""
    _, robot = playing(tower(), "mujoco")
    robot.observe_contact_forces("base")
    refused(ValueError, lambda: robot.observe_contact_forces(links), message)
    assert robot.contact_links == ["base"]


@pytest.mark.parametrize("engine", ENGINES)
def test_they_need_running_physics_and_mujoco(engine) -> None:
    sim = Simulation(tower(), engine=installed(engine))
    robot = sim.articulation(ROOT)
    if engine == "physx":
        refused(HostError, lambda: robot.observe_contact_forces("base"), "Use engine='mujoco'")
        robot.observe_contact_forces(None)
    else:
        robot.observe_contact_forces("base")
    refused(HostError, robot.get_link_contact_forces, "physics is not running")
    sim.close()
