"""Signals of joints from mass matrices: the same that MuJoCo tells by itself."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, FrictionConfig, Simulation
from isaacsim.core.experimental.actuators.simulators.mass_signals import SIGNALS, mass_signals
from isaacsim.core.experimental.actuators.simulators.mujoco.host import MujocoArticulation


@pytest.mark.parametrize(("file", "path"), [("franka_panda", "/World/Panda"), ("anymal_c", "/World/Anymal")])
def test_signals_are_those_of_the_simulator(file, path, robots) -> None:
    """Inertias and loads of a fixed and of a floating robot, in motion."""
    with Simulation(str(robots / f"{file}.usda"), 0.002) as sim:
        sim.play()
        sim.step(30)
        articulation = Articulation(path)
        own = articulation.joint_signals(list(SIGNALS))
        found = mass_signals(articulation, SIGNALS)
        assert found is not None
        own.refresh()
        found.refresh()
        for name in SIGNALS:
            expected = np.asarray(own.arrays[name])
            # the getters are of the state now, MuJoCo's signals of the one before its last step
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found.arrays[name].numpy(), expected, rtol=0.02, atol=0.02 * scale, err_msg=name)


@pytest.mark.parametrize("wanted", [["inertia"], ["inertia", "load"]], ids=str)
def test_matrices_are_read_only_for_laws_that_step_a_joint(wanted, robots) -> None:
    """A winding alone goes without."""
    with Simulation(str(robots / "pendulum.usda"), 0.002) as sim:
        sim.play()
        assert mass_signals(Articulation("/World/Pendulum"), wanted) is None


def test_articulation_without_matrices_tells_nothing() -> None:
    """Such as one of a simulator that has none."""
    assert mass_signals(object(), SIGNALS) is None


@pytest.mark.parametrize("assumed", [0.0, 0.01])
def test_friction_has_the_inertias_of_matrices_unless_it_assumes_one(assumed, robots, monkeypatch) -> None:
    """So a number to assume saves reading the matrices."""
    monkeypatch.delattr(MujocoArticulation, "joint_signals")
    read, getter = [], MujocoArticulation.get_mass_matrices
    monkeypatch.setattr(
        MujocoArticulation, "get_mass_matrices", lambda one, **given: read.append(one) or getter(one, **given)
    )
    with Simulation(str(robots / "arm_2dof.usda"), 0.005) as sim:
        friction = FrictionConfig(2.0, assumed_inertia=assumed)
        with ArticulationActuators.from_configs("/World/Arm", {".*": [friction]}) as actuators:
            sim.play()
            read.clear()
            sim.step(3)
            assert not actuators.faults and len(read) == (0 if assumed else 3)


def test_stiff_robot_rests_on_a_simulator_with_getters_alone(robots, monkeypatch) -> None:
    """Efforts of the end of the step need nothing else."""
    monkeypatch.delattr(MujocoArticulation, "joint_signals")
    with Simulation(str(robots / "arm_2dof.usda"), 0.005) as sim:
        sim.play()
        actuators = ArticulationActuators("/World/Arm", effort_mode="implicit")
        for actuator in actuators.actuators:
            for name in ("kp", "kd"):
                gain = getattr(actuator.controller, name)
                gain.assign(gain.numpy() * 20)
        sim.step(600)
        assert np.abs(Articulation("/World/Arm").get_dof_velocities().numpy()).max() < 1e-3
        assert not actuators.faults
