"""Planes of gains, and robots as gains meet them."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.stability.frequency import frequency_response
from isaacsim.core.experimental.actuators.tools.stability.implicit import Implicit
from isaacsim.core.experimental.actuators.tools.stability.timing import Timing
from isaacsim.core.experimental.actuators.tools.tuning.plant import Plane, opened, plant_of, with_law
from places import ROBOTS

DT = 0.004


def stepped(kp: float, kd: float, late: int, every: int) -> np.ndarray:
    """Positions of a joint of inertia 1 after its target jumped to 1, measured late, its controller every few steps."""
    ring, effort, q, v, found = [(0.0, 0.0)] * (late + 1), 0.0, 0.0, 0.0, []
    for step in range(3000):
        found.append(q)
        if step % every == 0:
            ring = [(q, v), *ring[:-1]]
            effort = kp * (1.0 - ring[-1][0]) - kd * ring[-1][1]
        v += DT * effort
        q += DT * v
    return np.array(found)


@pytest.mark.parametrize(("late", "every"), [(0, 1), (2, 1), (0, 2)])
@pytest.mark.parametrize(("frequency", "ratio"), [(20.0, 1.0), (45.0, 0.6), (6.0, 2.5)])
def test_plane_has_what_a_joint_shows(late, every, frequency, ratio) -> None:
    stages = [aa.EncoderConfig(latency_steps=late, velocity="register"), aa.RateConfig(decimation=every)]
    timing = Timing.of(stages, 1)
    plane = Plane(DT, 1.0, timing, Implicit.none(1))
    kp, kd = frequency**2, 2.0 * ratio * frequency
    response = frequency_response("joint", (kp, kd, 0.0), 1.0, DT, 0.0, 1.0, timing)
    names = "gain", "phase", "bandwidth", "settling", "overshoot"
    here = {name: float(plane.at(name, np.array(frequency), np.array(ratio))) for name in names}
    assert here["gain"] == pytest.approx(response.gain_margin, rel=0.05)
    assert here["phase"] == pytest.approx(response.phase_margin, abs=3.0)
    assert here["bandwidth"] == pytest.approx(response.bandwidth, rel=0.08)
    positions = stepped(kp, kd, late, every)
    unsettled = np.flatnonzero(np.abs(positions - 1.0) > 0.02)
    assert here["settling"] == pytest.approx(DT * (unsettled[-1] + 1), rel=0.15, abs=2 * DT)
    assert here["overshoot"] == pytest.approx(max(positions.max() - 1.0, 0.0), abs=0.02)


def test_range_of_inertias_is_that_of_the_mass_matrix() -> None:
    file = ROBOTS / "unitree_go1.usda"
    motors = with_law(file, None, None)
    with opened(file, motors, None, 8, 3) as (simulation, robots, actuators):
        plant = plant_of(actuators, robots, simulation.dt, motors, 4)
        matrices, gravity = robots.get_mass_matrices().numpy(), robots.get_dof_gravity_compensation_forces().numpy()
        order = [list(robots.dof_names).index(name) for name in plant.joints]
    assert sorted(map(len, plant.alike))[-1] >= 4 and sum(map(len, plant.alike)) == len(order)
    held = plant.together(matrices[:, order, order].max(axis=0), np.max)
    free = plant.together((1.0 / np.linalg.inv(matrices)[:, order, order]).min(axis=0), np.min)
    pulls = plant.together(np.abs(gravity[:, order]).max(axis=0), np.max)
    np.testing.assert_array_less(held, plant.highest * 1.0001)
    np.testing.assert_array_less(plant.highest, 1.06 * held)
    np.testing.assert_array_less(plant.lowest, free * 1.0001)
    np.testing.assert_array_less(free, 1.06 * plant.lowest)
    np.testing.assert_allclose(plant.available, plant.effort_limit - pulls, rtol=1e-4)


def test_a_robot_without_laws_gets_them() -> None:
    bare = {".*": aa.MotorConfig(clamping=[aa.MaxEffortClampingConfig(30.0)])}
    motors = with_law(ROBOTS / "arm_2dof.usda", bare, None)
    assert [motor.controller for motor in motors.values()] == 2 * [aa.PDControlConfig(0.0, 0.0)]
    found = aa.tune(ROBOTS / "arm_2dof.usda", bare, poses=3, verify=False)
    assert min(row.kp for row in found.joints) > 100.0 and found.joints[0].bound == "torque"
