"""Actuators built in Python."""

from isaacsim.core.experimental.actuators import ActuatorConfig
from refusals import refused


def test_actuator_without_a_controller_is_refused() -> None:
    refused(ValueError, lambda: ActuatorConfig(None), "controller = None: must be a Controller")
