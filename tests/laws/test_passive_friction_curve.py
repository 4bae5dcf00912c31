"""Friction measured over speed: the level of the table, rest, and equality with the numbers that it was made of."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from one_inertia import Plant
from refusals import cases, refused

INERTIA = 0.02
SPEEDS, EFFORTS = [0.0, 0.1, 0.5, 5.0], [0.7, 0.5, 0.45, 0.9]
CONFIG = aa.FrictionCurveConfig(SPEEDS, EFFORTS, INERTIA)


def test_level_is_that_of_the_table() -> None:
    velocities = np.array([0.05, 0.3, -2.0, 4.0, 9.0])
    plant = Plant(aa.FrictionCurveConfig(SPEEDS, EFFORTS), 100.0, 1e-4, robots=5, velocity=velocities, told=True)
    plant.run(1)
    expected = -np.sign(velocities) * np.interp(np.abs(velocities), SPEEDS, EFFORTS)
    np.testing.assert_allclose(plant.effort, expected, rtol=1e-6)


def test_joint_rests_below_the_level_at_standstill() -> None:
    """Under a load of 0.6 N·m with 0.7 N·m; 0.75 N·m move it."""
    plant = Plant(CONFIG, INERTIA, 0.002)
    plant.run(2)
    plant.run(1000, effort=0.6)
    before = plant.q[0]
    plant.run(2000, effort=0.6)
    assert abs(plant.v[0]) < 2e-8 and abs(plant.q[0] - before) < 1e-6
    plant.run(50, effort=0.75)
    assert plant.v[0] > 0.1


@pytest.mark.parametrize("told", [False, True])
def test_moves_as_the_numbers_that_a_table_was_made_of(told) -> None:
    numbers = aa.FrictionConfig(coulomb=0.5, static=0.7, stribeck_velocity=0.3, assumed_inertia=INERTIA)
    speeds = np.linspace(0, 3, 2000)
    table = aa.FrictionCurveConfig(speeds.tolist(), (0.5 + 0.2 * np.exp(-((speeds / 0.3) ** 2))).tolist(), INERTIA)
    plants = [Plant(config, INERTIA, 0.002, velocity=2.0, told=told) for config in (numbers, table)]
    for step in range(1000):
        for plant in plants:
            plant.run(1, effort=np.sin(5 * step * 0.002))
        assert abs(plants[0].v[0] - plants[1].v[0]) < 1e-4


@cases(
    "columns, message",
    (([], []), "lookup_speeds has 0 values"),
    (([0.0, 1.0], [1.0]), "lookup_speeds has 2 values, lookup_efforts 1"),
    (([1.0, 0.5], [1.0, 1.0]), r"lookup_speeds\[1\] = 0.5 comes after 1.0"),
    (([-1.0, 0.5], [1.0, 1.0]), "lookup_speeds = "),
    (([0.0, 0.5], [1.0, -1.0]), "lookup_efforts = "),
)
def test_bad_tables_are_refused(columns, message) -> None:
    refused(ValueError, lambda: aa.FrictionCurveConfig(*columns), f"^FrictionCurveConfig.{message}")
