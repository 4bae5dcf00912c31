"""Springs that the physics step damps: named with their damping ratio and the largest step that adds none."""

import json
import math

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.laws.transmission_elastic import share_ahead
from isaacsim.core.experimental.actuators.tools.stability.springs import RESOLVED, damping_ratio_of, frequency_of
from places import ROBOTS

# a bob of 1 kg at half a metre
INERTIA, ROTOR = 0.26, 0.05


def found(dt: float, stiffness: float):
    gear = aa.ElasticTransmissionConfig(50.0, rotor_inertia=ROTOR / 50.0**2, stiffness=stiffness)
    with aa.Simulation(ROBOTS / "pendulum.usda", dt=dt) as sim:
        motors = {".*": [aa.PDControlConfig(0.01, 1e-4), gear]}
        made = aa.ArticulationActuators.from_configs("/World/Pendulum", motors)
        sim.play()
        return made.stability()


def test_frequency_is_that_of_two_masses() -> None:
    """Of equal ones it is the square root of 2k/m."""
    assert frequency_of(8.0, 4.0, 4.0) == pytest.approx(2.0) and frequency_of(8.0, 2.0, 1e30) == pytest.approx(2.0)


def test_unresolved_spring_is_named_with_its_step() -> None:
    stiffness, dt = 4000.0, 0.005
    frequency = math.sqrt(stiffness * (1 / ROTOR + 1 / INERTIA))
    (spring,) = found(dt, stiffness).springs
    assert (spring.robot, spring.joint, spring.stiffness) == ("/World/Pendulum", "hinge", stiffness)
    assert spring.product == pytest.approx(dt * frequency, rel=1e-4)
    assert spring.largest_step == pytest.approx(0.25 / frequency, rel=1e-4)
    assert found(0.999 * spring.largest_step, stiffness).springs == ()


def test_damping_ratio_is_that_of_the_step() -> None:
    """None is added up to the largest product, and half of ϑ·h·ω above; too stiff a spring is as the law takes it."""
    share = share_ahead
    assert share(RESOLVED**2, 1.0) == 0.0 < share(1.001 * RESOLVED**2, 1.0)
    # two equal masses of 2, as one of 1, on a spring of 1
    for product in (0.01, RESOLVED, 0.3, 0.35):
        added = share(product**2, 1.0) * product / 2
        assert damping_ratio_of(1.0, 0.0, 2.0, 2.0, product) == pytest.approx(added, rel=0.03, abs=1e-12)
        assert damping_ratio_of(1.0, 0.04, 2.0, 2.0, product) == pytest.approx(added + 0.02, rel=0.03)
    assert damping_ratio_of(1e6, 0.0, 2.0, 2.0, 0.1) == damping_ratio_of(50.0, 0.0, 2.0, 2.0, 0.1)
    assert damping_ratio_of(1.0, 1e3, 2.0, 2.0, 0.01) == 1.0


def test_table_has_a_line_for_it() -> None:
    table = found(0.005, 4000.0)
    line = "not resolved: hinge has a spring of 4000 with h·ω = 1.54 at dt = 0.005 s, which damps its oscillation with "
    line += "a ratio of 0.42 instead of 0, resolved up to 0.000809 s"
    assert line in str(table).splitlines() and json.loads(table.to_json())["springs"][0]["stiffness"] == 4000.0
