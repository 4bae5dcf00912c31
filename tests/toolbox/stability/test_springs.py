"""Springs that the physics step does not resolve: named with the largest step that does."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from isaacsim.core.experimental.actuators import (
    ArticulationActuators,
    ElasticTransmissionConfig,
    PDControlConfig,
    Simulation,
)
from isaacsim.core.experimental.actuators.toolbox.stability.springs import frequency_of
from places import ROBOTS

# a bob of 1 kg at half a metre
INERTIA, ROTOR = 0.26, 0.05


def found(dt: float, stiffness: float) -> Any:
    """Stability of a pendulum on a spring."""
    gear = ElasticTransmissionConfig(50.0, rotor_inertia=ROTOR / 50.0**2, stiffness=stiffness)
    with Simulation(ROBOTS / "pendulum.usda", dt=dt) as sim:
        motors = {".*": [PDControlConfig(0.01, 1e-4), gear]}
        made = ArticulationActuators.from_configs("/World/Pendulum", motors)
        sim.play()
        return made.stability()


def test_frequency_is_that_of_two_masses() -> None:
    """Of equal ones it is the square root of 2k/m."""
    assert frequency_of(8.0, 4.0, 4.0) == pytest.approx(2.0)
    assert frequency_of(8.0, 2.0, 1e30) == pytest.approx(2.0)


def test_unresolved_spring_is_named_with_its_step() -> None:
    """The inertia is that of the joint without the rotor; at the step that it names all is well."""
    stiffness, dt = 4000.0, 0.005
    frequency = math.sqrt(stiffness * (1 / ROTOR + 1 / INERTIA))
    (spring,) = found(dt, stiffness).springs
    assert (spring.robot, spring.joint, spring.stiffness) == ("/World/Pendulum", "hinge", stiffness)
    assert spring.product == pytest.approx(dt * frequency, rel=1e-4)
    assert spring.largest_step == pytest.approx(0.5 / frequency, rel=1e-4)
    assert found(0.999 * spring.largest_step, stiffness).springs == ()


def test_table_has_a_line_for_it() -> None:
    """As text and as JSON."""
    table = found(0.005, 4000.0)
    line = "not resolved: hinge has a spring of 4000 with h·ω = 1.54 at dt = 0.005 s, resolved up to 0.00162 s"
    assert line in str(table).splitlines()
    assert json.loads(table.to_json())["springs"][0]["stiffness"] == 4000.0
