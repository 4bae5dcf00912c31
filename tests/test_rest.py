"""Joints that friction holds come to rest and stay there, also under a load that no actuator knows of."""

from importlib.util import find_spec

import pytest
from isaacsim.core.experimental.actuators import Articulation, LuGreFrictionConfig, Simulation
from resting import ARM, BASE, LOAD, chain, held, humanoid, rest, rest_on_arrays, so101

STEPS = [0.001, 0.002, 0.005]
ENGINES = [
    "mujoco",
    pytest.param("physx", marks=pytest.mark.skipif(find_spec("ovphysx") is None, reason="ovphysx is not installed")),
]
RMS, DRIFT = 1e-6, 1e-5


@pytest.mark.parametrize("load", [0.0, LOAD])
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("engine", ENGINES)
def test_arm_rests_on_a_simulator(engine, dt, load) -> None:
    found = rest(so101(), ARM, engine, dt, load)
    assert found.rms <= RMS and found.drift <= DRIFT


@pytest.mark.parametrize("load", [0.0, LOAD])
@pytest.mark.parametrize("dt", STEPS)
def test_arm_rests_on_arrays(dt, load) -> None:
    with Simulation(so101()) as sim:
        names, robot = Articulation(ARM).dof_names, held(sim, ARM)
    found = rest_on_arrays(names, robot, dt, load)
    assert found.rms <= RMS and found.drift <= DRIFT


def test_chain_of_six_rests(tmp_path) -> None:
    """Its joints are coupled so much that friction computed joint by joint would shake them at 0.08 rad/s."""
    assert rest(chain(tmp_path, armature=0.03), BASE, "mujoco", 0.002, LOAD).rms <= 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "kick", "rms"),
    [("explicit", 0.0, 3e-3), ("implicit", 0.0, 3e-3), ("in_engine", 0.0, 1.5e-3), ("in_engine", 1.0, 2e-3)],
)
def test_humanoid_stands_still(mode, kick, rms) -> None:
    """Its legs on the ground move the whole robot; each joint by its own effective inertia would alternate."""
    found = humanoid(mode, kick)
    # with steps that are ten times shorter it sinks by 0.011, and by 0.014 after the kick
    assert found.rms <= rms and found.alternating < 0.1 and found.sunk == pytest.approx(0.012, abs=3e-3), found


@pytest.mark.slow
def test_bristles_of_a_humanoid_do_not_vibrate() -> None:
    """Nor do those of LuGre, which would shake it at 1.3 rad/s."""
    found = humanoid("explicit", friction=LuGreFrictionConfig(300.0, 2.0, coulomb=0.5, static=0.5))
    assert found.rms <= 3e-3 and found.alternating < 0.1, found


@pytest.mark.parametrize("factor", [0.25, 0.5, 1.9])
def test_a_wrong_inertia_rests(factor) -> None:
    with Simulation(so101()) as sim:
        names, robot = Articulation(ARM).dof_names, held(sim, ARM)
    found = rest_on_arrays(names, robot._replace(inertia=factor * robot.inertia), 0.005, LOAD)
    assert found.rms <= RMS and found.drift <= DRIFT


def test_an_inertia_far_too_large_chatters() -> None:
    with Simulation(so101()) as sim:
        names, robot = Articulation(ARM).dof_names, held(sim, ARM)
    assert rest_on_arrays(names, robot._replace(inertia=3.0 * robot.inertia), 0.005, LOAD).rms > 1e-3
