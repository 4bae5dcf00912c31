"""Dry friction among the parameters of laws."""

import pytest
from isaacsim.core.experimental.actuators import FrictionConfig, FrictionCurveConfig, PDControlConfig
from isaacsim.core.experimental.actuators.specs.dry_friction import breakaway, is_dry


@pytest.mark.parametrize("name", ["coulomb", "static", "motor_load", "stribeck_external_load"])
def test_levels_and_what_grows_with_the_load_are_dry_friction(name) -> None:
    assert is_dry(name)


@pytest.mark.parametrize("name", ["viscous", "stribeck_velocity", "stribeck_exponent", "assumed_inertia"])
def test_others_are_not(name) -> None:
    assert not is_dry(name)


def test_breakaway_level_is_the_larger_one_of_each_stage() -> None:
    """`static = 0` means `coulomb`; stages add up."""
    assert breakaway([PDControlConfig(1.0, 0.0)]) == breakaway([]) == 0.0
    assert breakaway([FrictionConfig(coulomb=0.4)]) == 0.4
    assert breakaway([FrictionCurveConfig([0.0, 1.0], [0.6, 0.4])]) == 0.6
    assert breakaway([PDControlConfig(1.0, 0.0), FrictionConfig(0.4, 0.1, 0.6), FrictionConfig(1.0)]) == 1.6
