"""Behavior that all components of the catalogue share."""

import subprocess
import sys

import pytest
from isaacsim.core.experimental.actuators import Controller, ControllerPID
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.specs.stages import KINDS
from refusals import cases

# a linkage has names and tables
SCALAR = [(law.config, law.component) for law in catalogue.laws() if not (law.curves or KINDS[law.kind].couples)]


def taken(config: type) -> dict:
    return {name: one for name, one in parameters_of(config).items() if one.of_law}


each = pytest.mark.parametrize(("config", "component"), SCALAR, ids=lambda item: item.__name__)


@each
def test_absent_arguments_take_the_fallbacks_of_the_schema(config, component) -> None:
    required = {name: 2 for name, field in taken(config).items() if field.fallback is None}
    fallbacks = {name: field.number(field.fallback) for name, field in taken(config).items()}
    assert component.resolve_arguments(required) == fallbacks | required


@each
def test_given_arguments_are_kept_and_checked(config, component) -> None:
    required = {name: 2 for name, field in taken(config).items() if field.fallback is None}
    for name, described in taken(config).items():
        good = 1 if described.type == "bool" or described.choices else min(2, described.upper)
        beside = required | ({"derating_start": 1} if name == "max_temperature" else {})
        assert component.resolve_arguments(beside | {name: good})[name] == good
        with pytest.raises(ValueError, match=f"{name} = nan"):
            component.resolve_arguments(required | {name: float("nan")})


def test_controller_without_a_law_says_so() -> None:
    class Lawless(Controller):
        """Neither a `LAW` nor a `compute`."""

    assert Lawless().state(2, "cpu") is None
    with pytest.raises(NotImplementedError, match="Lawless has no law"):
        Lawless().compute(*[None] * 12)


@pytest.mark.slow
def test_package_comes_up_without_the_file_of_a_law() -> None:
    code = """
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.specs.configs import ClampingConfig
catalogue.LAWS += (catalogue.Law(ClampingConfig, "ClampingUnwritten"),)
from isaacsim.core.experimental.actuators import Actuator, ArticulationActuators
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@cases("said", {"START": {"integral": 1.0}}, {"KEPT": ("integral",)}, {"PUBLISHES": {"power": "integral"}})
def test_a_subclass_that_says_other_things_of_its_state_is_no_built_in_law(said) -> None:
    """Else what it says would be lost: engines know the built-in class only."""
    assert catalogue.law_of(type("Same", (ControllerPID,), {})) is catalogue.law_of(ControllerPID) is not None
    assert catalogue.law_of(type("Other", (ControllerPID,), said)) is None
