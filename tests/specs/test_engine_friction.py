"""What a simulator can represent of friction, and what is refused by name."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.specs.config import PassiveConfig
from isaacsim.core.experimental.actuators.specs.configs import CONFIGS
from isaacsim.core.experimental.actuators.specs.engine_friction import (
    engine_problems,
    is_friction,
    is_in_engine,
    portable_levels,
    unattached_problems,
)
from isaacsim.core.experimental.actuators.specs.fields import parameters_of, violations
from isaacsim.core.experimental.actuators.specs.motors import motor_of, problems_of
from refusals import cases


@cases(
    "values",
    {},
    {"coulomb": 0.4, "static": 0.6, "viscous": 0.1},
    {"coulomb": {"hip": 0.4}, "assumed_inertia": 0.2},
    {"stribeck_velocity": {"hip": 0.1, "knee": 0.1}},
    {"stribeck_velocity": np.full((2, 3), 0.1, np.float32)},
    {"stribeck_velocity": [0.1, 0.1]},
)
def test_a_simulator_has_dry_and_viscous_friction(values) -> None:
    assert engine_problems(aa.FrictionConfig(**values, in_engine=True)) == []


@pytest.mark.parametrize("value", [0.2, {"hip": 0.1, "knee": 0.2}, np.array([0.1, 0.2]), [0.1, 0.2]])
def test_other_parts_are_refused_by_name(value) -> None:
    friction = aa.FrictionConfig(0.4, stribeck_velocity=value)
    assert engine_problems(friction) == []
    friction.in_engine = True
    (problem,) = engine_problems(friction)
    assert problem.startswith("stribeck_velocity = ") and problem.endswith("Remove stribeck_velocity, or in_engine.")
    assert "must keep its default 0.1 with in_engine = True" in problem


def test_every_other_part_is_refused() -> None:
    known = {"coulomb", "static", "viscous", "assumed_inertia", "in_engine"}
    for name, described in parameters_of(aa.FrictionConfig).items():
        if name not in known and described.type == "float":
            friction = aa.FrictionConfig(0.1, in_engine=True)
            setattr(friction, name, 3.0)
            assert [line.partition(" ")[0] for line in engine_problems(friction)] == [name]


def test_motors_and_authoring_refuse_it() -> None:
    friction = aa.FrictionConfig(0.4, stribeck_exponent=1.0, in_engine=True)
    assert problems_of(motor_of([friction]), "motor")[0].startswith("motor.passive[0].stribeck_exponent = 1.0: must")
    assert violations(friction, "FrictionConfig")[0].startswith("FrictionConfig.stribeck_exponent = 1.0: must keep")


@pytest.mark.parametrize("value", [2, "yes", None, np.True_, {"hip": True}])
def test_the_flag_is_true_or_false(value) -> None:
    (problem,) = violations(aa.FrictionConfig(in_engine=value), "FrictionConfig")
    assert problem.startswith("FrictionConfig.in_engine = ") and "must be True or False" in problem


def test_friction_in_no_engine_is_named() -> None:
    inside, outside = aa.FrictionConfig(in_engine=True), aa.FrictionConfig()
    assert (is_in_engine(inside), is_in_engine(outside), is_in_engine(object())) == (True, False, False)
    (problem,) = unattached_problems([inside, outside], "joints hip")
    assert problem.startswith("joints hip: FrictionConfig.in_engine = True: must be False here")


# sliding fast, at rest, and per velocity: 0.3, 0.5 and 0.1
SAME = [
    aa.FrictionConfig(0.3, static=0.5, viscous=0.1),
    aa.LuGreFrictionConfig(100.0, 1.0, 0.1, 0.3, 0.5),
    aa.FrictionCurveConfig([0.0, 0.5, 2.0], [0.5, 0.4, 0.3]),
]


@pytest.mark.parametrize("config", SAME, ids=lambda one: type(one).__name__)
def test_other_programs_have_its_levels(config) -> None:
    assert portable_levels(config) == (0.3, 0.5, 0.0 if isinstance(config, aa.FrictionCurveConfig) else 0.1)


def test_every_law_of_friction_has_levels() -> None:
    assert {type(one) for one in SAME} == {one for one in CONFIGS if is_friction(one)}


def test_a_law_without_levels_has_none() -> None:
    """It is friction unless it says otherwise."""
    assert portable_levels(PassiveConfig()) == (0.0, 0.0, 0.0)
    assert is_friction(PassiveConfig) and not is_friction(aa.CoggingConfig()) and not is_friction(object())
