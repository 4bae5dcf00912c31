"""Config of the battery of a robot."""

import numpy as np
from isaacsim.core.experimental.actuators import SupplyConfig
from isaacsim.core.experimental.actuators.specs.fields import parameters_of, violations
from refusals import cases


@cases(
    "supply, said",
    (SupplyConfig(24.0, min_voltage=25.0), "min_voltage = 25.0: must be at most voltage, 24.0. Correct either."),
    (SupplyConfig(0.0), "voltage = 0.0: must be finite and > 0 in single precision."),
    (SupplyConfig(24.0, resistance=-0.1), "resistance = -0.1: must be finite and >= 0 in single precision."),
)
def test_wrong_numbers_are_refused(supply, said) -> None:
    (problem,) = violations(supply, "supply")
    assert problem.startswith(f"supply.{said}")


def test_right_numbers_are_not() -> None:
    assert not violations(SupplyConfig(24.0, 0.1, 0.01, 24.0, True), "supply")
    assert not SupplyConfig(np.array([24.0, 25.0]), min_voltage=np.array([30.0, 2.0])).conflicts()  # pyright: ignore


def test_sag_is_per_effort() -> None:
    """Its number changes with the units of effort of the stage, as 1/N does."""
    assert parameters_of(SupplyConfig)["sag"].dimension == (-1, 0)
    assert parameters_of(SupplyConfig)["voltage"].dimension == (0, 0)
