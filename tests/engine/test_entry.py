"""Actuators built in Python."""

import pytest
from isaacsim.core.experimental.actuators import ActuatorConfig


def test_actuator_without_a_controller_is_refused() -> None:
    with pytest.raises(ValueError, match="controller = None: must be a Controller"):
        ActuatorConfig(None)
