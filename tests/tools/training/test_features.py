"""Inputs of a network for a log equal those at run time."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.laws.networks.metadata import Metadata
from isaacsim.core.experimental.actuators.tools.training.features import features_of
from isaacsim.core.experimental.actuators.tools.training.log import ActuatorLog


@pytest.mark.parametrize(("fill", "before"), [("zeros", [0.0, 0.0]), ("first", [3.0, 2.0])])
def test_rows_before_the_first_are_filled(fill, before) -> None:
    """With zeros, or with the first row."""
    q, qd, target = np.float32([[0, 1, 2], [1, 2, 3], [3, 3, 3]])
    said = Metadata("mlp", input_idx=(0, 2), vel_scale=2.0, history_fill=fill)
    found = features_of(ActuatorLog(0.01, q, qd, target, np.zeros(3, np.float32)), said)[:, 0]
    error, speed = before
    np.testing.assert_array_equal(found, [[3, error, 2, speed], [2, error, 4, speed], [1, 3, 6, 2]])
