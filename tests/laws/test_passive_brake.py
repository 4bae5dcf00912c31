"""Holding brake: holds below its torque and slips above it, ramps, and is switched by joint and robot."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from late_reference import ENGINES, arrays_on
from one_inertia import Plant
from places import ROBOTS
from refusals import refused

INERTIA, DT = 0.02, 0.002


@pytest.mark.parametrize("told", [False, True])
def test_holds_below_its_torque_and_slips_above(told) -> None:
    plant = Plant(aa.BrakeConfig(5.0, engaged=True, assumed_inertia=INERTIA), INERTIA, DT, robots=3, told=told)
    plant.run(200, load=np.array([0.5, -4.9, 5.6]))
    before = plant.q.copy()
    plant.run(3000, load=np.array([0.5, -4.9, 5.6]))
    assert (np.abs(plant.v[:2]) < 1e-7).all() and (np.abs(plant.q - before)[:2] < 1e-6).all()
    # constant acceleration, by what the brake does not hold
    assert plant.v[2] == pytest.approx(0.6 / INERTIA * 3200 * DT, rel=0.01)


def test_stops_a_joint_as_the_closed_form() -> None:
    """With J·v/torque, at rest from there on."""
    plant = Plant(aa.BrakeConfig(2.0, engaged=True), INERTIA, DT, velocity=30.0, told=True)
    time = 30.0 * INERTIA / 2.0
    plant.run(round(0.5 * time / DT))
    assert plant.v[0] == pytest.approx(15.0, rel=1e-5)
    plant.run(round(0.6 * time / DT))
    assert abs(plant.v[0]) < 1e-12 and plant.q[0] == pytest.approx(0.5 * 30.0 * time, rel=0.02)


@pytest.mark.parametrize("engine", ENGINES)
def test_levels_ramp_in_their_times(engine) -> None:
    brake = aa.BrakeConfig(4.0, release_time=0.02, engage_time=0.05, engaged=True, assumed_inertia=1.0)
    arrays = arrays_on(engine, ["j"], {"j": [aa.PDControlConfig(0.0, 0.0), brake]})
    zero, fast = np.zeros((1, 1), np.float32), np.full((1, 1), 1e4, np.float32)

    def levels(steps: int) -> list[float]:
        return [-float(arrays.step(zero, fast, zero, 0.005)[0, 0]) for _ in range(steps)]

    assert levels(2) == pytest.approx([4.0, 4.0])
    arrays.release()
    assert levels(6) == pytest.approx([3.0, 2.0, 1.0, 0.0, 0.0, 0.0], abs=1e-5)
    arrays.engage("j")
    assert levels(4) == pytest.approx([0.4, 0.8, 1.2, 1.6], rel=1e-5)
    arrays.release(0)
    assert levels(2) == pytest.approx([0.6, 0.0], abs=1e-5)
    arrays.engage()
    arrays.reset()
    assert levels(1) == pytest.approx([4.0])


@pytest.mark.parametrize("engine", ENGINES)
def test_switches_joints_and_robots(engine) -> None:
    motor = [aa.PDControlConfig(0.0, 0.0), aa.BrakeConfig(3.0, assumed_inertia=1.0)]
    arrays = arrays_on(engine, ["a", "c", "d", "b"], {"[ab]": motor, "c": motor[:1], "d": motor}, 3)
    zero, fast = np.zeros((3, 4), np.float32), np.full((3, 4), 1e4, np.float32)

    def held() -> list[list[bool]]:
        return (np.array(arrays.step(zero, fast, zero, 0.005)) < -1.0).tolist()

    expected = np.zeros((3, 4), bool)
    assert held() == expected.tolist()
    arrays.engage(["b", "d"], robots=[0, 2])
    expected[np.ix_([0, 2], [2, 3])] = True
    assert held() == expected.tolist()
    arrays.release("d", robots=[2])
    expected[2, 2] = False
    assert held() == expected.tolist()
    refused(ValueError, lambda: arrays.engage(["a", "c"]), "dofs has joint 'c', which has no brake: must have one")
    assert held() == expected.tolist()
    arrays.engage()
    assert held() == [[True, False, True, True]] * 3
    refused(ValueError, lambda: arrays.engage(robots=[3]), "robot index 3")
    refused(ValueError, lambda: arrays_on(engine, ["c"], {"c": motor[:1]}).release(), "has no joint with a brake")


@pytest.mark.parametrize("told", [False, True])
def test_beside_friction_it_rests_all_the_same(told) -> None:
    friction = aa.FrictionConfig(coulomb=0.5, static=0.6, viscous=0.05, assumed_inertia=INERTIA)
    brake = aa.BrakeConfig(2.0, engaged=True, assumed_inertia=INERTIA)
    plant = Plant([friction, brake], INERTIA, DT, robots=2, told=told)
    plant.run(400, load=2.3)
    before = plant.q.copy()
    plant.run(3000, load=2.3)
    assert (np.abs(plant.v) < 1e-6).all() and (np.abs(plant.q - before) < 1e-5).all()
    plant.arrays.release(robots=[0])
    plant.run(20, load=2.3)
    assert plant.v[0] == pytest.approx(20 * DT * 1.8 / INERTIA, rel=0.15) and abs(plant.v[1]) < 1e-6


def test_arm_is_held_where_its_motor_has_no_gains() -> None:
    motors = {".*": [aa.PDControlConfig(0.0, 0.0), aa.BrakeConfig(40.0, release_time=0.05, engaged=True)]}
    with aa.Simulation(ROBOTS / "pendulum.usda", dt=0.002) as sim:
        arm = aa.Articulation("/World/Pendulum")
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", motors)
        sim.play()
        arm.set_dof_positions(np.full((1, 1), 1.2, np.float32))
        sim.step(100)
        first = arm.get_dof_positions().numpy().copy()
        sim.step(500)
        np.testing.assert_allclose(arm.get_dof_positions().numpy(), first, atol=1e-5)
        actuators.release()
        sim.step(200)
        assert np.abs(arm.get_dof_positions().numpy() - first).max() > 0.2
